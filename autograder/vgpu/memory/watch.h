// The watcher that memory/ gives to a launch: checks and counters.
//
// One watch serves one launch at a time, on any device. Around a launch:
//
//   watch_set_module(watch, module);        // whose source lines to name
//   launch.watcher = watch_callbacks(watch);
//   launch_run(&launch, &report);
//   if (report.status != LAUNCH_OK)
//       watch_add(watch, &report.fault);    // merged if seen already
//   counters = watch_counters(watch);
//   counters_to_work(&counters, &work);
#pragma once

#include "../exec/exec.h"

enum watch_flags {
    WATCH_CHECK = 1,   // bounds, use after free, uninitialized, races, ...
    WATCH_COUNT = 2,   // requests, sectors, bytes
    WATCH_WRITERS = 4, // mark bytes that kernels store
};

// Global memory, constants excepted, and shared memory. A request is a warp
// instruction with an active lane; a sector 32 bytes; bytes are what lanes
// asked for. Atomics are counted apart from loads and stores.
struct access_counters {
    uint64_t load_requests, load_sectors, load_bytes;
    uint64_t store_requests, store_sectors, store_bytes;
    uint64_t atomics, atomic_lanes;       // warp instructions; lanes
    uint64_t shared_atomics;
    uint64_t shared_load_wavefronts, shared_store_wavefronts;
    uint64_t shared_load_conflicts, shared_store_conflicts;
    // Modelled caches: load sectors found in L1; sectors asked of L2, and of
    // those found there; what was left for DRAM.
    uint64_t l1_hit_sectors, l2_sectors, l2_hit_sectors;
    uint64_t dram_read_bytes, dram_write_bytes;
};

struct watch;

struct watch *watch_new(struct memory *, unsigned flags);
void watch_free(struct watch *);
void watch_set_flags(struct watch *, unsigned flags); // between launches
void watch_set_module(struct watch *, const struct module *);
const struct watcher *watch_callbacks(struct watch *);
// Of the last launch.
struct access_counters watch_counters(const struct watch *);
// Enters them in the memory fields of `work`, for the time model.
void counters_to_work(const struct access_counters *, struct launch_work *work);
// Fills the modelled L2 with foreign data, as a flush between timed runs does.
void watch_flush_cache(struct watch *);

// All findings since the last clear, in the order in which launches made
// them, within a launch by block and thread; the watch keeps them. Accesses of
// one kind at one source line of one kernel are one finding, with the lowest
// block and thread. At most 1024 are kept; later ones are dropped.
const struct finding *watch_findings(const struct watch *, unsigned *n);
void watch_clear(struct watch *);
// A finding from elsewhere, such as a fault that ended a launch. When there is
// one of the same kind, kernel and line already, that one becomes fatal if
// this one is, and nothing is added.
void watch_add(struct watch *, const struct finding *);
// Adds a finding for every allocation that the program has not freed;
// returns how many there are.
unsigned watch_leaks(struct watch *);
