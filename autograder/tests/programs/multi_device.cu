// Four devices: each with memory of its own, copies between them, and kernels
// that read a peer's memory.
// run: --devices 4
// expect: 4 devices
// expect: device 0: 0, device 1: 10, device 2: 20, device 3: 30
// expect: peer reads 10
// expect: disabled 705, enabled 0, again 704
#include <stdio.h>

__global__ void set(int *p, int value) { *p = value; }
__global__ void read(int *to, const int *from) { *to = *from; }

int main(void)
{
    int n, *p[4], h[4];
    cudaGetDeviceCount(&n);
    printf("%d devices\n", n);
    for (int d = 0; d < n; d++) {
        cudaSetDevice(d);
        cudaMalloc(&p[d], sizeof(int));
        set<<<1, 1>>>(p[d], 10 * d);
    }
    for (int d = 0; d < n; d++)
        cudaMemcpy(&h[d], p[d], sizeof(int), cudaMemcpyDefault);
    printf("device 0: %d, device 1: %d, device 2: %d, device 3: %d\n", h[0],
           h[1], h[2], h[3]);
    cudaMemcpyPeer(p[3], 3, p[2], 2, sizeof(int));
    cudaSetDevice(0);
    int disabled = cudaDeviceDisablePeerAccess(1);
    int enabled = cudaDeviceEnablePeerAccess(1, 0);
    int again = cudaDeviceEnablePeerAccess(1, 0);
    read<<<1, 1>>>(p[0], p[1]);
    cudaMemcpy(h, p[0], sizeof(int), cudaMemcpyDeviceToHost);
    printf("peer reads %d\n", h[0]);
    printf("disabled %d, enabled %d, again %d\n", disabled, enabled, again);
    return 0;
}
