// Modules, functions and variables, sent to the device server when they are
// first used.
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ---- modules ---------------------------------------------------------------

// struct fatbin_region: u32 magic, u16 version, u16 header, u64 size.
enum { REGION_MAGIC = 0xba55ed50, REGION_HEADER = 16 };
static const uint64_t MOST_IMAGE_BYTES = 256 << 20;

static uint64_t image_bytes(const void *image)
{
    uint32_t magic;
    uint16_t header;
    uint64_t size;
    memcpy(&magic, image, sizeof magic);
    memcpy(&header, (const char *)image + 6, sizeof header);
    memcpy(&size, (const char *)image + 8, sizeof size);
    if (magic != REGION_MAGIC || header < REGION_HEADER ||
        size > MOST_IMAGE_BYTES)
        return 0;
    return header + size;
}

// Lays the images of a fatbin one behind the other into a sealed memfd.
static int pack_images(const struct rt_fatbin *bin, struct wire_range *ranges)
{
    uint64_t total = 0;
    for (size_t i = 0; i < bin->nimages; i++) {
        uint64_t nbytes = image_bytes(bin->images[i]);
        if (!nbytes)
            return -1;
        ranges[i] = (struct wire_range){total, nbytes};
        total = rt_round_up(total + nbytes, 64); // images are read as words
    }
    char *all = total && total <= MOST_IMAGE_BYTES ? calloc(1, total) : NULL;
    if (!all)
        return -1;
    for (size_t i = 0; i < bin->nimages; i++)
        memcpy(all + ranges[i].addr, bin->images[i], ranges[i].nbytes);
    int fd = wire_memfd("vgpu-module", total, all);
    free(all);
    return fd;
}

static cudaError_t load_now(struct rt_fatbin *bin)
{
    if (!bin->nimages || bin->nimages > WIRE_MAX_IMAGES)
        return cudaErrorInvalidKernelImage;
    struct wire_range ranges[bin->nimages];
    int fd = pack_images(bin, ranges);
    if (fd < 0)
        return cudaErrorInvalidKernelImage;
    struct wire_module body = {(uint32_t)bin->nimages};
    struct wire_id id = {0};
    char message[1024];
    struct exchange x = {
        .op = WIRE_MODULE, .body = &body, .nbody = sizeof body,
        .tail = ranges, .ntail = bin->nimages * sizeof *ranges, .fd = fd,
        .reply = &id, .nreply = sizeof id,
        .reply_tail = message, .reply_room = sizeof message,
    };
    cudaError_t error = rt_exchange(&x);
    close(fd);
    bin->module = id.id;
    if (error && x.nreply_tail)
        fprintf(stderr, "vgpu: %.*s\n", (int)x.nreply_tail, message);
    rt_trace("parse", "module %u: %zu image(s), %s", id.id, bin->nimages,
             cudaGetErrorName(error));
    return error;
}

static cudaError_t load_locked(struct rt_fatbin *bin)
{
    if (!bin->asked) {
        cudaError_t error = rt_connect();
        if (error)
            return error; // of the moment, not of the module
        bin->error = load_now(bin);
        bin->asked = true;
    }
    return bin->error;
}

cudaError_t rt_load_fatbin(struct rt_fatbin *bin)
{
    pthread_mutex_lock(&lock);
    cudaError_t error = load_locked(bin);
    pthread_mutex_unlock(&lock);
    return error;
}

// ---- functions -------------------------------------------------------------

static cudaError_t ask_function(struct rt_function *func)
{
    static char tail[WIRE_MESSAGE]; // guarded by the lock
    struct wire_symbol body = {func->bin->module, 0};
    struct exchange x = {
        .op = WIRE_FUNCTION, .body = &body, .nbody = sizeof body,
        .tail = func->name, .ntail = strlen(func->name), .fd = -1,
        .reply = &func->info, .nreply = sizeof func->info,
        .reply_tail = tail, .reply_room = sizeof tail,
    };
    cudaError_t error = rt_exchange(&x);
    if (error)
        return error;
    size_t nbytes = func->info.nparams * sizeof *func->params;
    if (x.nreply_tail != nbytes)
        return cudaErrorUnknown;
    func->params = malloc(nbytes + 1);
    if (!func->params)
        return cudaErrorMemoryAllocation;
    memcpy(func->params, tail, nbytes);
    return cudaSuccess;
}

cudaError_t rt_load_function(struct rt_function *func)
{
    if (__atomic_load_n(&func->asked, __ATOMIC_ACQUIRE))
        return func->error;
    pthread_mutex_lock(&lock);
    cudaError_t error = load_locked(func->bin);
    if (!error && !func->asked) {
        func->error = ask_function(func);
        __atomic_store_n(&func->asked, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return error ? error : func->error;
}

// ---- variables -------------------------------------------------------------

cudaError_t rt_variable_address(const struct rt_variable *var, uint64_t *addr)
{
    cudaError_t error = rt_load_fatbin(var->bin);
    if (error)
        return error;
    struct wire_symbol body = {var->bin->module, rt_device()};
    struct wire_range range = {0};
    int fd = -1;
    struct exchange x = {
        .op = WIRE_VARIABLE, .body = &body, .nbody = sizeof body,
        .tail = var->name, .ntail = strlen(var->name), .fd = -1,
        .reply = &range, .nreply = sizeof range, .reply_fd = &fd,
    };
    error = rt_exchange(&x);
    if (!error && fd >= 0)
        error = rt_map_shared(range.addr, range.nbytes, fd);
    *addr = range.addr;
    return error;
}
