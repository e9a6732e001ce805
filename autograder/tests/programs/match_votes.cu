// Warp-wide votes and matches over lanes that disagree.
// expect: right, checksum 5aeb8a14
#include "program.h"

const int N = 640;

__global__ void vote(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = in[i];
    unsigned same = __match_any_sync(~0u, x);
    int all_equal;
    __match_all_sync(~0u, x / 8, &all_equal);
    unsigned odd = __ballot_sync(~0u, x & 1);
    unsigned result = same * 31 + all_equal * 7 + odd;
    if (x & 1) // a group of its own
        result += __reduce_xor_sync(odd, x * 2654435761u) +
                  __shfl_sync(odd, x, __ffs(odd) - 1);
    result += __any_sync(~0u, x == 7) * 3 + __all_sync(~0u, x < 9) * 5;
    out[i] = result;
}

int main()
{
    std::vector<unsigned> in(N), expected(N);
    numbers random = {21};
    for (int i = 0; i < N; i++)
        in[i] = random.next() % (i < N / 2 ? 9 : 8);
    for (int w = 0; w < N; w += 32) {
        unsigned odd = 0, mixed = 0, first = ~0u;
        bool equal = true, any = false, all = true;
        for (int l = 31; l >= 0; l--) {
            unsigned x = in[w + l];
            odd |= (x & 1) << l;
            equal = equal && x / 8 == in[w] / 8;
            any = any || x == 7;
            all = all && x < 9;
            if (x & 1) {
                mixed ^= x * 2654435761u;
                first = x;
            }
        }
        for (int l = 0; l < 32; l++) {
            unsigned x = in[w + l], same = 0;
            for (int k = 0; k < 32; k++)
                same |= (unsigned)(in[w + k] == x) << k;
            expected[w + l] = same * 31 + equal * 7 + odd + any * 3 + all * 5 +
                              (x & 1 ? mixed + first : 0);
        }
    }
    unsigned *d_out = on_device(std::vector<unsigned>(N));
    vote<<<N / 128, 128>>>(on_device(in), d_out);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, N), expected);
}
