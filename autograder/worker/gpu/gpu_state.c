// NVML, loaded when it is there. The few prototypes that are needed stand
// here, since not every toolkit brings nvml.h.
#include "gpu_state.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

typedef void *nvml_device;

struct nvml_process { // nvmlProcessInfo_t
    unsigned pid;
    unsigned long long used_bytes;
    unsigned gpu_instance, compute_instance;
};
struct nvml_utilization {
    unsigned gpu, memory; // percent
};

// nvmlClocksThrottleReason*: hardware slow-down, software and hardware
// thermal, power brake. (A power cap is normal under load.)
static const unsigned long long held_down = 0x8 | 0x20 | 0x40 | 0x80;

enum { NVML_SUCCESS = 0, NVML_TOO_SMALL = 7, MAX_PROCESSES = 64 };

static struct {
    int (*init)(void);
    int (*by_bus_id)(const char *, nvml_device *);
    int (*processes)(nvml_device, unsigned *, struct nvml_process *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*utilization)(nvml_device, struct nvml_utilization *);
} nvml;

static void *resolve(void *lib, const char *name)
{
    return lib ? dlsym(lib, name) : NULL;
}

static bool load(void)
{
    static bool tried, works;
    if (tried)
        return works;
    tried = true;
    void *lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    *(void **)&nvml.init = resolve(lib, "nvmlInit_v2");
    *(void **)&nvml.by_bus_id =
        resolve(lib, "nvmlDeviceGetHandleByPciBusId_v2");
    *(void **)&nvml.processes =
        resolve(lib, "nvmlDeviceGetComputeRunningProcesses_v3");
    *(void **)&nvml.throttle =
        resolve(lib, "nvmlDeviceGetCurrentClocksThrottleReasons");
    *(void **)&nvml.utilization =
        resolve(lib, "nvmlDeviceGetUtilizationRates");
    works = nvml.init && nvml.by_bus_id && nvml.init() == NVML_SUCCESS;
    return works;
}

static bool find(const char *bus_id, nvml_device *d)
{
    return load() && nvml.by_bus_id(bus_id, d) == NVML_SUCCESS;
}

// Compute processes on it, as far as they can be seen from here.
static unsigned count_processes(nvml_device d)
{
    struct nvml_process list[MAX_PROCESSES];
    unsigned n = MAX_PROCESSES;
    int rc = nvml.processes ? nvml.processes(d, &n, list) : -1;
    return rc == NVML_SUCCESS || rc == NVML_TOO_SMALL ? n : 0;
}

double gpu_state_load(const char *bus_id)
{
    nvml_device d;
    struct nvml_utilization u = {0, 0};
    if (!find(bus_id, &d))
        return 0;
    if (nvml.utilization)
        nvml.utilization(d, &u);
    return 100.0 * count_processes(d) + u.gpu;
}

int gpu_state_busy(const char *bus_id, unsigned expected, char *message,
                   size_t message_bytes)
{
    nvml_device d;
    unsigned long long reasons = 0;
    if (!find(bus_id, &d))
        return 0;
    unsigned n = count_processes(d);
    if (n > expected) {
        snprintf(message, message_bytes,
                 "%u other programs compute on this GPU", n - expected);
        return -1;
    }
    if (nvml.throttle && nvml.throttle(d, &reasons) == NVML_SUCCESS &&
        (reasons & held_down)) {
        snprintf(message, message_bytes,
                 "the GPU's clocks are held down (reasons 0x%llx)", reasons);
        return -1;
    }
    return 0;
}
