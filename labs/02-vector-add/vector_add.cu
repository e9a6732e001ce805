// Lab 02: add two vectors on the GPU.
// What the three functions promise stands in vector_add.h.
#include <stdint.h>

#include "lab.h"
#include "vector_add.h"

// Threads a block: a multiple of 32, and a size that every GPU runs well.
enum { BLOCK_SIZE = 256 };

// ---- Task 1: one thread, one element -----------------------------------

__global__ void add_kernel(const float *a, const float *b, float *c, size_t n)
{
    // TASK 1: find this thread's element in the whole grid; add it if it exists
    TASK_NOT_DONE(1);
    // END TASK 1
}

cudaError_t vector_add(const float *d_a, const float *d_b, float *d_c,
                       size_t n)
{
    // TASK 1: launch add_kernel with blocks enough for n, also when n is 0
    TASK_NOT_DONE(1);
    // END TASK 1
    return cudaGetLastError(); // a launch has no other way to tell
}

// ---- Task 2: there and back ----------------------------------------------

cudaError_t vector_add_host(const float *h_a, const float *h_b, float *h_c,
                            size_t n)
{
    cudaError_t error = cudaSuccess;
    // TASK 2: allocate, copy in, call vector_add, copy out, free; keep the error
    TASK_NOT_DONE(2);
    // END TASK 2
    return error;
}

// ---- Task 3: wider loads -------------------------------------------------

// TASK 3: write the kernels that saxpy launches
// END TASK 3

cudaError_t saxpy(float alpha, const float *d_x, const float *d_y, float *d_z,
                  size_t n)
{
    // TASK 3: four elements a thread where alignment allows; mind the tail
    TASK_NOT_DONE(3);
    // END TASK 3
    return cudaGetLastError();
}
