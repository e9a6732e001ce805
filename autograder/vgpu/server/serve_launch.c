// A launch: checked, executed under the watch, timed, and kept for the owner.
#include "server.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- what a device allows --------------------------------------------------

// A program's runtime library checks these to answer at once; it may lie.
static int check_shape(const struct server *s, const struct wire_launch *w,
                       const struct ptx_func *func)
{
    static const uint32_t most_blocks[3] = {INT32_MAX, 65535, 65535};
    static const uint32_t most_threads[3] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!w->grid[i] || w->grid[i] > most_blocks[i] || !w->block[i] ||
            w->block[i] > most_threads[i])
            return CUDA_INVALID_VALUE;
        threads *= w->block[i];
    }
    if (threads > function_max_threads(func, s->gpu))
        return CUDA_OUT_OF_RESOURCES;
    if (func->shared_bytes + w->dynamic_shared > s->gpu->shared_optin)
        return CUDA_INVALID_VALUE;
    return CUDA_OK;
}

static int status_error(enum launch_status status)
{
    switch (status) {
    case LAUNCH_OK: return CUDA_OK;
    case LAUNCH_ILLEGAL_ADDRESS: return CUDA_ILLEGAL_ADDRESS;
    case LAUNCH_MISALIGNED: return CUDA_MISALIGNED;
    case LAUNCH_ASSERT: return CUDA_ASSERT;
    case LAUNCH_TRAP: return CUDA_LAUNCH_FAILURE;
    case LAUNCH_ILLEGAL_INSTRUCTION: return CUDA_ILLEGAL_INSTRUCTION;
    case LAUNCH_UNSUPPORTED: return CUDA_NOT_SUPPORTED;
    case LAUNCH_DEADLOCK:
    case LAUNCH_BUDGET:
    case LAUNCH_CANCELLED: return CUDA_TIMEOUT;
    case LAUNCH_OUT_OF_MEMORY: return CUDA_OUT_OF_MEMORY;
    }
    return CUDA_LAUNCH_FAILURE;
}

// ---- while it runs ---------------------------------------------------------

static void keep_output(void *self, const char *text, size_t n)
{
    print_keep(self, text, n);
}

// A program that is gone wants no results.
static bool is_gone(void *self)
{
    const struct program *p = self;
    struct pollfd poll_for = {.fd = p->sock, .events = POLLRDHUP};
    return poll(&poll_for, 1, 0) > 0 &&
           (poll_for.revents & (POLLHUP | POLLRDHUP | POLLERR));
}

// ---- afterwards ------------------------------------------------------------

static uint64_t blocks_of(const struct vgpu_launch *l)
{
    return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
}

// What the time model wants to know of a launch.
static struct launch_work work_of(const struct loaded_module *loaded,
                                  const struct launch_report *report,
                                  const struct vgpu_launch *l)
{
    struct launch_work work = {
        .blocks = blocks_of(l),
        .threads_per_block = (uint64_t)l->block[0] * l->block[1] * l->block[2],
        .regs = l->regs, .shared_bytes = l->shared_bytes,
    };
    counters_to_work(&l->access, &work);
    launch_pipes(loaded->code, report, &work);
    for (uint32_t i = 0; i < loaded->module->nfuncs; i++)
        overlap_apply(loaded->overlaps[i], &loaded->module->funcs[i],
                      report->inst_count, &work);
    overlap_finish(&work);
    return work;
}

static void keep_launch(struct server *s, const struct vgpu_launch *launch)
{
    if (!s->launches) {
        s->launches = calloc(MAX_LAUNCHES_KEPT, sizeof *s->launches);
        if (!s->launches)
            return;
    }
    unsigned at = (s->first_launch + s->nlaunches) % MAX_LAUNCHES_KEPT;
    s->launches[at] = *launch;
    if (s->nlaunches < MAX_LAUNCHES_KEPT)
        s->nlaunches++;
    else
        s->first_launch = (s->first_launch + 1) % MAX_LAUNCHES_KEPT;
}

// The part of the device that a grid keeps busy for its time, at most all of
// it: the room that its blocks take, or the part of the memory's rate.
static double share_of(const struct gpu_model *gpu,
                       const struct launch_work *work, double ns,
                       const struct occupancy *occupancy)
{
    double room = (double)gpu->sms * occupancy->blocks_per_sm;
    double filled = room > 0 ? (double)work->blocks / room : 1;
    double moved = (double)(work->dram_read_bytes + work->dram_write_bytes);
    double dram = ns > 0 ? moved / gpu->copy_gbs / ns : 1;
    double share = filled > dram ? filled : dram;
    return share < 1 ? share : 1;
}

// Counts and times what was executed; keeps it for the owner.
static void account(struct program *p, const struct loaded_module *loaded,
                    const struct launch *launch,
                    const struct launch_report *report, struct vgpu_launch *l,
                    struct stream *stream)
{
    struct server *s = p->server;
    l->access = watch_counters(s->watch);
    l->warp_instructions = report->warp_instructions;
    l->lane_instructions = report->lane_instructions;
    l->branches = report->branches;
    l->divergent_branches = report->divergent_branches;
    l->lanes_lost_to_branches = report->lanes_lost_to_branches;
    struct launch_work work = work_of(loaded, report, l);
    struct launch_time time = time_of_launch(s->gpu, &work);
    l->modelled_ns = time.ns;
    snprintf(l->limiter, sizeof l->limiter, "%s", time.limiter);
    timeline_kernel(&p->timeline, stream, &s->engines[launch->device], time.ns,
                    share_of(s->gpu, &work, time.ns, &l->occupancy));
    keep_launch(s, l);
}

// Runs it; 0 or the error that the device is left with.
static int run(struct program *p, struct launch *launch, struct vgpu_launch *l,
               const struct loaded_module *loaded, struct stream *stream)
{
    struct server *s = p->server;
    const struct module *module = loaded->module;
    // One array for both counts by instruction.
    uint64_t *counts = calloc(2 * (size_t)module->ninsts + 1, sizeof *counts);
    if (!counts)
        return CUDA_OUT_OF_MEMORY;
    struct launch_report report = {
        .inst_count = counts, .inst_lanes = counts + module->ninsts,
    };
    watch_set_module(s->watch, module);
    launch_run(launch, &report);
    if (report.status != LAUNCH_OK && report.status != LAUNCH_CANCELLED)
        watch_add(s->watch, &report.fault);
    account(p, loaded, launch, &report, l, stream);
    free(counts);
    int error = status_error(report.status);
    if (error)
        p->sticky[launch->device] = error;
    return error;
}

// What is known of a launch before it runs.
static struct vgpu_launch describe(const struct gpu_model *gpu,
                                   const struct wire_launch *w,
                                   const struct ptx_func *func)
{
    bool exact;
    struct vgpu_launch l = {
        .regs = function_regs(func, &exact),
        .shared_bytes = (uint32_t)func->shared_bytes + w->dynamic_shared,
    };
    memcpy(l.grid, w->grid, sizeof l.grid);
    memcpy(l.block, w->block, sizeof l.block);
    function_name(func, l.kernel, sizeof l.kernel);
    l.occupancy = occupancy_of(gpu, w->block[0] * w->block[1] * w->block[2],
                               l.regs, l.shared_bytes);
    snprintf(l.occupancy_limiter, sizeof l.occupancy_limiter, "%s",
             l.occupancy.limiter);
    l.occupancy.limiter = NULL; // a pointer means nothing to the owner
    return l;
}

// ---- the operation ---------------------------------------------------------

int serve_LAUNCH(struct request *r)
{
    const struct wire_launch *w = r->body;
    struct program *p = r->program;
    struct server *s = p->server;
    int device = request_device(r, w->device);
    struct stream *stream = timeline_stream(&p->timeline, w->stream);
    const struct loaded_module *loaded = module_at(p, w->module);
    if (device < 0 || !stream || stream->device != device || !loaded ||
        w->func >= loaded->module->nfuncs)
        return CUDA_INVALID_HANDLE;
    const struct ptx_func *func = &loaded->module->funcs[w->func];
    if (!func->is_entry || r->ntail != func->param_bytes)
        return CUDA_INVALID_DEVICE_FUNCTION;
    if (p->sticky[device])
        return p->sticky[device];
    int error = check_shape(s, w, func);
    const uint64_t *vars =
        error ? NULL : module_vars(p, w->module, device, &error);
    if (error)
        return error;

    struct vgpu_launch l = describe(s->gpu, w, func);
    if (!l.occupancy.blocks_per_sm)
        return CUDA_OUT_OF_RESOURCES;
    bool cooperative = w->flags & WIRE_COOPERATIVE;
    if (cooperative && blocks_of(&l) > (uint64_t)s->gpu->sms *
                                           l.occupancy.blocks_per_sm)
        return CUDA_COOPERATIVE_TOO_LARGE;

    struct launch launch = {
        .code = loaded->code, .func = func, .name = l.kernel,
        .dynamic_shared = w->dynamic_shared,
        .params = (const uint8_t *)r->tail, .var_addr = vars,
        .device = device, .gpu = s->gpu, .memory = s->memory,
        .watcher = watch_callbacks(s->watch), .cooperative = cooperative,
        .schedule = s->schedule, .seed = s->seed, .nthreads = s->nthreads,
        .budget = s->budget, .blocks_per_sm = l.occupancy.blocks_per_sm,
        .print = keep_output, .print_self = p, .cancelled = is_gone,
    };
    memcpy(launch.grid, w->grid, sizeof launch.grid);
    memcpy(launch.block, w->block, sizeof launch.block);
    return run(p, &launch, &l, loaded, stream);
}
