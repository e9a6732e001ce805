// The watcher that memory/ gives to a launch: checks and counters.
#pragma once

#include "../exec/exec.h"

enum watch_flags {
    WATCH_CHECK = 1,   // bounds, alignment, use after free, uninitialized
    WATCH_COUNT = 2,   // requests, sectors, bytes
    WATCH_WRITERS = 4, // mark bytes that kernels store
};

struct access_counters {
    uint64_t load_requests, load_sectors, load_bytes;
    uint64_t store_requests, store_sectors, store_bytes;
    uint64_t atomics;
    uint64_t shared_load_wavefronts, shared_store_wavefronts;
    uint64_t shared_load_conflicts, shared_store_conflicts;
    uint64_t l2_hit_sectors, dram_read_bytes, dram_write_bytes;
};

struct watch;

struct watch *watch_new(struct memory *, unsigned flags);
void watch_free(struct watch *);
const struct watcher *watch_callbacks(struct watch *);
// Of the last launch.
struct access_counters watch_counters(const struct watch *);
// All findings since the last clear; the watch keeps them.
const struct finding *watch_findings(const struct watch *, unsigned *n);
void watch_clear(struct watch *);
// A finding from elsewhere: a fault in a launch, a leak at the end.
void watch_add(struct watch *, const struct finding *);
