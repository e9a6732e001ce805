// fails: unlocks_the_pages
// The pages stay locked for good.
#include <string.h>

#include "device_query.h"
#include "lab.h"

// Returns from the function when a call fails: errors are told, not printed.
#define TRY(call)                                                              \
    do {                                                                       \
        cudaError_t try_error_ = (call);                                       \
        if (try_error_ != cudaSuccess)                                         \
            return try_error_;                                                 \
    } while (0)

// ---- Task 1: what this GPU is --------------------------------------------

// Free and total memory of any device, the current device left as it was.
static cudaError_t memory_of(int device, size_t *free_bytes, size_t *total_bytes)
{
    int before;
    TRY(cudaGetDevice(&before));
    TRY(cudaSetDevice(device));
    cudaError_t error = cudaMemGetInfo(free_bytes, total_bytes);
    TRY(cudaSetDevice(before));
    return error;
}

cudaError_t query_gpu(int device, struct gpu_report *report)
{
    struct gpu_report r = {};
    cudaDeviceProp prop;
    TRY(cudaGetDeviceProperties(&prop, device));
    TRY(memory_of(device, &r.memory_free, &r.memory_total));
    memcpy(r.name, prop.name, sizeof r.name);
    int clock_khz, memory_khz;
    TRY(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device));
    TRY(cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device));
    r.major = prop.major;
    r.minor = prop.minor;
    r.pci_bus = prop.pciBusID;
    r.sms = prop.multiProcessorCount;
    r.warp_size = prop.warpSize;
    r.max_threads_per_block = prop.maxThreadsPerBlock;
    r.registers_per_sm = prop.regsPerMultiprocessor;
    r.shared_per_block = prop.sharedMemPerBlock;
    r.shared_per_block_optin = prop.sharedMemPerBlockOptin;
    r.shared_per_sm = prop.sharedMemPerMultiprocessor;
    r.l2_bytes = prop.l2CacheSize;
    r.clock_mhz = clock_khz / 1e3;
    r.memory_clock_mhz = memory_khz / 1e3;
    r.memory_bus_bits = prop.memoryBusWidth;
    // both edges of the clock carry data; a bus of bits carries bits / 8 bytes
    r.bandwidth_gbs = 2 * (memory_khz * 1e3) * (prop.memoryBusWidth / 8) / 1e9;
    *report = r;
    return cudaSuccess;
}

// ---- Task 2: how long a kernel takes ---------------------------------------

// Something to time: each element goes through `rounds` dependent steps.
__global__ void work(float *out, size_t n, int rounds)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i % 1000;
    for (int k = 0; k < rounds; k++)
        x = 0.5f * x + 1;
    out[i] = x;
}

cudaError_t launch_work(float *d_out, size_t n, int rounds)
{
    work<<<(unsigned)((n + 255) / 256), 256>>>(d_out, n, rounds);
    return cudaGetLastError();
}

cudaError_t time_work(float *d_out, size_t n, int rounds, float *time_ms)
{
    cudaEvent_t begin, end;
    TRY(launch_work(d_out, n, rounds));
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    TRY(cudaEventRecord(begin));
    TRY(launch_work(d_out, n, rounds));
    TRY(cudaEventRecord(end));
    TRY(cudaEventSynchronize(end)); // the launch returned long before the work
    TRY(cudaEventElapsedTime(time_ms, begin, end));
    TRY(cudaEventDestroy(begin));
    TRY(cudaEventDestroy(end));
    return cudaSuccess;
}

// ---- Task 3: a fast way to the GPU -------------------------------------------

cudaError_t prepare_copy(const float *h_from, float *d_to, size_t n)
{
    TRY(cudaHostRegister((void *)h_from, n * sizeof(float),
                         cudaHostRegisterDefault));
    return cudaSuccess;
}

cudaError_t copy_to_gpu(const float *h_from, float *d_to, size_t n)
{
    TRY(cudaMemcpy(d_to, h_from, n * sizeof(float), cudaMemcpyHostToDevice));
    return cudaSuccess;
}

cudaError_t finish_copy(const float *h_from, float *d_to, size_t n)
{
    return cudaSuccess;
}
