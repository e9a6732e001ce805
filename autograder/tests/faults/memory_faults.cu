// Kernels that touch memory they must not: each with one planted fault.
#include "cases.h"

// ---- out of bounds -----------------------------------------------------------

__global__ void no_guard(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = i; // fault: no_guard
}

__global__ void less_or_equal(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        a[i] = i; // fault: less_or_equal
}

__global__ void left_neighbour(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        b[i] = a[i - 1]; // fault: left_neighbour
}

__global__ void row_end(const float *a, float *b, int rows, int columns)
{
    int x = threadIdx.x, y = threadIdx.y;
    if (y < rows && x < columns)
        b[y * columns + x] = a[(y + 1) * columns + x]; // fault: row_end
}

__global__ void float4_tail(const float4 *a, float4 *b, int n)
{
    int i = threadIdx.x;
    if (4 * i < n)
        b[i] = a[i]; // fault: float4_tail
}

__global__ void shared_past_end(float *out)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + 1 + (threadIdx.x == 63) * 4096]; // fault: shared_past_end
}

__global__ void dynamic_shared_short(float *out)
{
    extern __shared__ float dynamic[];
    dynamic[threadIdx.x] = 1; // fault: dynamic_shared_short
    out[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void wild_index(const int *index, float *a)
{
    a[index[threadIdx.x] * 1000000000ll] = 1; // fault: wild_index
}

__global__ void atomic_past_end(int *bins, int n)
{
    atomicAdd(&bins[threadIdx.x % (n + 1)], 1); // fault: atomic_past_end
}

__global__ void byte_before(char *text)
{
    text[(int)threadIdx.x - 1] = 'x'; // fault: byte_before
}

__device__ float inner(const float *a, int i)
{
    return a[i + 1]; // fault: in_a_function
}

__global__ void in_a_function(const float *a, float *b, int n)
{
    if (threadIdx.x < n)
        b[threadIdx.x] = inner(a, threadIdx.x);
}

// ---- alignment ------------------------------------------------------------------

__global__ void misaligned_float4(const float *a, float4 *b)
{
    b[threadIdx.x] = *(const float4 *)(a + 1 + 4 * threadIdx.x); // fault: misaligned_float4
}

__global__ void misaligned_int(const char *bytes, int *out)
{
    out[threadIdx.x] = *(const int *)(bytes + 4 * threadIdx.x + (threadIdx.x == 9)); // fault: misaligned_int
}

__global__ void misaligned_shared(double *out)
{
    __shared__ __align__(8) char raw[600];
    for (int i = threadIdx.x; i < 600; i += blockDim.x)
        raw[i] = 0;
    __syncthreads();
    out[threadIdx.x] = *(double *)(raw + 8 * threadIdx.x + 4); // fault: misaligned_shared
}

// ---- lifetime and kind -------------------------------------------------------------

__global__ void after_free(float *a)
{
    a[threadIdx.x] = 1; // fault: after_free
}

__global__ void host_pointer(const float *a, float *b)
{
    b[threadIdx.x] = a[threadIdx.x]; // fault: host_pointer
}

__global__ void null_pointer(float *a)
{
    a[threadIdx.x] = 1; // fault: null_pointer
}

// ---- memory that nobody wrote ------------------------------------------------------

__global__ void unwritten_input(const float *a, float *b)
{
    b[threadIdx.x] = a[threadIdx.x] + 1; // fault: unwritten_input
}

__global__ void half_written(const float *a, float *b)
{
    b[threadIdx.x] = a[threadIdx.x] + 1; // fault: half_written
}

__global__ void sum_without_start(float *sum)
{
    if (threadIdx.x == 0)
        *sum = *sum + 1; // fault: sum_without_start
}

__global__ void shared_unwritten(float *out)
{
    __shared__ float tile[128];
    if (threadIdx.x < 60)
        tile[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x]; // fault: shared_unwritten
}

// ---- cases ---------------------------------------------------------------------------

static float host_array[64];

static void leak()
{
    void *p;
    cudaMalloc(&p, 1000);
}

static const fault_case cases[] = {
    {"no_guard", "out-of-bounds", 3, 232,
     [] { no_guard<<<4, 256>>>(make<float>(1000), 1000); }},
    {"less_or_equal", "out-of-bounds", 7, 104,
     [] { less_or_equal<<<8, 128>>>(make<float>(1000), 1000); }},
    {"left_neighbour", "out-of-bounds", 0, 0,
     [] {
         float *spare = make<float>(64);
         (void)spare;
         left_neighbour<<<1, 64>>>(make<float>(64), make<float>(64), 64);
     }},
    {"row_end", "out-of-bounds", 0, 112,
     [] { row_end<<<1, dim3(16, 8)>>>(make<float>(128), make<float>(128), 8, 16); }},
    {"float4_tail", "out-of-bounds", 0, 25,
     [] {
         float4_tail<<<1, 32>>>((float4 *)make<float>(102),
                                (float4 *)make<float>(104), 102);
     }},
    {"shared_past_end", "out-of-bounds", 0, 63,
     [] { shared_past_end<<<1, 64>>>(make<float>(64)); }},
    {"dynamic_shared_short", "out-of-bounds", 0, 32,
     [] { dynamic_shared_short<<<1, 64, 128>>>(make<float>(64)); }},
    {"wild_index", "out-of-bounds", 0, 0,
     [] { wild_index<<<1, 4>>>(make<int>(4, 1), make<float>(4)); }},
    {"atomic_past_end", "out-of-bounds", 0, 16,
     [] { atomic_past_end<<<1, 32>>>(make<int>(16), 16); }},
    {"byte_before", "out-of-bounds", 0, 0,
     [] {
         char *spare = make<char>(64);
         (void)spare;
         byte_before<<<1, 32>>>(make<char>(64));
     }},
    {"in_a_function", "out-of-bounds", 0, 63,
     [] { in_a_function<<<1, 64>>>(make<float>(64), make<float>(64), 64); }},
    {"misaligned_float4", "misaligned", 0, 0,
     [] { misaligned_float4<<<1, 8>>>(make<float>(64), make<float4>(8)); }},
    {"misaligned_int", "misaligned", 0, 9,
     [] { misaligned_int<<<1, 32>>>(make<char>(256), make<int>(32)); }},
    {"misaligned_shared", "misaligned", 0, 0,
     [] { misaligned_shared<<<1, 32>>>(make<double>(32)); }},
    {"after_free", "use-after-free", 0, 0,
     [] {
         float *a = make<float>(64);
         free_made();
         after_free<<<1, 64>>>(a);
     }},
    {"host_pointer", "wrong-space", 0, 0,
     [] { host_pointer<<<1, 64>>>(host_array, make<float>(64)); }},
    {"null_pointer", "out-of-bounds", 0, 0,
     [] { null_pointer<<<1, 32>>>(nullptr); }},
    {"unwritten_input", "uninitialized", 0, 0,
     [] { unwritten_input<<<1, 64>>>(make_unwritten<float>(64), make<float>(64)); }},
    {"half_written", "uninitialized", 0, 40,
     [] {
         float *a = make_unwritten<float>(64);
         cudaMemset(a, 0, 40 * sizeof(float));
         half_written<<<1, 64>>>(a, make<float>(64));
     }},
    {"sum_without_start", "uninitialized", 0, 0,
     [] { sum_without_start<<<1, 32>>>(make_unwritten<float>(1)); }},
    {"shared_unwritten", "uninitialized", 0, 60,
     [] { shared_unwritten<<<1, 128>>>(make<float>(128)); }},
    {"leak", "leak", -1, -1, leak},
};

int main(int argc, char **argv)
{
    return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
}
