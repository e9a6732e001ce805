// verdict: stopped
// Prints 1 GB, and computes nothing.
#include "vector_add.h"
#include <string.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    static char line[1 << 20];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1024; i++)
        if (write(i % 2 ? STDOUT_FILENO : STDERR_FILENO, line, sizeof line) < 0)
            break;
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
