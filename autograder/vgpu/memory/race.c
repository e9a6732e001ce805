// An access against what was there before: the last store to a word, and up
// to two loads since.
//
// Not reported, though the memory model calls it a race: stores of the same
// value, loads of device memory that others store to without changing it, and
// plain loads of device memory that others update by atomics (searches of
// graphs do all of these, to no harm).
#include "race.h"

#include "watch_state.h"

#include <stdlib.h>
#include <string.h>

#define EACH(LANE, MASK)                                                       \
    for (uint32_t left_ = (MASK), LANE; left_ != 0 &&                          \
         (LANE = (uint32_t)__builtin_ctz(left_), true); left_ &= left_ - 1)

struct races *races_new(void)
{
    struct races *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    pthread_mutex_init(&r->release_lock, NULL);
    for (unsigned k = 0; k < RACE_SHARDS; k++)
        pthread_mutex_init(&r->shards[k].lock, NULL);
    return r;
}

void races_clear(struct races *r)
{
    cells_clear(r);
    releases_clear(r);
    r->blind = false;
}

void races_free(struct races *r)
{
    if (!r)
        return;
    races_clear(r);
    pthread_mutex_destroy(&r->release_lock);
    for (unsigned k = 0; k < RACE_SHARDS; k++)
        pthread_mutex_destroy(&r->shards[k].lock);
    free(r);
}

// ---- what an instruction orders ------------------------------------------------

enum { STRONG = 1, ACQUIRES = 2, RELEASES = 4, VOLATILE = 8 };

uint8_t race_order(const struct mem_access *a)
{
    const char *opcode = a->inst->opcode;
    uint8_t order = a->kind == ACCESS_ATOMIC ? STRONG : 0;
    if (a->is_volatile || strstr(opcode, ".cv"))
        order |= STRONG | VOLATILE;
    if (strstr(opcode, ".relaxed") || strstr(opcode, ".mmio"))
        order |= STRONG;
    if (strstr(opcode, ".acquire") || strstr(opcode, ".acq_rel"))
        order |= STRONG | ACQUIRES;
    if (strstr(opcode, ".release") || strstr(opcode, ".acq_rel"))
        order |= STRONG | RELEASES;
    return order;
}

// ---- the access at hand ----------------------------------------------------------

struct look {
    const struct event *e;
    struct races *races;
    struct race_block *block;
    struct race_warp *warp;
    uint32_t w;           // the warp's index
    uint32_t id;          // what records of this block bear
    bool shared;
    uint8_t order;
    unsigned lane;
    uint64_t addr;        // of the word
};

static uint32_t thread_of(const struct look *l, unsigned lane)
{
    return l->w * RACE_LANES + lane;
}

static const struct ptx_inst *inst_of(const struct race_record *r)
{
    return (const struct ptx_inst *)((uintptr_t)r->inst << 3);
}

static bool is_atomic(const struct race_record *r)
{
    const char *opcode = inst_of(r)->opcode;
    return strncmp(opcode, "atom", 4) == 0 || strncmp(opcode, "red", 3) == 0;
}

// ---- values ----------------------------------------------------------------

// The word at addr as the lane's store leaves it, in *word; false when the
// values are not known.
static bool stored_word(const struct mem_access *a, unsigned lane,
                        uint64_t addr, uint8_t word[4])
{
    if (a->nvalues == 0 || !a->values[0])
        return false;
    uint32_t size = a->nbytes / a->nvalues;
    for (unsigned k = 0; k < 4; k++) {
        uint64_t at = addr + k - a->addr[lane];
        if (at >= a->nbytes)
            continue;
        const uint8_t *row = a->values[at / size];
        word[k] = row[lane * (a->wide ? 8 : 4) + at % size];
    }
    return true;
}

static const uint8_t *memory_at(const struct look *l)
{
    return l->shared ? l->e->warp->block->shared + l->addr
                     : (const uint8_t *)(uintptr_t)l->addr;
}

// Whether the store at hand writes what the other one wrote.
static bool same_value(const struct look *l, const struct race_record *other,
                       uint32_t mask)
{
    const struct mem_access *a = l->e->access;
    uint8_t mine[4], theirs[4];
    if (a->kind != ACCESS_STORE || is_atomic(other) ||
        !stored_word(a, l->lane, l->addr, mine))
        return false;
    bool together = other->block == l->id && other->time == l->warp->now &&
                    other->thread / RACE_LANES == l->w;
    if (together) // of this instruction: not in memory yet
        stored_word(a, other->thread % RACE_LANES, l->addr, theirs);
    for (unsigned k = 0; k < 4; k++)
        if (mask >> k & 1 &&
            mine[k] != (together ? theirs[k] : memory_at(l)[k]))
            return false;
    return true;
}

// Whether a store to device memory changes nothing.
static bool is_idle(const struct look *l, uint32_t mask)
{
    const struct mem_access *a = l->e->access;
    uint8_t word[4];
    if (l->shared || a->kind != ACCESS_STORE ||
        !stored_word(a, l->lane, l->addr, word))
        return false;
    for (unsigned k = 0; k < 4; k++)
        if (mask >> k & 1 && word[k] != memory_at(l)[k])
            return false;
    return true;
}

static struct race_record record_of(const struct look *l, uint32_t mask)
{
    const struct mem_access *a = l->e->access;
    uint32_t fenced = l->warp->fenced >> l->lane & 1;
    return (struct race_record){
        .block = l->id, .time = l->warp->now, .idle = is_idle(l, mask),
        .inst = (uint64_t)(uintptr_t)a->inst >> 3,
        .thread = thread_of(l, l->lane), .mask = mask,
        .log_nbytes = (unsigned)__builtin_ctz(a->nbytes),
        .strong = l->order & STRONG,
        // Old code for warps has volatile stores where it needs __syncwarp().
        .lockstep = (l->order & VOLATILE) && l->shared && !fenced &&
                    a->kind == ACCESS_STORE,
        .kind = a->kind == ACCESS_LOAD ? RACE_LOADS : RACE_STORES,
    };
}

// ---- conflicts ---------------------------------------------------------------------

static bool is_ordered(const struct look *l, const struct race_record *was)
{
    if (was->block == l->id &&
        race_knows(l->block, l->w, l->lane, was->thread, was->time))
        return true;
    uint32_t block = l->shared ? l->block->linear : was->block;
    return race_learned(l->races, l->block, l->w, l->lane, was, block);
}

// Whether two accesses may be unordered.
static bool is_harmless(const struct look *l, const struct race_record *was,
                        const struct race_record *now)
{
    if (!(was->mask & now->mask) || (was->kind == RACE_LOADS &&
                                     now->kind == RACE_LOADS))
        return true;
    bool one_warp = was->block == now->block &&
                    was->thread / RACE_LANES == now->thread / RACE_LANES;
    if (was->strong && now->strong)
        return !(one_warp && (was->lockstep || now->lockstep));
    const struct race_record *store = was->kind == RACE_LOADS ? now : was;
    if (was->kind == RACE_LOADS || now->kind == RACE_LOADS)
        return !l->shared && (store->idle || is_atomic(store));
    return same_value(l, was, was->mask & now->mask);
}

static struct race_side side_of(const struct look *l,
                                const struct race_record *r)
{
    return (struct race_side){
        .inst = inst_of(r), .thread = r->thread,
        .nbytes = 1u << r->log_nbytes,
        .block = l->shared ? l->block->linear : r->block,
        .kind = r->kind == RACE_LOADS ? ACCESS_LOAD
                : is_atomic(r)        ? ACCESS_ATOMIC : ACCESS_STORE,
    };
}

static void report(const struct look *l, const struct race_record *was,
                   const struct race_record *now)
{
    struct race race = {.earlier = side_of(l, was), .later = side_of(l, now),
                        .shared = l->shared, .addr = l->addr};
    // Later in the time of the threads, whichever ran first here.
    if (was->time > now->time) {
        race.earlier = side_of(l, now);
        race.later = side_of(l, was);
    }
    finding_race(l->e->watch, l->e->worker, &race);
}

static void compare(const struct look *l, const struct race_record *was,
                    const struct race_record *now)
{
    if (was->time == 0 || (l->shared && was->block != l->id))
        return; // nobody, or a block before this one
    if (was->block == now->block && was->thread == now->thread)
        return;
    if (!is_ordered(l, was) && !is_harmless(l, was, now) && !l->races->blind)
        report(l, was, now);
}

// ---- a word ----------------------------------------------------------------------

// Keeps a load in one of two places: instead of one that it makes needless,
// of its thread or before it; and rather of two blocks than of one.
static void keep_load(const struct look *l, struct race_cell *c,
                      const struct race_record *now)
{
    for (unsigned k = 0; k < 2; k++) {
        struct race_record *was = &c->loads[k];
        bool other = l->shared && was->block != l->id;
        if (was->time == 0 || other ||
            (was->block == now->block &&
             race_knows(l->block, l->w, l->lane, was->thread, was->time))) {
            *was = *now;
            return;
        }
    }
    if (c->loads[0].block == c->loads[1].block &&
        now->block != c->loads[0].block)
        c->loads[1] = *now;
}

static void enter_word(const struct look *l, struct race_cell *c, uint32_t mask)
{
    struct race_record now = record_of(l, mask);
    compare(l, &c->store, &now);
    if (now.kind == RACE_LOADS) {
        keep_load(l, c, &now);
        return;
    }
    compare(l, &c->loads[0], &now);
    compare(l, &c->loads[1], &now);
    c->store = now;
}

static void enter_lane(struct look *l, struct race_place *place)
{
    const struct mem_access *a = l->e->access;
    uint64_t from = a->addr[l->lane], to = from + a->nbytes;
    for (uint64_t addr = from & ~UINT64_C(3); addr < to; addr += 4) {
        uint32_t mask = 0xf;
        if (addr < from)
            mask &= 0xfu << (from - addr);
        if (addr + 4 > to)
            mask &= 0xfu >> (addr + 4 - to);
        l->addr = addr;
        struct race_cell *c = l->shared ? &l->block->cells[addr / 4]
                                        : cell_of(l->races, addr, place);
        if (c)
            enter_word(l, c, mask);
    }
}

// ---- an access ---------------------------------------------------------------------

static uint64_t location_of(const struct look *l, unsigned lane)
{
    uint64_t addr = l->e->access->addr[lane];
    if (!l->shared)
        return addr / 4;
    return UINT64_C(1) << 63 | (uint64_t)l->block->linear << 24 | addr / 4;
}

// Lane by lane, as atomics are performed: one may read another's.
static void order_through(const struct look *l, uint32_t lanes)
{
    enum access_kind kind = l->e->access->kind;
    EACH(lane, lanes) {
        uint64_t location = location_of(l, lane);
        if (kind != ACCESS_STORE)
            race_acquire(l->races, l->block, l->w, lane, location,
                         !(l->order & ACQUIRES));
        if (kind != ACCESS_LOAD)
            race_release(l->races, l->block, l->w, lane, location,
                         l->order & RELEASES);
    }
}

void race_access(const struct event *e, uint32_t lanes)
{
    struct block_state *state = e->warp->block->watch;
    const struct mem_access *a = e->access;
    struct race_block *block = &state->race;
    if (!state->races || !e->watch->races || e->warp->index >= block->nwarps)
        return;
    struct look l = {.e = e, .races = e->watch->races, .block = block,
                     .w = e->warp->index, .warp = &block->warps[e->warp->index],
                     .shared = a->space == SPACE_SHARED,
                     .order = e->site->order};
    struct race_place place = {0};
    l.id = l.shared ? block->serial : block->linear;
    l.warp->now++;
    EACH(lane, lanes) {
        l.lane = lane;
        enter_lane(&l, &place);
    }
    place_leave(&place);
    if (l.order & STRONG)
        order_through(&l, lanes);
    else if (!l.shared && a->kind != ACCESS_LOAD)
        l.warp->dirty |= lanes;
}
