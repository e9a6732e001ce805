// The worked example of chapter 02: colour planes to grey, three ways.
//
//     make examples
//     build/examples/02-vector-add                    with a GPU
//     build/bin/vgpu-run build/examples/02-vector-add  without one
//
// An image is three planes of floats, red, green and blue; its grey value is
// a weighted sum of the three. The argument --cpu times one CPU thread too.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "lab.h"

#define RED   0.299f
#define GREEN 0.587f
#define BLUE  0.114f

enum { THREADS = 256 };

// One thread, one pixel.
__global__ void grey_plain(const float *r, const float *g, const float *b,
                           float *grey, size_t npixels)
{
    size_t p = threadIdx.x + (size_t)blockDim.x * blockIdx.x;
    if (p < npixels) // the last block has threads without a pixel
        grey[p] = RED * r[p] + GREEN * g[p] + BLUE * b[p];
}

// A grid of any size does the whole image: each thread comes back for more.
__global__ void grey_strided(const float *r, const float *g, const float *b,
                             float *grey, size_t npixels)
{
    size_t step = (size_t)gridDim.x * blockDim.x; // all threads of the grid
    size_t p = threadIdx.x + (size_t)blockDim.x * blockIdx.x;
    for (; p < npixels; p += step)
        grey[p] = RED * r[p] + GREEN * g[p] + BLUE * b[p];
}

__device__ float grey_of(float r, float g, float b)
{
    return RED * r + GREEN * g + BLUE * b;
}

// One thread, four neighbouring pixels: a load brings 16 bytes of a plane.
// For planes that begin at a multiple of 16, and whole groups of four.
__global__ void grey_wide(const float4 *r, const float4 *g, const float4 *b,
                          float4 *grey, size_t ngroups)
{
    size_t group = threadIdx.x + (size_t)blockDim.x * blockIdx.x;
    if (group < ngroups) {
        float4 red = r[group], green = g[group], blue = b[group];
        grey[group] = make_float4(grey_of(red.x, green.x, blue.x),
                                  grey_of(red.y, green.y, blue.y),
                                  grey_of(red.z, green.z, blue.z),
                                  grey_of(red.w, green.w, blue.w));
    }
}

// Blocks enough for nthreads: the quotient, rounded up.
static unsigned blocks_for(size_t nthreads)
{
    return (unsigned)((nthreads + THREADS - 1) / THREADS);
}

// ---- one way after the other, each timed on the GPU ------------------------

struct image {
    float *r, *g, *b, *grey; // on the GPU
    size_t npixels;
};

static void run_plain(const struct image *m)
{
    grey_plain<<<blocks_for(m->npixels), THREADS>>>(m->r, m->g, m->b, m->grey,
                                                    m->npixels);
}

static void run_strided(const struct image *m)
{
    cudaDeviceProp prop;
    CUDA_CHECK(cudaGetDeviceProperties(&prop, 0));
    unsigned nblocks = prop.multiProcessorCount * 8; // as many as fit at once
    grey_strided<<<nblocks, THREADS>>>(m->r, m->g, m->b, m->grey, m->npixels);
}

static void run_wide(const struct image *m)
{
    size_t ngroups = m->npixels / 4, first = 4 * ngroups;
    size_t nleft = m->npixels - first;
    grey_wide<<<blocks_for(ngroups), THREADS>>>(
        (const float4 *)m->r, (const float4 *)m->g, (const float4 *)m->b,
        (float4 *)m->grey, ngroups);
    if (nleft > 0) // what no group of four covers
        grey_plain<<<1, THREADS>>>(m->r + first, m->g + first, m->b + first,
                                   m->grey + first, nleft);
}

static float time_ms(void (*run)(const struct image *), const struct image *m)
{
    cudaEvent_t begin, end;
    float ms = 0;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    run(m); // warms up
    CUDA_CHECK(cudaEventRecord(begin));
    run(m);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&ms, begin, end));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    return ms;
}

static void expect_grey(const struct image *m, const float *h_planes)
{
    const float *r = h_planes, *g = r + m->npixels, *b = g + m->npixels;
    float *h_grey = (float *)malloc(m->npixels * sizeof(float));
    CUDA_CHECK(cudaMemcpy(h_grey, m->grey, m->npixels * sizeof(float),
                          cudaMemcpyDeviceToHost));
    for (size_t p = 0; p < m->npixels; p++) {
        float want = RED * r[p] + GREEN * g[p] + BLUE * b[p];
        if (!(fabsf(h_grey[p] - want) <= 1e-6f)) {
            printf("pixel %zu is %g, not %g\n", p, h_grey[p], want);
            exit(EXIT_FAILURE);
        }
    }
    free(h_grey);
}

static void report(const char *name, void (*run)(const struct image *),
                   const struct image *m, const float *h_planes)
{
    CUDA_CHECK(cudaMemset(m->grey, 0xff, m->npixels * sizeof(float)));
    float ms = time_ms(run, m);
    double nbytes = 4.0 * sizeof(float) * m->npixels; // three read, one written
    expect_grey(m, h_planes);
    printf("%-12s %8.3f ms %8.0f GB/s\n", name, ms, nbytes / ms / 1e6);
}

static void time_cpu(const float *h_planes, size_t npixels)
{
    const float *r = h_planes, *g = r + npixels, *b = g + npixels;
    float *h_grey = (float *)calloc(npixels, sizeof(float));
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t p = 0; p < npixels; p++)
        h_grey[p] = RED * r[p] + GREEN * g[p] + BLUE * b[p];
    clock_gettime(CLOCK_MONOTONIC, &end);
    double ms = (end.tv_sec - begin.tv_sec) * 1e3 +
                (end.tv_nsec - begin.tv_nsec) / 1e6;
    printf("%-12s %8.3f ms %8.0f GB/s (last pixel %.3f)\n", "one CPU", ms,
           4.0 * sizeof(float) * npixels / ms / 1e6, h_grey[npixels - 1]);
    free(h_grey);
}

int main(int argc, char **argv)
{
    struct image m = {.npixels = 7680 * 4320 + 1};
    size_t nbytes = m.npixels * sizeof(float);
    float *h_planes = (float *)malloc(3 * nbytes), copy_ms = 0;
    for (size_t i = 0; i < 3 * m.npixels; i++)
        h_planes[i] = (float)(i * 7 % 256) / 256;

    cudaEvent_t begin, end;
    CUDA_CHECK(cudaEventCreate(&begin));
    CUDA_CHECK(cudaEventCreate(&end));
    CUDA_CHECK(cudaMalloc(&m.r, nbytes));
    CUDA_CHECK(cudaMalloc(&m.g, nbytes));
    CUDA_CHECK(cudaMalloc(&m.b, nbytes));
    CUDA_CHECK(cudaMalloc(&m.grey, nbytes));
    CUDA_CHECK(cudaEventRecord(begin));
    CUDA_CHECK(cudaMemcpy(m.r, h_planes, nbytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(m.g, h_planes + m.npixels, nbytes,
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(m.b, h_planes + 2 * m.npixels, nbytes,
                          cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaEventRecord(end));
    CUDA_CHECK(cudaEventSynchronize(end));
    CUDA_CHECK(cudaEventElapsedTime(&copy_ms, begin, end));

    printf("%zu pixels\n", m.npixels);
    printf("%-12s %8.3f ms %8.0f GB/s\n", "copies in", copy_ms,
           3.0 * nbytes / copy_ms / 1e6);
    report("plain", run_plain, &m, h_planes);
    report("strided", run_strided, &m, h_planes);
    report("wide", run_wide, &m, h_planes);
    if (argc > 1 && strcmp(argv[1], "--cpu") == 0)
        time_cpu(h_planes, m.npixels);

    CUDA_CHECK(cudaFree(m.grey));
    CUDA_CHECK(cudaFree(m.b));
    CUDA_CHECK(cudaFree(m.g));
    CUDA_CHECK(cudaFree(m.r));
    CUDA_CHECK(cudaEventDestroy(begin));
    CUDA_CHECK(cudaEventDestroy(end));
    free(h_planes);
    return 0;
}
