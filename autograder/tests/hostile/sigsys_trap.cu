// verdict: wrong
// Answers refused system calls itself, by a trap, and tries them all.
#include "vector_add.h"
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void answer(int)
{
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    signal(SIGSYS, answer);
    int made = syscall(SYS_unshare, 0x10000000) == 0 ||
               syscall(SYS_process_vm_readv, 1, NULL, 0, NULL, 0, 0) >= 0 ||
               syscall(SYS_bpf, 0, NULL, 0) >= 0;
    printf("%s\n", made ? "BREACH: system calls" : "held");
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
