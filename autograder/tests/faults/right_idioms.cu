// Right programs that a careless checker would accuse: idioms of ordering.
// Under `vgpu-run --check` none may be reported.
#include "cases.h"
#include <cooperative_groups.h>
#include <cuda/atomic>

namespace cg = cooperative_groups;

// ---- barriers --------------------------------------------------------------------

__global__ void early_return(int *out, int n)
{
    __shared__ int tile[64];
    int i = threadIdx.x;
    if (i >= n)
        return;
    tile[i] = i;
    __syncthreads();
    out[i] = tile[n - 1 - i];
}

__global__ void whole_warps_return(int *out)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= 64)
        return;
    tile[threadIdx.x] += tile[threadIdx.x + 64];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void barrier_in_uniform_branch(int *out, int flag)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    if (flag)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void double_buffer(const int *in, int *out, int rounds)
{
    __shared__ int buffer[2][64];
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        buffer[r % 2][threadIdx.x] = in[r * 64 + threadIdx.x];
        __syncthreads(); // one barrier a round is enough with two buffers
        sum += buffer[r % 2][63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}

__global__ void tree_reduce(int *out)
{
    __shared__ int sums[128];
    sums[threadIdx.x] = threadIdx.x;
    for (int half = 64; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        *out = sums[0];
}

__global__ void read_then_write_in_place(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    int right = tile[(threadIdx.x + 1) % 64];
    __syncthreads();
    tile[threadIdx.x] = right;
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void named_barriers(int *out)
{
    __shared__ int tile[128];
    tile[threadIdx.x] = threadIdx.x;
    int half = threadIdx.x / 64;
    if (half == 0)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = tile[half * 64 + 63 - threadIdx.x % 64];
}

__global__ void producer_consumer(int *out)
{
    __shared__ int item;
    for (int r = 0; r < 4; r++) {
        if (threadIdx.x < 32) { // produces, then goes on
            if (threadIdx.x == 0)
                item = r * r;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
        } else { // waits, reads, frees
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[r * 32 + threadIdx.x - 32] = item;
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}

// ---- warps -------------------------------------------------------------------------

__global__ void warp_reduce_in_shared(int *out)
{
    __shared__ int sums[32];
    sums[threadIdx.x] = threadIdx.x;
    for (int half = 16; half > 0; half /= 2) {
        __syncwarp();
        int other = threadIdx.x < half ? sums[threadIdx.x + half] : 0;
        __syncwarp();
        if (threadIdx.x < half)
            sums[threadIdx.x] += other;
    }
    if (threadIdx.x == 0)
        *out = sums[0];
}

__global__ void shuffle_in_half_warp(int *out)
{
    int x = threadIdx.x;
    if (threadIdx.x < 16)
        x = __shfl_down_sync(0x0000ffff, x, 1);
    else
        x = __shfl_up_sync(0xffff0000, x, 1);
    out[threadIdx.x] = x;
}

__global__ void same_value_twice(int *out)
{
    __shared__ int one;
    if (threadIdx.x == 0)
        one = 7;
    __syncthreads();
    out[threadIdx.x] = one;
}

__global__ void lock_in_a_warp(int *lock, int *counter)
{
    for (bool done = false; !done;)
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *(volatile int *)counter += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
}

// ---- between blocks ------------------------------------------------------------------

__global__ void last_block_sums(int *sums, unsigned *done, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicAdd(done, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += ((volatile int *)sums)[b];
        *out = sum;
    }
}

__global__ void flag_with_fence(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *(volatile int *)flag = 1;
    } else {
        while (*(volatile int *)flag == 0)
            ;
        __threadfence();
        *out = *data;
    }
}

__global__ void release_acquire(int *data, int *flag, int *out)
{
    if (threadIdx.x != 0)
        return;
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        *data = 42;
        ready.store(1, cuda::memory_order_release);
    } else {
        while (ready.load(cuda::memory_order_acquire) == 0)
            ;
        *out = *data;
    }
}

__global__ void meet_at_grid_sync(int *a, int *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
    a[i] = i;
    cg::this_grid().sync();
    b[i] = a[n - 1 - i];
}

__global__ void tiles_of_a_warp(int *out)
{
    cg::thread_block_tile<8> tile =
        cg::tiled_partition<8>(cg::this_thread_block());
    __shared__ int room[64];
    room[threadIdx.x] = threadIdx.x;
    tile.sync();
    int first = room[threadIdx.x / 8 * 8 + 7 - tile.thread_rank()];
    out[threadIdx.x] = first + tile.shfl(first, 0);
}

__global__ void only_atomics(int *counters)
{
    atomicAdd(&counters[threadIdx.x % 4], 1);
    atomicMax(&counters[4], threadIdx.x);
}

__global__ void disjoint_bytes(char *text)
{
    text[blockIdx.x * blockDim.x + threadIdx.x] = 'x'; // neighbours in a word
}

// ---- between launches, streams and devices ---------------------------------------------

__global__ void increment(int *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x]++;
}

static void launches_in_order()
{
    int *a = make<int>(256);
    increment<<<4, 64>>>(a);
    increment<<<4, 64>>>(a);
}

static void streams_with_event()
{
    cudaStream_t s, t;
    cudaEvent_t done;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreate(&done);
    int *a = make<int>(256);
    cudaDeviceSynchronize();
    increment<<<4, 64, 0, s>>>(a);
    cudaEventRecord(done, s);
    cudaStreamWaitEvent(t, done, 0);
    increment<<<4, 64, 0, t>>>(a);
    cudaStreamSynchronize(t);
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
    cudaEventDestroy(done);
}

static void partly_filled()
{
    int *a = make_unwritten<int>(1024); // only what is read was written
    cudaMemset(a, 0, 256 * sizeof(int));
    increment<<<4, 64>>>(a);
}

static void cooperative()
{
    int *a = make<int>(256), *b = make<int>(256);
    void *args[] = {&a, &b};
    cudaLaunchCooperativeKernel((void *)meet_at_grid_sync, 4, 64, args, 0, 0);
}

// ---- cases -------------------------------------------------------------------------------

#define RIGHT(name, ...) {#name, "none", -1, -1, [] { __VA_ARGS__; }}

static const fault_case cases[] = {
    RIGHT(early_return, early_return<<<1, 64>>>(make<int>(64), 50)),
    RIGHT(whole_warps_return, whole_warps_return<<<1, 128>>>(make<int>(64))),
    RIGHT(barrier_in_uniform_branch,
          barrier_in_uniform_branch<<<2, 64>>>(make<int>(64), 1)),
    RIGHT(double_buffer,
          double_buffer<<<1, 64>>>(make<int>(320), make<int>(64), 5)),
    RIGHT(tree_reduce, tree_reduce<<<1, 128>>>(make<int>(1))),
    RIGHT(read_then_write_in_place,
          read_then_write_in_place<<<1, 64>>>(make<int>(64))),
    RIGHT(named_barriers, named_barriers<<<1, 128>>>(make<int>(128))),
    RIGHT(producer_consumer, producer_consumer<<<1, 64>>>(make<int>(128))),
    RIGHT(warp_reduce_in_shared, warp_reduce_in_shared<<<1, 32>>>(make<int>(1))),
    RIGHT(shuffle_in_half_warp, shuffle_in_half_warp<<<1, 32>>>(make<int>(32))),
    RIGHT(same_value_twice, same_value_twice<<<1, 64>>>(make<int>(64))),
    RIGHT(lock_in_a_warp, lock_in_a_warp<<<2, 64>>>(make<int>(1), make<int>(1))),
    RIGHT(last_block_sums, last_block_sums<<<8, 32>>>(
                               make<int>(8), make<unsigned>(1), make<int>(1))),
    RIGHT(flag_with_fence,
          flag_with_fence<<<2, 32>>>(make<int>(1), make<int>(1), make<int>(1))),
    RIGHT(release_acquire,
          release_acquire<<<2, 32>>>(make<int>(1), make<int>(1), make<int>(1))),
    RIGHT(meet_at_grid_sync, cooperative()),
    RIGHT(tiles_of_a_warp, tiles_of_a_warp<<<1, 64>>>(make<int>(64))),
    RIGHT(only_atomics, only_atomics<<<4, 64>>>(make<int>(5))),
    RIGHT(disjoint_bytes, disjoint_bytes<<<2, 64>>>(make<char>(128))),
    RIGHT(launches_in_order, launches_in_order()),
    RIGHT(streams_with_event, streams_with_event()),
    RIGHT(partly_filled, partly_filled()),
};

int main(int argc, char **argv)
{
    return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv);
}
