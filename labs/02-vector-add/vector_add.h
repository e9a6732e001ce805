// Lab 02: the three functions that vector_add.cu provides.
//
// All sizes count elements. Every function returns cudaSuccess, or the first
// CUDA error that it met: nothing is printed, nothing exits.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Task 1. c[i] = a[i] + b[i] for every i < n, on the GPU.
// Device pointers, aligned to 4 bytes; d_c may be d_a or d_b. n may be 0.
// Need not wait for the kernel: tells the error of its launch.
cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c,
                       size_t n);

// Task 2. The same for host pointers: the whole trip to the GPU and back.
// h_c is complete on return. Frees what it allocated, also after an error.
// Vectors too large for the GPU: cudaErrorMemoryAllocation.
cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n);

// Task 3 (plus). z[i] = alpha * x[i] + y[i] for every i < n, at the speed of
// memory. Device pointers, aligned to 4 bytes and not always to 16; d_z may be
// d_x or d_y.
cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n);

#ifdef __cplusplus
}
#endif
