// LU decomposition of a diagonally dominant 64 x 64 matrix in double
// precision, without pivoting: fused multiply-adds on both sides.
// expect: right, checksum 05e32afd
#include "program.h"
#include <cmath>

const int N = 64;

__global__ void scale_column(double *a, int k)
{
    int i = k + 1 + threadIdx.x;
    if (i < N)
        a[i * N + k] = a[i * N + k] / a[k * N + k];
}

__global__ void update(double *a, int k)
{
    int i = k + 1 + blockIdx.x, j = k + 1 + threadIdx.x;
    if (i < N && j < N)
        a[i * N + j] = fma(-a[i * N + k], a[k * N + j], a[i * N + j]);
}

int main()
{
    std::vector<double> a(N * N);
    numbers random = {7};
    for (int i = 0; i < N * N; i++)
        a[i] = random.unit() - 0.5 + (i % (N + 1) == 0) * N;
    double *d_a = on_device(a);
    for (int k = 0; k < N - 1; k++) {
        scale_column<<<1, N>>>(d_a, k);
        update<<<N - 1 - k, N>>>(d_a, k);
        for (int i = k + 1; i < N; i++) {
            a[i * N + k] /= a[k * N + k];
            for (int j = k + 1; j < N; j++)
                a[i * N + j] =
                    std::fma(-a[i * N + k], a[k * N + j], a[i * N + j]);
        }
    }
    CHECK(cudaGetLastError());
    return report(to_host(d_a, N * N), a);
}
