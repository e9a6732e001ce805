// Barriers and warp-wide exchanges (PTX ISA 9.7.13).
//
// A .sync instruction waits for every lane of its member mask that has not
// exited. As a rule they are all on the path that executes it; else the path
// waits until the others come, maybe by another instruction of the same kind,
// and the exchange is done for all of them at once.
#include <string.h>

#include "control.h"
#include "sync.h"

// ---- an exchange between lanes -----------------------------------------------

struct exchange {
    uint32_t present;                 // lanes that take part
    uint32_t members[WARP_LANES];     // each lane's member mask
    uint64_t a[WARP_LANES];
    uint32_t b[WARP_LANES], c[WARP_LANES];
    uint32_t d[WARP_LANES], p[WARP_LANES];
};

static uint32_t members_row(const struct inst *i)
{
    if (i->imm <= SHFL_IDX)
        return i->e;
    return i->imm == ELECT || i->imm == BAR_WARP ? i->a : i->b;
}

static bool is_64_bit(const struct inst *i)
{
    return i->imm == MATCH_ANY64 || i->imm == MATCH_ALL64;
}

static bool result_is_predicate(const struct inst *i)
{
    return i->imm >= VOTE_ALL && i->imm <= VOTE_UNI;
}

static void gather(struct exchange *x, const uint8_t *rows,
                   const struct inst *i, uint32_t lanes)
{
    const uint32_t *members = (const void *)(rows + members_row(i));
    const uint32_t *a = (const void *)(rows + i->a);
    const uint64_t *wide = (const void *)(rows + i->a);
    const uint32_t *b = (const void *)(rows + i->b);
    const uint32_t *c = (const void *)(rows + i->c);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        x->members[l] = members[l];
        x->a[l] = is_64_bit(i) ? wide[l] : a[l];
        x->b[l] = b[l];
        x->c[l] = c[l];
    }
    x->present |= lanes;
}

static void scatter(const struct exchange *x, uint8_t *rows,
                    const struct inst *i, uint32_t lanes)
{
    if (i->imm == BAR_WARP)
        return;
    uint32_t *d = (void *)(rows + i->d), *d2 = (void *)(rows + i->d2);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        d[l] = result_is_predicate(i) ? -(uint32_t)(x->d[l] != 0) : x->d[l];
        d2[l] = -(uint32_t)(x->p[l] != 0);
    }
}

// ---- what lanes with one member mask compute ---------------------------------

static void shuffle(struct exchange *x, int64_t mode, uint32_t lanes)
{
    for (int l = 0; l < WARP_LANES; l++) {
        if (!(lanes >> l & 1))
            continue;
        int by = x->b[l] & 31, clamp = x->c[l] & 31;
        int segment = x->c[l] >> 8 & 31;
        int first = l & segment, last = first | (clamp & ~segment & 31);
        int from = mode == SHFL_UP     ? l - by
                   : mode == SHFL_DOWN ? l + by
                   : mode == SHFL_BFLY ? l ^ by
                                       : first | (by & ~segment & 31);
        bool good = mode == SHFL_UP ? from >= last : from <= last;
        from = good ? from : l;
        // A lane that takes no part has nothing to give.
        from = x->present >> from & 1 ? from : l;
        x->d[l] = (uint32_t)x->a[from];
        x->p[l] = good;
    }
}

static void vote(struct exchange *x, int64_t mode, uint32_t lanes)
{
    uint32_t yes = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        yes |= (uint32_t)(x->a[l] != 0) << l;
    yes &= lanes;
    uint32_t result = mode == VOTE_ALL   ? yes == lanes
                      : mode == VOTE_ANY ? yes != 0
                      : mode == VOTE_UNI ? yes == lanes || yes == 0
                                         : yes;
    for (unsigned l = 0; l < WARP_LANES; l++)
        x->d[l] = result;
}

static void match(struct exchange *x, int64_t mode, uint32_t lanes)
{
    bool any = mode == MATCH_ANY || mode == MATCH_ANY64;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t same = 0;
        if (!(lanes >> l & 1))
            continue;
        for (unsigned k = 0; k < WARP_LANES; k++)
            same |= (uint32_t)(x->a[k] == x->a[l]) << k;
        same &= lanes;
        x->d[l] = any ? same : same == lanes ? lanes : 0;
        x->p[l] = same == lanes;
    }
}

static uint32_t combine(int64_t mode, uint32_t x, uint32_t y)
{
    switch (mode) {
    case REDUX_ADD:
        return x + y;
    case REDUX_MIN_U:
        return x < y ? x : y;
    case REDUX_MAX_U:
        return x > y ? x : y;
    case REDUX_MIN_S:
        return (int32_t)x < (int32_t)y ? x : y;
    case REDUX_MAX_S:
        return (int32_t)x > (int32_t)y ? x : y;
    case REDUX_AND:
        return x & y;
    case REDUX_OR:
        return x | y;
    default: // REDUX_XOR
        return x ^ y;
    }
}

static void reduce(struct exchange *x, int64_t mode, uint32_t lanes)
{
    uint32_t left = lanes & (lanes - 1);
    uint32_t result = (uint32_t)x->a[__builtin_ctz(lanes)];
    for (; left; left &= left - 1)
        result = combine(mode, result, (uint32_t)x->a[__builtin_ctz(left)]);
    for (unsigned l = 0; l < WARP_LANES; l++)
        x->d[l] = lanes >> l & 1 ? result : x->d[l];
}

static void elect(struct exchange *x, uint32_t lanes)
{
    uint32_t leader = (uint32_t)__builtin_ctz(lanes);
    for (unsigned l = 0; l < WARP_LANES; l++) {
        x->d[l] = leader;
        x->p[l] = l == leader;
    }
}

static void compute_group(struct exchange *x, int64_t mode, uint32_t lanes)
{
    if (mode <= SHFL_IDX)
        shuffle(x, mode, lanes);
    else if (mode <= VOTE_BALLOT)
        vote(x, mode, lanes);
    else if (mode <= MATCH_ALL64)
        match(x, mode, lanes);
    else if (mode <= REDUX_XOR)
        reduce(x, mode, lanes);
    else if (mode == ELECT)
        elect(x, lanes);
}

// Of the lanes `left`, those with the member mask of the lowest one.
static uint32_t group_of(const uint32_t *members, uint32_t left)
{
    uint32_t first = members[__builtin_ctz(left)], group = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        group |= (uint32_t)(members[l] == first) << l;
    return group & left;
}

// Votes of a group overwrite x->d for all lanes, so results are kept apart.
static void compute(struct exchange *x, int64_t mode)
{
    uint32_t d[WARP_LANES] = {0}, p[WARP_LANES] = {0};
    for (uint32_t left = x->present; left;) {
        uint32_t group = group_of(x->members, left);
        left &= ~group;
        compute_group(x, mode, group);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            d[l] = group >> l & 1 ? x->d[l] : d[l];
            p[l] = group >> l & 1 ? x->p[l] : p[l];
        }
    }
    memcpy(x->d, d, sizeof d);
    memcpy(x->p, p, sizeof p);
}

// ---- waiting for lanes -------------------------------------------------------

// The lanes that those in `lanes` wait for.
static uint32_t awaited(const uint8_t *rows, const struct inst *i,
                        uint32_t lanes)
{
    const uint32_t *members = (const void *)(rows + members_row(i));
    uint32_t all = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        all |= lanes >> l & 1 ? members[l] : 0;
    return all;
}

static void check_membership(struct warp *w, const struct inst *i)
{
    const uint32_t *members = warp_row(w, members_row(i));
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (w->mask >> l & 1 && !(members[l] >> l & 1))
            warp_report(w, i, l, FINDING_INVALID,
                        "%s: the lane is not in its own member mask %#x",
                        i->src->opcode, members[l]);
}

// Of the lanes `present`, those of one member mask met one another.
static void tell_sync(struct warp *w, const uint32_t *members, uint32_t present)
{
    const struct watcher *watcher = w->block->worker->state->launch->watcher;
    struct warp_view view = {&w->block->view, w->index};
    if (!watcher || !watcher->warp_sync)
        return;
    while (present) {
        uint32_t mask = members[__builtin_ctz(present)];
        watcher->warp_sync(watcher->self, &view, mask);
        present &= ~group_of(members, present);
    }
}

static const struct inst *exchange_now(struct warp *w, const struct inst *i)
{
    struct exchange x = {0};
    tell_sync(w, warp_row(w, members_row(i)), w->mask);
    if (i->imm == BAR_WARP)
        return i + 1;
    gather(&x, w->frame, i, w->mask);
    compute(&x, i->imm);
    scatter(&x, w->frame, i, w->mask);
    return i + 1;
}

static const struct inst *sync_lanes(struct warp *w, const struct inst *i)
{
    if (w->past_barrier & w->mask)
        sync_past_barrier(w, i);
    uint32_t wanted = awaited(w->frame, i, w->mask);
    if (w->mask & ~wanted || w->partial)
        check_membership(w, i);
    if ((wanted & w->control->live & ~w->mask) == 0)
        return exchange_now(w, i);
    path_current(w)->members = wanted;
    return path_wait(w, i, PATH_AT_SYNC);
}

const struct inst *shfl_sync(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *vote_sync(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *vote_ballot(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *match_sync(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *redux_sync(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *elect_sync(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *bar_warp(struct warp *w, const struct inst *i)
{
    return sync_lanes(w, i);
}

const struct inst *activemask(struct warp *w, const struct inst *i)
{
    uint32_t *d = warp_row(w, i->d);
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = w->mask_row[l] ? w->mask : d[l];
    return i + 1;
}

// The waiting paths that can do their exchange with one another, by index.
static uint32_t ready_paths(const struct warp_control *c, int64_t mode)
{
    uint32_t paths = 0, lanes = 0, before;
    for (uint32_t k = 0; k < c->npaths; k++) {
        const struct path *p = &c->paths[k];
        if (p->state == PATH_AT_SYNC && p->pc->imm == mode) {
            paths |= 1u << k;
            lanes |= p->mask;
        }
    }
    do { // without those that wait for a lane which is not among them
        before = paths;
        for (uint32_t k = 0; k < c->npaths; k++) {
            const struct path *p = &c->paths[k];
            if (paths >> k & 1 && p->members & c->live & ~lanes) {
                paths &= ~(1u << k);
                lanes &= ~p->mask;
            }
        }
    } while (paths != before);
    return paths;
}

static void exchange_paths(struct warp_control *c, uint32_t paths)
{
    struct exchange x = {0};
    int64_t mode = 0;
    for (uint32_t left = paths; left; left &= left - 1) {
        const struct path *p = &c->paths[__builtin_ctz(left)];
        mode = p->pc->imm;
        gather(&x, p->frame->rows, p->pc, p->mask);
    }
    tell_sync(&c->w, x.members, x.present);
    if (mode != BAR_WARP)
        compute(&x, mode);
    for (uint32_t left = paths; left; left &= left - 1) {
        struct path *p = &c->paths[__builtin_ctz(left)];
        scatter(&x, p->frame->rows, p->pc, p->mask);
        p->pc++;
        p->state = PATH_READY;
    }
}

bool sync_complete(struct warp_control *c)
{
    for (uint32_t k = 0; k < c->npaths; k++) {
        if (c->paths[k].state != PATH_AT_SYNC)
            continue;
        uint32_t paths = ready_paths(c, c->paths[k].pc->imm);
        if (!paths)
            continue;
        exchange_paths(c, paths);
        return true;
    }
    return false;
}

// ---- barriers of the block ---------------------------------------------------

void sync_past_barrier(struct warp *w, const struct inst *i)
{
    unsigned lane = (unsigned)__builtin_ctz(w->past_barrier & w->mask);
    const struct path *waits = NULL;
    char where[300] = "a barrier";
    for (uint32_t k = 0; k < w->control->npaths; k++)
        if (w->control->paths[k].state == PATH_AT_BARRIER)
            waits = &w->control->paths[k];
    if (!waits)
        return; // they have gone on, or exited, since
    inst_place(w, waits->pc, where, sizeof where);
    warp_report(w, i, lane, FINDING_BARRIER,
                "the thread goes on (%s) without the barrier at %s, where "
                "other threads of its warp wait: all threads of a block must "
                "reach the same barrier", i->src->opcode, where);
}

// Which barrier, and how many threads: of the lowest lane. False: a fault.
static bool barrier_operands(struct warp *w, const struct inst *i,
                             uint32_t *barrier, uint32_t *threads)
{
    unsigned lane = (unsigned)__builtin_ctz(w->mask);
    const uint32_t *a = warp_row(w, i->a), *b = warp_row(w, i->b);
    *barrier = a[lane];
    *threads = i->flags & BAR_COUNTED ? b[lane] : 0;
    if (*barrier < BARRIERS && *threads % WARP_LANES == 0)
        return true;
    warp_fault(w, i, LAUNCH_ILLEGAL_INSTRUCTION, lane, 0,
               "%s: barrier %u (there are 16) of %u threads (a multiple of 32)",
               i->src->opcode, *barrier, *threads);
    return false;
}

const struct inst *bar_sync(struct warp *w, const struct inst *i)
{
    uint32_t barrier, threads;
    if (!barrier_operands(w, i, &barrier, &threads))
        return NULL;
    if (w->past_barrier & w->mask)
        sync_past_barrier(w, i);
    path_current(w)->barrier = barrier;
    path_current(w)->threads = threads;
    return path_wait(w, i, PATH_AT_BARRIER);
}

const struct inst *bar_red(struct warp *w, const struct inst *i)
{
    return bar_sync(w, i);
}

const struct inst *bar_arrive(struct warp *w, const struct inst *i)
{
    uint32_t barrier, threads;
    if (!barrier_operands(w, i, &barrier, &threads))
        return NULL;
    block_arrive_only(w, i, barrier, threads);
    return i + 1;
}
