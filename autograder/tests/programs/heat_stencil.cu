// Forty steps of heat flow on a 120 x 90 plate, with a halo in shared memory.
// expect: right, checksum 44be3abe
#include "program.h"

const int W = 120, H = 90, B = 16;

__host__ __device__ static double flow(double c, double n, double s, double w,
                                       double e)
{
#ifdef __CUDA_ARCH__
    return __dadd_rn(c, __dmul_rn(0.125, __dadd_rn(
        __dadd_rn(__dadd_rn(n, s), __dadd_rn(w, e)), __dmul_rn(-4, c))));
#else
    volatile double ns = n + s, we = w + e, sum = ns + we, four = -4 * c;
    volatile double change = sum + four;
    change = 0.125 * change;
    return c + change;
#endif
}

__global__ void step(const double *from, double *to)
{
    __shared__ double tile[B + 2][B + 2];
    int x = blockIdx.x * B + threadIdx.x, y = blockIdx.y * B + threadIdx.y;
    for (int ty = threadIdx.y; ty < B + 2; ty += B)
        for (int tx = threadIdx.x; tx < B + 2; tx += B) {
            int gx = blockIdx.x * B + tx - 1, gy = blockIdx.y * B + ty - 1;
            bool inside = gx >= 0 && gx < W && gy >= 0 && gy < H;
            tile[ty][tx] = inside ? from[gy * W + gx] : 0;
        }
    __syncthreads();
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    if (x < W && y < H)
        to[y * W + x] = flow(tile[ty][tx], tile[ty - 1][tx], tile[ty + 1][tx],
                             tile[ty][tx - 1], tile[ty][tx + 1]);
}

int main()
{
    std::vector<double> now(W * H), next(W * H);
    numbers random = {13};
    for (auto &t : now)
        t = random.unit() * 100;
    double *d_now = on_device(now), *d_next = on_device(next);
    for (int s = 0; s < 40; s++) {
        step<<<dim3((W + B - 1) / B, (H + B - 1) / B), dim3(B, B)>>>(d_now,
                                                                     d_next);
        std::swap(d_now, d_next);
        auto at = [&](int x, int y) {
            return x < 0 || x >= W || y < 0 || y >= H ? 0 : now[y * W + x];
        };
        for (int i = 0; i < W * H; i++) {
            int x = i % W, y = i / W;
            next[i] = flow(now[i], at(x, y - 1), at(x, y + 1), at(x - 1, y),
                           at(x + 1, y));
        }
        now.swap(next);
    }
    CHECK(cudaGetLastError());
    return report(to_host(d_now, W * H), now);
}
