// Rows with a pitch, larger in all than the staging area, both ways.
// expect: 0 wrong of 3000 x 1001
#include <stdio.h>
#include <stdlib.h>

__global__ void twice(char *base, size_t pitch, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < width && y < height)
        ((float *)(base + y * pitch))[x] *= 2.0f;
}

int main(void)
{
    const int width = 1001, height = 3000;
    float *h = (float *)malloc(sizeof(float) * width * height);
    char *d;
    size_t pitch, row = width * sizeof(float);
    int wrong = 0;
    for (int i = 0; i < width * height; i++)
        h[i] = (float)(i % 4096);
    cudaMallocPitch(&d, &pitch, row, height);
    cudaMemcpy2D(d, pitch, h, row, row, height, cudaMemcpyHostToDevice);
    twice<<<dim3((width + 255) / 256, height), 256>>>(d, pitch, width, height);
    cudaMemcpy2D(h, row, d, pitch, row, height, cudaMemcpyDeviceToHost);
    for (int i = 0; i < width * height; i++)
        wrong += h[i] != 2.0f * (float)(i % 4096);
    printf("%d wrong of %d x %d\n", wrong, height, width);
    free(h);
    return 0;
}
