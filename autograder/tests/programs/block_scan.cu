// Inclusive prefix sums of 60000 integers in three launches: scan blocks by
// warp shuffles, scan their totals, add them back.
// expect: right, checksum 6ce4a179
#include "program.h"

const int BLOCK = 256;

__device__ int warp_scan(int x)
{
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(~0u, x, d);
        if (threadIdx.x % 32 >= d)
            x += y;
    }
    return x;
}

__global__ void scan_blocks(const int *in, int *out, int *totals, int n)
{
    __shared__ int sums[BLOCK / 32];
    int i = blockIdx.x * BLOCK + threadIdx.x, warp = threadIdx.x / 32;
    int x = warp_scan(i < n ? in[i] : 0);
    if (threadIdx.x % 32 == 31)
        sums[warp] = x;
    __syncthreads();
    if (warp == 0) {
        int s = threadIdx.x < BLOCK / 32 ? sums[threadIdx.x] : 0;
        s = warp_scan(s);
        if (threadIdx.x < BLOCK / 32)
            sums[threadIdx.x] = s;
    }
    __syncthreads();
    if (warp > 0)
        x += sums[warp - 1];
    if (i < n)
        out[i] = x;
    if (totals && threadIdx.x == BLOCK - 1)
        totals[blockIdx.x] = x;
}

__global__ void add_totals(int *out, const int *totals, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        out[i] += totals[blockIdx.x - 1];
}

int main()
{
    const int n = 60000, blocks = (n + BLOCK - 1) / BLOCK;
    std::vector<int> in(n), expected(n);
    numbers random = {2};
    for (int i = 0, sum = 0; i < n; i++) {
        in[i] = (int)(random.next() % 2001) - 1000;
        expected[i] = sum += in[i];
    }
    int *d_in = on_device(in), *d_out, *d_totals;
    CHECK(cudaMalloc(&d_out, n * sizeof(int)));
    CHECK(cudaMalloc(&d_totals, blocks * sizeof(int)));
    scan_blocks<<<blocks, BLOCK>>>(d_in, d_out, d_totals, n);
    scan_blocks<<<1, BLOCK>>>(d_totals, d_totals, nullptr, blocks);
    add_totals<<<blocks, BLOCK>>>(d_out, d_totals, n);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, n), expected);
}
