// worker: the untrusted side. Started in a sandbox with a socket to the judge
// as descriptor 3, it loads one submission and calls its functions when told.
//
//     worker [CUDA_RUNTIME]     full path of libcudart.so.13, or nothing
//
// From the moment the submission is loaded nothing here can be relied on, by
// the judge least of all. Submissions are loaded RTLD_LOCAL, so that what they
// define replaces nothing of ours.
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "filter.h"
#include "worker.h"

static struct mapping mappings[PROTOCOL_BUFFERS];
static struct prepared *calls[PROTOCOL_CALLS];
static void *library;

// Receives one request and the descriptor that came with it, or -1.
static bool receive(struct request *r, int *fd)
{
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {r, sizeof *r};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1,
                       .msg_control = control,
                       .msg_controllen = sizeof control};
    ssize_t n;
    *fd = -1;
    do
        n = recvmsg(PROTOCOL_FD, &m, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return n == sizeof *r;
}

static void load(const struct request *r, struct reply *reply)
{
    library = dlopen(r->text, RTLD_NOW | RTLD_LOCAL);
    if (library)
        return;
    const char *why = dlerror();
    reply->status = REPLY_NOT_LOADED;
    snprintf(reply->text, sizeof reply->text, "%s", why ? why : "");
}

static void unmap(struct mapping *m)
{
    if (m->kind == MAPPING_HOST)
        munmap(m->address, m->nbytes);
    else if (m->kind == MAPPING_IPC)
        device_close_handle(m->address);
    else if (m->kind == MAPPING_OWN)
        device_release(m->address);
    m->kind = MAPPING_NONE;
}

static void map(const struct request *r, int fd, struct reply *reply)
{
    struct mapping *m = &mappings[r->buffer];
    void *p = NULL;
    unmap(m);
    m->nbytes = r->nbytes;
    switch (r->kind) {
    case REQUEST_MAP_HOST:
        p = mmap(NULL, r->nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (p == MAP_FAILED)
            p = NULL;
        m->kind = MAPPING_HOST;
        break;
    case REQUEST_MAP_AT:
        p = (void *)(uintptr_t)r->address;
        m->kind = MAPPING_AT;
        break;
    case REQUEST_MAP_IPC:
        p = device_open_handle(r->handle, &reply->cuda_error);
        m->kind = MAPPING_IPC;
        break;
    default:
        p = device_alloc(r->nbytes, &reply->cuda_error);
        m->kind = MAPPING_OWN;
    }
    m->address = p;
    if (!p) {
        m->kind = MAPPING_NONE;
        reply->status = REPLY_FAILED;
    }
}

static void copy(const struct request *r, struct reply *reply)
{
    const struct mapping *d = &mappings[r->buffer], *h;
    reply->status = REPLY_FAILED;
    if (r->other >= PROTOCOL_BUFFERS)
        return;
    h = &mappings[r->other];
    size_t least = d->nbytes < h->nbytes ? d->nbytes : h->nbytes;
    if (d->kind != MAPPING_OWN || h->kind != MAPPING_HOST ||
        r->offset > least || r->nbytes > least - r->offset)
        return;
    char *device = d->address + r->offset, *host = h->address + r->offset;
    reply->cuda_error = r->kind == REQUEST_COPY_IN
                            ? device_copy(device, host, r->nbytes, true)
                            : device_copy(host, device, r->nbytes, false);
    if (reply->cuda_error == 0)
        reply->status = REPLY_OK;
}

static void go(const struct request *r, struct reply *reply)
{
    for (uint32_t i = 0; i < r->nslots && i < PROTOCOL_CALLS; i++) {
        unsigned slot = r->slots[i];
        if (slot < PROTOCOL_CALLS && calls[slot])
            call_run(calls[slot], reply);
    }
    if (r->nslots == 0)
        device_nudge();
    reply->cuda_error = device_synchronize();
}

static void answer(const struct request *r, int fd, struct reply *reply)
{
    if (r->buffer >= PROTOCOL_BUFFERS || r->slot >= PROTOCOL_CALLS) {
        reply->status = REPLY_FAILED;
        return;
    }
    switch (r->kind) {
    case REQUEST_LOAD:
        load(r, reply);
        break;
    case REQUEST_MAP_HOST:
    case REQUEST_MAP_AT:
    case REQUEST_MAP_IPC:
    case REQUEST_ALLOC:
        map(r, fd, reply);
        break;
    case REQUEST_UNMAP:
        unmap(&mappings[r->buffer]);
        break;
    case REQUEST_COPY_IN:
    case REQUEST_COPY_OUT:
        copy(r, reply);
        break;
    case REQUEST_PREPARE:
        call_free(calls[r->slot]);
        calls[r->slot] = call_prepare(library, &r->call, mappings, reply);
        break;
    case REQUEST_GO:
        go(r, reply);
        break;
    default:
        reply->status = REPLY_FAILED;
    }
}

static void send_reply(struct reply *reply)
{
    snprintf(reply->cuda_error_name, sizeof reply->cuda_error_name, "%s",
             device_error_name(reply->cuda_error));
    while (send(PROTOCOL_FD, reply, sizeof *reply, MSG_NOSIGNAL) < 0 &&
           errno == EINTR)
        ;
}

int main(int argc, char **argv)
{
    static struct request r;
    struct reply hello = {.status = REPLY_OK};
    int fd;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (filter_worker() != 0) {
        hello.status = REPLY_FAILED;
        snprintf(hello.text, sizeof hello.text, "no system call filter");
    } else if (!device_open(argc > 1 ? argv[1] : NULL, hello.text)) {
        hello.status = REPLY_FAILED;
    }
    send_reply(&hello);
    while (receive(&r, &fd)) {
        struct reply reply = {.serial = r.serial, .status = REPLY_OK};
        answer(&r, fd, &reply);
        if (fd >= 0)
            close(fd);
        fflush(stdout);
        send_reply(&reply);
    }
    return 0;
}
