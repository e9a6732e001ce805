// Launching kernels; compiled twice.
#include "runtime.h"

cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block,
                             void **args, size_t shared, cudaStream_t stream)
{
    struct rt_launch launch = {
        .func = func, .grid = grid, .block = block, .args = args,
        .dynamic_shared = shared, .stream = stream, .zero = ZERO_STREAM,
    };
    return rt_done(rt_submit(&launch));
}

// What the <<< >>> of nvcc comes down to.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define launch_of_stub __cudaLaunchKernel_ptsz
#else
#define launch_of_stub __cudaLaunchKernel
#endif

cudaError_t launch_of_stub(cudaKernel_t kernel, dim3 grid, dim3 block,
                           void **args, size_t shared, cudaStream_t stream)
{
    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block,
                                        void **args, size_t shared,
                                        cudaStream_t stream)
{
    struct rt_launch launch = {
        .func = func, .grid = grid, .block = block, .args = args,
        .dynamic_shared = shared, .stream = stream, .zero = ZERO_STREAM,
        .cooperative = true,
    };
    return rt_done(rt_submit(&launch));
}

// Attributes are hints here, but for these two.
static cudaError_t read_attribute(const cudaLaunchAttribute *a,
                                  struct rt_launch *launch)
{
    switch (a->id) {
    case cudaLaunchAttributeCooperative:
        launch->cooperative = a->val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        return a->val.clusterDim.x * a->val.clusterDim.y *
                           a->val.clusterDim.z == 1
                   ? cudaSuccess
                   : rt_not_supported("cudaLaunchKernelExC with clusters");
    default:
        return cudaSuccess;
    }
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config,
                                const void *func, void **args)
{
    if (!config || (config->numAttrs && !config->attrs))
        return rt_done(cudaErrorInvalidValue);
    struct rt_launch launch = {
        .func = func, .grid = config->gridDim, .block = config->blockDim,
        .args = args, .dynamic_shared = config->dynamicSmemBytes,
        .stream = config->stream, .zero = ZERO_STREAM,
    };
    for (unsigned i = 0; i < config->numAttrs; i++) {
        cudaError_t error = read_attribute(&config->attrs[i], &launch);
        if (error)
            return rt_done(error);
    }
    return rt_done(rt_submit(&launch));
}
