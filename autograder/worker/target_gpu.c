// A real GPU: the judge owns every buffer, a slab of device memory each, and
// lends it to the worker as a CUDA IPC handle.
//
// Copy mode, where handles cannot be opened (WSL2, MIG): the worker allocates
// a slab of its own, and every read and write goes through a memfd that both
// map. Results say so.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_target.h"
#include "session_impl.h"

struct gpu {
    const struct gpu_api *api;
    struct gpu_device *device;
    struct gpu_facts facts;
    bool copy_mode;
};

enum { MIRROR = PROTOCOL_BUFFERS / 2 }; // id of a device buffer's memfd, less its own

static const double copy_deadline_s = 60;

static struct gpu *of(const struct session *s)
{
    return s->target_data;
}

// ---- opening -----------------------------------------------------------------

static const struct gpu_api *load_api(char *message)
{
    static const struct gpu_api *api;
    if (api)
        return api;
    char *path = build_path("lib/gpu_target.so");
    void *lib = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (lib)
        api = dlsym(lib, "gpu_target_api");
    if (!api)
        snprintf(message, 512, "the GPU target cannot be loaded: %.400s",
                 path ? dlerror() : "build/lib/gpu_target.so is not there");
    free(path);
    return api;
}

static int open_gpu(struct session *s, char *message)
{
    struct gpu *g = calloc(1, sizeof *g);
    s->target_data = g;
    if (!g || !(g->api = load_api(message)) ||
        g->api->open(s->o.gpu, &g->device, message) != 0)
        return -1;
    if (g->api->facts(g->device, &g->facts) != 0) {
        snprintf(message, 512, "the GPU does not answer: %s",
                 g->api->error(g->device));
        return -1;
    }
    snprintf(s->gpu_name, sizeof s->gpu_name, "%s", g->facts.name);
    return 0;
}

static void close_gpu(struct session *s)
{
    struct gpu *g = of(s);
    if (g && g->device) {
        g->api->scrub(g->device);
        g->api->close(g->device);
    }
    free(g);
}

// ---- the worker's surroundings -------------------------------------------------

// The folder of NVIDIA's runtime; the caller frees. NULL: not found.
static char *runtime_folder(void)
{
    static const char *const places[] = {
        "/usr/local/cuda/lib64", "/usr/local/cuda/targets/x86_64-linux/lib",
        "/opt/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib64"};
    char path[512];
    const char *home = getenv("CUDA_HOME");
    snprintf(path, sizeof path, "%.400s/lib64", home ? home : "");
    char *own = build_path("toolkit/lib64/libcudart.so.13");
    if (own) {
        *strrchr(own, '/') = '\0';
        return own;
    }
    for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
        const char *folder = i == 0 ? path : places[i - 1];
        char file[600];
        snprintf(file, sizeof file, "%s/libcudart.so.13", folder);
        if (access(file, R_OK) == 0)
            return realpath(folder, NULL);
    }
    return NULL;
}

// The folder of the driver's libcuda.so.1, which this process has loaded; the
// caller frees. NULL: not found.
static char *driver_folder(void)
{
    char line[1024];
    char *folder = NULL;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !folder && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/'), *name = strstr(line, "/libcuda.so");
        if (path && name) {
            *name = '\0';
            folder = strdup(path);
        }
    }
    if (maps)
        fclose(maps);
    return folder;
}

static void add_variable(struct worker_needs *n, char *entry)
{
    if (entry && n->nenv < 12)
        n->env[n->nenv++] = needs_keep(n, entry);
}

static int prepare(struct session *s, struct worker_needs *n, char *message)
{
    struct gpu *g = of(s);
    char *folder = runtime_folder(), *text = NULL;
    if (!folder) {
        snprintf(message, 512, "libcudart.so.13 was not found; is CUDA 13 "
                               "installed? (CUDA_HOME names another place)");
        return -1;
    }
    char *driver = driver_folder();
    const char *inside = needs_bind(s, n, folder, "/cuda");
    const char *driver_inside =
        driver ? needs_bind(s, n, driver, "/driver") : "";
    if (asprintf(&text, "LD_LIBRARY_PATH=%s:%s", inside, driver_inside) > 0)
        add_variable(n, text);
    if (asprintf(&text, "%s/libcudart.so.13", inside) > 0)
        n->runtime = needs_keep(n, text);
    // The GPU that the judge took is the only one there, and device 0. What a
    // scheduler named by MIG instance stays as it named it.
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    bool mig = visible && strncmp(visible, "MIG", 3) == 0;
    if (asprintf(&text, "CUDA_VISIBLE_DEVICES=%s",
                 mig ? visible : g->facts.uuid) > 0)
        add_variable(n, text);
    n->gpu = true;
    return 0;
}

// ---- buffers -------------------------------------------------------------------

static int acquire(struct buffer *b)
{
    struct gpu *g = of(b->session);
    void *slab;
    if (b->id >= MIRROR || g->api->alloc(g->device, b->slab_bytes, &slab) != 0)
        return -1;
    b->data = slab;
    b->address = (uint64_t)(uintptr_t)slab;
    return 0;
}

static void release(struct buffer *b)
{
    struct gpu *g = of(b->session);
    g->api->release(g->device, b->data, b->slab_bytes);
    buffer_drop_memfd(b);
}

static bool ask(struct buffer *b, struct request *r, int fd)
{
    struct reply reply;
    return session_exchange(b->session, r, fd, &reply, copy_deadline_s) &&
           reply.status == REPLY_OK;
}

// Bytes between the worker's slab and the memfd.
static int transfer(struct buffer *b, enum request_kind kind, size_t offset,
                    size_t nbytes)
{
    struct request r = {.kind = kind, .buffer = b->id, .other = MIRROR + b->id,
                        .offset = offset, .nbytes = nbytes};
    return b->session->dead || ask(b, &r, -1) ? 0 : -1;
}

static int attach_by_copy(struct buffer *b)
{
    struct gpu *g = of(b->session);
    bool fresh = b->fd < 0;
    if (fresh && (buffer_make_memfd(b) != 0 ||
                  g->api->read(g->device, b->map, b->data, b->slab_bytes) != 0))
        return -1;
    struct request alloc = {.kind = REQUEST_ALLOC, .buffer = b->id,
                            .nbytes = b->slab_bytes};
    struct request mirror = {.kind = REQUEST_MAP_HOST,
                             .buffer = MIRROR + b->id,
                             .nbytes = b->slab_bytes};
    if (!ask(b, &alloc, -1) || !ask(b, &mirror, b->fd))
        return -1;
    if (fresh)
        b->session->cage->shared_bytes += b->slab_bytes;
    return transfer(b, REQUEST_COPY_IN, 0, b->slab_bytes);
}

static int attach(struct buffer *b)
{
    struct gpu *g = of(b->session);
    struct request r = {.kind = REQUEST_MAP_IPC, .buffer = b->id,
                        .nbytes = b->slab_bytes};
    if (!g->copy_mode) {
        if (g->api->handle(g->device, b->data, r.handle) == 0 &&
            ask(b, &r, -1))
            return 0;
        if (b->session->dead || !b->session->o.allow_copy_mode)
            return -1;
        g->copy_mode = true;
    }
    return attach_by_copy(b);
}

static int write_gpu(struct buffer *b, size_t offset, const void *from,
                     size_t n)
{
    struct gpu *g = of(b->session);
    if (b->map) {
        memcpy(b->map + offset, from, n);
        return transfer(b, REQUEST_COPY_IN, offset, n);
    }
    return g->api->write(g->device, (char *)b->data + offset, from, n);
}

static int read_gpu(struct buffer *b, size_t offset, void *to, size_t n)
{
    struct gpu *g = of(b->session);
    if (b->map) {
        if (transfer(b, REQUEST_COPY_OUT, offset, n) != 0)
            return -1;
        memcpy(to, b->map + offset, n);
        return 0;
    }
    return g->api->read(g->device, to, (char *)b->data + offset, n);
}

static int fill_gpu(struct buffer *b, size_t offset, int byte, size_t n)
{
    struct gpu *g = of(b->session);
    if (b->map) {
        memset(b->map + offset, byte, n);
        return transfer(b, REQUEST_COPY_IN, offset, n);
    }
    return g->api->fill(g->device, (char *)b->data + offset, byte, n);
}

static int random_gpu(struct buffer *b, uint64_t seed)
{
    struct gpu *g = of(b->session);
    size_t n = b->nbytes / sizeof(float);
    if (g->api->randomize(g->device, (char *)b->data + b->skew, seed, n) != 0)
        return -1;
    if (!b->map)
        return 0;
    if (g->api->read(g->device, b->map, b->data, b->slab_bytes) != 0)
        return -1;
    return transfer(b, REQUEST_COPY_IN, b->skew, b->nbytes);
}

// The newest content, in the judge's mapping: copy mode.
int gpu_update_map(struct buffer *b)
{
    return transfer(b, REQUEST_COPY_OUT, b->skew, b->nbytes);
}

static bool no_writers(struct buffer *b, struct writers *w)
{
    return false;
}

static double no_clock(struct session *s)
{
    return 0;
}

const struct target target_gpu = {
    .modelled = false,
    .open = open_gpu,
    .close = close_gpu,
    .prepare = prepare,
    .acquire = acquire,
    .release = release,
    .attach = attach,
    .write = write_gpu,
    .read = read_gpu,
    .fill = fill_gpu,
    .random = random_gpu,
    .writers = no_writers,
    .clock_ns = no_clock,
};

// ---- for timing ------------------------------------------------------------------

bool session_copies(const struct session *s)
{
    return s->target == &target_gpu && of(s)->copy_mode;
}

double gpu_peak_gbs(const struct session *s)
{
    return of(s)->facts.peak_gbs;
}

int gpu_plan_gather(struct session *s, const uint64_t *address, unsigned n,
                    unsigned element_bytes)
{
    struct gpu *g = of(s);
    return g->api->plan_gather(g->device, address, n, element_bytes);
}

int gpu_gather(struct session *s, void *out)
{
    return of(s)->api->gather(of(s)->device, out);
}

int gpu_flush_l2(struct session *s)
{
    return of(s)->api->flush_l2(of(s)->device);
}

uint64_t gpu_free_bytes(struct session *s)
{
    struct gpu_facts f;
    return of(s)->api->facts(of(s)->device, &f) == 0 ? f.free_bytes : 0;
}

int gpu_busy(struct session *s, char *message)
{
    return of(s)->api->busy(of(s)->device, message);
}
