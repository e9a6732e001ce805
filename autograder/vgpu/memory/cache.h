// Modelled caches: an L1 a block, an L2 a device, in sectors of 32 bytes and
// lines of 128.
//
// While a block runs, its accesses pass its own share of L1, and what is left
// goes into a trace; traces are fed to L2 by block, lowest first, so that the
// counts do not depend on which thread of the host ran which block when. The
// trace of a long block is fed in parts as it fills.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct access_counters;

enum traffic { TRAFFIC_READ, TRAFFIC_WRITE, TRAFFIC_ATOMIC };

// How many of a line's four sectors a mask names.
static inline unsigned cache_sectors(unsigned mask)
{
    return (unsigned)(UINT64_C(0x4332322132212110) >> 4 * (mask & 15) & 7);
}

// ---- L1: a block's ---------------------------------------------------------

enum { L1_WAYS = 4, L1_MAX_SETS = 512 };

struct l1 {
    unsigned sets;                            // a power of two
    uint64_t ways[L1_MAX_SETS * L1_WAYS];     // line << 4 | sectors; newest first
};

// Empties it; `nbytes` is the block's share, rounded down.
void l1_reset(struct l1 *, uint64_t nbytes);

// Spreads lines that are a power of two apart over the sets, as the hardware
// does, while neighbours stay neighbours.
static inline uint64_t cache_fold(uint64_t line, unsigned bits)
{
    return line ^ line >> bits ^ line >> 2 * bits;
}

// Which of the wanted sectors are there; they all are afterwards.
static inline uint8_t l1_read(struct l1 *l1, uint64_t line, uint8_t sectors)
{
    uint64_t set = cache_fold(line, 9) & (l1->sets - 1);
    uint64_t *ways = &l1->ways[set * L1_WAYS];
    unsigned i = 0;
    while (i < L1_WAYS - 1 && ways[i] >> 4 != line)
        i++;
    uint8_t there = ways[i] >> 4 == line ? ways[i] & 15 : 0;
    for (; i > 0; i--)
        ways[i] = ways[i - 1];
    ways[0] = line << 4 | there | sectors;
    return there & sectors;
}

// ---- traces ------------------------------------------------------------------

enum { TRACE_MAX = 8192 };

struct trace {
    struct trace *next;    // in a list of those that wait
    uint64_t block;
    unsigned n;
    uint64_t entries[TRACE_MAX]; // line << 16 | run << 8 | traffic << 4 | sectors
};

// False when the trace is full: feed it and begin again.
static inline bool trace_add(struct trace *t, enum traffic traffic,
                             uint64_t line, uint8_t sectors)
{
    uint64_t kind = (uint64_t)traffic << 4 | sectors;
    if (t->n > 0 && sectors == 15) {
        uint64_t *last = &t->entries[t->n - 1];
        uint64_t run = *last >> 8 & 255;
        if ((*last & 255) == kind && (*last >> 16) + run == line && run < 255) {
            *last += 1 << 8;
            return true;
        }
    }
    if (t->n == TRACE_MAX)
        return false;
    t->entries[t->n++] = line << 16 | 1 << 8 | kind;
    return true;
}

// ---- L2: a device's ----------------------------------------------------------

enum { L2_WAYS = 16 };

// One set: sixteen lines at most, replaced in turn, but those that were asked
// for again since the turn last came by are spared once.
typedef uint16_t l2_tags __attribute__((vector_size(L2_WAYS)));
struct l2_set {
    l2_tags tags[2];        // of 8 ways each: upper bits of the line, folded
    uint8_t state[L2_WAYS]; // dirty << 4 | sectors
    uint16_t again;         // a bit a way
    uint8_t turn;
} __attribute__((aligned(64)));

struct l2 {
    unsigned set_bits, nways;
    unsigned fetch_sectors;  // sectors that DRAM delivers together: 1 or 2
    struct l2_set *sets;
    uint64_t nbytes;
};

struct l2_counts {
    uint64_t sectors, hit_sectors;
    uint64_t read_sectors, written_sectors; // DRAM's
};

bool l2_open(struct l2 *, uint64_t nbytes, unsigned fetch_bytes);
void l2_close(struct l2 *);
// Leaves it full of what others read and wrote, as the work before a launch does.
void l2_flush(struct l2 *);
void l2_feed(struct l2 *, const struct trace *, struct l2_counts *);
