// How many blocks an SM holds, as a program asks it.
#include "runtime.h"

#define LIMIT_FLAGS (cudaOccupancyDisableCachingOverride)

static cudaError_t blocks_of(int *blocks, const void *handle, int threads,
                             size_t dynamic_shared)
{
    cudaError_t error = blocks ? rt_connect() : cudaErrorInvalidValue;
    if (error)
        return error;
    struct rt_function *func = rt_find_function(handle);
    if (!func)
        return cudaErrorInvalidResourceHandle;
    if ((error = rt_load_function(func)))
        return error;
    if (threads <= 0)
        return cudaErrorInvalidValue;
    const struct gpu_model *gpu = rt_gpu();
    size_t shared = func->info.shared_bytes + dynamic_shared;
    *blocks = 0;
    if ((unsigned)threads <= func->info.max_threads &&
        dynamic_shared <= gpu->shared_optin && shared <= gpu->shared_optin)
        *blocks = (int)occupancy_of(gpu, (unsigned)threads, func->info.regs,
                                    (unsigned)shared).blocks_per_sm;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, const void *func, int threads, size_t dynamic_shared)
{
    return rt_done(blocks_of(blocks, func, threads, dynamic_shared));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *func, int threads, size_t dynamic_shared,
    unsigned flags)
{
    if (flags & ~(unsigned)LIMIT_FLAGS)
        return rt_done(cudaErrorInvalidValue);
    return rt_done(blocks_of(blocks, func, threads, dynamic_shared));
}

// The most dynamic shared memory with which `blocks` still fit.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *nbytes,
                                                      const void *handle,
                                                      int blocks, int threads)
{
    int fit = 0;
    cudaError_t error = nbytes && blocks > 0
                            ? blocks_of(&fit, handle, threads, 0)
                            : cudaErrorInvalidValue;
    if (!error && fit < blocks)
        error = cudaErrorInvalidValue;
    if (error)
        return rt_done(error);
    const struct gpu_model *gpu = rt_gpu();
    size_t each = gpu->shared_per_sm / (unsigned)blocks;
    size_t fixed = gpu->shared_reserved +
                   rt_find_function(handle)->info.shared_bytes;
    size_t room = each > fixed ? (each - fixed) / 128 * 128 : 0;
    size_t most = rt_dynamic_shared_limit(rt_find_function(handle));
    *nbytes = room < most ? room : most;
    return rt_done(cudaSuccess);
}
