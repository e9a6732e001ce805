// Every thread of every warp takes one lock in turn and adds to a counter
// that only the lock protects.
// expect: right, checksum 731a469a
#include "program.h"

__global__ void add_locked(int *lock, volatile int *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *counter = *counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

int main()
{
    int *d = on_device(std::vector<int>(2, 0));
    add_locked<<<4, 96>>>(d, d + 1);
    CHECK(cudaGetLastError());
    return report(to_host(d, 2), std::vector<int>{0, 4 * 96});
}
