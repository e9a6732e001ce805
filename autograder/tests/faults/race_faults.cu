// Kernels that race: two threads, one of which writes, and nothing that orders
// them. The access that the checker must name is marked.
#include "cases.h"

// ---- in shared memory ------------------------------------------------------

__global__ void shift_in_place(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x < 63)
        tile[threadIdx.x] = tile[threadIdx.x + 1]; // fault: shift_in_place
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void no_barrier_after_store(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x]; // fault: no_barrier_after_store
}

__global__ void second_barrier_missing(const int *in, int *out, int rounds)
{
    __shared__ int tile[64];
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        tile[threadIdx.x] = in[r * 64 + threadIdx.x]; // fault: second_barrier_missing
        __syncthreads();
        sum += tile[63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

__global__ void reduce_without_barrier(int *out)
{
    __shared__ int sums[128];
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2)
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // fault: reduce_without_barrier
    if (threadIdx.x == 0)
        *out = sums[0];
}

__global__ void missing_syncwarp(int *out)
{
    __shared__ volatile int sums[32];
    sums[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // fault: missing_syncwarp
    }
    if (threadIdx.x == 0)
        *out = sums[0];
}

__global__ void all_write_one(int *out)
{
    __shared__ int last;
    last = threadIdx.x; // fault: all_write_one
    __syncthreads();
    out[threadIdx.x] = last;
}

__global__ void histogram_without_atomics(const int *data, int *bins)
{
    __shared__ int local[8];
    if (threadIdx.x < 8)
        local[threadIdx.x] = 0;
    __syncthreads();
    local[data[threadIdx.x] % 8]++; // fault: histogram_without_atomics
    __syncthreads();
    if (threadIdx.x < 8)
        bins[threadIdx.x] = local[threadIdx.x];
}

__global__ void double_buffer_too_early(const int *in, int *out, int rounds)
{
    __shared__ int buffer[2][64];
    int sum = 0;
    buffer[0][threadIdx.x] = in[threadIdx.x];
    for (int r = 0; r < rounds; r++) {
        __syncthreads();
        sum += buffer[r % 2][63 - threadIdx.x];
        buffer[r % 2][threadIdx.x] = in[(r + 1) * 64 + threadIdx.x]; // fault: double_buffer_too_early
    }
    out[threadIdx.x] = sum;
}

__global__ void named_barrier_too_few(int *out)
{
    __shared__ int tile[96];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 64)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = tile[95 - threadIdx.x]; // fault: named_barrier_too_few
}

// ---- in global memory --------------------------------------------------------

__global__ void count_without_atomic(int *counter)
{
    *counter = *counter + 1; // fault: count_without_atomic
}

__global__ void neighbour_block(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i;
    __syncthreads();
    b[i] = a[(i + 1) % (gridDim.x * blockDim.x)]; // fault: neighbour_block
}

__global__ void in_place_stencil(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        a[i] = (a[i - 1] + a[i + 1]) / 2 + 1; // fault: in_place_stencil
}

__global__ void flag_without_fence(int *data, int *flag, int *out)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        data[0] = 42;
        *(volatile int *)flag = 1;
    }
    if (blockIdx.x == 1 && threadIdx.x == 0) {
        while (*(volatile int *)flag == 0)
            ;
        out[0] = data[0]; // fault: flag_without_fence
    }
}

__global__ void last_block_without_fence(int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x;
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        atomicAdd(out, sums[threadIdx.x]); // fault: last_block_without_fence
}

// ---- cases ---------------------------------------------------------------------------

static const fault_case cases[] = {
    {"shift_in_place", "race", 0, -1,
     [] { shift_in_place<<<1, 64>>>(make<int>(64)); }},
    {"no_barrier_after_store", "race", 0, -1,
     [] { no_barrier_after_store<<<1, 64>>>(make<int>(64)); }},
    {"second_barrier_missing", "race", 0, -1,
     [] { second_barrier_missing<<<1, 64>>>(make<int>(256), make<int>(64), 4); }},
    {"reduce_without_barrier", "race", 0, -1,
     [] { reduce_without_barrier<<<1, 128>>>(make<int>(1)); }},
    {"missing_syncwarp", "race", 0, -1,
     [] { missing_syncwarp<<<1, 32>>>(make<int>(1)); }},
    {"all_write_one", "race", 0, -1,
     [] { all_write_one<<<1, 64>>>(make<int>(64)); }},
    {"histogram_without_atomics", "race", 0, -1,
     [] { histogram_without_atomics<<<1, 64>>>(make<int>(64), make<int>(8)); }},
    {"double_buffer_too_early", "race", 0, -1,
     [] { double_buffer_too_early<<<1, 64>>>(make<int>(320), make<int>(64), 4); }},
    {"named_barrier_too_few", "race", 0, -1,
     [] { named_barrier_too_few<<<1, 96>>>(make<int>(96)); }},
    {"count_without_atomic", "race", -1, -1,
     [] { count_without_atomic<<<4, 64>>>(make<int>(1)); }},
    {"neighbour_block", "race", -1, -1,
     [] { neighbour_block<<<4, 64>>>(make<int>(256), make<int>(256)); }},
    {"in_place_stencil", "race", -1, -1,
     [] { in_place_stencil<<<2, 128>>>(make<int>(256), 256); }},
    {"flag_without_fence", "race", 1, 0,
     [] { flag_without_fence<<<2, 32>>>(make<int>(1), make<int>(1), make<int>(1)); }},
    {"last_block_without_fence", "race", -1, -1,
     [] {
         last_block_without_fence<<<8, 32>>>(make<int>(8), make<unsigned>(1),
                                             make<int>(1));
     }},
};

int main(int argc, char **argv)
{
    return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
}
