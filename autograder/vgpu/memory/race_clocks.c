// What the threads of a block know of one another: barriers, .sync
// instructions of a warp, fences.
//
// Exited threads count as having come to every barrier, as they do on a GPU.
#include "race.h"

#include <stdlib.h>
#include <string.h>

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

// ---- a block ---------------------------------------------------------------

static void forget_refs(struct race_refs *refs)
{
    refs->n = 0;
}

static void warp_reset(struct race_warp *w)
{
    w->now = w->synced = w->dirty = w->fenced = w->fenced_wide = 0;
    w->cleaned = 0;
    w->parted = false;
    memset(w->others, 0, sizeof w->others);
    forget_refs(&w->refs);
    for (unsigned l = 0; l < RACE_LANES; l++)
        forget_refs(&w->lane_refs[l]);
    w->with_refs = 0;
}

static bool make_room(struct race_block *b, uint32_t nwarps, uint32_t ncells)
{
    if (b->warps_cap < nwarps) {
        struct race_warp *warps = realloc(b->warps, nwarps * sizeof *warps);
        if (!warps)
            return false;
        memset(warps + b->warps_cap, 0,
               (nwarps - b->warps_cap) * sizeof *warps);
        b->warps = warps;
        b->warps_cap = nwarps;
    }
    if (b->cells_cap < ncells) {
        free(b->cells);
        b->cells = calloc(ncells, sizeof *b->cells);
        b->cells_cap = b->cells ? ncells : 0;
    }
    return b->cells_cap >= ncells;
}

bool race_block_begin(struct race_block *b, const struct block_view *view)
{
    const uint32_t *size = view->launch->block;
    uint64_t threads = (uint64_t)size[0] * size[1] * size[2];
    uint64_t nwarps = (threads + RACE_LANES - 1) / RACE_LANES;
    if (nwarps > RACE_WARPS || view->linear > UINT32_MAX ||
        !make_room(b, (uint32_t)nwarps, view->shared_bytes / 4 + 1))
        return false;
    b->serial++; // cells of earlier blocks are nobody's
    b->linear = (uint32_t)view->linear;
    b->nwarps = (uint32_t)nwarps;
    b->synced = b->cleaned = 0;
    forget_refs(&b->refs);
    for (uint32_t k = 0; k < b->nwarps; k++)
        warp_reset(&b->warps[k]);
    for (uint32_t k = 0; k < RACE_BARRIERS; k++) {
        b->barriers[k].begun = false;
        forget_refs(&b->barriers[k].refs);
    }
    return true;
}

void race_block_free(struct race_block *b)
{
    for (uint32_t k = 0; k < b->warps_cap; k++) {
        refs_free(&b->warps[k].refs);
        for (unsigned l = 0; l < RACE_LANES; l++)
            refs_free(&b->warps[k].lane_refs[l]);
    }
    for (uint32_t k = 0; k < RACE_BARRIERS; k++)
        refs_free(&b->barriers[k].refs);
    refs_free(&b->refs);
    free(b->warps);
    free(b->cells);
    *b = (struct race_block){0};
}

bool race_knows(const struct race_block *b, uint32_t warp, unsigned lane,
                uint32_t thread, uint32_t time)
{
    const struct race_warp *w = &b->warps[warp];
    if (time <= b->synced)
        return true;
    if (thread / RACE_LANES != warp)
        return time <= w->others[thread / RACE_LANES];
    unsigned other = thread % RACE_LANES;
    return other == lane || time <= w->synced ||
           (w->parted && time <= w->known[lane][other]);
}

// ---- within a warp -----------------------------------------------------------

// The lanes' refs become those of all of them.
static void share_refs(struct race_warp *w, uint32_t lanes)
{
    struct race_refs all = {0};
    if (!(w->with_refs & lanes))
        return;
    for (uint32_t left = w->with_refs & lanes; left; left &= left - 1)
        refs_add(&all, &w->lane_refs[__builtin_ctz(left)]);
    refs_settle(&all);
    if (lanes == UINT32_MAX) {
        refs_add(&w->refs, &all);
        for (unsigned l = 0; l < RACE_LANES; l++)
            forget_refs(&w->lane_refs[l]);
        w->with_refs = 0;
    } else {
        for (uint32_t left = lanes; left; left &= left - 1) {
            struct race_refs *own = &w->lane_refs[__builtin_ctz(left)];
            forget_refs(own);
            refs_add(own, &all);
        }
        w->with_refs |= lanes;
    }
    refs_free(&all);
}

static void meet_some(struct race_warp *w, uint32_t lanes)
{
    uint32_t all[RACE_LANES] = {0};
    if (!w->parted)
        memset(w->known, 0, sizeof w->known);
    w->parted = true;
    for (uint32_t left = lanes; left; left &= left - 1)
        for (unsigned l = 0; l < RACE_LANES; l++)
            all[l] = later(all[l], w->known[__builtin_ctz(left)][l]);
    for (uint32_t left = lanes; left; left &= left - 1)
        all[__builtin_ctz(left)] = w->now;
    for (uint32_t left = lanes; left; left &= left - 1)
        memcpy(w->known[__builtin_ctz(left)], all, sizeof all);
}

static void meet_all(struct race_warp *w)
{
    w->synced = w->now;
    w->parted = false;
    if (!w->dirty)
        w->cleaned = w->now;
    share_refs(w, UINT32_MAX);
}

void race_warp_sync(struct race_block *b, uint32_t warp, uint32_t lanes)
{
    struct race_warp *w = &b->warps[warp];
    if (lanes == UINT32_MAX) {
        meet_all(w);
    } else {
        meet_some(w, lanes);
        share_refs(w, lanes);
    }
}

// ---- fences --------------------------------------------------------------------

void race_fence(struct race_block *b, uint32_t warp,
                const struct ptx_inst *inst, uint32_t lanes)
{
    struct race_warp *w = &b->warps[warp];
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        struct race_fence *f = &w->fence[lane];
        f->block_time = b->synced;
        for (unsigned l = 0; l < RACE_LANES; l++)
            f->lane_time[l] = later(w->synced, w->parted ? w->known[lane][l] : 0);
        f->lane_time[lane] = w->now;
        refs_settle(&w->lane_refs[lane]);
    }
    w->fenced |= lanes;
    if (strstr(inst->opcode, ".cta"))
        return;
    w->fenced_wide |= lanes;
    w->dirty &= ~lanes;
}

// ---- barriers ------------------------------------------------------------------

void race_arrive(struct race_block *b, uint32_t warp, uint32_t barrier,
                 bool waits)
{
    struct race_barrier *bar = &b->barriers[barrier % RACE_BARRIERS];
    struct race_warp *w = &b->warps[warp];
    if (!bar->begun) {
        memset(bar->known, 0, sizeof bar->known);
        forget_refs(&bar->refs);
        bar->waits = 0;
        bar->begun = true;
    }
    meet_all(w); // all its lanes have come
    for (uint32_t k = 0; k < b->nwarps; k++)
        bar->known[k] = later(bar->known[k], w->others[k]);
    bar->known[warp] = later(bar->known[warp], w->now);
    refs_add(&bar->refs, &w->refs);
    bar->waits |= (uint32_t)waits << warp;
}

static void open_whole(struct race_block *b, const struct race_barrier *bar)
{
    uint32_t now = b->synced, dirty = 0;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        now = later(now, b->warps[k].now);
        dirty |= b->warps[k].dirty;
    }
    b->synced = now;
    if (!dirty)
        b->cleaned = now;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        b->warps[k].now = now;
        forget_refs(&b->warps[k].refs);
    }
    refs_add(&b->refs, &bar->refs);
}

static void open_for_some(struct race_block *b, const struct race_barrier *bar)
{
    uint32_t now = 0;
    for (uint32_t k = 0; k < b->nwarps; k++)
        now = later(now, bar->known[k]);
    for (uint32_t left = bar->waits; left; left &= left - 1) {
        struct race_warp *w = &b->warps[__builtin_ctz(left)];
        for (uint32_t k = 0; k < b->nwarps; k++)
            w->others[k] = later(w->others[k], bar->known[k]);
        w->now = later(w->now, now);
        refs_add(&w->refs, &bar->refs);
    }
}

void race_barrier_open(struct race_block *b, uint32_t barrier, bool whole)
{
    struct race_barrier *bar = &b->barriers[barrier % RACE_BARRIERS];
    if (!bar->begun)
        return;
    if (whole)
        open_whole(b, bar);
    else
        open_for_some(b, bar);
    bar->begun = false;
}
