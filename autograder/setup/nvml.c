// Loads libnvidia-ml.so.1 and asks it. A question that this driver or this
// card does not answer leaves its field as "not told".
#include "nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef struct nvmlDevice_st *nvml_device;
struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_utilization {
    unsigned gpu, memory;
};

// The calls that are made, named as the library names them.
struct nvml {
    int (*nvmlInit_v2)(void);
    int (*nvmlShutdown)(void);
    const char *(*nvmlErrorString)(int);
    int (*nvmlSystemGetDriverVersion)(char *, unsigned);
    int (*nvmlSystemGetCudaDriverVersion_v2)(int *);
    int (*nvmlDeviceGetCount_v2)(unsigned *);
    int (*nvmlDeviceGetHandleByIndex_v2)(unsigned, nvml_device *);
    int (*nvmlDeviceGetName)(nvml_device, char *, unsigned);
    int (*nvmlDeviceGetCudaComputeCapability)(nvml_device, int *, int *);
    int (*nvmlDeviceGetTemperature)(nvml_device, int, unsigned *);
    int (*nvmlDeviceGetUtilizationRates)(nvml_device,
                                         struct nvml_utilization *);
    int (*nvmlDeviceGetMemoryInfo)(nvml_device, struct nvml_memory *);
    int (*nvmlDeviceGetComputeMode)(nvml_device, int *);
    int (*nvmlDeviceGetMigMode)(nvml_device, unsigned *, unsigned *);
    int (*nvmlDeviceGetComputeRunningProcesses_v3)(nvml_device, unsigned *,
                                                   void *);
};

#define FIND(name) *(void **)&nvml->name = dlsym(library, #name)

// True when the calls that everything rests on are there.
static bool find_calls(void *library, struct nvml *nvml)
{
    FIND(nvmlInit_v2);
    FIND(nvmlShutdown);
    FIND(nvmlErrorString);
    FIND(nvmlSystemGetDriverVersion);
    FIND(nvmlSystemGetCudaDriverVersion_v2);
    FIND(nvmlDeviceGetCount_v2);
    FIND(nvmlDeviceGetHandleByIndex_v2);
    FIND(nvmlDeviceGetName);
    FIND(nvmlDeviceGetCudaComputeCapability);
    FIND(nvmlDeviceGetTemperature);
    FIND(nvmlDeviceGetUtilizationRates);
    FIND(nvmlDeviceGetMemoryInfo);
    FIND(nvmlDeviceGetComputeMode);
    FIND(nvmlDeviceGetMigMode);
    FIND(nvmlDeviceGetComputeRunningProcesses_v3);
    return nvml->nvmlInit_v2 && nvml->nvmlDeviceGetCount_v2 &&
           nvml->nvmlDeviceGetHandleByIndex_v2;
}

// Is a call there, and does it succeed?
#define ASK(call, ...) (nvml->call && nvml->call(__VA_ARGS__) == 0)

static int count_processes(const struct nvml *nvml, nvml_device device)
{
    enum { INSUFFICIENT_SIZE = 7 };
    unsigned count = 0;

    if (!nvml->nvmlDeviceGetComputeRunningProcesses_v3)
        return -1;
    int error =
        nvml->nvmlDeviceGetComputeRunningProcesses_v3(device, &count, NULL);
    return error == 0 || error == INSUFFICIENT_SIZE ? (int)count : -1;
}

static void read_gpu(const struct nvml *nvml, nvml_device device,
                     struct nvml_gpu *gpu)
{
    enum { SENSOR_GPU = 0 };
    int major = 0, minor = 0;
    unsigned celsius = 0, mig = 0, mig_pending = 0;
    struct nvml_utilization busy = {0, 0};
    struct nvml_memory memory = {0, 0, 0};

    snprintf(gpu->name, sizeof gpu->name, "unnamed GPU");
    (void)ASK(nvmlDeviceGetName, device, gpu->name, sizeof gpu->name);
    if (ASK(nvmlDeviceGetCudaComputeCapability, device, &major, &minor))
        gpu->capability = major * 10 + minor;
    gpu->temperature_c =
        ASK(nvmlDeviceGetTemperature, device, SENSOR_GPU, &celsius)
            ? (int)celsius
            : -1;
    gpu->busy_percent = ASK(nvmlDeviceGetUtilizationRates, device, &busy)
                            ? (int)busy.gpu
                            : -1;
    if (ASK(nvmlDeviceGetMemoryInfo, device, &memory)) {
        gpu->used_bytes = memory.used;
        gpu->total_bytes = memory.total;
    }
    (void)ASK(nvmlDeviceGetComputeMode, device, &gpu->compute_mode);
    gpu->mig = ASK(nvmlDeviceGetMigMode, device, &mig, &mig_pending) && mig;
    gpu->compute_processes = count_processes(nvml, device);
}

static void read_all(const struct nvml *nvml, struct nvml_report *report)
{
    unsigned count = 0;

    (void)ASK(nvmlSystemGetDriverVersion, report->driver,
              sizeof report->driver);
    (void)ASK(nvmlSystemGetCudaDriverVersion_v2, &report->cuda_version);
    if (!ASK(nvmlDeviceGetCount_v2, &count))
        return;
    for (unsigned i = 0; i < count && report->ngpus < NVML_MAX_GPUS; i++) {
        nvml_device device;
        if (ASK(nvmlDeviceGetHandleByIndex_v2, i, &device))
            read_gpu(nvml, device, &report->gpus[report->ngpus++]);
    }
}

void nvml_read(struct nvml_report *report)
{
    struct nvml calls = {0};
    const struct nvml *nvml = &calls;

    memset(report, 0, sizeof *report);
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library || !find_calls(library, &calls)) {
        report->state = NVML_NO_LIBRARY;
        snprintf(report->why, sizeof report->why,
                 "no NVIDIA driver is installed (libnvidia-ml.so.1 %s)",
                 library ? "is too old" : "not found");
        return;
    }
    int error = nvml->nvmlInit_v2();
    if (error != 0) {
        report->state = NVML_NO_DRIVER;
        snprintf(report->why, sizeof report->why, "%s",
                 nvml->nvmlErrorString ? nvml->nvmlErrorString(error)
                                       : "the NVIDIA driver does not answer");
        return;
    }
    report->state = NVML_READY;
    read_all(nvml, report);
    if (nvml->nvmlShutdown)
        nvml->nvmlShutdown();
}
