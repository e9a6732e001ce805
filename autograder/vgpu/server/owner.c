// What the owner of the server may ask: settings, imports, findings, counts.
#include "server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

struct owner_request {
    struct server *server;
    const void *body;
    int fd;              // came along; closed by the dispatcher unless taken
    void *reply;         // zeroed
    char *tail;          // OWNER_TAIL bytes
    size_t ntail;
};
typedef bool owner_handler(struct owner_request *);

enum { OWNER_TAIL = WIRE_MESSAGE / 2, MAX_OWNER_REPLY = 64 };

// ---- starting --------------------------------------------------------------

static const uint64_t DEFAULT_MEMORY = UINT64_C(4) << 30;

bool server_start(struct server *s, const struct wire_start *start)
{
    char gpu[sizeof start->gpu];
    memcpy(gpu, start->gpu, sizeof gpu);
    gpu[sizeof gpu - 1] = 0;
    s->gpu = gpu[0] ? gpu_find(gpu) : gpu_default();
    if (s->memory || start->version != WIRE_VERSION || !s->gpu ||
        start->ndevices > VGPU_MAX_DEVICES)
        return false;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    s->ndevices = start->ndevices ? start->ndevices : 1;
    s->nthreads = start->nthreads ? start->nthreads
                                  : cores > 0 ? (unsigned)cores : 1;
    // Counts are what the time model lives on.
    s->watch_flags = start->watch | WATCH_COUNT;
    s->memory_limit = start->memory_limit ? start->memory_limit
                                          : DEFAULT_MEMORY;
    s->budget = start->budget;
    s->schedule = start->schedule;
    s->seed = start->seed;
    s->count_host_time = start->count_host_time;
    if (getrandom(s->secret, sizeof s->secret, 0) != sizeof s->secret)
        return false;
    s->memory = memory_new(s->ndevices, s->memory_limit);
    s->watch = s->memory ? watch_new(s->memory, s->watch_flags) : NULL;
    return s->watch != NULL;
}

static bool own_START(struct owner_request *r)
{
    return server_start(r->server, r->body);
}

static bool own_DOOR(struct owner_request *r)
{
    int sock = r->fd;
    r->fd = -1;
    return sock >= 0 && program_open_door(r->server, sock);
}

// ---- imports ---------------------------------------------------------------

static bool own_IMPORT(struct owner_request *r)
{
    const struct wire_import *body = r->body;
    struct server *s = r->server;
    char label[sizeof body->label];
    memcpy(label, body->label, sizeof label);
    label[sizeof label - 1] = 0;
    if (r->fd < 0 || !body->nbytes || s->nimports >= MAX_IMPORTS ||
        body->device < 0 || (unsigned)body->device >= s->ndevices ||
        !wire_is_sealed(r->fd, body->nbytes, false))
        return false;
    bool host = body->kind == WIRE_MEM_HOST;
    uint64_t addr = memory_import(s->memory, body->device, r->fd, body->nbytes,
                                  host, label);
    if (!addr)
        return false;
    s->imports[s->nimports++] = (struct import){addr, host && body->pinned};
    ((struct wire_address *)r->reply)->addr = addr;
    return true;
}

static struct import *import_at(struct server *s, uint64_t addr)
{
    for (unsigned i = 0; i < s->nimports; i++)
        if (s->imports[i].addr == addr)
            return &s->imports[i];
    return NULL;
}

bool is_pinned_import(const struct server *s, uint64_t base)
{
    for (unsigned i = 0; i < s->nimports; i++)
        if (s->imports[i].addr == base)
            return s->imports[i].pinned;
    return false;
}

static bool own_FORGET(struct owner_request *r)
{
    const struct wire_address *body = r->body;
    struct server *s = r->server;
    struct import *import = import_at(s, body->addr);
    if (!import || memory_release(s->memory, body->addr))
        return false;
    *import = s->imports[--s->nimports];
    return true;
}

// ---- settings --------------------------------------------------------------

static bool own_WATCH(struct owner_request *r)
{
    const struct wire_id *body = r->body;
    r->server->watch_flags = body->id | WATCH_COUNT;
    watch_set_flags(r->server->watch, r->server->watch_flags);
    return true;
}

static bool own_SCHEDULE(struct owner_request *r)
{
    const struct wire_schedule *body = r->body;
    if (body->schedule > SCHEDULE_RANDOM)
        return false;
    r->server->schedule = body->schedule;
    r->server->seed = body->seed;
    return true;
}

static bool own_CLOCK(struct owner_request *r)
{
    double ns = r->server->clock;
    for (const struct program *p = r->server->programs; p; p = p->next) {
        double end = timeline_end(&p->timeline);
        if (end > ns)
            ns = end;
    }
    ((struct wire_elapsed *)r->reply)->ns = ns;
    return true;
}

static bool own_PROGRAMS(struct owner_request *r)
{
    ((struct wire_id *)r->reply)->id = r->server->nprograms;
    return true;
}

// ---- who wrote what --------------------------------------------------------

static bool in_import(struct server *s, uint64_t addr, uint64_t nbytes)
{
    const struct allocation *a = memory_find(s->memory, addr);
    return a && !a->freed && addr >= a->base && addr - a->base <= a->nbytes &&
           nbytes <= a->nbytes - (addr - a->base);
}

static bool own_MARK(struct owner_request *r)
{
    const struct wire_mark *body = r->body;
    struct memory *memory = r->server->memory;
    if (!in_import(r->server, body->addr, body->nbytes))
        return false;
    memory_set_writer(memory, body->addr, body->nbytes,
                      body->host ? WRITER_HOST : WRITER_NOBODY);
    return true;
}

static bool own_WRITERS(struct owner_request *r)
{
    const struct wire_range *body = r->body;
    if (!in_import(r->server, body->addr, body->nbytes))
        return false;
    struct writers w =
        memory_writers(r->server->memory, body->addr, body->nbytes);
    *(struct wire_writers *)r->reply =
        (struct wire_writers){w.nobody, w.host, w.kernel};
    return true;
}

// ---- findings and launches -------------------------------------------------

static bool own_FINDINGS(struct owner_request *r)
{
    struct server *s = r->server;
    unsigned n;
    const struct finding *all = watch_findings(s->watch, &n);
    unsigned fit = OWNER_TAIL / sizeof *all;
    unsigned left = n - s->findings_sent;
    unsigned count = left < fit ? left : fit;
    if (count)
        memcpy(r->tail, all + s->findings_sent, count * sizeof *all);
    r->ntail = count * sizeof *all;
    s->findings_sent += count;
    if (!count) { // all are told
        watch_clear(s->watch);
        s->findings_sent = 0;
    }
    return true;
}

static bool own_LAUNCHES(struct owner_request *r)
{
    struct server *s = r->server;
    unsigned fit = OWNER_TAIL / sizeof *s->launches;
    struct vgpu_launch *out = (void *)r->tail;
    unsigned count = 0;
    while (count < fit && s->nlaunches) {
        out[count++] = s->launches[s->first_launch];
        s->first_launch = (s->first_launch + 1) % MAX_LAUNCHES_KEPT;
        s->nlaunches--;
    }
    r->ntail = count * sizeof *out;
    return true;
}

// ---- the socket ------------------------------------------------------------

static const struct {
    owner_handler *serve;
    size_t request_bytes, reply_bytes;
} operations[] = {
#define OP(name, request, reply)                                               \
    [WIRE_OWNER_##name - WIRE_OWNER_FIRST] = {own_##name,                      \
                                              sizeof(struct request),          \
                                              sizeof(struct reply)},
    WIRE_OWNER_OPS(OP)
#undef OP
};

static bool serve_packet(struct server *s, int sock, const char *buffer,
                         size_t nbytes, int *fd, char *tail)
{
    const struct wire_request *head = (const void *)buffer;
    if (head->op < WIRE_OWNER_FIRST || head->op >= WIRE_OWNER_END)
        return false;
    unsigned op = head->op - WIRE_OWNER_FIRST;
    if (head->nbytes != nbytes - sizeof *head ||
        head->nbytes != operations[op].request_bytes)
        return false;
    if (!s->memory && head->op != WIRE_OWNER_START)
        return false;
    _Alignas(16) char body[MAX_OWNER_REPLY] = {0};
    struct owner_request r = {.server = s, .body = buffer + sizeof *head,
                              .fd = *fd, .reply = body, .tail = tail};
    pthread_mutex_lock(&s->lock);
    bool ok = operations[op].serve(&r);
    pthread_mutex_unlock(&s->lock);
    *fd = r.fd;
    struct wire_reply reply = {
        .error = ok ? 0 : -1,
        .nbytes = (uint32_t)(operations[op].reply_bytes + r.ntail),
    };
    return wire_send(sock, &reply, sizeof reply, body,
                     operations[op].reply_bytes, tail, r.ntail, -1);
}

void owner_serve(struct server *s, int sock)
{
    char *buffer = aligned_alloc(64, WIRE_MESSAGE);
    char *tail = aligned_alloc(64, OWNER_TAIL);
    bool going = buffer && tail;
    while (going) {
        size_t nbytes;
        int fd;
        going = wire_receive(sock, buffer, sizeof(struct wire_request), &nbytes,
                             &fd) == WIRE_OK &&
                serve_packet(s, sock, buffer, nbytes, &fd, tail);
        if (fd >= 0)
            close(fd);
    }
    free(buffer);
    free(tail);
}
