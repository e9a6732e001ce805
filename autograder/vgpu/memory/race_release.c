// What threads learn through a location of memory: a store behind a fence (or
// one that is a release itself), which another thread reads before a fence or
// a barrier of its own (or by an acquire). Locks, flags and counters of
// arrivals order threads in this way, over blocks, too.
//
// A location's log keeps what each release said that its thread knew. Who
// reads the location refers to the log as long as it is then, which costs
// nothing however much is known; only a look for an order that is not plain
// goes through logs, and on to logs that the releasing threads referred to.
#include "race.h"

#include <stdlib.h>
#include <string.h>

enum {
    MAX_CLAIMS = 1 << 18, // of a launch
    MAX_STEPS = 4096,     // of one walk; further off counts as ordered
    MAX_REFS = 256,       // of a thread
    NOT_CLAIMED = -1,
};

// A log that a releasing thread referred to when the log had `at` claims.
struct nested_ref {
    struct race_ref ref;
    uint32_t at;
};

struct race_log {
    uint64_t location;
    struct race_claim *claims;
    uint32_t n, cap;
    uint32_t *latest, latest_cap; // by block, hashed: index of a claim, plus 1
    uint32_t nblocks;
    struct nested_ref *nested;
    uint32_t nnested, nested_cap;
    uint64_t visit;               // the last walk that came here,
    uint32_t visited;             // and how many claims it saw
};

static uint32_t hash_of(uint64_t key, uint32_t cap)
{
    return (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (cap - 1);
}

// Room for one more element; false when memory is exhausted.
static bool reserve(void **list, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    uint32_t wanted = *cap ? 2 * *cap : 4;
    void *grown = realloc(*list, wanted * size);
    if (!grown)
        return false;
    *list = grown;
    *cap = wanted;
    return true;
}

// ---- references ------------------------------------------------------------

static void ref_add(struct race_refs *refs, struct race_ref ref)
{
    for (uint32_t k = 0; k < refs->n; k++) {
        struct race_ref *same = &refs->list[k];
        if (same->log != ref.log || same->pending != ref.pending)
            continue;
        if (same->nclaims < ref.nclaims)
            same->nclaims = ref.nclaims;
        return;
    }
    // The oldest makes room: its releases are old as well.
    if (refs->n == MAX_REFS)
        memmove(refs->list, refs->list + 1, --refs->n * sizeof *refs->list);
    if (reserve((void **)&refs->list, refs->n, &refs->cap, sizeof ref))
        refs->list[refs->n++] = ref;
}

void refs_add(struct race_refs *to, const struct race_refs *from)
{
    for (uint32_t k = 0; k < from->n; k++)
        ref_add(to, from->list[k]);
}

void refs_settle(struct race_refs *refs)
{
    for (uint32_t k = 0; k < refs->n; k++)
        refs->list[k].pending = false;
}

void refs_free(struct race_refs *refs)
{
    free(refs->list);
    *refs = (struct race_refs){0};
}

// ---- logs by location --------------------------------------------------------

static bool grow_logs(struct races *r)
{
    uint32_t cap = r->logs_cap ? 2 * r->logs_cap : 64;
    struct race_log **logs = calloc(cap, sizeof *logs);
    if (!logs)
        return false;
    for (uint32_t k = 0; k < r->logs_cap; k++) {
        if (!r->logs[k])
            continue;
        uint32_t slot = hash_of(r->logs[k]->location, cap);
        while (logs[slot])
            slot = (slot + 1) & (cap - 1);
        logs[slot] = r->logs[k];
    }
    free(r->logs);
    r->logs = logs;
    r->logs_cap = cap;
    return true;
}

static struct race_log *log_find(struct races *r, uint64_t location, bool make)
{
    if (make && 2 * r->nlogs >= r->logs_cap && !grow_logs(r))
        return NULL;
    if (!r->logs_cap)
        return NULL;
    uint32_t slot = hash_of(location, r->logs_cap);
    while (r->logs[slot] && r->logs[slot]->location != location)
        slot = (slot + 1) & (r->logs_cap - 1);
    if (r->logs[slot] || !make)
        return r->logs[slot];
    struct race_log *log = calloc(1, sizeof *log);
    if (!log)
        return NULL;
    log->location = location;
    r->logs[slot] = log;
    r->any_logs = ++r->nlogs;
    return log;
}

void releases_clear(struct races *r)
{
    for (uint32_t k = 0; k < r->logs_cap; k++) {
        if (!r->logs[k])
            continue;
        free(r->logs[k]->claims);
        free(r->logs[k]->latest);
        free(r->logs[k]->nested);
        free(r->logs[k]);
    }
    free(r->logs);
    r->logs = NULL;
    r->any_logs = r->nlogs = r->logs_cap = 0;
    r->nclaims = 0;
}

// ---- claims of a log ------------------------------------------------------------

// Where the index of a block's latest claim stands, or would.
static uint32_t *latest_of(const struct race_log *log, uint32_t block)
{
    uint32_t slot = hash_of(block, log->latest_cap);
    while (log->latest[slot] &&
           log->claims[log->latest[slot] - 1].block != block)
        slot = (slot + 1) & (log->latest_cap - 1);
    return &log->latest[slot];
}

static bool grow_latest(struct race_log *log)
{
    struct race_log old = *log;
    uint32_t cap = old.latest_cap ? 2 * old.latest_cap : 8;
    uint32_t *latest = calloc(cap, sizeof *latest);
    if (!latest)
        return false;
    log->latest = latest;
    log->latest_cap = cap;
    for (uint32_t k = 0; k < old.latest_cap; k++)
        if (old.latest[k])
            *latest_of(log, log->claims[old.latest[k] - 1].block) =
                old.latest[k];
    free(old.latest);
    return true;
}

// False when memory is exhausted. more: with it came new references.
static bool log_add(struct race_log *log, struct race_claim claim, bool more)
{
    if (2 * log->nblocks >= log->latest_cap && !grow_latest(log))
        return false;
    uint32_t *latest = latest_of(log, claim.block);
    claim.before = *latest ? *latest - 1 : (uint32_t)NOT_CLAIMED;
    if (*latest) { // it may say nothing new: a thread that tries again
        claim.before = log->claims[*latest - 1].before;
        if (!more &&
            memcmp(&log->claims[*latest - 1], &claim, sizeof claim) == 0)
            return true;
        claim.before = *latest - 1;
    }
    if (!reserve((void **)&log->claims, log->n, &log->cap, sizeof claim))
        return false;
    log->nblocks += *latest == 0;
    log->claims[log->n++] = claim;
    *latest = log->n;
    return true;
}

static bool log_nest(struct race_log *log, const struct race_refs *refs)
{
    for (uint32_t k = 0; k < refs->n; k++) {
        struct race_ref ref = refs->list[k];
        const struct nested_ref *last =
            log->nnested ? &log->nested[log->nnested - 1] : NULL;
        if (ref.log == log || ref.pending ||
            (last && last->ref.log == ref.log &&
             last->ref.nclaims == ref.nclaims))
            continue;
        if (!reserve((void **)&log->nested, log->nnested, &log->nested_cap,
                     sizeof *log->nested))
            return false;
        log->nested[log->nnested++] = (struct nested_ref){ref, log->n};
    }
    return true;
}

// ---- release and acquire ----------------------------------------------------------

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void fill_claim(struct race_claim *c, const struct race_block *b,
                       uint32_t warp, unsigned lane, bool now)
{
    const struct race_warp *w = &b->warps[warp];
    const struct race_fence *f = &w->fence[lane];
    memset(c, 0, sizeof *c); // bytes between members are compared, too
    c->block = b->linear;
    c->warp = warp;
    memcpy(c->warp_time, w->others, sizeof c->warp_time);
    c->block_time = now ? b->synced : later(f->block_time, b->cleaned);
    for (unsigned l = 0; l < RACE_LANES; l++) {
        uint32_t known = later(w->synced, w->parted ? w->known[lane][l] : 0);
        c->lane_time[l] = now ? known : later(f->lane_time[l], w->cleaned);
    }
    if (now)
        c->lane_time[lane] = w->now;
    c->this_block_only = !now && !(w->fenced_wide >> lane & 1);
}

void race_release(struct races *r, struct race_block *b, uint32_t warp,
                  unsigned lane, uint64_t location, bool now)
{
    struct race_warp *w = &b->warps[warp];
    struct race_claim claim;
    if (!now && !(w->fenced >> lane & 1))
        return;
    fill_claim(&claim, b, warp, lane, now);
    pthread_mutex_lock(&r->release_lock);
    struct race_log *log = log_find(r, location, true);
    uint32_t nested = log ? log->nnested : 0;
    uint32_t before = log ? log->n + nested : 0;
    if (!log || r->nclaims > MAX_CLAIMS || !log_nest(log, &b->refs) ||
        !log_nest(log, &w->refs) || !log_nest(log, &w->lane_refs[lane]) ||
        !log_add(log, claim, log->nnested > nested))
        r->blind = true;
    else
        r->nclaims += log->n + log->nnested - before;
    pthread_mutex_unlock(&r->release_lock);
}

void race_acquire(struct races *r, struct race_block *b, uint32_t warp,
                  unsigned lane, uint64_t location, bool pending)
{
    struct race_warp *w = &b->warps[warp];
    if (r->any_logs == 0)
        return;
    pthread_mutex_lock(&r->release_lock);
    struct race_log *log = log_find(r, location, false);
    if (log && log->n > 0) {
        ref_add(&w->lane_refs[lane], (struct race_ref){log, log->n, pending});
        w->with_refs |= UINT32_C(1) << lane;
    }
    pthread_mutex_unlock(&r->release_lock);
}

// ---- looking for an order ------------------------------------------------------------

struct walk {
    uint64_t visit;
    uint32_t steps;
    uint32_t block, thread, time; // the access to be found
    uint32_t from;                // the block that looks
};

static bool covers(const struct race_claim *c, const struct walk *walk)
{
    if (c->this_block_only && c->block != walk->from)
        return false;
    if (walk->time <= c->block_time)
        return true;
    uint32_t warp = walk->thread / RACE_LANES;
    return walk->time <= (warp == c->warp
                              ? c->lane_time[walk->thread % RACE_LANES]
                              : c->warp_time[warp]);
}

static bool walk_log(struct race_log *log, uint32_t nclaims, struct walk *walk)
{
    if (log->visit == walk->visit && log->visited >= nclaims)
        return false;
    log->visit = walk->visit;
    log->visited = nclaims;
    uint32_t k = *latest_of(log, walk->block);
    for (k--; k != (uint32_t)NOT_CLAIMED; k = log->claims[k].before) {
        if (++walk->steps > MAX_STEPS)
            return true;
        if (k < nclaims && covers(&log->claims[k], walk))
            return true;
    }
    for (uint32_t n = 0; n < log->nnested; n++) {
        const struct nested_ref *nested = &log->nested[n];
        if (++walk->steps > MAX_STEPS)
            return true;
        if (nested->at < nclaims &&
            walk_log(nested->ref.log, nested->ref.nclaims, walk))
            return true;
    }
    return false;
}

static bool walk_refs(const struct race_refs *refs, struct walk *walk)
{
    for (uint32_t k = 0; k < refs->n; k++)
        if (!refs->list[k].pending &&
            walk_log(refs->list[k].log, refs->list[k].nclaims, walk))
            return true;
    return false;
}

bool race_learned(struct races *r, const struct race_block *b, uint32_t warp,
                  unsigned lane, const struct race_record *record,
                  uint32_t block)
{
    const struct race_warp *w = &b->warps[warp];
    if (r->any_logs == 0)
        return false;
    pthread_mutex_lock(&r->release_lock);
    struct walk walk = {.visit = ++r->visit, .block = block,
                        .thread = record->thread, .time = record->time,
                        .from = b->linear};
    bool found = walk_refs(&b->refs, &walk) || walk_refs(&w->refs, &walk) ||
                 walk_refs(&w->lane_refs[lane], &walk);
    pthread_mutex_unlock(&r->release_lock);
    return found;
}
