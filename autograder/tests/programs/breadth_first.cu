// Distances from node 0 in a random graph, level by level, until a level adds
// nothing: the host reads a flag after each launch.
// expect: right, checksum f54b13a3
#include "program.h"
#include <queue>

const int NODES = 3000, DEGREE = 3;

__global__ void expand(const int *to, int *distance, int level, int *changed)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= NODES || distance[node] != level)
        return;
    for (int e = 0; e < DEGREE; e++) {
        int next = to[node * DEGREE + e];
        if (atomicCAS(&distance[next], -1, level + 1) == -1)
            *changed = 1;
    }
}

int main()
{
    std::vector<int> to(NODES * DEGREE), expected(NODES, -1);
    numbers random = {6};
    for (auto &node : to)
        node = random.next() % NODES;
    std::queue<int> open;
    open.push(0);
    expected[0] = 0;
    for (; !open.empty(); open.pop())
        for (int e = 0; e < DEGREE; e++) {
            int next = to[open.front() * DEGREE + e];
            if (expected[next] < 0) {
                expected[next] = expected[open.front()] + 1;
                open.push(next);
            }
        }
    std::vector<int> start(NODES, -1);
    start[0] = 0;
    int *d_to = on_device(to), *d_distance = on_device(start);
    int *d_changed = on_device(std::vector<int>(1));
    for (int level = 0, changed = 1; changed; level++) {
        CHECK(cudaMemset(d_changed, 0, sizeof(int)));
        expand<<<(NODES + 255) / 256, 256>>>(d_to, d_distance, level,
                                             d_changed);
        changed = to_host(d_changed, 1)[0];
    }
    return report(to_host(d_distance, NODES), expected);
}
