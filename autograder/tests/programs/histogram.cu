// Counts by atomics, in shared and in global memory.
// expect: 0 bins differ, 65536 counted
#include <stdio.h>

enum { BINS = 64, N = 65536 };

__global__ void fill(unsigned char *data)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = (unsigned char)((i * 2654435761u) >> 26);
}

__global__ void count_global(const unsigned char *data, unsigned *bins)
{
    atomicAdd(&bins[data[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

__global__ void count_shared(const unsigned char *data, unsigned *bins)
{
    __shared__ unsigned own[BINS];
    if (threadIdx.x < BINS)
        own[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&own[data[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main(void)
{
    unsigned char *data;
    unsigned *bins, h[2 * BINS], differ = 0, total = 0;
    cudaMalloc(&data, N);
    cudaMalloc(&bins, sizeof h);
    cudaMemset(bins, 0, sizeof h);
    fill<<<N / 256, 256>>>(data);
    count_global<<<N / 256, 256>>>(data, bins);
    count_shared<<<N / 256, 256>>>(data, bins + BINS);
    cudaMemcpy(h, bins, sizeof h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < BINS; i++) {
        differ += h[i] != h[BINS + i];
        total += h[i];
    }
    printf("%u bins differ, %u counted\n", differ, total);
    cudaFree(data);
    cudaFree(bins);
    return 0;
}
