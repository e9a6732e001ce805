// keeper: the first process of every sandbox. It starts one program under
// limits, and ends when that has ended, or when whoever reads its status pipe
// is gone; with it ends everything that was started.
//
//     keeper [--status FD] [--cpu S] [--file BYTES] [--data BYTES]
//            [--processes N] [--files N] [--uid UID] [--offline 1]
//            [--read PATH]... [--write PATH]... -- PROGRAM ARGS...
//
// In a pid namespace it is process 1: no signal from inside reaches it, and
// the kernel ends the rest with it. Elsewhere it is the subreaper that all
// orphans come to, and kills them until there are none.
//
// Status pipe: one struct keeper_status when the program has ended.
#include "keeper.h"
#include "filter.h"
#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

struct limits {
    rlim_t cpu, file, data, processes, files;
    uid_t uid;
    bool has_uid, offline;
    struct allowed_path paths[LANDLOCK_MAX_PATHS]; // none: all are allowed
    unsigned npaths;
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "keeper: %s: %s\n", what, strerror(errno));
    _exit(KEEPER_FAILED);
}

static unsigned long long number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text ? text : "", &end, 10);
    if (errno || end == text || *end) {
        errno = EINVAL;
        die("a number was expected");
    }
    return value;
}

static void allow(struct limits *l, const char *path, bool writable)
{
    if (l->npaths == LANDLOCK_MAX_PATHS) {
        errno = E2BIG;
        die("paths");
    }
    l->paths[l->npaths++] = (struct allowed_path){path, writable};
}

static void set_option(struct limits *l, int *status_fd, const char *name,
                       const char *value)
{
    if (strcmp(name, "--read") == 0 || strcmp(name, "--write") == 0)
        allow(l, value, name[2] == 'w');
    else if (strcmp(name, "--status") == 0)
        *status_fd = (int)number(value);
    else if (strcmp(name, "--cpu") == 0)
        l->cpu = number(value);
    else if (strcmp(name, "--file") == 0)
        l->file = number(value);
    else if (strcmp(name, "--data") == 0)
        l->data = number(value);
    else if (strcmp(name, "--processes") == 0)
        l->processes = number(value);
    else if (strcmp(name, "--files") == 0)
        l->files = number(value);
    else if (strcmp(name, "--offline") == 0)
        l->offline = number(value) != 0;
    else if (strcmp(name, "--uid") == 0)
        l->uid = (uid_t)number(value), l->has_uid = true;
    else {
        errno = EINVAL;
        die(name);
    }
}

// Returns the index of the program's name in argv.
static int parse(int argc, char **argv, struct limits *l, int *status_fd)
{
    int i = 1;
    for (; i + 1 < argc && strcmp(argv[i], "--") != 0; i += 2)
        set_option(l, status_fd, argv[i], argv[i + 1]);
    if (i + 1 >= argc) {
        errno = EINVAL;
        die("no program");
    }
    return i + 1;
}

// Lowers a limit, never raises one.
static void limit(int what, rlim_t value)
{
    struct rlimit now;
    if (value == RLIM_INFINITY || getrlimit(what, &now) != 0)
        return;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < value)
        value = now.rlim_max;
    now.rlim_cur = now.rlim_max = value;
    if (setrlimit(what, &now) != 0)
        die("setrlimit");
}

static void check(int rc, const char *what)
{
    if (rc < 0) {
        errno = -rc;
        die(what);
    }
}

static void become(uid_t uid)
{
    if (setgroups(0, NULL) != 0 || setresgid(uid, uid, uid) != 0 ||
        setresuid(uid, uid, uid) != 0)
        die("cannot change the user");
}

static _Noreturn void run(const struct limits *l, char **argv, pid_t keeper)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, l->cpu);
    limit(RLIMIT_FSIZE, l->file);
    limit(RLIMIT_DATA, l->data);
    limit(RLIMIT_NPROC, l->processes);
    limit(RLIMIT_NOFILE, l->files);
    if (l->has_uid)
        become(l->uid);
    // After the change of user, which clears it.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != keeper)
        _exit(KEEPER_FAILED);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        die("no_new_privs");
    if (l->npaths > 0)
        check(landlock_restrict(l->paths, l->npaths), "landlock");
    check(filter_sandbox(l->offline), "seccomp");
    execvp(argv[0], argv);
    die(argv[0]);
}

// Reaps until the program has ended or the reader has gone.
static bool watch(pid_t program, int signals, int status_fd, int *status)
{
    for (;;) {
        pid_t pid;
        int s;
        while ((pid = waitpid(-1, &s, WNOHANG)) > 0)
            if (pid == program) {
                *status = s;
                return true;
            }
        struct pollfd fds[] = {{signals, POLLIN, 0}, {status_fd, 0, 0}};
        if (poll(fds, status_fd >= 0 ? 2 : 1, -1) < 0 && errno != EINTR)
            return false;
        if (fds[1].revents & (POLLERR | POLLHUP | POLLNVAL))
            return false;
        struct signalfd_siginfo info;
        while (read(signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo == SIGTERM)
                return false;
    }
}

static void kill_children(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *f = fopen(path, "re");
    int pid;
    while (f && fscanf(f, "%d", &pid) == 1)
        kill(pid, SIGKILL);
    if (f)
        fclose(f);
}

// All of that user's at once: a fork bomb cannot outrun it.
static void kill_user(uid_t uid)
{
    pid_t killer = fork();
    if (killer == 0) {
        if (setresuid(uid, uid, uid) == 0)
            kill(-1, SIGKILL);
        _exit(0);
    }
    if (killer > 0)
        waitpid(killer, NULL, 0);
}

// Orphans come here, so this ends when nothing is left.
static void kill_rest(const struct limits *l, pid_t program)
{
    kill(program, SIGKILL);
    if (getpid() == 1)
        return; // the kernel does it when we exit
    for (int i = 0; i < 2000; i++) {
        if (l->has_uid)
            kill_user(l->uid);
        kill_children();
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (pid < 0 && errno == ECHILD)
            return;
        usleep(1000);
    }
}

int main(int argc, char **argv)
{
    struct limits l = {.cpu = RLIM_INFINITY, .file = RLIM_INFINITY,
                       .data = RLIM_INFINITY, .processes = RLIM_INFINITY,
                       .files = RLIM_INFINITY};
    int status_fd = -1, status = 0;
    int program_at = parse(argc, argv, &l, &status_fd);
    // Its descriptors stay out of reach of what it starts.
    prctl(PR_SET_DUMPABLE, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (status_fd < 0) // started by a server's owner: die with it
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (status_fd >= 0 && fcntl(status_fd, F_SETFD, FD_CLOEXEC) != 0)
        die("status pipe");
    sigset_t mine;
    sigemptyset(&mine);
    sigaddset(&mine, SIGCHLD);
    sigaddset(&mine, SIGTERM);
    sigprocmask(SIG_SETMASK, &mine, NULL);
    int signals = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        die("signalfd");
    pid_t keeper = getpid(), program = fork();
    if (program < 0)
        die("fork");
    if (program == 0)
        run(&l, argv + program_at, keeper);
    for (int fd = 3; fd < 64; fd++) // the program's alone
        if (fd != status_fd && fd != signals)
            close(fd);
    bool ended = watch(program, signals, status_fd, &status);
    struct keeper_status report = {KEEPER_MAGIC, status};
    if (ended && status_fd >= 0 &&
        write(status_fd, &report, sizeof report) != sizeof report)
        ended = false;
    kill_rest(&l, program);
    if (!ended)
        return KEEPER_FAILED;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
