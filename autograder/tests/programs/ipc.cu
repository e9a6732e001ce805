// Memory passed to another process by a handle, and a handle made up.
// expect: other process read 77, invented 400
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__global__ void set(int *p) { p[3] = 77; }

static int reader(int from)
{
    cudaIpcMemHandle_t handle;
    int *p, h = 0;
    if (read(from, &handle, sizeof handle) != sizeof handle ||
        cudaIpcOpenMemHandle((void **)&p, handle,
                             cudaIpcMemLazyEnablePeerAccess))
        return 1;
    cudaMemcpy(&h, p + 3, sizeof h, cudaMemcpyDeviceToHost);
    cudaIpcCloseMemHandle(p);
    return h;
}

int main(void)
{
    int pipes[2], status, *p;
    void *nothing;
    cudaIpcMemHandle_t handle, invented;
    // Before the first call: the child makes a connection of its own.
    pid_t pid = pipe(pipes) ? -1 : fork();
    if (pid == 0)
        _exit(reader(pipes[0]));
    cudaMalloc(&p, 2 << 20); // a smaller one shares its page with others
    set<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    cudaIpcGetMemHandle(&handle, p);
    if (write(pipes[1], &handle, sizeof handle) != sizeof handle)
        return 1;
    waitpid(pid, &status, 0);
    memset(&invented, 1, sizeof invented);
    int error = cudaIpcOpenMemHandle(&nothing, invented,
                                     cudaIpcMemLazyEnablePeerAccess);
    printf("other process read %d, invented %d\n", WEXITSTATUS(status), error);
    cudaFree(p);
    return 0;
}
