// NVML, loaded when it is there. The few prototypes that are needed stand
// here, since not every toolkit brings nvml.h.
#include "gpu_state.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

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

enum { NVML_SUCCESS = 0 };
enum { LOOKS = 10, LOOK_US = 100000 }; // a process takes a moment to be gone

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

static void list_processes(nvml_device d, struct pids *out)
{
    struct nvml_process list[PIDS_MAX];
    unsigned n = PIDS_MAX;
    out->n = 0;
    if (!nvml.processes || nvml.processes(d, &n, list) != NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < n && i < PIDS_MAX; i++)
        out->pid[out->n++] = list[i].pid;
}

void gpu_state_processes(const char *bus_id, struct pids *out)
{
    nvml_device d;
    out->n = 0;
    if (find(bus_id, &d))
        list_processes(d, out);
}

double gpu_state_load(const char *bus_id)
{
    nvml_device d;
    struct nvml_utilization u = {0, 0};
    struct pids now;
    if (!find(bus_id, &d))
        return 0;
    if (nvml.utilization)
        nvml.utilization(d, &u);
    list_processes(d, &now);
    return 100.0 * now.n + u.gpu;
}

// Strangers that stay.
static unsigned count_strangers(nvml_device d, const struct pids *before,
                                unsigned own)
{
    unsigned n = 0;
    for (unsigned look = 0; look < LOOKS; look++) {
        struct pids now;
        list_processes(d, &now);
        n = strangers_count(before, &now, own);
        if (n == 0)
            break;
        usleep(LOOK_US);
    }
    return n;
}

int gpu_state_busy(const char *bus_id, const struct pids *before, unsigned own,
                   char *message, size_t message_bytes)
{
    nvml_device d;
    unsigned long long reasons = 0;
    if (!find(bus_id, &d))
        return 0;
    unsigned n = count_strangers(d, before, own);
    if (n > 0) {
        snprintf(message, message_bytes, "%u other program%s this GPU", n,
                 n == 1 ? " computes on" : "s compute on");
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
