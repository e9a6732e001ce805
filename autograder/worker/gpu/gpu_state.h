// What a GPU is busy with, through NVML where there is one.
#pragma once

#include <stddef.h>

#include "strangers.h"

#ifdef __cplusplus
extern "C" {
#endif

// How busy it is: 0 idle; larger is busier. 0 where it cannot be seen.
double gpu_state_load(const char *bus_id);
// The processes that compute on it; none where they cannot be seen.
void gpu_state_processes(const char *bus_id, struct pids *out);
// 0: fit to measure, as far as can be seen. Else -1, and why not: strangers
// that compute on it (see strangers.h), or clocks held down.
int gpu_state_busy(const char *bus_id, const struct pids *before, unsigned own,
                   char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
