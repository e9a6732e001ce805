// Sixty generations of Conway's game on a 200 x 150 torus.
// expect: right, checksum 15066053
#include "program.h"

const int W = 200, H = 150;

__host__ __device__ static int alive_next(const unsigned char *world, int x,
                                          int y)
{
    int around = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                around += world[(y + dy + H) % H * W + (x + dx + W) % W];
    return around == 3 || (around == 2 && world[y * W + x]);
}

__global__ void step(const unsigned char *now, unsigned char *next)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < W && y < H)
        next[y * W + x] = alive_next(now, x, y);
}

int main()
{
    std::vector<unsigned char> world(W * H), next(W * H);
    numbers random = {3};
    for (auto &cell : world)
        cell = random.next() % 3 == 0;
    unsigned char *d_now = on_device(world), *d_next = on_device(next);
    dim3 block(16, 16), grid((W + 15) / 16, (H + 15) / 16);
    for (int g = 0; g < 60; g++) {
        step<<<grid, block>>>(d_now, d_next);
        std::swap(d_now, d_next);
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++)
                next[y * W + x] = alive_next(world.data(), x, y);
        world.swap(next);
    }
    CHECK(cudaGetLastError());
    return report(to_host(d_now, W * H), world);
}
