// A child of fork cannot use its parent's connection, and spoils nothing.
// expect: child 3, parent 5
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p) { *p = 5; }

int main(void)
{
    int *p, h = 0, status;
    cudaMalloc(&p, sizeof h);
    pid_t pid = fork();
    if (pid == 0)
        _exit(cudaMalloc(&p, 4));
    waitpid(pid, &status, 0);
    set<<<1, 1>>>(p);
    cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("child %d, parent %d\n", WEXITSTATUS(status), h);
    return 0;
}
