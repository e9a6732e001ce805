// Runs the tests of a lab's check.so, each with the session its kind asks
// for, and turns what Check says and what the record says into one verdict.
//
// NOFORK mode: isolation comes from the worker. Each test is a case of its
// own, so that it can be run alone, in the order that the rules need.
#include "running.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- one run of one body --------------------------------------------------------------

struct schedule_run {
    enum schedule order;
    const char *name;
};
static const struct schedule_run schedules[] = {
    {SCHEDULE_ASCENDING, NULL},
    {SCHEDULE_DESCENDING, "with blocks and warps in descending order"},
    {SCHEDULE_RANDOM, "with blocks and warps in random order"},
    {SCHEDULE_RANDOM, "with blocks and warps in another random order"},
};
enum { NSCHEDULES = sizeof schedules / sizeof schedules[0] };

static const struct schedule_run *schedule_now;

// Runs inside Check, so that a machine failure has somewhere to return to.
static void open_session(void)
{
    struct vgpu *vgpu = session_vgpu(session_of(SUBMISSION));
    if (running.purpose != FOR_CHECKS || !vgpu)
        return;
    if (vgpu_set_schedule(vgpu, schedule_now->order, random_bits()))
        machine_failed("the virtual GPU does not answer");
}

static void run_body(const TTest *body)
{
    struct record *r = running.record;
    Suite *suite = suite_create(running.test->name);
    TCase *tcase = tcase_create(running.test->name);
    tcase_add_checked_fixture(tcase, open_session, NULL);
    tcase_add_test(tcase, body);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);

    TestResult **results = srunner_results(runner);
    bool stopped = srunner_ntests_failed(runner) > 0;
    // A plain ck_assert of the check file: no verdict of ours ended the test.
    if (stopped && (r->status == TEST_NOT_GRADED || r->status == TEST_PASSED ||
                    r->status == TEST_PARTIAL)) {
        r->status = TEST_FAILED;
        r->share = 0;
        text_clean(r->message, sizeof r->message, tr_msg(results[0]), true);
    } else if (r->status == TEST_NOT_GRADED) {
        r->status = TEST_PASSED;
    }
    free(results);
    srunner_free(runner);
}

// ---- findings of the checker ------------------------------------------------------------

// True when the checker found something: the test has failed.
static bool collect_findings(void)
{
    struct session *session = running.sessions[FOR_CHECKS][SUBMISSION];
    struct finding *found = NULL;
    unsigned n = 0;
    if (!session || !session_vgpu(session) ||
        vgpu_findings(session_vgpu(session), &found, &n) || !n) {
        free(found);
        return false;
    }
    record_finding(running.record, &found[0]);
    if (n > 1)
        show("and %u more: make check shows all", n - 1);
    free(found);
    return true;
}

static void run_schedules(const TTest *body, struct record *r)
{
    for (unsigned i = 0; i < NSCHEDULES; i++) {
        schedule_now = &schedules[i];
        running.schedule = schedules[i].name;
        running_begin(running.test, r);
        run_body(body);
        bool found = !running.machine && collect_findings();
        running_end();
        if (found || r->status != TEST_PASSED)
            break;
    }
    running.schedule = NULL;
}

static enum purpose purpose_of(enum test_kind kind)
{
    return kind == KIND_CHECK     ? FOR_CHECKS
           : kind == KIND_COUNTER ? FOR_COUNTERS
           : kind == KIND_SPEED   ? FOR_SPEED
                                  : FOR_VALUES;
}

// A failure without a line of its own points at where its task is written.
static void point_at_task(struct record *r, const struct submission *s,
                          const struct manifest *m)
{
    if (r->status != TEST_FAILED && r->status != TEST_PARTIAL)
        return;
    for (unsigned i = 0; i < s->nmarks && !r->line; i++)
        if (s->marks[i].task == r->test->task) {
            snprintf(r->file, sizeof r->file, "%s", m->submit[s->marks[i].file]);
            r->line = s->marks[i].line;
        }
}

static void run_test(const TTest *body, const struct manifest_test *test,
                     struct record *r)
{
    double start = now_s();
    running.test = test;
    running.purpose = purpose_of(test->kind);
    if (test->kind == KIND_CHECK) {
        run_schedules(body, r);
    } else {
        running_begin(test, r);
        run_body(body);
        running_end();
    }
    r->seconds = now_s() - start;
}

// ---- all tests -----------------------------------------------------------------------------

struct suite {
    const TTest *tests[LAB_MAX_TESTS];
    unsigned n;
};

static const TTest *body_of(const struct suite *suite, const char *name)
{
    for (unsigned i = 0; i < suite->n; i++)
        if (!strcmp(suite->tests[i]->name, name))
            return suite->tests[i];
    return NULL;
}

static void grade_test(const struct suite *suite, struct grading *g, unsigned i)
{
    const struct manifest_test *test = &g->manifest->tests[i];
    struct record *r = &g->records[i];
    const TTest *body = body_of(suite, test->name);
    if (!body) {
        snprintf(r->message, sizeof r->message,
                 "not graded: the lab's check file has no test of this name");
        return;
    }
    if (!score_may_run(g, i, r))
        return;
    if (running.options->progress)
        running.options->progress(running.options->self, test);
    run_test(body, test, r);
    point_at_task(r, g->submission, g->manifest);
}

static bool is_main(const struct manifest *m, const struct manifest_test *test)
{
    const struct manifest_task *task = manifest_task(m, test->task);
    return task && !strcmp(task->main, test->name);
}

// Main tests first, then by kind: what others depend on is known before them.
static void grade_all(const struct suite *suite, struct grading *g)
{
    const struct manifest *m = g->manifest;
    for (unsigned i = 0; i < m->tests_count; i++)
        if (is_main(m, &m->tests[i]))
            grade_test(suite, g, i);
    for (int kind = KIND_VALUE; kind <= KIND_SPEED; kind++)
        for (unsigned i = 0; i < m->tests_count; i++)
            if (m->tests[i].kind == (enum test_kind)kind &&
                !is_main(m, &m->tests[i]))
                grade_test(suite, g, i);
}

static bool is_listed(const struct manifest *m, const char *name)
{
    for (unsigned i = 0; i < m->tests_count; i++)
        if (!strcmp(m->tests[i].name, name))
            return true;
    return false;
}

static int load_suite(const char *path, const struct manifest *m,
                      struct suite *suite, void **library, char *reason)
{
    unsigned (*list)(const TTest **);
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!*library) {
        snprintf(reason, GRADE_MESSAGE, "the lab's checks do not load: %s",
                 dlerror());
        return -1;
    }
    *(void **)&list = dlsym(*library, "lab_tests");
    suite->n = list ? list(suite->tests) : 0;
    if (!suite->n || suite->n > LAB_MAX_TESTS) {
        snprintf(reason, GRADE_MESSAGE,
                 "%s: LAB_SUITE names no tests, or more than %d", path,
                 LAB_MAX_TESTS);
        return -1;
    }
    for (unsigned i = 0; i < suite->n; i++)
        if (!is_listed(m, suite->tests[i]->name)) {
            snprintf(reason, GRADE_MESSAGE, "the check file has the test %s, "
                     "which lab.yaml does not list", suite->tests[i]->name);
            return -1;
        }
    return 0;
}

// Where no main test could be run, nothing was graded: say why, once.
static int nothing_ran(struct grading *g)
{
    const char *reason = NULL;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        const struct record *r = &g->records[i];
        if (r->status == TEST_PASSED || r->status == TEST_PARTIAL ||
            r->status == TEST_FAILED)
            return 0;
        if (r->status == TEST_NOT_MEASURED && !reason)
            reason = r->message;
    }
    snprintf(g->reason, sizeof g->reason, "%s",
             reason ? reason : "no test of this lab can run here");
    return -1;
}

// Environment variables of Check could drop tests in silence.
static void clear_switches(void)
{
    static const char *const switches[] = {
        "CK_RUN_SUITE", "CK_RUN_CASE", "CK_FORK", "CK_VERBOSITY",
        "CK_INCLUDE_TAGS", "CK_EXCLUDE_TAGS", "CK_DEFAULT_TIMEOUT",
        "CK_TIMEOUT_MULTIPLIER", "CK_LOG_FILE_NAME", "CK_XML_LOG_FILE_NAME",
        "CK_TAP_LOG_FILE_NAME", "CK_MAX_MSG_SIZE"};
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        unsetenv(switches[i]);
}

static int start(const struct judge_options *o, struct grading *g,
                 struct suite *suite, void **library)
{
    clear_switches();
    memset(&running, 0, sizeof running);
    running.options = o;
    running.capability = o->target->capability;
    running.random = o->seed;
    *library = NULL;
    if (!o->seed && getrandom(&running.random, sizeof running.random, 0) < 0) {
        snprintf(g->reason, sizeof g->reason, "no entropy for fresh inputs");
        return -1;
    }
    return load_suite(o->checks, o->manifest, suite, library, g->reason);
}

static void stop(void *library, struct grading *g)
{
    for (int p = 0; p < PURPOSES; p++)
        sessions_close(p);
    g->copies = running.copies;
    if (running.gpu_name[0])
        snprintf(g->target.name, sizeof g->target.name, "%s", running.gpu_name);
    if (library)
        dlclose(library);
}

int judge(const struct judge_options *o, struct grading *g)
{
    struct suite suite;
    void *library;
    int failed = start(o, g, &suite, &library);
    if (!failed) {
        grade_all(&suite, g);
        failed = nothing_ran(g);
    }
    stop(library, g);
    return failed;
}

int judge_advice(const struct judge_options *o, struct grading *g,
                 struct advice *advice)
{
    struct suite suite;
    void *library;
    int failed = start(o, g, &suite, &library);
    running.advice = advice;
    for (unsigned i = 0; !failed && i < g->manifest->tests_count; i++) {
        const struct manifest_test *test = &g->manifest->tests[i];
        const TTest *body = body_of(&suite, test->name);
        if (test->kind == KIND_SPEED || !(test->on & ON_VIRTUAL) || !body)
            continue;
        running.test = test;
        running.purpose = FOR_CHECKS;
        schedule_now = &schedules[0];
        running_begin(test, &g->records[i]);
        run_body(body);
        running_end();
    }
    if (!failed)
        failed = nothing_ran(g);
    stop(library, g);
    return failed;
}
