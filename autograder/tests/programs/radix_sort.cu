// Sorts 20000 pairs by 32-bit keys, eight bits a pass: count, scan, scatter,
// one block of 256 threads to keep it stable.
// expect: right, checksum fe9d9a6f
#include "program.h"
#include <algorithm>

const int N = 20000, DIGITS = 256, PER = (N + DIGITS - 1) / DIGITS;

struct pair {
    unsigned key, value;
};

// Thread t owns elements [t * PER, (t + 1) * PER) and counts its digits into
// column t of the table.
__global__ void sort_pass(const pair *in, pair *out, unsigned short *table,
                          int shift)
{
    __shared__ unsigned start[DIGITS];
    int t = threadIdx.x, first = t * PER, last = min(first + PER, N);
    for (int d = 0; d < DIGITS; d++)
        table[d * DIGITS + t] = 0;
    for (int i = first; i < last; i++)
        table[(in[i].key >> shift & 255) * DIGITS + t]++;
    __syncthreads();
    unsigned sum = 0; // thread t now owns digit t
    for (int c = 0; c < DIGITS; c++) {
        unsigned n = table[t * DIGITS + c];
        table[t * DIGITS + c] = sum;
        sum += n;
    }
    start[t] = sum;
    __syncthreads();
    for (int d = 1; d < DIGITS; d *= 2) {
        unsigned left = t >= d ? start[t - d] : 0;
        __syncthreads();
        start[t] += left;
        __syncthreads();
    }
    for (int i = first; i < last; i++) {
        unsigned digit = in[i].key >> shift & 255;
        unsigned base = digit ? start[digit - 1] : 0;
        out[base + table[digit * DIGITS + t]++] = in[i];
    }
}

int main()
{
    std::vector<pair> pairs(N);
    numbers random = {14};
    for (unsigned i = 0; i < N; i++)
        pairs[i] = {random.next() % 5000 * 777767u, i};
    pair *d_a = on_device(pairs), *d_b = on_device(pairs);
    unsigned short *d_table;
    CHECK(cudaMalloc(&d_table, DIGITS * DIGITS * sizeof *d_table));
    for (int shift = 0; shift < 32; shift += 8) {
        sort_pass<<<1, DIGITS>>>(d_a, d_b, d_table, shift);
        std::swap(d_a, d_b);
    }
    CHECK(cudaGetLastError());
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](pair x, pair y) { return x.key < y.key; });
    return report(to_host(d_a, N), pairs);
}
