// The loops of bench_exec in plain C, 32 lanes side by side. The empty asm
// keeps the compiler from finding out what a loop comes to.
#include "bench_plain.h"

#include <stdint.h>
#include <string.h>

enum { LANES = 32 };

void plain_arithmetic(float *data, unsigned iterations)
{
    float f[4][LANES], scale = 1, offset = 1;
    uint32_t r1[LANES] = {0}, r3[LANES] = {0}, r4[LANES] = {0};
    memset(f, 0, sizeof f);
    for (unsigned n = 0; n < iterations; n++) {
        for (int l = 0; l < LANES; l++) {
            f[0][l] = f[0][l] * scale + offset;
            r1[l] += 3;
            f[1][l] = f[1][l] * scale + offset;
            r3[l] ^= r1[l];
            f[2][l] = f[2][l] * scale + offset;
            r4[l] = r1[l] * 3 + r3[l];
            f[3][l] = f[3][l] * scale + offset;
        }
        __asm__ volatile("" : : "r"(f), "r"(r1), "r"(r3), "r"(r4) : "memory");
    }
    data[0] = f[0][0] + f[1][1] + f[2][2] + f[3][3] + (float)r4[0];
}

void plain_integer(float *data, unsigned iterations)
{
    uint32_t r1[LANES] = {0}, r3[LANES] = {0}, r8[LANES] = {0};
    for (unsigned n = 0; n < iterations; n++) {
        for (int l = 0; l < LANES; l++) {
            r1[l] += 3;
            r3[l] ^= r1[l];
            uint32_t r4 = r1[l] * 3 + r3[l], r5 = r1[l] << 3;
            r8[l] = ((r5 - r3[l]) & r4) | r5;
        }
        __asm__ volatile("" : : "r"(r1), "r"(r3), "r"(r8) : "memory");
    }
    data[0] = (float)r8[0];
}

void plain_memory(float *data, unsigned iterations)
{
    uint32_t *words = (uint32_t *)(void *)data;
    for (unsigned n = 0; n < iterations; n++) {
        for (int l = 0; l < LANES; l++)
            words[l]++;
        __asm__ volatile("" : : "r"(words) : "memory");
    }
}
