// Memory that nobody freed is told when the program ends.
// run: --check
// status: 86
// expect: done
// expect-error: leak
// expect-error: 4321
#include <stdio.h>

int main(void)
{
    void *p, *q;
    cudaMalloc(&p, 4321);
    cudaMalloc(&q, 99);
    cudaFree(q);
    printf("done\n");
    return 0;
}
