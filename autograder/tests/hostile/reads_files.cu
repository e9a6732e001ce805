// verdict: wrong
// Reads accounts, keys, the environment and the machine's settings.
#include "vector_add.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c, size_t n)
{
    const char *paths[] = {"/etc/passwd", "/etc/shadow", "/root", "/home",
                           "/etc/hostname", "/var/log"};
    const char *settings = "/proc/sys/kernel/core_pattern";
    int held = 1;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        held &= open(paths[i], O_RDONLY) < 0;
    held &= open(settings, O_WRONLY) < 0;
    held &= getenv("HOSTILE_TEST_SECRET") == NULL;
    printf("%s\n", held ? "held" : "BREACH: read files");
    fflush(stdout);
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
