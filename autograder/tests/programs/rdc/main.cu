// Two sources, linked on the device: a kernel calls a function of the other.
// expect: 9 16 25, total 3
#include <stdio.h>

extern __device__ int square(int x);
extern __device__ int calls;

__global__ void run(int *out)
{
    out[threadIdx.x] = square(threadIdx.x + 3);
    if (threadIdx.x == 0)
        out[3] = calls;
}

int main(void)
{
    int *out, h[4], total;
    cudaMalloc(&out, sizeof h);
    run<<<1, 3>>>(out);
    cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&total, calls, sizeof total);
    printf("%d %d %d, total %d\n", h[0], h[1], h[2], total);
    return 0;
}
