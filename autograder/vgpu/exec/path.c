// Lanes that go together (paths), and where they meet again (joins).
//
//            path A (lanes 0-31)
//             |  branch: lanes part, a join is made for the instruction
//             |  where both ways meet (its immediate post-dominator)
//        +----+----+
//     path A     path B       A.join = B.join = the join
//     0-15       16-31        its parent is A's join before the branch
//        |         |
//        +----+----+          lanes that reach the join wait in it; when the
//             |               last one of those expected comes, one path goes
//           path              on with all of them
//
// A call is a join, too, whose place is the function's end. Exiting lanes
// leave every join that expects them. Lanes in a join can be released before
// the others come, when these are blocked: each then goes on alone and meets
// the others again at the next join out.
#include <stdlib.h>
#include <string.h>

#include "control.h"

enum { MAX_DEPTH = 4096, MAX_STACK_BYTES = 256 << 20 };

static struct warp_control *control_of(struct warp *w)
{
    return w->control;
}

struct path *path_current(struct warp *w)
{
    struct warp_control *c = control_of(w);
    return &c->paths[c->current];
}

void path_set_mask(struct warp *w, uint32_t mask)
{
    struct warp_control *c = control_of(w);
    if (mask == w->mask && c->live == c->told_live)
        return;
    unsigned active = (unsigned)__builtin_popcount(mask);
    unsigned lost = (unsigned)__builtin_popcount(c->live) - active;
    w->mask = mask;
    w->partial = mask != ALL_LANES;
    w->tally = active | (uint64_t)lost << 32;
    bits_row(c->active_row, mask);
    w->mask_row = c->active_row;
    c->told_live = c->live;
}

// ---- joins -----------------------------------------------------------------

static struct join *join_new(struct warp *w, struct join value)
{
    struct worker *worker = w->worker;
    struct join *j = worker->free_joins;
    if (j)
        worker->free_joins = j->parent;
    else
        j = malloc(sizeof *j);
    if (j)
        *j = value;
    return j;
}

static void join_free(struct warp *w, struct join *j)
{
    j->parent = w->worker->free_joins;
    w->worker->free_joins = j;
}

// ---- frames ----------------------------------------------------------------

static void fill_constants(const struct warp *w, struct frame *f)
{
    const struct launch_state *state = w->block->worker->state;
    const struct function *fn = f->function;
    for (uint32_t k = 0; k < fn->nconstants; k++) {
        const struct constant *c = &fn->constants[k];
        uint64_t value = c->bits;
        if (c->kind == CONSTANT_VAR)
            value += state->launch->var_addr[c->index];
        else if (c->kind == CONSTANT_DYNAMIC)
            value += state->dynamic_base;
        else if (c->kind == CONSTANT_LOCAL)
            value += f->local_base;
        uint32_t *words = (uint32_t *)(f->rows + c->row);
        uint64_t *wides = (uint64_t *)(f->rows + c->row);
        for (unsigned l = 0; l < WARP_LANES; l++) {
            if (c->wide)
                wides[l] = value;
            else
                words[l] = (uint32_t)value;
        }
    }
}

static void fill_specials(const struct warp *w, struct frame *f)
{
    for (uint32_t k = 0; k < f->function->nspecials; k++)
        special_fill(w, f->function->specials[k].special,
                     f->rows + f->function->specials[k].row);
}

// Those that the block before did not leave as they must be.
static void fill_block_specials(const struct warp *w, struct frame *f)
{
    for (uint32_t k = 0; k < f->function->nspecials; k++)
        if (special_is_of_block(f->function->specials[k].special))
            special_fill(w, f->function->specials[k].special,
                         f->rows + f->function->specials[k].row);
}

static size_t round64(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

// A frame with its rows and its parameters behind it, zeroed.
static struct frame *frame_new(const struct function *fn)
{
    size_t head = round64(sizeof(struct frame)), rows = round64(fn->frame_bytes);
    size_t params = (size_t)fn->param_stride * WARP_LANES;
    size_t total = round64(head + rows + params);
    uint8_t *p = aligned_alloc(64, total);
    if (!p)
        return NULL;
    memset(p, 0, total);
    struct frame *f = (struct frame *)p;
    f->function = fn;
    f->rows = p + head;
    f->params = p + head + rows;
    return f;
}

struct frame *frame_for_kernel(struct warp *w, const struct function *fn)
{
    struct frame *f = frame_new(fn);
    if (f) {
        fill_constants(w, f);
        fill_specials(w, f);
    }
    return f;
}

static struct frame **free_list(struct warp *w, const struct function *fn)
{
    return &w->worker->free_frames[fn - fn->code->functions];
}

static struct frame *frame_take(struct warp *w, const struct function *fn)
{
    struct frame **list = free_list(w, fn), *f = *list;
    if (!f)
        return frame_new(fn);
    *list = f->next_free;
    return f;
}

static void frame_free(struct warp *w, struct frame *f)
{
    struct frame **list = free_list(w, f->function);
    f->next_free = *list;
    *list = f;
}

// ---- the paths of a warp -----------------------------------------------------

static struct path *path_add(struct warp_control *c, struct path value)
{
    // Paths have lanes of their own, so that 32 places are enough.
    c->paths[c->npaths] = value;
    return &c->paths[c->npaths++];
}

// The current path is no more (its lanes wait in a join, or have ended).
static const struct inst *path_end(struct warp *w)
{
    struct warp_control *c = control_of(w);
    c->paths[c->current] = c->paths[--c->npaths];
    w->stop = STOP_PATH;
    return NULL;
}

// Goes on with a join that has all its lanes, or none left to expect.
static void join_settle(struct warp_control *c, struct join *j)
{
    while (j && j->arrived == j->expected) {
        struct join *parent = j->parent;
        if (j->arrived) {
            struct path p = {.mask = j->arrived, .join = parent};
            p.frame = j->pc ? j->frame : j->frame->caller;
            p.pc = j->pc ? j->pc + 1 : j->frame->resume;
            if (!j->pc)
                frame_free(&c->w, j->frame);
            path_add(c, p);
            join_free(&c->w, j);
            return;
        }
        if (!j->pc)
            frame_free(&c->w, j->frame);
        join_free(&c->w, j);
        j = parent;
    }
}

// Lanes will not come to `j` nor to those around it, up to `last`.
static void joins_forget(struct warp_control *c, struct join *j,
                         struct join *last, uint32_t lanes)
{
    struct join *first = j;
    for (; j != last; j = j->parent)
        j->expected &= ~lanes;
    if (first != last)
        join_settle(c, first);
}

static const struct inst *join_arrive(struct warp *w, struct join *j)
{
    struct warp_control *c = control_of(w);
    struct path *p = path_current(w);
    uint32_t lanes = p->mask;
    if (lanes == j->expected) { // all at once: the path itself goes on
        struct frame *left = j->pc ? NULL : j->frame;
        const struct inst *next = j->pc ? j->pc + 1 : j->frame->resume;
        p->join = j->parent;
        if (left) {
            p->frame = left->caller;
            w->frame = p->frame->rows;
            frame_free(w, left);
        }
        join_free(w, j);
        return next;
    }
    path_end(w);
    j->arrived |= lanes;
    join_settle(c, j);
    return NULL;
}

const struct inst *path_meet(struct warp *w, const struct inst *i)
{
    struct join *j = path_current(w)->join;
    if (!j || j->pc != i || j->frame != path_current(w)->frame)
        return i + 1;
    return join_arrive(w, j);
}

const struct inst *path_split(struct warp *w, uint32_t taken,
                              const struct inst *target,
                              const struct inst *next, const struct inst *meet)
{
    struct warp_control *c = control_of(w);
    struct path *p = path_current(w);
    struct join *j = p->join;
    // Lanes that leave a loop one after the other meet in one join.
    if (meet && !(j && j->pc == meet && j->frame == p->frame)) {
        j = join_new(w, (struct join){meet, p->frame, p->join, p->mask, 0});
        if (!j)
            return warp_fault(w, next, LAUNCH_OUT_OF_MEMORY, 0, 0,
                              "the host ran out of memory");
    }
    p->join = j;
    struct path other = *p;
    other.mask = taken;
    other.pc = target;
    p->mask &= ~taken;
    path_add(c, other);
    path_set_mask(w, p->mask);
    return next;
}

// ---- calls and returns ---------------------------------------------------------

static bool stack_fits(const struct warp *w, const struct frame *caller,
                       const struct function *fn)
{
    uint64_t local = caller->local_base + caller->function->src->local_bytes +
                     fn->src->local_bytes + 16;
    return caller->depth < MAX_DEPTH && local <= w->local_bytes &&
           (uint64_t)(caller->depth + 1) * fn->frame_bytes < MAX_STACK_BYTES;
}

const struct inst *path_call(struct warp *w, const struct inst *i,
                             const struct function *fn)
{
    struct path *p = path_current(w);
    unsigned lane = (unsigned)__builtin_ctz(p->mask);
    if (!stack_fits(w, p->frame, fn))
        return warp_fault(w, i, LAUNCH_ILLEGAL_ADDRESS, lane, 0,
                          "the call stack of a thread is used up: %s calls "
                          "itself too deeply", fn->src->name);
    struct frame *f = frame_take(w, fn);
    struct join *end = f ? join_new(w, (struct join){NULL, f, p->join, p->mask,
                                                     0}) : NULL;
    if (!end) {
        free(f);
        return warp_fault(w, i, LAUNCH_OUT_OF_MEMORY, lane, 0,
                          "the host ran out of memory for call frames");
    }
    f->caller = p->frame;
    f->resume = i + 1;
    f->end = end;
    f->depth = p->frame->depth + 1;
    f->site = &p->frame->function->calls[i->imm];
    uint64_t local = p->frame->local_base + p->frame->function->src->local_bytes;
    f->local_base = (uint32_t)((local + 15) & ~UINT64_C(15));
    fill_constants(w, f);
    fill_specials(w, f);
    p->frame = f;
    p->join = end;
    w->frame = f->rows;
    return fn->insts;
}

// The results of a call, from the callee's frame to the caller's.
static void copy_results(struct frame *f, uint32_t mask)
{
    const struct function *from = f->function, *to = f->caller->function;
    for (uint32_t k = 0; k < f->site->nresults && k < from->src->nresults;
         k++) {
        uint32_t at = f->site->results[k];
        uint64_t n = from->src->params[k].nbytes;
        uint64_t room = function_param(to, at)->nbytes;
        n = n < room ? n : room;
        for (unsigned l = 0; l < WARP_LANES; l++)
            if (mask >> l & 1)
                memcpy(f->caller->params + (size_t)l * to->param_stride +
                           to->param_at[at],
                       f->params + (size_t)l * from->param_stride +
                           from->param_at[k],
                       n);
    }
}

const struct inst *path_return(struct warp *w, const struct inst *i)
{
    struct warp_control *c = control_of(w);
    struct path *p = path_current(w);
    struct frame *f = p->frame;
    (void)i;
    if (!f->caller)
        return path_exit(w);
    copy_results(f, p->mask);
    // A join of this call that the lanes never came to expects them no more.
    if (p->join != f->end) {
        struct join *inner = p->join;
        p->join = f->end;
        joins_forget(c, inner, f->end, p->mask);
    }
    return join_arrive(w, f->end);
}

const struct inst *path_exit(struct warp *w)
{
    struct warp_control *c = control_of(w);
    struct path *p = path_current(w);
    uint32_t lanes = p->mask;
    struct join *j = p->join;
    c->live &= ~lanes;
    w->past_barrier &= ~lanes;
    path_end(w);
    joins_forget(c, j, NULL, lanes);
    return NULL;
}

const struct inst *path_wait(struct warp *w, const struct inst *i,
                             enum path_state state)
{
    struct path *p = path_current(w);
    p->pc = i;
    p->state = state;
    w->stop = STOP_PATH;
    return NULL;
}

const struct inst *path_yield(struct warp *w, const struct inst *next,
                              enum stop why)
{
    struct warp_control *c = control_of(w);
    struct path p = *path_current(w);
    p.pc = next;
    // Last in path_pick's order.
    memmove(c->paths + 1, c->paths, c->current * sizeof *c->paths);
    c->paths[0] = p;
    c->current = 0;
    w->stop = why;
    return NULL;
}

// ---- the scheduler's side --------------------------------------------------------

bool path_pick(struct warp_control *c)
{
    // The youngest first: inner parts of a branch before outer ones.
    for (uint32_t k = c->npaths; k-- > 0;) {
        struct path *p = &c->paths[k];
        if (p->state != PATH_READY)
            continue;
        c->current = k;
        c->w.frame = p->frame->rows;
        path_set_mask(&c->w, p->mask);
        return true;
    }
    return false;
}

static unsigned join_depth(const struct join *j)
{
    unsigned n = 0;
    for (; j; j = j->parent)
        n++;
    return n;
}

// The join furthest in that has lanes waiting. Every join that is alive is on
// the chain of some path.
static struct join *innermost_waiting(const struct warp_control *c)
{
    struct join *best = NULL;
    unsigned best_depth = 0;
    for (uint32_t k = 0; k < c->npaths; k++) {
        unsigned depth = join_depth(c->paths[k].join);
        for (struct join *j = c->paths[k].join; j; j = j->parent, depth--)
            if (j->arrived && depth > best_depth) {
                best = j;
                best_depth = depth;
            }
    }
    return best;
}

bool path_release(struct warp_control *c, bool past_barrier)
{
    struct join *j = innermost_waiting(c);
    if (!j)
        return false;
    uint32_t lanes = j->arrived;
    struct path p = {.mask = lanes, .join = j->parent};
    p.frame = j->pc ? j->frame : j->frame->caller;
    p.pc = j->pc ? j->pc + 1 : j->frame->resume;
    j->expected &= ~lanes;
    j->arrived = 0;
    path_add(c, p);
    if (past_barrier)
        c->w.past_barrier |= lanes;
    return true;
}

void warp_start(struct warp_control *c, uint32_t live)
{
    struct warp *w = &c->w;
    fill_block_specials(w, c->kernel_frame);
    c->status = WARP_READY;
    c->live = live;
    c->npaths = 0;
    w->past_barrier = 0;
    w->spins = w->long_spins = 0;
    w->polled = false;
    path_add(c, (struct path){.mask = live,
                              .pc = c->kernel_frame->function->insts,
                              .frame = c->kernel_frame});
}

void warp_drop(struct warp_control *c)
{
    // Lanes leave as if they exited; waiting ones are put on paths first.
    while (path_release(c, false))
        ;
    while (c->npaths > 0) {
        c->current = c->npaths - 1;
        path_exit(&c->w);
        while (path_release(c, false))
            ;
    }
    c->status = WARP_DONE;
}

void path_free_pools(struct worker *worker, uint32_t nfunctions)
{
    for (struct join *j = worker->free_joins, *next; j; j = next) {
        next = j->parent;
        free(j);
    }
    for (uint32_t k = 0; k < nfunctions; k++) {
        for (struct frame *f = worker->free_frames[k], *next; f; f = next) {
            next = f->next_free;
            free(f);
        }
    }
}
