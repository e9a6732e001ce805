// The worker's parts.
//
//   device.c       the CUDA runtime, if there is one, resolved by path
//   call.c         calls a function by a description of its arguments
//   worker_main.c  the loop: one request, one reply
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol.h"

// ---- the device ----------------------------------------------------------

// Loads the runtime; path NULL or "": there is none, and all calls succeed.
// false, with text: it does not load.
bool device_open(const char *path, char *text);
// Waits for all work, and takes the last error: 0, or a CUDA error.
int device_synchronize(void);
const char *device_error_name(int error);
// Starts the least work there is: what an empty "go" costs is to include that
// the GPU changes to this process.
void device_nudge(void);
// Opens a handle of the judge's; NULL on failure.
void *device_open_handle(const uint8_t *handle, int *error);
void device_close_handle(void *);
void *device_alloc(size_t nbytes, int *error);
void device_release(void *);
// to_device: src is host memory; else dst is.
int device_copy(void *dst, const void *src, size_t nbytes, bool to_device);

// ---- calls ----------------------------------------------------------------

struct mapping {
    enum { MAPPING_NONE, MAPPING_HOST, MAPPING_AT, MAPPING_IPC,
           MAPPING_OWN } kind;
    char *address;
    size_t nbytes;
};

// Ready to be made: the function and its arguments, as libffi wants them.
struct prepared;
// NULL with reply->status and text when the symbol or a buffer is missing.
struct prepared *call_prepare(void *library, const struct wire_call *,
                              const struct mapping *, struct reply *);
void call_free(struct prepared *);
// Makes it; the returned value into reply.
void call_run(struct prepared *, struct reply *);
