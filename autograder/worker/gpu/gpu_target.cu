// The judge's side of a real GPU: memory that it owns, lends through IPC
// handles and reads back; kernels that gather samples and evict caches.
//
// Nothing here runs a submission's code. Its worker has a context of its own,
// so it sees of ours only the slabs whose handles it was given.
#include "../gpu_target.h"

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_lock.h"
#include "gpu_state.h"

struct gpu_device {
    int index, lock_fd;
    unsigned users;      // sessions, each with a worker at most
    pids before;         // on the GPU before us
    cudaError_t error;
    cudaDeviceProp prop;
    double peak_gbs;
    char bus_id[32];
    // gathering
    uint64_t *d_address;
    uint8_t *d_sample, *h_sample;
    unsigned nsamples, element_bytes, room;
    // eviction
    uint4 *d_flush;
    size_t flush_bytes;
};

enum { MAX_DEVICES = 16, BLOCK = 256, LARGEST_ELEMENT = 8 };
static gpu_device devices[MAX_DEVICES];

static int failed(gpu_device *d, cudaError_t error)
{
    d->error = error;
    if (error != cudaSuccess)
        cudaGetLastError();
    return error == cudaSuccess ? 0 : -1;
}

// ---- kernels ---------------------------------------------------------------

__global__ static void gather_elements(const uint64_t *address, uint8_t *out,
                                       unsigned n, unsigned nbytes)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    // volatile: what another process wrote, not what a cache of ours holds
    switch (nbytes) {
    case 1:
        out[i] = *(const volatile uint8_t *)address[i];
        break;
    case 2:
        ((uint16_t *)out)[i] = *(const volatile uint16_t *)address[i];
        break;
    case 4:
        ((uint32_t *)out)[i] = *(const volatile uint32_t *)address[i];
        break;
    default:
        ((uint64_t *)out)[i] = *(const volatile uint64_t *)address[i];
    }
}

// Reads and writes more than L2 holds, so that nothing else stays in it.
__global__ static void sweep(uint4 *p, size_t n)
{
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step) {
        uint4 v = p[i];
        v.x ^= 1;
        p[i] = v;
    }
}

// random_at of session.h: the judge knows every value by its index.
__global__ static void random_floats(float *out, uint64_t seed, size_t n)
{
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step) {
        uint64_t z = seed + i * 0x9e3779b97f4a7c15ull;
        z = (z ^ z >> 32) * 0xd6e8feb86659fd93ull;
        z ^= z >> 32;
        out[i] = (float)(int)(z & 0xffffff) * 0x1p-23f - 1.0f;
    }
}

// ---- opening -----------------------------------------------------------------

// Bandwidth of DRAM by its clock and width; two transfers a clock.
static double peak_gbs(int index)
{
    int khz = 0, bits = 0;
    if (cudaDeviceGetAttribute(&khz, cudaDevAttrMemoryClockRate, index) ||
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index))
        return 0;
    return 2e-6 * khz * bits / 8;
}

static int idlest(int count)
{
    int best = 0;
    double least = 1e30;
    for (int i = 0; i < count; i++) {
        char bus_id[32];
        if (cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, i) != cudaSuccess)
            continue;
        double load = gpu_state_load(bus_id);
        if (load < least)
            least = load, best = i;
    }
    return best;
}

static int pick(const char *which, char *message)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess || count == 0) {
        snprintf(message, GPU_MESSAGE, "no usable GPU: %s",
                 cudaGetErrorString(error));
        return -1;
    }
    if (!which)
        return idlest(count < MAX_DEVICES ? count : MAX_DEVICES);
    char *end;
    long index = strtol(which, &end, 10);
    if (end == which || *end || index < 0 || index >= count ||
        index >= MAX_DEVICES) {
        snprintf(message, GPU_MESSAGE, "there is no GPU %.64s; there are %d",
                 which, count);
        return -1;
    }
    return (int)index;
}

// The lock comes first: whoever waits for it has no context yet, so that the
// one who measures does not take it for a program that computes.
static int set_up(gpu_device *d, char *message)
{
    cudaError_t error =
        cudaDeviceGetPCIBusId(d->bus_id, sizeof d->bus_id, d->index);
    if (error == cudaSuccess) {
        d->lock_fd = gpu_lock_take(d->bus_id, message, GPU_MESSAGE);
        if (d->lock_fd < 0)
            return -1;
        gpu_state_processes(d->bus_id, &d->before);
        error = cudaSetDevice(d->index);
    }
    if (error == cudaSuccess)
        error = cudaGetDeviceProperties(&d->prop, d->index);
    if (error == cudaSuccess)
        error = cudaFree(NULL); // makes the context
    if (error != cudaSuccess) {
        snprintf(message, GPU_MESSAGE, "GPU %d cannot be used: %s", d->index,
                 cudaGetErrorString(error));
        return failed(d, error);
    }
    d->peak_gbs = peak_gbs(d->index);
    cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    cudaGetLastError(); // older GPUs have no such limit
    return 0;
}

static int open_gpu(const char *which, gpu_device **out, char *message)
{
    int index = pick(which, message);
    if (index < 0)
        return -1;
    gpu_device *d = &devices[index];
    if (d->users == 0) {
        memset(d, 0, sizeof *d);
        d->index = index;
        d->lock_fd = -1;
        if (set_up(d, message) != 0) {
            if (d->lock_fd >= 0)
                close(d->lock_fd);
            return -1;
        }
    }
    d->users++;
    *out = d;
    return 0;
}

static void close_gpu(gpu_device *d)
{
    if (--d->users > 0)
        return;
    cudaSetDevice(d->index);
    cudaFree(d->d_address);
    cudaFree(d->d_sample);
    cudaFreeHost(d->h_sample);
    cudaFree(d->d_flush);
    cudaGetLastError();
    close(d->lock_fd);
}

static int facts(gpu_device *d, gpu_facts *f)
{
    size_t free_bytes = 0, total = 0;
    cudaSetDevice(d->index);
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%.127s", d->prop.name);
    const unsigned char *u = (const unsigned char *)d->prop.uuid.bytes;
    snprintf(f->uuid, sizeof f->uuid,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10],
             u[11], u[12], u[13], u[14], u[15]);
    f->peak_gbs = d->peak_gbs;
    f->l2_bytes = (uint64_t)d->prop.l2CacheSize;
    int rc = failed(d, cudaMemGetInfo(&free_bytes, &total));
    f->free_bytes = free_bytes;
    return rc;
}

static const char *error_text(gpu_device *d)
{
    return cudaGetErrorName(d->error);
}

// ---- memory --------------------------------------------------------------------

static int alloc_slab(gpu_device *d, size_t nbytes, void **out)
{
    cudaSetDevice(d->index);
    if (failed(d, cudaMalloc(out, nbytes)) != 0)
        return -1;
    cudaError_t error = cudaMemset(*out, 0, nbytes);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        cudaFree(*out);
    return failed(d, error);
}

static void release_slab(gpu_device *d, void *p, size_t nbytes)
{
    cudaSetDevice(d->index);
    cudaMemset(p, 0, nbytes);
    cudaDeviceSynchronize();
    failed(d, cudaFree(p));
}

static int export_handle(gpu_device *d, void *p, uint8_t *handle)
{
    static_assert(sizeof(cudaIpcMemHandle_t) == GPU_HANDLE_BYTES, "handle");
    cudaSetDevice(d->index);
    return failed(d, cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, p));
}

static int write_slab(gpu_device *d, void *to, const void *from, size_t n)
{
    cudaSetDevice(d->index);
    cudaError_t error = cudaMemcpy(to, from, n, cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize(); // in place before another process looks
    return failed(d, error);
}

static int read_slab(gpu_device *d, void *to, const void *from, size_t n)
{
    cudaSetDevice(d->index);
    return failed(d, cudaMemcpy(to, from, n, cudaMemcpyDeviceToHost));
}

static int fill_slab(gpu_device *d, void *to, int byte, size_t n)
{
    cudaSetDevice(d->index);
    cudaError_t error = cudaMemset(to, byte, n);
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    return failed(d, error);
}

static int randomize(gpu_device *d, void *to, uint64_t seed, size_t n)
{
    cudaSetDevice(d->index);
    if (n == 0)
        return 0;
    random_floats<<<8 * d->prop.multiProcessorCount, BLOCK>>>((float *)to, seed,
                                                             n);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaDeviceSynchronize();
    return failed(d, error);
}

static int scrub_free(gpu_device *d)
{
    enum { MAX_PIECES = 512 };
    static void *piece[MAX_PIECES];
    unsigned n = 0;
    cudaSetDevice(d->index);
    // Ever smaller pieces, down to what an allocation takes at least.
    for (size_t size = (size_t)64 << 30; size >= (size_t)2 << 20; size /= 2)
        while (n < MAX_PIECES && cudaMalloc(&piece[n], size) == cudaSuccess)
            cudaMemsetAsync(piece[n++], 0, size);
    cudaGetLastError();
    cudaError_t error = cudaDeviceSynchronize();
    while (n > 0)
        cudaFree(piece[--n]);
    return failed(d, error);
}

// ---- gathering -------------------------------------------------------------------

static cudaError_t make_room(gpu_device *d, unsigned n)
{
    if (n <= d->room)
        return cudaSuccess;
    cudaFree(d->d_address);
    cudaFree(d->d_sample);
    cudaFreeHost(d->h_sample);
    d->d_address = NULL, d->d_sample = d->h_sample = NULL, d->room = 0;
    cudaError_t error = cudaMalloc(&d->d_address, n * sizeof *d->d_address);
    if (error == cudaSuccess)
        error = cudaMalloc(&d->d_sample, (size_t)n * LARGEST_ELEMENT);
    if (error == cudaSuccess)
        error = cudaMallocHost(&d->h_sample, (size_t)n * LARGEST_ELEMENT);
    if (error == cudaSuccess)
        d->room = n;
    return error;
}

static int plan_gather(gpu_device *d, const uint64_t *address, unsigned n,
                       unsigned element_bytes)
{
    cudaSetDevice(d->index);
    d->nsamples = 0;
    cudaError_t error = make_room(d, n);
    if (error == cudaSuccess && n > 0)
        error = cudaMemcpy(d->d_address, address, n * sizeof *address,
                           cudaMemcpyHostToDevice);
    if (error == cudaSuccess)
        d->nsamples = n, d->element_bytes = element_bytes;
    return failed(d, error);
}

static int gather(gpu_device *d, void *out)
{
    if (d->nsamples == 0)
        return 0;
    size_t nbytes = (size_t)d->nsamples * d->element_bytes;
    gather_elements<<<(d->nsamples + BLOCK - 1) / BLOCK, BLOCK>>>(
        d->d_address, d->d_sample, d->nsamples, d->element_bytes);
    cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess)
        error = cudaMemcpy(d->h_sample, d->d_sample, nbytes,
                           cudaMemcpyDeviceToHost);
    if (error == cudaSuccess)
        memcpy(out, d->h_sample, nbytes);
    return failed(d, error);
}

static int flush_l2(gpu_device *d)
{
    cudaError_t error = cudaSuccess;
    cudaSetDevice(d->index);
    if (!d->d_flush) {
        d->flush_bytes = 2 * (size_t)d->prop.l2CacheSize + ((size_t)16 << 20);
        error = cudaMalloc(&d->d_flush, d->flush_bytes);
    }
    if (error == cudaSuccess) {
        cudaCtxResetPersistingL2Cache();
        cudaGetLastError(); // older GPUs have none
        sweep<<<4 * d->prop.multiProcessorCount, BLOCK>>>(
            d->d_flush, d->flush_bytes / sizeof *d->d_flush);
        error = cudaDeviceSynchronize();
    }
    return failed(d, error);
}

static int busy(gpu_device *d, char *message)
{
    return gpu_state_busy(d->bus_id, &d->before, 1 + d->users, message,
                          GPU_MESSAGE);
}

extern "C" const struct gpu_api gpu_target_api = {
    open_gpu,   close_gpu, facts,       error_text, alloc_slab, release_slab,
    export_handle, write_slab, read_slab, fill_slab, randomize,  plan_gather,
    gather,     flush_l2,  busy,        scrub_free,
};
