// What the files of faulty and of right kernels share: a table of cases, one
// of which is run by name.
//
//   faults --list      name, kind of finding, block, thread of every case
//   faults NAME        runs it; under `vgpu-run --check` it must be found
//
// The line that a finding must name bears the comment `// fault: NAME`. A
// block or thread of -1 in the table stands for any.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

struct fault_case {
    const char *name, *kind;
    int block, thread;
    void (*run)();
};

// What a case allocated, to be freed at its end: no leaks but planted ones.
static void *made[16];
static unsigned nmade;

// Device memory that nobody has written; exits when there is no device.
template <typename T> static T *make_unwritten(size_t n)
{
    T *p;
    cudaError_t err = cudaMalloc(&p, n * sizeof(T));
    if (err != cudaSuccess || nmade == sizeof made / sizeof made[0]) {
        fprintf(stderr, "%s\n", cudaGetErrorName(err));
        exit(2);
    }
    made[nmade++] = p;
    return p;
}

// The same with every byte set.
template <typename T> static T *make(size_t n, int byte = 0)
{
    T *p = make_unwritten<T>(n);
    cudaMemset(p, byte, n * sizeof(T));
    return p;
}

static void free_made()
{
    while (nmade > 0)
        cudaFree(made[--nmade]);
}

static int run_cases(const fault_case *cases, size_t n, int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: %s --list | NAME\n", argv[0]);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        const fault_case &c = cases[i];
        if (strcmp(argv[1], "--list") == 0) {
            printf("%s %s %d %d\n", c.name, c.kind, c.block, c.thread);
        } else if (strcmp(argv[1], c.name) == 0) {
            c.run();
            cudaError_t err = cudaDeviceSynchronize();
            printf("%s: %s\n", c.name, cudaGetErrorName(err));
            free_made();
            return 0;
        }
    }
    return strcmp(argv[1], "--list") != 0;
}
