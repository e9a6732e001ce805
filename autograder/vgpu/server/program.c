// One program at the server: a thread that receives requests, checks their
// form, has them carried out, and sends the replies.
#include "server.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

// ---- the operations --------------------------------------------------------

static int serve_HELLO(struct request *r)
{
    const struct server *s = r->program->server;
    struct wire_hello *hello = r->reply;
    *hello = (struct wire_hello){
        .version = WIRE_VERSION,
        .ndevices = s->ndevices,
        .staging_bytes = WIRE_STAGING,
        .count_host_time = s->count_host_time,
    };
    strncpy(hello->gpu, s->gpu->key, sizeof hello->gpu - 1);
    r->reply_fd = dup(r->program->staging_fd);
    return r->reply_fd < 0 ? CUDA_INITIALIZATION : CUDA_OK;
}

static const struct operation {
    handler *serve;
    size_t request_bytes, reply_bytes;
} operations[WIRE_PROGRAM_COUNT] = {
#define OP(name, request, reply)                                               \
    [WIRE_##name] = {serve_##name, sizeof(struct request), sizeof(struct reply)},
    WIRE_PROGRAM_OPS(OP)
#undef OP
};

// ---- receiving and replying ------------------------------------------------

enum { REPLY_TAIL = WIRE_MESSAGE / 2, MAX_REPLY_BODY = 128 };

// Host time between two calls below this is the cost of calling, which the
// model has in its own terms; so small programs are timed alike each run.
static const double HOST_TIME_IGNORED_NS = 200e3;
static const uint64_t HOST_TIME_MOST_NS = UINT64_C(1000000000000);

static void count_host_time(struct program *p, uint64_t ns)
{
    if (p->server->count_host_time && ns > HOST_TIME_IGNORED_NS)
        p->timeline.host += (double)(ns < HOST_TIME_MOST_NS ? ns
                                                          : HOST_TIME_MOST_NS);
}

// Whether the request wants no reply: always so, or by its flags.
static bool is_posted(uint32_t op, const void *body)
{
    if (op == WIRE_COPY)
        return ((const struct wire_copy *)body)->flags & WIRE_POSTED;
    if (op == WIRE_FILL)
        return ((const struct wire_fill *)body)->flags & WIRE_POSTED;
    return wire_is_posted(op);
}

// Carries out one request whose form is right. A device that has faulted
// answers everything with its fault, but for these.
static int carry_out(struct request *r, uint32_t op)
{
    struct program *p = r->program;
    p->device = -1;
    int error = operations[op].serve(r);
    if (op == WIRE_TAKE_PRINT || op == WIRE_HELLO || op == WIRE_RESET)
        return error;
    if (p->device >= 0 && p->sticky[p->device])
        return p->sticky[p->device];
    if (!is_posted(op, r->body) && !error && p->error) {
        error = p->error;
        p->error = CUDA_OK;
    }
    return error;
}

// Serves the packet in buffer; false when the program must be let go.
static bool serve_packet(struct program *p, char *buffer, size_t nbytes,
                         int fd, char *tail)
{
    const struct wire_request *head = (const void *)buffer;
    if (head->op >= WIRE_PROGRAM_COUNT ||
        head->nbytes != nbytes - sizeof *head)
        return false;
    const struct operation *op = &operations[head->op];
    if (head->nbytes < op->request_bytes ||
        (head->nbytes > op->request_bytes && !wire_has_tail(head->op)))
        return false;
    _Alignas(16) char body[MAX_REPLY_BODY] = {0};
    struct request r = {
        .program = p, .body = buffer + sizeof *head,
        .tail = buffer + sizeof *head + op->request_bytes,
        .ntail = head->nbytes - op->request_bytes,
        .fd = fd, .reply = body, .reply_tail = tail, .reply_fd = -1,
    };
    pthread_mutex_lock(&p->server->lock);
    count_host_time(p, head->host_ns);
    int error = carry_out(&r, head->op);
    bool posted = is_posted(head->op, r.body);
    bool sticky = p->device >= 0 && p->sticky[p->device];
    if (posted && error && !p->error && !sticky)
        p->error = error;
    struct wire_reply reply = {
        .error = error,
        .nbytes = (uint32_t)(op->reply_bytes + r.nreply_tail),
        .print_bytes = (uint32_t)p->print_bytes,
    };
    pthread_mutex_unlock(&p->server->lock);
    bool ok = posted || wire_send(p->sock, &reply, sizeof reply, body,
                                  op->reply_bytes, tail, r.nreply_tail,
                                  r.reply_fd);
    if (r.reply_fd >= 0)
        close(r.reply_fd);
    return ok;
}

// ---- a program's life ------------------------------------------------------

static void program_free(struct program *p)
{
    if (!p)
        return;
    struct server *s = p->server;
    pthread_mutex_lock(&s->lock);
    for (struct program **at = &s->programs; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            s->nprograms--;
            break;
        }
    double end = timeline_end(&p->timeline);
    if (p->timeline.streams && end > s->clock)
        s->clock = end;
    bool faulted = false;
    for (unsigned d = 0; d < s->ndevices; d++)
        faulted |= p->sticky[d] != 0;
    // Of the last program, since the watch does not know whose they are. What
    // a fault kept from being freed is no leak.
    if (!s->nprograms && !faulted && (s->watch_flags & WATCH_CHECK))
        watch_leaks(s->watch);
    release_all(p);
    modules_free(p);
    pthread_mutex_unlock(&s->lock);
    timeline_free(&p->timeline);
    if (p->staging)
        munmap(p->staging, WIRE_STAGING);
    if (p->staging_fd >= 0)
        close(p->staging_fd);
    free(p->events);
    free(p->owned);
    free(p->print);
    close(p->sock);
    free(p);
}

// Owns the socket from here on, also on failure.
static struct program *program_new(struct server *s, int sock)
{
    struct program *p = calloc(1, sizeof *p);
    if (!p) {
        close(sock);
        return NULL;
    }
    p->server = s;
    p->sock = sock;
    p->staging_fd = wire_memfd("vgpu-staging", WIRE_STAGING, NULL);
    pthread_mutex_lock(&s->lock);
    bool room = s->nprograms < MAX_PROGRAMS;
    bool ready = timeline_init(&p->timeline, s->ndevices, s->clock);
    p->next = s->programs;
    s->programs = p;
    s->nprograms++;
    pthread_mutex_unlock(&s->lock);
    if (p->staging_fd >= 0) {
        void *map = mmap(NULL, WIRE_STAGING, PROT_READ | PROT_WRITE,
                         MAP_SHARED, p->staging_fd, 0);
        p->staging = map == MAP_FAILED ? NULL : map;
    }
    if (room && ready && p->staging)
        return p;
    program_free(p);
    return NULL;
}

static void *program_run(void *self)
{
    struct program *p = self;
    // Packets are read as structs: keep them aligned.
    char *buffer = aligned_alloc(64, WIRE_MESSAGE);
    char *tail = aligned_alloc(64, REPLY_TAIL);
    bool going = buffer && tail;
    while (going) {
        size_t nbytes;
        int fd;
        going = wire_receive(p->sock, buffer, sizeof(struct wire_request),
                             &nbytes, &fd) == WIRE_OK &&
                serve_packet(p, buffer, nbytes, fd, tail);
        if (fd >= 0)
            close(fd);
    }
    free(buffer);
    free(tail);
    program_free(p);
    return NULL;
}

static bool start_thread(void *(*run)(void *), void *self)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, self))
        return false;
    pthread_detach(thread);
    return true;
}

// ---- doors -----------------------------------------------------------------

struct door {
    struct server *server;
    int sock;
};

static bool is_seqpacket(int fd)
{
    int type = 0, domain = 0;
    socklen_t n = sizeof type, m = sizeof domain;
    return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) &&
           !getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &m) &&
           type == SOCK_SEQPACKET && domain == AF_UNIX;
}

static void admit(struct server *s, const struct wire_request *head, int fd)
{
    if (fd < 0)
        return;
    if (head->op != WIRE_DOOR_CONNECT || !is_seqpacket(fd)) {
        close(fd);
        return;
    }
    struct program *p = program_new(s, fd);
    if (p && !start_thread(program_run, p))
        program_free(p);
}

static void *door_run(void *self)
{
    struct door *door = self;
    char *buffer = aligned_alloc(64, WIRE_MESSAGE);
    size_t nbytes;
    int fd;
    enum wire_status status;
    while (buffer &&
           (status = wire_receive(door->sock, buffer,
                                  sizeof(struct wire_request), &nbytes,
                                  &fd)) != WIRE_CLOSED) {
        if (status == WIRE_OK)
            admit(door->server, (const void *)buffer, fd);
    }
    free(buffer);
    close(door->sock);
    free(door);
    return NULL;
}

bool program_open_door(struct server *s, int sock)
{
    struct door *door = malloc(sizeof *door);
    if (door) {
        *door = (struct door){s, sock};
        if (start_thread(door_run, door))
            return true;
    }
    free(door);
    close(sock);
    return false;
}

int request_device(struct request *r, int32_t device)
{
    if (device < 0 || (unsigned)device >= r->program->server->ndevices)
        return -1;
    r->program->device = device;
    return device;
}
