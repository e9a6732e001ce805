// Adds two vectors whose length is no multiple of the block.
// expect: 1000003 elements, 0 wrong
#include <stdio.h>
#include <stdlib.h>

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(void)
{
    const int n = 1000003;
    size_t nbytes = n * sizeof(float);
    float *h = (float *)malloc(nbytes), *a, *b, *c;
    cudaMalloc(&a, nbytes);
    cudaMalloc(&b, nbytes);
    cudaMalloc(&c, nbytes);
    for (int i = 0; i < n; i++)
        h[i] = (float)i;
    cudaMemcpy(a, h, nbytes, cudaMemcpyHostToDevice);
    cudaMemcpy(b, h, nbytes, cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(a, b, c, n);
    cudaMemcpy(h, c, nbytes, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += h[i] != 2.0f * (float)i;
    printf("%d elements, %d wrong\n", n, wrong);
    cudaFree(a);
    cudaFree(b);
    cudaFree(c);
    free(h);
    return cudaGetLastError();
}
