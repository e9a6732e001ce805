// What a watch keeps: for the launch, for each worker thread, for each block
// that runs. Workers touch nothing of each other but the L2 queue.
#pragma once

#include "access.h"
#include "cache.h"
#include "race.h"
#include "space.h"
#include "watch.h"

// An instruction of memory as one worker knows it: the allocation it reached
// last, so that the next access to it costs two comparisons.
struct site {
    const struct ptx_inst *inst;
    uint64_t lo, hi;       // the live allocation's bytes; lo == hi: none yet
    bool read_only;
    bool heap;             // of device malloc: free and malloc order threads
    uint8_t order;         // race_order
    bool past_l1;          // .cg, .cv, .volatile and the like: L2 answers
};

enum { SITES = 256, MAX_FINDINGS = 1024 };

// A finding on its way: of one worker, or merged.
struct tally {
    struct finding finding;
    const struct ptx_inst *inst;
    const struct ptx_inst *other; // races: the instruction raced with,
    uint32_t other_line;          // its line, or 0
    uint64_t block;        // linear, of the first thread
    uint64_t thread;       // linear in the block
};

struct tallies {
    struct tally *list;
    unsigned n, cap;
};

struct block_state {
    struct block_state *next;   // of the worker that made it
    struct block_state *next_free;
    struct trace trace;
    struct l1 l1;
    uint8_t *shared_shadow;     // enum writer, a byte a byte
    uint32_t shared_cap;
    bool races;                 // the block is watched for them
    struct race_block race;
};

struct worker {
    struct access_counters counters;
    struct site sites[SITES];
    struct tallies tallies;
    struct block_state *blocks, *free_blocks;
} __attribute__((aligned(64)));

// Traces on their way to L2.
struct l2_queue {
    pthread_mutex_t lock;
    struct l2 *l2;              // of the launch's device, or NULL
    struct l2_counts counts;
    uint64_t next_block;        // all below are fed
    struct trace *waiting;      // by block
    unsigned nwaiting;
    bool by_block;              // else as they come
};

struct watch {
    struct watcher callbacks;
    struct memory *memory;
    unsigned flags, active; // wanted; in this launch, less what failed
    const struct module *module;
    const struct launch *launch;
    struct worker *workers;
    unsigned nworkers;
    uint64_t l1_bytes;          // a block's share
    struct l2 l2[VGPU_MAX_DEVICES];
    struct l2_queue queue;
    struct access_counters counters; // of the last launch
    struct races *races;        // made by the first launch that is checked
    struct tallies found;
    struct finding *findings;   // the same, as handed out
};

// What a check needs to know of the access at hand.
struct event {
    struct watch *watch;
    struct worker *worker;
    struct warp_view *warp;
    const struct mem_access *access;
    const struct shape *shape;
    struct site *site;
};

// ---- check.c ---------------------------------------------------------------

// Lanes that must not perform the access.
uint32_t check_global(const struct event *);
void check_shared(const struct event *, uint8_t *shadow);

// ---- findings.c --------------------------------------------------------------

struct what {
    enum finding_kind kind;
    unsigned lane;
    int64_t distance;
    bool fatal;
};
// Counts it, and describes it when it is the first of its kind at the
// instruction, by block and thread. a: the allocation nearest, or NULL.
void finding_record(const struct event *, struct what, const struct allocation *);
// One of two accesses that race.
struct race_side {
    const struct ptx_inst *inst;
    enum access_kind kind;
    uint32_t thread, nbytes;
    uint64_t block;        // linear
};
struct race {
    struct race_side earlier, later; // in the time of their threads
    bool shared;
    uint64_t addr;
};
void finding_race(struct watch *, struct worker *, const struct race *);
// At the end of a launch: workers' findings become the watch's.
void findings_merge(struct watch *);
void findings_clear(struct tallies *);
// Counts one that the executor found, which tells each site once a launch.
void findings_count(struct watch *, const struct finding *);

// ---- describe.c --------------------------------------------------------------

void describe(struct finding *, const struct event *, struct what,
              const struct allocation *);
// other: the place of the earlier access, "line 12", or "" when unknown.
void describe_race(struct finding *, const struct watch *, const struct race *,
                   const char *other);
void describe_leak(struct finding *, const struct allocation *);
