// Ten steps of 192 bodies that attract each other, positions staged through
// shared memory; every operation names its rounding.
// expect: right, checksum 9ded25e8
#include "program.h"
#include <cmath>

const int N = 192, B = 64, STEPS = 10;

struct body {
    float x, y, z, mass;
};

#ifdef __CUDA_ARCH__
#define ADD(a, b)  __fadd_rn(a, b)
#define MUL(a, b)  __fmul_rn(a, b)
#define DIV(a, b)  __fdiv_rn(a, b)
#define ROOT(a)    __fsqrt_rn(a)
#define FMA(a, b, c) __fmaf_rn(a, b, c)
#else
static float rounded(float x) { volatile float y = x; return y; }
#define ADD(a, b)  rounded((a) + (b))
#define MUL(a, b)  rounded((a) * (b))
#define DIV(a, b)  rounded((a) / (b))
#define ROOT(a)    rounded(std::sqrt(a))
#define FMA(a, b, c) std::fma((float)(a), (float)(b), (float)(c))
#endif

__host__ __device__ static void attract(const body &me, const body &other,
                                        float *force)
{
    float dx = ADD(other.x, -me.x), dy = ADD(other.y, -me.y);
    float dz = ADD(other.z, -me.z);
    float square = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, 0.01f)));
    float pull = DIV(other.mass, MUL(square, ROOT(square)));
    force[0] = FMA(pull, dx, force[0]);
    force[1] = FMA(pull, dy, force[1]);
    force[2] = FMA(pull, dz, force[2]);
}

__host__ __device__ static body moved(body b, const float *force)
{
    b.x = FMA(force[0], 1e-3f, b.x);
    b.y = FMA(force[1], 1e-3f, b.y);
    b.z = FMA(force[2], 1e-3f, b.z);
    return b;
}

__global__ void step(const body *from, body *to)
{
    __shared__ body tile[B];
    int i = blockIdx.x * B + threadIdx.x;
    body me = from[i];
    float force[3] = {0, 0, 0};
    for (int first = 0; first < N; first += B) {
        tile[threadIdx.x] = from[first + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < B; k++)
            attract(me, tile[k], force);
        __syncthreads();
    }
    to[i] = moved(me, force);
}

int main()
{
    std::vector<body> now(N), next(N);
    numbers random = {18};
    for (auto &b : now)
        b = {random.unit(), random.unit(), random.unit(), random.unit()};
    body *d_now = on_device(now), *d_next = on_device(now);
    for (int s = 0; s < STEPS; s++) {
        step<<<N / B, B>>>(d_now, d_next);
        std::swap(d_now, d_next);
        for (int i = 0; i < N; i++) {
            float force[3] = {0, 0, 0};
            for (int k = 0; k < N; k++)
                attract(now[i], now[k], force);
            next[i] = moved(now[i], force);
        }
        now.swap(next);
    }
    CHECK(cudaGetLastError());
    return report(to_host(d_now, N), now);
}
