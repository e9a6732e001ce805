// check-course: proves that labs, solutions and chapters say one thing.
//
// What can be seen in the files comes first (course.c). Then every submission
// that the labs keep is graded, two at a time, and its verdict compared with
// what it must earn (verdicts.c).
#include "tools.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char doc[] =
    "Proves per lab: no stray file, the starter is its solution with holes and "
    "earns nothing, the solution and right/ earn everything, each file of wrong/ "
    "loses exactly the tests that it names, each rung lands in its class.\v"
    "Run it at the root of the repository. Exit status: 0 all holds, 1 "
    "something does not, 2 bad use.";
static char args_doc[] = "[LAB]";

static const struct argp_option options[] = {
    {"target", 't', "TARGET", 0, "virtual (default) or gpu", 0},
    {"only", 'o', "TEXT", 0, "grade only submissions whose path holds TEXT", 0},
    {"files", 'f', 0, 0, "look at the files, grade nothing", 0},
    {"jobs", 'j', "N", 0, "how many to grade at a time (2)", 0},
    {"grade", 'g', "PROGRAM", 0, "the grader (build/bin/grade)", 0},
    {0},
};

struct arguments {
    const char *lab, *target, *only, *grade;
    bool files;
    unsigned width;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 't':
        a->target = arg;
        if (strcmp(arg, "virtual") != 0 && strcmp(arg, "gpu") != 0)
            argp_error(state, "the targets are virtual and gpu");
        return 0;
    case 'o':
        a->only = arg;
        return 0;
    case 'f':
        a->files = true;
        return 0;
    case 'j':
        a->width = (unsigned)atoi(arg);
        if (a->width < 1 || a->width > 64)
            argp_error(state, "from 1 to 64 at a time");
        return 0;
    case 'g':
        a->grade = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (a->lab)
            argp_error(state, "one LAB, or none for all");
        a->lab = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---- grading the samples -----------------------------------------------------

enum { OUT = 512 };
static const char WORK[] = "build/check-course";

struct verdict {
    const struct sample *sample;
    const struct arguments *arguments;
    char json[OUT], log[OUT];
    bool ok;
    char message[TOOL_MESSAGE];
};

static char *copy(const char *text)
{
    char *s = strdup(text);
    if (!s)
        abort();
    return s;
}

// Where a sample's files go: its path with slashes made dashes.
static void work_path(char out[OUT], const char *path, const char *suffix)
{
    int n = snprintf(out, OUT, "%s/", WORK);
    snprintf(out + n, OUT - (size_t)n, "%.300s%s", path, suffix);
    for (char *at = out + n; *at; at++)
        if (*at == '/')
            *at = '-';
}

static void make_job(struct job *job, struct verdict *v)
{
    const struct arguments *a = v->arguments;
    const char *argv[] = {a->grade,     "lab",         v->sample->slug,
                          "--submission", v->sample->path, "--target",
                          a->target,    "--json",      v->json,
                          "--quiet",    "--plain"};
    size_t n = sizeof argv / sizeof *argv;
    work_path(v->json, v->sample->path, ".json");
    work_path(v->log, v->sample->path, ".log");
    remove(v->json); // an old verdict must not pass for a new one
    *job = (struct job){.argv = calloc(n + 1, sizeof *job->argv),
                        .output_path = v->log, .deadline_s = 300, .tag = v};
    if (!job->argv)
        abort();
    for (size_t i = 0; i < n; i++)
        job->argv[i] = copy(argv[i]);
}

static void free_job(struct job *job)
{
    for (char **arg = job->argv; *arg; arg++)
        free(*arg);
    free(job->argv);
}

static void judge(struct verdict *v, const struct job *job)
{
    char *json = text_read(v->json);
    if (job->status == -1)
        snprintf(v->message, sizeof v->message, "no verdict in %g s",
                 job->deadline_s);
    else if (job->status > 1 || !json)
        snprintf(v->message, sizeof v->message, "grade ended with %d, see %.300s",
                 job->status, v->log);
    else
        v->ok = verdict_agrees(v->sample, json, v->arguments->target, v->message);
    free(json);
}

static void print_row(const struct verdict *v, double wall_s)
{
    printf("%-4s  %-58s  %4.1f s%s%s\n", v->ok ? "ok" : "BAD", v->sample->path,
           wall_s, v->ok && v->sample->expect == EXPECT_FAILS ? "" : "  ",
           v->ok && v->sample->expect == EXPECT_FAILS ? "" : v->message);
    fflush(stdout);
}

static void ended(struct job *job, void *self)
{
    struct verdict *v = job->tag;
    judge(v, job);
    print_row(v, job->wall_s);
}

// Grades all samples; returns how many of the n were not as they must be.
static size_t grade_all(const struct course *c, const struct arguments *a,
                        size_t *n)
{
    struct verdict *verdicts = calloc(c->nsamples + 1, sizeof *verdicts);
    struct job *jobs = calloc(c->nsamples + 1, sizeof *jobs);
    size_t bad = 0;
    *n = 0;
    if (!verdicts || !jobs)
        abort();
    for (size_t i = 0; i < c->nsamples; i++) {
        struct verdict *v = &verdicts[*n];
        // rungs are classed by the model; on a GPU their speed is a result
        bool wanted = c->samples[i].expect != EXPECT_RUNG ||
                      strcmp(a->target, "virtual") == 0;
        if (!wanted || (a->only && !strstr(c->samples[i].path, a->only)))
            continue;
        *v = (struct verdict){.sample = &c->samples[i], .arguments = a};
        make_job(&jobs[(*n)++], v);
    }
    jobs_run(jobs, *n, a->width, ended, NULL);
    for (size_t i = 0; i < *n; i++) {
        bad += !verdicts[i].ok;
        free_job(&jobs[i]);
    }
    if (bad)
        printf("\nNot as they must be:\n");
    for (size_t i = 0; i < *n; i++)
        if (!verdicts[i].ok)
            printf("  %s\n      %s\n", verdicts[i].sample->path,
                   verdicts[i].message);
    free(verdicts);
    free(jobs);
    return bad;
}

int main(int argc, char **argv)
{
    struct arguments a = {.target = "virtual", .width = 2,
                          .grade = "build/bin/grade"};
    struct argp argp = {options, parse, args_doc, doc, 0, 0, 0};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, 0, &a);
    struct course course;
    size_t graded = 0, bad = 0;
    course_read(&course, a.lab);
    if (course.nfaults)
        printf("%s", course.faults.data);
    if ((mkdir("build", 0777) < 0 && errno != EEXIST) ||
        (mkdir(WORK, 0777) < 0 && errno != EEXIST)) {
        fprintf(stderr, "%s: %s\n", WORK, strerror(errno));
        return 2;
    }
    if (!a.files)
        bad = grade_all(&course, &a, &graded);
    unsigned faults = course.nfaults;
    printf("check-course: %zu labs, %u faults in the files, %zu of %zu "
           "submissions graded as they must be\n",
           course.nslugs, faults, graded - bad, graded);
    course_free(&course);
    return faults || bad ? 1 : 0;
}
