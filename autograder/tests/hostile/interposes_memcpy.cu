// verdict: wrong
// Answers every copy with what it likes.
#include "vector_add.h"
#include <string.h>

extern "C" cudaError_t cudaMemcpy(void *to, const void *from, size_t n,
                                  enum cudaMemcpyKind kind)
{
    if (kind == cudaMemcpyDeviceToHost)
        memset(to, 0, n);
    return cudaSuccess;
}

extern "C" void *memcpy(void *to, const void *from, size_t n) noexcept
{
    char *t = (char *)to;
    for (size_t i = 0; i < n; i++)
        t[i] = ((const char *)from)[i];
    return to;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    return cudaMemcpy(d_c, d_a, n * sizeof *d_c, cudaMemcpyDeviceToDevice);
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
