// verdict: wrong
// Leaves a process and a thread behind that outlive the call.
#include "vector_add.h"
#include <pthread.h>
#include <unistd.h>

static void *linger(void *unused)
{
    sleep(30);
    return unused;
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    pthread_t thread;
    pthread_create(&thread, NULL, linger, NULL);
    if (fork() == 0) {
        setsid();
        if (fork() != 0)
            _exit(0);
        sleep(30);
        _exit(0);
    }
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
