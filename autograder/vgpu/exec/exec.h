// Executes kernels: warps of 32 lanes in lockstep.
//
//   opcodes.def   one row an instruction form: handler, pipe, coverage
//   match.c       an opcode's row in that table
//   decode.c      struct ptx_inst -> fixed-size instruction, operands as rows;
//                 decode_family.c, decode_memory.c, decode_control.c
//   arith_*.c     handlers, by family (integer, logic, float, half)
//   compare.c     set, setp, selp; convert.c cvt; move.c mov, cvta
//   access.c      loads and stores; atomic.c atomics
//   path.c        lanes that go together, where they meet again
//   control.c     handlers of branches, calls, exits
//   sync.c        handlers of barriers, votes, shuffles
//   warp.c        the dispatch loop
//   block.c       warps of a block, shared memory, who waits where
//   launch.c      blocks over worker threads, resident sets
//   special.c     special registers
//   fault.c       what ends a launch, and whose fault it was
//   print.c       device printf, assert; heap.c device malloc
//
// The kernel is untrusted: no instruction may touch host memory outside the
// windows of memory.h, and every launch ends by its instruction budget.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../memory/memory.h"
#include "../model/model.h"
#include "../module/module.h"

// ---- a module on a device ------------------------------------------------

struct code; // decoded once, for all devices

// Decodes every function. Never fails for an unknown instruction: that one
// faults when it is reached, naming itself.
struct code *code_new(const struct module *, const struct gpu_model *);
void code_free(struct code *);

// What a pointer to module->funcs[index] is, for initial values of variables.
#define VGPU_FUNC_BASE UINT64_C(0x7c0300000000)
static inline uint64_t code_func_address(uint32_t index)
{
    return VGPU_FUNC_BASE + UINT64_C(16) * index;
}

// Rows of the opcode table, for the coverage page and the golden test.
struct opcode_row {
    const char *name;     // "add.s32", "ld.global"
    const char *section;  // of the PTX ISA
    const char *pipe;
};
const struct opcode_row *opcode_rows(unsigned *n);

// ---- watching --------------------------------------------------------------

enum access_kind { ACCESS_LOAD, ACCESS_STORE, ACCESS_ATOMIC };

struct block_view {
    const struct launch *launch;
    uint32_t idx[3];
    uint64_t linear;
    uint8_t *shared;
    uint32_t shared_bytes;
    void *watch;            // the watcher's own, a block; NULL at first
    unsigned worker;        // which host thread runs it, 0..nworkers-1
};

struct warp_view {
    struct block_view *block;
    uint32_t index;         // in the block
};

// One warp-wide memory instruction, told before it is performed.
struct mem_access {
    enum ptx_space space;   // never GENERIC: resolved
    enum access_kind kind;
    uint32_t nbytes;        // a lane: 1..16
    uint32_t align;         // demanded
    uint32_t mask;          // active lanes
    bool is_volatile;
    bool contiguous;        // known: all 32 lanes, one behind the other
    const uint64_t *addr;   // 32; shared and local: offsets
    // Stores: the values, a row of 32 a vector element, or NULL where unknown;
    // wide: rows of 64 bits, else of 32.
    const void *values[4];
    uint32_t nvalues;
    bool wide;
    const struct ptx_func *func;
    const struct ptx_inst *inst;
};

// Callbacks of memory/ (checks and counters). Called from worker threads;
// `worker` indexes the watcher's per-thread state, so that none need locks.
// NULL members are not called.
struct watcher {
    void *self;
    void (*launch_begin)(void *self, const struct launch *, unsigned nworkers);
    void (*block_begin)(void *self, struct block_view *);
    // Returns the lanes that must not perform the access (0 as a rule).
    uint32_t (*access)(void *self, struct warp_view *, const struct mem_access *);
    // The executor found a mistake that a GPU lets pass, such as a barrier
    // that not all threads reach. One at a time, in no order between workers.
    void (*found)(void *self, const struct finding *);
    // What orders threads. Lanes of a warp met in a .sync instruction; `lanes`
    // is their member mask, so that exited ones are among them.
    void (*warp_sync)(void *self, struct warp_view *, uint32_t lanes);
    void (*fence)(void *self, struct warp_view *, const struct ptx_inst *,
                  uint32_t lanes);
    // All lanes of a warp came to a barrier; it waits there, or goes on.
    void (*arrive)(void *self, struct warp_view *, uint32_t barrier, bool waits);
    // The warps that wait at a barrier go on; whole: all the block's live ones.
    void (*barrier)(void *self, struct block_view *, uint32_t barrier,
                    bool whole);
    void (*block_end)(void *self, struct block_view *);
    void (*launch_end)(void *self, const struct launch *);
};

// ---- launching -------------------------------------------------------------

enum schedule { SCHEDULE_ASCENDING, SCHEDULE_DESCENDING, SCHEDULE_RANDOM };

struct launch {
    const struct code *code;
    const struct ptx_func *func;
    const char *name;              // demangled
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const uint8_t *params;         // func->param_bytes
    const uint64_t *var_addr;      // address of module->vars[i] on this device
    int device;
    const struct gpu_model *gpu;
    struct memory *memory;
    const struct watcher *watcher; // or NULL
    bool cooperative;
    enum schedule schedule;
    uint64_t seed;
    unsigned nthreads;             // 1: deterministic
    uint64_t budget;               // warp instructions; 0: none
    unsigned blocks_per_sm;        // occupancy: sets the resident set
    // Device output; may be called from any worker, one at a time.
    void (*print)(void *self, const char *text, size_t n);
    void *print_self;
    // Polled now and then: true ends the launch.
    bool (*cancelled)(void *self);
};

enum launch_status {
    LAUNCH_OK,
    LAUNCH_ILLEGAL_ADDRESS,   // cudaErrorIllegalAddress
    LAUNCH_MISALIGNED,        // cudaErrorMisalignedAddress
    LAUNCH_ASSERT,            // cudaErrorAssert
    LAUNCH_TRAP,              // cudaErrorLaunchFailure
    LAUNCH_ILLEGAL_INSTRUCTION,
    LAUNCH_UNSUPPORTED,       // an instruction the virtual GPU lacks
    LAUNCH_DEADLOCK, LAUNCH_BUDGET, LAUNCH_CANCELLED,
    LAUNCH_OUT_OF_MEMORY,
};

struct launch_report {
    enum launch_status status;
    struct finding fault;          // when not OK: what, where, who
    uint64_t warp_instructions, lane_instructions;
    // By ptx_inst.id, module->ninsts long; the caller's, zeroed, or NULL.
    uint64_t *inst_count;          // warp instructions
    uint64_t *inst_lanes;          // active lanes
    uint64_t branches, divergent_branches, lanes_lost_to_branches;
    uint64_t barriers;
};

// Runs a whole grid; returns when it has ended. The arguments must already
// fit the device (sizes are checked by the runtime).
void launch_run(const struct launch *, struct launch_report *);

// Adds the instruction counts of a report to `work`, by pipe.
void launch_pipes(const struct code *, const struct launch_report *,
                  struct launch_work *work);
