// All shortest paths among 100 nodes (Floyd and Warshall), one launch a hop.
// expect: right, checksum 4eb5ab7d
#include "program.h"
#include <algorithm>

const int N = 100;

__global__ void relax(int *distance, int via)
{
    int from = blockIdx.y * blockDim.y + threadIdx.y;
    int to = blockIdx.x * blockDim.x + threadIdx.x;
    if (from < N && to < N)
        distance[from * N + to] =
            min(distance[from * N + to],
                distance[from * N + via] + distance[via * N + to]);
}

int main()
{
    std::vector<int> distance(N * N);
    numbers random = {15};
    for (int i = 0; i < N * N; i++)
        distance[i] = i % (N + 1) == 0 ? 0
                      : random.next() % 10 ? 1000000
                                           : 1 + random.next() % 100;
    int *d = on_device(distance);
    for (int via = 0; via < N; via++) {
        relax<<<dim3(4, 13), dim3(32, 8)>>>(d, via);
        for (int i = 0; i < N * N; i++)
            distance[i] = std::min(distance[i], distance[i / N * N + via] +
                                                    distance[via * N + i % N]);
    }
    CHECK(cudaGetLastError());
    return report(to_host(d, N * N), distance);
}
