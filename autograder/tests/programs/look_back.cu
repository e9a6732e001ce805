// Prefix sums in one pass: each block publishes its sum, then looks back over
// its predecessors' until one has published its whole prefix.
// expect: right, checksum f6760a4c
#include "program.h"

const int BLOCK = 128;
enum state : unsigned { NOTHING, SUM, PREFIX };

__global__ void scan(const unsigned *in, unsigned *out,
                     volatile unsigned long long *published, unsigned *ticket)
{
    __shared__ unsigned values[BLOCK], prefix, me;
    if (threadIdx.x == 0)
        me = atomicAdd(ticket, 1);
    __syncthreads();
    unsigned i = me * BLOCK + threadIdx.x;
    values[threadIdx.x] = in[i];
    __syncthreads();
    for (int d = 1; d < BLOCK; d *= 2) {
        unsigned left = threadIdx.x >= d ? values[threadIdx.x - d] : 0;
        __syncthreads();
        values[threadIdx.x] += left;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        unsigned sum = values[BLOCK - 1], before = 0;
        published[me] = (unsigned long long)SUM << 32 | sum;
        for (int back = (int)me - 1; back >= 0; back--) {
            unsigned long long seen;
            do
                seen = published[back];
            while (seen >> 32 == NOTHING);
            before += (unsigned)seen;
            if (seen >> 32 == PREFIX)
                break;
        }
        published[me] = (unsigned long long)PREFIX << 32 | (before + sum);
        prefix = before;
    }
    __syncthreads();
    out[i] = prefix + values[threadIdx.x];
}

int main()
{
    const int blocks = 200, n = blocks * BLOCK;
    std::vector<unsigned> in(n), expected(n);
    numbers random = {5};
    for (unsigned i = 0, sum = 0; i < n; i++)
        expected[i] = sum += in[i] = random.next() % 1000;
    unsigned *d_in = on_device(in), *d_out, *d_ticket;
    unsigned long long *d_published;
    CHECK(cudaMalloc(&d_out, n * sizeof(unsigned)));
    CHECK(cudaMalloc(&d_ticket, sizeof(unsigned)));
    CHECK(cudaMalloc(&d_published, blocks * sizeof *d_published));
    CHECK(cudaMemset(d_ticket, 0, sizeof(unsigned)));
    CHECK(cudaMemset(d_published, 0, blocks * sizeof *d_published));
    scan<<<blocks, BLOCK>>>(d_in, d_out, d_published, d_ticket);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, n), expected);
}
