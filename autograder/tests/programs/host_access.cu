// The host cannot follow a device pointer.
// status: 139
// expect: about to
#include <stdio.h>

int main(void)
{
    volatile int *p;
    cudaMalloc((void **)&p, 4);
    printf("about to\n");
    fflush(stdout);
    return *p;
}
