// The modelled GPUs and how long things take on them.
//
//   gpus.def     one block of parameters a GPU, each with its source
//   gpus.c       look-up by name
//   occupancy.c  blocks an SM holds, and what limits them
//   overlap.c    which loads of a kernel wait for each other (overlap.h)
//   time.c       the time of a launch
//   copies.c     the time of a copy or a fill
//
// A modelled figure is always labelled so by whoever prints it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct gpu_model {
    const char *key;            // "h200": what --gpu takes
    const char *name;           // "NVIDIA H200": what the runtime reports
    unsigned capability;        // 90
    bool arch_specific;         // runs sm_90a code
    unsigned sms, fp32_lanes;   // lanes an SM
    unsigned boost_mhz, memory_mhz, bus_bits;
    uint64_t memory_bytes, l2_bytes;
    // The most that a working set may have to stay in L2; 0: l2_bytes. Less
    // where L2 is of two halves, which both keep what both are asked for.
    uint64_t l2_reach_bytes;
    unsigned warps_per_sm, blocks_per_sm, regs_per_sm, reg_unit;
    unsigned shared_per_sm, shared_per_block, shared_optin, shared_reserved;
    unsigned shared_unit;       // bytes in which shared memory is given out
    unsigned l1_per_sm;         // with shared memory, which is cut out of it
    unsigned dram_fetch_bytes;  // the least that L2 fetches from DRAM: 32, 64
    // Lanes an SM executes in a cycle; fp32_lanes above.
    unsigned fp64_lanes, int_lanes, sfu_lanes;
    double tensor_tflops;                 // FP16, dense
    double dram_gbs, l2_gbs, copy_gbs;    // spec; and what a copy reaches
    double latency_l1, latency_l2, latency_dram;   // cycles
    double pcie_pinned_gbs, pcie_pageable_gbs;
    double nvlink_gbs;                    // one direction; 0: none
    double launch_us;                     // from one launch to the next, at least
    double block_start_ns;                // from free room to the first instruction
};

const struct gpu_model *gpu_find(const char *key);  // NULL when unknown
const struct gpu_model *gpu_default(void);          // H200
const struct gpu_model *gpu_at(unsigned index);     // NULL past the end

struct occupancy {
    unsigned blocks_per_sm, warps_per_sm;
    const char *limiter;        // "warps", "registers", "shared", "blocks"
};

// regs: registers a thread, as the cubin says, or an estimate.
struct occupancy occupancy_of(const struct gpu_model *, unsigned threads,
                              unsigned regs, unsigned shared_bytes);

// What a launch executed, summed over all blocks (or scaled from a sample).
struct launch_work {
    uint64_t blocks, threads_per_block;
    unsigned regs, shared_bytes;          // a thread; a block
    // Warp instructions by the pipe that executes them, and lanes active.
    uint64_t issue, fp32, fp64, integer, sfu, lsu, branch, tensor, other;
    uint64_t lanes;                       // sum of active lanes over issue
    uint64_t global_load_requests, global_load_sectors;
    uint64_t global_store_requests, global_store_sectors;
    uint64_t global_load_bytes, global_store_bytes;  // requested by lanes
    uint64_t atomics, shared_wavefronts;
    uint64_t l2_sectors;                  // asked of L2; 0: all that were
    uint64_t l2_hit_sectors, dram_read_bytes, dram_write_bytes;
    // Of one warp, on average (overlap.h): loads that wait for one another,
    // bytes that are on their way at once, cycles of dependent arithmetic.
    // Zeros count as one round of loads, and as no cycles.
    double critical_path_loads;
    double bytes_in_flight_per_warp;
    double serial_cycles;
};

struct launch_time {
    double ns;
    // What sets the time: "launch" (too little work), "blocks" (blocks cannot
    // be started faster), "latency" (too few bytes in flight), "dram", "l2",
    // "shared", or a pipe: "issue", "fp32", "fp64", "integer", "sfu", "tensor",
    // "barrier".
    const char *limiter;
};

struct launch_time time_of_launch(const struct gpu_model *,
                                  const struct launch_work *);

enum copy_kind { COPY_H2D, COPY_D2H, COPY_D2D, COPY_P2P, COPY_MEMSET };
// nbytes: copied or filled. pinned: whether the host side is page-locked.
double time_of_copy_ns(const struct gpu_model *, enum copy_kind, uint64_t nbytes,
                       bool pinned);
