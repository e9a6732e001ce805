// verdict: timeout
// A kernel that ends when a flag changes, which it does not.
#include "vector_add.h"

__global__ static void spin(volatile float *c)
{
    for (unsigned long long i = 0; i < 1ull << 40 && c[0] != 1.5f; i++)
        c[1] = (float)i;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    if (n < 2)
        return cudaSuccess;
    spin<<<1, 32>>>(d_c);
    return cudaDeviceSynchronize();
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
