// Placements of eight queens by depth-first search: a stack in local memory,
// threads that end at very different times.
// expect: right, checksum 253fcca5
#include "program.h"

const int SIZE = 8;

// Counts placements with the first two rows fixed; 0 when those clash.
__host__ __device__ static int placements(int first, int second)
{
    int column[SIZE] = {first, second}, found = 0, row = 2;
    if (first == second || abs(first - second) == 1)
        return 0;
    column[2] = -1;
    while (row >= 2) {
        bool free_square = false;
        while (!free_square && ++column[row] < SIZE) {
            free_square = true;
            for (int r = 0; r < row; r++)
                if (column[r] == column[row] ||
                    abs(column[r] - column[row]) == row - r)
                    free_square = false;
        }
        if (!free_square)
            row--;
        else if (row == SIZE - 1)
            found++;
        else
            column[++row] = -1;
    }
    return found;
}

__global__ void search(int *found)
{
    found[threadIdx.x] = placements(threadIdx.x / SIZE, threadIdx.x % SIZE);
}

int main()
{
    std::vector<int> expected(SIZE * SIZE);
    int sum = 0;
    for (int i = 0; i < SIZE * SIZE; i++)
        sum += expected[i] = placements(i / SIZE, i % SIZE);
    if (sum != 92)
        return 1;
    int *d_found = on_device(std::vector<int>(SIZE * SIZE));
    search<<<1, SIZE * SIZE>>>(d_found);
    CHECK(cudaGetLastError());
    return report(to_host(d_found, SIZE * SIZE), expected);
}
