// After a reset memory is gone and can be had again, and variables start anew.
// expect: counter 3, freed 1, read 5, counter 1
#include <stdio.h>

__device__ int counter;

__global__ void count(int n) { atomicAdd(&counter, n); }
__global__ void set(int *p) { *p = 5; }

int main(void)
{
    int *p, h = 0, before, after, freed;
    cudaMalloc(&p, sizeof *p);
    count<<<1, 1>>>(3);
    cudaMemcpyFromSymbol(&before, counter, sizeof before);
    cudaDeviceReset();
    freed = cudaFree(p);
    cudaGetLastError();
    cudaMalloc(&p, sizeof *p);
    set<<<1, 1>>>(p);
    count<<<1, 1>>>(1);
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&after, counter, sizeof after);
    printf("counter %d, freed %d, read %d, counter %d\n", before, freed, h,
           after);
    return 0;
}
