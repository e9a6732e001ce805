// The list of findings: one a (kernel, site, kind), with a count and the
// lowest block and thread that did it, whatever thread of the host ran first.
#include "locate.h"
#include "watch_state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *finding_name(enum finding_kind kind)
{
    static const char *const NAMES[] = {
        [FINDING_OUT_OF_BOUNDS] = "out-of-bounds",
        [FINDING_MISALIGNED] = "misaligned",
        [FINDING_USE_AFTER_FREE] = "use-after-free",
        [FINDING_WRONG_SPACE] = "wrong-space",
        [FINDING_UNINITIALIZED] = "uninitialized",
        [FINDING_LEAK] = "leak",
        [FINDING_BARRIER] = "barrier",
        [FINDING_DEADLOCK] = "deadlock",
        [FINDING_RACE] = "race",
        [FINDING_ASSERT] = "assert",
        [FINDING_TRAP] = "trap",
        [FINDING_INVALID] = "invalid",
        [FINDING_READ_ONLY] = "read-only",
        [FINDING_UNSUPPORTED] = "unsupported",
    };
    unsigned i = (unsigned)kind;
    return i < sizeof NAMES / sizeof *NAMES ? NAMES[i] : "unknown";
}

// ---- lists -----------------------------------------------------------------

// A new last element, zeroed; NULL when the list is as long as it may be.
static struct tally *tallies_push(struct tallies *t)
{
    if (t->n >= MAX_FINDINGS)
        return NULL;
    if (t->n == t->cap) {
        unsigned cap = t->cap ? 2 * t->cap : 8;
        struct tally *grown = realloc(t->list, cap * sizeof *grown);
        if (!grown)
            return NULL;
        t->list = grown;
        t->cap = cap;
    }
    struct tally *last = &t->list[t->n++];
    memset(last, 0, sizeof *last);
    return last;
}

void findings_clear(struct tallies *t)
{
    free(t->list);
    *t = (struct tallies){0};
}

// ---- recording, by one worker --------------------------------------------------

static struct tally *tally_of(struct worker *worker, const struct ptx_inst *inst,
                              enum finding_kind kind)
{
    for (unsigned i = 0; i < worker->tallies.n; i++) {
        struct tally *t = &worker->tallies.list[i];
        if (t->inst == inst && !t->other && t->finding.kind == kind)
            return t;
    }
    struct tally *fresh = tallies_push(&worker->tallies);
    if (fresh) {
        fresh->inst = inst;
        fresh->finding.kind = kind;
        fresh->block = fresh->thread = UINT64_MAX;
    }
    return fresh;
}

static bool is_before(const struct tally *a, const struct tally *b)
{
    return a->block != b->block ? a->block < b->block : a->thread < b->thread;
}

static void thread_index(const struct launch *launch, uint64_t linear,
                         uint32_t index[3])
{
    uint64_t x = launch->block[0] ? launch->block[0] : 1;
    uint64_t y = launch->block[1] ? launch->block[1] : 1;
    index[0] = (uint32_t)(linear % x);
    index[1] = (uint32_t)(linear / x % y);
    index[2] = (uint32_t)(linear / x / y);
}

static void fill_place(struct finding *f, const struct watch *w,
                       const struct ptx_inst *inst)
{
    const struct module *m = w->module;
    const struct ptx_loc *loc = inst && m ? finding_loc(m, inst->loc) : NULL;
    const char *name = w->launch->name;
    snprintf(f->kernel, sizeof f->kernel, "%s", name ? name : "");
    if (loc) {
        const char *file = loc->file < m->nfiles ? m->files[loc->file] : "";
        snprintf(f->file, sizeof f->file, "%s", file);
        f->line = loc->line;
    }
}

void finding_record(const struct event *e, struct what what,
                    const struct allocation *a)
{
    if (!(e->watch->active & WATCH_CHECK))
        return;
    struct tally *t = tally_of(e->worker, e->access->inst, what.kind);
    if (!t)
        return;
    struct finding *f = &t->finding;
    f->count++;
    f->fatal |= what.fatal;
    const struct block_view *block = e->warp->block;
    struct tally here = {.block = block->linear,
                         .thread = (uint64_t)e->warp->index * LANES + what.lane};
    if (!is_before(&here, t))
        return;
    t->block = here.block;
    t->thread = here.thread;
    memcpy(f->block, block->idx, sizeof f->block);
    thread_index(e->watch->launch, t->thread, f->thread);
    f->addr = e->access->addr[what.lane];
    f->nbytes = e->access->nbytes;
    f->distance = what.distance;
    f->message[0] = '\0';
    fill_place(f, e->watch, e->access->inst);
    describe(f, e, what, a);
}

// ---- races ---------------------------------------------------------------------

static struct tally *race_tally(struct worker *worker, const struct race *race)
{
    const struct ptx_inst *inst = race->later.inst, *other = race->earlier.inst;
    for (unsigned i = 0; i < worker->tallies.n; i++) {
        struct tally *t = &worker->tallies.list[i];
        if (t->inst == inst && t->other == other)
            return t;
    }
    struct tally *fresh = tallies_push(&worker->tallies);
    if (fresh) {
        fresh->inst = inst;
        fresh->other = other;
        fresh->finding.kind = FINDING_RACE;
        fresh->block = fresh->thread = UINT64_MAX;
    }
    return fresh;
}

static void block_index(const struct launch *launch, uint64_t linear,
                        uint32_t index[3])
{
    index[0] = (uint32_t)(linear % launch->grid[0]);
    index[1] = (uint32_t)(linear / launch->grid[0] % launch->grid[1]);
    index[2] = (uint32_t)(linear / launch->grid[0] / launch->grid[1]);
}

void finding_race(struct watch *w, struct worker *worker,
                  const struct race *race)
{
    struct tally *t = race_tally(worker, race);
    const struct race_side *later = &race->later;
    if (!t)
        return;
    struct finding *f = &t->finding;
    f->count++;
    struct tally here = {.block = later->block, .thread = later->thread};
    if (!is_before(&here, t))
        return;
    t->block = here.block;
    t->thread = here.thread;
    block_index(w->launch, later->block, f->block);
    thread_index(w->launch, later->thread, f->thread);
    f->addr = race->addr;
    f->nbytes = later->nbytes;
    f->message[0] = '\0';
    fill_place(f, w, later->inst);
    const struct ptx_loc *loc =
        w->module ? finding_loc(w->module, race->earlier.inst->loc) : NULL;
    char other[32] = "";
    t->other_line = loc ? loc->line : 0;
    if (loc)
        snprintf(other, sizeof other, "line %" PRIu32, loc->line);
    describe_race(f, w, race, other);
}

// ---- merging, at the end of a launch ---------------------------------------------

static bool same_place(const struct finding *a, const struct finding *b)
{
    return a->line == b->line && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->file, b->file) == 0;
}

// The same two lines, whichever comes first.
static bool same_pair(const struct tally *a, const struct tally *b)
{
    const struct finding *x = &a->finding, *y = &b->finding;
    if (strcmp(x->kernel, y->kernel) != 0 || strcmp(x->file, y->file) != 0)
        return false;
    if (x->line == 0)
        return a->inst == b->inst && a->other == b->other;
    return (x->line == y->line && a->other_line == b->other_line) ||
           (x->line == b->other_line && a->other_line == y->line);
}

// Without line information the instruction tells sites apart.
static bool same_site(const struct tally *a, const struct tally *b)
{
    if (a->other && b->other)
        return same_pair(a, b);
    return a->finding.kind == b->finding.kind &&
           same_place(&a->finding, &b->finding) &&
           (a->finding.line > 0 || a->inst == b->inst);
}

static struct tally *find_same(struct tallies *in, const struct tally *like)
{
    for (unsigned i = 0; i < in->n; i++)
        if (same_site(&in->list[i], like))
            return &in->list[i];
    return NULL;
}

// Both of one launch: the lower thread's words stay.
static void merge_within(struct tallies *all, const struct tally *t)
{
    struct tally *same = find_same(all, t);
    if (!same) {
        same = tallies_push(all);
        if (same)
            *same = *t;
        return;
    }
    uint64_t count = same->finding.count + t->finding.count;
    bool fatal = same->finding.fatal || t->finding.fatal;
    if (is_before(t, same))
        *same = *t;
    same->finding.count = count;
    same->finding.fatal = fatal;
}

static int by_thread(const void *a, const void *b)
{
    const struct tally *x = a, *y = b;
    if (is_before(x, y))
        return -1;
    if (is_before(y, x))
        return 1;
    uint32_t x_id = x->inst ? x->inst->id : 0, y_id = y->inst ? y->inst->id : 0;
    return x_id != y_id ? (x_id < y_id ? -1 : 1)
                        : (int)x->finding.kind - (int)y->finding.kind;
}

void findings_merge(struct watch *w)
{
    struct tallies all = {0};
    for (unsigned i = 0; i < w->nworkers; i++) {
        struct tallies *own = &w->workers[i].tallies;
        for (unsigned j = 0; j < own->n; j++)
            merge_within(&all, &own->list[j]);
        findings_clear(own);
    }
    if (all.n > 0)
        qsort(all.list, all.n, sizeof *all.list, by_thread);
    for (unsigned i = 0; i < all.n; i++) {
        struct tally *t = &all.list[i], *same = find_same(&w->found, t);
        if (same) {
            same->finding.count += t->finding.count;
            same->finding.fatal |= t->finding.fatal;
        } else if ((same = tallies_push(&w->found))) {
            *same = *t;
        }
    }
    findings_clear(&all);
}

// ---- the watch's list ------------------------------------------------------------

const struct finding *watch_findings(const struct watch *watch, unsigned *n)
{
    struct watch *w = (struct watch *)watch;
    *n = 0;
    struct finding *list = realloc(w->findings, (w->found.n + 1) * sizeof *list);
    if (!list)
        return NULL;
    w->findings = list;
    for (unsigned i = 0; i < w->found.n; i++)
        list[i] = w->found.list[i].finding;
    *n = w->found.n;
    return list;
}

void watch_clear(struct watch *w)
{
    findings_clear(&w->found);
}

// A fault knows only that an address was illegal; the check knows why.
static bool explains(enum finding_kind kind, enum finding_kind added)
{
    return kind == added || (added == FINDING_OUT_OF_BOUNDS &&
                             (kind == FINDING_USE_AFTER_FREE ||
                              kind == FINDING_WRONG_SPACE));
}

void watch_add(struct watch *w, const struct finding *f)
{
    for (unsigned i = 0; i < w->found.n; i++) {
        struct finding *known = &w->found.list[i].finding;
        if (f->kind != FINDING_LEAK && explains(known->kind, f->kind) &&
            same_place(known, f)) {
            known->fatal |= f->fatal;
            return;
        }
    }
    struct tally *t = tallies_push(&w->found);
    if (t)
        t->finding = *f;
}

void findings_count(struct watch *w, const struct finding *f)
{
    for (unsigned i = 0; i < w->found.n; i++) {
        struct finding *known = &w->found.list[i].finding;
        if (known->kind == f->kind && same_place(known, f)) {
            known->count++;
            return;
        }
    }
    struct tally *t = tallies_push(&w->found);
    if (t) {
        t->finding = *f;
        t->finding.count = 1;
    }
}

// ---- leaks -------------------------------------------------------------------

struct leak_search {
    struct watch *watch;
    unsigned n;
};

static void visit_live(void *self, const struct allocation *a)
{
    struct leak_search *search = self;
    if (a->kind == ALLOC_IMPORTED || a->kind == ALLOC_VARIABLE)
        return;
    struct finding f = {.kind = FINDING_LEAK, .addr = a->base,
                        .nbytes = a->nbytes, .count = 1};
    describe_leak(&f, a);
    watch_add(search->watch, &f);
    search->n++;
}

unsigned watch_leaks(struct watch *w)
{
    struct leak_search search = {w, 0};
    memory_each(w->memory, visit_live, &search);
    return search.n;
}
