// What NVIDIA's management library says of the GPUs of this machine.
//
// The library comes with the driver, its header not with every toolkit: it is
// loaded at run time, with prototypes of our own.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { NVML_TEXT = 96, NVML_MAX_GPUS = 64 };

enum nvml_state {
    NVML_READY,
    NVML_NO_LIBRARY,   // no driver here
    NVML_NO_DRIVER,    // the library is there, the driver does not answer
};

struct nvml_gpu {
    char name[NVML_TEXT];
    int capability;                  // 90 for 9.0; 0 unknown
    int temperature_c;               // -1 where not told
    int busy_percent;                // -1 where not told
    uint64_t used_bytes, total_bytes; // 0, 0 where not told (MIG)
    int compute_mode;                // 0 default, 2 prohibited, 3 exclusive
    int compute_processes;           // -1 where not told
    bool mig;
};

struct nvml_report {
    enum nvml_state state;
    char why[160];                   // when not ready: for a person
    char driver[NVML_TEXT];          // "580.159.03"
    int cuda_version;                // 13000: highest that the driver runs
    unsigned ngpus;
    struct nvml_gpu gpus[NVML_MAX_GPUS];
};

// Fills the report; never fails otherwise than by its state.
void nvml_read(struct nvml_report *);
