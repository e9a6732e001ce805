// verdict: wrong
// Brings its own clock: every time is nothing.
#include "vector_add.h"
#include <time.h>

extern "C" cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start,
                                            cudaEvent_t stop)
{
    *ms = 1e-9f;
    return cudaSuccess;
}

extern "C" int clock_gettime(clockid_t id, struct timespec *t) noexcept
{
    t->tv_sec = 0;
    t->tv_nsec = 0;
    return 0;
}

extern "C" cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    return cudaSuccess;
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
