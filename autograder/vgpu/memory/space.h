// Inside of memory/: windows, mappings, records. Not for other parts.
//
//   window   1 TiB of addresses a device, and one for the host's memory
//     |  mapping   granules mapped together: a slab of small allocations, one
//     |            large allocation, or an imported memfd. Between any two
//     |            lies an unmapped granule, so that running out of one faults
//     |            and never lands in the next.
//     |  record    one allocation, live or freed
//     |  shadow    one byte a byte: its last writer
#pragma once

#include <pthread.h>

#include "memory.h"

struct mapping {
    uint64_t lo, hi;   // whole granules
    uint32_t live;     // allocations in it that are not freed
    bool slab;         // small allocations share it
};

enum { LABEL_MAX = 64 };

struct record {
    struct allocation a;
    uint64_t freed_at;     // order of frees; 0 while live
    uint64_t room;         // bytes from base up to the next possible base
    char label[LABEL_MAX];
};

// What shadow bytes say about a granule as a whole; only of GRANULE_MIXED
// must the bytes be read.
enum granule_state {
    GRANULE_NOBODY = WRITER_NOBODY,
    GRANULE_HOST = WRITER_HOST,
    GRANULE_KERNEL = WRITER_KERNEL,
    GRANULE_MIXED,
};

struct window {
    uint64_t base;
    struct mapping *maps;  // by address
    size_t nmaps, maps_cap;
    uint64_t cursor;       // where the search for free addresses goes on
    uint64_t slab_next, slab_end; // the slab that is being filled
    uint64_t used;
    struct record **records; // by address
    size_t nrecords, records_cap, nfreed;
    uint8_t *shadow;       // VGPU_DEVICE_SPAN bytes, reserved
    uint8_t *state;        // enum granule_state, one a granule
};

struct memory {
    pthread_rwlock_t lock;
    unsigned ndevices;
    uint64_t limit, used;  // device memory
    uint64_t host_used;
    uint64_t serial, frees;
    bool peer[VGPU_MAX_DEVICES][VGPU_MAX_DEVICES];
    struct window windows[VGPU_MAX_DEVICES + 1]; // the last: host memory
    pthread_mutex_t shadow_lock; // granules becoming mixed
};

static inline uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

// ---- space.c ---------------------------------------------------------------

struct window *space_window(const struct memory *, uint64_t addr);
// Maps fresh granules, private or of fd (-1: none); NULL when there is no
// room. The caller holds the lock for writing, as for all that follow.
struct mapping *space_map(struct window *, uint64_t nbytes, int fd);
void space_unmap(struct window *, struct mapping *);
// The mapping that holds [addr, addr + n), or NULL.
struct mapping *space_mapping(const struct window *, uint64_t addr, uint64_t n);
bool space_is_mapped(const struct memory *, uint64_t addr, uint64_t n);

// ---- records.c -------------------------------------------------------------

bool records_add(struct window *, const struct record *);
// The live allocation that starts at addr, or NULL.
struct record *records_live_at(const struct window *, uint64_t addr);
void records_mark_freed(struct memory *, struct window *, struct record *);
// Forgets freed allocations in [lo, hi): their addresses are used again.
void records_forget(struct window *, uint64_t lo, uint64_t hi);
const struct record *records_nearest(const struct window *, uint64_t addr);
// The longest freed one among a mapped slab's with that much room, or NULL.
struct record *records_freed_with_room(const struct window *, uint64_t room);
void records_clear(struct window *);

// ---- shadow.c --------------------------------------------------------------

void shadow_set(struct memory *, struct window *, uint64_t addr, uint64_t n,
                enum writer);
void shadow_copy(struct memory *, uint64_t dst, uint64_t src, uint64_t n);
// The granule's bytes made readable one by one, and marked so.
void shadow_make_mixed(struct memory *, struct window *, uint64_t granule);

static inline uint64_t window_granule(const struct window *w, uint64_t addr)
{
    return (addr - w->base) / VGPU_GRANULE;
}
