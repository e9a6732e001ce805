// A launch: refused at once where the real runtime would, else sent off.
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

size_t rt_dynamic_shared_limit(const struct rt_function *func)
{
    // More than 48 KiB must be asked for by cudaFuncSetAttribute.
    size_t room = rt_gpu()->shared_per_block;
    if (func->dynamic_shared_max >= 0)
        return (size_t)func->dynamic_shared_max;
    return func->info.shared_bytes < room ? room - func->info.shared_bytes : 0;
}

// The errors are those of an H200 under CUDA 13.0, where earlier runtimes said
// cudaErrorInvalidConfiguration.
static cudaError_t check(const struct rt_launch *launch,
                         const struct rt_function *func)
{
    const unsigned grid[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const unsigned block[3] = {launch->block.x, launch->block.y,
                               launch->block.z};
    static const unsigned most_blocks[3] = {INT32_MAX, 65535, 65535};
    static const unsigned most_threads[3] = {1024, 1024, 64};
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) {
        if (!grid[i] || grid[i] > most_blocks[i] || !block[i] ||
            block[i] > most_threads[i])
            return cudaErrorInvalidValue;
        threads *= block[i];
    }
    if (threads > func->info.max_threads ||
        launch->dynamic_shared > rt_dynamic_shared_limit(func))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

// Gathers the arguments into the kernel's parameter block.
static cudaError_t pack(const struct rt_function *func, void **args,
                        char *block)
{
    const struct wire_function *info = &func->info;
    for (uint32_t i = 0; i < info->nparams; i++) {
        const struct wire_param *param = &func->params[i];
        if (param->offset > info->param_bytes ||
            param->nbytes > info->param_bytes - param->offset || !args ||
            !args[i])
            return cudaErrorInvalidValue;
        memcpy(block + param->offset, args[i], param->nbytes);
    }
    return cudaSuccess;
}

static cudaError_t check_cooperative(const struct rt_launch *launch,
                                     const struct rt_function *func)
{
    const struct gpu_model *gpu = rt_gpu();
    unsigned threads = launch->block.x * launch->block.y * launch->block.z;
    struct occupancy o = occupancy_of(
        gpu, threads, func->info.regs,
        func->info.shared_bytes + (unsigned)launch->dynamic_shared);
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y *
                      launch->grid.z;
    return blocks > (uint64_t)gpu->sms * o.blocks_per_sm
               ? cudaErrorCooperativeLaunchTooLarge
               : cudaSuccess;
}

static void trace(const struct rt_launch *launch,
                  const struct rt_function *func, uint32_t stream)
{
    if (rt_traces("launch"))
        rt_trace("launch", "%s<<<(%u,%u,%u), (%u,%u,%u), %zu, stream %u>>>",
                 func->name, launch->grid.x, launch->grid.y, launch->grid.z,
                 launch->block.x, launch->block.y, launch->block.z,
                 launch->dynamic_shared, stream);
}

cudaError_t rt_submit(const struct rt_launch *launch)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    struct rt_function *func = rt_find_function(launch->func);
    if (!func)
        return cudaErrorInvalidResourceHandle;
    uint32_t stream;
    int device;
    if ((error = rt_load_function(func)) || (error = check(launch, func)) ||
        (error = rt_stream(launch->stream, launch->zero, &stream, &device)))
        return error;
    if (device != rt_device())
        return cudaErrorInvalidResourceHandle;
    if (launch->cooperative && (error = check_cooperative(launch, func)))
        return error;

    char *block = calloc(1, func->info.param_bytes + 1);
    if (!block)
        return cudaErrorMemoryAllocation;
    error = pack(func, launch->args, block);
    struct wire_launch body = {
        .module = func->bin->module, .func = func->info.func,
        .device = device, .stream = stream,
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .dynamic_shared = (uint32_t)launch->dynamic_shared,
        .flags = WIRE_POSTED | (launch->cooperative ? WIRE_COOPERATIVE : 0),
    };
    if (!error) {
        trace(launch, func, stream);
        error = rt_post(WIRE_LAUNCH, &body, sizeof body, block,
                        func->info.param_bytes);
    }
    free(block);
    return error;
}
