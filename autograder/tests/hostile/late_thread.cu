// verdict: wrong
// Says "done" at once; a thread of the host adds a second later, when nobody
// should look any more.
#include "vector_add.h"
#include <pthread.h>
#include <unistd.h>

__global__ static void add(const float *a, const float *b, float *c, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

static struct {
    const float *a, *b;
    float *c;
    size_t n;
} later;

static void *work(void *unused)
{
    sleep(1);
    add<<<(unsigned)((later.n + 255) / 256), 256>>>(later.a, later.b, later.c,
                                                    later.n);
    return unused;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    pthread_t thread;
    later.a = d_a, later.b = d_b, later.c = d_c, later.n = n;
    pthread_create(&thread, NULL, work, NULL);
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
