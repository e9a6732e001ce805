// Errors: the last one of each thread, their names and texts; and what is
// said on stderr.
#include "runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local cudaError_t last_error;

cudaError_t rt_done(cudaError_t error)
{
    if (error != cudaSuccess && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

// Clears it even after a fault, which comes back with the next call to the
// device.
cudaError_t cudaGetLastError(void)
{
    cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

// ---- names and texts -------------------------------------------------------

static const struct {
    int number;
    const char *name, *text;
} errors[] = {
#define X(number, name, text) {number, #name, text},
#include "errors.def"
#undef X
};

static const char unknown[] = "unrecognized error code";

const char *cudaGetErrorName(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == (int)error)
            return errors[i].name;
    return unknown;
}

const char *cudaGetErrorString(cudaError_t error)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].number == (int)error)
            return errors[i].text;
    return unknown;
}

// ---- what is said on stderr ------------------------------------------------

cudaError_t rt_not_supported(const char *name)
{
    enum { REMEMBERED = 512 };
    static const char *said[REMEMBERED];
    for (int i = 0; i < REMEMBERED; i++) {
        const char *before = NULL;
        if (__atomic_compare_exchange_n(&said[i], &before, name, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            fprintf(stderr, "vgpu: the virtual GPU has no %s()\n", name);
            break;
        }
        if (!strcmp(before, name))
            break;
    }
    return rt_done(cudaErrorNotSupported);
}

bool rt_traces(const char *subject)
{
    const char *subjects = getenv("VGPU_TRACE");
    size_t n = strlen(subject);
    while (subjects && *subjects) {
        size_t word = strcspn(subjects, ",");
        if ((word == n && !strncmp(subjects, subject, n)) ||
            (word == 3 && !strncmp(subjects, "all", 3)))
            return true;
        subjects += word + (subjects[word] == ',');
    }
    return false;
}

void rt_trace(const char *subject, const char *format, ...)
{
    if (!rt_traces(subject))
        return;
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "vgpu %s: %s\n", subject, line);
}
