#include "model.h"

#include <stddef.h>
#include <strings.h>

#define KIB(n) ((n) << 10)
#define MIB(n) (UINT64_C(n) << 20)

static const struct gpu_model GPUS[] = {
#define GPU(...) {__VA_ARGS__},
#include "gpus.def"
#undef GPU
};

enum { NGPUS = sizeof GPUS / sizeof *GPUS };

const struct gpu_model *gpu_at(unsigned index)
{
    return index < NGPUS ? &GPUS[index] : NULL;
}

const struct gpu_model *gpu_find(const char *key)
{
    for (unsigned i = 0; key && i < NGPUS; i++)
        if (strcasecmp(GPUS[i].key, key) == 0)
            return &GPUS[i];
    return NULL;
}

const struct gpu_model *gpu_default(void)
{
    return gpu_find("h200");
}
