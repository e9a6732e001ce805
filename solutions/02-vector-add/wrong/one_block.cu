// fails: adds_again adds_a_million adds_in_place trips_of_any_size
// One block of n threads: a block has 1024 at most.
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
    add_kernel<<<1, (unsigned)n>>>(d_a, d_b, d_c, n);
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

// One thread moves 16 bytes of each vector: four times the bytes in flight.
__global__ void saxpy_float4(float alpha, const float4 *x, const float4 *y,
                             float4 *z, size_t nvectors)
{
    size_t v = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nvectors)
        return;
    float4 p = x[v], q = y[v];
    q.x += alpha * p.x;
    q.y += alpha * p.y;
    q.z += alpha * p.z;
    q.w += alpha * p.w;
    z[v] = q;
}

__global__ void saxpy_plain(float alpha, const float *x, const float *y,
                            float *z, size_t n)
{
    size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n)
        z[k] = alpha * x[k] + y[k];
}

static unsigned blocks_for(size_t nthreads)
{
    return (unsigned)((nthreads + BLOCK_SIZE - 1) / BLOCK_SIZE);
}

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    uintptr_t bits = (uintptr_t)d_x | (uintptr_t)d_y | (uintptr_t)d_z;
    size_t nvectors = bits % sizeof(float4) == 0 ? n / 4 : 0;
    size_t done = 4 * nvectors;
    if (nvectors > 0)
        saxpy_float4<<<blocks_for(nvectors), BLOCK_SIZE>>>(
            alpha, (const float4 *)d_x, (const float4 *)d_y, (float4 *)d_z,
            nvectors);
    if (n > done)
        saxpy_plain<<<blocks_for(n - done), BLOCK_SIZE>>>(
            alpha, d_x + done, d_y + done, d_z + done, n - done);
    return cudaGetLastError();
}
