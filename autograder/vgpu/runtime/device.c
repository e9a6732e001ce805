// Devices: which there are, which is current, waiting for them, their limits.
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int current;

int rt_device(void) { return current; }

cudaError_t rt_check_device(int device)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    return device >= 0 && (unsigned)device < rt_hello()->ndevices
               ? cudaSuccess
               : cudaErrorInvalidDevice;
}

// ---- which device ----------------------------------------------------------

cudaError_t cudaGetDeviceCount(int *count)
{
    if (!count)
        return rt_done(cudaErrorInvalidValue);
    cudaError_t error = rt_connect();
    *count = error ? 0 : (int)rt_hello()->ndevices;
    return rt_done(error);
}

cudaError_t cudaSetDevice(int device)
{
    cudaError_t error = rt_check_device(device);
    if (!error)
        current = device;
    return rt_done(error);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    return rt_done(rt_check_device(device));
}

cudaError_t cudaGetDevice(int *device)
{
    cudaError_t error = device ? rt_connect() : cudaErrorInvalidValue;
    if (!error)
        *device = current;
    return rt_done(error);
}

cudaError_t cudaSetValidDevices(int *devices, int n)
{
    if (n < 0 || (n && !devices))
        return rt_done(cudaErrorInvalidValue);
    for (int i = 0; i < n; i++) {
        cudaError_t error = rt_check_device(devices[i]);
        if (error)
            return rt_done(error);
    }
    return rt_done(cudaSuccess);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    cudaError_t error = device && wanted ? rt_connect() : cudaErrorInvalidValue;
    if (!error)
        *device = 0; // all are alike
    return rt_done(error);
}

static unsigned device_flags;

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    if (flags & ~(unsigned)cudaDeviceMask)
        return rt_done(cudaErrorInvalidValue);
    device_flags = flags;
    return rt_done(rt_connect());
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags)
        return rt_done(cudaErrorInvalidValue);
    *flags = device_flags | cudaDeviceMapHost;
    return rt_done(rt_connect());
}

// ---- waiting ---------------------------------------------------------------

cudaError_t cudaDeviceSynchronize(void)
{
    struct wire_sync body = {current, WIRE_ALL_STREAMS};
    cudaError_t error = rt_ask(WIRE_SYNC, &body, sizeof body, NULL, 0);
    rt_write_output();
    return rt_done(error);
}

cudaError_t cudaDeviceReset(void)
{
    struct wire_device body = {current};
    cudaError_t error = rt_ask(WIRE_RESET, &body, sizeof body, NULL, 0);
    rt_write_output();
    return rt_done(error);
}

// ---- limits and settings that change nothing -------------------------------

static size_t limits[] = {
    [cudaLimitStackSize] = 1024,
    [cudaLimitPrintfFifoSize] = 1 << 20,
    [cudaLimitMallocHeapSize] = 8 << 20,
    [cudaLimitDevRuntimeSyncDepth] = 2,
    [cudaLimitDevRuntimePendingLaunchCount] = 2048,
    [cudaLimitMaxL2FetchGranularity] = 64,
    [cudaLimitPersistingL2CacheSize] = 0,
};

enum { NLIMITS = sizeof limits / sizeof *limits };

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    if ((unsigned)limit >= NLIMITS)
        return rt_done(cudaErrorUnsupportedLimit);
    limits[limit] = value;
    return rt_done(rt_connect());
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    if (!value)
        return rt_done(cudaErrorInvalidValue);
    if ((unsigned)limit >= NLIMITS)
        return rt_done(cudaErrorInvalidValue);
    *value = limits[limit];
    return rt_done(rt_connect());
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    return rt_done(rt_connect());
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    if (!config)
        return rt_done(cudaErrorInvalidValue);
    *config = cudaFuncCachePreferNone;
    return rt_done(rt_connect());
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return rt_done(rt_connect());
}

cudaError_t cudaProfilerStart(void) { return rt_done(rt_connect()); }
cudaError_t cudaProfilerStop(void) { return rt_done(rt_connect()); }

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return rt_done(rt_connect());
}

// ---- versions --------------------------------------------------------------

cudaError_t cudaDriverGetVersion(int *version)
{
    if (!version)
        return rt_done(cudaErrorInvalidValue);
    *version = CUDART_VERSION;
    return rt_done(cudaSuccess);
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

// ---- bus numbers -----------------------------------------------------------

cudaError_t cudaDeviceGetPCIBusId(char *text, int n, int device)
{
    cudaError_t error = text && n > 0 ? rt_check_device(device)
                                      : cudaErrorInvalidValue;
    if (!error && snprintf(text, (size_t)n, "0000:%02X:00.0", device + 1) >= n)
        error = cudaErrorInvalidValue;
    return rt_done(error);
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain, bus, slot;
    if (!device || !text ||
        sscanf(text, "%x:%x:%x", &domain, &bus, &slot) != 3 || domain || slot ||
        rt_check_device((int)bus - 1))
        return rt_done(cudaErrorInvalidValue);
    *device = (int)bus - 1;
    return rt_done(cudaSuccess);
}
