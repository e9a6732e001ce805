// Prefix sums within a warp by shuffles, and a vote.
// expect: last 496, ballot 55555555, all 0, any 1
#include <stdio.h>

__global__ void scan(int *out, unsigned *votes)
{
    int lane = threadIdx.x, x = lane;
    for (int step = 1; step < 32; step *= 2) {
        int left = __shfl_up_sync(0xffffffff, x, step);
        if (lane >= step)
            x += left;
    }
    out[lane] = x;
    unsigned ballot = __ballot_sync(0xffffffff, lane % 2 == 0);
    int all = __all_sync(0xffffffff, lane > 0);
    int any = __any_sync(0xffffffff, lane == 31);
    if (lane == 0) {
        votes[0] = ballot;
        votes[1] = all != 0;
        votes[2] = any != 0;
    }
}

int main(void)
{
    int *out, h[32];
    unsigned *votes, v[3];
    cudaMalloc(&out, sizeof h);
    cudaMalloc(&votes, sizeof v);
    scan<<<1, 32>>>(out, votes);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    cudaMemcpy(v, votes, sizeof v, cudaMemcpyDeviceToHost);
    printf("last %d, ballot %x, all %u, any %u\n", h[31], v[0], v[1], v[2]);
    return 0;
}
