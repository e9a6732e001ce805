// verdict: timeout
// Catches every signal, and its handler loops for a minute.
#include "vector_add.h"
#include <signal.h>
#include <time.h>

static void stay(int)
{
    time_t end = time(NULL) + 60;
    while (time(NULL) < end)
        ;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    for (int i = 1; i < 32; i++)
        signal(i, stay);
    raise(SIGSEGV);
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
