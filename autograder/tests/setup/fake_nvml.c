// A stand-in for libnvidia-ml.so.1 that tells of two cards.
//   -DDEAD        the driver does not answer
//   -DOLD         its version is below what CUDA 13 needs
//   -DPROHIBITED  the first card's compute mode lets nobody in
#include <stdint.h>
#include <stdio.h>

enum { OK = 0, NOT_SUPPORTED = 3, DRIVER_NOT_LOADED = 9 };
struct memory {
    unsigned long long total, free, used;
};
struct utilization {
    unsigned gpu, memory;
};

int nvmlInit_v2(void)
{
#ifdef DEAD
    return DRIVER_NOT_LOADED;
#else
    return OK;
#endif
}

int nvmlShutdown(void)
{
    return OK;
}

const char *nvmlErrorString(int error)
{
    return error == DRIVER_NOT_LOADED ? "Driver Not Loaded" : "Unknown";
}

int nvmlSystemGetDriverVersion(char *text, unsigned length)
{
#ifdef OLD
    snprintf(text, length, "535.1");
#else
    snprintf(text, length, "580.95.05");
#endif
    return OK;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    *version = 13000;
    return OK;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = 2;
    return OK;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = (void *)(uintptr_t)(index + 1);
    return OK;
}

static int is_first(void *device)
{
    return (uintptr_t)device == 1;
}

int nvmlDeviceGetName(void *device, char *name, unsigned length)
{
    snprintf(name, length, "NVIDIA Test %s", is_first(device) ? "One" : "Two");
    return OK;
}

int nvmlDeviceGetCudaComputeCapability(void *device, int *major, int *minor)
{
    *major = is_first(device) ? 9 : 6;
    *minor = is_first(device) ? 0 : 1;
    return OK;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    *celsius = 41;
    return is_first(device) && sensor == 0 ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetUtilizationRates(void *device, struct utilization *busy)
{
    busy->gpu = 7;
    return is_first(device) ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetMemoryInfo(void *device, struct memory *memory)
{
    memory->total = 4ull << 30;
    memory->used = 1ull << 30;
    memory->free = 3ull << 30;
    return is_first(device) ? OK : NOT_SUPPORTED;
}

int nvmlDeviceGetComputeMode(void *device, int *mode)
{
#ifdef PROHIBITED
    *mode = 2;
#else
    *mode = 0;
#endif
    return OK;
}
