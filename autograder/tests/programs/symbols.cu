// Constants and device variables, by name; pinned memory read by a kernel.
// expect: scale 3 offset 7: 37
// expect: variable 42, size 16
// expect: pinned 5
#include <stdio.h>

__constant__ int scale[2] = {1, 1};
__device__ int variable[4] = {9, 9, 9, 42};

__global__ void apply(int *out, const int *pinned)
{
    out[0] = 10 * scale[0] + scale[1];
    out[1] = *pinned;
}

int main(void)
{
    int constants[2] = {3, 7}, h[4], *out, *pinned;
    size_t nbytes;
    cudaMalloc(&out, 2 * sizeof(int));
    cudaMallocHost(&pinned, sizeof(int));
    *pinned = 5;
    cudaMemcpyToSymbol(scale, constants, sizeof constants);
    apply<<<1, 1>>>(out, pinned);
    cudaMemcpy(h, out, 2 * sizeof(int), cudaMemcpyDeviceToHost);
    printf("scale %d offset %d: %d\n", constants[0], constants[1], h[0]);
    int pinned_read = h[1];
    cudaMemcpyFromSymbol(h, variable, sizeof h);
    cudaGetSymbolSize(&nbytes, variable);
    printf("variable %d, size %zu\n", h[3], nbytes);
    printf("pinned %d\n", pinned_read);
    cudaFreeHost(pinned);
    return 0;
}
