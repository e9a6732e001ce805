// What ends a launch and whose fault it was; and lesser mistakes, which only
// the watcher is told.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../memory/locate.h"
#include "control.h"

static const struct ptx_inst *source_of(const struct inst *i)
{
    return i ? i->src : NULL;
}

static const struct ptx_loc *loc_of(const struct warp *w, const struct inst *i)
{
    const struct module *m = w->block->worker->state->function->code->module;
    const struct ptx_inst *src = source_of(i);
    return src ? finding_loc(m, src->loc) : NULL;
}

void inst_place(const struct warp *w, const struct inst *i, char *out, size_t n)
{
    const struct module *m = w->block->worker->state->function->code->module;
    const struct ptx_loc *loc = loc_of(w, i);
    if (loc && loc->file < m->nfiles) {
        const char *file = m->files[loc->file], *base = strrchr(file, '/');
        snprintf(out, n, "%s:%u", base ? base + 1 : file, loc->line);
    } else {
        snprintf(out, n, "PTX line %u",
                 source_of(i) ? source_of(i)->ptx_line : 0);
    }
}

void thread_index(const struct block *b, uint32_t linear, uint32_t idx[3])
{
    const uint32_t *block = b->view.launch->block;
    idx[0] = linear % block[0];
    idx[1] = linear / block[0] % block[1];
    idx[2] = linear / block[0] / block[1];
}

void finding_place(struct finding *f, const struct warp *w,
                   const struct inst *i, unsigned lane)
{
    const struct launch_state *state = w->block->worker->state;
    const struct module *m = state->function->code->module;
    const struct ptx_loc *loc = loc_of(w, i);
    const char *name = state->launch->name;
    snprintf(f->kernel, sizeof f->kernel, "%s",
             name ? name : state->launch->func->name);
    memcpy(f->block, w->block->view.idx, sizeof f->block);
    thread_index(w->block, w->index * WARP_LANES + lane, f->thread);
    if (loc && loc->file < m->nfiles) {
        snprintf(f->file, sizeof f->file, "%s", m->files[loc->file]);
        f->line = loc->line;
    }
    f->count = 1;
}

static enum finding_kind kind_of(enum launch_status status)
{
    switch (status) {
    case LAUNCH_ILLEGAL_ADDRESS:
        return FINDING_OUT_OF_BOUNDS;
    case LAUNCH_MISALIGNED:
        return FINDING_MISALIGNED;
    case LAUNCH_ASSERT:
        return FINDING_ASSERT;
    case LAUNCH_TRAP:
        return FINDING_TRAP;
    case LAUNCH_DEADLOCK:
        return FINDING_DEADLOCK;
    case LAUNCH_UNSUPPORTED:
        return FINDING_UNSUPPORTED;
    default:
        return FINDING_INVALID;
    }
}

const struct inst *warp_fault(struct warp *w, const struct inst *i,
                              enum launch_status status, unsigned lane,
                              uint64_t addr, const char *message, ...)
{
    struct launch_state *state = w->block->worker->state;
    struct launch_report *report = state->report;
    w->stop = STOP_FAULT;
    pthread_mutex_lock(&state->lock);
    if (report->status == LAUNCH_OK) {
        va_list args;
        memset(&report->fault, 0, sizeof report->fault);
        report->status = status;
        report->fault.kind = kind_of(status);
        report->fault.fatal = true;
        report->fault.addr = addr;
        finding_place(&report->fault, w, i, lane);
        va_start(args, message);
        vsnprintf(report->fault.message, sizeof report->fault.message, message,
                  args);
        va_end(args);
    }
    atomic_store(&state->ended, true);
    pthread_mutex_unlock(&state->lock);
    return NULL;
}

void warp_report(struct warp *w, const struct inst *i, unsigned lane,
                 enum finding_kind kind, const char *message, ...)
{
    struct launch_state *state = w->block->worker->state;
    const struct watcher *watcher = state->launch->watcher;
    if (!watcher || !watcher->found || !state->reported)
        return;
    pthread_mutex_lock(&state->lock);
    if (!state->reported[i->id]) {
        struct finding f = {.kind = kind};
        va_list args;
        state->reported[i->id] = 1;
        finding_place(&f, w, i, lane);
        va_start(args, message);
        vsnprintf(f.message, sizeof f.message, message, args);
        va_end(args);
        watcher->found(watcher->self, &f);
    }
    pthread_mutex_unlock(&state->lock);
}
