// Edit distance of two strings by anti-diagonals: one block, one barrier a
// diagonal.
// expect: right, checksum e7d6024d
#include "program.h"
#include <algorithm>

const int M = 300, N = 270;

__global__ void diagonals(const char *a, const char *b, int *cost)
{
    for (int d = 0; d <= M + N; d++) {
        for (int i = threadIdx.x; i <= M; i += blockDim.x) {
            int j = d - i;
            if (j < 0 || j > N)
                continue;
            int *at = &cost[i * (N + 1) + j];
            if (i == 0 || j == 0)
                *at = i + j;
            else
                *at = min(min(at[-1], at[-(N + 1)]) + 1,
                          at[-(N + 2)] + (a[i - 1] != b[j - 1]));
        }
        __syncthreads();
    }
}

int main()
{
    std::vector<char> a(M), b(N);
    numbers random = {16};
    for (auto &c : a)
        c = 'a' + random.next() % 4;
    for (auto &c : b)
        c = 'a' + random.next() % 4;
    std::vector<int> cost((M + 1) * (N + 1));
    for (int i = 0; i <= M; i++)
        for (int j = 0; j <= N; j++) {
            int *at = &cost[i * (N + 1) + j];
            *at = i == 0 || j == 0
                      ? i + j
                      : std::min(std::min(at[-1], at[-(N + 1)]) + 1,
                                 at[-(N + 2)] + (a[i - 1] != b[j - 1]));
        }
    int *d_cost = on_device(std::vector<int>(cost.size()));
    diagonals<<<1, 320>>>(on_device(a), on_device(b), d_cost);
    CHECK(cudaGetLastError());
    return report(to_host(d_cost, cost.size()), cost);
}
