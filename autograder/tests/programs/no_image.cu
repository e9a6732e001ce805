// A kernel for a GPU that this one is not: no image, told at the launch.
// flags: -gencode arch=compute_100,code=compute_100
// expect: 209
#include <stdio.h>

__global__ void nothing(void) {}

int main(void)
{
    nothing<<<1, 1>>>();
    printf("%d\n", cudaGetLastError());
    return 0;
}
