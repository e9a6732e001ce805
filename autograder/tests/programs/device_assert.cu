// virtual only: on a GPU the text of a failed assertion, sticky, goes to stderr
// expect: autograder/tests/programs/device_assert.cu:12: void check(int): block: [0,0,0], thread: [4,0,0] Assertion `threadIdx.x < n` failed.
// expect: autograder/tests/programs/device_assert.cu:12: void check(int): block: [0,0,0], thread: [5,0,0] Assertion `threadIdx.x < n` failed.
// expect: autograder/tests/programs/device_assert.cu:12: void check(int): block: [0,0,0], thread: [6,0,0] Assertion `threadIdx.x < n` failed.
// expect: autograder/tests/programs/device_assert.cu:12: void check(int): block: [0,0,0], thread: [7,0,0] Assertion `threadIdx.x < n` failed.
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
