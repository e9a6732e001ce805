// The form of one warp-wide access, found once and used by all who watch it.
#pragma once

#include "../exec/exec.h"

enum { SECTOR_BYTES = 32, LINE_BYTES = 128, LANES = 32 };

struct shape {
    uint64_t lo, hi;   // [lo, hi) holds all bytes of active lanes
    uint32_t lanes;    // active
    uint32_t nbytes;   // a lane
    bool affine;       // lanes 0..lanes-1 are active, stride apart
    int64_t stride;
    // Every byte of [lo, hi) is asked for.
    bool dense;
};

struct shape access_shape(const struct mem_access *);

// Distinct 32-byte sectors, by the 128-byte line they lie in, in the order in
// which lanes name them. At most one line a lane and byte range, hence 64.
struct line_set {
    unsigned n;
    uint64_t line[2 * LANES];  // address / LINE_BYTES
    uint8_t sectors[2 * LANES]; // a bit each
};

// Splits an access that is not dense; returns its number of sectors.
unsigned access_lines(const struct mem_access *, const struct shape *,
                      struct line_set *);

static inline uint64_t sectors_between(uint64_t lo, uint64_t hi)
{
    return (hi - 1) / SECTOR_BYTES - lo / SECTOR_BYTES + 1;
}

// Passes that shared memory needs for the access, and how few could do.
struct wavefronts {
    unsigned needed, least;
};
struct wavefronts access_wavefronts(const struct mem_access *,
                                    const struct shape *);
