// The judge with a double of the session: every way a test can end.
#include "../test.h"

#include <signal.h>
#include <string.h>

#include "double.h"
#include "fixture.h"

#define CHECKS "build/tests/grade/small_lab.so"

// ---- submissions -------------------------------------------------------------------

static float *input_of(const struct call *c)
{
    return double_pointer(c->args[0]);
}

static float *output_of(const struct call *c)
{
    return double_pointer(c->args[1]);
}

static void right(const struct call *c, struct outcome *o)
{
    float *a = input_of(c), *b = output_of(c);
    for (int64_t i = 0; i < c->args[2].i; i++)
        b[i] = 2 * a[i];
}

static void zeros(const struct call *c, struct outcome *o)
{
    memset(output_of(c), 0, (size_t)c->args[2].i * sizeof(float));
}

static void nans(const struct call *c, struct outcome *o)
{
    for (int64_t i = 0; i < c->args[2].i; i++)
        output_of(c)[i] = NAN;
}

static void nothing(const struct call *c, struct outcome *o)
{
}

static void permuted(const struct call *c, struct outcome *o)
{
    int64_t n = c->args[2].i;
    for (int64_t i = 0; i < n; i++)
        output_of(c)[i] = 2 * input_of(c)[(i + 7) % n];
}

static void one_too_many(const struct call *c, struct outcome *o)
{
    right(c, o);
    output_of(c)[c->args[2].i] = 0;
}

static void changes_input(const struct call *c, struct outcome *o)
{
    right(c, o);
    input_of(c)[5] = 9;
}

static void crashes(const struct call *c, struct outcome *o)
{
    o->status = CALL_SIGNAL;
    o->code = SIGSEGV;
}

static void hangs(const struct call *c, struct outcome *o)
{
    o->status = CALL_TIMEOUT;
}

static void leaves(const struct call *c, struct outcome *o)
{
    o->status = CALL_EXITED;
    o->code = 1;
    snprintf(o->output, sizeof o->output, "hello\nx.cu:7: cudaMalloc failed\n");
}

static void leaves_error(const struct call *c, struct outcome *o)
{
    right(c, o);
    o->cuda_error = 9;
    snprintf(o->cuda_error_name, sizeof o->cuda_error_name,
             "cudaErrorInvalidConfiguration");
}

static void lacks_an_instruction(const struct call *c, struct outcome *o)
{
    o->cuda_error = 801;
    snprintf(double_finding.message, sizeof double_finding.message,
             "the virtual GPU does not execute texture");
    snprintf(double_finding.kernel, sizeof double_finding.kernel, "twice");
    double_finding.kind = FINDING_UNSUPPORTED;
    double_finding.fatal = true;
    double_nfindings = 1;
}

static void faults(const struct call *c, struct outcome *o)
{
    lacks_an_instruction(c, o);
    o->cuda_error = 700;
    snprintf(double_finding.message, sizeof double_finding.message,
             "wrote far outside");
    double_finding.kind = FINDING_OUT_OF_BOUNDS;
}

// The error of a machine that lacks something, made up.
static void blames_the_machine(const struct call *c, struct outcome *o)
{
    o->cuda_error = 801;
    snprintf(o->cuda_error_name, sizeof o->cuda_error_name,
             "cudaErrorNotSupported");
}

static void faults_and_blames(const struct call *c, struct outcome *o)
{
    faults(c, o);
    blames_the_machine(c, o);
}

// Right in value tests; in check tests outside, and blaming the machine.
static void blames_when_checked(const struct call *c, struct outcome *o)
{
    right(c, o);
    if (c->args[2].i == 300)
        faults_and_blames(c, o);
}

static void machine_breaks(const struct call *c, struct outcome *o)
{
    o->status = CALL_MACHINE;
    snprintf(o->text, sizeof o->text, "the device fell off the bus");
}

static void plus_one(const struct call *c, struct outcome *o)
{
    o->i = c->args[0].i + 1;
    o->cuda_error = c->args[0].i < 0;
}

static void plus_one_in_silence(const struct call *c, struct outcome *o)
{
    o->i = c->args[0].i + 1;
}

static void minus_one(const struct call *c, struct outcome *o)
{
    o->i = c->args[0].i - 1;
}

// ---- running ----------------------------------------------------------------------------

static struct double_function functions[3], baseline[2] = {{"twice", right}};

static struct grading *judged(void (*twice)(const struct call *, struct outcome *),
                              void (*one)(const struct call *, struct outcome *))
{
    struct grading *g = fixture_grading();
    struct judge_options o = {.manifest = g->manifest, .target = &g->target,
                              .submission = "submission", .baseline = "baseline",
                              .checks = CHECKS};
    functions[0] = (struct double_function){"twice", twice};
    functions[1] = (struct double_function){"plus_one", one};
    double_submission = functions;
    double_baseline = baseline;
    double_ratio = (struct ratio){.median = 1.2, .lo = 1.1, .hi = 1.3,
                                  .modelled = true};
    double_launch = (struct vgpu_launch){
        .kernel = "twice_kernel(float)",
        .access = {.load_sectors = 30, .load_bytes = 900}};
    double_schedules = 0;
    for (unsigned i = 0; i < g->manifest->tests_count; i++)
        g->records[i].status = TEST_NOT_GRADED;
    if (judge(&o, g))
        g->status = NOT_GRADED;
    score(g);
    return g;
}

static const char *message_of(struct grading *g, const char *test)
{
    return fixture_record(g, test)->message;
}

static int status_of(struct grading *g, const char *test)
{
    return (int)fixture_record(g, test)->status;
}

START_TEST(test_right_earns_all_that_can_be_judged)
{
    struct grading *g = judged(right, plus_one);
    ck_assert_int_eq(g->status, GRADED);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "doubles_nothing"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "stays_inside"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "is_fast"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "adds_one"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "tells_errors"), TEST_PASSED);
    ck_assert_uint_eq(double_schedules, 4);
}
END_TEST

START_TEST(test_too_large_for_the_device_is_skipped)
{
    struct grading *g = judged(right, plus_one);
    struct record *r = fixture_record(g, "doubles_too_much");
    ck_assert_int_eq(r->status, TEST_SKIPPED);
    ck_assert(!r->counts);
    ck_assert_str_eq(r->message, "needs 2.0 GiB more memory than there is for a");
}
END_TEST

START_TEST(test_without_a_body_is_not_graded)
{
    struct grading *g = judged(right, plus_one);
    ck_assert_int_eq(status_of(g, "nobody_wrote_it"), TEST_NOT_GRADED);
    ck_assert(fixture_record(g, "nobody_wrote_it")->counts);
    ck_assert_uint_eq(g->nnot_measured, 1);
}
END_TEST

START_TEST(test_counter_points_by_share)
{
    struct grading *g = judged(right, plus_one);
    struct record *r = fixture_record(g, "uses_sectors");
    ck_assert_int_eq(r->status, TEST_PARTIAL);
    ck_assert_double_eq_tol(r->share, (900.0 / 960 - 0.5) / 0.5, 1e-9);
}
END_TEST

static const struct {
    void (*twice)(const struct call *, struct outcome *);
    const char *message;
} mistakes[] = {
    {zeros, "b[0] is 0, expected "},
    {nans, "b[0] is NaN, expected "},
    {nothing, "b[0] is NaN, expected "},
    {permuted, "b[0] is "},
    {one_too_many, "something was written 0 bytes past the end of b"},
    {changes_input, "the input a was changed, first at byte 20"},
    {crashes, "twice did not return: Segmentation fault"},
    {hangs, "twice did not return within 30 s"},
    {leaves, "twice ended the program with status 1 instead of returning: "
             "x.cu:7: cudaMalloc failed"},
    {leaves_error, "twice left the CUDA error cudaErrorInvalidConfiguration"},
    {blames_the_machine, "twice left the CUDA error cudaErrorNotSupported"},
    {faults_and_blames, "wrote far outside"},
};

START_TEST(test_mistake_fails_and_others_wait)
{
    struct grading *g = judged(mistakes[_i].twice, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_FAILED);
    ck_assert_msg(!strncmp(message_of(g, "doubles"), mistakes[_i].message,
                           strlen(mistakes[_i].message)),
                  "%s", message_of(g, "doubles"));
    ck_assert_str_eq(fixture_record(g, "doubles")->given, "n = 512");
    ck_assert_int_eq(status_of(g, "is_fast"), TEST_SKIPPED);
    ck_assert(fixture_record(g, "is_fast")->waits);
    ck_assert_int_eq(status_of(g, "stays_inside"), TEST_SKIPPED);
    ck_assert_int_eq(status_of(g, "adds_one"), TEST_PASSED);
    ck_assert_double_eq(fixture_record(g, "doubles")->score, 0);
}
END_TEST

START_TEST(test_pattern_is_kept)
{
    struct grading *g = judged(nothing, plus_one);
    ck_assert_str_eq(fixture_record(g, "doubles")->pattern,
                     "every element: never written");
}
END_TEST

START_TEST(test_plain_assertion_of_check_fails)
{
    struct grading *g = judged(right, minus_one);
    ck_assert_int_eq(status_of(g, "adds_one"), TEST_FAILED);
    ck_assert_ptr_nonnull(strstr(message_of(g, "adds_one"), "got == 40"));
}
END_TEST

START_TEST(test_missing_function_is_told)
{
    struct grading *g = judged(right, plus_one);
    functions[1].symbol = NULL;
    struct judge_options o = {.manifest = g->manifest, .target = &g->target,
                              .submission = "submission", .baseline = "baseline",
                              .checks = CHECKS};
    memset(g->records, 0, g->manifest->tests_count * sizeof *g->records);
    ck_assert_int_eq(judge(&o, g), 0);
    score(g);
    ck_assert_ptr_nonnull(strstr(message_of(g, "adds_one"),
                                 "there is no function plus_one"));
}
END_TEST

START_TEST(test_finding_fails_a_check)
{
    snprintf(double_finding.message, sizeof double_finding.message,
             "thread 33 wrote \033[31mb[300]");
    snprintf(double_finding.file, sizeof double_finding.file, "/x/small.cu");
    double_finding.line = 12;
    double_nfindings = 2;
    struct grading *g = judged(right, plus_one_in_silence);
    struct record *r = fixture_record(g, "stays_inside");
    ck_assert_int_eq(r->status, TEST_FAILED);
    ck_assert_str_eq(r->message, "thread 33 wrote ?[31mb[300]");
    ck_assert_str_eq(r->file, "small.cu");
    ck_assert_uint_eq(r->line, 12);
    ck_assert_uint_eq(double_schedules, 1);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_PASSED);
}
END_TEST

START_TEST(test_broken_machine_is_no_zero)
{
    struct grading *g = judged(machine_breaks, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_NOT_MEASURED);
    ck_assert_str_eq(message_of(g, "doubles"), "the device fell off the bus");
    ck_assert_int_eq(status_of(g, "is_fast"), TEST_NOT_MEASURED);
    ck_assert_int_eq(g->status, GRADED); // task 2 was graded all the same
}
END_TEST

START_TEST(test_what_the_virtual_gpu_lacks_is_no_mistake)
{
    struct grading *g = judged(lacks_an_instruction, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_NOT_MEASURED);
    ck_assert_str_eq(message_of(g, "doubles"),
                     "twice: the virtual GPU does not execute texture");
    g = judged(faults, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_FAILED);
    ck_assert_str_eq(message_of(g, "doubles"), "wrote far outside");
}
END_TEST

START_TEST(test_findings_are_not_hidden_by_blame)
{
    struct grading *g = judged(blames_when_checked, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_PASSED);
    ck_assert_int_eq(status_of(g, "stays_inside"), TEST_FAILED);
    ck_assert_str_eq(message_of(g, "stays_inside"), "wrote far outside");
}
END_TEST

START_TEST(test_nothing_opens_is_not_graded)
{
    double_open_fails = 1;
    struct grading *g = judged(right, plus_one);
    ck_assert_int_eq(g->status, NOT_GRADED);
    ck_assert_str_eq(g->reason, "the double was told to fail");
}
END_TEST

START_TEST(test_crash_opens_a_new_session)
{
    double_opened = 0;
    judged(right, plus_one);
    unsigned sound = double_opened;
    double_opened = 0;
    judged(crashes, plus_one);
    // fewer kinds ran, but the value session was opened twice
    ck_assert_uint_gt(sound, 2);
    ck_assert_uint_eq(double_opened, 2);
}
END_TEST

// ---- speed -----------------------------------------------------------------------------------

static int wrong_when_timed;

static void right_until_timed(const struct call *c, struct outcome *o)
{
    right(c, o);
    if (c->args[2].i == 1000 && wrong_when_timed)
        output_of(c)[3] += 1;
}

START_TEST(test_timed_answers_are_verified)
{
    struct grading *g = judged(right_until_timed, plus_one);
    ck_assert_int_eq(status_of(g, "is_fast"), TEST_PASSED);
    ck_assert_double_eq(fixture_record(g, "is_fast")->ratio, 1.2);
    wrong_when_timed = 1;
    g = judged(right_until_timed, plus_one);
    ck_assert_int_eq(status_of(g, "is_fast"), TEST_FAILED);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_PASSED);
}
END_TEST

START_TEST(test_no_marks_shows_and_takes_no_points)
{
    struct grading *g = fixture_grading();
    struct judge_options o = {.manifest = g->manifest, .target = &g->target,
                              .submission = "submission", .baseline = "baseline",
                              .checks = CHECKS};
    judged(right, plus_one);
    g->target.capability = 75;
    memset(g->records, 0, g->manifest->tests_count * sizeof *g->records);
    ck_assert_int_eq(judge(&o, g), 0);
    score(g);
    struct record *r = fixture_record(g, "is_fast");
    ck_assert_int_eq(r->status, TEST_SKIPPED);
    ck_assert(!r->counts);
    ck_assert_str_eq(r->message,
                     "twice against itself: 1.20, shown only: no marks for sm_75");
}
END_TEST

START_TEST(test_environment_of_check_drops_nothing)
{
    setenv("CK_RUN_CASE", "none", 1);
    setenv("CK_RUN_SUITE", "none", 1);
    struct grading *g = judged(zeros, plus_one);
    ck_assert_int_eq(status_of(g, "doubles"), TEST_FAILED);
}
END_TEST

START_TEST(test_unlisted_test_stops_the_run)
{
    struct grading *g = fixture_grading();
    struct judge_options o = {.manifest = g->manifest, .target = &g->target,
                              .submission = "submission", .baseline = "baseline",
                              .checks = CHECKS};
    g->manifest->tests[2].name[0] = 'D';
    ck_assert_int_eq(judge(&o, g), -1);
    ck_assert_str_eq(g->reason, "the check file has the test doubles_too_much, "
                                "which lab.yaml does not list");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("judge");
    TCase *t = tcase_create("verdicts");
    tcase_add_test(t, test_right_earns_all_that_can_be_judged);
    tcase_add_test(t, test_too_large_for_the_device_is_skipped);
    tcase_add_test(t, test_without_a_body_is_not_graded);
    tcase_add_test(t, test_counter_points_by_share);
    tcase_add_loop_test(t, test_mistake_fails_and_others_wait, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(t, test_pattern_is_kept);
    tcase_add_test(t, test_plain_assertion_of_check_fails);
    tcase_add_test(t, test_missing_function_is_told);
    tcase_add_test(t, test_finding_fails_a_check);
    tcase_add_test(t, test_broken_machine_is_no_zero);
    tcase_add_test(t, test_what_the_virtual_gpu_lacks_is_no_mistake);
    tcase_add_test(t, test_findings_are_not_hidden_by_blame);
    tcase_add_test(t, test_nothing_opens_is_not_graded);
    tcase_add_test(t, test_crash_opens_a_new_session);
    tcase_add_test(t, test_timed_answers_are_verified);
    tcase_add_test(t, test_no_marks_shows_and_takes_no_points);
    tcase_add_test(t, test_unlisted_test_stops_the_run);
    tcase_add_test(t, test_environment_of_check_drops_nothing);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
