// A launch without an executor: tests tell the watcher about accesses of
// their own making.
#pragma once

#include "../test.h"
#include "vgpu/memory/memory.h"
#include "vgpu/memory/watch.h"

#include <string.h>

enum { RIG_INSTS = 4 };

struct rig {
    struct memory *memory;
    struct watch *watch;
    struct gpu_model gpu;
    struct ptx_loc locs[RIG_INSTS + 1];
    const char *files[3];
    struct module module;
    struct ptx_inst insts[RIG_INSTS];
    struct ptx_func func;
    struct launch launch;
    struct block_view block;
    struct warp_view warp;
    uint64_t addr[32];
    uint32_t denied; // what the last access returned
};

static inline void rig_open(struct rig *r, unsigned flags)
{
    *r = (struct rig){.gpu = {.l2_bytes = 1 << 20, .l1_per_sm = 128 << 10,
                              .dram_fetch_bytes = 32}};
    r->memory = memory_new(2, UINT64_C(256) << 20);
    r->watch = watch_new(r->memory, flags);
    ck_assert_ptr_nonnull(r->memory);
    ck_assert_ptr_nonnull(r->watch);
    r->files[0] = "?";
    r->files[1] = "add.cu";
    r->files[2] = "/usr/local/cuda/include/cooperative_groups.h";
    r->module = (struct module){.files = r->files, .nfiles = 3,
                                .locs = r->locs, .nlocs = RIG_INSTS + 1};
    for (uint32_t i = 0; i < RIG_INSTS; i++) {
        r->locs[i + 1] = (struct ptx_loc){.file = 1, .line = 10 + i};
        r->insts[i] = (struct ptx_inst){.opcode = "ld.global.f32", .id = i,
                                        .loc = i + 1};
    }
    r->launch = (struct launch){.func = &r->func, .name = "add(float*, int)",
                                .grid = {64, 1, 1}, .block = {64, 1, 1},
                                .gpu = &r->gpu, .memory = r->memory,
                                .nthreads = 1, .blocks_per_sm = 1};
    watch_set_module(r->watch, &r->module);
}

static inline void rig_close(struct rig *r)
{
    watch_free(r->watch);
    memory_free(r->memory);
}

static inline void rig_begin(struct rig *r, unsigned nworkers)
{
    const struct watcher *w = watch_callbacks(r->watch);
    w->launch_begin(w->self, &r->launch, nworkers);
}

static inline void rig_block(struct rig *r, unsigned worker, uint64_t linear,
                             uint32_t shared_bytes)
{
    const struct watcher *w = watch_callbacks(r->watch);
    uint32_t x = r->launch.grid[0];
    r->block = (struct block_view){
        .launch = &r->launch, .linear = linear, .worker = worker,
        .idx = {(uint32_t)linear % x, (uint32_t)linear / x, 0},
        .shared_bytes = shared_bytes};
    r->warp = (struct warp_view){.block = &r->block};
    w->block_begin(w->self, &r->block);
}

static inline void rig_block_end(struct rig *r)
{
    const struct watcher *w = watch_callbacks(r->watch);
    w->block_end(w->self, &r->block);
}

static inline void rig_end(struct rig *r)
{
    const struct watcher *w = watch_callbacks(r->watch);
    w->launch_end(w->self, &r->launch);
}

// A launch of one block with 1024 bytes of shared memory.
static inline void rig_begin_one(struct rig *r)
{
    rig_begin(r, 1);
    rig_block(r, 0, 0, 1024);
}

static inline void rig_end_one(struct rig *r)
{
    rig_block_end(r);
    rig_end(r);
}

// Lane i accesses nbytes at first + i * stride.
static inline void rig_access(struct rig *r, enum ptx_space space,
                              enum access_kind kind, unsigned inst,
                              uint64_t first, int64_t stride, uint32_t nbytes,
                              uint32_t mask)
{
    const struct watcher *w = watch_callbacks(r->watch);
    for (int i = 0; i < 32; i++)
        r->addr[i] = first + (uint64_t)i * (uint64_t)stride;
    struct mem_access access = {
        .space = space, .kind = kind, .nbytes = nbytes, .align = nbytes,
        .mask = mask, .addr = r->addr, .func = &r->func,
        .inst = &r->insts[inst]};
    r->denied = w->access(w->self, &r->warp, &access);
}

// All lanes of the warp meet, as in __syncwarp().
static inline void rig_sync(struct rig *r)
{
    const struct watcher *w = watch_callbacks(r->watch);
    w->warp_sync(w->self, &r->warp, UINT32_MAX);
}

static inline void rig_load(struct rig *r, uint64_t first, int64_t stride,
                            uint32_t mask)
{
    rig_access(r, SPACE_GLOBAL, ACCESS_LOAD, 0, first, stride, 4, mask);
}

static inline void rig_store(struct rig *r, uint64_t first, int64_t stride,
                             uint32_t mask)
{
    rig_access(r, SPACE_GLOBAL, ACCESS_STORE, 1, first, stride, 4, mask);
}

static inline const struct finding *rig_finding(struct rig *r, unsigned i,
                                                unsigned expected)
{
    unsigned n;
    const struct finding *all = watch_findings(r->watch, &n);
    ck_assert_uint_eq(n, expected);
    return &all[i];
}
