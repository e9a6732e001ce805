// What a program may ask and set about its kernels and variables, and the
// launch configuration between <<< and >>>.
#include "runtime.h"

#include <string.h>

static cudaError_t function_of(const void *func, struct rt_function **out)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    *out = rt_find_function(func);
    return *out ? rt_load_function(*out) : cudaErrorInvalidResourceHandle;
}

// ---- attributes ------------------------------------------------------------

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out,
                                  const void *handle)
{
    struct rt_function *func;
    cudaError_t error = out ? function_of(handle, &func)
                            : cudaErrorInvalidValue;
    if (error)
        return rt_done(error);
    const struct wire_function *info = &func->info;
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = info->shared_bytes,
        .constSizeBytes = info->const_bytes,
        .localSizeBytes = info->local_bytes,
        .maxThreadsPerBlock = (int)info->max_threads,
        .numRegs = (int)info->regs,
        .ptxVersion = (int)info->capability,
        .binaryVersion = (int)info->capability,
        .maxDynamicSharedSizeBytes = (int)rt_dynamic_shared_limit(func),
        .preferredShmemCarveout = func->carveout,
    };
    return rt_done(cudaSuccess);
}

cudaError_t cudaFuncSetAttribute(const void *handle,
                                 enum cudaFuncAttribute attribute, int value)
{
    struct rt_function *func;
    cudaError_t error = function_of(handle, &func);
    if (error)
        return rt_done(error);
    size_t room = rt_gpu()->shared_optin;
    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || (size_t)value + func->info.shared_bytes > room)
            return rt_done(cudaErrorInvalidValue);
        func->dynamic_shared_max = value;
        return rt_done(cudaSuccess);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return rt_done(cudaErrorInvalidValue);
        func->carveout = value;
        return rt_done(cudaSuccess);
    default:
        return rt_not_supported("cudaFuncSetAttribute for clusters");
    }
}

cudaError_t cudaFuncSetCacheConfig(const void *handle, enum cudaFuncCache config)
{
    struct rt_function *func;
    return rt_done(function_of(handle, &func));
}

cudaError_t cudaFuncGetName(const char **name, const void *handle)
{
    struct rt_function *func;
    cudaError_t error = name ? function_of(handle, &func)
                             : cudaErrorInvalidValue;
    if (!error)
        *name = func->name;
    return rt_done(error);
}

cudaError_t cudaFuncGetParamInfo(const void *handle, size_t index,
                                 size_t *offset, size_t *nbytes)
{
    struct rt_function *func;
    cudaError_t error = function_of(handle, &func);
    if (!error && (!offset || index >= func->info.nparams))
        error = cudaErrorInvalidValue;
    if (error)
        return rt_done(error);
    *offset = func->params[index].offset;
    if (nbytes)
        *nbytes = func->params[index].nbytes;
    return rt_done(cudaSuccess);
}

// ---- handles ---------------------------------------------------------------

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
    struct rt_function *found = rt_find_function(func);
    if (!kernel || !found)
        return rt_done(kernel ? cudaErrorInvalidDeviceFunction
                              : cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)found;
    return rt_done(cudaSuccess);
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *func)
{
    return cudaGetKernel(kernel, func);
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *symbol)
{
    return cudaGetKernel((cudaKernel_t *)out, symbol);
}

// ---- variables -------------------------------------------------------------

cudaError_t cudaGetSymbolAddress(void **ptr, const void *symbol)
{
    const struct rt_variable *var = rt_find_variable(symbol);
    uint64_t addr;
    if (!ptr || !var)
        return rt_done(ptr ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    cudaError_t error = rt_variable_address(var, &addr);
    if (!error)
        *ptr = (void *)(uintptr_t)addr;
    return rt_done(error);
}

cudaError_t cudaGetSymbolSize(size_t *nbytes, const void *symbol)
{
    const struct rt_variable *var = rt_find_variable(symbol);
    if (!nbytes || !var)
        return rt_done(nbytes ? cudaErrorInvalidSymbol : cudaErrorInvalidValue);
    *nbytes = var->nbytes;
    return rt_done(cudaSuccess);
}

// ---- between <<< and >>> ---------------------------------------------------

// The arguments of a kernel may launch others before it is launched itself.
enum { MAX_NESTED = 64 };
static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
} pushed[MAX_NESTED];
static _Thread_local unsigned npushed;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     cudaStream_t stream)
{
    if (npushed == MAX_NESTED)
        return 1; // the stub does not launch then
    pushed[npushed].grid = grid;
    pushed[npushed].block = block;
    pushed[npushed].shared = shared;
    pushed[npushed++].stream = stream;
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream)
{
    if (!npushed)
        return rt_done(cudaErrorMissingConfiguration);
    npushed--;
    *grid = pushed[npushed].grid;
    *block = pushed[npushed].block;
    *shared = pushed[npushed].shared;
    *(cudaStream_t *)stream = pushed[npushed].stream;
    return cudaSuccess;
}
