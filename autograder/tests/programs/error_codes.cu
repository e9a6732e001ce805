// The error codes of an H200 under CUDA 13.0, each seen there.
// expect: 1 1 1 1 1 1
// expect: 1 400 720
// expect: 0 2 1 0
// expect: 1 1 21 1 0
// expect: 1 1 1 1 0 1
// expect: 101 400 0 400
// expect: 1 13 21 1 1 400
// expect: 713 1 217 1 1
#include <stdio.h>

__global__ void kernel(int *p) { if (p) *p = 1; }
__global__ void __launch_bounds__(128) bounded(int *p) { if (p) *p = 1; }
__global__ void shared(void) { extern __shared__ int s[]; s[threadIdx.x] = 1; }
__device__ int variable[4];
static int host[512];

static int launch(const void *func, dim3 grid, dim3 block, size_t shared_bytes)
{
    int *p = 0;
    void *args[] = {&p};
    int error = cudaLaunchKernel(func, grid, block, args, shared_bytes, 0);
    return error == (int)cudaGetLastError() ? error : -1;
}

static void launches(void)
{
    const void *k = (const void *)kernel;
    int *p = 0;
    void *args[] = {&p};
    printf("%d %d %d %d %d %d\n", launch(k, 1, 2048, 0), launch(k, 0, 1, 0),
           launch(k, 1, 0, 0), launch((const void *)shared, 1, 32, 50000),
           launch(k, dim3(1, 70000), 1, 0), launch(k, 1, dim3(1, 1, 65), 0));
    printf("%d %d %d\n", launch((const void *)bounded, 1, 256, 0),
           launch(host, 1, 32, 0),
           cudaLaunchCooperativeKernel(k, 100000, 1024, args, 0, 0));
}

static void memory(void)
{
    int *a;
    void *p = host;
    printf("%d %d %d %d\n", cudaMalloc(&p, 0), cudaMalloc(&p, 1ull << 50),
           cudaMalloc((void **)0, 4), cudaMalloc(&a, 1000));
    printf("%d %d %d %d %d\n", cudaMemcpy(a, host, 2000, cudaMemcpyHostToDevice),
           cudaMemcpy(host, host + 9, 36, cudaMemcpyHostToDevice),
           cudaMemcpy(a, host, 36, (cudaMemcpyKind)9), cudaMemset(a, 0, 2000),
           cudaMemset(a, 0, 1000));
    int first = cudaFree(host), inside = cudaFree(a + 1);
    int pinned = cudaFreeHost(a), pageable = cudaFreeHost(host);
    int freed = cudaFree(a);
    printf("%d %d %d %d %d %d\n", first, inside, pinned, pageable, freed,
           cudaFree(a));
}

int main(void)
{
    cudaEvent_t e, f;
    float ms;
    void *p;
    int n;
    size_t limit;
    launches();
    memory();
    cudaEventCreate(&e);
    cudaEventCreate(&f);
    printf("%d %d %d %d\n", cudaSetDevice(99), cudaEventElapsedTime(&ms, e, f),
           cudaEventQuery(f), cudaStreamDestroy(0));
    auto most = cudaFuncAttributeMaxDynamicSharedMemorySize;
    printf("%d %d %d %d %d %d\n", cudaMemcpyToSymbol(variable, host, 20),
           cudaMemcpyToSymbol((const void *)host, host, 4),
           cudaMemcpyToSymbol(variable, host, 4, 0, cudaMemcpyDeviceToHost),
           cudaFuncSetAttribute(kernel, most, 300000),
           cudaFuncSetAttribute(kernel, most, -1),
           cudaFuncSetAttribute(host, most, 1));
    printf("%d %d %d %d %d\n", cudaHostUnregister(host),
           cudaHostGetDevicePointer(&p, host, 0),
           cudaDeviceEnablePeerAccess(0, 0),
           cudaDeviceGetAttribute(&n, (cudaDeviceAttr)9999, 0),
           cudaDeviceGetLimit(&limit, (cudaLimit)77));
    return 0;
}
