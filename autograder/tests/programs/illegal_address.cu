// A fault comes back with the next call that waits, and stays.
// expect: launch 0, sync 700, malloc 700, reset 0, malloc 46
#include <stdio.h>

__global__ void poke(int *p) { *p = 1; }

int main(void)
{
    int *p;
    poke<<<1, 1>>>((int *)16);
    int launch = cudaGetLastError(), sync = cudaDeviceSynchronize();
    int after = cudaMalloc(&p, 4), reset = cudaDeviceReset();
    printf("launch %d, sync %d, malloc %d, reset %d, malloc %d\n", launch, sync,
           after, reset, cudaMalloc(&p, 4));
    return 0;
}
