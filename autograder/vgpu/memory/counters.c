// Requests and sectors of global memory, wavefronts of shared memory, by the
// rules that Nsight Compute's counters follow (docs: the table of counters).
#include "access.h"


// ---- global memory ---------------------------------------------------------

// Where a line stands in a set, by a small hash; 0: nowhere, else index + 1.
enum { BUCKETS = 128 };
struct line_index {
    uint8_t at[BUCKETS];
};

static unsigned bucket_of(uint64_t line)
{
    return (unsigned)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 57);
}

// Returns the number of fresh sectors: 1 or 0.
static unsigned add_sector(struct line_set *set, struct line_index *index,
                           uint64_t sector)
{
    uint64_t line = sector / (LINE_BYTES / SECTOR_BYTES);
    uint8_t bit = (uint8_t)(1u << sector % (LINE_BYTES / SECTOR_BYTES));
    unsigned bucket = bucket_of(line);
    while (index->at[bucket] && set->line[index->at[bucket] - 1] != line)
        bucket = (bucket + 1) % BUCKETS;
    if (!index->at[bucket]) {
        set->line[set->n] = line;
        set->sectors[set->n++] = 0;
        index->at[bucket] = (uint8_t)set->n;
    }
    uint8_t *sectors = &set->sectors[index->at[bucket] - 1];
    bool fresh = !(*sectors & bit);
    *sectors |= bit;
    return fresh;
}

// Lanes of growing or falling addresses: only the latest line can come again.
static unsigned add_sector_in_order(struct line_set *set, uint64_t sector)
{
    uint64_t line = sector / (LINE_BYTES / SECTOR_BYTES);
    uint8_t bit = (uint8_t)(1u << sector % (LINE_BYTES / SECTOR_BYTES));
    if (set->n == 0 || set->line[set->n - 1] != line) {
        set->line[set->n] = line;
        set->sectors[set->n++] = bit;
        return 1;
    }
    bool fresh = !(set->sectors[set->n - 1] & bit);
    set->sectors[set->n - 1] |= bit;
    return fresh;
}

// Aligned and affine: each lane's bytes lie in one sector, and in order.
static unsigned affine_lines(const struct mem_access *a, const struct shape *s,
                             struct line_set *set)
{
    unsigned sectors = 0;
    for (unsigned lane = 0; lane < s->lanes; lane++)
        sectors += add_sector_in_order(set, a->addr[lane] / SECTOR_BYTES);
    return sectors;
}

static bool is_in_order(const struct mem_access *a, const struct shape *s)
{
    uint64_t low = (a->addr[0] | (uint64_t)s->stride) % s->nbytes;
    bool aligned = low == 0 && SECTOR_BYTES % s->nbytes == 0;
    return s->affine && aligned && s->lo < s->hi &&
           s->stride < (INT64_C(1) << 40) && s->stride > -(INT64_C(1) << 40);
}

unsigned access_lines(const struct mem_access *a, const struct shape *s,
                      struct line_set *set)
{
    set->n = 0;
    if (is_in_order(a, s))
        return affine_lines(a, s, set);
    struct line_index index = {{0}};
    unsigned sectors = 0;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        uint64_t addr = a->addr[__builtin_ctz(rest)];
        uint64_t first = addr / SECTOR_BYTES;
        uint64_t last = (addr + s->nbytes - 1) / SECTOR_BYTES;
        sectors += add_sector(set, &index, first);
        if (last != first) // misaligned: it faults, yet must be counted safely
            sectors += add_sector(set, &index, last);
    }
    return sectors;
}

// ---- shared memory -----------------------------------------------------------

enum { BANKS = 32, WORD = 4 };

// Most distinct words that the given lanes want of one bank.
static unsigned worst_bank(const struct mem_access *a, uint32_t mask)
{
    uint8_t head[BANKS] = {0}, next[LANES * 4 + 1], count[BANKS] = {0};
    uint32_t words[LANES * 4 + 1];
    unsigned n = 0, worst = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t addr = a->addr[__builtin_ctz(mask)];
        uint32_t first = (uint32_t)(addr / WORD);
        uint32_t end = (uint32_t)((addr + a->nbytes - 1) / WORD) + 1;
        for (uint32_t word = first; word != end && n < LANES * 4; word++) {
            unsigned bank = word % BANKS, i = head[bank];
            while (i && words[i] != word)
                i = next[i];
            if (i)
                continue;
            words[++n] = word;
            next[n] = head[bank];
            head[bank] = (uint8_t)n;
            worst = ++count[bank] > worst ? count[bank] : worst;
        }
    }
    return worst;
}

// Whether every active lane has the address of its neighbour n ^ distance.
static bool pairs_share(const struct mem_access *a, unsigned distance)
{
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest), other = lane ^ distance;
        if ((a->mask >> other & 1) && a->addr[lane] != a->addr[other])
            return false;
    }
    return true;
}

// Lanes served together: all for 4 bytes, a half warp for 8, a quarter for
// 16; twice as many where pairs of lanes want the same.
static unsigned lanes_together(const struct mem_access *a)
{
    if (a->nbytes <= 4)
        return LANES;
    bool merged = pairs_share(a, 1) || pairs_share(a, 2);
    return (a->nbytes <= 8 ? LANES / 2 : LANES / 4) * (merged ? 2 : 1);
}

static struct wavefronts by_groups(const struct mem_access *a)
{
    unsigned together = lanes_together(a);
    uint32_t group = together == LANES ? UINT32_MAX : (1u << together) - 1;
    struct wavefronts w = {0, 0};
    for (unsigned first = 0; first < LANES; first += together) {
        uint32_t mask = a->mask & group << first;
        if (!mask)
            continue;
        w.needed += worst_bank(a, mask);
        w.least++;
    }
    return w;
}

// Words `stride` words apart, one a lane, fall into BANKS / gcd banks.
static unsigned conflict_of_stride(uint64_t stride, unsigned lanes)
{
    unsigned same_bank = 1;
    while (same_bank < BANKS && stride % (2 * same_bank) == 0)
        same_bank *= 2;
    unsigned banks = BANKS / same_bank;
    return (lanes + banks - 1) / banks;
}

struct wavefronts access_wavefronts(const struct mem_access *a,
                                    const struct shape *s)
{
    uint64_t step = s->stride < 0 ? -(uint64_t)s->stride : (uint64_t)s->stride;
    bool words = a->nbytes == WORD && step % WORD == 0 && s->lo % WORD == 0;
    if (s->affine && words) {
        unsigned needed = step ? conflict_of_stride(step / WORD, s->lanes) : 1;
        return (struct wavefronts){needed, 1};
    }
    bool whole_rows = s->affine && s->lanes == LANES && step == s->nbytes &&
                      s->nbytes >= WORD && s->lo % s->nbytes == 0;
    if (whole_rows) { // 256 or 512 bytes in a row: 128 a pass
        unsigned passes = s->nbytes / WORD;
        return (struct wavefronts){passes, passes};
    }
    return by_groups(a);
}
