// The rules between tests, and the sum.
//
// A test counts unless this machine or lab.yaml rules it out (another target,
// too little memory, no marks for this class of GPU): its points then leave
// the total, and the score is scaled to 100. None of that is in a
// submission's hands; a test that could not be measured is, so its points
// stay in the total and the result says that they are open.
#include "grade.h"

#include <string.h>

const char *status_name(enum test_status status)
{
    static const char *const names[] = {
        [TEST_NOT_GRADED] = "not_graded", [TEST_PASSED] = "passed",
        [TEST_PARTIAL] = "partial",       [TEST_FAILED] = "failed",
        [TEST_SKIPPED] = "skipped",       [TEST_NOT_MEASURED] = "not_measured"};
    return names[status];
}

// Ruled out here, so that neither it nor what waits for it loses points.
static bool ruled_out(const struct record *r)
{
    return r->status == TEST_SKIPPED && !r->waits;
}

static bool on_this_target(const struct grading *g, const struct manifest_test *t)
{
    unsigned here = g->target.kind == TARGET_GPU ? ON_GPU : ON_VIRTUAL;
    // Checks and counters come from the virtual GPU on both targets.
    return t->kind == KIND_CHECK || t->kind == KIND_COUNTER || (t->on & here);
}

// The test of its task that keeps it from running, or NULL: the main test,
// and for speed every value test.
static const struct record *blocked_by(const struct grading *g,
                                       const struct manifest_test *test)
{
    const struct manifest_task *task = manifest_task(g->manifest, test->task);
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        const struct manifest_test *other = &g->manifest->tests[i];
        bool main = !strcmp(other->name, task->main);
        bool needed = other->task == test->task && other != test &&
                      (main || (test->kind == KIND_SPEED &&
                                other->kind == KIND_VALUE));
        if (needed && g->records[i].status != TEST_PASSED &&
            (main || !ruled_out(&g->records[i])))
            return &g->records[i];
    }
    return NULL;
}

bool score_may_run(const struct grading *g, unsigned index, struct record *r)
{
    const struct manifest_test *test = &g->manifest->tests[index];
    const struct manifest_task *task = manifest_task(g->manifest, test->task);
    if (!on_this_target(g, test)) {
        r->status = TEST_SKIPPED;
        snprintf(r->message, sizeof r->message, "runs on the %s only",
                 test->on == ON_GPU ? "gpu target" : "virtual target");
        return false;
    }
    if (!strcmp(task->main, test->name))
        return true;
    const struct record *blocker = blocked_by(g, test);
    if (!blocker)
        return true;
    r->waits = !ruled_out(blocker);
    r->status = blocker->status == TEST_NOT_MEASURED ? TEST_NOT_MEASURED
                                                     : TEST_SKIPPED;
    snprintf(r->message, sizeof r->message, "waits for %s", blocker->test->name);
    return false;
}

double speed_share(double ratio, double lo, double hi, double pass, double full)
{
    // An interval that straddles a mark is read to the learner's benefit.
    if (lo < full && full <= hi)
        ratio = full;
    else if (lo < pass && pass <= hi && ratio < pass)
        ratio = pass;
    double share = (ratio - pass) / (full - pass);
    return share > 0 ? share < 1 ? share : 1 : 0;
}

void score(struct grading *g)
{
    double earned = 0, possible = 0;
    g->nnot_measured = 0;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        struct record *r = &g->records[i];
        r->test = &g->manifest->tests[i];
        bool earns = r->status == TEST_PASSED || r->status == TEST_PARTIAL;
        r->counts = !ruled_out(r);
        r->score = earns ? r->share * r->test->points : 0;
        if (!r->counts)
            continue;
        earned += r->score;
        possible += r->test->points;
        g->nnot_measured += r->status == TEST_NOT_MEASURED ||
                            r->status == TEST_NOT_GRADED;
    }
    g->max_score = 100;
    g->score = possible > 0 ? 100 * earned / possible : 0;
}

const struct mark *record_hole(const struct grading *g, const struct record *r)
{
    const struct manifest_task *task = manifest_task(g->manifest, r->test->task);
    if (r->status != TEST_FAILED || strcmp(task->main, r->test->name))
        return NULL;
    for (unsigned i = 0; i < g->submission->nmarks; i++)
        if (g->submission->marks[i].task == r->test->task &&
            g->submission->marks[i].hole)
            return &g->submission->marks[i];
    return NULL;
}
