// Who accessed which word of device memory last: pages of cells, made when a
// launch first touches them.
#include "race.h"

#include <stdlib.h>

enum {
    PAGE_BYTES = 1024, // of device memory
    PAGE_CELLS = PAGE_BYTES / 4,
};
// What a launch may take for its pages.
#define LIMIT_BYTES (UINT64_C(512) << 20)

struct race_page {
    uint64_t number;
    struct race_cell cells[PAGE_CELLS];
};

static uint32_t slot_of(uint64_t number, uint32_t cap)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);
}

static bool grow(struct race_shard *s)
{
    uint32_t cap = s->cap ? 2 * s->cap : 64;
    struct race_page **table = calloc(cap, sizeof *table);
    if (!table)
        return false;
    for (uint32_t k = 0; k < s->cap; k++) {
        if (!s->table[k])
            continue;
        uint32_t slot = slot_of(s->table[k]->number, cap);
        while (table[slot])
            slot = (slot + 1) & (cap - 1);
        table[slot] = s->table[k];
    }
    free(s->table);
    s->table = table;
    s->cap = cap;
    return true;
}

static struct race_page *page_of(struct races *r, struct race_shard *s,
                                 uint64_t number)
{
    if (2 * s->n >= s->cap && !grow(s))
        return NULL;
    uint32_t slot = slot_of(number, s->cap);
    while (s->table[slot] && s->table[slot]->number != number)
        slot = (slot + 1) & (s->cap - 1);
    if (s->table[slot])
        return s->table[slot];
    if (r->nbytes >= LIMIT_BYTES)
        return NULL;
    struct race_page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->number = number;
    r->nbytes += sizeof *page;
    s->table[slot] = page;
    s->n++;
    return page;
}

static void go_to(struct races *r, uint64_t number, struct race_place *place)
{
    struct race_shard *s = &r->shards[number % RACE_SHARDS];
    if (place->shard != s) {
        place_leave(place);
        pthread_mutex_lock(&s->lock);
        place->shard = s;
    }
    place->number = number;
    place->page = page_of(r, s, number / RACE_SHARDS);
}

void place_leave(struct race_place *place)
{
    if (place->shard)
        pthread_mutex_unlock(&place->shard->lock);
    place->shard = NULL;
}

struct race_cell *cell_of(struct races *r, uint64_t addr,
                          struct race_place *place)
{
    uint64_t number = addr / PAGE_BYTES;
    if (!place->shard || place->number != number)
        go_to(r, number, place);
    return place->page ? &place->page->cells[addr % PAGE_BYTES / 4] : NULL;
}

void cells_clear(struct races *r)
{
    for (unsigned k = 0; k < RACE_SHARDS; k++) {
        struct race_shard *s = &r->shards[k];
        for (uint32_t p = 0; p < s->cap; p++)
            free(s->table[p]);
        free(s->table);
        s->table = NULL;
        s->n = s->cap = 0;
    }
    r->nbytes = 0;
}
