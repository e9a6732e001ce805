// Which loads of a kernel wait for one another, and how long a warp's
// arithmetic is when nothing disturbs it: what the time model needs to know
// of the order of instructions.
//
//   a = x[i]; b = y[i]; c[i] = a + b;     one round: both are on their way
//   a = x[i]; b = y[a];                   two rounds
//   for (...) sum += x[i];                a round an iteration
//
// The rules follow what ptxas and the hardware do with PTX: instructions of a
// basic block are scheduled freely but for their operands; a load does not
// pass an earlier store, unless it is `.nc`; a branch waits for its condition,
// and what a block used it has waited for; a loop's iterations do not overlap.
//
// A server calls, once a function and once a launch:
//
//   struct overlap *o = overlap_new(func);         // when the module loads
//   overlap_apply(o, func, report.inst_count, &work);  // every function of
//                                                  // the module; adds up
//   overlap_finish(&work);                         // once, when all else in
//                                                  // `work` is filled in
#pragma once

#include "../module/module.h"
#include "model.h"

struct overlap;

// NULL when memory is exhausted.
struct overlap *overlap_new(const struct ptx_func *);
void overlap_free(struct overlap *);

// Adds the function's rounds and cycles, over all warps, to
// work->critical_path_loads and work->serial_cycles. inst_count: executed warp
// instructions by ptx_inst.id.
void overlap_apply(const struct overlap *, const struct ptx_func *,
                   const uint64_t *inst_count, struct launch_work *work);
// Makes those sums means of one warp and sets bytes_in_flight_per_warp. Needs
// blocks, threads_per_block and global_load_bytes.
void overlap_finish(struct launch_work *work);

// For tests: what one execution of an instruction adds.
bool overlap_starts_round(const struct overlap *, uint32_t inst);
unsigned overlap_cycles(const struct overlap *, uint32_t inst);
