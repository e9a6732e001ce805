// verdict: wrong
// Attaches to its parent and reads its memory.
#include "vector_add.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    char path[64];
    long attached = ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)getppid());
    int mem = open(path, O_RDWR);
    printf("%s\n", attached == 0 || mem >= 0 ? "BREACH: traced" : "held");
    fflush(stdout);
    return cudaSuccess;
}

cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n)
{
    return cudaErrorInvalidValue;
}

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    return cudaErrorInvalidValue;
}
