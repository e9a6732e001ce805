// Handlers of branches, calls and exits (PTX ISA 9.7.12), and of the
// instructions that the decoder puts between the program's own.
#include <string.h>

#include "decode.h"

enum {
    SPIN_LIMIT = 100,         // back-edges that saw nothing new
    LONG_LIMIT = 1 << 20,     // back-edges of any kind
};

static void hide(struct warp *w)
{
    w->hidden++;
    w->hidden_tally += w->tally;
}

// ---- branches ----------------------------------------------------------------

// A loop that only looks at what others may change lets them go first: lanes
// of its warp that wait for it in a join, other paths, other warps.
static const struct inst *spin(struct warp *w, const struct inst *target)
{
    w->spins = 0;
    path_yield(w, target, STOP_SPIN);
    path_release(w->control, false);
    return NULL;
}

static const struct inst *back_edge(struct warp *w, const struct inst *target)
{
    if (w->polled) {
        w->polled = false;
        if (++w->spins >= SPIN_LIMIT)
            return spin(w, target);
    }
    // Even what does not look like waiting may be (a plain load in a loop).
    if (++w->long_spins >= LONG_LIMIT) {
        w->long_spins = 0;
        path_yield(w, target, STOP_SWITCH);
        path_release(w->control, false);
        return NULL;
    }
    return target;
}

static const struct inst *branch_to(struct warp *w, const struct inst *i)
{
    const struct inst *target = i + i->imm;
    return i->flags & BRANCH_BACK ? back_edge(w, target) : target;
}

static const struct inst *meeting_place(const struct inst *i)
{
    return i->c == NO_JOIN ? NULL : i + (int32_t)i->c;
}

static uint32_t guard_lanes(const struct warp *w, const struct inst *i)
{
    uint32_t bits = row_bits(warp_row(w, i->a));
    return w->mask & (i->flags & BRANCH_NEGATED ? ~bits : bits);
}

const struct inst *bra(struct warp *w, const struct inst *i)
{
    w->control->branches++;
    if (!(i->flags & BRANCH_GUARDED))
        return branch_to(w, i);
    uint32_t taken = guard_lanes(w, i);
    if (taken == 0)
        return i + 1;
    if (taken == w->mask)
        return branch_to(w, i);
    w->control->divergent++;
    return path_split(w, taken, i + i->imm, i + 1, meeting_place(i));
}

// brx.idx: lanes of one target together, in the order of the lowest lane.
const struct inst *brx(struct warp *w, const struct inst *i)
{
    const struct function *f = path_current(w)->frame->function;
    const struct ptx_table *table = &f->src->tables[i->imm];
    const uint32_t *index = warp_row(w, i->a);
    w->control->branches++;
    for (bool first = true;; first = false) {
        unsigned lane = (unsigned)__builtin_ctz(w->mask);
        if (index[lane] >= table->ntargets)
            return warp_fault(w, i, LAUNCH_ILLEGAL_INSTRUCTION, lane, 0,
                              "brx.idx: target %u of %u", index[lane],
                              table->ntargets);
        const struct inst *target =
            f->insts + f->start[table->targets[index[lane]]];
        uint32_t same = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            same |= (uint32_t)(index[l] == index[lane]) << l;
        same &= w->mask;
        if (same == w->mask)
            return target;
        w->control->divergent += first;
        if (!path_split(w, same, target, i, meeting_place(i)))
            return NULL;
    }
}

// @p before an instruction that blocks or parts paths: the others go round.
const struct inst *guard_branch(struct warp *w, const struct inst *i)
{
    hide(w);
    uint32_t on = guard_lanes(w, i);
    const struct inst *join = i + i->imm;
    if (on == w->mask)
        return i + 1;
    if (on == 0)
        return join;
    return path_split(w, w->mask & ~on, join, i + 1, join);
}

// @p before any other: it runs here, with the lanes of p.
const struct inst *guard_next(struct warp *w, const struct inst *i)
{
    uint32_t on = guard_lanes(w, i), mask = w->mask;
    if (on == mask)
        return i[1].fn[w->partial](w, i + 1);
    unsigned off = (unsigned)__builtin_popcount(mask & ~on);
    w->guarded_off += off;
    if (w->counts)
        w->counts[i->id].lanes -= off;
    if (on == 0)
        return i + 2;
    const uint32_t *row = w->mask_row;
    uint32_t partial = w->partial;
    bits_row(w->control->guard_row, on);
    w->mask = on;
    w->partial = 1;
    w->mask_row = w->control->guard_row;
    const struct inst *next = i[1].fn[1](w, i + 1);
    w->mask = mask;
    w->partial = partial;
    w->mask_row = row;
    return next;
}

const struct inst *join_paths(struct warp *w, const struct inst *i)
{
    hide(w);
    return path_meet(w, i);
}

// ---- calls and ends ------------------------------------------------------------

static void copy_arguments(struct frame *f, uint32_t mask)
{
    const struct function *to = f->function, *from = f->caller->function;
    uint32_t first = to->src->nresults;
    for (uint32_t k = 0; k < f->site->nargs && first + k < to->src->nparams;
         k++) {
        uint32_t at = f->site->args[k];
        uint64_t n = to->src->params[first + k].nbytes;
        uint64_t have = function_param(from, at)->nbytes;
        n = n < have ? n : have;
        for (unsigned l = 0; l < WARP_LANES; l++)
            if (mask >> l & 1)
                memcpy(f->params + (size_t)l * to->param_stride +
                           to->param_at[first + k],
                       f->caller->params + (size_t)l * from->param_stride +
                           from->param_at[at],
                       n);
    }
}

static const struct inst *call_function(struct warp *w, const struct inst *i,
                                        uint32_t index)
{
    struct path *p = path_current(w);
    const struct code *code = p->frame->function->code;
    const struct function *fn = &code->functions[index];
    const struct call_site *site = &p->frame->function->calls[i->imm];
    unsigned external, lane = (unsigned)__builtin_ctz(w->mask);
    if (fn->ninsts == 0) {
        const char *name = code->module->funcs[index].name;
        if (!external_find(name, &external))
            return warp_fault(w, i, LAUNCH_UNSUPPORTED, lane, 0,
                              "calls %s, which the virtual GPU does not have",
                              name);
        return external_call(w, i, external, site, p->frame) ? i + 1 : NULL;
    }
    const struct inst *next = path_call(w, i, fn);
    if (next)
        copy_arguments(path_current(w)->frame, w->mask);
    return next;
}

// By address: lanes of one function together.
static const struct inst *call_address(struct warp *w, const struct inst *i)
{
    const uint64_t *address = warp_row(w, i->a);
    const struct module *m = path_current(w)->frame->function->code->module;
    unsigned lane = (unsigned)__builtin_ctz(w->mask);
    uint64_t index = (address[lane] - VGPU_FUNC_BASE) / 16;
    if (address[lane] < VGPU_FUNC_BASE || address[lane] % 16 != 0 ||
        index >= m->nfuncs || m->funcs[index].is_entry)
        return warp_fault(w, i, LAUNCH_ILLEGAL_ADDRESS, lane, address[lane],
                          "calls %#llx, which is no function",
                          (unsigned long long)address[lane]);
    uint32_t same = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        same |= (uint32_t)(address[l] == address[lane]) << l;
    same &= w->mask;
    // The others come back to this call when these are through.
    if (same != w->mask && !path_split(w, w->mask & ~same, i, i, i + 1))
        return NULL;
    return call_function(w, i, (uint32_t)index);
}

const struct inst *call(struct warp *w, const struct inst *i)
{
    const struct frame *f = path_current(w)->frame;
    uint32_t func = f->function->calls[i->imm].func;
    return func == ANY_FUNC ? call_address(w, i) : call_function(w, i, func);
}

const struct inst *ret(struct warp *w, const struct inst *i)
{
    return path_return(w, i);
}

const struct inst *exit_lanes(struct warp *w, const struct inst *i)
{
    (void)i;
    return path_exit(w);
}

const struct inst *trap(struct warp *w, const struct inst *i)
{
    return warp_fault(w, i, LAUNCH_TRAP, (unsigned)__builtin_ctz(w->mask), 0,
                      "the kernel executed %s", i->src->opcode);
}

// ---- the rest --------------------------------------------------------------------

const struct inst *nothing(struct warp *w, const struct inst *i)
{
    (void)w;
    return i + 1;
}

// A thread that sleeps waits for others.
const struct inst *nanosleep_others(struct warp *w, const struct inst *i)
{
    w->polled = true;
    return path_yield(w, i + 1, STOP_SPIN);
}

const struct inst *fence(struct warp *w, const struct inst *i)
{
    const struct watcher *watcher = w->block->worker->state->launch->watcher;
    struct warp_view view = {&w->block->view, w->index};
    w->polled = true; // plain loads may see something new
    if (watcher && watcher->fence)
        watcher->fence(watcher->self, &view, i->src, w->mask);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return i + 1;
}

const struct inst *read_special(struct warp *w, const struct inst *i)
{
    hide(w);
    w->worker->clock_left = w->left;
    special_fill(w, (enum special)i->imm, warp_row(w, i->d));
    return i + 1;
}

const struct inst *negate_row(struct warp *w, const struct inst *i)
{
    hide(w);
    const uint32_t *a = warp_row(w, i->a);
    uint32_t *d = warp_row(w, i->d);
    for (unsigned l = 0; l < WARP_LANES; l++)
        d[l] = ~a[l];
    return i + 1;
}

const struct inst *unsupported(struct warp *w, const struct inst *i)
{
    return warp_fault(w, i, LAUNCH_UNSUPPORTED,
                      (unsigned)__builtin_ctz(w->mask), 0,
                      "the virtual GPU does not execute %s", i->src->opcode);
}

const struct inst *malformed(struct warp *w, const struct inst *i)
{
    return warp_fault(w, i, LAUNCH_ILLEGAL_INSTRUCTION,
                      (unsigned)__builtin_ctz(w->mask), 0,
                      "the operands do not fit %s (line %u of the PTX)",
                      i->src->opcode, i->src->ptx_line);
}
