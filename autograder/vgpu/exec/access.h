// What inst.flags mean in loads, stores and atomics. The address is row a
// plus imm; a load's values go to rows d, b, c, e, a store's come from
// b, c, e, d.
#pragma once

enum access_space {
    AT_GENERIC,
    AT_GLOBAL,     // const, too: it lies in device memory
    AT_SHARED,
    AT_LOCAL,
    AT_PARAM,      // the kernel's parameters, by a lane's address
    AT_PARAM_HERE, // the kernel's parameters at imm, for all lanes
    AT_CALL_PARAM, // the frame's parameters at imm
};

enum {
    ACCESS_SPACE = 7,
    ACCESS_ADDR32 = 1 << 3,   // row a is of 32 bits
    ACCESS_WIDE = 1 << 4,     // values in 64-bit rows
    ACCESS_VOLATILE = 1 << 5,
    ACCESS_POLL = 1 << 6,     // may read what another thread changes
    ACCESS_CONST = 1 << 7,    // ld.const
    ACCESS_VECTOR = 7,        // << 8: 1, 2 or 4 values
    ACCESS_VECTOR_SHIFT = 8,
};

#include "control.h"

// A warp-wide access that may be performed: lane l of mask at
// base + l * stride + offset[l].
struct access {
    uint64_t offset[WARP_LANES];
    uint32_t mask;        // lanes that shall perform it
    uint8_t *base;
    uint64_t stride;
    bool contiguous;      // all 32 lanes, one behind the other
    bool uniform;         // the same address in all of them
};

static inline uint8_t *access_pointer(const struct access *a, unsigned lane)
{
    return a->base + lane * a->stride + a->offset[lane];
}

// Fills offset[] from the operands; lanes that are off get that of one that
// is on.
void access_addresses(struct access *, const struct warp *,
                      const struct inst *);
// Checks an access of `nbytes` a lane and tells the watcher. The lanes in
// `lanes` must be on and, for AT_GENERIC, a group that access_group has made.
// False after a fault.
bool access_check(struct access *, struct warp *, const struct inst *,
                  enum access_space, uint32_t lanes, unsigned nbytes,
                  enum access_kind);
// Of the lanes `left` of a generic access, those in the same space as the
// lowest one; offset[] becomes an offset in that space.
uint32_t access_group(struct access *, const struct warp *, uint32_t left,
                      enum access_space *);
// What follows a memory operation: other warps may run.
const struct inst *access_done(struct warp *, const struct inst *);
