#include "cache.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 128, ALL_SECTORS = 15, PREFETCH = 12,
       FOREIGN_LINES = 3 }; // of which one is dirty: two were read, as in z = x + y

// ---- L1 --------------------------------------------------------------------

void l1_reset(struct l1 *l1, uint64_t nbytes)
{
    uint64_t sets = nbytes / (LINE * L1_WAYS);
    l1->sets = 1;
    while (l1->sets * 2 <= sets && l1->sets < L1_MAX_SETS)
        l1->sets *= 2;
    memset(l1->ways, 0, l1->sets * L1_WAYS * sizeof *l1->ways);
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
    l2->sets = aligned_alloc(64, sizeof *l2->sets << bits);
    l2_flush(l2);
    return l2->sets != NULL;
}

void l2_close(struct l2 *l2)
{
    free(l2->sets);
    l2->sets = NULL;
}

// Foreign lines answer nobody. The dirty ones among them must be written before
// they make room, so that a launch pays for about as many writes as it causes,
// though some of its own stay behind.
void l2_flush(struct l2 *l2)
{
    if (!l2->sets)
        return;
    size_t nsets = (size_t)1 << l2->set_bits;
    memset(l2->sets, 0, nsets * sizeof *l2->sets);
    for (size_t k = 0; k < nsets; k++)
        for (unsigned way = 0; way < L2_WAYS; way += FOREIGN_LINES)
            l2->sets[k].state[way] = ALL_SECTORS << 4;
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

static struct l2_set *set_of(const struct l2 *l2, uint64_t line)
{
    uint64_t sets = UINT64_C(1) << l2->set_bits;
    return &l2->sets[cache_fold(line, l2->set_bits) & (sets - 1)];
}

// A bit for each way that has the tag.
static unsigned ways_with(const struct l2_set *set, uint16_t tag)
{
    static const l2_tags BIT[2] = {
        {1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6, 1 << 7},
        {1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15}};
    l2_tags same = ((l2_tags)(set->tags[0] == tag) & BIT[0]) |
                   ((l2_tags)(set->tags[1] == tag) & BIT[1]);
    uint64_t halves[2];
    memcpy(halves, &same, sizeof halves);
    uint64_t all = halves[0] | halves[1];
    all |= all >> 32;
    return (uint16_t)(all | all >> 16);
}

// The state of the line, which is there afterwards; a line that had to go
// writes what is dirty.
static uint8_t *l2_line(struct l2 *l2, uint64_t line, struct l2_counts *n)
{
    struct l2_set *set = set_of(l2, line);
    // Sixteen bits are enough: lines with the same tag and set lie 4 MiB times
    // 65536 apart, and such a pair would only make a false hit.
    uint64_t upper = line >> l2->set_bits;
    uint16_t tag = (uint16_t)(upper ^ upper >> 16);
    unsigned hits = ways_with(set, tag);
    if (hits) {
        unsigned way = (unsigned)__builtin_ctz(hits);
        set->again |= (uint16_t)(1u << way);
        return &set->state[way];
    }
    unsigned way = next_victim(set, l2->nways);
    n->written_sectors += cache_sectors(set->state[way] >> 4);
    set->tags[way / 8][way % 8] = tag;
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
    n->sectors += cache_sectors(sectors);
    n->hit_sectors += cache_sectors(sectors & there);
    if (traffic != TRAFFIC_WRITE && missing) {
        unsigned fetch = fetched(l2, missing) & ~there;
        n->read_sectors += cache_sectors(fetch);
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
        if (i + PREFETCH < t->n)
            __builtin_prefetch(set_of(l2, t->entries[i + PREFETCH] >> 16), 1);
        for (uint64_t run = entry >> 8 & 255; run > 0; run--)
            l2_access(l2, line++, traffic, sectors, &sum);
    }
    n->sectors += sum.sectors;
    n->hit_sectors += sum.hit_sectors;
    n->read_sectors += sum.read_sectors;
    n->written_sectors += sum.written_sectors;
}
