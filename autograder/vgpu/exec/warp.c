// The dispatch loop, and what a warp does when none of its paths can go on.
#include "control.h"

// Executes the current path until a handler stops it or w->left runs out.
// Returns where it goes on when it only ran out of instructions.
static const struct inst *run_path(struct warp *w, const struct inst *i,
                                   uint64_t *tally)
{
    uint64_t sum = 0;
    do {
        sum += w->tally;
        i = i->fn[w->partial](w, i);
    } while (--w->left && i);
    *tally += sum;
    return i;
}

static const struct inst *run_path_counting(struct warp *w,
                                            const struct inst *i,
                                            uint64_t *tally)
{
    uint64_t sum = 0;
    do {
        struct count *count = &w->counts[i->id];
        sum += w->tally;
        count->warps++;
        count->lanes += (uint32_t)w->tally;
        i = i->fn[w->partial](w, i);
    } while (--w->left && i);
    *tally += sum;
    return i;
}

// Nothing is ready: opens what can be opened. False when the warp must wait.
static bool unblock(struct warp_control *c)
{
    if (sync_complete(c))
        return true;
    bool at_barrier = false, all_at_barrier = c->npaths > 0;
    for (uint32_t k = 0; k < c->npaths; k++) {
        bool here = c->paths[k].state == PATH_AT_BARRIER;
        at_barrier |= here;
        all_at_barrier &= here && c->paths[k].barrier == c->paths[0].barrier;
    }
    if (c->npaths > 0 && path_release(c, at_barrier))
        return true;
    if (c->live == 0) {
        c->status = WARP_DONE;
        block_warp_done(c->w.block, c);
    } else if (all_at_barrier) {
        c->status = WARP_AT_BARRIER;
        block_arrive(c->w.block, c); // may make the warp ready at once
    } else {
        c->status = WARP_STUCK;
    }
    return c->status == WARP_READY;
}

static void account(struct warp *w, uint64_t steps, uint64_t tally)
{
    struct worker *worker = w->worker;
    uint64_t hidden_lanes = (uint32_t)w->hidden_tally;
    worker->executed += steps - w->hidden;
    worker->clock += steps;
    worker->lanes += (uint32_t)tally - hidden_lanes - w->guarded_off;
    worker->lost += (tally >> 32) - (w->hidden_tally >> 32);
    w->hidden = w->hidden_tally = w->guarded_off = 0;
}

uint64_t warp_run(struct warp_control *c, uint64_t n)
{
    struct warp *w = &c->w;
    uint64_t tally = 0;
    w->left = n;
    w->worker->clock_run = n;
    w->stop = STOP_NONE;
    for (;;) {
        if (!path_pick(c)) {
            if (!unblock(c))
                break;
            continue;
        }
        const struct inst *i = c->paths[c->current].pc;
        w->stop = STOP_NONE;
        i = w->counts ? run_path_counting(w, i, &tally)
                      : run_path(w, i, &tally);
        if (i)
            c->paths[c->current].pc = i;
        if (w->left == 0 || w->stop > STOP_PATH)
            break;
    }
    uint64_t steps = n - w->left;
    account(w, steps, tally);
    return steps;
}
