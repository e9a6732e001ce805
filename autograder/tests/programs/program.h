// What the test programs share: checked calls, numbers to work on, and one
// line of result. Each program compares with the CPU itself and prints a
// checksum, so that the same line must appear on every target.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t err_ = (call);                                             \
        if (err_ != cudaSuccess) {                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,      \
                    cudaGetErrorName(err_));                                   \
            exit(2);                                                           \
        }                                                                      \
    } while (0)

// Knuth's linear congruential generator: the same numbers everywhere.
struct numbers {
    uint64_t state;
    uint32_t next()
    {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(state >> 33);
    }
    float unit() { return (float)(next() >> 8) / (1 << 23); } // [0, 1)
};

// FNV-1a over the bytes of a result.
static inline uint32_t checksum(const void *data, size_t nbytes)
{
    const unsigned char *p = (const unsigned char *)data;
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < nbytes; i++)
        hash = (hash ^ p[i]) * 16777619u;
    return hash;
}

template <typename T> static T *on_device(const std::vector<T> &host)
{
    T *d;
    CHECK(cudaMalloc(&d, host.size() * sizeof(T)));
    CHECK(cudaMemcpy(d, host.data(), host.size() * sizeof(T),
                     cudaMemcpyHostToDevice));
    return d;
}

template <typename T> static std::vector<T> to_host(const T *d, size_t n)
{
    std::vector<T> host(n);
    CHECK(cudaMemcpy(host.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
}

// Prints the one line of result; exit status of the program.
template <typename T>
static int report(const std::vector<T> &got, const std::vector<T> &expected)
{
    for (size_t i = 0; i < expected.size(); i++)
        if (memcmp(&got[i], &expected[i], sizeof(T)) != 0) {
            printf("wrong at %zu of %zu\n", i, expected.size());
            return 1;
        }
    printf("right, checksum %08x\n",
           (unsigned)checksum(got.data(), got.size() * sizeof(T)));
    return 0;
}
