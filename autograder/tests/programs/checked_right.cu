// A right program has no findings, and keeps its exit status.
// run: --check --deterministic
// status: 7
// expect: 4950
#include <stdio.h>

__global__ void store(int *p) { p[threadIdx.x] = threadIdx.x; }

int main(void)
{
    int *p, h[100], sum = 0;
    cudaMalloc(&p, sizeof h);
    store<<<1, 100>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 100; i++)
        sum += h[i];
    printf("%d\n", sum);
    cudaFree(p);
    return 7;
}
