// Commands, a few at a time, each with a deadline.
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct running {
    struct job *job; // NULL: a free place
    pid_t pid;
    double began;
    bool killed;
};

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// In the child: output to its file, input from nowhere, then the program.
static void become(const struct job *job, const sigset_t *mask)
{
    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, mask, NULL);
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int out = open(job->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                   0644);
    if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
        dup2(out, 2) < 0)
        _exit(126);
    execvp(job->argv[0], job->argv);
    _exit(127);
}

static void start(struct running *r, struct job *job, const sigset_t *mask)
{
    *r = (struct running){.job = job, .began = now_s()};
    r->pid = fork();
    if (r->pid == 0)
        become(job, mask);
    if (r->pid > 0)
        setpgid(r->pid, r->pid); // whichever of the two comes first
}

static void finish(struct running *r, int status)
{
    struct job *job = r->job;
    job->wall_s = now_s() - r->began;
    if (r->killed)
        job->status = -1;
    else if (WIFEXITED(status))
        job->status = WEXITSTATUS(status);
    else
        job->status = 128 + WTERMSIG(status);
    r->job = NULL;
}

// Whether it has ended; kills it, and all that it started, when out of time.
static bool ended(struct running *r)
{
    int status = 127 << 8; // fork failed: as if the program was not there
    if (r->pid > 0) {
        if (!r->killed && now_s() - r->began > r->job->deadline_s) {
            r->killed = true;
            kill(-r->pid, SIGKILL);
        }
        if (waitpid(r->pid, &status, WNOHANG) != r->pid)
            return false;
    }
    finish(r, status);
    return true;
}

// Sleeps until a child ends, or the nearest deadline, or a second at most.
static void wait_a_little(const struct running *r, unsigned width,
                          const sigset_t *sigchld)
{
    double left = 1;
    for (unsigned i = 0; i < width; i++) {
        double t = r[i].job ? r[i].began + r[i].job->deadline_s - now_s() : 1;
        if (t < left)
            left = t;
    }
    if (left < 0.001)
        left = 0.001;
    struct timespec t = {(time_t)left, (long)(1e9 * (left - (time_t)left))};
    sigtimedwait(sigchld, NULL, &t);
}

void jobs_run(struct job *jobs, size_t n, unsigned width,
              void (*done)(struct job *, void *self), void *self)
{
    struct running *running = calloc(width, sizeof *running);
    if (!running)
        abort();
    sigset_t sigchld, before;
    sigemptyset(&sigchld);
    sigaddset(&sigchld, SIGCHLD);
    sigprocmask(SIG_BLOCK, &sigchld, &before);
    for (size_t next = 0, left = n; left > 0;) {
        unsigned over = 0;
        for (unsigned i = 0; i < width; i++) {
            struct job *job = running[i].job;
            if (job && ended(&running[i])) {
                left--, over++;
                if (done)
                    done(job, self);
            }
            if (!running[i].job && next < n)
                start(&running[i], &jobs[next++], &before);
        }
        if (left > 0 && !over)
            wait_a_little(running, width, &sigchld);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(running);
}
