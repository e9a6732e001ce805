// fails: computes_saxpy
// empty: 3
// Task 3 is not there.
#include <stdint.h>

#include "lab.h"
#include "vector_add.h"

// Threads a block: a multiple of 32, and a size that every GPU runs well.
enum { BLOCK_SIZE = 256 };

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

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    return cudaGetLastError();
}
