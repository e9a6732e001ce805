// The checker names the line and the thread of an access out of bounds, which
// a GPU would let pass.
// run: --check
// status: 86
// expect-error: checked_bounds.cu:13: out-of-bounds
// expect-error: p[threadIdx.x] = 1;
// expect-error: thread (100,0,0)
#include <stdio.h>

__global__ void store(int *p)
{
    // One thread too many.
    p[threadIdx.x] = 1;
}

int main(void)
{
    int *p;
    cudaMalloc(&p, 100 * sizeof(int));
    store<<<1, 101>>>(p);
    int error = cudaDeviceSynchronize();
    cudaFree(p);
    return error;
}
