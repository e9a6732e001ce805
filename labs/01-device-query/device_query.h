// Lab 01: what device_query.cu provides.
//
// Every function returns cudaSuccess, or the first CUDA error that it met, and
// then leaves what it was to fill as it was. Nothing is printed, nothing exits.
#pragma once

#include <stddef.h>

// What one GPU is. Sizes in bytes; "SM" is a streaming multiprocessor.
struct gpu_report {
    char name[256];              // as the runtime tells it
    int major, minor;            // compute capability: 9 and 0
    int pci_bus;                 // tells two GPUs of one kind apart
    int sms;
    int warp_size;
    int max_threads_per_block;
    int registers_per_sm;        // 32 bits each
    size_t shared_per_block;     // without asking for more
    size_t shared_per_block_optin;
    size_t shared_per_sm;
    size_t l2_bytes;
    size_t memory_total, memory_free;
    double clock_mhz;            // of the SMs
    double memory_clock_mhz;     // twice as many transfers: DDR
    int memory_bus_bits;
    double bandwidth_gbs;        // theoretical, 10^9 bytes a second
};

// The rest is CUDA's side; the judge reads the structure alone.
#ifdef __CUDACC__
#include <cuda_runtime.h>

extern "C" {

// Task 1. Fills the report of any GPU of this machine, 0 for the first. An
// index without a GPU is cudaErrorInvalidDevice.
cudaError_t query_gpu(int device, struct gpu_report *report);

// Task 2. The time that launch_work(d_out, n, rounds) takes on the GPU, in
// milliseconds, measured with events and complete on return. A run that warms
// up comes first and does not count.
cudaError_t time_work(float *d_out, size_t n, int rounds, float *time_ms);

// Task 3 (plus). Copies n floats to the GPU, fast, many times over from the
// same place: prepare_copy comes once before, and is not timed; finish_copy
// once after, and undoes it. h_from changes between the copies. On return of
// copy_to_gpu, d_to holds all.
cudaError_t prepare_copy(const float *h_from, float *d_to, size_t n);
cudaError_t copy_to_gpu(const float *h_from, float *d_to, size_t n);
cudaError_t finish_copy(const float *h_from, float *d_to, size_t n);
}
#endif
