// The loop over a run: as many children as asked for, each recorded as soon
// as it has ended. What is on the disk is always enough to go on from.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "class.h"

enum { MAX_JOBS = 256 };

struct loop {
    struct gradebook *book;
    int64_t run;
    const struct grader *grader;
    const char *scratch;
    FILE *out;
    char *message;
    struct child children[MAX_JOBS];
    unsigned jobs, done, total;
    bool unsafe;              // isolation "none" was seen
};

static void print_line(struct loop *loop, const char *student,
                       const struct grade *grade)
{
    fprintf(loop->out, "%3u/%u  ", ++loop->done, loop->total);
    text_padded(loop->out, student, 24);
    fputc(' ', loop->out);
    if (!grade->graded) {
        const char *end = strchrnul(grade->reason, '\n');
        fprintf(loop->out, "not graded: %.*s\n", (int)(end - grade->reason),
                grade->reason);
    } else if (strcmp(grade->status, "compile_error") == 0) {
        fprintf(loop->out, "%5.1f of %g, does not compile\n", grade->score,
                grade->max_score);
    } else {
        fprintf(loop->out, "%5.1f of %g%s\n", grade->score, grade->max_score,
                grade->modelled ? "  (speed modelled)" : "");
    }
    fflush(loop->out);
}

static int record(struct loop *loop, const struct attempt *attempt,
                  const struct grade *grade)
{
    if (gradebook_record(loop->book, attempt->id, grade) != 0) {
        snprintf(loop->message, CLASS_MESSAGE, "gradebook: %s",
                 gradebook_error(loop->book));
        return -1;
    }
    print_line(loop, attempt->student, grade);
    return 0;
}

// A verdict without isolation is not recorded unless it was asked for: the
// submission could have written it.
static bool is_unsafe(const struct loop *loop, const struct grade *grade)
{
    return grade->graded && !loop->grader->allow_no_isolation &&
           (!grade->isolation || strcmp(grade->isolation, "none") == 0);
}

static int collect(struct loop *loop, struct child *child, int wait_status)
{
    struct verdict verdict;

    child_read(child, loop->grader, wait_status, &verdict);
    if (is_unsafe(loop, &verdict.grade)) {
        loop->unsafe = true;
        verdict.grade.graded = false;
        verdict.grade.status = "not_graded";
        verdict.grade.result = NULL;
        verdict.grade.reason = "it was graded without isolation";
    }
    int status = record(loop, &child->attempt, &verdict.grade);
    child_finish(child, &verdict);
    return status;
}

// Takes the next queued attempt into a free place. 1 started or failed at
// once, 0 nothing left, -1 the gradebook failed.
static int start_next(struct loop *loop, struct child *child)
{
    struct attempt attempt = {0};
    char message[CLASS_MESSAGE] = "";
    int taken = gradebook_claim(loop->book, loop->run, &attempt);

    if (taken < 0)
        snprintf(loop->message, CLASS_MESSAGE, "gradebook: %s",
                 gradebook_error(loop->book));
    if (taken <= 0)
        return taken;
    if (child_start(child, loop->grader, &attempt, loop->scratch, message) ==
        0)
        return 1;
    struct grade grade = {.status = "not_graded", .reason = message};
    int status = record(loop, &child->attempt, &grade);
    child_finish(child, NULL);
    return status == 0 ? 1 : -1;
}

// Starts children until every place is taken. The number running, or -1.
static int fill(struct loop *loop)
{
    int running = 0, taken = 1;

    for (unsigned i = 0; i < loop->jobs; i++) {
        struct child *child = &loop->children[i];
        while (!child->pid && taken == 1 && !loop->unsafe)
            taken = start_next(loop, child);
        if (taken < 0)
            return -1;
        running += child->pid != 0;
    }
    return running;
}

// Sleeps until a child ends or the next deadline; ends those that are late.
static void wait_for_one(struct loop *loop)
{
    double now = clock_seconds(), soonest = now + 60;
    sigset_t child_ended;

    for (unsigned i = 0; i < loop->jobs; i++) {
        struct child *child = &loop->children[i];
        child_check_deadline(child, now);
        if (child->pid && !child->late && child->deadline < soonest)
            soonest = child->deadline;
    }
    double left = soonest > now ? soonest - now : 0;
    struct timespec timeout = {(time_t)left,
                               (long)((left - (double)(time_t)left) * 1e9)};
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigtimedwait(&child_ended, NULL, &timeout);
}

static int collect_ended(struct loop *loop)
{
    for (unsigned i = 0; i < loop->jobs; i++) {
        struct child *child = &loop->children[i];
        int wait_status;
        if (!child->pid || waitpid(child->pid, &wait_status, WNOHANG) <= 0)
            continue;
        // What it may have left behind in its process group goes with it.
        kill(-child->pid, SIGKILL);
        if (collect(loop, child, wait_status) != 0)
            return -1;
    }
    return 0;
}

static void stop_all(struct loop *loop)
{
    for (unsigned i = 0; i < loop->jobs; i++) {
        struct child *child = &loop->children[i];
        if (!child->pid)
            continue;
        kill(-child->pid, SIGKILL);
        waitpid(child->pid, NULL, 0);
        child_finish(child, NULL);
    }
}

int run_class(struct gradebook *book, int64_t run,
              const struct grader *grader, unsigned jobs, const char *scratch,
              FILE *out, char message[CLASS_MESSAGE])
{
    struct loop loop = {.book = book, .run = run, .grader = grader,
                        .scratch = scratch, .out = out, .message = message,
                        .jobs = jobs < MAX_JOBS ? jobs : MAX_JOBS};
    struct tally tally;
    sigset_t child_ended, before;
    int running = 0, status = 0;

    if (gradebook_tally(book, run, &tally) != 0)
        return -1;
    loop.done = tally.graded + tally.failed;
    loop.total = loop.done + tally.queued + tally.grading;
    sigemptyset(&child_ended);
    sigaddset(&child_ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ended, &before);
    while (status == 0 && (running = fill(&loop)) > 0) {
        wait_for_one(&loop);
        status = collect_ended(&loop);
    }
    stop_all(&loop);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (loop.unsafe)
        snprintf(message, CLASS_MESSAGE, "%s", NO_ISOLATION);
    return status != 0 || running < 0 || loop.unsafe ? -1 : 0;
}
