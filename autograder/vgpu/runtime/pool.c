// Memory pools: one a device, and those that a program makes. They keep what
// a program sets and asks; memory itself comes from where cudaMalloc's does.
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POOLS = 256, NATTRIBUTES = cudaMemPoolAttrUsedMemHigh + 1 };

struct CUmemPoolHandle_st {
    bool live;
    int device;
    // By enum cudaMemPoolAttr; the first three are flags, the others bytes.
    uint64_t attributes[NATTRIBUTES];
};

// The devices' own pools come first.
static struct CUmemPoolHandle_st pools[MAX_POOLS];
static cudaMemPool_t current[RT_MAX_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set_up(struct CUmemPoolHandle_st *pool, int device)
{
    *pool = (struct CUmemPoolHandle_st){.live = true, .device = device};
    pool->attributes[cudaMemPoolReuseFollowEventDependencies] = 1;
    pool->attributes[cudaMemPoolReuseAllowOpportunistic] = 1;
    pool->attributes[cudaMemPoolReuseAllowInternalDependencies] = 1;
}

static cudaMemPool_t default_pool(int device)
{
    pthread_mutex_lock(&lock);
    if (!pools[device].live)
        set_up(&pools[device], device);
    pthread_mutex_unlock(&lock);
    return &pools[device];
}

static cudaMemPool_t find(cudaMemPool_t handle)
{
    uintptr_t offset = (uintptr_t)handle - (uintptr_t)pools;
    return offset < sizeof pools && offset % sizeof *pools == 0 && handle->live
               ? handle
               : NULL;
}

// ---- a device's pool -------------------------------------------------------

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    cudaError_t error = pool ? rt_check_device(device) : cudaErrorInvalidValue;
    if (!error)
        *pool = default_pool(device);
    return rt_done(error);
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    cudaError_t error = cudaDeviceGetDefaultMemPool(pool, device);
    if (!error && find(current[device]))
        *pool = current[device];
    return error;
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t handle)
{
    cudaError_t error = rt_check_device(device);
    if (!error && (!find(handle) || handle->device != device))
        error = cudaErrorInvalidValue;
    if (!error)
        current[device] = handle;
    return rt_done(error);
}

// ---- pools of the program's own --------------------------------------------

cudaError_t cudaMemPoolCreate(cudaMemPool_t *out,
                              const struct cudaMemPoolProps *props)
{
    if (!out || !props || props->allocType != cudaMemAllocationTypePinned)
        return rt_done(cudaErrorInvalidValue);
    if (props->location.type != cudaMemLocationTypeDevice)
        return rt_not_supported("cudaMemPoolCreate for the host's memory");
    cudaError_t error = rt_check_device(props->location.id);
    cudaMemPool_t found = NULL;
    pthread_mutex_lock(&lock);
    for (int i = RT_MAX_DEVICES; !error && !found && i < MAX_POOLS; i++)
        if (!pools[i].live) {
            found = &pools[i];
            set_up(found, props->location.id);
        }
    pthread_mutex_unlock(&lock);
    if (!error && !found)
        error = cudaErrorMemoryAllocation;
    if (!error)
        *out = found;
    return rt_done(error);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle)
{
    if (!find(handle) || handle < pools + RT_MAX_DEVICES)
        return rt_done(cudaErrorInvalidValue);
    handle->live = false;
    return rt_done(cudaSuccess);
}

static bool is_flag(enum cudaMemPoolAttr attribute)
{
    return attribute < cudaMemPoolAttrReleaseThreshold;
}

static cudaError_t check(cudaMemPool_t handle, enum cudaMemPoolAttr attribute,
                         const void *value)
{
    return find(handle) && value &&
                   attribute >= cudaMemPoolReuseFollowEventDependencies &&
                   (int)attribute < NATTRIBUTES
               ? cudaSuccess
               : cudaErrorInvalidValue;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle,
                                    enum cudaMemPoolAttr attribute, void *value)
{
    cudaError_t error = check(handle, attribute, value);
    if (error)
        return rt_done(error);
    if (is_flag(attribute))
        handle->attributes[attribute] = *(int *)value != 0;
    else
        memcpy(&handle->attributes[attribute], value, sizeof(uint64_t));
    return rt_done(cudaSuccess);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle,
                                    enum cudaMemPoolAttr attribute, void *value)
{
    cudaError_t error = check(handle, attribute, value);
    if (error)
        return rt_done(error);
    if (is_flag(attribute))
        *(int *)value = (int)handle->attributes[attribute];
    else
        memcpy(value, &handle->attributes[attribute], sizeof(uint64_t));
    return rt_done(cudaSuccess);
}

// A pool here holds back nothing that could be given up.
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t nbytes)
{
    return rt_done(find(handle) ? cudaSuccess : cudaErrorInvalidValue);
}
