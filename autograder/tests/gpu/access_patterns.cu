// Kernels of one memory access pattern each, to hold the virtual GPU's
// request and sector counters against the hardware's. Run under ncu on a GPU
// and under vgpu-run; `compare-counters` sets the two side by side.
//
// Every kernel is launched once, so that the order of launches is the key.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

enum { N = 1 << 14, BLOCK = 256 };

static __device__ size_t global_index()
{
    return blockIdx.x * (size_t)blockDim.x + threadIdx.x;
}

// ---- strides and offsets ---------------------------------------------------

template <int STRIDE> __global__ void load_stride(const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[i * STRIDE];
}

template <int OFFSET> __global__ void load_offset(const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[i + OFFSET];
}

template <int STRIDE> __global__ void store_stride(float *out)
{
    out[global_index() * STRIDE] = 1;
}

template <int OFFSET> __global__ void store_offset(float *out)
{
    out[global_index() + OFFSET] = 1;
}

__global__ void load_reversed(const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[N - 1 - i];
}

// ---- widths ----------------------------------------------------------------

template <typename T> __global__ void load_store(const T *a, T *out)
{
    size_t i = global_index();
    out[i] = a[i];
}

struct particle {
    float x, y, z;
};

__global__ void load_structure(const particle *p, float *out)
{
    size_t i = global_index();
    out[i] = p[i].x + p[i].y + p[i].z;
}

struct __align__(16) wide {
    float x, y, z, w;
};

__global__ void load_one_field(const wide *p, float *out)
{
    size_t i = global_index();
    out[i] = p[i].z;
}

// ---- who takes part ----------------------------------------------------------

__global__ void load_half_lanes(const float *a, float *out)
{
    size_t i = global_index();
    if (threadIdx.x % 2 == 0)
        out[i] = a[i];
}

__global__ void load_first_lanes(const float *a, float *out)
{
    size_t i = global_index();
    if (threadIdx.x % 32 < 5)
        out[i] = a[i];
}

__global__ void load_ragged(const float *a, float *out, size_t n)
{
    size_t i = global_index();
    if (i < n)
        out[i] = a[i];
}

__global__ void load_broadcast(const float *a, float *out)
{
    out[global_index()] = a[blockIdx.x];
}

__global__ void load_pairs(const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[i / 2];
}

__global__ void load_gather(const int *index, const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[index[i]];
}

__global__ void transpose_reads(const float *a, float *out)
{
    size_t i = global_index();
    out[i] = a[(i % 128) * 128 + i / 128];
}

int main()
{
    size_t nbytes = (size_t)N * 64 * sizeof(float);
    char *a, *out;
    int *index, *h_index = (int *)malloc(N * sizeof(int));
    if (cudaMalloc(&a, nbytes) || cudaMalloc(&out, nbytes) ||
        cudaMalloc(&index, N * sizeof(int)))
        return 1;
    for (unsigned i = 0, x = 12345; i < N; i++) {
        x = x * 1664525u + 1013904223u;
        h_index[i] = (x >> 8) % N;
    }
    cudaMemcpy(index, h_index, N * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(a, 0, nbytes);
    cudaMemset(out, 0, nbytes);
    int grid = N / BLOCK;
    float *fa = (float *)a, *fo = (float *)out;

    load_stride<1><<<grid, BLOCK>>>(fa, fo);
    load_stride<2><<<grid, BLOCK>>>(fa, fo);
    load_stride<3><<<grid, BLOCK>>>(fa, fo);
    load_stride<8><<<grid, BLOCK>>>(fa, fo);
    load_stride<32><<<grid, BLOCK>>>(fa, fo);
    load_offset<1><<<grid, BLOCK>>>(fa, fo);
    load_offset<8><<<grid, BLOCK>>>(fa, fo);
    load_offset<31><<<grid, BLOCK>>>(fa, fo);
    store_stride<1><<<grid, BLOCK>>>(fo);
    store_stride<2><<<grid, BLOCK>>>(fo);
    store_stride<5><<<grid, BLOCK>>>(fo);
    store_stride<32><<<grid, BLOCK>>>(fo);
    store_offset<1><<<grid, BLOCK>>>(fo);
    store_offset<7><<<grid, BLOCK>>>(fo);
    load_reversed<<<grid, BLOCK>>>(fa, fo);
    load_store<<<grid, BLOCK>>>((char *)a, (char *)out);
    load_store<<<grid, BLOCK>>>((short *)a, (short *)out);
    load_store<<<grid, BLOCK>>>((float2 *)a, (float2 *)out);
    load_store<<<grid, BLOCK>>>((float4 *)a, (float4 *)out);
    load_store<<<grid, BLOCK>>>((double *)a, (double *)out);
    load_structure<<<grid, BLOCK>>>((particle *)a, fo);
    load_one_field<<<grid, BLOCK>>>((wide *)a, fo);
    load_half_lanes<<<grid, BLOCK>>>(fa, fo);
    load_first_lanes<<<grid, BLOCK>>>(fa, fo);
    load_ragged<<<grid, BLOCK>>>(fa, fo, N - 77);
    load_broadcast<<<grid, BLOCK>>>(fa, fo);
    load_pairs<<<grid, BLOCK>>>(fa, fo);
    load_gather<<<grid, BLOCK>>>(index, fa, fo);
    transpose_reads<<<grid, BLOCK>>>(fa, fo);
    load_store<<<1, 1>>>(fa, fo);
    load_store<<<1, 33>>>(fa, fo);
    cudaError_t err = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorName(err));
    return err != cudaSuccess;
}
