// Bug hunt 01: writes the squares of 0..999 on the GPU and adds them up on the
// CPU. One fault is planted. Find it by reading, then ask the checker:
//     make bug-hunts && build/bin/vgpu-run --check build/labs/01-device-query/bug_hunt
#include "lab.h"

__global__ void square(int *out, const int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < *count)
        out[i] = i * i;
}

int main(void)
{
    const int n = 1000;
    static int h_out[1000];
    int *d_out, *d_count;
    CUDA_CHECK(cudaMalloc(&d_out, sizeof h_out));
    CUDA_CHECK(cudaMalloc(&d_count, sizeof n));
    CUDA_CHECK(cudaMemset(d_out, 0, sizeof h_out));

    square<<<(n + 255) / 256, 256>>>(d_out, d_count);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(d_count, &n, sizeof n, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost));

    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += h_out[i];
    printf("the sum is %lld, and should be 332833500\n", sum);
    CUDA_CHECK(cudaFree(d_count));
    CUDA_CHECK(cudaFree(d_out));
    return 0;
}
