// The watcher: what the executor calls for every access, and what it counts.
#include "watch_state.h"

#include "l2_queue.h"

#include <stdlib.h>
#include <string.h>

enum { L1_LEAST = 4096 }; // bytes a block, however much shared memory is taken

// ---- sites -----------------------------------------------------------------

// Loads that L1 does not answer.
static bool passes_l1(const struct mem_access *a)
{
    const char *opcode = a->inst->opcode;
    return a->is_volatile || strstr(opcode, ".cg") || strstr(opcode, ".cv") ||
           strstr(opcode, ".relaxed") || strstr(opcode, ".acquire");
}

static struct site *site_of(struct worker *worker, const struct mem_access *a)
{
    struct site *site = &worker->sites[a->inst->id % SITES];
    if (site->inst != a->inst) {
        *site = (struct site){.inst = a->inst};
        site->past_l1 = passes_l1(a);
        site->order = race_order(a);
    }
    return site;
}

// ---- counting --------------------------------------------------------------

static void to_l2(struct watch *w, struct trace *t, enum traffic traffic,
                  uint64_t line, uint8_t sectors)
{
    if (trace_add(t, traffic, line, sectors))
        return;
    queue_part(&w->queue, t);
    trace_add(t, traffic, line, sectors);
}

// One line of an access on its way through L1.
static void count_line(const struct event *e, struct block_state *block,
                       uint64_t line, uint8_t sectors)
{
    if (e->access->kind == ACCESS_LOAD && !e->site->past_l1) {
        uint8_t hit = l1_read(&block->l1, line, sectors);
        e->worker->counters.l1_hit_sectors += cache_sectors(hit);
        sectors &= (uint8_t)~hit;
        if (!sectors)
            return;
    }
    enum traffic traffic = e->access->kind == ACCESS_LOAD    ? TRAFFIC_READ
                           : e->access->kind == ACCESS_STORE ? TRAFFIC_WRITE
                                                             : TRAFFIC_ATOMIC;
    to_l2(e->watch, &block->trace, traffic, line, sectors);
}

static uint64_t count_dense(const struct event *e, struct block_state *block)
{
    uint64_t first = e->shape->lo / SECTOR_BYTES;
    uint64_t end = (e->shape->hi - 1) / SECTOR_BYTES + 1;
    for (uint64_t line = first / 4; line * 4 < end; line++) {
        uint64_t from = line * 4 < first ? first - line * 4 : 0;
        uint64_t to = end - line * 4 < 4 ? end - line * 4 : 4;
        count_line(e, block, line, (uint8_t)((1u << to) - (1u << from)));
    }
    return end - first;
}

static uint64_t count_scattered(const struct event *e, struct block_state *block)
{
    struct line_set set;
    unsigned sectors = access_lines(e->access, e->shape, &set);
    for (unsigned i = 0; i < set.n; i++)
        count_line(e, block, set.line[i], set.sectors[i]);
    return sectors;
}

static void count_global(const struct event *e, struct block_state *block)
{
    struct access_counters *n = &e->worker->counters;
    const struct shape *s = e->shape;
    uint64_t sectors = s->dense && s->lo < s->hi ? count_dense(e, block)
                                                 : count_scattered(e, block);
    switch (e->access->kind) {
    case ACCESS_LOAD:
        n->load_requests++;
        n->load_sectors += sectors;
        n->load_bytes += (uint64_t)s->lanes * s->nbytes;
        break;
    case ACCESS_STORE:
        n->store_requests++;
        n->store_sectors += sectors;
        n->store_bytes += (uint64_t)s->lanes * s->nbytes;
        break;
    case ACCESS_ATOMIC:
        n->atomics++;
        n->atomic_lanes += s->lanes;
        break;
    }
}

static void count_shared(const struct event *e)
{
    struct access_counters *n = &e->worker->counters;
    if (e->access->kind == ACCESS_ATOMIC) {
        n->shared_atomics++;
        return;
    }
    struct wavefronts passes = access_wavefronts(e->access, e->shape);
    if (e->access->kind == ACCESS_LOAD) {
        n->shared_load_wavefronts += passes.needed;
        n->shared_load_conflicts += passes.needed - passes.least;
    } else {
        n->shared_store_wavefronts += passes.needed;
        n->shared_store_conflicts += passes.needed - passes.least;
    }
}

// ---- callbacks -------------------------------------------------------------

static uint32_t on_access(void *self, struct warp_view *warp,
                          const struct mem_access *access)
{
    struct watch *w = self;
    struct block_state *block = warp->block->watch;
    if (!block || access->mask == 0 || access->nbytes == 0)
        return 0;
    struct shape shape = access_shape(access);
    struct event e = {.watch = w, .worker = &w->workers[warp->block->worker],
                      .warp = warp, .access = access, .shape = &shape};
    switch (access->space) {
    case SPACE_GLOBAL:
    case SPACE_CONST:
        e.site = site_of(e.worker, access);
        if ((w->active & WATCH_COUNT) && access->space == SPACE_GLOBAL)
            count_global(&e, block);
        if (w->active & (WATCH_CHECK | WATCH_WRITERS))
            return check_global(&e);
        return 0;
    case SPACE_SHARED:
        if (w->active & WATCH_COUNT)
            count_shared(&e);
        e.site = site_of(e.worker, access);
        if (w->active & WATCH_CHECK)
            check_shared(&e, block->shared_shadow);
        return 0;
    default:
        return 0;
    }
}

// ---- what orders threads ---------------------------------------------------

// The block's clocks, or NULL where races are not looked for.
static struct race_block *clocks_of(const struct watch *w,
                                    const struct block_view *view)
{
    struct block_state *block = view->watch;
    return block && block->races && (w->active & WATCH_CHECK) ? &block->race
                                                              : NULL;
}

static void on_warp_sync(void *self, struct warp_view *warp, uint32_t lanes)
{
    struct race_block *b = clocks_of(self, warp->block);
    if (b)
        race_warp_sync(b, warp->index, lanes);
}

static void on_fence(void *self, struct warp_view *warp,
                     const struct ptx_inst *inst, uint32_t lanes)
{
    struct race_block *b = clocks_of(self, warp->block);
    if (b)
        race_fence(b, warp->index, inst, lanes);
}

static void on_arrive(void *self, struct warp_view *warp, uint32_t barrier,
                      bool waits)
{
    struct race_block *b = clocks_of(self, warp->block);
    if (b)
        race_arrive(b, warp->index, barrier, waits);
}

static void on_barrier(void *self, struct block_view *view, uint32_t barrier,
                       bool whole)
{
    struct race_block *b = clocks_of(self, view);
    if (b)
        race_barrier_open(b, barrier, whole);
}

// ---- findings and blocks ---------------------------------------------------

// One at a time, says exec.h; nothing else touches the list during a launch.
static void on_found(void *self, const struct finding *f)
{
    struct watch *w = self;
    if (w->active & WATCH_CHECK)
        findings_count(w, f);
}

static struct block_state *take_block(struct worker *worker)
{
    struct block_state *block = worker->free_blocks;
    if (block) {
        worker->free_blocks = block->next_free;
    } else if ((block = calloc(1, sizeof *block))) {
        block->next = worker->blocks;
        worker->blocks = block;
    }
    return block;
}

static void on_block_begin(void *self, struct block_view *view)
{
    struct watch *w = self;
    struct block_state *block =
        w->active ? take_block(&w->workers[view->worker]) : NULL;
    view->watch = block;
    if (!block)
        return;
    block->trace.n = 0;
    block->races = false;
    block->trace.block = view->linear;
    if (w->active & WATCH_COUNT)
        l1_reset(&block->l1, w->l1_bytes);
    if (!(w->active & WATCH_CHECK))
        return;
    if (block->shared_cap < view->shared_bytes) {
        free(block->shared_shadow);
        block->shared_shadow = malloc(view->shared_bytes);
        block->shared_cap = block->shared_shadow ? view->shared_bytes : 0;
    }
    block->races = w->races && race_block_begin(&block->race, view);
    if (block->shared_shadow)
        memset(block->shared_shadow, WRITER_NOBODY, view->shared_bytes);
}

static void on_block_end(void *self, struct block_view *view)
{
    struct watch *w = self;
    struct block_state *block = view->watch;
    if (!block)
        return;
    if (w->active & WATCH_COUNT)
        queue_block(&w->queue, &block->trace);
    struct worker *worker = &w->workers[view->worker];
    block->next_free = worker->free_blocks;
    worker->free_blocks = block;
    view->watch = NULL;
}

static void free_workers(struct watch *w)
{
    for (unsigned i = 0; i < w->nworkers; i++) {
        struct worker *worker = &w->workers[i];
        findings_clear(&worker->tallies);
        while (worker->blocks) {
            struct block_state *block = worker->blocks;
            worker->blocks = block->next;
            free(block->shared_shadow);
            race_block_free(&block->race);
            free(block);
        }
    }
    free(w->workers);
    w->workers = NULL;
    w->nworkers = 0;
}

static bool make_workers(struct watch *w, unsigned n)
{
    if (n > w->nworkers) {
        free_workers(w);
        w->workers = aligned_alloc(64, n * sizeof *w->workers);
        if (!w->workers)
            return false;
        memset(w->workers, 0, n * sizeof *w->workers);
        w->nworkers = n;
    }
    for (unsigned i = 0; i < w->nworkers; i++) {
        struct worker *worker = &w->workers[i];
        worker->counters = (struct access_counters){0};
        memset(worker->sites, 0, sizeof worker->sites);
        // A launch that faulted may have left blocks that never ended.
        worker->free_blocks = NULL;
        for (struct block_state *b = worker->blocks; b; b = b->next) {
            b->next_free = worker->free_blocks;
            worker->free_blocks = b;
        }
    }
    return true;
}

// What shared memory leaves of an SM's L1, divided among its blocks.
static uint64_t l1_share(const struct launch *launch)
{
    const struct gpu_model *gpu = launch->gpu;
    if (!gpu)
        return L1_LEAST;
    uint64_t blocks = launch->blocks_per_sm ? launch->blocks_per_sm : 1;
    uint64_t shared = launch->func->shared_bytes + launch->dynamic_shared +
                      gpu->shared_reserved;
    uint64_t left = gpu->l1_per_sm / blocks;
    return left > shared + L1_LEAST ? left - shared : L1_LEAST;
}

static struct l2 *open_l2(struct watch *w, const struct launch *launch)
{
    if (!(w->active & WATCH_COUNT) || !launch->gpu || launch->device < 0 ||
        launch->device >= VGPU_MAX_DEVICES)
        return NULL;
    const struct gpu_model *gpu = launch->gpu;
    uint64_t nbytes = gpu->l2_reach_bytes ? gpu->l2_reach_bytes : gpu->l2_bytes;
    struct l2 *l2 = &w->l2[launch->device];
    if (l2->sets && l2->nbytes != nbytes)
        l2_close(l2);
    if (!l2->sets && !l2_open(l2, nbytes, gpu->dram_fetch_bytes))
        return NULL;
    return l2;
}

static void on_launch_begin(void *self, const struct launch *launch,
                            unsigned nworkers)
{
    struct watch *w = self;
    w->launch = launch;
    w->l1_bytes = l1_share(launch);
    w->active = make_workers(w, nworkers) ? w->flags : 0;
    if ((w->active & WATCH_CHECK) && !w->races)
        w->races = races_new();
    struct l2 *l2 = open_l2(w, launch);
    if (!l2)
        w->active &= ~(unsigned)WATCH_COUNT;
    queue_begin(&w->queue, l2, launch->schedule == SCHEDULE_ASCENDING);
}

static void add_counters(struct access_counters *sum,
                         const struct access_counters *n)
{
    uint64_t *to = (uint64_t *)sum;
    const uint64_t *from = (const uint64_t *)n;
    _Static_assert(sizeof *sum % sizeof *to == 0, "counters are all 64-bit");
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += from[i];
}

static void on_launch_end(void *self, const struct launch *launch)
{
    struct watch *w = self;
    w->counters = (struct access_counters){0};
    for (unsigned i = 0; i < w->nworkers; i++)
        add_counters(&w->counters, &w->workers[i].counters);
    struct l2_counts l2 = queue_end(&w->queue);
    w->counters.l2_sectors = l2.sectors;
    w->counters.l2_hit_sectors = l2.hit_sectors;
    w->counters.dram_read_bytes = l2.read_sectors * SECTOR_BYTES;
    w->counters.dram_write_bytes = l2.written_sectors * SECTOR_BYTES;
    findings_merge(w);
    if (w->races)
        races_clear(w->races);
    w->launch = NULL;
}

// ---- a watch ---------------------------------------------------------------

struct watch *watch_new(struct memory *memory, unsigned flags)
{
    struct watch *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->memory = memory;
    w->flags = flags;
    pthread_mutex_init(&w->queue.lock, NULL);
    w->callbacks = (struct watcher){
        .self = w,
        .launch_begin = on_launch_begin,
        .block_begin = on_block_begin,
        .access = on_access,
        .found = on_found,
        .warp_sync = on_warp_sync,
        .fence = on_fence,
        .arrive = on_arrive,
        .barrier = on_barrier,
        .block_end = on_block_end,
        .launch_end = on_launch_end,
    };
    return w;
}

void watch_free(struct watch *w)
{
    if (!w)
        return;
    free_workers(w);
    races_free(w->races);
    for (unsigned i = 0; i < VGPU_MAX_DEVICES; i++)
        l2_close(&w->l2[i]);
    findings_clear(&w->found);
    free(w->findings);
    pthread_mutex_destroy(&w->queue.lock);
    free(w);
}

void watch_set_flags(struct watch *w, unsigned flags)
{
    w->flags = flags;
}

void watch_set_module(struct watch *w, const struct module *module)
{
    w->module = module;
}

const struct watcher *watch_callbacks(struct watch *w)
{
    return &w->callbacks;
}

struct access_counters watch_counters(const struct watch *w)
{
    return w->counters;
}

void counters_to_work(const struct access_counters *n, struct launch_work *work)
{
    work->global_load_requests = n->load_requests;
    work->global_load_sectors = n->load_sectors;
    work->global_load_bytes = n->load_bytes;
    work->global_store_requests = n->store_requests;
    work->global_store_sectors = n->store_sectors;
    work->global_store_bytes = n->store_bytes;
    work->atomics = n->atomics;
    work->shared_wavefronts =
        n->shared_load_wavefronts + n->shared_store_wavefronts;
    work->l2_sectors = n->l2_sectors;
    work->l2_hit_sectors = n->l2_hit_sectors;
    work->dram_read_bytes = n->dram_read_bytes;
    work->dram_write_bytes = n->dram_write_bytes;
}

void watch_flush_cache(struct watch *w)
{
    for (unsigned i = 0; i < VGPU_MAX_DEVICES; i++)
        l2_flush(&w->l2[i]);
}
