// verdict: stopped
// Touches 8 GiB of host memory.
#include "vector_add.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    for (int i = 0; i < 128; i++) {
        char *p = (char *)malloc(64 << 20);
        if (p)
            memset(p, i + 1, 64 << 20);
    }
    sleep(30);
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
