// The allocations of one window, by address; freed ones stay for a while, so
// that a use after free can be told from a wild address.
#include "space.h"

#include <stdlib.h>
#include <string.h>

enum { KEEP_FREED = 65536 };

// Index of the first record with a base above addr.
static size_t first_above(const struct window *w, uint64_t addr)
{
    size_t lo = 0, hi = w->nrecords;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (w->records[mid]->a.base > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

bool records_add(struct window *w, const struct record *record)
{
    if (w->nrecords == w->records_cap) {
        size_t cap = w->records_cap ? 2 * w->records_cap : 64;
        struct record **grown = realloc(w->records, cap * sizeof *grown);
        if (!grown)
            return false;
        w->records = grown;
        w->records_cap = cap;
    }
    struct record *copy = malloc(sizeof *copy);
    if (!copy)
        return false;
    *copy = *record;
    copy->a.label = copy->label[0] ? copy->label : NULL;
    size_t i = first_above(w, copy->a.base);
    memmove(&w->records[i + 1], &w->records[i],
            (w->nrecords - i) * sizeof *w->records);
    w->records[i] = copy;
    w->nrecords++;
    return true;
}

struct record *records_live_at(const struct window *w, uint64_t addr)
{
    size_t i = first_above(w, addr);
    if (i == 0)
        return NULL;
    struct record *r = w->records[i - 1];
    return r->a.base == addr && !r->a.freed ? r : NULL;
}

// Drops the freed ones that `gone` picks, in one pass.
static void drop_freed(struct window *w, size_t from, size_t to,
                       bool (*gone)(const struct record *, uint64_t),
                       uint64_t argument)
{
    size_t kept = from;
    for (size_t i = from; i < to; i++) {
        struct record *r = w->records[i];
        if (r->a.freed && gone(r, argument)) {
            w->nfreed--;
            free(r);
        } else {
            w->records[kept++] = r;
        }
    }
    memmove(&w->records[kept], &w->records[to],
            (w->nrecords - to) * sizeof *w->records);
    w->nrecords -= to - kept;
}

static bool freed_before(const struct record *r, uint64_t order)
{
    return r->freed_at <= order;
}

static bool ends_after(const struct record *r, uint64_t lo)
{
    return r->a.base + r->room > lo;
}

void records_mark_freed(struct memory *m, struct window *w, struct record *r)
{
    r->a.freed = true;
    r->freed_at = ++m->frees;
    w->nfreed++;
    // Two lists' worth, then back to one: a free costs next to nothing.
    if (w->nfreed >= 2 * KEEP_FREED)
        drop_freed(w, 0, w->nrecords, freed_before, m->frees - KEEP_FREED);
}

void records_forget(struct window *w, uint64_t lo, uint64_t hi)
{
    size_t to = first_above(w, hi - 1), from = to;
    // Records do not overlap, so that at most one begins below lo.
    while (from > 0 && w->records[from - 1]->a.base >= lo)
        from--;
    if (from > 0)
        from--;
    drop_freed(w, from, to, ends_after, lo);
}

static uint64_t distance(const struct record *r, uint64_t addr)
{
    uint64_t end = r->a.base + r->a.nbytes;
    if (addr < r->a.base)
        return r->a.base - addr;
    return addr < end ? 0 : addr - end + 1;
}

const struct record *records_nearest(const struct window *w, uint64_t addr)
{
    size_t i = first_above(w, addr);
    const struct record *below = i > 0 ? w->records[i - 1] : NULL;
    const struct record *above = i < w->nrecords ? w->records[i] : NULL;
    if (!below || !above)
        return below ? below : above;
    uint64_t d_below = distance(below, addr), d_above = distance(above, addr);
    if (d_below == d_above)
        return below->a.freed ? above : below;
    return d_below < d_above ? below : above;
}

struct record *records_freed_with_room(const struct window *w, uint64_t room)
{
    struct record *best = NULL;
    for (size_t i = 0; i < w->nrecords; i++) {
        struct record *r = w->records[i];
        if (!r->a.freed || r->room < room)
            continue;
        if (best && best->freed_at < r->freed_at)
            continue;
        const struct mapping *map = space_mapping(w, r->a.base, r->room);
        if (map && map->slab)
            best = r;
    }
    return best;
}

void records_clear(struct window *w)
{
    for (size_t i = 0; i < w->nrecords; i++)
        free(w->records[i]);
    free(w->records);
    w->records = NULL;
    w->nrecords = w->records_cap = w->nfreed = 0;
}
