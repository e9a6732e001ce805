// A block: its warps in turn, its barriers, and who waits where.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "control.h"
#include "sync.h"

enum {
    QUANTUM = 1 << 15, // instructions of a warp until others get a turn
    FLUSH = 1 << 12,   // of a worker until it looks around
    LOOKS = 16,        // until it asks whether the launch is still wanted
};

// ---- making and starting -------------------------------------------------------

static uint32_t lanes_of_warp(const struct launch *l, uint32_t warp)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t left = threads - (uint64_t)warp * WARP_LANES;
    return left >= WARP_LANES ? ALL_LANES : (1u << left) - 1;
}

static struct warp_control *warp_new(struct block *b, uint32_t index)
{
    const struct launch_state *state = b->worker->state;
    struct warp_control *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->w = (struct warp){
        .counts = b->worker->counts,
        .shared = b->shared,
        .extents = b->worker->extents,
        .shared_bytes = state->shared_bytes,
        .local_bytes = state->local_bytes,
        .params = state->launch->params,
        .param_bytes = state->launch->func->param_bytes,
        .watched = state->launch->watcher && state->launch->watcher->access,
        .shares_memory = state->nworkers > 1,
        .switches = state->launch->schedule == SCHEDULE_RANDOM,
        .block = b,
        .worker = b->worker,
        .control = c,
        .index = index,
    };
    c->status = WARP_DONE;
    if (state->local_bytes > 0) {
        // Touched as far as it is used.
        void *p = mmap(NULL, (size_t)state->local_bytes * WARP_LANES,
                       PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED) {
            free(c);
            return NULL;
        }
        c->w.local = p;
    }
    c->kernel_frame = frame_for_kernel(&c->w, state->function);
    return c;
}

static void warp_free(struct warp_control *c)
{
    if (!c)
        return;
    if (c->w.local)
        munmap(c->w.local, (size_t)c->w.local_bytes * WARP_LANES);
    free(c->kernel_frame);
    free(c);
}

struct block *block_new(struct worker *worker)
{
    const struct launch_state *state = worker->state;
    struct block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->worker = worker;
    b->nwarps = state->warps_per_block;
    b->shared = calloc(1, state->shared_bytes + 16);
    b->warps = calloc(b->nwarps, sizeof *b->warps);
    b->order = calloc(b->nwarps, sizeof *b->order);
    bool good = b->shared && b->warps && b->order;
    for (uint32_t k = 0; good && k < b->nwarps; k++) {
        b->warps[k] = warp_new(b, k);
        good = b->warps[k] && b->warps[k]->kernel_frame;
    }
    if (good)
        return b;
    block_free(b);
    return NULL;
}

void block_free(struct block *b)
{
    if (!b)
        return;
    for (uint32_t k = 0; b->warps && k < b->nwarps; k++)
        warp_free(b->warps[k]);
    free(b->warps);
    free(b->order);
    free(b->shared);
    free(b);
}

static void order_warps(struct block *b)
{
    enum schedule schedule = b->worker->state->launch->schedule;
    for (uint32_t k = 0; k < b->nwarps; k++)
        b->order[k] =
            schedule == SCHEDULE_DESCENDING ? b->nwarps - 1 - k : k;
    for (uint32_t k = b->nwarps; schedule == SCHEDULE_RANDOM && k > 1; k--) {
        uint32_t other = (uint32_t)(random_next(&b->worker->random) % k);
        uint32_t swap = b->order[k - 1];
        b->order[k - 1] = b->order[other];
        b->order[other] = swap;
    }
}

static void block_index(const struct launch *l, uint64_t linear,
                        uint32_t idx[3])
{
    uint64_t row = linear < l->grid[0] ? 0 : linear / l->grid[0];
    idx[0] = (uint32_t)(linear - row * l->grid[0]);
    idx[1] = row < l->grid[1] ? (uint32_t)row : (uint32_t)(row % l->grid[1]);
    idx[2] = row < l->grid[1] ? 0 : (uint32_t)(row / l->grid[1]);
}

void block_start(struct block *b, uint64_t linear)
{
    const struct launch *l = b->worker->state->launch;
    b->active = true;
    b->nlive = b->nwarps;
    b->smid = (uint32_t)(linear % (l->gpu ? l->gpu->sms : 1));
    if (b->arrived)
        memset(b->barriers, 0, sizeof b->barriers);
    b->arrived = false;
    b->view = (struct block_view){
        .launch = l,
        .linear = linear,
        .shared = b->shared,
        .shared_bytes = b->worker->state->shared_bytes,
        .worker = b->worker->index,
    };
    block_index(l, linear, b->view.idx);
    order_warps(b);
    for (uint32_t k = 0; k < b->nwarps; k++)
        warp_start(b->warps[k], lanes_of_warp(l, k));
    if (l->watcher && l->watcher->block_begin)
        l->watcher->block_begin(l->watcher->self, &b->view);
}

// ---- barriers ------------------------------------------------------------------

static void pass_path(struct path *p, const struct barrier *was)
{
    const struct inst *i = p->pc;
    if (i->flags & BAR_RED) {
        uint32_t *d = (uint32_t *)(p->frame->rows + i->d);
        uint32_t value = i->flags & BAR_POPC  ? was->popc
                         : i->flags & BAR_AND ? -(uint32_t)was->all
                                              : -(uint32_t)was->any;
        for (unsigned l = 0; l < WARP_LANES; l++)
            d[l] = p->mask >> l & 1 ? value : d[l];
    }
    p->pc++;
    p->state = PATH_READY;
}

static void open_barrier(struct block *b, uint32_t index)
{
    struct barrier was = b->barriers[index];
    const struct watcher *watcher = b->view.launch->watcher;
    b->barriers[index] = (struct barrier){0};
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp_control *c = b->warps[k];
        if (c->status != WARP_AT_BARRIER || c->paths[0].barrier != index)
            continue;
        for (uint32_t n = 0; n < c->npaths; n++)
            pass_path(&c->paths[n], &was);
        c->w.past_barrier = 0;
        c->status = WARP_READY;
    }
    b->worker->barriers++;
    b->worker->progressed = true;
    if (watcher && watcher->barrier)
        watcher->barrier(watcher->self, &b->view, index,
                         was.threads == 0 && was.waiting == was.arrived);
}

static bool complete(const struct block *b, const struct barrier *bar)
{
    uint32_t wanted = bar->threads ? bar->threads / WARP_LANES : b->nlive;
    return bar->waiting > 0 && bar->arrived >= wanted;
}

// All threads of a block must come by the same bar.sync.
static void check_same(struct warp *w, struct barrier *bar,
                       const struct inst *i, unsigned lane)
{
    if (!bar->first)
        bar->first = i;
    if (i == bar->first || !(i->flags & BAR_ALIGNED) ||
        !(bar->first->flags & BAR_ALIGNED) || bar->threads)
        return;
    char here[300], there[300];
    inst_place(w, i, here, sizeof here);
    inst_place(w, bar->first, there, sizeof there);
    warp_report(w, i, lane, FINDING_BARRIER,
                "the thread waits at the barrier at %s while others of its "
                "block wait at that of %s: all threads of a block must reach "
                "the same barrier", here, there);
}

static void reduce_path(struct barrier *bar, const struct path *p)
{
    if (!(p->pc->flags & BAR_RED))
        return;
    uint32_t yes = row_bits((uint32_t *)(p->frame->rows + p->pc->c)) & p->mask;
    bar->popc += (uint32_t)__builtin_popcount(yes);
    bar->all = bar->all && yes == p->mask;
    bar->any |= yes != 0;
}

static void tell_arrival(struct warp *w, uint32_t barrier, bool waits)
{
    const struct watcher *watcher = w->block->view.launch->watcher;
    struct warp_view view = {&w->block->view, w->index};
    if (watcher && watcher->arrive)
        watcher->arrive(watcher->self, &view, barrier, waits);
}

void block_arrive(struct block *b, struct warp_control *c)
{
    uint32_t index = c->paths[0].barrier;
    struct barrier *bar = &b->barriers[index];
    b->arrived = true;
    if (bar->arrived == 0) {
        bar->all = true;
        bar->threads = c->paths[0].threads;
    }
    for (uint32_t k = 0; k < c->npaths; k++) {
        const struct path *p = &c->paths[k];
        check_same(&c->w, bar, p->pc, (unsigned)__builtin_ctz(p->mask));
        reduce_path(bar, p);
    }
    bar->arrived++;
    bar->waiting++;
    tell_arrival(&c->w, index, true);
    if (complete(b, bar))
        open_barrier(b, index);
}

void block_arrive_only(struct warp *w, const struct inst *i, uint32_t index,
                       uint32_t threads)
{
    struct block *b = w->block;
    struct barrier *bar = &b->barriers[index];
    (void)i;
    b->arrived = true;
    if (bar->arrived == 0) {
        bar->all = true;
        bar->threads = threads;
    }
    bar->arrived++;
    tell_arrival(w, index, false);
    if (complete(b, bar))
        open_barrier(b, index);
}

void block_warp_done(struct block *b, struct warp_control *c)
{
    (void)c;
    b->nlive--;
    b->worker->progressed = true;
    for (uint32_t k = 0; b->arrived && k < BARRIERS; k++)
        if (complete(b, &b->barriers[k]))
            open_barrier(b, k);
}

// ---- running -------------------------------------------------------------------

static void block_end(struct block *b)
{
    const struct watcher *watcher = b->view.launch->watcher;
    if (watcher && watcher->block_end)
        watcher->block_end(watcher->self, &b->view);
    b->active = false;
}

// Whether the launch goes on: every FLUSH instructions of a worker its budget
// and its owner are asked, and others are told that something moves.
static bool may_go_on(struct warp_control *c)
{
    struct worker *worker = c->w.worker;
    struct launch_state *state = worker->state;
    const struct launch *l = state->launch;
    uint64_t n = worker->unreported;
    if (n >= FLUSH) {
        uint64_t all = n + atomic_fetch_add(&state->executed, n);
        worker->unreported = 0;
        if (worker->worked)
            atomic_fetch_add(&state->progress, 1);
        if (l->budget && all > l->budget && c->npaths > 0)
            warp_fault(&c->w, c->paths[0].pc, LAUNCH_BUDGET,
                       (unsigned)__builtin_ctz(c->paths[0].mask), 0,
                       "the kernel has executed %llu warp instructions and "
                       "does not end", (unsigned long long)l->budget);
        else if (worker->looks++ % LOOKS == 0 && l->cancelled &&
                 c->npaths > 0 && l->cancelled(l->print_self))
            warp_fault(&c->w, c->paths[0].pc, LAUNCH_CANCELLED,
                       (unsigned)__builtin_ctz(c->paths[0].mask), 0,
                       "the launch was cancelled");
    }
    return !atomic_load_explicit(&state->ended, memory_order_relaxed);
}

// One turn of every warp that is ready. False when the launch has ended.
static bool run_warps(struct block *b, bool *any_ready, bool *any_worked)
{
    *any_ready = *any_worked = false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp_control *c = b->warps[b->order[k]];
        if (c->status != WARP_READY)
            continue;
        b->worker->progressed = false;
        b->worker->unreported += warp_run(c, QUANTUM);
        *any_ready = true;
        *any_worked |= c->w.stop != STOP_SPIN || b->worker->progressed;
        b->worker->worked |= *any_worked;
        if (!may_go_on(c))
            return false;
    }
    return true;
}

enum block_result block_run(struct block *b)
{
    bool ready, worked;
    do {
        if (!run_warps(b, &ready, &worked))
            return BLOCK_ENDED;
        if (b->nlive == 0) {
            block_end(b);
            return BLOCK_DONE;
        }
        if (!ready)
            return BLOCK_STUCK;
    } while (worked);
    return BLOCK_SPINS;
}

// ---- deadlocks -----------------------------------------------------------------

static size_t describe_path(const struct warp_control *c, const struct path *p,
                            char *out, size_t n)
{
    char where[300];
    inst_place(&c->w, p->pc, where, sizeof where);
    const char *what = p->state == PATH_READY ? "runs" : "waits";
    return (size_t)snprintf(out, n, "; warp %u (lanes %#x) %s in %s at %s",
                            c->w.index, p->mask, what,
                            p->pc->src ? p->pc->src->opcode : "?", where);
}

void block_deadlock(struct block *b)
{
    char text[420] = "";
    size_t used = 0;
    struct warp_control *first = NULL;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct warp_control *c = b->warps[k];
        for (uint32_t n = 0; c->status != WARP_DONE && n < c->npaths; n++) {
            first = first ? first : c;
            if (used < sizeof text - 100)
                used += describe_path(c, &c->paths[n], text + used,
                                      sizeof text - used);
        }
    }
    if (!first)
        return;
    const struct path *p = &first->paths[0];
    warp_fault(&first->w, p->pc, LAUNCH_DEADLOCK,
               (unsigned)__builtin_ctz(p->mask), 0,
               "no thread of the block can go on: %s", text + 2);
}
