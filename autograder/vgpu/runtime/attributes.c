// What a device is: cudaDeviceProp and the attributes, from the GPU's model.
//
// What every GPU of this generation has alike, and what no program of a course
// needs of the model (texture sizes), is given as an H200 has it.
#include "runtime.h"

#include <stdio.h>
#include <string.h>

enum { REGS_PER_BLOCK = 65536, CONSTANT_BYTES = 65536 };

static void fill_limits(struct cudaDeviceProp *p)
{
    static const int threads[3] = {1024, 1024, 64};
    static const int grid[3] = {INT32_MAX, 65535, 65535};
    p->warpSize = 32;
    p->memPitch = INT32_MAX;
    p->maxThreadsPerBlock = 1024;
    memcpy(p->maxThreadsDim, threads, sizeof threads);
    memcpy(p->maxGridSize, grid, sizeof grid);
    p->totalConstMem = CONSTANT_BYTES;
    p->textureAlignment = p->surfaceAlignment = 512;
    p->texturePitchAlignment = 32;
}

static void fill_textures(struct cudaDeviceProp *p)
{
    p->maxTexture1D = p->maxSurface1D = 131072;
    p->maxTexture1DMipmap = 32768;
    p->maxTexture2D[0] = p->maxSurface2D[0] = 131072;
    p->maxTexture2D[1] = p->maxSurface2D[1] = 65536;
    p->maxTexture2DMipmap[0] = p->maxTexture2DMipmap[1] = 32768;
    p->maxTexture2DLinear[0] = 131072;
    p->maxTexture2DLinear[1] = 65000;
    p->maxTexture2DLinear[2] = 2097120;
    p->maxTexture2DGather[0] = p->maxTexture2DGather[1] = 32768;
    for (int i = 0; i < 3; i++)
        p->maxTexture3D[i] = p->maxSurface3D[i] = 16384;
    p->maxTexture3DAlt[0] = p->maxTexture3DAlt[1] = 8192;
    p->maxTexture3DAlt[2] = 32768;
    p->maxTextureCubemap = p->maxSurfaceCubemap = 32768;
    p->maxTexture1DLayered[0] = p->maxSurface1DLayered[0] = 32768;
    p->maxTexture1DLayered[1] = p->maxSurface1DLayered[1] = 2048;
    p->maxTexture2DLayered[0] = p->maxSurface2DLayered[0] = 32768;
    p->maxTexture2DLayered[1] = p->maxSurface2DLayered[1] = 32768;
    p->maxTexture2DLayered[2] = p->maxSurface2DLayered[2] = 2048;
    p->maxTextureCubemapLayered[0] = p->maxSurfaceCubemapLayered[0] = 32768;
    p->maxTextureCubemapLayered[1] = p->maxSurfaceCubemapLayered[1] = 2046;
}

static void fill_abilities(struct cudaDeviceProp *p,
                           const struct gpu_model *gpu)
{
    p->canMapHostMemory = 1;
    p->concurrentKernels = 1;
    p->ECCEnabled = 1;
    p->asyncEngineCount = 3;
    p->unifiedAddressing = 1;
    p->streamPrioritiesSupported = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = 1;
    p->managedMemory = 1;
    p->concurrentManagedAccess = 1;
    p->computePreemptionSupported = 1;
    p->cooperativeLaunch = 1;
    p->hostRegisterSupported = 1;
    p->memoryPoolsSupported = 1;
    p->ipcEventSupported = 0;
    p->clusterLaunch = 0; // not executed yet, whatever the model could
    p->accessPolicyMaxWindowSize = gpu->capability >= 80 ? 128 << 20 : 0;
}

static void fill_model(struct cudaDeviceProp *p, const struct gpu_model *gpu,
                       int device)
{
    snprintf(p->name, sizeof p->name, "%s", gpu->name);
    snprintf(p->uuid.bytes, sizeof p->uuid.bytes, "vgpu-device-%d", device);
    p->totalGlobalMem = gpu->memory_bytes;
    p->sharedMemPerBlock = gpu->shared_per_block;
    p->sharedMemPerBlockOptin = gpu->shared_optin;
    p->sharedMemPerMultiprocessor = gpu->shared_per_sm;
    p->reservedSharedMemPerBlock = gpu->shared_reserved;
    p->regsPerBlock = REGS_PER_BLOCK;
    p->regsPerMultiprocessor = (int)gpu->regs_per_sm;
    p->major = (int)gpu->capability / 10;
    p->minor = (int)gpu->capability % 10;
    p->multiProcessorCount = (int)gpu->sms;
    p->maxThreadsPerMultiProcessor = (int)gpu->warps_per_sm * 32;
    p->maxBlocksPerMultiProcessor = (int)gpu->blocks_per_sm;
    p->memoryBusWidth = (int)gpu->bus_bits;
    p->l2CacheSize = (int)gpu->l2_bytes;
    p->pciBusID = device + 1;
    p->multiGpuBoardGroupID = device;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
{
    cudaError_t error = p ? rt_check_device(device) : cudaErrorInvalidValue;
    if (error)
        return rt_done(error);
    memset(p, 0, sizeof *p);
    fill_limits(p);
    fill_textures(p);
    fill_abilities(p, rt_gpu());
    fill_model(p, rt_gpu(), device);
    return rt_done(cudaSuccess);
}

// ---- the same, one by one --------------------------------------------------

// ATTRIBUTE(name, value): what a program may ask for; p is the device's
// properties, gpu its model.
#define ATTRIBUTES(ATTRIBUTE)                                                  \
    ATTRIBUTE(MaxThreadsPerBlock, p.maxThreadsPerBlock)                        \
    ATTRIBUTE(MaxBlockDimX, p.maxThreadsDim[0])                                \
    ATTRIBUTE(MaxBlockDimY, p.maxThreadsDim[1])                                \
    ATTRIBUTE(MaxBlockDimZ, p.maxThreadsDim[2])                                \
    ATTRIBUTE(MaxGridDimX, p.maxGridSize[0])                                   \
    ATTRIBUTE(MaxGridDimY, p.maxGridSize[1])                                   \
    ATTRIBUTE(MaxGridDimZ, p.maxGridSize[2])                                   \
    ATTRIBUTE(MaxSharedMemoryPerBlock, p.sharedMemPerBlock)                    \
    ATTRIBUTE(TotalConstantMemory, p.totalConstMem)                            \
    ATTRIBUTE(WarpSize, p.warpSize)                                            \
    ATTRIBUTE(MaxPitch, p.memPitch)                                            \
    ATTRIBUTE(MaxRegistersPerBlock, p.regsPerBlock)                            \
    ATTRIBUTE(ClockRate, gpu->boost_mhz * 1000)                                \
    ATTRIBUTE(TextureAlignment, p.textureAlignment)                            \
    ATTRIBUTE(GpuOverlap, 1)                                                   \
    ATTRIBUTE(MultiProcessorCount, p.multiProcessorCount)                      \
    ATTRIBUTE(KernelExecTimeout, 0)                                            \
    ATTRIBUTE(Integrated, p.integrated)                                        \
    ATTRIBUTE(CanMapHostMemory, p.canMapHostMemory)                            \
    ATTRIBUTE(ComputeMode, cudaComputeModeDefault)                             \
    ATTRIBUTE(MaxTexture1DWidth, p.maxTexture1D)                               \
    ATTRIBUTE(MaxTexture2DWidth, p.maxTexture2D[0])                            \
    ATTRIBUTE(MaxTexture2DHeight, p.maxTexture2D[1])                           \
    ATTRIBUTE(MaxTexture3DWidth, p.maxTexture3D[0])                            \
    ATTRIBUTE(MaxTexture3DHeight, p.maxTexture3D[1])                           \
    ATTRIBUTE(MaxTexture3DDepth, p.maxTexture3D[2])                            \
    ATTRIBUTE(SurfaceAlignment, p.surfaceAlignment)                            \
    ATTRIBUTE(ConcurrentKernels, p.concurrentKernels)                          \
    ATTRIBUTE(EccEnabled, p.ECCEnabled)                                        \
    ATTRIBUTE(PciBusId, p.pciBusID)                                            \
    ATTRIBUTE(PciDeviceId, p.pciDeviceID)                                      \
    ATTRIBUTE(PciDomainId, p.pciDomainID)                                      \
    ATTRIBUTE(TccDriver, p.tccDriver)                                          \
    ATTRIBUTE(MemoryClockRate, gpu->memory_mhz * 1000)                         \
    ATTRIBUTE(GlobalMemoryBusWidth, p.memoryBusWidth)                          \
    ATTRIBUTE(L2CacheSize, p.l2CacheSize)                                      \
    ATTRIBUTE(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)      \
    ATTRIBUTE(AsyncEngineCount, p.asyncEngineCount)                            \
    ATTRIBUTE(UnifiedAddressing, p.unifiedAddressing)                          \
    ATTRIBUTE(TexturePitchAlignment, p.texturePitchAlignment)                  \
    ATTRIBUTE(ComputeCapabilityMajor, p.major)                                 \
    ATTRIBUTE(ComputeCapabilityMinor, p.minor)                                 \
    ATTRIBUTE(StreamPrioritiesSupported, p.streamPrioritiesSupported)          \
    ATTRIBUTE(GlobalL1CacheSupported, p.globalL1CacheSupported)                \
    ATTRIBUTE(LocalL1CacheSupported, p.localL1CacheSupported)                  \
    ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor)  \
    ATTRIBUTE(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)          \
    ATTRIBUTE(ManagedMemory, p.managedMemory)                                  \
    ATTRIBUTE(IsMultiGpuBoard, p.isMultiGpuBoard)                              \
    ATTRIBUTE(MultiGpuBoardGroupID, p.multiGpuBoardGroupID)                    \
    ATTRIBUTE(HostNativeAtomicSupported, p.hostNativeAtomicSupported)          \
    ATTRIBUTE(SingleToDoublePrecisionPerfRatio, gpu->capability % 10 ? 64 : 2) \
    ATTRIBUTE(PageableMemoryAccess, p.pageableMemoryAccess)                    \
    ATTRIBUTE(ConcurrentManagedAccess, p.concurrentManagedAccess)              \
    ATTRIBUTE(ComputePreemptionSupported, p.computePreemptionSupported)        \
    ATTRIBUTE(CanUseHostPointerForRegisteredMem,                               \
              p.canUseHostPointerForRegisteredMem)                             \
    ATTRIBUTE(CooperativeLaunch, p.cooperativeLaunch)                          \
    ATTRIBUTE(MaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin)          \
    ATTRIBUTE(CanFlushRemoteWrites, 0)                                         \
    ATTRIBUTE(HostRegisterSupported, p.hostRegisterSupported)                  \
    ATTRIBUTE(PageableMemoryAccessUsesHostPageTables, 0)                       \
    ATTRIBUTE(DirectManagedMemAccessFromHost, 0)                               \
    ATTRIBUTE(MaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)        \
    ATTRIBUTE(MaxPersistingL2CacheSize, p.persistingL2CacheMaxSize)            \
    ATTRIBUTE(MaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize)          \
    ATTRIBUTE(ReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock)       \
    ATTRIBUTE(SparseCudaArraySupported, 0)                                     \
    ATTRIBUTE(HostRegisterReadOnlySupported, 0)                                \
    ATTRIBUTE(MemoryPoolsSupported, p.memoryPoolsSupported)                    \
    ATTRIBUTE(GPUDirectRDMASupported, 0)                                       \
    ATTRIBUTE(ClusterLaunch, p.clusterLaunch)                                  \
    ATTRIBUTE(IpcEventSupport, p.ipcEventSupported)                            \
    ATTRIBUTE(MpsEnabled, 0)                                                   \
    ATTRIBUTE(NumaConfig, 0)                                                   \
    ATTRIBUTE(NumaId, -1)                                                      \
    ATTRIBUTE(HostNumaId, 0)

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute,
                                   int device)
{
    cudaError_t error = value ? rt_check_device(device) : cudaErrorInvalidValue;
    if (error)
        return rt_done(error);
    const struct gpu_model *gpu = rt_gpu();
    struct cudaDeviceProp p;
    cudaGetDeviceProperties(&p, device);
    switch (attribute) {
#define ATTRIBUTE(name, number)                                                \
    case cudaDevAttr##name:                                                    \
        *value = (int)(number);                                                \
        return rt_done(cudaSuccess);
        ATTRIBUTES(ATTRIBUTE)
#undef ATTRIBUTE
    default:
        // What is left are textures and things that no model here has.
        *value = 0;
        return rt_done((int)attribute > 0 && attribute < cudaDevAttrMax
                           ? cudaSuccess
                           : cudaErrorInvalidValue);
    }
}
