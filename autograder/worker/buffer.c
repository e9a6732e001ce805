// The judge's buffers. Host buffers are memfds on every target; device
// buffers are whatever the target makes of them.
//
// A memfd is sealed before anybody else sees it: one that its holder could
// shrink would kill the judge with SIGBUS.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "session_impl.h"

static const double attach_deadline_s = 30;

int buffer_make_memfd(struct buffer *b)
{
    b->fd = memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (b->fd < 0)
        return -1;
    // Allocated now: a full machine is told here, not by a signal later.
    if (fallocate(b->fd, 0, 0, (off_t)b->slab_bytes) != 0 ||
        fcntl(b->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
        goto fail;
    b->map = mmap(NULL, b->slab_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                  b->fd, 0);
    if (b->map != MAP_FAILED)
        return 0;
fail:
    b->map = NULL;
    close(b->fd);
    b->fd = -1;
    return -1;
}

void buffer_drop_memfd(struct buffer *b)
{
    if (b->map)
        munmap(b->map, b->slab_bytes);
    if (b->fd >= 0)
        close(b->fd);
    b->map = NULL;
    b->fd = -1;
}

static int attach_host(struct buffer *b)
{
    struct request r = {.kind = REQUEST_MAP_HOST, .buffer = b->id,
                        .nbytes = b->slab_bytes};
    struct reply reply;
    return session_exchange(b->session, &r, b->fd, &reply,
                            attach_deadline_s) && reply.status == REPLY_OK
               ? 0
               : -1;
}

int buffer_attach(struct buffer *b)
{
    return b->host ? attach_host(b) : b->session->target->attach(b);
}

static struct buffer *make(struct session *s, size_t nbytes, size_t skew,
                           const char *label, bool host)
{
    uint32_t id = 0;
    while (id < PROTOCOL_BUFFERS && s->buffers[id])
        id++;
    if (id == PROTOCOL_BUFFERS || nbytes > SIZE_MAX / 4 || skew > 1 << 20)
        return NULL;
    struct buffer *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->session = s, b->id = id, b->host = host, b->fd = -1;
    b->nbytes = nbytes, b->skew = skew;
    size_t granule = VGPU_GRANULE, whole = skew + nbytes + (nbytes == 0);
    b->slab_bytes = (whole + granule - 1) / granule * granule;
    snprintf(b->label, sizeof b->label, "%s", label ? label : "");
    int rc = host ? buffer_make_memfd(b) : s->target->acquire(b);
    if (rc != 0) {
        free(b);
        return NULL;
    }
    s->buffers[id] = b;
    if (host && s->cage)
        s->cage->shared_bytes += b->slab_bytes;
    // When the worker cannot take it, the session is dead and says so at the
    // next call; the buffer is good all the same.
    if (!s->dead)
        buffer_attach(b);
    return b;
}

struct buffer *buffer_device(struct session *s, size_t nbytes, size_t skew,
                             const char *label)
{
    return make(s, nbytes, skew, label, false);
}

struct buffer *buffer_host(struct session *s, size_t nbytes, const char *label)
{
    return make(s, nbytes, 0, label, true);
}

void buffer_free(struct buffer *b)
{
    if (!b)
        return;
    struct session *s = b->session;
    if (!s->dead) {
        struct request r = {.kind = REQUEST_UNMAP, .buffer = b->id};
        struct reply reply;
        session_exchange(s, &r, -1, &reply, attach_deadline_s);
    }
    s->buffers[b->id] = NULL;
    if (b->host) {
        if (s->cage)
            s->cage->shared_bytes -= b->slab_bytes;
        buffer_drop_memfd(b);
    } else {
        s->target->release(b);
    }
    free(b);
}

size_t buffer_bytes(const struct buffer *b)
{
    return b->nbytes;
}

static bool fits(const struct buffer *b, size_t offset, size_t nbytes)
{
    return offset <= b->nbytes && nbytes <= b->nbytes - offset;
}

int buffer_write(struct buffer *b, size_t offset, const void *from, size_t n)
{
    if (!fits(b, offset, n))
        return -1;
    if (!b->host)
        return b->session->target->write(b, b->skew + offset, from, n);
    memcpy(b->map + offset, from, n);
    return 0;
}

int buffer_read(struct buffer *b, size_t offset, void *to, size_t n)
{
    if (!fits(b, offset, n))
        return -1;
    if (!b->host)
        return b->session->target->read(b, b->skew + offset, to, n);
    memcpy(to, b->map + offset, n);
    return 0;
}

int buffer_fill(struct buffer *b, int byte)
{
    if (!b->host)
        return b->session->target->fill(b, b->skew, byte, b->nbytes);
    memset(b->map, byte, b->nbytes);
    return 0;
}

int buffer_random(struct buffer *b, uint64_t seed)
{
    if (!b->host)
        return b->session->target->random(b, seed);
    float *to = (float *)b->map;
    for (size_t i = 0; i < b->nbytes / sizeof *to; i++)
        to[i] = random_at(seed, i);
    return 0;
}

bool buffer_writers(struct buffer *b, struct writers *w)
{
    return !b->host && b->session->target->writers(b, w);
}

void *buffer_map(struct buffer *b)
{
    return b->host ? b->map : NULL;
}
