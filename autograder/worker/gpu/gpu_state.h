// What a GPU is busy with, through NVML where there is one.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// How busy it is: 0 idle; larger is busier. 0 where it cannot be seen.
double gpu_state_load(const char *bus_id);
// 0: fit to measure, as far as can be seen. Else -1, and why not: more than
// `expected` compute processes, or clocks held down.
int gpu_state_busy(const char *bus_id, unsigned expected, char *message,
                   size_t message_bytes);

#ifdef __cplusplus
}
#endif
