// Kernels whose threads wait for what never comes: barriers that only some
// reach, lanes outside a mask. Marked is what goes past a barrier, or waits
// at another one, than the threads that came before it.
#include "cases.h"

__global__ void barrier_in_branch(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 40) {
        __syncthreads();
        out[threadIdx.x] = tile[63 - threadIdx.x];
    } else {
        out[threadIdx.x] = atomicAdd(&tile[0], 0); // fault: barrier_in_branch
    }
}

__global__ void two_barriers(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) {
        __syncthreads();
        out[threadIdx.x] = tile[63 - threadIdx.x];
    } else {
        __syncthreads(); // fault: two_barriers
        out[threadIdx.x] = tile[63 - threadIdx.x] + 1;
    }
}

__global__ void shuffle_outside_mask(int *out)
{
    int x = threadIdx.x;
    if (threadIdx.x < 16)
        x = __shfl_sync(0x0000ff00, x, 8); // fault: shuffle_outside_mask
    out[threadIdx.x] = x;
}

__global__ void wait_for_ever(volatile int *flag)
{
    if (threadIdx.x == 0)
        while (*flag == 0) // fault: wait_for_ever
            ;
}

// ---- cases ---------------------------------------------------------------------------

static const fault_case cases[] = {
    {"barrier_in_branch", "barrier", 0, -1,
     [] { barrier_in_branch<<<1, 64>>>(make<int>(64)); }},
    {"two_barriers", "barrier", 0, -1,
     [] { two_barriers<<<1, 64>>>(make<int>(64)); }},
    {"shuffle_outside_mask", "invalid", 0, 0,
     [] { shuffle_outside_mask<<<1, 32>>>(make<int>(32)); }},
    {"wait_for_ever", "deadlock", 0, 0,
     [] { wait_for_ever<<<1, 32>>>(make<int>(1)); }},
};

int main(int argc, char **argv)
{
    return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
}
