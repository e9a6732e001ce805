// A launch: blocks over worker threads, resident sets, sums.
//
// A worker runs one block as long as that gets on. When all warps of a block
// wait for what other blocks do, the worker starts another block beside it, up
// to the number that the GPU holds at once, and gives each a turn.
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "control.h"

enum {
    // Blocks a worker must have before another one is worth its start.
    BLOCKS_PER_WORKER = 2,
    // Turns without progress until the launch counts as deadlocked; after the
    // first of them each takes IDLE_US.
    IDLE_FREE = 200, IDLE_LIMIT = 3000, IDLE_US = 500,
    // Local memory of a thread beyond its kernel's frame, for calls.
    CALL_STACK_BYTES = 64 << 10,
};

uint64_t random_next(uint64_t *state) // splitmix64
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// ---- which block next --------------------------------------------------------

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void shuffle_blocks(struct launch_state *s)
{
    uint64_t seed = s->launch->seed;
    s->stride = 1 + random_next(&seed) % s->nblocks;
    while (gcd(s->stride, s->nblocks) != 1)
        s->stride++;
    s->offset = random_next(&seed) % s->nblocks;
}

static uint64_t block_at(const struct launch_state *s, uint64_t turn)
{
    switch (s->launch->schedule) {
    case SCHEDULE_DESCENDING:
        return s->nblocks - 1 - turn;
    case SCHEDULE_RANDOM:
        return (uint64_t)(((unsigned __int128)turn * s->stride + s->offset) %
                          s->nblocks);
    default:
        return turn;
    }
}

// ---- a worker ----------------------------------------------------------------

static void out_of_memory(struct launch_state *s)
{
    pthread_mutex_lock(&s->lock);
    if (s->report->status == LAUNCH_OK) {
        s->report->status = LAUNCH_OUT_OF_MEMORY;
        strcpy(s->report->fault.message, "the host ran out of memory");
        s->report->fault.kind = FINDING_INVALID;
    }
    atomic_store(&s->ended, true);
    pthread_mutex_unlock(&s->lock);
}

static struct block *free_slot(struct worker *w)
{
    for (uint32_t k = 0; k < w->nblocks; k++)
        if (!w->blocks[k]->active)
            return w->blocks[k];
    if (w->nblocks == w->capacity)
        return NULL;
    struct block *b = block_new(w);
    if (!b) {
        out_of_memory(w->state);
        return NULL;
    }
    w->blocks[w->nblocks++] = b;
    return b;
}

// Starts the next block in a free slot; NULL when there is none of either.
static struct block *start_next(struct worker *w)
{
    struct launch_state *s = w->state;
    if (atomic_load(&s->next_block) >= s->nblocks)
        return NULL;
    struct block *b = free_slot(w);
    if (!b)
        return NULL;
    uint64_t turn = atomic_fetch_add(&s->next_block, 1);
    if (turn >= s->nblocks)
        return NULL;
    block_start(b, block_at(s, turn));
    return b;
}

// No block of this worker got on. False when the launch is deadlocked.
static bool wait_for_others(struct worker *w, uint64_t *seen, unsigned *idle)
{
    uint64_t progress = atomic_load(&w->state->progress);
    if (progress != *seen || w->polls_host) {
        *seen = progress;
        *idle = w->polls_host ? IDLE_FREE : 0;
    }
    w->polls_host = false;
    if (++*idle > IDLE_LIMIT)
        return false;
    if (*idle > IDLE_FREE)
        usleep(IDLE_US);
    else
        sched_yield();
    return true;
}

// A turn of all active blocks; how many are left, or -1 at the launch's end.
static int turn_of_blocks(struct worker *w)
{
    int active = 0;
    for (uint32_t k = 0; k < w->nblocks; k++) {
        struct block *b = w->blocks[k];
        while (b->active) {
            enum block_result r = block_run(b);
            if (r == BLOCK_ENDED)
                return -1;
            if (r == BLOCK_STUCK) {
                block_deadlock(b);
                return -1;
            }
            if (r == BLOCK_SPINS) {
                active++;
                break;
            }
            start_next(w); // in the slot that became free, as a rule
        }
    }
    return active;
}

static void *worker_run(void *arg)
{
    struct worker *w = arg;
    struct launch_state *s = w->state;
    uint64_t seen = 0;
    unsigned idle = 0;
    start_next(w);
    for (;;) {
        w->worked = false;
        int active = turn_of_blocks(w);
        if (active < 0 || atomic_load(&s->ended))
            break;
        if (w->worked)
            atomic_fetch_add(&s->progress, 1);
        if (start_next(w))
            continue;
        if (active == 0)
            break;
        if (!wait_for_others(w, &seen, &idle)) {
            for (uint32_t k = 0; k < w->nblocks; k++)
                if (w->blocks[k]->active)
                    block_deadlock(w->blocks[k]);
            break;
        }
    }
    return NULL;
}

// ---- setting up and summing up -----------------------------------------------

static bool worker_init(struct worker *w, struct launch_state *s,
                        unsigned index)
{
    const struct module *m = s->function->code->module;
    bool counts = s->report->inst_count || s->report->inst_lanes;
    w->state = s;
    w->index = index;
    w->random = s->launch->seed ^ (index * UINT64_C(0x632be59bd9b4e019));
    w->capacity = s->resident / s->nworkers + 1;
    w->blocks = calloc(w->capacity, sizeof *w->blocks);
    w->free_frames = calloc(m->nfuncs + 1, sizeof *w->free_frames);
    // One more than instructions, for hidden ones.
    if (counts)
        w->counts = calloc((size_t)m->ninsts + 1, sizeof *w->counts);
    return w->blocks && w->free_frames && (w->counts || !counts);
}

static void worker_sum(struct worker *w, struct launch_report *r)
{
    const struct module *m = w->state->function->code->module;
    r->warp_instructions += w->executed;
    r->lane_instructions += w->lanes;
    r->lanes_lost_to_branches += w->lost;
    r->barriers += w->barriers;
    for (uint32_t k = 0; w->blocks && k < w->nblocks; k++) {
        for (uint32_t n = 0; n < w->blocks[k]->nwarps; n++) {
            r->branches += w->blocks[k]->warps[n]->branches;
            r->divergent_branches += w->blocks[k]->warps[n]->divergent;
        }
    }
    for (uint32_t k = 0; w->counts && k < m->ninsts; k++) {
        if (r->inst_count)
            r->inst_count[k] += w->counts[k].warps;
        if (r->inst_lanes)
            r->inst_lanes[k] += w->counts[k].lanes;
    }
}

static void worker_free(struct worker *w)
{
    for (uint32_t k = 0; w->blocks && k < w->nblocks; k++) {
        for (uint32_t n = 0; n < w->blocks[k]->nwarps; n++)
            warp_drop(w->blocks[k]->warps[n]);
        block_free(w->blocks[k]);
    }
    if (w->free_frames)
        path_free_pools(w, w->state->function->code->module->nfuncs);
    free(w->free_frames);
    free(w->blocks);
    free(w->counts);
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
    return align ? (n + align - 1) / align * align : n;
}

static void lay_out_shared(struct launch_state *s)
{
    const struct launch *l = s->launch;
    uint64_t align = s->function->code->module->extern_shared_align;
    s->dynamic_base =
        (uint32_t)align_up(l->func->shared_bytes, align > 16 ? align : 16);
    s->shared_bytes = l->dynamic_shared
                          ? s->dynamic_base + l->dynamic_shared
                          : (uint32_t)l->func->shared_bytes;
}

// grid.sync: %envreg1 and %envreg2 are the high and low half of the address of
// a workspace, of which the second word is the barrier's counter.
static bool make_workspace(struct launch_state *s)
{
    const struct launch *l = s->launch;
    if (!l->cooperative)
        return true;
    s->workspace = memory_alloc(l->memory, l->device, 256, ALLOC_VARIABLE,
                                "grid.sync workspace");
    return s->workspace && memory_set(l->memory, s->workspace, 0, 256);
}

static bool state_init(struct launch_state *s, const struct launch *l,
                       struct launch_report *r)
{
    const struct module *m = l->code->module;
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    s->launch = l;
    s->report = r;
    s->function = &l->code->functions[l->func - m->funcs];
    s->nblocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    s->warps_per_block = (uint32_t)((threads + WARP_LANES - 1) / WARP_LANES);
    s->local_bytes = (uint32_t)align_up(l->func->local_bytes, 16);
    if (l->code->calls_functions)
        s->local_bytes += CALL_STACK_BYTES;
    uint64_t held = (uint64_t)(l->gpu ? l->gpu->sms : 1) *
                    (l->blocks_per_sm ? l->blocks_per_sm : 1);
    if (held > s->nblocks || l->cooperative)
        held = s->nblocks;
    s->resident = (uint32_t)(held < UINT32_MAX / 2 ? held : UINT32_MAX / 2);
    lay_out_shared(s);
    if (l->schedule == SCHEDULE_RANDOM)
        shuffle_blocks(s);
    pthread_mutex_init(&s->lock, NULL);
    if (l->watcher && l->watcher->found)
        s->reported = calloc((size_t)m->ninsts + 1, 1);
    uint64_t useful = s->nblocks / BLOCKS_PER_WORKER;
    s->nworkers = l->nthreads > useful ? (unsigned)useful : l->nthreads;
    if (s->nworkers == 0)
        s->nworkers = 1;
    return make_workspace(s);
}

// Runs the workers; the first on the calling thread.
static void run_workers(struct launch_state *s, struct worker *workers)
{
    pthread_t threads[s->nworkers];
    bool started[s->nworkers];
    for (unsigned k = 1; k < s->nworkers; k++)
        started[k] = pthread_create(&threads[k], NULL, worker_run,
                                    &workers[k]) == 0;
    worker_run(&workers[0]);
    for (unsigned k = 1; k < s->nworkers; k++)
        if (started[k])
            pthread_join(threads[k], NULL);
}

void launch_run(const struct launch *l, struct launch_report *r)
{
    struct launch_state s = {0};
    struct worker *workers = NULL;
    const struct watcher *watcher = l->watcher;
    r->status = LAUNCH_OK;
    bool good = state_init(&s, l, r);
    workers = good ? calloc(s.nworkers, sizeof *workers) : NULL;
    good = workers != NULL;
    for (unsigned k = 0; good && k < s.nworkers; k++)
        good = worker_init(&workers[k], &s, k);
    if (!good) {
        out_of_memory(&s);
    } else if (s.nblocks > 0 && s.warps_per_block > 0) {
        if (watcher && watcher->launch_begin)
            watcher->launch_begin(watcher->self, l, s.nworkers);
        run_workers(&s, workers);
        if (watcher && watcher->launch_end)
            watcher->launch_end(watcher->self, l);
    }
    for (unsigned k = 0; workers && k < s.nworkers; k++) {
        worker_sum(&workers[k], r);
        worker_free(&workers[k]);
    }
    if (s.workspace)
        memory_release(l->memory, s.workspace);
    free(workers);
    free(s.reported);
    pthread_mutex_destroy(&s.lock);
}

// ---- what the time model is told -----------------------------------------------

void launch_pipes(const struct code *code, const struct launch_report *r,
                  struct launch_work *work)
{
    uint64_t *const sums[] = {
        [PIPE_INT] = &work->integer,  [PIPE_FP32] = &work->fp32,
        [PIPE_FP64] = &work->fp64,    [PIPE_SFU] = &work->sfu,
        [PIPE_LSU] = &work->lsu,      [PIPE_BRANCH] = &work->branch,
        [PIPE_TENSOR] = &work->tensor, [PIPE_OTHER] = &work->other,
    };
    for (uint32_t f = 0; r->inst_count && f < code->module->nfuncs; f++) {
        const struct function *fn = &code->functions[f];
        uint32_t last = UINT32_MAX;
        for (uint32_t k = 0; k < fn->ninsts; k++) {
            const struct inst *i = &fn->insts[k];
            if (i->id >= code->module->ninsts || i->id == last)
                continue;
            last = i->id;
            // A guard stands for the instruction behind it.
            const struct inst *real = k + 1 < fn->ninsts && i[1].id == i->id
                                          ? i + 1 : i;
            work->issue += r->inst_count[i->id];
            *sums[code->ops[real->op].pipe] += r->inst_count[i->id];
            if (r->inst_lanes)
                work->lanes += r->inst_lanes[i->id];
        }
    }
}

const struct opcode_row *opcode_rows(unsigned *n)
{
    static const struct opcode_row rows[] = {
#define ROW(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)                  \
    {PATTERN, SECTION, #PIPE},
#define OP ROW
#define OP_WARP ROW
#include "opcodes.def"
#undef OP
#undef OP_WARP
    };
    *n = sizeof rows / sizeof *rows;
    return rows;
}
