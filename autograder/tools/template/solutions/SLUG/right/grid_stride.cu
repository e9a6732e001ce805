// A grid of bounded size with a loop over it.
#include "lab.h"
#include "@STEM@.h"

enum { BLOCK_SIZE = 256 };

__global__ void twice_kernel(const float *in, float *out, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += (size_t)blockDim.x * gridDim.x)
        out[i] = 2 * in[i];
}

cudaError_t twice(const float *d_in, float *d_out, size_t n)
{
    if (n > 0)
        twice_kernel<<<2, BLOCK_SIZE>>>(d_in, d_out, n);
    return cudaGetLastError();
}

__global__ void reverse_kernel(const float *in, float *out, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}

cudaError_t reversed(const float *d_in, float *d_out, size_t n)
{
    if (n > 0)
        reverse_kernel<<<(unsigned)((n + BLOCK_SIZE - 1) / BLOCK_SIZE),
                         BLOCK_SIZE>>>(d_in, d_out, n);
    return cudaGetLastError();
}
