// An interpreter in every thread: a switch over opcodes, a stack, programs
// that differ from thread to thread.
// expect: right, checksum 686fbafb
#include "program.h"

enum op : unsigned char { PUSH, ADD, MULTIPLY, SWAP, XOR, NOT, DUPLICATE, OPS };
const int LENGTH = 60;

__host__ __device__ static unsigned run(const unsigned char *code)
{
    unsigned stack[16] = {1, 2, 3}, top = 2;
    for (int pc = 0; pc < LENGTH; pc++) {
        unsigned a = stack[top], b = stack[top > 0 ? top - 1 : 0];
        switch (code[pc] % OPS) {
        case PUSH:
            if (top < 15)
                stack[++top] = code[pc] * 2654435761u;
            break;
        case ADD:
            if (top > 0)
                stack[--top] = a + b;
            break;
        case MULTIPLY:
            if (top > 0)
                stack[--top] = a * b;
            break;
        case SWAP:
            if (top > 0) {
                stack[top] = b;
                stack[top - 1] = a;
            }
            break;
        case XOR:
            if (top > 0)
                stack[--top] = a ^ b >> 3;
            break;
        case NOT:
            stack[top] = ~a;
            break;
        default:
            if (top < 15)
                stack[++top] = a;
        }
    }
    return stack[top];
}

__global__ void run_all(const unsigned char *code, unsigned *result, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        result[i] = run(code + i * LENGTH);
}

int main()
{
    const int n = 400;
    std::vector<unsigned char> code(n * LENGTH);
    std::vector<unsigned> expected(n);
    numbers random = {20};
    for (auto &byte : code)
        byte = random.next();
    for (int i = 0; i < n; i++)
        expected[i] = run(&code[i * LENGTH]);
    unsigned *d_result = on_device(std::vector<unsigned>(n));
    run_all<<<(n + 95) / 96, 96>>>(on_device(code), d_result, n);
    CHECK(cudaGetLastError());
    return report(to_host(d_result, n), expected);
}
