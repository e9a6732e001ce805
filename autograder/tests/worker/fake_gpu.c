// A GPU for tests: "device memory" is files under /tmp, and an IPC handle is
// a file's path. The runtime beside it (fake_cudart.c) opens such handles
// where the path exists, which it does without namespaces only: so both IPC
// and copy mode can be tested.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/gpu_target.h"
#include "worker/session.h"

struct gpu_device {
    int unused;
};

enum { MAX_SLABS = 256 };
static struct slab {
    void *map;
    char path[GPU_HANDLE_BYTES];
} slabs[MAX_SLABS];
static struct gpu_device device;
static uint64_t *plan;
static unsigned nplan, plan_bytes;

static int open_fake(const char *which, struct gpu_device **out, char *message)
{
    if (which && strcmp(which, "9") == 0) {
        snprintf(message, GPU_MESSAGE, "there is no GPU 9");
        return -1;
    }
    *out = &device;
    return 0;
}

static void close_fake(struct gpu_device *d)
{
}

static int facts(struct gpu_device *d, struct gpu_facts *f)
{
    *f = (struct gpu_facts){.name = "Fake GPU", .uuid = "GPU-0",
                            .peak_gbs = 1, .l2_bytes = 1 << 20,
                            .free_bytes = 100000000};
    return 0;
}

static const char *error(struct gpu_device *d)
{
    return "fake error";
}

static int alloc(struct gpu_device *d, size_t n, void **out)
{
    struct slab *s = slabs;
    while (s->map)
        s++;
    snprintf(s->path, sizeof s->path, "/tmp/fake-gpu-%d-%d", (int)getpid(),
             (int)(s - slabs));
    int fd = open(s->path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)n) != 0)
        return -1;
    s->map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    *out = s->map;
    return s->map == MAP_FAILED ? -1 : 0;
}

static struct slab *slab_at(void *p)
{
    struct slab *s = slabs;
    while (s->map != p)
        s++;
    return s;
}

static void release(struct gpu_device *d, void *p, size_t n)
{
    struct slab *s = slab_at(p);
    munmap(p, n);
    unlink(s->path);
    s->map = NULL;
}

static int handle(struct gpu_device *d, void *p, uint8_t *out)
{
    memcpy(out, slab_at(p)->path, GPU_HANDLE_BYTES);
    return 0;
}

static int copy(struct gpu_device *d, void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
    return 0;
}

static int fill(struct gpu_device *d, void *to, int byte, size_t n)
{
    memset(to, byte, n);
    return 0;
}

static int randomize(struct gpu_device *d, void *to, uint64_t seed, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((float *)to)[i] = random_at(seed, i);
    return 0;
}

static int plan_gather(struct gpu_device *d, const uint64_t *address,
                       unsigned n, unsigned element_bytes)
{
    free(plan);
    plan = malloc((n + 1) * sizeof *plan);
    memcpy(plan, address, n * sizeof *plan);
    nplan = n, plan_bytes = element_bytes;
    return 0;
}

static int gather(struct gpu_device *d, void *out)
{
    for (unsigned i = 0; i < nplan; i++)
        memcpy((char *)out + (size_t)i * plan_bytes,
               (void *)(uintptr_t)plan[i], plan_bytes);
    return 0;
}

static int nothing(struct gpu_device *d)
{
    return 0;
}

static int busy(struct gpu_device *d, char *message)
{
    if (!getenv("FAKE_GPU_BUSY"))
        return 0;
    snprintf(message, GPU_MESSAGE, "1 other programs compute on this GPU");
    return -1;
}

const struct gpu_api gpu_target_api = {
    .open = open_fake, .close = close_fake, .facts = facts, .error = error,
    .alloc = alloc, .release = release, .handle = handle, .write = copy,
    .read = copy, .fill = fill, .randomize = randomize,
    .plan_gather = plan_gather, .gather = gather, .flush_l2 = nothing,
    .busy = busy, .scrub = nothing,
};
