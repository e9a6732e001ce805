// Races by happens-before: two threads access the same bytes, one of them
// stores, and nothing orders the two. Inside of memory/.
//
//   race.c          an access against what was there before
//   race_cells.c    who accessed which word last
//   race_clocks.c   what threads of a block know of one another: barriers,
//                   .sync instructions, fences
//   race_release.c  what a thread learns through a location: locks and flags
//
// Time is a warp's count of accesses. A thread knows another up to a time:
// accesses until then came before. Where warps meet at a barrier, their times
// become equal, so that "later" can be said between threads, too.
#pragma once

#include <pthread.h>

#include "../exec/exec.h"

enum { RACE_LANES = 32, RACE_WARPS = 32, RACE_BARRIERS = 16, RACE_SHARDS = 64 };

struct event;
struct races;

// ---- who accessed a word last ------------------------------------------------

// time 0: nobody. idle: a store that left the word as it was. inst: the
// address of a struct ptx_inst, over 8.
struct race_record {
    uint32_t block, time : 31, idle : 1;
    uint64_t inst : 44, thread : 10, mask : 4, log_nbytes : 3, strong : 1,
        lockstep : 1, kind : 1;
};
_Static_assert(sizeof(struct race_record) == 16, "two of them: half a sector");
enum { RACE_LOADS, RACE_STORES }; // kind; an atomic is a strong store

// A word of 4 bytes. Two readers, of two blocks if there were two.
struct race_cell {
    struct race_record store, loads[2];
};

// ---- what a thread learned through locations -----------------------------------

struct race_log;             // the releases at one location
struct race_ref {
    struct race_log *log;
    uint32_t nclaims;        // those that were there
    bool pending;            // counts from the next fence or barrier on
};
struct race_refs {
    struct race_ref *list;
    uint32_t n, cap;
};

// What a release says its thread knew.
struct race_claim {
    uint32_t block, warp;
    uint32_t block_time;          // of all threads of the block
    uint32_t warp_time[RACE_WARPS];
    uint32_t lane_time[RACE_LANES]; // of its own warp
    bool this_block_only;
    uint32_t before;              // the block's claim before in this log, or -1
};

// ---- what threads of a block know of one another -------------------------------

struct race_fence {
    uint32_t block_time, lane_time[RACE_LANES];
};

struct race_warp {
    uint32_t now;
    uint32_t synced;              // all lanes know all lanes up to here
    bool parted;                  // known[][] is in use
    uint32_t known[RACE_LANES][RACE_LANES]; // by lane, of lane
    uint32_t others[RACE_WARPS];  // of the block's other warps
    uint32_t dirty;               // lanes that stored globally since a fence
    uint32_t fenced, fenced_wide; // lanes with a fence; for other blocks, too
    struct race_fence fence[RACE_LANES];
    uint32_t cleaned;             // all lanes fenced what they did up to here
    struct race_refs refs, lane_refs[RACE_LANES];
    uint32_t with_refs;           // lanes that have any
};

struct race_barrier {
    bool begun;
    uint32_t waits;               // warps
    uint32_t known[RACE_WARPS];
    struct race_refs refs;
};

struct race_block {
    uint32_t serial;              // what cells of this block's run bear
    uint32_t linear, nwarps;
    uint32_t synced;              // all know all up to here
    uint32_t cleaned;             // and fenced it for others
    struct race_refs refs;
    struct race_warp *warps;
    struct race_barrier barriers[RACE_BARRIERS];
    struct race_cell *cells;      // of shared memory
    uint32_t warps_cap, cells_cap;
};

// ---- a launch --------------------------------------------------------------------

struct race_page;
struct race_shard {
    pthread_mutex_t lock;
    struct race_page **table;
    uint32_t n, cap;
};

struct races {
    struct race_shard shards[RACE_SHARDS];
    _Atomic uint64_t nbytes;      // of all pages
    pthread_mutex_t release_lock;
    struct race_log **logs;       // by address
    uint32_t nlogs, logs_cap;
    _Atomic uint32_t any_logs;    // nlogs, to be read without the lock
    uint64_t nclaims;
    uint64_t visit;               // of the walk in progress
    // Too much for the memory set aside: all counts as ordered.
    _Atomic bool blind;
};

// NULL when memory is exhausted: races are not looked for then.
struct races *races_new(void);
void races_free(struct races *);
// A launch begins, or has ended: nothing of another launch remains.
void races_clear(struct races *);

// What an instruction orders: for race.c alone, kept with what else is known
// of the instruction.
uint8_t race_order(const struct mem_access *);
// Enters an access by `lanes` and reports whom it races with.
void race_access(const struct event *, uint32_t lanes);

// ---- race_cells.c ------------------------------------------------------------------

// The page found last, its shard locked; all zero at first.
struct race_place {
    struct race_shard *shard;
    struct race_page *page;
    uint64_t number;
};
// The cell of a device address; NULL when there is no room.
struct race_cell *cell_of(struct races *, uint64_t addr, struct race_place *);
void place_leave(struct race_place *); // unlocks
void cells_clear(struct races *);

// ---- race_clocks.c -------------------------------------------------------------------

// False when the block is not watched for races.
bool race_block_begin(struct race_block *, const struct block_view *);
void race_block_free(struct race_block *);
void race_warp_sync(struct race_block *, uint32_t warp, uint32_t lanes);
void race_fence(struct race_block *, uint32_t warp, const struct ptx_inst *,
                uint32_t lanes);
void race_arrive(struct race_block *, uint32_t warp, uint32_t barrier,
                 bool waits);
void race_barrier_open(struct race_block *, uint32_t barrier, bool whole);
// Whether a thread knows another one of its block up to a time.
bool race_knows(const struct race_block *, uint32_t warp, unsigned lane,
                uint32_t thread, uint32_t time);

// ---- race_release.c ------------------------------------------------------------------

// The lane reads what others released at the location.
void race_acquire(struct races *, struct race_block *, uint32_t warp,
                  unsigned lane, uint64_t location, bool pending);
// The lane's store may be read by an acquire. now: it is a release itself;
// else it says what the lane's last fence covered, if there was one.
void race_release(struct races *, struct race_block *, uint32_t warp,
                  unsigned lane, uint64_t location, bool now);
// Whether an access came before through some release and acquire.
bool race_learned(struct races *, const struct race_block *, uint32_t warp,
                  unsigned lane, const struct race_record *, uint32_t block);
void releases_clear(struct races *);
void refs_add(struct race_refs *, const struct race_refs *);
void refs_settle(struct race_refs *); // none is pending any more
void refs_free(struct race_refs *);
