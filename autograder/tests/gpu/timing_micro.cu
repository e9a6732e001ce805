// Micro-kernels for the time model: what a GPU needs for the simplest things.
//
// Prints one CSV row a case: kernel, grid, block, elements, bytes moved,
// nanoseconds a launch. The same binary runs on a GPU (measured) and on the
// virtual GPU (modelled); docs/results/ keeps both and the errors between.
//
// Usage: timing_micro [LOG2 [TIMINGS]]
//   LOG2     of the largest element count; 26
//   TIMINGS  medians are over; 9. One is enough for a model.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t err_ = (call);                                             \
        if (err_ != cudaSuccess) {                                             \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,      \
                    cudaGetErrorName(err_));                                   \
            exit(1);                                                           \
        }                                                                      \
    } while (0)

// ---- memory: one element a thread, several, vectors, strides ---------------

__global__ void copy_one(const float *a, float *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = 2 * a[i];
}

__global__ void add_one(const float *a, const float *b, float *c, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void fill_one(float *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = 3;
}

__global__ void copy_stride_loop(const float *a, float *b, size_t n)
{
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step)
        b[i] = 2 * a[i];
}

__global__ void add_stride_loop(const float *a, const float *b, float *c,
                                size_t n)
{
    size_t step = gridDim.x * (size_t)blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += step)
        c[i] = a[i] + b[i];
}

// Each thread loads K elements, a block apart, before it stores the first.
template <int K>
__global__ void copy_many(const float *a, float *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)(blockDim.x * K) + threadIdx.x;
    float v[K];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (i + k * blockDim.x < n)
            v[k] = a[i + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (i + k * blockDim.x < n)
            b[i + k * blockDim.x] = 2 * v[k];
}

__global__ void copy_float2(const float2 *a, float2 *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float2 v = a[i];
        b[i] = make_float2(2 * v.x, 2 * v.y);
    }
}

template <int K>
__global__ void copy_float4(const float4 *a, float4 *b, size_t n)
{
    size_t i = blockIdx.x * (size_t)(blockDim.x * K) + threadIdx.x;
    float4 v[K];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (i + k * blockDim.x < n)
            v[k] = a[i + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < K; k++)
        if (i + k * blockDim.x < n)
            b[i + k * blockDim.x] =
                make_float4(2 * v[k].x, 2 * v[k].y, 2 * v[k].z, 2 * v[k].w);
}

__global__ void add_float4(const float4 *a, const float4 *b, float4 *c,
                           size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}

__global__ void saxpy_one(float alpha, const float *x, float *y, size_t n)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i] + y[i];
}

__global__ void read_strided(const float *a, float *b, size_t n, int stride)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i * stride < n)
        b[i] = a[i * stride];
}

// ---- arithmetic: chains of dependent operations, I of them side by side ----

template <int I>
__global__ void fma_chain(float *out, int rounds)
{
    float x[I];
#pragma unroll
    for (int k = 0; k < I; k++)
        x[k] = threadIdx.x + k;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 16; u++)
#pragma unroll
            for (int k = 0; k < I; k++)
                x[k] = x[k] * 1.0001f + 0.5f;
    float sum = 0;
#pragma unroll
    for (int k = 0; k < I; k++)
        sum += x[k];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void fma64_chain(double *out, int rounds)
{
    double x = threadIdx.x, y = threadIdx.x + 1;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 16; u++) {
            x = x * 1.0001 + 0.5;
            y = y * 1.0001 + 0.5;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

__global__ void int_chain(unsigned *out, int rounds)
{
    unsigned x = threadIdx.x, y = threadIdx.x + 1;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 16; u++) {
            x = x * 1664525u + 1013904223u;
            y = y * 22695477u + 1u;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

__global__ void sfu_chain(float *out, int rounds)
{
    float x = threadIdx.x, y = threadIdx.x + 1;
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 16; u++) {
            x = __sinf(x);
            y = __sinf(y);
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = x + y;
}

__global__ void shared_chain(float *out, int rounds, int stride)
{
    __shared__ float tile[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += blockDim.x)
        tile[i] = i;
    __syncthreads();
    float sum = 0;
    int at = (threadIdx.x % 32) * stride % (32 * 33);
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int u = 0; u < 16; u++)
            sum += *(volatile float *)&tile[at];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void barrier_chain(float *out, int rounds)
{
    for (int r = 0; r < rounds; r++)
        __syncthreads();
    if (out)
        out[blockIdx.x * blockDim.x + threadIdx.x] = rounds;
}

__global__ void chase(const unsigned *next, unsigned *out, int steps)
{
    unsigned at = 0;
    for (int s = 0; s < steps; s++)
        at = next[at];
    *out = at;
}

__global__ void empty() {}

// ---- timing ----------------------------------------------------------------

enum { MAX_TIMINGS = 99 };
static int timings = 9;
static cudaEvent_t start_event, stop_event;

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// Median of the timings of `reps` launches, in ns a launch.
template <typename Launch> static double time_ns(int reps, Launch launch)
{
    float times[MAX_TIMINGS];
    launch();
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < timings; t++) {
        CHECK(cudaEventRecord(start_event));
        for (int r = 0; r < reps; r++)
            launch();
        CHECK(cudaEventRecord(stop_event));
        CHECK(cudaEventSynchronize(stop_event));
        CHECK(cudaEventElapsedTime(&times[t], start_event, stop_event));
    }
    qsort(times, timings, sizeof times[0], by_value);
    return times[timings / 2] * 1e6 / reps;
}

static void row(const char *name, size_t grid, int block, int shared, int extra,
                size_t n, double nbytes, double ns)
{
    printf("%s,%zu,%d,%d,%d,%zu,%.0f,%.1f,%.1f\n", name, grid, block, shared,
           extra, n, nbytes, ns, nbytes / ns);
    fflush(stdout);
}

static size_t blocks(size_t n, size_t per) { return (n + per - 1) / per; }

int main(int argc, char **argv)
{
    int log2_max = argc > 1 ? atoi(argv[1]) : 26;
    timings = argc > 2 ? atoi(argv[2]) : timings;
    if (log2_max < 8 || log2_max > 30 || timings < 1 || timings > MAX_TIMINGS) {
        fprintf(stderr, "usage: timing_micro [LOG2 8..30 [TIMINGS 1..99]]\n");
        return 2;
    }
    size_t N = (size_t)1 << log2_max;
    int reps = timings == 1 ? 1 : 3;
    float *a, *b, *c;
    CHECK(cudaMalloc(&a, N * 4));
    CHECK(cudaMalloc(&b, N * 4));
    CHECK(cudaMalloc(&c, N * 4));
    CHECK(cudaMemset(a, 0x3f, N * 4));
    CHECK(cudaMemset(b, 0x3f, N * 4));
    CHECK(cudaMemset(c, 0x3f, N * 4));
    CHECK(cudaEventCreate(&start_event));
    CHECK(cudaEventCreate(&stop_event));
    int sms;
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));

    printf("kernel,grid,block,shared,extra,elements,bytes,ns,GB/s\n");
    for (int lg = 8; lg <= log2_max; lg += lg < 20 ? 4 : 2) {
        size_t n = (size_t)1 << lg;
        row("memcpy_d2d", 0, 0, 0, 0, n, 8. * n, time_ns(reps, [&] {
                cudaMemcpyAsync(b, a, n * 4, cudaMemcpyDeviceToDevice);
            }));
        row("memset", 0, 0, 0, 0, n, 4. * n,
            time_ns(reps, [&] { cudaMemsetAsync(b, 0x3f, n * 4); }));
        for (int block = 32; block <= 1024; block *= 2) {
            size_t grid = blocks(n, block);
            row("copy_one", grid, block, 0, 1, n, 8. * n,
                time_ns(reps, [&] { copy_one<<<grid, block>>>(a, b, n); }));
            row("add_one", grid, block, 0, 1, n, 12. * n,
                time_ns(reps, [&] { add_one<<<grid, block>>>(a, b, c, n); }));
            row("fill_one", grid, block, 0, 1, n, 4. * n,
                time_ns(reps, [&] { fill_one<<<grid, block>>>(b, n); }));
            row("saxpy_one", grid, block, 0, 1, n, 12. * n,
                time_ns(reps, [&] { saxpy_one<<<grid, block>>>(2, a, b, n); }));
        }
#define COPY_MANY(K)                                                           \
    row("copy_many", blocks(n, 256 * K), 256, 0, K, n, 8. * n,                 \
        time_ns(reps, [&] { copy_many<K><<<blocks(n, 256 * K), 256>>>(a, b, n); }))
        COPY_MANY(2);
        COPY_MANY(4);
        COPY_MANY(8);
        COPY_MANY(16);
#define COPY_FLOAT4(K)                                                         \
    row("copy_float4", blocks(n / 4, 256 * K), 256, 0, K, n, 8. * n,           \
        time_ns(reps, [&] {                                                    \
            copy_float4<K><<<blocks(n / 4, 256 * K), 256>>>((float4 *)a,       \
                                                            (float4 *)b, n / 4); \
        }))
        COPY_FLOAT4(1);
        COPY_FLOAT4(2);
        COPY_FLOAT4(4);
        row("copy_float2", blocks(n / 2, 256), 256, 0, 1, n, 8. * n,
            time_ns(reps, [&] {
                copy_float2<<<blocks(n / 2, 256), 256>>>((float2 *)a,
                                                         (float2 *)b, n / 2);
            }));
        for (int block = 128; block <= 512; block *= 2)
            row("add_float4", blocks(n / 4, block), block, 0, 1, n, 12. * n,
                time_ns(reps, [&] {
                    add_float4<<<blocks(n / 4, block), block>>>(
                        (float4 *)a, (float4 *)b, (float4 *)c, n / 4);
                }));
    }
    size_t n = N;
    for (int k = 1; k <= 64; k *= 2) {
        row("copy_stride_loop", sms * k, 256, 0, k, n, 8. * n, time_ns(reps, [&] {
                copy_stride_loop<<<sms * k, 256>>>(a, b, n);
            }));
        row("add_stride_loop", sms * k, 256, 0, k, n, 12. * n, time_ns(reps, [&] {
                add_stride_loop<<<sms * k, 256>>>(a, b, c, n);
            }));
    }
    row("add_stride_loop", blocks(n, 256), 256, 0, 0, n, 12. * n,
        time_ns(reps, [&] { add_stride_loop<<<blocks(n, 256), 256>>>(a, b, c, n); }));
    // Fewer blocks an SM, by shared memory they do not need.
    CHECK(cudaFuncSetAttribute(copy_one,
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               200 << 10));
    for (int shared = 24 << 10; shared <= 192 << 10; shared *= 2)
        row("copy_one", blocks(n, 256), 256, shared, 1, n, 8. * n,
            time_ns(reps, [&] {
                copy_one<<<blocks(n, 256), 256, shared>>>(a, b, n);
            }));
    for (int stride = 1; stride <= 64; stride *= 2)
        row("read_strided", blocks(n / stride, 256), 256, 0, stride, n / stride,
            8. * (n / stride), time_ns(reps, [&] {
                read_strided<<<blocks(n / stride, 256), 256>>>(a, b, n, stride);
            }));
    for (int grid = 1; grid <= 1 << 18; grid *= 8)
        for (int block = 32; block <= 1024; block *= 4)
            row("empty", grid, block, 0, 0, 0, 0,
                time_ns(20, [&] { empty<<<grid, block>>>(); }));
#define CHAIN(name, grid, block, rounds, ops, extra, launch)                   \
    row(name, grid, block, rounds, extra, (size_t)(grid) * (block) * 16 * (rounds), \
        (double)(grid) * (block) * 16 * (rounds) * (ops), time_ns(1, [&] { launch; }))
    for (int block = 32; block <= 1024; block *= 2) {
        int g = sms * 2, r = 256;
        CHAIN("fma_chain", g, block, r, 1, 1, (fma_chain<1><<<g, block>>>(b, r)));
        CHAIN("fma_chain", g, block, r, 2, 2, (fma_chain<2><<<g, block>>>(b, r)));
        CHAIN("fma_chain", g, block, r, 4, 4, (fma_chain<4><<<g, block>>>(b, r)));
        CHAIN("fma_chain", g, block, r, 8, 8, (fma_chain<8><<<g, block>>>(b, r)));
        CHAIN("fma64_chain", g, block, r, 2, 2,
              (fma64_chain<<<g, block>>>((double *)b, r)));
        CHAIN("int_chain", g, block, r, 2, 2,
              (int_chain<<<g, block>>>((unsigned *)b, r)));
        CHAIN("sfu_chain", g, block, r, 2, 2, (sfu_chain<<<g, block>>>(b, r)));
        CHAIN("barrier_chain", g, block, r, 1, 1,
              (barrier_chain<<<g, block>>>(b, r)));
        for (int stride = 1; stride <= 32; stride *= 2)
            CHAIN("shared_chain", g, block, r, 1, stride,
                  (shared_chain<<<g, block>>>(b, r, stride)));
    }
    unsigned *h = (unsigned *)malloc(N * 4);
    for (int lg = 12; lg <= log2_max; lg += 2) { // working sets of the caches
        size_t count = (size_t)1 << lg, step = 4099;
        for (size_t i = 0; i < count; i++)
            h[i] = (unsigned)((i + step) % count);
        CHECK(cudaMemcpy(a, h, count * 4, cudaMemcpyHostToDevice));
        row("chase", 1, 1, 2000, 0, count, 2000 * 4., time_ns(1, [&] {
                chase<<<1, 1>>>((unsigned *)a, (unsigned *)b, 2000);
            }));
    }
    void *pinned;
    CHECK(cudaMallocHost(&pinned, N * 4));
    for (int lg = 10; lg <= log2_max + 2; lg += 4) {
        size_t nbytes = (size_t)1 << lg;
        row("h2d_pinned", 0, 0, 0, 0, nbytes, nbytes, time_ns(1, [&] {
                cudaMemcpyAsync(a, pinned, nbytes, cudaMemcpyHostToDevice);
            }));
        row("d2h_pinned", 0, 0, 0, 0, nbytes, nbytes, time_ns(1, [&] {
                cudaMemcpyAsync(pinned, a, nbytes, cudaMemcpyDeviceToHost);
            }));
        row("h2d_pageable", 0, 0, 0, 0, nbytes, nbytes, time_ns(1, [&] {
                cudaMemcpy(a, h, nbytes, cudaMemcpyHostToDevice);
            }));
        row("d2h_pageable", 0, 0, 0, 0, nbytes, nbytes, time_ns(1, [&] {
                cudaMemcpy(h, a, nbytes, cudaMemcpyDeviceToHost);
            }));
    }
    return 0;
}
