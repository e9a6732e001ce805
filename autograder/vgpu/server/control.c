// The owner's side of the device server: starts it and asks it things.
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

struct vgpu {
    int sock;
    pid_t pid;
    char *buffer; // WIRE_MESSAGE bytes
};

enum { MESSAGE = 256, START_TIMEOUT_MS = 10000, STOP_TIMEOUT_MS = 2000,
       IDLE_TIMEOUT_MS = 10000 };

// ---- asking ----------------------------------------------------------------

// Sends a request and waits for its reply: the body is copied out, the tail
// stays in v->buffer. Returns the tail's bytes, or -1 when refused or gone.
static long ask(struct vgpu *v, uint32_t op, const void *body, size_t nbody,
                int fd, void *reply, size_t nreply, const char **tail)
{
    struct wire_request head = {.op = op, .nbytes = (uint32_t)nbody};
    size_t nbytes;
    int came;
    if (!wire_send(v->sock, &head, sizeof head, body, nbody, NULL, 0, fd) ||
        wire_receive(v->sock, v->buffer, sizeof(struct wire_reply), &nbytes,
                     &came) != WIRE_OK) {
        kill(v->pid, SIGKILL); // an answer that came later would be misread
        return -1;
    }
    if (came >= 0)
        close(came);
    // The server runs untrusted kernels: believe no length of its.
    const struct wire_reply *r = (const void *)v->buffer;
    if (r->error || r->nbytes != nbytes - sizeof *r || r->nbytes < nreply)
        return -1;
    if (nreply)
        memcpy(reply, v->buffer + sizeof *r, nreply);
    if (tail)
        *tail = v->buffer + sizeof *r + nreply;
    return (long)(r->nbytes - nreply);
}

static int tell(struct vgpu *v, uint32_t op, const void *body, size_t nbody,
                int fd)
{
    return ask(v, op, body, nbody, fd, NULL, 0, NULL) < 0 ? -1 : 0;
}

// ---- starting and stopping -------------------------------------------------

static bool beside_me(char *path, size_t n)
{
    ssize_t len = readlink("/proc/self/exe", path, n - 1);
    if (len <= 0)
        return false;
    path[len] = 0;
    char *slash = strrchr(path, '/');
    static const char name[] = "/vgpu-server";
    if (!slash || (size_t)(slash - path) + sizeof name > n)
        return false;
    memcpy(slash, name, sizeof name);
    return true;
}

// In the child: the socket under its number, everything else closed, exec.
static void become_server(int sock, const char *const *prefix,
                          const char *path)
{
    size_t n = 0;
    while (prefix && prefix[n])
        n++;
    const char *argv[n + 2];
    for (size_t i = 0; i < n; i++)
        argv[i] = prefix[i];
    argv[n] = path;
    argv[n + 1] = NULL;
    if (sock == WIRE_OWNER_FD)
        fcntl(sock, F_SETFD, 0);
    else if (dup2(sock, WIRE_OWNER_FD) < 0)
        _exit(127);
    close_range(WIRE_OWNER_FD + 1, UINT_MAX, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static bool handshake(struct vgpu *v, const struct vgpu_options *o)
{
    struct wire_start start = {
        .version = WIRE_VERSION, .ndevices = o->ndevices, .watch = o->watch,
        .nthreads = o->nthreads, .memory_limit = o->memory_limit,
        .budget = o->budget, .seed = o->seed, .schedule = o->schedule,
        .count_host_time = o->count_host_time,
    };
    if (o->gpu)
        strncpy(start.gpu, o->gpu, sizeof start.gpu - 1);
    struct wire_request head = {.op = WIRE_OWNER_START, .nbytes = sizeof start};
    struct pollfd answer = {.fd = v->sock, .events = POLLIN};
    size_t nbytes;
    int fd;
    bool ok = wire_send(v->sock, &head, sizeof head, &start, sizeof start, NULL,
                        0, -1) &&
              poll(&answer, 1, START_TIMEOUT_MS) == 1 &&
              wire_receive(v->sock, v->buffer, sizeof(struct wire_reply),
                           &nbytes, &fd) == WIRE_OK;
    if (ok && fd >= 0)
        close(fd);
    return ok && !((const struct wire_reply *)(void *)v->buffer)->error;
}

static void set_patience(struct vgpu *v, double seconds)
{
    struct timeval limit = {.tv_sec = (time_t)seconds};
    limit.tv_usec = (suseconds_t)(1e6 * (seconds - (double)limit.tv_sec));
    if (seconds > 0) {
        setsockopt(v->sock, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(v->sock, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    }
}

int vgpu_start(const struct vgpu_options *o, struct vgpu **out, char *message)
{
    char beside[PATH_MAX];
    const char *path = o->server_path;
    int pair[2] = {-1, -1};
    struct vgpu *v = calloc(1, sizeof *v);
    char *buffer = aligned_alloc(64, WIRE_MESSAGE);
    if (o->gpu && strlen(o->gpu) >= sizeof((struct wire_start *)0)->gpu) {
        snprintf(message, MESSAGE, "no GPU model has such a long name");
        goto fail;
    }
    if (!path && beside_me(beside, sizeof beside))
        path = beside;
    if (!v || !buffer || !path ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair)) {
        snprintf(message, MESSAGE, "the device server cannot be started: %s",
                 strerror(errno));
        goto fail;
    }
    pid_t pid = fork();
    if (pid == 0)
        become_server(pair[1], o->prefix, path);
    close(pair[1]);
    *v = (struct vgpu){pair[0], pid, buffer};
    if (pid > 0 && handshake(v, o)) {
        set_patience(v, o->patience_s);
        *out = v;
        return 0;
    }
    snprintf(message, MESSAGE,
             "the device server (%.160s) does not answer, or refused its "
             "settings", path);
    vgpu_stop(v);
    return -1;
fail:
    free(buffer);
    free(v);
    return -1;
}

void vgpu_stop(struct vgpu *v)
{
    if (!v)
        return;
    close(v->sock);
    if (v->pid > 0) {
        struct timespec tick = {.tv_nsec = 2000000};
        int left = STOP_TIMEOUT_MS / 2;
        while (left-- && !waitpid(v->pid, NULL, WNOHANG))
            nanosleep(&tick, NULL);
        if (left < 0) {
            kill(v->pid, SIGKILL);
            waitpid(v->pid, NULL, 0);
        }
    }
    free(v->buffer);
    free(v);
}

int vgpu_pid(const struct vgpu *v) { return v->pid; }

int vgpu_program_socket(struct vgpu *v)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return -1;
    int failed = tell(v, WIRE_OWNER_DOOR, NULL, 0, pair[1]);
    close(pair[1]);
    if (!failed)
        return pair[0];
    close(pair[0]);
    return -1;
}

// ---- memory ----------------------------------------------------------------

static uint64_t import(struct vgpu *v, int fd, struct wire_import *body,
                       const char *label)
{
    struct wire_address reply;
    if (label)
        strncpy(body->label, label, sizeof body->label - 1);
    return ask(v, WIRE_OWNER_IMPORT, body, sizeof *body, fd, &reply,
               sizeof reply, NULL) < 0 ? 0 : reply.addr;
}

uint64_t vgpu_import(struct vgpu *v, int fd, uint64_t nbytes, int device,
                     const char *label)
{
    struct wire_import body = {.nbytes = nbytes, .device = device,
                               .kind = WIRE_MEM_DEVICE};
    return import(v, fd, &body, label);
}

uint64_t vgpu_import_host(struct vgpu *v, int fd, uint64_t nbytes, bool pinned,
                          const char *label)
{
    struct wire_import body = {.nbytes = nbytes, .kind = WIRE_MEM_HOST,
                               .pinned = pinned};
    return import(v, fd, &body, label);
}

int vgpu_forget(struct vgpu *v, uint64_t addr)
{
    struct wire_address body = {addr};
    return tell(v, WIRE_OWNER_FORGET, &body, sizeof body, -1);
}

static int mark(struct vgpu *v, uint64_t addr, uint64_t nbytes, bool host)
{
    struct wire_mark body = {.addr = addr, .nbytes = nbytes, .host = host};
    return tell(v, WIRE_OWNER_MARK, &body, sizeof body, -1);
}

int vgpu_mark_host_written(struct vgpu *v, uint64_t addr, uint64_t nbytes)
{
    return mark(v, addr, nbytes, true);
}

int vgpu_mark_unwritten(struct vgpu *v, uint64_t addr, uint64_t nbytes)
{
    return mark(v, addr, nbytes, false);
}

int vgpu_writers(struct vgpu *v, uint64_t addr, uint64_t nbytes,
                 struct writers *out)
{
    struct wire_range body = {addr, nbytes};
    struct wire_writers reply;
    if (ask(v, WIRE_OWNER_WRITERS, &body, sizeof body, -1, &reply,
            sizeof reply, NULL) < 0)
        return -1;
    *out = (struct writers){reply.nobody, reply.host, reply.kernel};
    return 0;
}

// ---- settings and the clock ------------------------------------------------

int vgpu_set_watch(struct vgpu *v, unsigned flags)
{
    struct wire_id body = {flags};
    return tell(v, WIRE_OWNER_WATCH, &body, sizeof body, -1);
}

int vgpu_set_schedule(struct vgpu *v, enum schedule schedule, uint64_t seed)
{
    struct wire_schedule body = {.schedule = schedule, .seed = seed};
    return tell(v, WIRE_OWNER_SCHEDULE, &body, sizeof body, -1);
}

int vgpu_clock(struct vgpu *v, double *ns)
{
    struct wire_elapsed reply;
    if (ask(v, WIRE_OWNER_CLOCK, NULL, 0, -1, &reply, sizeof reply, NULL) < 0)
        return -1;
    *ns = reply.ns;
    return 0;
}

int vgpu_wait_idle(struct vgpu *v)
{
    struct timespec tick = {.tv_nsec = 1000000};
    struct wire_id programs;
    for (int left = IDLE_TIMEOUT_MS; left > 0; left--) {
        if (ask(v, WIRE_OWNER_PROGRAMS, NULL, 0, -1, &programs, sizeof programs,
                NULL) < 0)
            return -1;
        if (!programs.id)
            return 0;
        nanosleep(&tick, NULL);
    }
    return -1;
}

// ---- findings and launches -------------------------------------------------

// Gathers the records of `size` bytes that an operation hands out, until it
// has no more; at most 65536. NULL and *n = 0 when there are none.
static int gather(struct vgpu *v, uint32_t op, size_t size, char **out,
                  unsigned *n)
{
    enum { MOST = 65536 };
    *out = NULL;
    *n = 0;
    for (;;) {
        const char *tail;
        long nbytes = ask(v, op, NULL, 0, -1, NULL, 0, &tail);
        if (nbytes < 0 || nbytes % (long)size || *n >= MOST)
            goto fail;
        if (!nbytes)
            return 0;
        char *more = realloc(*out, *n * size + (size_t)nbytes);
        if (!more)
            goto fail;
        *out = more;
        memcpy(more + *n * size, tail, (size_t)nbytes);
        *n += (unsigned)((size_t)nbytes / size);
    }
fail:
    free(*out);
    *out = NULL;
    *n = 0;
    return -1;
}

// Text that crossed from the server ends where its array does.
#define END_TEXT(array) ((array)[sizeof(array) - 1] = 0)

int vgpu_findings(struct vgpu *v, struct finding **out, unsigned *n)
{
    char *found;
    if (gather(v, WIRE_OWNER_FINDINGS, sizeof **out, &found, n))
        return -1;
    *out = (struct finding *)(void *)found;
    for (unsigned i = 0; i < *n; i++) {
        END_TEXT((*out)[i].kernel);
        END_TEXT((*out)[i].file);
        END_TEXT((*out)[i].message);
    }
    return 0;
}

int vgpu_launches(struct vgpu *v, struct vgpu_launch **out, unsigned *n)
{
    char *kept;
    if (gather(v, WIRE_OWNER_LAUNCHES, sizeof **out, &kept, n))
        return -1;
    *out = (struct vgpu_launch *)(void *)kept;
    for (unsigned i = 0; i < *n; i++) {
        END_TEXT((*out)[i].kernel);
        END_TEXT((*out)[i].limiter);
        END_TEXT((*out)[i].occupancy_limiter);
        (*out)[i].occupancy.limiter = NULL;
    }
    return 0;
}
