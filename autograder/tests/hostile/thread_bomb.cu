// verdict: stopped
// Starts 2000 threads that hold on.
#include "vector_add.h"
#include <pthread.h>
#include <unistd.h>

static void *hold(void *unused)
{
    sleep(30);
    return unused;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attr, hold, NULL) != 0)
            break;
    }
    sleep(30);
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
