// Managed memory and managed variables: one address for host and device.
// expect: sum 45, counter 11, type 3
#include <stdio.h>

__managed__ int counter = 1;

__global__ void square(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void bump(void) { atomicAdd(&counter, 1); }

int main(void)
{
    int *p, sum = 0;
    struct cudaPointerAttributes attributes;
    cudaMallocManaged(&p, 10 * sizeof(int));
    for (int i = 0; i < 10; i++)
        p[i] = -1;
    square<<<1, 10>>>(p);
    counter = 6;
    bump<<<1, 5>>>();
    cudaDeviceSynchronize();
    for (int i = 0; i < 10; i++)
        sum += p[i];
    cudaPointerGetAttributes(&attributes, p);
    printf("sum %d, counter %d, type %d\n", sum, counter, attributes.type);
    cudaFree(p);
    return 0;
}
