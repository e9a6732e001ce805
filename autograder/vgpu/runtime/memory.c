// cudaMalloc and friends, and what the process knows of its allocations.
#include "runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- allocations of this process -------------------------------------------

// A range of addresses; ranges of a tree do not overlap, so that a search for
// a range inside one finds it.
struct range {
    uintptr_t lo, hi;
    bool mapped;       // host memory that is mapped here
};

static void *allocations, *registered; // tsearch trees
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int by_range(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->hi <= y->lo ? -1 : x->lo >= y->hi;
}

// The range that overlaps [lo, lo + n), or NULL. The caller holds the lock.
static struct range *overlapping(void *const *tree, uintptr_t lo, size_t n)
{
    struct range key = {.lo = lo, .hi = lo + (n ? n : 1)};
    void *node = key.hi > lo ? tfind(&key, tree, by_range) : NULL;
    return node ? *(struct range **)node : NULL;
}

static bool holds(void *const *tree, uintptr_t lo, size_t n)
{
    pthread_mutex_lock(&lock);
    const struct range *r = overlapping(tree, lo, n);
    bool inside = r && lo >= r->lo && n <= r->hi - lo;
    pthread_mutex_unlock(&lock);
    return inside;
}

// Forgets what overlaps [lo, lo + n): a reset of the device has freed it, or
// the server would not have given its address again.
static void forget_stale(void **tree, uintptr_t lo, size_t n)
{
    struct range *stale;
    while ((stale = overlapping(tree, lo, n))) {
        tdelete(stale, tree, by_range);
        free(stale);
    }
}

static bool remember(void **tree, uintptr_t lo, size_t n, bool mapped)
{
    struct range *r = malloc(sizeof *r);
    if (!r)
        return false;
    *r = (struct range){lo, lo + n, mapped};
    pthread_mutex_lock(&lock);
    if (tree == &allocations)
        forget_stale(tree, lo, n);
    void *node = tsearch(r, tree, by_range);
    bool added = node && *(struct range **)node == r;
    pthread_mutex_unlock(&lock);
    if (!added)
        free(r);
    return added;
}

// Forgets the range that starts at lo; *out says what it was.
static bool forget(void **tree, uintptr_t lo, struct range *out)
{
    pthread_mutex_lock(&lock);
    struct range *r = overlapping(tree, lo, 1);
    bool found = r && r->lo == lo;
    if (found) {
        *out = *r;
        tdelete(r, tree, by_range);
        free(r);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

bool rt_is_known(uint64_t addr, size_t nbytes)
{
    return holds(&allocations, addr, nbytes);
}

bool rt_is_registered(const void *ptr, size_t nbytes)
{
    return holds(&registered, (uintptr_t)ptr, nbytes);
}

cudaError_t rt_map_shared(uint64_t addr, uint64_t nbytes, int fd)
{
    cudaError_t error = cudaSuccess;
    if (!rt_is_known(addr, nbytes)) {
        void *at = mmap((void *)(uintptr_t)addr, nbytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0);
        if (at != (void *)(uintptr_t)addr ||
            !remember(&allocations, addr, nbytes, true))
            error = cudaErrorMemoryAllocation;
    }
    close(fd);
    return error;
}

// ---- allocating and freeing ------------------------------------------------

cudaError_t rt_allocate(enum wire_memory kind, int device, size_t nbytes,
                        uint64_t *addr)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    struct wire_alloc body = {nbytes, device, kind};
    struct wire_range range = {0};
    int fd = -1;
    struct exchange x = {.op = WIRE_ALLOC, .body = &body, .nbody = sizeof body,
                         .fd = -1, .reply = &range, .nreply = sizeof range,
                         .reply_fd = &fd};
    error = rt_exchange(&x);
    if (!error && fd >= 0)
        error = rt_map_shared(range.addr, nbytes, fd);
    else if (!error && !remember(&allocations, range.addr, nbytes, false))
        error = cudaErrorMemoryAllocation;
    *addr = range.addr;
    rt_trace("mem", "allocate %zu bytes: %#llx, %s", nbytes,
             (unsigned long long)range.addr, cudaGetErrorName(error));
    return error;
}

cudaError_t rt_release(enum wire_memory kind, void *ptr, bool wait)
{
    if (!ptr)
        return rt_connect();
    struct wire_free body = {(uintptr_t)ptr, kind, wait ? WIRE_WAIT : 0};
    cudaError_t error = rt_ask(WIRE_FREE, &body, sizeof body, NULL, 0);
    rt_trace("mem", "free %p: %s", ptr, cudaGetErrorName(error));
    struct range range;
    if (error == cudaErrorInvalidValue ||
        !forget(&allocations, (uintptr_t)ptr, &range))
        return error;
    if (range.mapped)
        munmap(ptr, range.hi - range.lo);
    return error;
}

static cudaError_t allocate(void **ptr, size_t nbytes, enum wire_memory kind)
{
    if (!ptr)
        return cudaErrorInvalidValue;
    uint64_t addr = 0;
    cudaError_t error = nbytes ? rt_allocate(kind, rt_device(), nbytes, &addr)
                               : rt_connect();
    if (!error)
        *ptr = (void *)(uintptr_t)addr;
    return error;
}

cudaError_t cudaMalloc(void **ptr, size_t nbytes)
{
    return rt_done(allocate(ptr, nbytes, WIRE_MEM_DEVICE));
}

cudaError_t cudaMallocHost(void **ptr, size_t nbytes)
{
    return rt_done(allocate(ptr, nbytes, WIRE_MEM_HOST));
}

cudaError_t cudaHostAlloc(void **ptr, size_t nbytes, unsigned flags)
{
    const unsigned known = cudaHostAllocPortable | cudaHostAllocMapped |
                           cudaHostAllocWriteCombined;
    if (flags & ~known)
        return rt_done(cudaErrorInvalidValue);
    return rt_done(allocate(ptr, nbytes, WIRE_MEM_HOST));
}

cudaError_t cudaMallocManaged(void **ptr, size_t nbytes, unsigned flags)
{
    if (!ptr || (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost))
        return rt_done(cudaErrorInvalidValue);
    return rt_done(allocate(ptr, nbytes, WIRE_MEM_MANAGED));
}

cudaError_t cudaMallocPitch(void **ptr, size_t *pitch, size_t width,
                            size_t height)
{
    enum { PITCH = 512 };
    size_t all;
    if (!ptr || !pitch || width > SIZE_MAX - PITCH)
        return rt_done(cudaErrorInvalidValue);
    *pitch = rt_round_up(width, PITCH);
    if (__builtin_mul_overflow(*pitch, height, &all))
        return rt_done(cudaErrorMemoryAllocation);
    return rt_done(allocate(ptr, all, WIRE_MEM_DEVICE));
}

cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
    size_t rows, pitch = 0;
    if (!out)
        return rt_done(cudaErrorInvalidValue);
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows))
        return rt_done(cudaErrorMemoryAllocation);
    *out = (struct cudaPitchedPtr){.xsize = extent.width,
                                   .ysize = extent.height};
    cudaError_t error = cudaMallocPitch(&out->ptr, &pitch, extent.width, rows);
    out->pitch = pitch;
    return error;
}

cudaError_t cudaFree(void *ptr)
{
    cudaError_t error = rt_release(WIRE_MEM_DEVICE, ptr, true);
    rt_write_output();
    return rt_done(error);
}

cudaError_t cudaFreeHost(void *ptr)
{
    return rt_done(rt_release(WIRE_MEM_HOST, ptr, true));
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    struct wire_device body = {rt_device()};
    struct wire_mem_info info = {0};
    cudaError_t error = rt_ask(WIRE_MEM_INFO, &body, sizeof body, &info,
                               sizeof info);
    if (!error && free_bytes)
        *free_bytes = info.free_bytes;
    if (!error && total_bytes)
        *total_bytes = info.total_bytes;
    return rt_done(error);
}

// ---- memory of the program's own, page-locked ------------------------------

cudaError_t cudaHostRegister(void *ptr, size_t nbytes, unsigned flags)
{
    const unsigned known = cudaHostRegisterPortable | cudaHostRegisterMapped |
                           cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
    cudaError_t error = rt_connect();
    if (error)
        return rt_done(error);
    if (!ptr || !nbytes || nbytes > UINTPTR_MAX - (uintptr_t)ptr ||
        (flags & ~known) || rt_is_known((uintptr_t)ptr, 1))
        return rt_done(cudaErrorInvalidValue);
    if (!remember(&registered, (uintptr_t)ptr, nbytes, false))
        return rt_done(cudaErrorHostMemoryAlreadyRegistered);
    return rt_done(cudaSuccess);
}

cudaError_t cudaHostUnregister(void *ptr)
{
    struct range range;
    if (!ptr)
        return rt_done(cudaErrorInvalidValue);
    return rt_done(forget(&registered, (uintptr_t)ptr, &range)
                       ? cudaSuccess
                       : cudaErrorHostMemoryNotRegistered);
}

cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    if (!device || !host || flags)
        return rt_done(cudaErrorInvalidValue);
    // Pinned memory has one address for all. What the program registered is
    // its own, and the devices cannot reach it.
    if (rt_is_registered(host, 1))
        return rt_not_supported("cudaHostGetDevicePointer of memory given to "
                                "cudaHostRegister");
    struct wire_address body = {(uintptr_t)host};
    struct wire_pointer p = {0};
    cudaError_t error = rt_ask(WIRE_POINTER, &body, sizeof body, &p, sizeof p);
    if (!error && (!p.nbytes || p.kind == WIRE_MEM_DEVICE))
        error = cudaErrorInvalidValue;
    if (!error)
        *device = host;
    return rt_done(error);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *host)
{
    if (!flags || !rt_is_known((uintptr_t)host, 1))
        return rt_done(cudaErrorInvalidValue);
    *flags = cudaHostAllocMapped;
    return rt_done(cudaSuccess);
}
