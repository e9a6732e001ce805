// What the code that nvcc adds to a program registers before main(): fatbins,
// and the kernels and variables in them, each known by a host address.
//
// Nothing is sent to the device server here: most programs register more
// than they use.
#include "runtime.h"

#include <pthread.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

static struct {
    pthread_rwlock_t lock;
    struct rt_fatbin *fatbins;
    void *functions;        // tsearch trees, by host address
    void *kernels;          // the same functions, by their handle
    void *variables;
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

// ---- the trees -------------------------------------------------------------

// Functions and variables hold what the program knows them by second.
struct known {
    struct rt_fatbin *bin;
    const void *host;
};
_Static_assert(offsetof(struct rt_function, host) == offsetof(struct known, host)
               && offsetof(struct rt_variable, host) ==
                      offsetof(struct known, host), "kept as struct known");

static int order(const void *a, const void *b)
{
    return a < b ? -1 : a > b;
}

static int by_host(const void *a, const void *b)
{
    return order(((const struct known *)a)->host,
                 ((const struct known *)b)->host);
}

static void *find(void *const *tree, const void *host)
{
    struct known key = {.host = host};
    pthread_rwlock_rdlock(&registry.lock);
    void *node = tfind(&key, tree, by_host);
    pthread_rwlock_unlock(&registry.lock);
    return node ? *(void **)node : NULL;
}

struct rt_function *rt_find_function(const void *func)
{
    struct rt_function *found = find(&registry.functions, func);
    if (found || !func)
        return found;
    pthread_rwlock_rdlock(&registry.lock);
    void *node = tfind(func, &registry.kernels, order);
    pthread_rwlock_unlock(&registry.lock);
    return node ? *(void **)node : NULL;
}

struct rt_variable *rt_find_variable(const void *symbol)
{
    return find(&registry.variables, symbol);
}

// ---- fatbins ---------------------------------------------------------------

// What a program passes: see fatbin.c of module/ for what it points to.
struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *parts; // version 2 (-rdc): one a source, then NULL
};

enum { WRAPPER_MAGIC = 0x466243b1 };

static bool collect_images(struct rt_fatbin *bin,
                           const struct fatbin_wrapper *wrapper)
{
    bool linked = wrapper->version == 2 && wrapper->parts;
    size_t n = 1;
    if (linked)
        for (n = 0; wrapper->parts[n];)
            n++;
    bin->images = calloc(n ? n : 1, sizeof *bin->images);
    if (!bin->images)
        return false;
    bin->nimages = n;
    for (size_t i = 0; i < n; i++)
        bin->images[i] = linked ? wrapper->parts[i] : wrapper->data;
    return true;
}

void **__cudaRegisterFatBinary(const struct fatbin_wrapper *wrapper)
{
    struct rt_fatbin *bin = calloc(1, sizeof *bin);
    if (!bin)
        return NULL;
    if (!wrapper || wrapper->magic != WRAPPER_MAGIC ||
        !collect_images(bin, wrapper)) {
        bin->asked = true;
        bin->error = cudaErrorInvalidKernelImage;
    }
    pthread_rwlock_wrlock(&registry.lock);
    bin->next = registry.fatbins;
    registry.fatbins = bin;
    pthread_rwlock_unlock(&registry.lock);
    return (void **)bin;
}

void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

// At exit. Kernels that still run are waited for, so that their findings and
// counters are complete; what they print is lost, as with CUDA.
void __cudaUnregisterFatBinary(void **handle)
{
    (void)handle;
    static bool done;
    if (done || !rt_gpu())
        return;
    done = true;
    for (unsigned d = 0; d < rt_hello()->ndevices; d++) {
        struct wire_sync sync = {(int32_t)d, WIRE_ALL_STREAMS};
        rt_ask(WIRE_SYNC, &sync, sizeof sync, NULL, 0);
    }
}

// Managed variables must have their addresses before the host uses them.
static cudaError_t place_managed(const struct rt_variable *var)
{
    uint64_t addr;
    cudaError_t error = rt_variable_address(var, &addr);
    if (!error)
        *(void **)(uintptr_t)var->host = (void *)(uintptr_t)addr;
    return error;
}

static struct rt_fatbin *wanted_bin; // twalk() passes no argument; locked

static void place_visit(const void *node, VISIT visit, int depth)
{
    (void)depth;
    const struct rt_variable *var = *(const struct rt_variable *const *)node;
    if ((visit == postorder || visit == leaf) && var->managed &&
        var->bin == wanted_bin)
        place_managed(var);
}

char __cudaInitModule(void **handle)
{
    struct rt_fatbin *bin = (struct rt_fatbin *)handle;
    pthread_rwlock_wrlock(&registry.lock);
    wanted_bin = bin;
    twalk(registry.variables, place_visit);
    pthread_rwlock_unlock(&registry.lock);
    return 1;
}

// ---- kernels and variables -------------------------------------------------

// What a library that is gone again had at that address gives way. The caller
// holds the lock.
static void add(void **tree, void *known)
{
    void **node = tsearch(known, tree, by_host);
    if (node)
        *node = known;
}

static void add_function(void **handle, const char *host, const char *name)
{
    struct rt_function *func = calloc(1, sizeof *func);
    if (!func)
        return;
    *func = (struct rt_function){.bin = (struct rt_fatbin *)handle,
                                 .host = host, .name = name,
                                 .dynamic_shared_max = -1, .carveout = -1};
    pthread_rwlock_wrlock(&registry.lock);
    add(&registry.functions, func);
    tsearch(func, &registry.kernels, order);
    pthread_rwlock_unlock(&registry.lock);
}

static void add_variable(void **handle, const void *host, const char *name,
                         size_t nbytes, bool managed)
{
    struct rt_variable *var = calloc(1, sizeof *var);
    if (!var)
        return;
    *var = (struct rt_variable){(struct rt_fatbin *)handle, host, name, nbytes,
                                managed};
    pthread_rwlock_wrlock(&registry.lock);
    add(&registry.variables, var);
    pthread_rwlock_unlock(&registry.lock);
}

void __cudaRegisterFunction(void **handle, const char *host_func,
                            char *device_func, const char *device_name,
                            int thread_limit, uint3 *tid, uint3 *bid,
                            dim3 *block, dim3 *grid, int *warp_size)
{
    add_function(handle, host_func, device_name);
}

void __cudaRegisterVar(void **handle, char *host_var, char *device_address,
                       const char *device_name, int ext, size_t nbytes,
                       int constant, int global)
{
    add_variable(handle, host_var, device_name, nbytes, false);
}

void __cudaRegisterManagedVar(void **handle, void **host_var_ptr,
                              char *device_address, const char *device_name,
                              int ext, size_t nbytes, int constant, int global)
{
    add_variable(handle, host_var_ptr, device_name, nbytes, true);
}

void __cudaRegisterHostVar(void **handle, const char *device_name,
                           char *host_var, size_t nbytes)
{
    add_variable(handle, host_var, device_name, nbytes, false);
}

void __cudaRegisterUnifiedTable(void *table) { (void)table; }
