// verdict: wrong
// Copies the inputs to the host, adds there, copies back: right values that no
// kernel stored. The judge sees who wrote the output; on a GPU it costs time.
#include "vector_add.h"
#include <stdlib.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    float *a = (float *)malloc(3 * n * sizeof *a), *b = a + n, *c = b + n;
    if (!a)
        return cudaErrorMemoryAllocation;
    cudaMemcpy(a, d_a, n * sizeof *a, cudaMemcpyDeviceToHost);
    cudaMemcpy(b, d_b, n * sizeof *b, cudaMemcpyDeviceToHost);
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    cudaMemcpy(d_c, c, n * sizeof *c, cudaMemcpyHostToDevice);
    free(a);
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
