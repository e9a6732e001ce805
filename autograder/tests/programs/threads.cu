// Threads of one program, each with a stream and a device of its own.
// run: --devices 2
// expect: 400 right
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 8, ROUNDS = 50 };

__global__ void set(int *p, int value) { *p = value; }

static void *work(void *self)
{
    int id = (int)(size_t)self, *p, right = 0;
    cudaStream_t s;
    cudaSetDevice(id % 2);
    cudaStreamCreate(&s);
    cudaMalloc(&p, sizeof *p);
    for (int i = 0; i < ROUNDS; i++) {
        int h = -1;
        set<<<1, 1, 0, s>>>(p, 1000 * id + i);
        cudaMemcpyAsync(&h, p, sizeof h, cudaMemcpyDeviceToHost, s);
        cudaStreamSynchronize(s);
        right += h == 1000 * id + i;
    }
    cudaFree(p);
    cudaStreamDestroy(s);
    return (void *)(size_t)right;
}

int main(void)
{
    pthread_t threads[THREADS];
    size_t right = 0;
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *one;
        pthread_join(threads[i], &one);
        right += (size_t)one;
    }
    printf("%zu right\n", right);
    return 0;
}
