// Sums in shared memory, dynamic and static, and adds blocks by atomics.
// expect: sum 499500, again 499500
#include <stdio.h>

__global__ void sum_dynamic(const int *in, int n, int *out)
{
    extern __shared__ int tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(out, tile[0]);
}

__global__ void sum_static(const int *in, int n, int *out)
{
    __shared__ int total;
    if (threadIdx.x == 0)
        total = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += gridDim.x * blockDim.x)
        atomicAdd(&total, in[i]);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, total);
}

int main(void)
{
    const int n = 1000;
    int h[n], sums[2], *in, *out;
    for (int i = 0; i < n; i++)
        h[i] = i;
    cudaMalloc(&in, sizeof h);
    cudaMalloc(&out, sizeof sums);
    cudaMemcpy(in, h, sizeof h, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, sizeof sums);
    sum_dynamic<<<8, 128, 128 * sizeof(int)>>>(in, n, out);
    sum_static<<<3, 64>>>(in, n, out + 1);
    cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
    printf("sum %d, again %d\n", sums[0], sums[1]);
    cudaFree(in);
    cudaFree(out);
    return cudaDeviceSynchronize();
}
