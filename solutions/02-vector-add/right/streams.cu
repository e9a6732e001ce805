// Another shape: two elements a thread side by side in vector_add, the trip
// in a stream of its own, and a saxpy that walks to alignment first.
#include <stdint.h>

#include "lab.h"
#include "vector_add.h"

enum { THREADS = 128 };

static unsigned blocks_of(size_t nthreads)
{
    return (unsigned)((nthreads + THREADS - 1) / THREADS);
}

// A block covers 2 * THREADS elements, each thread one of either half.
__global__ void add_two(const float *__restrict__ a, const float *__restrict__ b,
                        float *c, size_t n)
{
    size_t i = (size_t)blockIdx.x * 2 * THREADS + threadIdx.x;
    size_t j = i + THREADS;
    if (i < n)
        c[i] = a[i] + b[i];
    if (j < n)
        c[j] = a[j] + b[j];
}

static cudaError_t add_in(cudaStream_t stream, const float *d_a,
                          const float *d_b, float *d_c, size_t n)
{
    if (n > 0)
        add_two<<<blocks_of((n + 1) / 2), THREADS, 0, stream>>>(d_a, d_b, d_c, n);
    return cudaGetLastError();
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    return add_in(0, d_a, d_b, d_c, n);
}

#define TRY(call)                                                              \
    do {                                                                       \
        if ((error = (call)) != cudaSuccess)                                   \
            goto out;                                                          \
    } while (0)

cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n)
{
    cudaError_t error = cudaSuccess;
    cudaStream_t stream = NULL;
    float *d_a = NULL, *d_b = NULL;
    size_t nbytes = n * sizeof(float);
    if (n == 0)
        return cudaSuccess;
    TRY(cudaMalloc(&d_a, nbytes));
    TRY(cudaMalloc(&d_b, nbytes));
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMemcpyAsync(d_a, h_a, nbytes, cudaMemcpyHostToDevice, stream));
    TRY(cudaMemcpyAsync(d_b, h_b, nbytes, cudaMemcpyHostToDevice, stream));
    TRY(add_in(stream, d_a, d_b, d_b, n));
    TRY(cudaMemcpyAsync(h_c, d_b, nbytes, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
out:
    if (stream)
        cudaStreamDestroy(stream);
    cudaFree(d_b);
    cudaFree(d_a);
    return error;
}

__global__ void saxpy_one(float alpha, const float *x, const float *y, float *z,
                          size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        z[i] = alpha * x[i] + y[i];
}

__global__ void saxpy_four(float alpha, const float4 *x, const float4 *y,
                           float4 *z, size_t n)
{
    size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
    if (i < n) {
        float4 p = x[i], q = y[i];
        z[i] = make_float4(alpha * p.x + q.x, alpha * p.y + q.y,
                           alpha * p.z + q.z, alpha * p.w + q.w);
    }
}

static void saxpy_scalar(float alpha, const float *x, const float *y, float *z,
                         size_t n)
{
    if (n > 0)
        saxpy_one<<<blocks_of(n), THREADS>>>(alpha, x, y, z, n);
}

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    // elements before the first multiple of 16, when all three agree on it
    size_t head = (16 - (uintptr_t)d_x % 16) % 16 / sizeof(float);
    bool agree = (uintptr_t)d_x % 16 == (uintptr_t)d_y % 16 &&
                 (uintptr_t)d_x % 16 == (uintptr_t)d_z % 16;
    if (!agree || head > n)
        head = n;
    size_t nvectors = (n - head) / 4, tail = head + 4 * nvectors;
    saxpy_scalar(alpha, d_x, d_y, d_z, head);
    if (nvectors > 0)
        saxpy_four<<<blocks_of(nvectors), THREADS>>>(
            alpha, (const float4 *)(d_x + head), (const float4 *)(d_y + head),
            (float4 *)(d_z + head), nvectors);
    saxpy_scalar(alpha, d_x + tail, d_y + tail, d_z + tail, n - tail);
    return cudaGetLastError();
}
