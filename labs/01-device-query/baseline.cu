// Lab 01's trusted side: what is true of this GPU, how long the work takes,
// and the plain copy that a fast one is measured against.
#include <cuda_runtime.h>
#include <string.h>

#include "device_query.h"

extern "C" cudaError_t true_report(int device, struct gpu_report *r)
{
    cudaDeviceProp p;
    int clock_khz = 0, memory_khz = 0, bits = 0, before = 0;
    cudaError_t error = cudaGetDeviceProperties(&p, device);
    if (error != cudaSuccess)
        return error;
    memset(r, 0, sizeof *r);
    cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device);
    cudaDeviceGetAttribute(&memory_khz, cudaDevAttrMemoryClockRate, device);
    cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device);
    cudaGetDevice(&before);
    cudaSetDevice(device);
    cudaMemGetInfo(&r->memory_free, &r->memory_total);
    cudaSetDevice(before);
    memcpy(r->name, p.name, sizeof r->name);
    r->major = p.major;
    r->minor = p.minor;
    r->pci_bus = p.pciBusID;
    r->sms = p.multiProcessorCount;
    r->warp_size = p.warpSize;
    r->max_threads_per_block = p.maxThreadsPerBlock;
    r->registers_per_sm = p.regsPerMultiprocessor;
    r->shared_per_block = p.sharedMemPerBlock;
    r->shared_per_block_optin = p.sharedMemPerBlockOptin;
    r->shared_per_sm = p.sharedMemPerMultiprocessor;
    r->l2_bytes = p.l2CacheSize;
    r->clock_mhz = clock_khz / 1e3;
    r->memory_clock_mhz = memory_khz / 1e3;
    r->memory_bus_bits = bits;
    r->bandwidth_gbs = 2.0 * memory_khz * 1e3 * bits / 8 / 1e9;
    return cudaGetLastError();
}

// The work of task 2, as the starter gives it.
static __global__ void true_work(float *out, size_t n, int rounds)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = i % 1000;
    for (int k = 0; k < rounds; k++)
        x = 0.5f * x + 1;
    out[i] = x;
}

extern "C" cudaError_t true_time(float *d_out, size_t n, int rounds,
                                 float *time_ms)
{
    cudaEvent_t begin, end;
    unsigned nblocks = (unsigned)((n + 255) / 256);
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    true_work<<<nblocks, 256>>>(d_out, n, rounds);
    cudaEventRecord(begin);
    true_work<<<nblocks, 256>>>(d_out, n, rounds);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(time_ms, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return cudaGetLastError();
}

// From pageable memory: the driver copies through a buffer of its own.
extern "C" cudaError_t copy_pageable(const float *h_from, float *d_to, size_t n)
{
    return cudaMemcpy(d_to, h_from, n * sizeof(float), cudaMemcpyHostToDevice);
}
