// Connected components by hooking and pointer jumping, with atomicMin: the
// smallest node of a component is its name whatever the order.
// expect: right, checksum 2436f073
#include "program.h"
#include <algorithm>

const int NODES = 2500, EDGES = 2200;

__global__ void hook(const int2 *edges, int *parent, int *changed)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= EDGES)
        return;
    int a = parent[edges[e].x], b = parent[edges[e].y];
    if (a == b)
        return;
    atomicMin(&parent[max(a, b)], min(a, b));
    *changed = 1;
}

__global__ void jump(int *parent)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= NODES)
        return;
    volatile int *up = parent;
    int p = up[i];
    while (up[p] != p)
        p = up[p];
    up[i] = p;
}

int main()
{
    std::vector<int2> edges(EDGES);
    std::vector<int> parent(NODES), expected(NODES);
    numbers random = {19};
    for (auto &edge : edges)
        edge = make_int2(random.next() % NODES, random.next() % NODES);
    for (int i = 0; i < NODES; i++)
        parent[i] = expected[i] = i;
    for (bool again = true; again;) {
        again = false;
        for (const int2 &edge : edges) {
            int low = std::min(expected[edge.x], expected[edge.y]);
            again |= expected[edge.x] != low || expected[edge.y] != low;
            expected[edge.x] = expected[edge.y] = low;
        }
    }
    int2 *d_edges = on_device(edges);
    int *d_parent = on_device(parent), *d_changed;
    CHECK(cudaMalloc(&d_changed, sizeof(int)));
    for (int changed = 1; changed;) {
        CHECK(cudaMemset(d_changed, 0, sizeof(int)));
        hook<<<(EDGES + 127) / 128, 128>>>(d_edges, d_parent, d_changed);
        jump<<<(NODES + 127) / 128, 128>>>(d_parent);
        changed = to_host(d_changed, 1)[0];
    }
    return report(to_host(d_parent, NODES), expected);
}
