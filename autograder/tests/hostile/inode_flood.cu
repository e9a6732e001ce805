// verdict: stopped
// Makes 100000 empty files.
#include "vector_add.h"
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    char path[64];
    for (int i = 0; i < 100000; i++) {
        snprintf(path, sizeof path, "/tmp/hostile-%d", i);
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        if (fd < 0)
            break;
        close(fd);
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
