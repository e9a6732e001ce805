// One submission graded by `grade lab` in a process group of its own, which
// ends with this process, and at its deadline.
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "class.h"

enum { LOG_BYTES = 2048, RESULT_BYTES = 4 << 20 };

double clock_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

// The path to hand to the grader: the entry itself, or what an archive held.
static char *submission_path(const struct attempt *attempt,
                             const char *scratch, char *message)
{
    struct stat st;

    if (lstat(attempt->path, &st) != 0) {
        snprintf(message, CLASS_MESSAGE, "is gone: %s", strerror(errno));
        return NULL;
    }
    if (S_ISDIR(st.st_mode))
        return unpacked_root(attempt->path);
    size_t n = strlen(attempt->path);
    if (n > 3 && strcasecmp(attempt->path + n - 3, ".cu") == 0)
        return text_format("%s", attempt->path);
    char *folder = text_format("%s/unpacked", scratch), *root = NULL;
    if (mkdir(folder, 0700) != 0)
        snprintf(message, CLASS_MESSAGE, "%s: %s", folder, strerror(errno));
    else if (unpack(attempt->path, folder, message) == 0)
        root = unpacked_root(folder);
    free(folder);
    return root;
}

// In the child: becomes the grader, its output in the log.
static void become_grader(const struct grader *grader, const char *path,
                          const char *scratch, pid_t parent)
{
    char *json = text_format("%s/result.json", scratch);
    char *log = text_format("%s/log", scratch);
    const char *argv[16] = {grader->program, "lab",    grader->lab,
                            "--submission",  path,     "--json",
                            json,            "--quiet"};
    size_t n = 8;
    sigset_t none;

    if (grader->target)
        argv[n++] = "--target", argv[n++] = grader->target;
    if (grader->gpu)
        argv[n++] = "--gpu", argv[n++] = grader->gpu;
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int in = open("/dev/null", O_RDONLY);
    int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (in < 0 || out < 0)
        _exit(127);
    dup2(in, 0);
    dup2(out, 1);
    dup2(out, 2);
    execv(grader->program, (char **)argv);
    _exit(127);
}

int child_start(struct child *child, const struct grader *grader,
                struct attempt *attempt, const char *scratch,
                char message[CLASS_MESSAGE])
{
    pid_t self = getpid();

    memset(child, 0, sizeof *child);
    child->scratch = text_format("%s/%lld", scratch, (long long)attempt->id);
    child->attempt = *attempt;
    memset(attempt, 0, sizeof *attempt);
    if (mkdir(child->scratch, 0700) != 0) {
        snprintf(message, CLASS_MESSAGE, "%s: %s", child->scratch,
                 strerror(errno));
        return -1;
    }
    char *path = submission_path(&child->attempt, child->scratch, message);
    if (!path)
        return -1;
    child->deadline = clock_seconds() + grader->deadline_s;
    child->pid = fork();
    if (child->pid == 0)
        become_grader(grader, path, child->scratch, self);
    free(path);
    if (child->pid < 0) {
        snprintf(message, CLASS_MESSAGE, "fork: %s", strerror(errno));
        child->pid = 0;
        return -1;
    }
    setpgid(child->pid, child->pid);
    return 0;
}

void child_check_deadline(struct child *child, double now)
{
    if (child->pid && !child->late && now >= child->deadline) {
        child->late = true;
        kill(-child->pid, SIGKILL);
    }
}

// ---- what it found ---------------------------------------------------------

static const char *text_of(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

// The grader's JSON, or NULL. Written by trusted code, checked all the same:
// a disk may have been full.
static json_t *read_result(const struct child *child)
{
    char *path = text_format("%s/result.json", child->scratch);
    struct stat st;
    json_t *json = NULL;

    if (stat(path, &st) == 0 && st.st_size <= RESULT_BYTES)
        json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    free(path);
    return json;
}

// How the child ended when it left no result.
static void tell_end(const struct child *child, const struct grader *grader,
                     int wait_status, struct verdict *verdict)
{
    char *path = text_format("%s/log", child->scratch);
    char *log = text_tail(path, LOG_BYTES);
    char how[80];

    if (child->late)
        snprintf(how, sizeof how, "not done after %.0f s", grader->deadline_s);
    else if (WIFSIGNALED(wait_status))
        snprintf(how, sizeof how, "the grader was ended by signal %d",
                 WTERMSIG(wait_status));
    else
        snprintf(how, sizeof how, "the grader ended with status %d and no "
                                  "result", WEXITSTATUS(wait_status));
    snprintf(verdict->reason, sizeof verdict->reason, "%s%s%s", how,
             *log ? ": " : "", log);
    free(path);
    free(log);
}

static bool is_known_status(const char *status)
{
    return status && (strcmp(status, "graded") == 0 ||
                      strcmp(status, "compile_error") == 0);
}

void child_read(struct child *child, const struct grader *grader,
                int wait_status, struct verdict *verdict)
{
    struct grade *grade = &verdict->grade;

    memset(verdict, 0, sizeof *verdict);
    grade->status = "not_graded";
    json_t *json = child->late ? NULL : read_result(child);
    verdict->json = json;
    if (!json_is_object(json)) {
        tell_end(child, grader, wait_status, verdict);
        grade->reason = verdict->reason;
        return;
    }
    verdict->result = json_dumps(json, JSON_COMPACT);
    grade->result = verdict->result;
    grade->target = text_of(json, "target");
    grade->gpu = text_of(json, "gpu");
    grade->isolation = text_of(json, "isolation");
    grade->modelled = json_is_true(json_object_get(json, "modelled"));
    grade->score = json_number_value(json_object_get(json, "score"));
    grade->max_score = json_number_value(json_object_get(json, "max_score"));
    if (is_known_status(text_of(json, "status")) && isfinite(grade->score)) {
        grade->graded = true;
        grade->status = text_of(json, "status");
        return;
    }
    const char *why = text_of(json, "reason");
    snprintf(verdict->reason, sizeof verdict->reason, "%s",
             why ? why : "the grader could not grade it");
    grade->reason = verdict->reason;
}

void child_finish(struct child *child, struct verdict *verdict)
{
    if (verdict) {
        json_decref(verdict->json);
        free(verdict->result);
    }
    remove_tree(child->scratch);
    free(child->scratch);
    attempt_free(&child->attempt);
    memset(child, 0, sizeof *child);
}
