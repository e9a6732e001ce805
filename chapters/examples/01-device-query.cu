// The worked example of chapter 01: what this machine offers, and how long a
// kernel takes, timed the wrong way and the right way.
//
//     make examples
//     build/examples/01-device-query                    with a GPU
//     build/bin/vgpu-run build/examples/01-device-query  without one
#include <time.h>

#include "lab.h"

// What all GPUs of the machine have in common: one line each.
static void list_gpus(void)
{
    int ngpus = 0, driver = 0, runtime = 0;
    cudaError_t error = cudaGetDeviceCount(&ngpus);
    if (error != cudaSuccess) { // no driver, no GPU: an answer, not a crash
        printf("no GPU: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    CUDA_CHECK(cudaDriverGetVersion(&driver));
    CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
    printf("driver speaks CUDA %d.%d, runtime is CUDA %d.%d\n", driver / 1000,
           driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    for (int d = 0; d < ngpus; d++) {
        cudaDeviceProp prop;
        CUDA_CHECK(cudaGetDeviceProperties(&prop, d));
        printf("GPU %d: %s, %d warps an SM, grids up to %d blocks wide\n", d,
               prop.name, prop.maxThreadsPerMultiProcessor / prop.warpSize,
               prop.maxGridSize[0]);
    }
}

// How many threads can be under way at one moment.
static void show_threads(int device)
{
    int per_sm, nsms;
    CUDA_CHECK(cudaDeviceGetAttribute(
        &per_sm, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    CUDA_CHECK(cudaDeviceGetAttribute(&nsms, cudaDevAttrMultiProcessorCount,
                                      device));
    printf("%d SMs x %d threads = %d threads at once\n", nsms, per_sm,
           nsms * per_sm);
}

// Every thread spins: time that depends on `turns` and on little else.
__global__ void spin(unsigned *out, unsigned turns)
{
    unsigned x = threadIdx.x + blockIdx.x * blockDim.x;
    for (unsigned k = 0; k < turns; k++)
        x = x * 1664525u + 1013904223u;
    out[threadIdx.x + blockIdx.x * blockDim.x] = x;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// WRONG: the clock is read when the launch returns.
static double time_launch_us(unsigned *d_out, unsigned turns)
{
    double begin = seconds();
    spin<<<64, 128>>>(d_out, turns);
    double end = seconds();
    return 1e6 * (end - begin);
}

// Right: the GPU stamps two events in its queue, before and behind the work.
static double time_kernel_us(unsigned *d_out, unsigned turns)
{
    float ms;
    cudaEvent_t start, stop;
    CUDA_CHECK(cudaEventCreate(&start));
    CUDA_CHECK(cudaEventCreate(&stop));
    CUDA_CHECK(cudaEventRecord(start));
    spin<<<64, 128>>>(d_out, turns);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(stop));
    CUDA_CHECK(cudaEventSynchronize(stop)); // until the GPU is past it
    CUDA_CHECK(cudaEventElapsedTime(&ms, start, stop));
    CUDA_CHECK(cudaEventDestroy(start));
    CUDA_CHECK(cudaEventDestroy(stop));
    return 1e3 * ms;
}

int main(int argc, char **argv)
{
    unsigned *d_out;
    list_gpus();
    show_threads(0);
    CUDA_CHECK(cudaMalloc(&d_out, 64 * 128 * sizeof *d_out));
    time_kernel_us(d_out, 1); // the first launch loads the code
    for (unsigned turns = 4000; turns <= 64000; turns *= 4)
        printf("%5u turns: %8.1f us by events\n", turns,
               time_kernel_us(d_out, turns));
    if (argc > 1) // any argument: the wrong way as well
        printf("%5u turns: %8.1f us by the CPU's clock, not waiting\n", 64000u,
               time_launch_us(d_out, 64000));
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(cudaFree(d_out));
    return 0;
}
