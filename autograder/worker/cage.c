#include "cage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inside/keeper.h"
#include "tree.h"

enum { OWN_TASKS = 2 }; // bubblewrap outside, the keeper inside

static const double look_every_s = 0.02, stop_within_s = 10;

double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// ---- starting ---------------------------------------------------------------

// Between fork and exec: only calls that are safe there.
static _Noreturn void become(const struct args *a, const struct cage_options *o,
                             int status, int output)
{
    int want[CAGE_MAX_FDS + 1];
    unsigned n = o->nfds;
    for (unsigned i = 0; i < n; i++)
        want[i] = fcntl(o->fds[i], F_DUPFD, 64);
    want[n] = fcntl(status, F_DUPFD, 64);
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 ||
        dup2(output, 2) < 0)
        _exit(KEEPER_FAILED);
    for (unsigned i = 0; i <= n; i++)
        if (want[i] < 0 || dup2(want[i], 3 + (int)i) < 0)
            _exit(KEEPER_FAILED);
    syscall(SYS_close_range, 3 + n + 1, ~0u, 0);
    if (o->isolation != ISOLATION_NAMESPACES) {
        setsid();
        if (chdir(o->directory ? o->directory : "/tmp") != 0)
            _exit(KEEPER_FAILED);
    }
    // Signals that the judge ignores or blocks are none of theirs.
    sigset_t none;
    sigemptyset(&none);
    for (int s = 1; s < 32; s++)
        signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    char *nothing[] = {NULL};
    char *const *env = o->isolation == ISOLATION_NAMESPACES || !o->env
                           ? nothing
                           : (char *const *)o->env;
    execvpe(a->v[0], (char *const *)a->v, env);
    _exit(KEEPER_FAILED);
}

static bool make_pipes(int status[2], int output[2])
{
    if (pipe2(status, O_CLOEXEC) != 0)
        return false;
    if (pipe2(output, O_CLOEXEC) != 0) {
        close(status[0]), close(status[1]);
        return false;
    }
    fcntl(status[0], F_SETFL, O_NONBLOCK);
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    return true;
}

static bool build_command(const struct cage_options *o, struct args *a)
{
    if (!cage_prefix(o, 3 + (int)o->nfds, a))
        return false;
    for (const char *const *arg = o->argv; *arg; arg++) {
        if (a->n + 1 >= sizeof a->v / sizeof *a->v)
            return false;
        a->v[a->n++] = *arg;
    }
    a->v[a->n] = NULL;
    return true;
}

struct cage *cage_start(const struct cage_options *o, char *message)
{
    struct cage *c = calloc(1, sizeof *c);
    struct args *a = calloc(1, sizeof *a);
    int status[2], output[2];
    const char *what = "memory";
    if (!c || !a)
        goto fail;
    what = "the sandbox's command line (is build/bin/keeper there?)";
    if (!build_command(o, a))
        goto fail;
    what = "pipes";
    if (!make_pipes(status, output))
        goto fail;
    pid_t pid = fork();
    if (pid == 0)
        become(a, o, status[1], output[1]);
    close(status[1]), close(output[1]);
    c->pid = pid;
    c->pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
    c->status_fd = status[0], c->output_fd = output[0];
    c->memory_bytes = o->memory_bytes, c->max_tasks = o->max_tasks;
    free(a);
    if (pid > 0 && c->pidfd >= 0)
        return c;
    snprintf(message, 512, "cannot start a process: %s", strerror(errno));
    if (pid < 0)
        c->pid = 0;
    cage_free(c);
    return NULL;
fail:
    snprintf(message, 512, "cannot make %s", what);
    free(a);
    free(c);
    return NULL;
}

// ---- watching ---------------------------------------------------------------

// Bytes in a folder and below, as far as `limit`; links are not followed.
static uint64_t folder_bytes(int at, const char *name, uint64_t limit,
                             unsigned depth)
{
    uint64_t nbytes = 0;
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *e;
    if (!dir && fd >= 0)
        close(fd);
    while (dir && nbytes <= limit && (e = readdir(dir)) != NULL) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        nbytes += 1024 + (uint64_t)st.st_blocks * 512; // inodes cost, too
        if (S_ISDIR(st.st_mode) && depth < 64)
            nbytes += folder_bytes(fd, e->d_name, limit, depth + 1);
    }
    if (dir)
        closedir(dir);
    return nbytes;
}

static const char *limit_passed(const struct cage *c)
{
    struct tree_usage u;
    tree_measure(c->pid, &u);
    if (c->memory_bytes && u.memory_bytes > c->memory_bytes + c->shared_bytes)
        return "memory";
    if (c->max_tasks && u.threads > c->max_tasks + OWN_TASKS)
        return "processes and threads";
    if (c->scratch && folder_bytes(AT_FDCWD, c->scratch, c->scratch_bytes, 0) >
                          c->scratch_bytes)
        return "files";
    return NULL;
}

static void look_at_limits(struct cage *c)
{
    double now = now_s();
    if (c->state != CAGE_RUNNING || now < c->next_look)
        return;
    c->next_look = now + look_every_s;
    const char *limit = limit_passed(c);
    if (!limit)
        return;
    cage_stop(c);
    c->state = CAGE_OVER_LIMIT;
    c->limit = limit;
}

static void drain(struct cage *c)
{
    if (c->output_fd >= 0 && !capture_drain(&c->output, c->output_fd)) {
        close(c->output_fd);
        c->output_fd = -1;
    }
}

static void read_status(struct cage *c)
{
    struct keeper_status report;
    ssize_t n = read(c->status_fd, &report, sizeof report);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    bool good = n == sizeof report && report.magic == KEEPER_MAGIC;
    cage_stop(c);
    c->state = good ? CAGE_ENDED : CAGE_BROKEN;
    c->status = good ? report.status : 0;
}

bool cage_wait(struct cage *c, int fd, double deadline)
{
    while (c->state == CAGE_RUNNING) {
        double left = deadline - now_s();
        double tick = c->next_look - now_s();
        if (tick > left)
            tick = left;
        struct pollfd fds[] = {{c->status_fd, POLLIN, 0},
                               {c->output_fd, POLLIN, 0},
                               {fd, POLLIN, 0}};
        int timeout = tick > 0 ? (int)(tick * 1e3) + 1 : 0;
        if (poll(fds, 3, timeout) < 0 && errno != EINTR)
            return false;
        if (fds[1].revents)
            drain(c);
        if (fds[2].revents & POLLIN)
            return true;
        if (fds[0].revents)
            read_status(c);
        else if (fds[2].revents) // hung up, and its process will follow
            return true;
        look_at_limits(c);
        if (now_s() >= deadline)
            break;
    }
    return false;
}

// ---- stopping ---------------------------------------------------------------

static bool gone_within(struct cage *c, double seconds)
{
    struct pollfd p = {c->pidfd, POLLIN, 0};
    double end = now_s() + seconds;
    for (;;) {
        double left = end - now_s();
        if (poll(&p, 1, left > 0 ? (int)(left * 1e3) + 1 : 0) > 0)
            return true;
        if (left <= 0)
            return false;
    }
}

// The keeper ends all when its status pipe has no reader; the outermost
// process ends when the keeper, and with it the pid namespace, is gone.
void cage_stop(struct cage *c)
{
    if (c->pid <= 0)
        return;
    if (c->status_fd >= 0)
        close(c->status_fd);
    c->status_fd = -1;
    if (!gone_within(c, stop_within_s)) {
        kill(c->pid, SIGKILL);
        gone_within(c, stop_within_s);
    }
    waitpid(c->pid, NULL, WNOHANG);
    drain(c);
    if (c->output_fd >= 0)
        close(c->output_fd);
    if (c->pidfd >= 0)
        close(c->pidfd);
    c->output_fd = c->pidfd = -1;
    c->pid = 0;
    if (c->state == CAGE_RUNNING)
        c->state = CAGE_ENDED;
}

void cage_free(struct cage *c)
{
    if (!c)
        return;
    cage_stop(c);
    free(c);
}
