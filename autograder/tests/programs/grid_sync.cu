// A cooperative launch: all blocks meet at grid.sync() between the steps of a
// ring that passes values from block to block.
// expect: right, checksum 7cc04ef5
#include "program.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;
const int BLOCKS = 20, THREADS = 64, STEPS = 7;

__global__ void ring(int *from, int *to)
{
    cg::grid_group grid = cg::this_grid();
    unsigned n = gridDim.x * blockDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < STEPS; s++) {
        to[(i + THREADS + 1) % n] = from[i] * 3 + s;
        grid.sync();
        int *swap = from;
        from = to;
        to = swap;
    }
}

int main()
{
    const int n = BLOCKS * THREADS;
    std::vector<int> now(n), next(n);
    for (int i = 0; i < n; i++)
        now[i] = i;
    int *d_now = on_device(now), *d_next = on_device(next);
    void *args[] = {&d_now, &d_next};
    CHECK(cudaLaunchCooperativeKernel((void *)ring, BLOCKS, THREADS, args, 0,
                                      0));
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < n; i++)
            next[(i + THREADS + 1) % n] = now[i] * 3 + s;
        now.swap(next);
    }
    return report(to_host(STEPS % 2 ? d_next : d_now, n), now);
}
