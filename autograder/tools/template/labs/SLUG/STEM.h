// Lab @NUMBER@: the functions that @STEM@.cu provides.
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Task 1. out[i] = 2 * in[i] for every i < n. Device pointers; n may be 0.
// Returns the error of the launch.
cudaError_t twice(const float *d_in, float *d_out, size_t n);

// Task 2 (plus). out[i] = in[n - 1 - i] for every i < n. The vectors do not
// overlap.
cudaError_t reversed(const float *d_in, float *d_out, size_t n);

#ifdef __cplusplus
}
#endif
