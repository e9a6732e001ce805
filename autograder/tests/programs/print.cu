// Device output appears when the program waits, in the order of its stdout.
// expect: before
// expect: thread 0 of 2: 1.50 text 18446744073709551615
// expect: thread 1 of 2: 2.50 text 18446744073709551615
// expect: after
#include <stdio.h>

__global__ void say(const char *unused)
{
    printf("thread %d of %d: %.2f %s %llu\n", threadIdx.x, blockDim.x,
           threadIdx.x + 1.5, "text", ~0ull);
}

int main(void)
{
    printf("before\n");
    say<<<1, 2>>>(0);
    cudaDeviceSynchronize();
    printf("after\n");
    return 0;
}
