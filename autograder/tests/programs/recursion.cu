// Real calls: recursion to a depth that differs from lane to lane, and
// functions called through pointers that differ, too.
// expect: right, checksum 9a099c83
#include "program.h"

__host__ __device__ __noinline__ static unsigned ackermann(unsigned m,
                                                           unsigned n)
{
    if (m == 0)
        return n + 1;
    return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

__device__ __noinline__ static unsigned twice(unsigned x) { return 2 * x; }
__device__ __noinline__ static unsigned square(unsigned x) { return x * x; }
__device__ __noinline__ static unsigned back(unsigned x) { return ~x; }

typedef unsigned operation(unsigned);
__device__ operation *const operations[] = {twice, square, back};

__global__ void compute(unsigned *out)
{
    unsigned i = threadIdx.x;
    unsigned x = ackermann(i % 3, i / 3 % 5);
    out[i] = operations[(i + x) % 3](x + i);
}

int main()
{
    const unsigned n = 70;
    std::vector<unsigned> expected(n);
    for (unsigned i = 0; i < n; i++) {
        unsigned x = ackermann(i % 3, i / 3 % 5), y = x + i;
        unsigned results[] = {2 * y, y * y, ~y};
        expected[i] = results[y % 3];
    }
    CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 16 << 10));
    unsigned *d_out = on_device(std::vector<unsigned>(n));
    compute<<<1, n>>>(d_out);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, n), expected);
}
