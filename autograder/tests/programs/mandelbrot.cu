// Escape times over 160 x 120 points, in float with explicit roundings so
// that no compiler may contract them differently.
// expect: right, checksum 76917f2d
#include "program.h"

const int W = 160, H = 120, LIMIT = 200;

__global__ void escape(int *times)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= W || y >= H)
        return;
    float cr = __fadd_rn(__fmul_rn(x, 3.0f / W), -2.25f);
    float ci = __fadd_rn(__fmul_rn(y, 2.5f / H), -1.25f);
    float zr = 0, zi = 0;
    int t = 0;
    for (; t < LIMIT; t++) {
        float rr = __fmul_rn(zr, zr), ii = __fmul_rn(zi, zi);
        if (__fadd_rn(rr, ii) > 4)
            break;
        zi = __fadd_rn(__fmul_rn(__fmul_rn(2, zr), zi), ci);
        zr = __fadd_rn(__fadd_rn(rr, -ii), cr);
    }
    times[y * W + x] = t;
}

static int escape_on_host(int x, int y)
{
    volatile float cr = x * (3.0f / W), ci = y * (2.5f / H), zr = 0, zi = 0;
    cr = cr + -2.25f;
    ci = ci + -1.25f;
    for (int t = 0; t < LIMIT; t++) {
        volatile float rr = zr * zr, ii = zi * zi, s = rr + ii, p;
        if (s > 4)
            return t;
        p = 2 * zr;
        p = p * zi;
        zi = p + ci;
        s = rr + -ii;
        zr = s + cr;
    }
    return LIMIT;
}

int main()
{
    std::vector<int> expected(W * H);
    for (int i = 0; i < W * H; i++)
        expected[i] = escape_on_host(i % W, i / W);
    int *d_times = on_device(std::vector<int>(W * H));
    escape<<<dim3((W + 31) / 32, (H + 7) / 8), dim3(32, 8)>>>(d_times);
    CHECK(cudaGetLastError());
    return report(to_host(d_times, W * H), expected);
}
