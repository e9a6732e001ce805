// Blocks that feed each other: workers take numbers from a queue in device
// memory and put smaller ones back until nothing is left.
// expect: right, checksum b77f50d1
#include "program.h"

const unsigned CAPACITY = 1 << 14;

struct queue {
    unsigned head, tail, pending, sum;
    volatile unsigned items[CAPACITY];
};

__device__ static void put(queue *q, unsigned item)
{
    q->items[atomicAdd(&q->tail, 1)] = item + 1; // 0: not there yet
}

// Splits n into n/2 and n/3 until 0; sums what was seen.
__global__ void work(queue *q)
{
    if (threadIdx.x != 0)
        return;
    while (atomicAdd(&q->pending, 0) > 0) {
        unsigned head = atomicAdd(&q->head, 0);
        if (head >= atomicAdd(&q->tail, 0) ||
            atomicCAS(&q->head, head, head + 1) != head)
            continue;
        unsigned item;
        while ((item = q->items[head]) == 0)
            ;
        item--;
        atomicAdd(&q->sum, item);
        if (item > 0) {
            atomicAdd(&q->pending, 2);
            put(q, item / 2);
            put(q, item / 3);
        }
        __threadfence();
        atomicSub(&q->pending, 1);
    }
}

static unsigned sum_of(unsigned n)
{
    return n ? n + sum_of(n / 2) + sum_of(n / 3) : 0;
}

int main()
{
    std::vector<queue> start(1);
    memset((void *)&start[0], 0, sizeof(queue));
    start[0].tail = start[0].pending = 1;
    start[0].items[0] = 5000 + 1;
    queue *d_queue = on_device(start);
    work<<<8, 32>>>(d_queue);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    unsigned sum;
    CHECK(cudaMemcpy(&sum, &d_queue->sum, sizeof sum, cudaMemcpyDeviceToHost));
    return report(std::vector<unsigned>{sum},
                  std::vector<unsigned>{sum_of(5000)});
}
