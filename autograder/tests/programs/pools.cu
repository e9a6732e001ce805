// Stream-ordered memory, pools, and a host function between kernels.
// expect: sum 96, host saw 2, threshold 4096, destroyed 1
#include <stdio.h>

__global__ void add(int *p) { atomicAdd(p, 1); }

static void note(void *seen) { *(int *)seen += 2; }

int main(void)
{
    cudaStream_t s;
    cudaMemPool_t standard, own;
    int *p, h = 0, seen = 0;
    unsigned long long threshold = 4096;
    struct cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, -1);
    cudaDeviceGetDefaultMemPool(&standard, 0);
    cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold,
                            &threshold);
    threshold = 0;
    cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold,
                            &threshold);
    cudaMemPoolCreate(&own, &props);
    cudaMallocFromPoolAsync((void **)&p, sizeof *p, own, s);
    cudaMemsetAsync(p, 0, sizeof *p, s);
    add<<<1, 32, 0, s>>>(p);
    cudaLaunchHostFunc(s, note, &seen);
    add<<<2, 32, 0, s>>>(p);
    cudaMemcpyAsync(&h, p, sizeof h, cudaMemcpyDeviceToHost, s);
    cudaFreeAsync(p, s);
    cudaStreamSynchronize(s);
    cudaMemPoolDestroy(own);
    printf("sum %d, host saw %d, threshold %llu, destroyed %d\n", h, seen,
           threshold, cudaMemPoolDestroy(own));
    return 0;
}
