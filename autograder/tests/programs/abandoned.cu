// A program that ends in the middle of an endless kernel takes it with it.
// status: 3
// expect: leaving
#include <stdio.h>
#include <unistd.h>

__global__ void forever(volatile int *p)
{
    while (*p == 0)
        ;
}

int main(void)
{
    int *p;
    cudaMalloc(&p, sizeof *p);
    cudaMemset(p, 0, sizeof *p);
    forever<<<1, 32>>>(p);
    printf("leaving\n");
    fflush(stdout);
    _exit(3);
}
