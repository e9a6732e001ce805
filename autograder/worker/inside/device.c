// The CUDA runtime as the worker uses it. The functions come from the library
// that the judge named, through its handle: a submission that defines
// cudaDeviceSynchronize itself is not asked.
#include <dlfcn.h>
#include <stdio.h>

#include "worker.h"

enum { COPY_TO_DEVICE = 1, COPY_TO_HOST = 2 };
enum { IPC_LAZY_PEER_ACCESS = 1, NOT_SUPPORTED = 801 };

struct ipc_handle {
    char bytes[PROTOCOL_HANDLE];
};

static struct {
    bool there;
    int (*synchronize)(void);
    int (*last_error)(void);
    const char *(*error_name)(int);
    int (*ipc_open)(void **, struct ipc_handle, unsigned);
    int (*ipc_close)(void *);
    int (*alloc)(void **, size_t);
    int (*release)(void *);
    int (*copy)(void *, const void *, size_t, int);
    int (*fill)(void *, int, size_t, void *stream);
} cuda;

bool device_open(const char *path, char *text)
{
    if (!path || !*path)
        return true;
    void *lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!lib) {
        snprintf(text, PROTOCOL_TEXT, "%s", dlerror());
        return false;
    }
    *(void **)&cuda.synchronize = dlsym(lib, "cudaDeviceSynchronize");
    *(void **)&cuda.last_error = dlsym(lib, "cudaGetLastError");
    *(void **)&cuda.error_name = dlsym(lib, "cudaGetErrorName");
    *(void **)&cuda.ipc_open = dlsym(lib, "cudaIpcOpenMemHandle");
    *(void **)&cuda.ipc_close = dlsym(lib, "cudaIpcCloseMemHandle");
    *(void **)&cuda.alloc = dlsym(lib, "cudaMalloc");
    *(void **)&cuda.release = dlsym(lib, "cudaFree");
    *(void **)&cuda.copy = dlsym(lib, "cudaMemcpy");
    *(void **)&cuda.fill = dlsym(lib, "cudaMemsetAsync");
    if (!cuda.synchronize || !cuda.last_error || !cuda.error_name) {
        snprintf(text, PROTOCOL_TEXT, "%s is no CUDA runtime", path);
        return false;
    }
    cuda.there = true;
    return true;
}

int device_synchronize(void)
{
    if (!cuda.there)
        return 0;
    int error = cuda.synchronize();
    int last = cuda.last_error();
    return error ? error : last;
}

const char *device_error_name(int error)
{
    const char *name = cuda.there ? cuda.error_name(error) : NULL;
    return name ? name : error ? "unknown" : "cudaSuccess";
}

// A failure of ours is not to be found by the submission's next call.
static void forget_error(int error)
{
    if (error && cuda.last_error)
        cuda.last_error();
}

void device_nudge(void)
{
    static void *word;
    int error = 0;
    if (!word)
        word = device_alloc(4, &error);
    if (word && cuda.fill)
        forget_error(cuda.fill(word, 0, 4, NULL));
}

void *device_open_handle(const uint8_t *handle, int *error)
{
    struct ipc_handle h;
    void *p = NULL;
    for (unsigned i = 0; i < sizeof h.bytes; i++)
        h.bytes[i] = (char)handle[i];
    *error = cuda.ipc_open ? cuda.ipc_open(&p, h, IPC_LAZY_PEER_ACCESS)
                           : NOT_SUPPORTED;
    forget_error(*error);
    return *error ? NULL : p;
}

void device_close_handle(void *p)
{
    if (cuda.ipc_close)
        cuda.ipc_close(p);
}

void *device_alloc(size_t nbytes, int *error)
{
    void *p = NULL;
    *error = cuda.alloc ? cuda.alloc(&p, nbytes) : NOT_SUPPORTED;
    forget_error(*error);
    return *error ? NULL : p;
}

void device_release(void *p)
{
    if (cuda.release)
        cuda.release(p);
}

int device_copy(void *dst, const void *src, size_t nbytes, bool to_device)
{
    if (!cuda.copy)
        return NOT_SUPPORTED;
    return cuda.copy(dst, src, nbytes, to_device ? COPY_TO_DEVICE
                                                 : COPY_TO_HOST);
}
