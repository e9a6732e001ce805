// Every position of a pattern in a text of bytes, gathered by a warp-wide
// ballot and one atomic a warp; sorted on the host.
// expect: right, checksum 792c59dc
#include "program.h"
#include <algorithm>

__constant__ char d_pattern[8];

__global__ void search(const char *text, int n, int length, int *found,
                       int *nfound)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool hit = i + length <= n;
    for (int k = 0; hit && k < length; k++)
        hit = text[i + k] == d_pattern[k];
    unsigned hits = __ballot_sync(~0u, hit);
    int lane = threadIdx.x % 32, first = 0;
    if (lane == 0 && hits)
        first = atomicAdd(nfound, __popc(hits));
    first = __shfl_sync(~0u, first, 0);
    if (hit)
        found[first + __popc(hits & ((1u << lane) - 1))] = i;
}

int main()
{
    const int n = 30000;
    const char pattern[] = "abca";
    const int length = sizeof pattern - 1;
    std::vector<char> text(n);
    numbers random = {10};
    for (auto &c : text)
        c = 'a' + random.next() % 3;
    std::vector<int> expected;
    for (int i = 0; i + length <= n; i++)
        if (memcmp(&text[i], pattern, length) == 0)
            expected.push_back(i);
    CHECK(cudaMemcpyToSymbol(d_pattern, pattern, length));
    char *d_text = on_device(text);
    int *d_found = on_device(std::vector<int>(n)), *d_n;
    CHECK(cudaMalloc(&d_n, sizeof(int)));
    CHECK(cudaMemset(d_n, 0, sizeof(int)));
    search<<<(n + 127) / 128, 128>>>(d_text, n, length, d_found, d_n);
    int count = to_host(d_n, 1)[0];
    std::vector<int> found = to_host(d_found, count);
    std::sort(found.begin(), found.end());
    return report(found, expected);
}
