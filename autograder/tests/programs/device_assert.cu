// A failed assertion is an error that stays until the process ends.
// expect: sync 710 device-side assert triggered
// expect: malloc 710
// expect: last 710, then 0
#include <assert.h>
#include <stdio.h>

__global__ void check(int n) { assert(threadIdx.x < n); }

int main(void)
{
    int *p;
    check<<<1, 8>>>(4);
    cudaError_t error = cudaDeviceSynchronize();
    printf("sync %d %s\n", error, cudaGetErrorString(error));
    printf("malloc %d\n", cudaMalloc(&p, 4));
    error = cudaGetLastError();
    printf("last %d, then %d\n", error, cudaGetLastError());
    return 0;
}
