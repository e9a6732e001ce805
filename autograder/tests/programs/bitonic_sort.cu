// Sorts 4096 keys by a bitonic network, one launch a stage.
// expect: right, checksum 0f88094d
#include "program.h"
#include <algorithm>

__global__ void compare_exchange(unsigned *keys, unsigned distance,
                                 unsigned run)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned partner = i ^ distance;
    if (partner <= i)
        return;
    bool ascending = (i & run) == 0;
    unsigned a = keys[i], b = keys[partner];
    if ((a > b) == ascending) {
        keys[i] = b;
        keys[partner] = a;
    }
}

int main()
{
    const unsigned n = 4096;
    std::vector<unsigned> keys(n);
    numbers random = {1};
    for (auto &key : keys)
        key = random.next();
    unsigned *d_keys = on_device(keys);
    for (unsigned run = 2; run <= n; run *= 2)
        for (unsigned distance = run / 2; distance > 0; distance /= 2)
            compare_exchange<<<n / 256, 256>>>(d_keys, distance, run);
    CHECK(cudaGetLastError());
    std::vector<unsigned> sorted = to_host(d_keys, n);
    std::sort(keys.begin(), keys.end());
    return report(sorted, keys);
}
