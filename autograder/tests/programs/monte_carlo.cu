// Darts at a quarter circle, in integers: a 64-bit generator a thread and a
// reduction by redux and atomics.
// expect: right, checksum 7b11aa22
#include "program.h"

const int THREADS = 5000, DARTS = 40;

__host__ __device__ static unsigned hits_of(unsigned thread)
{
    unsigned long long state = thread * 0x9e3779b97f4a7c15ull + 1;
    unsigned hits = 0;
    for (int d = 0; d < DARTS; d++) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        unsigned long long r = state * 0x2545f4914f6cdd1dull;
        unsigned long long x = r >> 33, y = r & 0x7fffffff;
        hits += x * x + y * y < 1ull << 62;
    }
    return hits;
}

__global__ void throw_darts(unsigned *total)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned hits = i < THREADS ? hits_of(i) : 0;
    hits = __reduce_add_sync(~0u, hits);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, hits);
}

int main()
{
    unsigned expected = 0;
    for (unsigned i = 0; i < THREADS; i++)
        expected += hits_of(i);
    unsigned *d_total = on_device(std::vector<unsigned>(1));
    throw_darts<<<(THREADS + 127) / 128, 128>>>(d_total);
    CHECK(cudaGetLastError());
    return report(to_host(d_total, 1), std::vector<unsigned>{expected});
}
