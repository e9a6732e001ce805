#include "cache.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128, ALL_SECTORS = 15, TRACE_RUN_MAX = 255 };

// ---- L1 --------------------------------------------------------------------

void l1_reset(struct l1 *l1, uint64_t nbytes)
{
    uint64_t sets = nbytes / (LINE * L1_WAYS);
    l1->sets = 1;
    while (l1->sets * 2 <= sets && l1->sets < L1_MAX_SETS)
        l1->sets *= 2;
    memset(l1->ways, 0, l1->sets * L1_WAYS * sizeof *l1->ways);
}

// Spreads lines that are a power of two apart over the sets, as the hardware
// does, while neighbours stay neighbours.
static uint64_t fold(uint64_t line, unsigned bits)
{
    return line ^ line >> bits ^ line >> 2 * bits;
}

uint8_t l1_read(struct l1 *l1, uint64_t line, uint8_t sectors)
{
    uint64_t set = fold(line, 9) & (l1->sets - 1);
    uint64_t *ways = &l1->ways[set * L1_WAYS];
    unsigned i = 0;
    while (i < L1_WAYS - 1 && ways[i] >> 4 != line)
        i++;
    uint8_t there = ways[i] >> 4 == line ? ways[i] & ALL_SECTORS : 0;
    for (; i > 0; i--)
        ways[i] = ways[i - 1];
    ways[0] = line << 4 | there | sectors;
    return there & sectors;
}

// ---- traces ----------------------------------------------------------------

bool trace_add(struct trace *t, enum traffic traffic, uint64_t line,
               uint8_t sectors)
{
    uint64_t kind = (uint64_t)traffic << 4 | sectors;
    if (t->n > 0 && sectors == ALL_SECTORS) {
        uint64_t *last = &t->entries[t->n - 1];
        uint64_t run = *last >> 8 & 255;
        if ((*last & 255) == kind && (*last >> 16) + run == line &&
            run < TRACE_RUN_MAX) {
            *last += 1 << 8;
            return true;
        }
    }
    if (t->n == TRACE_MAX)
        return false;
    t->entries[t->n++] = line << 16 | 1 << 8 | kind;
    return true;
}

// ---- L2 --------------------------------------------------------------------

bool l2_open(struct l2 *l2, uint64_t nbytes, unsigned fetch_bytes)
{
    uint64_t lines = nbytes / LINE;
    unsigned bits = 8;
    while (lines >> bits > L2_WAYS && bits < 24)
        bits++;
    *l2 = (struct l2){.set_bits = bits, .nbytes = nbytes};
    l2->nways = (unsigned)(lines >> bits);
    if (l2->nways < 1 || l2->nways > L2_WAYS)
        l2->nways = l2->nways ? L2_WAYS : 1;
    l2->fetch_sectors = fetch_bytes >= 64 ? 2 : 1;
    l2->sets = calloc(UINT64_C(1) << bits, sizeof *l2->sets);
    return l2->sets != NULL;
}

void l2_close(struct l2 *l2)
{
    free(l2->sets);
    l2->sets = NULL;
}

void l2_flush(struct l2 *l2)
{
    if (l2->sets)
        memset(l2->sets, 0, sizeof *l2->sets << l2->set_bits);
}

static unsigned bits_of(unsigned sectors)
{
    return (unsigned)__builtin_popcount(sectors);
}

// The way that must make room.
static unsigned next_victim(struct l2_set *set, unsigned nways)
{
    unsigned turn = set->turn;
    while (set->again >> turn & 1) {
        set->again &= (uint16_t)~(1u << turn);
        turn = turn + 1 < nways ? turn + 1 : 0;
    }
    set->turn = (uint8_t)(turn + 1 < nways ? turn + 1 : 0);
    return turn;
}

// The state of the line, which is there afterwards; a line that had to go
// writes what is dirty.
static uint8_t *l2_line(struct l2 *l2, uint64_t line, struct l2_counts *n)
{
    uint64_t which = fold(line, l2->set_bits) & ((UINT64_C(1) << l2->set_bits) - 1);
    struct l2_set *set = &l2->sets[which];
    uint32_t tag = (uint32_t)(line >> l2->set_bits);
    unsigned hits = 0;
    for (unsigned i = 0; i < L2_WAYS; i++)
        hits |= (unsigned)(set->tags[i] == tag) << i;
    if (hits) {
        unsigned way = (unsigned)__builtin_ctz(hits);
        set->again |= (uint16_t)(1u << way);
        return &set->state[way];
    }
    unsigned way = next_victim(set, l2->nways);
    n->written_sectors += bits_of(set->state[way] >> 4);
    set->tags[way] = tag;
    set->state[way] = 0;
    return &set->state[way];
}

// Sectors that come along when some are fetched.
static unsigned fetched(const struct l2 *l2, unsigned missing)
{
    if (l2->fetch_sectors == 1)
        return missing;
    return ((missing & 3) ? 3u : 0) | ((missing & 12) ? 12u : 0);
}

static void l2_access(struct l2 *l2, uint64_t line, unsigned traffic,
                      unsigned sectors, struct l2_counts *n)
{
    uint8_t *state = l2_line(l2, line, n);
    unsigned there = *state & ALL_SECTORS, missing = sectors & ~there;
    n->hit_sectors += bits_of(sectors & there);
    if (traffic != TRAFFIC_WRITE && missing) {
        unsigned fetch = fetched(l2, missing) & ~there;
        n->read_sectors += bits_of(fetch);
        *state |= (uint8_t)fetch;
    }
    *state |= (uint8_t)sectors;
    if (traffic != TRAFFIC_READ)
        *state |= (uint8_t)(sectors << 4);
}

void l2_feed(struct l2 *l2, const struct trace *t, struct l2_counts *n)
{
    struct l2_counts sum = {0};
    for (unsigned i = 0; i < t->n; i++) {
        uint64_t entry = t->entries[i], line = entry >> 16;
        unsigned traffic = entry >> 4 & 3, sectors = entry & ALL_SECTORS;
        for (uint64_t run = entry >> 8 & 255; run > 0; run--)
            l2_access(l2, line++, traffic, sectors, &sum);
    }
    n->hit_sectors += sum.hit_sectors;
    n->read_sectors += sum.read_sectors;
    n->written_sectors += sum.written_sectors;
}
