// Everything asked attribute by attribute; the copy in a stream of its own.
#include <stdio.h>

#include "device_query.h"
#include "lab.h"

static cudaError_t first_error;

static int ask(cudaDeviceAttr attribute, int device)
{
    int value = 0;
    cudaError_t error = cudaDeviceGetAttribute(&value, attribute, device);
    if (first_error == cudaSuccess)
        first_error = error;
    return value;
}

static void ask_all(struct gpu_report *r, int d)
{
    double memory_khz = ask(cudaDevAttrMemoryClockRate, d);
    r->major = ask(cudaDevAttrComputeCapabilityMajor, d);
    r->minor = ask(cudaDevAttrComputeCapabilityMinor, d);
    r->pci_bus = ask(cudaDevAttrPciBusId, d);
    r->sms = ask(cudaDevAttrMultiProcessorCount, d);
    r->warp_size = ask(cudaDevAttrWarpSize, d);
    r->max_threads_per_block = ask(cudaDevAttrMaxThreadsPerBlock, d);
    r->registers_per_sm = ask(cudaDevAttrMaxRegistersPerMultiprocessor, d);
    r->shared_per_block = ask(cudaDevAttrMaxSharedMemoryPerBlock, d);
    r->shared_per_block_optin = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin, d);
    r->shared_per_sm = ask(cudaDevAttrMaxSharedMemoryPerMultiprocessor, d);
    r->l2_bytes = ask(cudaDevAttrL2CacheSize, d);
    r->clock_mhz = ask(cudaDevAttrClockRate, d) * 1e-3;
    r->memory_clock_mhz = memory_khz * 1e-3;
    r->memory_bus_bits = ask(cudaDevAttrGlobalMemoryBusWidth, d);
    r->bandwidth_gbs = memory_khz * r->memory_bus_bits / 4e6;
}

cudaError_t query_gpu(int device, struct gpu_report *report)
{
    struct gpu_report r;
    cudaDeviceProp prop;
    int before = 0;
    first_error = cudaGetDeviceProperties(&prop, device);
    if (first_error != cudaSuccess)
        return first_error;
    snprintf(r.name, sizeof r.name, "%s", prop.name);
    ask_all(&r, device);
    cudaGetDevice(&before);
    cudaSetDevice(device);
    cudaError_t error = cudaMemGetInfo(&r.memory_free, &r.memory_total);
    cudaSetDevice(before);
    if (first_error == cudaSuccess)
        first_error = error;
    if (first_error == cudaSuccess)
        *report = r;
    return first_error;
}

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

// The mean of two runs, after one that does not count.
cudaError_t time_work(float *d_out, size_t n, int rounds, float *time_ms)
{
    unsigned nblocks = (unsigned)((n + 255) / 256);
    cudaEvent_t at[2];
    cudaEventCreate(&at[0]);
    cudaEventCreate(&at[1]);
    work<<<nblocks, 256>>>(d_out, n, rounds);
    cudaDeviceSynchronize();
    cudaEventRecord(at[0]);
    work<<<nblocks, 256>>>(d_out, n, rounds);
    work<<<nblocks, 256>>>(d_out, n, rounds);
    cudaEventRecord(at[1]);
    cudaDeviceSynchronize();
    cudaError_t error = cudaEventElapsedTime(time_ms, at[0], at[1]);
    *time_ms /= 2;
    cudaEventDestroy(at[0]);
    cudaEventDestroy(at[1]);
    return error != cudaSuccess ? error : cudaGetLastError();
}

static cudaStream_t stream;

cudaError_t prepare_copy(const float *h_from, float *d_to, size_t n)
{
    cudaError_t error = cudaHostRegister((void *)h_from, n * sizeof(float),
                                         cudaHostRegisterPortable);
    if (error == cudaSuccess && !stream)
        error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    return error;
}

cudaError_t copy_to_gpu(const float *h_from, float *d_to, size_t n)
{
    cudaError_t error = cudaMemcpyAsync(d_to, h_from, n * sizeof(float),
                                        cudaMemcpyHostToDevice, stream);
    return error != cudaSuccess ? error : cudaStreamSynchronize(stream);
}

cudaError_t finish_copy(const float *h_from, float *d_to, size_t n)
{
    if (stream)
        cudaStreamDestroy(stream);
    stream = NULL;
    return cudaHostUnregister((void *)h_from);
}
