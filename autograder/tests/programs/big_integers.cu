// 1024-bit sums and differences with the carry chain of the PTX ISA.
// expect: right, checksum f1a4ffbb
#include "program.h"

const int LIMBS = 32;

__global__ void add_then_subtract(const unsigned *a, const unsigned *b,
                                  unsigned *sum, unsigned *difference, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    unsigned carry = 0, borrow = 0;
    for (int k = 0; k < LIMBS; k += 2) {
        unsigned x0 = a[t * LIMBS + k], x1 = a[t * LIMBS + k + 1];
        unsigned y0 = b[t * LIMBS + k], y1 = b[t * LIMBS + k + 1], r0, r1;
        asm("add.cc.u32 %0, %3, 0xffffffff;\n\t" // carry in
            "addc.cc.u32 %0, %4, %6;\n\t"
            "addc.cc.u32 %1, %5, %7;\n\t"
            "addc.u32 %2, 0, 0;"
            : "=&r"(r0), "=&r"(r1), "=r"(carry)
            : "r"(carry), "r"(x0), "r"(x1), "r"(y0), "r"(y1));
        sum[t * LIMBS + k] = r0;
        sum[t * LIMBS + k + 1] = r1;
        asm("sub.cc.u32 %0, 0, %3;\n\t" // borrow in
            "subc.cc.u32 %0, %4, %6;\n\t"
            "subc.cc.u32 %1, %5, %7;\n\t"
            "subc.u32 %2, 0, 0;\n\t"
            "and.b32 %2, %2, 1;"
            : "=&r"(r0), "=&r"(r1), "=r"(borrow)
            : "r"(borrow), "r"(x0), "r"(x1), "r"(y0), "r"(y1));
        difference[t * LIMBS + k] = r0;
        difference[t * LIMBS + k + 1] = r1;
    }
}

int main()
{
    const int n = 300;
    std::vector<unsigned> a(n * LIMBS), b(n * LIMBS), expected(2 * n * LIMBS);
    numbers random = {9};
    for (int i = 0; i < n * LIMBS; i++) {
        a[i] = random.next() % 4 ? random.next() * 2 : ~0u;
        b[i] = random.next() % 4 ? random.next() * 2 : ~0u;
    }
    for (int t = 0; t < n; t++) {
        uint64_t carry = 0, borrow = 0;
        for (int i = t * LIMBS; i < (t + 1) * LIMBS; i++) {
            uint64_t sum = (uint64_t)a[i] + b[i] + carry;
            uint64_t difference = (uint64_t)a[i] - b[i] - borrow;
            carry = sum >> 32;
            borrow = difference >> 63;
            expected[i] = (unsigned)sum;
            expected[n * LIMBS + i] = (unsigned)difference;
        }
    }
    unsigned *d_a = on_device(a), *d_b = on_device(b);
    unsigned *d_out = on_device(std::vector<unsigned>(2 * n * LIMBS));
    add_then_subtract<<<(n + 31) / 32, 32>>>(d_a, d_b, d_out,
                                             d_out + n * LIMBS, n);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, 2 * n * LIMBS), expected);
}
