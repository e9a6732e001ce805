// Sparse matrix (CSR) by a dense vector, one warp a row, integers in floats
// so that every order of summing gives the same result.
// expect: right, checksum 14e1c44a
#include "program.h"

const int ROWS = 700, COLUMNS = 500;

__global__ void multiply(const int *start, const int *column,
                         const float *value, const float *x, float *y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= ROWS)
        return;
    float sum = 0;
    for (int e = start[row] + threadIdx.x % 32; e < start[row + 1]; e += 32)
        sum += value[e] * x[column[e]];
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0)
        y[row] = sum;
}

int main()
{
    std::vector<int> start(ROWS + 1), column;
    std::vector<float> value, x(COLUMNS), expected(ROWS);
    numbers random = {11};
    for (auto &element : x)
        element = (int)(random.next() % 21) - 10;
    for (int row = 0; row < ROWS; row++) {
        for (int e = random.next() % 90; e > 0; e--) {
            column.push_back(random.next() % COLUMNS);
            value.push_back((int)(random.next() % 11) - 5);
            expected[row] += value.back() * x[column.back()];
        }
        start[row + 1] = (int)column.size();
    }
    float *d_y = on_device(std::vector<float>(ROWS));
    multiply<<<(ROWS * 32 + 255) / 256, 256>>>(
        on_device(start), on_device(column), on_device(value), on_device(x),
        d_y);
    CHECK(cudaGetLastError());
    return report(to_host(d_y, ROWS), expected);
}
