// The virtual target: a device server of our own in a sandbox of its own, and
// device memory in memfds that it, and we, map.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session_impl.h"

struct virtual {
    struct vgpu *vgpu;
};

// What one launch may execute: some ten seconds of one core.
static const uint64_t launch_budget = UINT64_C(2000000000);
static const uint64_t server_memory = UINT64_C(8) << 30;
// A server that is caught in a module made to break it ends by this, and the
// judge's questions with it.
static const double server_cpu_s = 300;
// How long a question may wait behind work that the submission left there.
static const double patience_s = 20;

static const char server_inside[] = "/vgpu-server";

static struct virtual *of(const struct session *s)
{
    return s->target_data;
}

struct vgpu *session_vgpu(struct session *s)
{
    return s->target == &target_virtual ? of(s)->vgpu : NULL;
}

static int open_virtual(struct session *s, char *message)
{
    const struct gpu_model *g =
        s->o.gpu ? gpu_find(s->o.gpu) : gpu_default();
    if (!g) {
        snprintf(message, 512, "there is no modelled GPU called %.100s",
                 s->o.gpu);
        return -1;
    }
    snprintf(s->gpu_name, sizeof s->gpu_name, "%s", g->name);
    s->target_data = calloc(1, sizeof(struct virtual));
    return s->target_data ? 0 : -1;
}

static void stop_server(struct session *s)
{
    struct virtual *v = of(s);
    if (v && v->vgpu)
        vgpu_stop(v->vgpu);
    if (v)
        v->vgpu = NULL;
    for (unsigned i = 0; i < PROTOCOL_BUFFERS; i++)
        if (s->buffers[i] && !s->buffers[i]->host)
            s->buffers[i]->address = 0;
}

static void close_virtual(struct session *s)
{
    stop_server(s);
    free(s->target_data);
}

static int start_server(struct session *s, char *message)
{
    char *host = build_path("bin/vgpu-server");
    bool named = s->o.isolation == ISOLATION_NAMESPACES;
    const char *const env[] = {"LC_ALL=C", NULL};
    struct bind bind = {host, server_inside, false};
    struct cage_options cage = {
        .isolation = s->o.isolation, .env = env, .binds = &bind,
        .nbinds = host ? 1 : 0, .memory_bytes = server_memory,
        .file_bytes = server_memory, .max_tasks = 256, .cpu_s = server_cpu_s,
    };
    struct args *prefix = calloc(1, sizeof *prefix);
    int rc = -1;
    if (prefix && cage_prefix(&cage, -1, prefix)) {
        struct vgpu_options o = {
            .gpu = s->o.gpu, .ndevices = s->o.ndevices, .watch = s->o.watch,
            .nthreads = 1, .budget = launch_budget,
            .schedule = s->o.schedule, .seed = s->o.seed,
            .patience_s = patience_s,
            .prefix = prefix->v, .server_path = named ? server_inside : host,
        };
        rc = vgpu_start(&o, &of(s)->vgpu, message);
    }
    free(prefix);
    free(host);
    return rc;
}

static int import(struct buffer *b)
{
    struct virtual *v = of(b->session);
    b->address = vgpu_import(v->vgpu, b->fd, b->skew + b->nbytes, 0, b->label);
    if (b->address == 0)
        return -1;
    return vgpu_mark_unwritten(v->vgpu, b->address, b->skew + b->nbytes);
}

static int prepare(struct session *s, struct worker_needs *n, char *message)
{
    stop_server(s);
    if (start_server(s, message) != 0)
        return -1;
    for (unsigned i = 0; i < PROTOCOL_BUFFERS; i++) {
        struct buffer *b = s->buffers[i];
        if (b && !b->host && import(b) != 0) {
            snprintf(message, 512, "the device server takes no buffer");
            return -1;
        }
    }
    n->vgpu_fd = vgpu_program_socket(of(s)->vgpu);
    char *folder = build_path("vgpu/lib"), *path = NULL;
    if (folder) {
        bool named = s->o.isolation == ISOLATION_NAMESPACES;
        if (asprintf(&path, "LD_LIBRARY_PATH=%s", named ? "/vgpu" : folder) > 0)
            n->env[n->nenv++] = needs_keep(n, path);
        needs_bind(s, n, folder, "/vgpu");
        if (asprintf(&path, "%s/libcudart.so.13", named ? "/vgpu" : folder) > 0)
            n->runtime = needs_keep(n, path);
    }
    n->env[n->nenv++] = "VGPU_FD=4";
    return 0;
}

static int acquire(struct buffer *b)
{
    if (buffer_make_memfd(b) != 0)
        return -1;
    if (!b->session->dead && import(b) != 0) {
        buffer_drop_memfd(b);
        return -1;
    }
    return 0;
}

static void release(struct buffer *b)
{
    struct virtual *v = of(b->session);
    if (v->vgpu && b->address)
        vgpu_forget(v->vgpu, b->address);
    buffer_drop_memfd(b);
}

static int attach(struct buffer *b)
{
    struct request r = {.kind = REQUEST_MAP_AT, .buffer = b->id,
                        .address = b->address, .nbytes = b->slab_bytes};
    struct reply reply;
    return session_exchange(b->session, &r, -1, &reply, 10) &&
                   reply.status == REPLY_OK
               ? 0
               : -1;
}

static int write_virtual(struct buffer *b, size_t offset, const void *from,
                         size_t n)
{
    memcpy(b->map + offset, from, n);
    struct vgpu *vgpu = of(b->session)->vgpu;
    if (n == 0 || !vgpu || !b->address)
        return 0;
    return vgpu_mark_host_written(vgpu, b->address + offset, n);
}

static int read_virtual(struct buffer *b, size_t offset, void *to, size_t n)
{
    memcpy(to, b->map + offset, n);
    return 0;
}

static int fill_virtual(struct buffer *b, size_t offset, int byte, size_t n)
{
    memset(b->map + offset, byte, n);
    struct vgpu *vgpu = of(b->session)->vgpu;
    if (n == 0 || !vgpu || !b->address)
        return 0;
    return vgpu_mark_unwritten(vgpu, b->address + offset, n);
}

static int random_virtual(struct buffer *b, uint64_t seed)
{
    struct vgpu *vgpu = of(b->session)->vgpu;
    char *to = b->map + b->skew;
    for (size_t i = 0; i < b->nbytes / sizeof(float); i++) {
        float v = random_at(seed, i);
        memcpy(to + i * sizeof v, &v, sizeof v);
    }
    if (b->nbytes == 0 || !vgpu || !b->address)
        return 0;
    return vgpu_mark_host_written(vgpu, b->address + b->skew, b->nbytes);
}

static bool writers_virtual(struct buffer *b, struct writers *w)
{
    struct vgpu *vgpu = of(b->session)->vgpu;
    return vgpu && b->address &&
           vgpu_writers(vgpu, b->address + b->skew, b->nbytes, w) == 0;
}

static double clock_ns(struct session *s)
{
    double ns;
    if (!of(s)->vgpu || vgpu_clock(of(s)->vgpu, &ns) != 0)
        return NAN;
    return ns;
}

const struct target target_virtual = {
    .modelled = true,
    .open = open_virtual,
    .close = close_virtual,
    .prepare = prepare,
    .acquire = acquire,
    .release = release,
    .attach = attach,
    .write = write_virtual,
    .read = read_virtual,
    .fill = fill_virtual,
    .random = random_virtual,
    .writers = writers_virtual,
    .clock_ns = clock_ns,
};
