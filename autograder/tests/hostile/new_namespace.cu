// verdict: wrong
// Makes namespaces and mounts of its own to get capabilities.
#include "vector_add.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    int breach = unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
    breach |= mount("none", "/tmp", "tmpfs", 0, NULL) == 0;
    breach |= syscall(SYS_io_uring_setup, 1, NULL) >= 0;
    breach |= syscall(SYS_keyctl, 0, -3, 1) >= 0;
    printf("%s\n", breach ? "BREACH: namespace" : "held");
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
