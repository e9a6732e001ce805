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
    uint32_t *start;      // decoded instruction of each ptx_inst, and the end
};

// Where a call's arguments and results lie in the caller's parameters.
struct call_site {
    uint32_t *args, *results; // indices in the caller's param_at
    uint32_t nargs, nresults;
    uint32_t func;            // in module->funcs; ANY_FUNC: by address
};
enum { ANY_FUNC = 0xffffffff };

// The variable that param_at[k] places.
static inline const struct ptx_var *function_param(const struct function *f,
                                                   uint32_t k)
{
    return k < f->src->nparams ? &f->src->params[k]
                               : &f->src->call_params[k - f->src->nparams];
}

struct code {
    const struct module *module;
    const struct gpu_model *gpu;
    const struct op *ops;
    struct function *functions; // by index in module->funcs
    struct heap *heap;          // device malloc
    bool calls_functions;
};

// Whether code_new may take the AVX2 build of the handlers.
extern bool code_use_avx2;

// First row of the opcode table, from `from` on, that matches a dotted opcode,
// or -1; *flags: its F_* bits.
int opcode_find(const char *opcode, int from, uint16_t *flags);
// Whether a dotted opcode has a modifier, or several in sequence ("min.s32").
bool opcode_has(const char *opcode, const char *modifiers);

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
    SPECIAL_TOTAL_SHARED, SPECIAL_DYNAMIC_SHARED,
    SPECIAL_ENVREG1, SPECIAL_ENVREG2,
    // Read when executed:
    SPECIAL_CLOCK, SPECIAL_CLOCK_HI, SPECIAL_CLOCK64,
    SPECIAL_GLOBALTIMER, SPECIAL_GLOBALTIMER_LO, SPECIAL_GLOBALTIMER_HI,
};
static inline bool special_is_dynamic(enum special s)
{
    return s >= SPECIAL_CLOCK;
}
// Differs from block to block; the others belong to a warp for good.
static inline bool special_is_of_block(enum special s)
{
    return (s >= SPECIAL_CTAID_X && s <= SPECIAL_CTAID_Z) || s == SPECIAL_SMID;
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
    uint32_t threads;         // AT_BARRIER: that take part; 0: all
};

enum warp_status { WARP_READY, WARP_AT_BARRIER, WARP_DONE, WARP_STUCK };

struct warp_control {
    struct warp w;            // first
    enum warp_status status;
    uint32_t live;            // lanes that have not exited
    uint32_t told_live;       // those when w.tally was found
    uint32_t npaths, current; // paths[current] runs
    struct path paths[WARP_LANES];
    struct frame *kernel_frame;
    uint32_t active_row[WARP_LANES], guard_row[WARP_LANES];
    uint64_t branches, divergent;
};

// ---- path.c: lanes that go together, and where they meet again ---------------

// Makes a warp ready to run `live` lanes of the kernel. Its kernel_frame is
// there, with the rows that do not change from block to block filled.
void warp_start(struct warp_control *, uint32_t live);
// Drops paths, joins and frames of a warp that will not go on.
void warp_drop(struct warp_control *);
struct frame *frame_for_kernel(struct warp *, const struct function *);
void path_free_pools(struct worker *, uint32_t nfunctions);

// The handlers' side. All that return an instruction return what the warp goes
// on with, or NULL with w->stop set when the current path cannot.
void path_set_mask(struct warp *, uint32_t mask);
struct path *path_current(struct warp *);
// Parts the current path: `taken` lanes go to `target`, the others to `next`;
// they meet at `meet`, unless that is NULL.
const struct inst *path_split(struct warp *, uint32_t taken,
                              const struct inst *target,
                              const struct inst *next, const struct inst *meet);
// The current path is at a join instruction.
const struct inst *path_meet(struct warp *, const struct inst *);
const struct inst *path_call(struct warp *, const struct inst *,
                             const struct function *);
const struct inst *path_return(struct warp *, const struct inst *);
const struct inst *path_exit(struct warp *);
// The current path waits in instruction i.
const struct inst *path_wait(struct warp *, const struct inst *,
                             enum path_state);
// Others may go first, other paths of the warp, too: it spins (STOP_SPIN), or
// the schedule says so (STOP_SWITCH). It goes on at `next`.
const struct inst *path_yield(struct warp *, const struct inst *next,
                              enum stop why);

// The scheduler's side. Picks a path that is ready; false when none is.
bool path_pick(struct warp_control *);
// Lets the lanes of the innermost join that waits go on alone, because those
// that they wait for are blocked (or spin). False when no lane waits.
bool path_release(struct warp_control *, bool past_barrier);

// ---- sync.c ------------------------------------------------------------------

// Executes .sync instructions all of whose lanes have come; true if any was.
bool sync_complete(struct warp_control *);
// A memory, barrier or .sync instruction by lanes that went past a barrier at
// which others of their block wait: reports it.
void sync_past_barrier(struct warp *, const struct inst *);

// ---- warp.c ------------------------------------------------------------------

// Runs a ready warp until it waits, ends, yields, or has executed `n`
// instructions, and sets its status; adds what it did to its worker. Returns
// the instructions executed.
uint64_t warp_run(struct warp_control *, uint64_t n);

// ---- block.c -----------------------------------------------------------------

enum { BARRIERS = 16 };

// One generation of a named barrier.
struct barrier {
    uint32_t arrived;         // warps, whether they wait or not
    uint32_t waiting;
    uint32_t threads;         // that take part; 0: all of the block
    const struct inst *first; // that arrived
    uint32_t popc;            // bar.red, over the lanes that arrived
    bool all, any;
};

struct block {
    struct block_view view;   // first
    struct worker *worker;
    bool active;
    uint32_t nwarps, nlive;   // warps; those that have not ended
    struct warp_control **warps;
    uint32_t *order;          // in which warps run
    uint8_t *shared;
    struct barrier barriers[BARRIERS];
    bool arrived;             // a warp at one of them, at any time
    uint32_t smid;
};

enum block_result { BLOCK_DONE, BLOCK_SPINS, BLOCK_STUCK, BLOCK_ENDED };

// A slot for blocks of a launch, or NULL when memory is exhausted.
struct block *block_new(struct worker *);
void block_free(struct block *);
void block_start(struct block *, uint64_t linear);
// Runs warps until the block is done, cannot go on (BLOCK_STUCK), its warps
// only wait for what other blocks do (BLOCK_SPINS), or the launch has ended.
enum block_result block_run(struct block *);
// Reports a deadlock: who waits where.
void block_deadlock(struct block *);
// A warp waits at the barrier where its paths are; opens it if it is the last.
void block_arrive(struct block *, struct warp_control *);
// bar.arrive: counts the warp, which goes on.
void block_arrive_only(struct warp *, const struct inst *, uint32_t barrier,
                       uint32_t threads);
void block_warp_done(struct block *, struct warp_control *);

// ---- launch.c ----------------------------------------------------------------

struct launch_state {
    const struct launch *launch;
    struct launch_report *report;
    const struct function *function;
    uint64_t nblocks;
    uint64_t stride, offset;  // SCHEDULE_RANDOM: the order of blocks
    uint32_t dynamic_base;    // offset of dynamic shared memory
    uint32_t shared_bytes, local_bytes, warps_per_block, resident;
    uint64_t workspace;       // of grid.sync: a device address, or 0
    unsigned nworkers;
    _Atomic uint64_t next_block, executed, progress;
    _Atomic unsigned idle;    // workers that find nothing to go on with
    _Atomic bool ended;       // a fault, or cancelled
    pthread_mutex_t lock;     // the report's fault, print, findings
    uint8_t *reported;        // by inst.id: a barrier finding was made
    uint64_t started_ns;
};

struct worker {
    struct launch_state *state;
    unsigned index;
    struct count *counts;
    uint64_t executed, lanes, lost, branches, divergent, barriers;
    uint64_t random;
    bool progressed;          // something that others may wait for happened
    bool worked;              // as above, or a warp did more than spin
    uint64_t unreported;      // instructions not yet in the launch's sum
    unsigned looks;           // how often it looked around
    struct extent extents[EXTENTS];
    bool polls_host;          // waits for memory that the host can write
    struct block **blocks;    // the resident set of this worker
    uint32_t nblocks, capacity;
    struct join *free_joins;
    struct frame **free_frames; // by function
    uint64_t clock;           // instructions, for %clock, before this run
    uint64_t clock_run, clock_left; // of this run: planned, and yet to come
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
// Tells the watcher of a mistake that a GPU lets pass; once an instruction and
// launch.
__attribute__((format(printf, 5, 6)))
void warp_report(struct warp *, const struct inst *, unsigned lane,
                 enum finding_kind, const char *message, ...);
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
