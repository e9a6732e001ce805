// Primes below 100000: threads cross out in a bitmap with atomicOr, then
// count by population count and a block-wide vote.
// expect: right, checksum 91e7a195
#include "program.h"

const unsigned LIMIT = 100000, WORDS = (LIMIT + 31) / 32;

__global__ void cross_out(unsigned *composite)
{
    unsigned p = 2 + blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned m = p * p; p < 317 && m < LIMIT; m += p)
        atomicOr(&composite[m / 32], 1u << m % 32);
}

__global__ void count(const unsigned *composite, unsigned *counts)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned primes = i < WORDS ? __popc(~composite[i]) : 0;
    int any = __syncthreads_or(primes != 0);
    int full = __syncthreads_count(primes > 5);
    atomicAdd(&counts[0], primes);
    if (threadIdx.x == 0) {
        atomicAdd(&counts[1], any != 0);
        atomicAdd(&counts[2], full);
    }
}

int main()
{
    std::vector<unsigned> composite(WORDS), expected(3);
    composite[0] = 3;
    unsigned *d_composite = on_device(composite);
    unsigned *d_counts = on_device(std::vector<unsigned>(3));
    cross_out<<<3, 128>>>(d_composite);
    const unsigned blocks = (WORDS + 255) / 256;
    count<<<blocks, 256>>>(d_composite, d_counts);
    CHECK(cudaGetLastError());
    for (unsigned p = 2; p < LIMIT; p++)
        if (!(composite[p / 32] >> p % 32 & 1))
            for (uint64_t m = (uint64_t)p * p; m < LIMIT; m += p)
                composite[m / 32] |= 1u << m % 32;
    for (unsigned i = 0; i < WORDS; i++) {
        unsigned primes = __builtin_popcount(~composite[i]);
        expected[0] += primes;
        expected[2] += primes > 5;
    }
    expected[1] = blocks;
    return report(to_host(d_counts, 3), expected);
}
