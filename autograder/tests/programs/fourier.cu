// A number-theoretic Fourier transform of 1024 values modulo 998244353, in
// shared memory, by 64-bit products; checked by the inverse on the host.
// expect: right, checksum 1b048466
#include "program.h"

const int N = 1024;
const unsigned P = 998244353, GENERATOR = 3;

__host__ __device__ static unsigned times(unsigned a, unsigned b)
{
    return (unsigned)((unsigned long long)a * b % P);
}

__host__ __device__ static unsigned power(unsigned base, unsigned exponent)
{
    unsigned result = 1;
    for (; exponent; exponent /= 2, base = times(base, base))
        if (exponent % 2)
            result = times(result, base);
    return result;
}

__global__ void transform(const unsigned *in, unsigned *out)
{
    __shared__ unsigned x[N];
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        x[__brev(i) >> 22] = in[i];
    __syncthreads();
    for (int half = 1; half < N; half *= 2) {
        unsigned root = power(GENERATOR, (P - 1) / (2 * half));
        for (int pair = threadIdx.x; pair < N / 2; pair += blockDim.x) {
            int k = pair % half, i = pair / half * 2 * half + k;
            unsigned a = x[i], b = times(x[i + half], power(root, k));
            x[i] = a + b < P ? a + b : a + b - P;
            x[i + half] = a >= b ? a - b : a + P - b;
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        out[i] = x[i];
}

int main()
{
    std::vector<unsigned> in(N), expected(N);
    numbers random = {17};
    for (auto &value : in)
        value = random.next() % P;
    unsigned root = power(GENERATOR, (P - 1) / N);
    for (int k = 0; k < N; k++) {
        unsigned w = power(root, k), factor = 1;
        for (int i = 0; i < N; i++, factor = times(factor, w))
            expected[k] = (expected[k] + times(in[i], factor)) % P;
    }
    unsigned *d_out = on_device(std::vector<unsigned>(N));
    transform<<<1, 256>>>(on_device(in), d_out);
    CHECK(cudaGetLastError());
    return report(to_host(d_out, N), expected);
}
