// Bug hunt 02: adds neighbours in pairs, so that half as many numbers remain.
// One fault is planted. Find it by reading, then ask the checker:
//     make bug-hunts && build/bin/vgpu-run --check build/labs/02-vector-add/bug_hunt
#include "lab.h"

// out[i] = in[2 i] + in[2 i + 1]; an element without a neighbour stays alone.
__global__ void add_pairs(const int *in, int *out, int nin, int nout)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nout)
        return;
    int sum = in[2 * i];
    if (2 * i < nin)
        sum += in[2 * i + 1];
    out[i] = sum;
}

int main(void)
{
    const int nin = 1001, nout = (nin + 1) / 2;
    int h_in[nin], h_out[nout];
    for (int i = 0; i < nin; i++)
        h_in[i] = i;

    int *d_in, *d_out;
    CUDA_CHECK(cudaMalloc(&d_in, sizeof h_in));
    CUDA_CHECK(cudaMalloc(&d_out, sizeof h_out));
    CUDA_CHECK(cudaMemcpy(d_in, h_in, sizeof h_in, cudaMemcpyHostToDevice));
    add_pairs<<<(nout + 127) / 128, 128>>>(d_in, d_out, nin, nout);
    CUDA_CHECK(cudaGetLastError());
    CUDA_CHECK(cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost));

    printf("first pair: %d, last but one: %d\n", h_out[0], h_out[nout - 2]);
    CUDA_CHECK(cudaFree(d_out));
    CUDA_CHECK(cudaFree(d_in));
    return 0;
}
