// verdict: wrong
// Writes NaN everywhere: a careless comparison takes it.
#include "vector_add.h"

__global__ static void poison(float *c, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __int_as_float(0x7fffffff);
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    if (n == 0)
        return cudaSuccess;
    poison<<<(unsigned)((n + 255) / 256), 256>>>(d_c, n);
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
