// The time between two events is not there before somebody waited for it, and
// asking too early is no error that stays.
// expect: 600, last 0, then 0
#include <stdio.h>

__global__ void busy(float *x)
{
    float v = threadIdx.x;
    for (int i = 0; i < 200000; i++)
        v = v * 1.0001f + 1;
    x[threadIdx.x] = v;
}

int main()
{
    float *x, ms;
    cudaEvent_t start, stop;
    cudaMalloc(&x, 64 * sizeof(float));
    cudaEventCreate(&start);
    cudaEventCreate(&stop);
    cudaEventRecord(start);
    busy<<<1, 64>>>(x);
    cudaEventRecord(stop);
    cudaError_t early = cudaEventElapsedTime(&ms, start, stop);
    cudaError_t last = cudaGetLastError();
    cudaEventSynchronize(stop);
    printf("%d, last %d, then %d\n", early, last,
           cudaEventElapsedTime(&ms, start, stop));
    return 0;
}
