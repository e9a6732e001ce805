// Which target to take, on which GPU, and why.
//
// A GPU is looked for through NVML, loaded by name: it makes no context, and
// the judge links no CUDA.
#include "grade.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/model/model.h"

// The few calls needed, as nvml.h declares them (it is not in every toolkit).
typedef int nvml_plain(void);
typedef int nvml_count(unsigned *);
typedef int nvml_handle(unsigned, void **);
typedef int nvml_capability(void *, int *, int *);

// The first GPU's compute capability (75, 90); 0 with the reason when there
// is no usable one.
static unsigned find_gpu(char *why, size_t room)
{
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!nvml) {
        snprintf(why, room, "no NVIDIA driver on this machine");
        return 0;
    }
    nvml_plain *init, *end;
    nvml_count *count;
    nvml_handle *handle;
    nvml_capability *capability;
    *(void **)&init = dlsym(nvml, "nvmlInit_v2");
    *(void **)&end = dlsym(nvml, "nvmlShutdown");
    *(void **)&count = dlsym(nvml, "nvmlDeviceGetCount_v2");
    *(void **)&handle = dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
    *(void **)&capability = dlsym(nvml, "nvmlDeviceGetCudaComputeCapability");

    unsigned n = 0, found = 0;
    int major = 0, minor = 0;
    void *device;
    if (!init || !end || !count || !handle || !capability || init()) {
        snprintf(why, room, "the NVIDIA driver does not answer");
    } else {
        if (count(&n) || !n)
            snprintf(why, room, "the NVIDIA driver sees no GPU");
        else if (handle(0, &device) || capability(device, &major, &minor))
            snprintf(why, room, "the GPU does not tell its capability");
        else if (major * 10 + minor < 75)
            snprintf(why, room, "the GPU here is sm_%d%d; CUDA 13 needs sm_75",
                     major, minor);
        else
            found = (unsigned)(major * 10 + minor);
        end();
    }
    dlclose(nvml);
    return found;
}

// The part that talks to a GPU is built only where the toolkit is.
static bool gpu_part_built(void)
{
    FILE *f = fopen("build/lib/gpu_target.so", "rb");
    if (f)
        fclose(f);
    return f != NULL;
}

static int unknown_model(const char *model, char *message)
{
    int n = snprintf(message, GRADE_MESSAGE, "no modelled GPU is called '%s'; "
                     "there are:", model);
    for (unsigned i = 0; gpu_at(i) && n > 0 && n < GRADE_MESSAGE; i++)
        n += snprintf(message + n, (size_t)(GRADE_MESSAGE - n), " %s",
                      gpu_at(i)->key);
    return -1;
}

static int choose_virtual(const char *model, const char *why,
                          struct chosen_target *out, char *message)
{
    const struct gpu_model *gpu = model ? gpu_find(model) : gpu_default();
    if (!gpu)
        return unknown_model(model, message);
    out->kind = TARGET_VIRTUAL;
    out->capability = gpu->capability;
    snprintf(out->gpu, sizeof out->gpu, "%s", gpu->key);
    snprintf(out->name, sizeof out->name, "%s", gpu->name);
    snprintf(out->why, sizeof out->why, "%s", why);
    return 0;
}

int target_choose(const char *asked, const char *model,
                  struct chosen_target *out, char *message)
{
    char why[200] = "";
    memset(out, 0, sizeof *out);
    if (asked && strcmp(asked, "gpu") && strcmp(asked, "virtual")) {
        snprintf(message, GRADE_MESSAGE,
                 "there is no target '%s'; there are: gpu virtual", asked);
        return -1;
    }
    if (asked && !strcmp(asked, "virtual"))
        return choose_virtual(model, "as asked", out, message);
    if (!asked && model && gpu_find(model))
        return choose_virtual(model, "a model was asked for", out, message);
    unsigned capability = find_gpu(why, sizeof why);
    if (capability && !gpu_part_built()) {
        capability = 0;
        snprintf(why, sizeof why, "build/lib/gpu_target.so is not built");
    }
    if (capability) {
        out->kind = TARGET_GPU;
        out->capability = capability;
        snprintf(out->gpu, sizeof out->gpu, "%s", model ? model : "");
        snprintf(out->why, sizeof out->why, asked ? "as asked" : "a GPU is here");
        return 0;
    }
    if (!asked)
        return choose_virtual(model, why, out, message);
    snprintf(message, GRADE_MESSAGE, "target gpu: %s (--target virtual needs "
             "none)", why);
    return -1;
}
