// Streams overlap in modelled time, events measure it, and every run of the
// same work takes the same time.
// virtual only: measured times differ from run to run
// expect: overlap 1, ordered 1, repeatable 1, not recorded 400
#include <stdio.h>

__global__ void work(float *p, int rounds)
{
    float x = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        x = x * 1.0001f + 1.0f;
    p[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static float time_of(cudaStream_t a, cudaStream_t b, float *p)
{
    cudaEvent_t start, joined, end;
    float ms = 0;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    cudaEventCreateWithFlags(&joined, cudaEventDisableTiming);
    cudaDeviceSynchronize();
    cudaEventRecord(start, a);
    cudaStreamWaitEvent(b, start, 0);
    work<<<4, 64, 0, a>>>(p, 20000);
    work<<<4, 64, 0, b>>>(p + 256, 20000);
    cudaEventRecord(joined, b);
    cudaStreamWaitEvent(a, joined, 0);
    cudaEventRecord(end, a);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, start, end);
    cudaEventDestroy(start);
    cudaEventDestroy(joined);
    cudaEventDestroy(end);
    return ms;
}

int main(void)
{
    float *p, ms;
    cudaStream_t a, b;
    cudaEvent_t never;
    cudaMalloc(&p, 512 * sizeof(float));
    cudaStreamCreate(&a);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    cudaEventCreate(&never);
    float together = time_of(a, b, p), again = time_of(a, b, p);
    float apart = time_of(a, a, p);
    int error = cudaEventElapsedTime(&ms, never, never);
    printf("overlap %d, ordered %d, repeatable %d, not recorded %d\n",
           together < 0.7f * apart, together > 0, together == again, error);
    cudaStreamDestroy(a);
    cudaStreamDestroy(b);
    return 0;
}
