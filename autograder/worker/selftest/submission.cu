// What session-selftest runs: an honest function, its baseline, and three
// ways to fail.
#include <cuda_runtime.h>
#include <stddef.h>

__global__ static void add_kernel(const float *a, const float *b, float *c,
                                  size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ static void spin_kernel(volatile float *c)
{
    for (unsigned long long i = 0; i < 1ull << 40 && c[0] != 1.5f; i++)
        c[1] = (float)i;
}

extern "C" cudaError_t add(const float *a, const float *b, float *c, size_t n)
{
    add_kernel<<<(unsigned)((n + 255) / 256), 256>>>(a, b, c, n);
    return cudaGetLastError();
}

extern "C" cudaError_t copy(const float *a, float *c, size_t n)
{
    return cudaMemcpyAsync(c, a, n * sizeof *c, cudaMemcpyDeviceToDevice, 0);
}

extern "C" cudaError_t spin(float *c)
{
    spin_kernel<<<1, 32>>>(c);
    return cudaDeviceSynchronize();
}

extern "C" cudaError_t out_of_bounds(float *c)
{
    add_kernel<<<1, 32>>>(c + (1ull << 36), c, c, 32);
    return cudaDeviceSynchronize();
}

extern "C" void touch_device_memory(float *c)
{
    *(volatile float *)c = 1;
}
