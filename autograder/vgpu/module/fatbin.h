// What a fatbin holds for one device.
#pragma once

#include "module.h"

struct image {
    const char *ptx;        // NUL-terminated; NULL when there is none
    size_t ptx_bytes;
    unsigned capability;    // the PTX's; 0 when only its text says
    const uint8_t *cubin;   // what the device would run; NULL when none
    size_t cubin_bytes;
};

// Picks the highest PTX that the device runs, and the cubin for it. What is
// unpacked lives in the arena.
enum module_status fatbin_open(const void *data, size_t nbytes,
                               unsigned capability, bool arch_specific,
                               struct arena *arena, struct image *out,
                               char *message);

// Calls `found` with each function's registers a thread, as the cubin's
// .nv.info says. A damaged cubin has none.
void cubin_registers(const uint8_t *cubin, size_t nbytes,
                     void (*found)(void *self, const char *name,
                                   uint32_t registers),
                     void *self);
