// Bug hunt @NUMBER@: one fault is planted below. Find it by reading, then ask
//     make bug-hunts && build/bin/vgpu-run --check build/labs/@SLUG@/bug_hunt
#include "lab.h"

__global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        out[i] = i;
}

int main(void)
{
    int n = 1000, *d_out, last = 0;
    CUDA_CHECK(cudaMalloc(&d_out, n * sizeof *d_out));
    fill<<<(n + 255) / 256, 256>>>(d_out, n);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(&last, d_out + n - 1, sizeof last,
                          cudaMemcpyDeviceToHost));
    printf("the last is %d\n", last);
    CUDA_CHECK(cudaFree(d_out));
    return 0;
}
