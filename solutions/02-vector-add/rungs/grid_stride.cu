// Rung 2: a grid that fits the GPU, and threads that come back for more.
// Fewer blocks to start; as many bytes on their way as before.
#include <stdint.h>

#include "lab.h"
#include "vector_add.h"

// Threads a block: a multiple of 32, and a size that every GPU runs well.
enum { BLOCK_SIZE = 256 };

// Eight blocks of 256 on each of an H200's 132 SMs.
enum { MOST_BLOCKS = 8 * 132 };

// ---- Task 1: one thread, one element -----------------------------------

__global__ void add_kernel(const float *a, const float *b, float *c, size_t n)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c,
                       size_t n)
{
    if (n == 0)
        return cudaSuccess; // a grid of no blocks would be a launch error
    unsigned nblocks = (unsigned)((n + BLOCK_SIZE - 1) / BLOCK_SIZE);
    add_kernel<<<nblocks, BLOCK_SIZE>>>(d_a, d_b, d_c, n);
    return cudaGetLastError(); // a launch has no other way to tell
}

// ---- Task 2: there and back ----------------------------------------------

cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n)
{
    cudaError_t error = cudaSuccess;
    const size_t nbytes = n * sizeof(float);
    float *d_a = NULL, *d_b = NULL, *d_c = NULL;
    if (n == 0)
        return cudaSuccess;
    error = cudaMalloc(&d_a, nbytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&d_b, nbytes);
    if (error == cudaSuccess)
        error = cudaMalloc(&d_c, nbytes);
    if (error == cudaSuccess)
        error = cudaMemcpy(d_a, h_a, nbytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaMemcpy(d_b, h_b, nbytes, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = vector_add(d_a, d_b, d_c, n);
    // this copy waits for the kernel, and brings the error of its run as well
    if (error == cudaSuccess)
        error = cudaMemcpy(h_c, d_c, nbytes, cudaMemcpyDeviceToHost);
    cudaFree(d_c); // freeing NULL is allowed and does nothing
    cudaFree(d_b);
    cudaFree(d_a);
    return error;
}

// ---- Task 3: wider loads -------------------------------------------------

__global__ void saxpy_plain(float alpha, const float *x, const float *y,
                            float *z, size_t n)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (; k < n; k += stride)
        z[k] = alpha * x[k] + y[k];
}

static unsigned blocks_for(size_t nthreads)
{
    return (unsigned)((nthreads + BLOCK_SIZE - 1) / BLOCK_SIZE);
}

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    unsigned nblocks = blocks_for(n);
    if (nblocks > MOST_BLOCKS)
        nblocks = MOST_BLOCKS;
    if (n > 0)
        saxpy_plain<<<nblocks, BLOCK_SIZE>>>(alpha, d_x, d_y, d_z, n);
    return cudaGetLastError();
}
