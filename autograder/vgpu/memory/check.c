// Is every byte of an access where it may be, and has somebody written it?
//
// The common case, all lanes inside the allocation that this instruction
// reached last, ends after two comparisons and a look at the shadow; lanes are
// looked at one by one only where that fails.
#include "watch_state.h"

#include <string.h>

#define EACH(lane, lanes)                                                      \
    for (uint32_t rest_ = (lanes), lane;                                       \
         rest_ && (lane = (uint32_t)__builtin_ctz(rest_), true);               \
         rest_ &= rest_ - 1)

// ---- alignment -------------------------------------------------------------

static uint32_t misaligned_lanes(const struct event *e)
{
    const struct mem_access *a = e->access;
    uint64_t low = a->align > 1 ? a->align - 1 : 0;
    if (e->shape->affine &&
        ((a->addr[0] | (uint64_t)e->shape->stride) & low) == 0)
        return 0;
    uint32_t lanes = 0;
    EACH(lane, a->mask)
        lanes |= (uint32_t)((a->addr[lane] & low) != 0) << lane;
    return lanes;
}

static uint32_t check_alignment(const struct event *e)
{
    uint32_t bad = misaligned_lanes(e);
    EACH(lane, bad) {
        struct what what = {FINDING_MISALIGNED, lane, 0, true};
        finding_record(e, what, NULL);
    }
    return bad;
}

// ---- bounds ------------------------------------------------------------------

static bool is_inside(const struct site *site, uint64_t lo, uint64_t hi)
{
    return lo >= site->lo && hi <= site->hi && lo < hi;
}

// What is wrong with an address that is in no live allocation, or in one that
// this device may not reach.
static struct what classify(const struct event *e, unsigned lane,
                            const struct allocation *near)
{
    uint64_t addr = e->access->addr[lane], lo, hi;
    struct what what = {FINDING_OUT_OF_BOUNDS, lane, 0, false};
    int device = e->watch->launch->device;
    bool maps = memory_extent(e->watch->memory, device, addr, &lo, &hi);
    what.fatal = !maps || e->access->nbytes > hi - addr;
    if (!space_window(e->watch->memory, addr)) {
        bool user = addr >= 0x10000 && addr < UINT64_C(0x800000000000);
        what.kind = user ? FINDING_WRONG_SPACE : FINDING_OUT_OF_BOUNDS;
        return what;
    }
    if (!near)
        return what;
    uint64_t end = near->base + near->nbytes;
    if (addr < near->base)
        what.distance = (int64_t)(addr - near->base);
    else if (addr >= end)
        what.distance = (int64_t)(addr - end);
    else if (near->freed)
        what.kind = FINDING_USE_AFTER_FREE;
    else if (!maps)
        what.kind = FINDING_WRONG_SPACE;
    return what;
}

// Whether the lane's bytes are all in one live allocation in reach; the site
// remembers that one.
static bool lane_is_inside(const struct event *e, unsigned lane)
{
    uint64_t addr = e->access->addr[lane], n = e->access->nbytes, lo, hi;
    struct site *site = e->site;
    if (is_inside(site, addr, addr + n))
        return true;
    const struct allocation *near = memory_find(e->watch->memory, addr);
    if (near && !near->freed && addr >= near->base &&
        addr - near->base < near->nbytes &&
        n <= near->nbytes - (addr - near->base) &&
        memory_extent(e->watch->memory, e->watch->launch->device, addr, &lo, &hi)) {
        site->lo = near->base;
        site->hi = near->base + near->nbytes;
        site->read_only = near->read_only;
        site->heap = near->label && strcmp(near->label, "device heap") == 0;
        return true;
    }
    finding_record(e, classify(e, lane, near), near);
    return false;
}

static bool stores(const struct mem_access *a)
{
    return a->kind != ACCESS_LOAD;
}

// Lanes whose bytes are all the program's; *denied gets those that would
// store to a constant.
static uint32_t lanes_inside(const struct event *e, uint32_t lanes,
                             uint32_t *denied)
{
    uint32_t inside = 0;
    EACH(lane, lanes) {
        if (!lane_is_inside(e, lane))
            continue;
        inside |= UINT32_C(1) << lane;
        if (e->site->read_only && stores(e->access)) {
            struct what what = {FINDING_READ_ONLY, lane, 0, true};
            uint64_t addr = e->access->addr[lane];
            finding_record(e, what, memory_find(e->watch->memory, addr));
            *denied |= UINT32_C(1) << lane;
        }
    }
    return inside & ~*denied;
}

// ---- who wrote it ------------------------------------------------------------

// A value is unwritten when one of its aligned 4-byte words (or all of it,
// where it is shorter) has no byte that anyone wrote. Bytes alone would not
// do: compilers copy the padding of structures along with their members.
static bool has_unwritten(const uint8_t *shadow, uint64_t n)
{
    if (n < 4) {
        uint8_t any = 0;
        for (uint64_t i = 0; i < n; i++)
            any |= shadow[i];
        return any == 0;
    }
    uint32_t unwritten = 0;
    for (uint64_t i = 0; i + 4 <= n; i += 4) {
        uint32_t word;
        memcpy(&word, shadow + i, 4);
        unwritten |= word == 0;
    }
    return unwritten;
}

static uint8_t granule_state(const struct window *w, uint64_t addr)
{
    return __atomic_load_n(&w->state[window_granule(w, addr)], __ATOMIC_ACQUIRE);
}

static bool lane_unwritten(const struct window *w, uint64_t addr, uint64_t n)
{
    uint8_t state = granule_state(w, addr);
    if (state != GRANULE_MIXED)
        return state == GRANULE_NOBODY;
    return has_unwritten(w->shadow + (addr - w->base), n);
}

// Whether no lane's bytes can be unwritten, by one look.
static bool all_written(const struct event *e, const struct window *w)
{
    const struct shape *s = e->shape;
    uint8_t state = granule_state(w, s->lo);
    if (granule_state(w, s->hi - 1) != state || s->hi - s->lo > VGPU_GRANULE)
        return false;
    if (state != GRANULE_MIXED)
        return state != GRANULE_NOBODY;
    uint64_t span = s->hi - s->lo;
    return s->dense && span >= 4 && s->nbytes >= 4 &&
           !has_unwritten(w->shadow + (s->lo - w->base), span);
}

static void check_written(const struct event *e, uint32_t lanes, bool whole)
{
    const struct mem_access *a = e->access;
    const struct window *w =
        lanes ? space_window(e->watch->memory, a->addr[__builtin_ctz(lanes)]) : NULL;
    if (!w || (whole && all_written(e, w)))
        return;
    EACH(lane, lanes) {
        uint64_t addr = a->addr[lane];
        if (!lane_unwritten(space_window(e->watch->memory, addr), addr, a->nbytes))
            continue;
        struct what what = {FINDING_UNINITIALIZED, lane, 0, false};
        finding_record(e, what, memory_find(e->watch->memory, addr));
    }
}

static void mark(struct memory *m, struct window *w, uint64_t lo, uint64_t n)
{
    uint8_t state = granule_state(w, lo);
    if (state == GRANULE_KERNEL)
        return;
    if (state != GRANULE_MIXED)
        shadow_make_mixed(m, w, window_granule(w, lo));
    memset(w->shadow + (lo - w->base), WRITER_KERNEL, n);
}

static void mark_written(const struct event *e, uint32_t lanes, bool whole)
{
    struct memory *m = e->watch->memory;
    const struct mem_access *a = e->access;
    const struct shape *s = e->shape;
    if (whole && s->dense && s->lo / VGPU_GRANULE == (s->hi - 1) / VGPU_GRANULE) {
        mark(m, space_window(m, s->lo), s->lo, s->hi - s->lo);
        return;
    }
    EACH(lane, lanes)
        mark(m, space_window(m, a->addr[lane]), a->addr[lane], a->nbytes);
}

// ---- entry points --------------------------------------------------------------

uint32_t check_global(const struct event *e)
{
    const struct mem_access *a = e->access;
    bool checks = e->watch->active & WATCH_CHECK;
    uint32_t denied = 0, lanes = a->mask & ~check_alignment(e);
    bool whole = lanes == a->mask &&
                 is_inside(e->site, e->shape->lo, e->shape->hi) &&
                 !(e->site->read_only && stores(a));
    if (!whole)
        lanes = lanes_inside(e, lanes, &denied);
    if (checks && a->kind != ACCESS_STORE)
        check_written(e, lanes, whole);
    if (stores(a))
        mark_written(e, lanes, whole);
    if (checks && a->space == SPACE_GLOBAL && !e->site->heap)
        race_access(e, lanes);
    return denied;
}

static uint32_t check_shared_bounds(const struct event *e, uint32_t lanes)
{
    const struct mem_access *a = e->access;
    uint64_t size = e->warp->block->shared_bytes;
    uint32_t inside = 0;
    EACH(lane, lanes) {
        uint64_t addr = a->addr[lane];
        if (addr <= size && a->nbytes <= size - addr) {
            inside |= UINT32_C(1) << lane;
            continue;
        }
        int64_t distance = addr > size ? (int64_t)(addr - size) : 0;
        struct what what = {FINDING_OUT_OF_BOUNDS, lane, distance, true};
        finding_record(e, what, NULL);
    }
    return inside;
}

void check_shared(const struct event *e, uint8_t *shadow)
{
    const struct mem_access *a = e->access;
    const struct shape *s = e->shape;
    uint32_t lanes = a->mask & ~check_alignment(e);
    bool whole = lanes == a->mask && s->lo < s->hi &&
                 s->hi <= e->warp->block->shared_bytes;
    if (!whole)
        lanes = check_shared_bounds(e, lanes);
    race_access(e, lanes);
    bool known = !shadow || (a->kind == ACCESS_LOAD && whole && s->dense &&
                             s->nbytes >= 4 && !has_unwritten(shadow + s->lo, s->hi - s->lo));
    if (known)
        return;
    if (a->kind != ACCESS_STORE) {
        EACH(lane, lanes) {
            if (!has_unwritten(shadow + a->addr[lane], a->nbytes))
                continue;
            struct what what = {FINDING_UNINITIALIZED, lane, 0, false};
            finding_record(e, what, NULL);
        }
    }
    if (!stores(a))
        return;
    if (whole && s->dense)
        memset(shadow + s->lo, WRITER_KERNEL, s->hi - s->lo);
    else
        EACH(lane, lanes)
            memset(shadow + a->addr[lane], WRITER_KERNEL, a->nbytes);
}
