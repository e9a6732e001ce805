// Allocations, copies, fills and IPC handles, as a program asks for them.
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- what a program owns ---------------------------------------------------

bool own(struct program *p, uint64_t addr, bool variable, int fd)
{
    if (p->nowned == p->owned_room) {
        size_t room = p->owned_room ? 2 * p->owned_room : 64;
        void *more = realloc(p->owned, room * sizeof *p->owned);
        if (!more)
            return false;
        p->owned = more;
        p->owned_room = room;
    }
    p->owned[p->nowned++] = (struct owned){addr, variable, fd};
    return true;
}

// Its place in p->owned; -1 when the program does not own it.
static long owned_at(const struct program *p, uint64_t addr)
{
    // What was allocated last is freed first, more often than not.
    for (size_t i = p->nowned; i-- > 0;)
        if (p->owned[i].addr == addr)
            return (long)i;
    return -1;
}

int owned_fd(const struct program *p, uint64_t addr)
{
    long at = owned_at(p, addr);
    return at < 0 || p->owned[at].fd < 0 ? -1 : dup(p->owned[at].fd);
}

void release_owned(struct program *p, size_t i)
{
    memory_release(p->server->memory, p->owned[i].addr);
    if (p->owned[i].fd >= 0)
        close(p->owned[i].fd);
    p->owned[i] = p->owned[--p->nowned];
}

void release_all(struct program *p)
{
    for (size_t i = p->nowned; i-- > 0;)
        release_owned(p, i);
}

// ---- allocations -----------------------------------------------------------

static enum wire_memory wire_kind(const struct allocation *a)
{
    if (a->kind == ALLOC_MANAGED)
        return WIRE_MEM_MANAGED;
    return a->device < 0 ? WIRE_MEM_HOST : WIRE_MEM_DEVICE;
}

int serve_MEM_INFO(struct request *r)
{
    const struct wire_device *body = r->body;
    struct server *s = r->program->server;
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    // The total is the model's; what is free is what can be had here, of a
    // limit that all devices share.
    uint64_t all = 0, used = memory_used(s->memory, device);
    for (unsigned d = 0; d < s->ndevices; d++)
        all += memory_used(s->memory, (int)d);
    uint64_t total = s->gpu->memory_bytes;
    uint64_t of_model = used < total ? total - used : 0;
    uint64_t of_limit = all < s->memory_limit ? s->memory_limit - all : 0;
    *(struct wire_mem_info *)r->reply = (struct wire_mem_info){
        of_model < of_limit ? of_model : of_limit, total,
    };
    return CUDA_OK;
}

int serve_ALLOC(struct request *r)
{
    const struct wire_alloc *body = r->body;
    struct program *p = r->program;
    struct memory *memory = p->server->memory;
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    if (!body->nbytes || body->kind > WIRE_MEM_MANAGED)
        return CUDA_INVALID_VALUE;
    uint64_t addr;
    if (body->kind == WIRE_MEM_DEVICE)
        addr = memory_alloc(memory, device, body->nbytes, ALLOC_DEVICE, NULL);
    else
        addr = memory_alloc_host(memory, body->nbytes,
                                 body->kind == WIRE_MEM_HOST ? ALLOC_HOST
                                                             : ALLOC_MANAGED,
                                 &r->reply_fd);
    if (!addr)
        return CUDA_OUT_OF_MEMORY;
    if (!own(p, addr, false, -1)) {
        memory_release(memory, addr);
        return CUDA_OUT_OF_MEMORY;
    }
    *(struct wire_range *)r->reply = (struct wire_range){addr, body->nbytes};
    return CUDA_OK;
}

int serve_FREE(struct request *r)
{
    const struct wire_free *body = r->body;
    struct program *p = r->program;
    const struct allocation *a = memory_find(p->server->memory, body->addr);
    long at = owned_at(p, body->addr);
    if (at < 0 || p->owned[at].variable || !a || a->base != body->addr ||
        a->freed)
        return CUDA_INVALID_VALUE;
    // cudaFree takes device and managed memory, cudaFreeHost pinned memory.
    if ((wire_kind(a) == WIRE_MEM_HOST) != (body->kind == WIRE_MEM_HOST))
        return CUDA_INVALID_VALUE;
    if (a->device >= 0)
        p->device = a->device;
    if (body->flags & WIRE_WAIT)
        timeline_wait(&p->timeline, a->device >= 0 ? a->device : 0, NULL);
    release_owned(p, (size_t)at);
    return CUDA_OK;
}

int serve_POINTER(struct request *r)
{
    const struct wire_address *body = r->body;
    const struct allocation *a =
        memory_find(r->program->server->memory, body->addr);
    struct wire_pointer *reply = r->reply;
    if (a && !a->freed && body->addr >= a->base &&
        body->addr - a->base < a->nbytes)
        *reply = (struct wire_pointer){a->base, a->nbytes, a->device,
                                       wire_kind(a)};
    return CUDA_OK;
}

int serve_PEER(struct request *r)
{
    const struct wire_peer *body = r->body;
    int device = request_device(r, body->device);
    if (device < 0 || body->peer < 0 || body->peer == device ||
        (unsigned)body->peer >= r->program->server->ndevices)
        return CUDA_INVALID_DEVICE;
    memory_set_peer(r->program->server->memory, device, body->peer,
                    body->enable != 0);
    return CUDA_OK;
}

// ---- copies and fills ------------------------------------------------------

// One side of a copy: rows in the staging area, or in an allocation.
struct side {
    uint64_t at, pitch;
    const struct allocation *in; // NULL: staging
};

// Whether `height` rows of `width` bytes, `pitch` apart, lie in [0, nbytes)
// from offset `at` on. No sum here can overflow unnoticed.
static bool rows_fit(uint64_t at, uint64_t pitch, uint64_t width,
                     uint64_t height, uint64_t nbytes)
{
    uint64_t span, last;
    if (height > 1 && pitch < width)
        return false;
    if (__builtin_mul_overflow(pitch, height - 1, &span) ||
        __builtin_add_overflow(span, width, &last) || at > nbytes)
        return false;
    return last <= nbytes - at;
}

static bool side_fits(struct server *s, struct side *side, uint64_t width,
                      uint64_t height)
{
    if (!side->in)
        return rows_fit(side->at, side->pitch, width, height, WIRE_STAGING);
    const struct allocation *a = memory_find(s->memory, side->at);
    if (!a || a->freed || side->at < a->base)
        return false;
    side->in = a;
    return rows_fit(side->at - a->base, side->pitch, width, height, a->nbytes);
}

static bool move_rows(struct program *p, const struct side *dst,
                      const struct side *src, uint64_t width, uint64_t height)
{
    struct memory *m = p->server->memory;
    bool ok = true;
    for (uint64_t row = 0; row < height && ok; row++) {
        uint64_t to = dst->at + row * dst->pitch;
        uint64_t from = src->at + row * src->pitch;
        if (!src->in)
            ok = memory_write(m, to, p->staging + from, width);
        else if (!dst->in)
            ok = memory_read(m, p->staging + to, from, width);
        else
            ok = memory_copy(m, to, from, width);
    }
    return ok;
}

static bool is_on_device(const struct side *side)
{
    return side->in && side->in->device >= 0;
}

static enum copy_kind copy_direction(const struct side *dst,
                                     const struct side *src)
{
    if (!is_on_device(src))
        return COPY_H2D;
    if (!is_on_device(dst))
        return COPY_D2H;
    return src->in->device == dst->in->device ? COPY_D2D : COPY_P2P;
}

// A copy sent in pieces takes the time of the whole: a piece that begins
// where the last ended is charged what it adds.
static double copy_time(struct program *p, const struct wire_copy *body,
                        enum copy_kind kind, bool pinned, uint64_t edge)
{
    const struct gpu_model *gpu = p->server->gpu;
    uint64_t nbytes = body->width * body->height;
    bool goes_on = (body->flags & WIRE_CONTINUES) && body->height == 1 &&
                   edge == p->copy_next;
    uint64_t before = goes_on ? p->copy_done : 0;
    p->copy_next = edge + nbytes;
    p->copy_done = before + nbytes;
    double ns = time_of_copy_ns(gpu, kind, before + nbytes, pinned);
    if (goes_on)
        ns -= time_of_copy_ns(gpu, kind, before, pinned);
    return ns > 0 ? ns : 0;
}

static bool is_pinned(const struct program *p, const struct side *side)
{
    const struct allocation *a = side->in;
    if (!a || a->device >= 0)
        return false;
    return a->kind == ALLOC_HOST || is_pinned_import(p->server, a->base);
}

int serve_COPY(struct request *r)
{
    static const struct allocation somewhere; // looked up by side_fits()
    const struct wire_copy *body = r->body;
    struct program *p = r->program;
    struct stream *stream = timeline_stream(&p->timeline, body->stream);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    request_device(r, stream->device);
    if (!body->width || !body->height)
        return CUDA_OK;
    if (body->kind > WIRE_COPY_OUT)
        return CUDA_INVALID_VALUE;
    struct side dst = {body->dst, body->dst_pitch, &somewhere};
    struct side src = {body->src, body->src_pitch, &somewhere};
    if (body->kind == WIRE_COPY_IN)
        src.in = NULL;
    if (body->kind == WIRE_COPY_OUT)
        dst.in = NULL;
    if (!side_fits(p->server, &dst, body->width, body->height) ||
        !side_fits(p->server, &src, body->width, body->height) ||
        !move_rows(p, &dst, &src, body->width, body->height))
        return CUDA_INVALID_VALUE;

    enum copy_kind kind = copy_direction(&dst, &src);
    bool pinned = (body->flags & WIRE_PINNED) ||
                  (src.in && is_pinned(p, &src)) ||
                  (dst.in && is_pinned(p, &dst));
    uint64_t edge = dst.in ? body->dst : body->src;
    timeline_copy(&p->timeline, stream, &p->server->engines[stream->device],
                  kind, copy_time(p, body, kind, pinned, edge));
    if (body->flags & WIRE_WAIT)
        timeline_wait(&p->timeline, stream->device, stream);
    return CUDA_OK;
}

int serve_FILL(struct request *r)
{
    static const struct allocation somewhere;
    const struct wire_fill *body = r->body;
    struct program *p = r->program;
    struct server *s = p->server;
    struct stream *stream = timeline_stream(&p->timeline, body->stream);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    request_device(r, stream->device);
    if (!body->width || !body->height)
        return CUDA_OK;
    struct side dst = {body->dst, body->pitch, &somewhere};
    if (!side_fits(s, &dst, body->width, body->height))
        return CUDA_INVALID_VALUE;
    for (uint64_t row = 0; row < body->height; row++)
        if (!memory_set(s->memory, body->dst + row * body->pitch,
                        (int)(body->byte & 0xff), body->width))
            return CUDA_INVALID_VALUE;
    double ns = time_of_copy_ns(s->gpu, COPY_MEMSET,
                                body->width * body->height, false);
    timeline_copy(&p->timeline, stream, &s->engines[stream->device],
                  COPY_MEMSET, ns);
    if (body->flags & WIRE_WAIT)
        timeline_wait(&p->timeline, stream->device, stream);
    return CUDA_OK;
}

// ---- IPC -------------------------------------------------------------------

int serve_IPC_GET(struct request *r)
{
    const struct wire_address *body = r->body;
    const struct server *s = r->program->server;
    const struct allocation *a = memory_find(s->memory, body->addr);
    if (!a || a->freed || a->device < 0 || body->addr < a->base ||
        body->addr - a->base >= a->nbytes)
        return CUDA_INVALID_VALUE;
    *(struct wire_ipc *)r->reply = (struct wire_ipc){
        .secret = {s->secret[0], s->secret[1]},
        .base = a->base, .nbytes = a->nbytes, .device = a->device,
    };
    return CUDA_OK;
}

// All programs of a server share its addresses: opening a handle is checking
// that it was given out here and that its allocation is still there.
int serve_IPC_OPEN(struct request *r)
{
    const struct wire_ipc *body = r->body;
    const struct server *s = r->program->server;
    const struct allocation *a = memory_find(s->memory, body->base);
    if (memcmp(body->secret, s->secret, sizeof s->secret) || !a || a->freed ||
        a->base != body->base || a->device < 0)
        return CUDA_INVALID_HANDLE;
    *(struct wire_range *)r->reply = (struct wire_range){a->base, a->nbytes};
    return CUDA_OK;
}
