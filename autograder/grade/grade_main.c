// grade: one lab's grade, or what the virtual GPU says of a submission.
//
//   grade lab NN [options]               judge, score, report
//   grade check|counters|explain NN      the virtual GPU's advice
//   grade VERB ...                       runs grade-VERB beside this program
//
// Exit: 0 full marks, 1 graded below full, 2 usage, 3 could not be graded.
#include "grade.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

enum { EXIT_FULL, EXIT_BELOW, EXIT_USAGE, EXIT_NOT_GRADED };

// ---- a progress line, on a terminal alone --------------------------------------

static void show_progress(void *self, const struct manifest_test *test)
{
    fprintf(stderr, "\r\033[K  %s", test ? test->name : "");
    fflush(stderr);
}

static void clear_progress(const struct command *c)
{
    if (c->progress)
        fprintf(stderr, "\r\033[K");
}

// ---- from a path to a grading --------------------------------------------------------

// What a run needs and what is freed after it.
struct run {
    struct command *command;
    char lab_folder[PATH_MAX], folder[PATH_MAX], baseline[PATH_MAX];
    char checks[PATH_MAX], object[PATH_MAX + 16];
    struct submission submission;
    struct grading grading;
    struct manifest *manifest;
    struct advice advice;
};

static enum build_status not_graded(struct grading *g, const char *why)
{
    g->status = NOT_GRADED;
    snprintf(g->reason, sizeof g->reason, "%s", why ? why : "out of memory");
    return BUILD_IMPOSSIBLE;
}

static enum build_status compile_error(struct grading *g, char *text, bool refused)
{
    g->status = COMPILE_ERROR;
    g->compiler = text;
    g->refused = refused;
    return BUILD_FAILED;
}

static enum build_status build_submission(struct run *r,
                                          const struct build_options *o)
{
    struct grading *g = &r->grading;
    const struct manifest *m = r->manifest;
    char message[GRADE_MESSAGE], dependencies[PATH_MAX + 16], *text;
    enum build_status status = build_object(o, r->folder, m->submit,
                                            m->submit_count, "submission.so",
                                            &text);
    if (status == BUILD_FAILED)
        return compile_error(g, text, false);
    if (status == BUILD_IMPOSSIBLE)
        not_graded(g, text);
    free(text);
    if (status != BUILD_OK)
        return status;
    snprintf(r->object, sizeof r->object, "%s/submission.so", r->folder);
    snprintf(dependencies, sizeof dependencies, "%s/dependencies", r->folder);
    policy_check(m, dependencies, r->object, message);
    return message[0] ? compile_error(g, strdup(message), true) : BUILD_OK;
}

static enum build_status build_all(struct run *r)
{
    struct grading *g = &r->grading;
    struct build_options o = {
        .cuda_home = r->command->cuda_home, .isolation = g->isolation,
        .capability = g->target.capability, .wall_s = r->manifest->policy.compile_s,
        .memory_bytes = UINT64_C(4) << 30};
    char *text, message[GRADE_MESSAGE];
    if (intake(r->manifest, r->lab_folder, r->command->submission, r->folder,
               &r->submission, message))
        return compile_error(g, strdup(message), true);
    snprintf(r->submission.shown, sizeof r->submission.shown, "%s",
             r->command->shown);
    enum build_status status = build_submission(r, &o);
    if (status != BUILD_OK)
        return status;
    status = build_baseline(&o, r->lab_folder, r->baseline, sizeof r->baseline,
                            &text);
    if (status != BUILD_OK) {
        snprintf(message, sizeof message, "the lab's baseline.cu: %.900s",
                 text ? text : "");
        not_graded(g, message);
    }
    free(text);
    return status;
}

// Checks come from the virtual GPU on both targets; that a part of it is not
// built is no submission's fault.
static bool all_built(struct run *r)
{
    const char *const parts[] = {"build/bin/worker", "build/bin/keeper",
                                 "build/bin/vgpu-server",
                                 "build/vgpu/lib/libcudart.so.13", r->checks};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (access(parts[i], R_OK)) {
            snprintf(r->grading.reason, sizeof r->grading.reason,
                     "%s is not built; make programs builds it", parts[i]);
            r->grading.status = NOT_GRADED;
            return false;
        }
    return true;
}

static void grade(struct run *r)
{
    struct grading *g = &r->grading;
    struct command *c = r->command;
    if (!all_built(r) || build_all(r) != BUILD_OK)
        return;
    struct judge_options o = {
        .manifest = r->manifest, .target = &g->target, .isolation = g->isolation,
        .submission = r->object, .baseline = r->baseline, .checks = r->checks,
        .seed = c->seed, .progress = c->progress ? show_progress : NULL};
    g->records = calloc(r->manifest->tests_count, sizeof *g->records);
    for (unsigned i = 0; g->records && i < r->manifest->tests_count; i++)
        g->records[i].test = &r->manifest->tests[i];
    int failed = !g->records ? -1
                 : c->verb == VERB_LAB ? judge(&o, g)
                                       : judge_advice(&o, g, &r->advice);
    clear_progress(c);
    if (failed) {
        g->status = NOT_GRADED;
        free(g->records);
        g->records = NULL;
    } else if (c->verb == VERB_LAB) {
        score(g);
    }
}

// ---- telling -----------------------------------------------------------------------------

static int write_files(const struct command *c, const struct grading *g)
{
    const char *failed = NULL;
    if (c->json && json_write(c->json, g))
        failed = c->json;
    else if (c->junit && junit_write(c->junit, g))
        failed = c->junit;
    if (failed)
        fprintf(stderr, "grade: %s could not be written: %s\n", failed,
                strerror(errno));
    return failed ? -1 : 0;
}

static int tell(struct run *r)
{
    struct command *c = r->command;
    struct grading *g = &r->grading;
    // Results on standard output come alone.
    bool taken = (c->json && !strcmp(c->json, "-")) ||
                 (c->junit && !strcmp(c->junit, "-"));
    FILE *out = taken ? stderr : stdout;
    struct style style = style_for(out, c->plain, c->quiet);
    if (c->verb == VERB_LAB || g->status != GRADED)
        report(out, &style, g);
    else if (c->verb == VERB_CHECK)
        print_findings(out, &style, g, &r->advice);
    else if (c->verb == VERB_COUNTERS)
        print_counters(out, &style, g, &r->advice);
    else
        print_explanation(out, &style, g, &r->advice);
    if (write_files(c, g) || g->status == NOT_GRADED)
        return EXIT_NOT_GRADED;
    if (c->verb == VERB_LAB || g->status != GRADED)
        return g->status == GRADED && g->score >= 100 ? EXIT_FULL : EXIT_BELOW;
    return c->verb == VERB_CHECK && r->advice.nfindings ? EXIT_BELOW : EXIT_FULL;
}

static int run_command(struct command *c)
{
    static struct run r; // large, and there is one
    char message[GRADE_MESSAGE], path[PATH_MAX + 16];
    r.command = c;
    snprintf(r.lab_folder, sizeof r.lab_folder, "labs/%s", c->lab);
    snprintf(r.checks, sizeof r.checks, "build/labs/%s/check.so", c->lab);
    snprintf(path, sizeof path, "%s/lab.yaml", r.lab_folder);
    if (!(r.manifest = manifest_load(path, c->lab, message))) {
        fprintf(stderr, "%s\n", message);
        return EXIT_NOT_GRADED;
    }
    r.grading.manifest = r.manifest;
    r.grading.submission = &r.submission;
    r.grading.isolation = c->isolation_given ? c->isolation : isolation_probe();
    snprintf(r.submission.shown, sizeof r.submission.shown, "%s", c->shown);
    // Advice comes from the virtual GPU on every machine.
    if (target_choose(c->verb == VERB_LAB ? c->target : "virtual", c->gpu,
                      &r.grading.target, message)) {
        fprintf(stderr, "grade: %s\n", message);
        return EXIT_USAGE;
    }
    if (work_folder(r.folder, sizeof r.folder)) {
        fprintf(stderr, "grade: no folder could be made under build/: %s\n",
                strerror(errno));
        return EXIT_NOT_GRADED;
    }
    grade(&r);
    int status = tell(&r);
    work_folder_remove(r.folder);
    advice_free(&r.advice);
    free(r.grading.records);
    free(r.grading.compiler);
    manifest_free(r.manifest);
    return status;
}

int main(int argc, char **argv)
{
    struct command command = {0};
    int status = command_parse(&command, argc, argv);
    return status >= 0 ? status : run_command(&command);
}
