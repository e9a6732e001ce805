// verdict: wrong
// Doubles its processes until there are 128, which sleep.
#include "vector_add.h"
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    int child = 0;
    for (int i = 0; i < 7; i++)
        child |= fork() == 0;
    if (child) {
        sleep(30);
        _exit(0);
    }
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
