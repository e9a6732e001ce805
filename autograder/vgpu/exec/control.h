// Between the files of the executor: decoded functions, what a warp's lanes
// wait for, the blocks of a worker, faults.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "warp.h"

// ---- decode.c: functions ---------------------------------------------------

enum constant_kind {
    CONSTANT_BITS,    // bits
    CONSTANT_VAR,     // address of module->vars[index], plus bits
    CONSTANT_SHARED,  // offset of a shared variable, in bits
    CONSTANT_DYNAMIC, // where dynamic shared memory begins, plus bits
    CONSTANT_LOCAL,   // bits past this call's local frame
};

struct constant {
    uint32_t row;
    uint8_t kind;
    bool wide;
    uint32_t index;
    uint64_t bits;
};

struct special_use {
    uint32_t row;
    uint8_t special; // enum special
};

struct function {
    const struct code *code;
    const struct ptx_func *src;
    struct inst *insts;
    uint32_t ninsts;
    uint32_t frame_bytes;
    struct constant *constants;
    uint32_t nconstants;
    struct special_use *specials;
    uint32_t nspecials;
    // Parameters of a call, a lane: the function's own, then those that it
    // declares for its calls. param_at[] has ptx params, then call_params.
    uint32_t *param_at;
    uint32_t nparams;     // in param_at
    uint32_t param_stride;
    struct call_site *calls;
    uint32_t ncalls;
};

// Where a call's arguments and results lie in the caller's parameters.
struct call_site {
    uint32_t *args, *results; // indices in the caller's param_at
    uint32_t nargs, nresults;
    uint32_t func;            // in module->funcs; ANY_FUNC: by address
};
enum { ANY_FUNC = 0xffffffff };

struct code {
    const struct module *module;
    const struct gpu_model *gpu;
    const struct op *ops;
    struct function *functions; // by index in module->funcs
    struct heap *heap;          // device malloc
    bool calls_functions;
};

// Row of the opcode table for a dotted opcode, or -1; *flags: its F_* bits.
int opcode_find(const char *opcode, uint16_t *flags);
// Whether a dotted opcode has a modifier ("volatile").
bool opcode_has(const char *opcode, const char *modifier);

// ---- special.c --------------------------------------------------------------

enum special {
    SPECIAL_TID_X, SPECIAL_TID_Y, SPECIAL_TID_Z,
    SPECIAL_NTID_X, SPECIAL_NTID_Y, SPECIAL_NTID_Z,
    SPECIAL_CTAID_X, SPECIAL_CTAID_Y, SPECIAL_CTAID_Z,
    SPECIAL_NCTAID_X, SPECIAL_NCTAID_Y, SPECIAL_NCTAID_Z,
    SPECIAL_ZERO, SPECIAL_ONE, SPECIAL_LANEID, SPECIAL_WARPID, SPECIAL_NWARPID,
    SPECIAL_SMID, SPECIAL_NSMID, SPECIAL_GRIDID, SPECIAL_WARP_SZ,
    SPECIAL_LANEMASK_EQ, SPECIAL_LANEMASK_LT, SPECIAL_LANEMASK_LE,
    SPECIAL_LANEMASK_GT, SPECIAL_LANEMASK_GE,
    SPECIAL_STATIC_SHARED, SPECIAL_TOTAL_SHARED, SPECIAL_DYNAMIC_SHARED,
    SPECIAL_ENVREG1, SPECIAL_ENVREG2,
    // Read when executed:
    SPECIAL_CLOCK, SPECIAL_CLOCK_HI, SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER, SPECIAL_GLOBALTIMER_LO, SPECIAL_GLOBALTIMER_HI,
};
static inline bool special_is_dynamic(enum special s)
{
    return s >= SPECIAL_CLOCK;
}
bool special_is_wide(enum special);
// By its name in PTX; false when there is none of that name.
bool special_find(const char *text, enum special *);
// Writes the row. For some lanes only when w->partial.
void special_fill(const struct warp *, enum special, void *row);

// ---- control.c: paths and joins --------------------------------------------

// A call in progress: the rows of a function for the lanes inside.
struct frame {
    const struct function *function;
    struct frame *caller;
    const struct inst *resume; // after the call
    const struct call_site *site;
    struct join *end;          // where returning lanes meet
    uint32_t lanes;            // inside
    uint32_t depth;
    uint32_t local_base;       // of this call, in a lane's local memory
    uint8_t *params;           // lane by lane, function->param_stride apart
    struct frame *next_free;
    uint8_t *rows;
};

// Where lanes that a branch parted (or a call took along) meet again.
struct join {
    const struct inst *pc;    // the JOIN instruction; NULL: frame's return
    struct frame *frame;
    struct join *parent;
    uint32_t expected;        // lanes that will come, arrived ones included
    uint32_t arrived;
};

enum path_state { PATH_READY, PATH_AT_BARRIER, PATH_AT_SYNC };

// Lanes that go together.
struct path {
    uint32_t mask;
    enum path_state state;
    const struct inst *pc;    // next to execute; waiting: what it waits in
    struct frame *frame;
    struct join *join;        // the innermost
    uint32_t members;         // AT_SYNC: the lanes it waits for
    uint32_t barrier;         // AT_BARRIER: its number
};

enum warp_status { WARP_READY, WARP_AT_BARRIER, WARP_DONE, WARP_STUCK };

struct warp_control {
    struct warp w;            // first
    enum warp_status status;
    uint32_t live;            // lanes that have not exited
    uint32_t npaths, current; // paths[current] runs
    struct path paths[WARP_LANES];
    struct frame *kernel_frame;
    uint32_t active_row[WARP_LANES], guard_row[WARP_LANES];
    uint32_t barrier;         // AT_BARRIER: which
    uint64_t branches, divergent;
};

void warp_start(struct warp_control *, struct block *, uint32_t live);
// Runs until the warp blocks, ends, yields or has executed `n` instructions;
// adds what it did to the worker. Returns instructions executed.
uint64_t warp_run(struct warp_control *, uint64_t n);
// The block's barrier opened: every path that waits there goes on.
void warp_pass_barrier(struct warp_control *, uint32_t barrier);
void warp_drop(struct warp_control *); // frees joins and frames of a fault

void path_set_mask(struct warp *, uint32_t mask);
// The current path's lanes end (exit), or wait; returns NULL for handlers.
const struct inst *path_exit(struct warp *, uint32_t lanes);
const struct inst *path_wait(struct warp *, const struct inst *,
                             enum path_state);
void path_settle(struct warp_control *, struct join *);
// When nothing is ready: frees lanes from joins that wait for blocked ones.
bool warp_release(struct warp_control *, bool for_barrier);

// ---- sync.c ------------------------------------------------------------------

// Runs a warp's .sync instructions whose lanes have all come.
bool sync_complete(struct warp_control *);
// A warp-level instruction or access by lanes that went past a barrier.
void sync_past_barrier(struct warp *, const struct inst *);

// ---- block.c -----------------------------------------------------------------

enum { BARRIERS = 16 };

struct barrier {
    uint32_t warps;           // arrived, whether they wait or not
    uint32_t waiting;
    uint32_t expected;        // warps; 0: all of the block
    const struct inst *first; // that arrived in this generation
    bool aligned;             // .sync of another pc is a mistake
    uint32_t red_popc;
    bool red_and, red_or;
    bool red_result_valid;
    uint32_t last_popc;       // of the generation that has just opened
    bool last_and, last_or;
};

struct block {
    struct block_view view;   // first
    struct worker *worker;
    bool used;
    uint32_t nwarps, nlive;   // warps; not yet ended
    uint32_t nready;
    uint32_t turn;            // where the round robin stands
    struct warp_control *warps;
    uint8_t *shared, *local;
    uint32_t *order;          // in which warps run
    struct barrier barriers[BARRIERS];
    uint32_t smid;
};

// What a warp tells its block.
void block_arrive(struct block *, struct warp_control *);   // waits
void block_bar_arrive(struct warp *, const struct inst *, uint32_t barrier,
                      uint32_t threads);
void block_warp_done(struct block *, struct warp_control *);

// ---- launch.c ----------------------------------------------------------------

struct launch_state {
    const struct launch *launch;
    struct launch_report *report;
    const struct function *function;
    uint64_t nblocks;
    uint32_t *order;          // SCHEDULE_RANDOM: of blocks, or NULL
    uint32_t dynamic_base;    // offset of dynamic shared memory
    uint32_t shared_bytes, local_bytes, warps_per_block, resident;
    uint64_t workspace;       // of grid.sync: a device address, or 0
    unsigned nworkers;
    _Atomic uint64_t next_block, executed, progress;
    _Atomic unsigned idle;    // workers that find nothing to go on with
    _Atomic bool ended;       // a fault, or cancelled
    pthread_mutex_t lock;     // report's fault, print, partial barriers
    uint64_t started_ns;
};

struct worker {
    struct launch_state *state;
    unsigned index;
    struct count *counts;
    uint64_t executed, lanes, lost, branches, divergent, barriers;
    uint64_t random;
    bool progressed;          // something that others may wait for happened
    struct block *blocks;     // the resident set of this worker
    uint32_t nblocks, capacity;
    struct join *free_joins;
    struct frame *free_frames;
    uint64_t clock;           // instructions, for %clock
    uint64_t partial_seen;    // instructions with a finding, by hash
};

uint64_t random_next(uint64_t *state);

// ---- fault.c -----------------------------------------------------------------

// Ends the launch: the first fault wins. lane: the one at fault. Returns NULL
// for handlers.
__attribute__((format(printf, 6, 7)))
const struct inst *warp_fault(struct warp *, const struct inst *,
                              enum launch_status, unsigned lane, uint64_t addr,
                              const char *message, ...);
// Fills who and where of a finding.
void finding_place(struct finding *, const struct warp *, const struct inst *,
                   unsigned lane);
// "tile.cu:17", or the PTX line when there is no source line.
void inst_place(const struct warp *, const struct inst *, char *out, size_t n);
void thread_index(const struct block *, uint32_t linear, uint32_t idx[3]);

// ---- print.c, heap.c: what device code calls ----------------------------------

// Calls of vprintf, __assertfail, malloc, free by name. False: no such one.
bool external_find(const char *name, unsigned *which);
// params: 32 lanes `stride` apart. Returns false after a fault.
bool external_call(struct warp *, const struct inst *, unsigned which,
                   const struct call_site *, const struct frame *);

struct heap *heap_new(void);
void heap_free(struct heap *);
uint64_t heap_alloc(struct heap *, struct memory *, int device, uint64_t n);
bool heap_release(struct heap *, int device, uint64_t addr);

// ---- memory for handlers: access.c -------------------------------------------

// A host pointer to [addr, addr + n) in the kernel's generic address space for
// a lane, or NULL.
uint8_t *generic_pointer(struct warp *, unsigned lane, uint64_t addr,
                         uint64_t n);
