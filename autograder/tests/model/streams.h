// The work of kernels that stream through memory, as the executor and the
// watcher would report it; tests of the time model are written with them.
#pragma once

#include "vgpu/model/model.h"

struct stream {
    uint64_t blocks;
    unsigned threads;
    uint64_t elements;         // 4 bytes each
    unsigned arrays_read;
    unsigned loads;            // elements a thread loads of each array at once
    unsigned shared_bytes;
    bool in_l2;                // what it touches is in L2 already
};

// Every thread does as much as the elements demand, in rounds of `loads`.
static inline struct launch_work stream_work(const struct stream *s)
{
    uint64_t warps = s->blocks * ((s->threads + 31) / 32);
    uint64_t read = 4 * s->elements * s->arrays_read, written = 4 * s->elements;
    double per_round = (double)s->blocks * s->threads * s->loads;
    double rounds = (double)s->elements / per_round;
    struct launch_work w = {
        .blocks = s->blocks, .threads_per_block = s->threads, .regs = 16,
        .shared_bytes = s->shared_bytes,
        .global_load_requests = read / 128,
        .global_store_requests = written / 128,
        .global_load_sectors = read / 32, .global_store_sectors = written / 32,
        .global_load_bytes = read, .global_store_bytes = written,
        .l2_sectors = (read + written) / 32};
    w.l2_hit_sectors = s->in_l2 ? w.l2_sectors : 0;
    w.dram_read_bytes = s->in_l2 ? 0 : read;
    w.dram_write_bytes = s->in_l2 ? 0 : written;
    w.issue = warps * 20;
    w.critical_path_loads = s->arrays_read ? (rounds > 1 ? rounds : 1) : 0;
    if (w.critical_path_loads > 0)
        w.bytes_in_flight_per_warp =
            (double)read / (double)warps / w.critical_path_loads;
    return w;
}
