// Compiled with --default-stream per-thread: the _ptsz and _ptds names.
// flags: --default-stream per-thread
// expect: 32 right, own stream 1
#include <stdio.h>

__global__ void store(int *p) { p[threadIdx.x] = threadIdx.x; }

int main(void)
{
    int *p, h[32], right = 0;
    unsigned long long zero, own;
    cudaMalloc(&p, sizeof h);
    cudaMemset(p, 0, sizeof h);
    store<<<1, 32>>>(p);
    cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, 0);
    cudaStreamSynchronize(0);
    for (int i = 0; i < 32; i++)
        right += h[i] == i;
    cudaStreamGetId(0, &zero);
    cudaStreamGetId(cudaStreamPerThread, &own);
    printf("%d right, own stream %d\n", right, zero == own);
    return 0;
}
