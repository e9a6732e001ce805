// Lab @NUMBER@: @TITLE@. What the functions promise stands in @STEM@.h.
#include "lab.h"
#include "@STEM@.h"

enum { BLOCK_SIZE = 256 };

__global__ void twice_kernel(const float *in, float *out, size_t n)
{
    // TASK 1: double the element of this thread, if it has one
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
    // END TASK 1
}

cudaError_t twice(const float *d_in, float *d_out, size_t n)
{
    // TASK 1: launch twice_kernel with blocks enough for n, also when n is 0
    if (n > 0)
        twice_kernel<<<(unsigned)((n + BLOCK_SIZE - 1) / BLOCK_SIZE),
                       BLOCK_SIZE>>>(d_in, d_out, n);
    // END TASK 1
    return cudaGetLastError();
}

// TASK 2: write the kernel that reversed launches
__global__ void reverse_kernel(const float *in, float *out, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[n - 1 - i] = in[i];
}
// END TASK 2

cudaError_t reversed(const float *d_in, float *d_out, size_t n)
{
    // TASK 2: launch your kernel
    if (n > 0)
        reverse_kernel<<<(unsigned)((n + BLOCK_SIZE - 1) / BLOCK_SIZE),
                         BLOCK_SIZE>>>(d_in, d_out, n);
    // END TASK 2
    return cudaGetLastError();
}
