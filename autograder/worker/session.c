// One submission in one worker: start, ask, give deadlines, explain the end.
#include "session_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tree.h"

static const double default_deadline_s = 10, start_deadline_s = 30;
static const uint64_t default_memory = UINT64_C(4) << 30;

// ---- how a worker ended ------------------------------------------------------

static const char *signal_advice(int signal)
{
    switch (signal) {
    case 11:
    case 7:
        return ": it used an address that is not its own. The host cannot "
               "read device memory; copy it first";
    case 6:
        return ": it aborted";
    case 8:
        return ": it divided by zero";
    case 31:
        return ": it made a system call that is not allowed";
    case 25:
        return ": it wrote too large a file";
    default:
        return "";
    }
}

static void explain_end(const struct cage *c, struct outcome *o)
{
    if (c->state == CAGE_OVER_LIMIT) {
        o->status = CALL_SIGNAL;
        o->code = 9;
        snprintf(o->text, sizeof o->text,
                 "ended by the grader: it passed the limit on %s", c->limit);
    } else if (c->state == CAGE_BROKEN) {
        o->status = CALL_MACHINE;
        capture_last(&c->output, o->text, sizeof o->text);
    } else if (WIFSIGNALED(c->status)) {
        o->status = CALL_SIGNAL;
        o->code = WTERMSIG(c->status);
        snprintf(o->text, sizeof o->text, "the program died of signal %d (%s)%s",
                 o->code, strsignal(o->code), signal_advice(o->code));
    } else {
        o->status = CALL_EXITED;
        o->code = WEXITSTATUS(c->status);
        snprintf(o->text, sizeof o->text,
                 "the program ended itself with status %d before the function "
                 "returned",
                 o->code);
    }
}

static void put_output(struct session *s, struct outcome *o)
{
    if (!s->cage)
        return;
    cage_wait(s->cage, -1, 0); // what is there already
    capture_last(&s->cage->output, o->output, sizeof o->output);
}

void session_kill(struct session *s, enum call_status status, const char *text)
{
    if (s->cage)
        cage_stop(s->cage);
    if (s->control >= 0)
        close(s->control);
    s->control = -1;
    s->dead = true;
    memset(&s->last, 0, sizeof s->last);
    s->last.status = status;
    snprintf(s->last.text, sizeof s->last.text, "%s", text);
    put_output(s, &s->last);
}

// The worker ended or stopped answering: find out which.
static void bury(struct session *s, bool hung_up, double deadline_s)
{
    struct outcome o = {0};
    char text[OUTCOME_TEXT];
    if (hung_up) // its process ends soon, if it ended
        cage_wait(s->cage, -1, now_s() + 0.5);
    if (s->cage->state != CAGE_RUNNING) {
        explain_end(s->cage, &o);
    } else if (hung_up) {
        o.status = CALL_EXITED;
        o.code = -1;
        snprintf(o.text, sizeof o.text,
                 "the program closed descriptors that are not its own");
    } else {
        o.status = CALL_TIMEOUT;
        snprintf(o.text, sizeof o.text,
                 "not back after %.3g s, and ended by the grader", deadline_s);
    }
    snprintf(text, sizeof text, "%s", o.text);
    session_kill(s, o.status, text);
    s->last.code = o.code;
}

// ---- requests ----------------------------------------------------------------

static bool send_request(struct session *s, const struct request *r, int fd,
                         double deadline)
{
    char control[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {(void *)r, sizeof *r};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = control, m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(c), &fd, sizeof fd);
    }
    for (;;) {
        if (sendmsg(s->control, &m, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
            return true;
        double left = deadline - now_s();
        if ((errno != EAGAIN && errno != EINTR) || left <= 0)
            return false;
        struct pollfd p = {s->control, POLLOUT, 0};
        poll(&p, 1, 20);
    }
}

// Datagrams of the wrong size or number are the submission's: passed over.
static bool take_reply(struct session *s, struct reply *reply, bool *hung_up)
{
    ssize_t n = recv(s->control, reply, sizeof *reply, MSG_DONTWAIT | MSG_TRUNC);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        *hung_up = true;
    if (n != sizeof *reply || reply->serial != s->serial)
        return false;
    reply->text[sizeof reply->text - 1] = '\0';
    reply->cuda_error_name[sizeof reply->cuda_error_name - 1] = '\0';
    return true;
}

bool session_exchange(struct session *s, struct request *r, int fd,
                      struct reply *reply, double deadline_s)
{
    if (s->dead)
        return false;
    double deadline = now_s() + deadline_s;
    bool hung_up = false;
    r->serial = ++s->serial;
    bool sent = send_request(s, r, fd, deadline);
    hung_up = !sent && now_s() < deadline;
    while (sent && !hung_up && cage_wait(s->cage, s->control, deadline))
        if (take_reply(s, reply, &hung_up))
            return true;
    bury(s, hung_up, deadline_s);
    return false;
}

// ---- starting ----------------------------------------------------------------

const char *needs_keep(struct worker_needs *n, char *string)
{
    if (n->nstrings < sizeof n->strings / sizeof *n->strings)
        n->strings[n->nstrings++] = string;
    return string;
}

const char *needs_bind(struct session *s, struct worker_needs *n, char *host,
                       const char *inside)
{
    needs_keep(n, host);
    if (host && n->nbinds < sizeof n->binds / sizeof *n->binds)
        n->binds[n->nbinds++] = (struct bind){host, inside, false};
    return s->o.isolation == ISOLATION_NAMESPACES && host ? inside : host;
}

static void add_environment(struct worker_needs *n, const char *entry)
{
    if (n->nenv + 1 < sizeof n->env / sizeof *n->env)
        n->env[n->nenv++] = entry;
}

static uint64_t shared_bytes(const struct session *s)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < PROTOCOL_BUFFERS; i++)
        if (s->buffers[i] && s->buffers[i]->host)
            sum += s->buffers[i]->slab_bytes;
    return sum;
}

// The first message comes before any submission is loaded: it is the
// worker's, and the kernel says which process sent it.
static bool take_hello(struct session *s, char *message)
{
    struct reply hello = {0};
    union {
        char bytes[CMSG_SPACE(sizeof(struct ucred))];
        struct cmsghdr align;
    } control;
    struct iovec part = {&hello, sizeof hello};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1,
                       .msg_control = &control,
                       .msg_controllen = sizeof control};
    if (!cage_wait(s->cage, s->control, now_s() + start_deadline_s) ||
        recvmsg(s->control, &m, MSG_DONTWAIT) != sizeof hello) {
        cage_wait(s->cage, -1, now_s() + 0.2);
        char output[400];
        capture_last(&s->cage->output, output, sizeof output);
        snprintf(message, 512, "the worker does not start: %s", output);
        return false;
    }
    if (hello.status != REPLY_OK) {
        hello.text[sizeof hello.text - 1] = '\0';
        snprintf(message, 512, "the worker is not ready: %.400s", hello.text);
        return false;
    }
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    struct ucred cred;
    if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_CREDENTIALS) {
        memcpy(&cred, CMSG_DATA(c), sizeof cred);
        s->worker_pid = cred.pid;
    }
    return true;
}

static int start_cage(struct session *s, struct worker_needs *n, char *message)
{
    int pair[2], on = 1;
    const char *worker = needs_bind(s, n, build_path("bin/worker"), "/worker");
    if (!worker) {
        snprintf(message, 512, "build/bin/worker is not there");
        return -1;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
        snprintf(message, 512, "no socket: %s", strerror(errno));
        return -1;
    }
    setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
    const char *argv[] = {worker, n->runtime ? n->runtime : "", NULL};
    struct cage_options o = {
        .isolation = s->o.isolation, .argv = argv, .env = n->env,
        .binds = n->binds, .nbinds = n->nbinds, .gpu = n->gpu,
        .memory_bytes = s->o.memory_bytes, .max_tasks = s->o.max_processes,
        .file_bytes = UINT64_C(1) << 30,
        .fds = {pair[1], n->vgpu_fd}, .nfds = n->vgpu_fd >= 0 ? 2 : 1,
    };
    s->cage = cage_start(&o, message);
    s->control = pair[0];
    close(pair[1]);
    if (!s->cage)
        return -1;
    s->cage->shared_bytes = shared_bytes(s);
    return 0;
}

static void load(struct session *s, const char *path)
{
    struct request r = {.kind = REQUEST_LOAD};
    struct reply reply;
    snprintf(r.text, sizeof r.text, "%s", path);
    if (!session_exchange(s, &r, -1, &reply, default_deadline_s))
        return;
    if (reply.status != REPLY_OK) {
        char text[OUTCOME_TEXT];
        printable(reply.text, strlen(reply.text), text, sizeof text);
        session_kill(s, CALL_NOT_LOADED, text);
    }
}

static bool is_regular_file(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int start(struct session *s, char *message)
{
    struct worker_needs n = {.vgpu_fd = -1};
    int rc = -1;
    s->dead = false;
    s->serial = 0;
    if (s->target->prepare(s, &n, message) != 0)
        goto out;
    const char *submission = NULL;
    bool regular = is_regular_file(s->o.submission);
    if (regular)
        submission = needs_bind(s, &n, realpath(s->o.submission, NULL),
                                "/submission.so");
    add_environment(&n, "LC_ALL=C");
    add_environment(&n, "HOME=/tmp");
    if (start_cage(s, &n, message) != 0 || !take_hello(s, message))
        goto out;
    for (unsigned i = 0; i < PROTOCOL_BUFFERS && !s->dead; i++)
        if (s->buffers[i] && buffer_attach(s->buffers[i]) != 0) {
            snprintf(message, 512, "the worker cannot map a buffer%s%.300s",
                     s->dead ? ": " : "", s->dead ? s->last.text : "");
            goto out;
        }
    if (submission)
        load(s, submission);
    else
        session_kill(s, CALL_NOT_LOADED,
                     "the submission is no regular file that can be read");
    rc = 0;
out:
    if (n.vgpu_fd >= 0)
        close(n.vgpu_fd);
    for (unsigned i = 0; i < n.nstrings; i++)
        free(n.strings[i]);
    return rc;
}

static void end_worker(struct session *s)
{
    if (s->control >= 0)
        close(s->control);
    s->control = -1;
    cage_free(s->cage);
    s->cage = NULL;
    s->worker_pid = 0;
}

// ---- public --------------------------------------------------------------------

int session_open(const struct session_options *o, struct session **out,
                 char *message)
{
    struct session *s = calloc(1, sizeof *s);
    *out = NULL;
    message[0] = '\0';
    if (!s)
        return -1;
    isolation_probe(); // finds out what this bubblewrap can do, once
    s->o = *o;
    s->o.gpu = o->gpu ? strdup(o->gpu) : NULL;
    s->o.submission = strdup(o->submission ? o->submission : "");
    if (s->o.memory_bytes == 0)
        s->o.memory_bytes = default_memory;
    if (s->o.max_processes == 0)
        s->o.max_processes = 128;
    s->control = -1;
    s->target = o->target == TARGET_GPU ? &target_gpu : &target_virtual;
    if (s->target->open(s, message) == 0 && start(s, message) == 0) {
        *out = s;
        return 0;
    }
    session_close(s);
    return -1;
}

int session_restart(struct session *s, char *message)
{
    message[0] = '\0';
    end_worker(s);
    if (start(s, message) == 0)
        return 0;
    session_kill(s, CALL_MACHINE, message);
    return -1;
}

void session_end_worker(struct session *s)
{
    session_kill(s, CALL_EXITED, "the worker was ended by the grader");
}

void session_close(struct session *s)
{
    if (!s)
        return;
    end_worker(s);
    s->dead = true;
    for (unsigned i = 0; i < PROTOCOL_BUFFERS; i++)
        buffer_free(s->buffers[i]);
    s->target->close(s);
    free((void *)s->o.gpu);
    free((void *)s->o.submission);
    free(s);
}

const char *session_gpu_name(const struct session *s)
{
    return s->gpu_name;
}

bool session_is_modelled(const struct session *s)
{
    return s->target->modelled;
}

// ---- calls -----------------------------------------------------------------------

static struct wire_arg wire_arg(const struct arg *a)
{
    struct wire_arg w = {.kind = a->kind};
    if (a->kind == ARG_BUFFER) {
        w.buffer = a->buffer->id;
        w.value = a->buffer->skew + a->offset;
    } else if (a->kind == ARG_F32 || a->kind == ARG_F64) {
        memcpy(&w.value, &a->f, sizeof w.value);
    } else {
        w.value = a->u;
    }
    return w;
}

bool session_prepare(struct session *s, unsigned slot, const struct call *c,
                     struct reply *reply)
{
    struct request r = {.kind = REQUEST_PREPARE, .slot = slot};
    snprintf(r.call.symbol, sizeof r.call.symbol, "%s", c->symbol);
    r.call.returns = c->returns;
    r.call.nargs = c->nargs < CALL_MAX_ARGS ? c->nargs : CALL_MAX_ARGS;
    for (unsigned i = 0; i < r.call.nargs; i++)
        r.call.args[i] = wire_arg(&c->args[i]);
    return session_exchange(s, &r, -1, reply, default_deadline_s) &&
           reply->status == REPLY_OK;
}

void session_explain(struct session *s, const struct reply *reply,
                     struct outcome *o)
{
    if (s->dead) {
        *o = s->last;
        return;
    }
    o->status = reply->status == REPLY_NO_SYMBOL ? CALL_NO_SYMBOL
                                                 : CALL_MACHINE;
    printable(reply->text, strlen(reply->text), o->text, sizeof o->text);
    if (o->status == CALL_MACHINE && !o->text[0])
        snprintf(o->text, sizeof o->text, "the worker refused the call");
    put_output(s, o);
}

bool session_go(struct session *s, const uint16_t *slots, unsigned n,
                struct reply *reply, double deadline_s)
{
    struct request go = {.kind = REQUEST_GO, .nslots = n};
    memcpy(go.slots, slots, n * sizeof *slots);
    return session_exchange(s, &go, -1, reply, deadline_s);
}

// The submission's own work is what keeps the device from answering.
static void give_up_clock(struct session *s, struct outcome *o)
{
    session_kill(s, CALL_TIMEOUT,
                 "the virtual GPU had still work to do long after the call");
    *o = s->last;
}

static void run_call(struct session *s, double deadline_s, bool (*fresh)(void *),
                     void *self, struct outcome *o)
{
    static const uint16_t first = 0;
    struct reply reply = {0};
    double cpu = process_cpu_s(s->worker_pid);
    double device = s->target->clock_ns(s);
    if (fresh && !fresh(self)) {
        o->status = CALL_MACHINE;
        snprintf(o->text, sizeof o->text, "inputs or outputs not written");
        return;
    }
    if (!session_go(s, &first, 1, &reply, deadline_s)) {
        *o = s->last;
        return;
    }
    double elapsed = s->target->clock_ns(s) - device;
    if (!(elapsed >= 0)) { // also when the clock cannot be read: not a number
        give_up_clock(s, o);
        return;
    }
    o->status = CALL_RETURNED;
    o->i = reply.i;
    o->f = reply.f;
    o->cuda_error = reply.cuda_error;
    printable(reply.cuda_error_name, strlen(reply.cuda_error_name),
              o->cuda_error_name, sizeof o->cuda_error_name);
    o->worker_cpu_s = process_cpu_s(s->worker_pid) - cpu;
    o->device_ns = elapsed;
    put_output(s, o);
}

void session_call_fresh(struct session *s, const struct call *c,
                        bool (*fresh)(void *), void *self, struct outcome *o)
{
    struct reply reply = {0};
    memset(o, 0, sizeof *o);
    if (session_prepare(s, 0, c, &reply))
        run_call(s, c->deadline_s > 0 ? c->deadline_s : default_deadline_s,
                 fresh, self, o);
    else
        session_explain(s, &reply, o);
}

void session_call(struct session *s, const struct call *c, struct outcome *o)
{
    session_call_fresh(s, c, NULL, NULL, o);
}
