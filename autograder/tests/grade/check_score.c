// The rules between tests, and the sum.
#include "../test.h"

#include <string.h>

#include "fixture.h"

static unsigned index_of(const struct grading *g, const char *test)
{
    unsigned i = 0;
    while (strcmp(g->manifest->tests[i].name, test))
        i++;
    return i;
}

static bool may_run(struct grading *g, const char *test, struct record *r)
{
    memset(r, 0, sizeof *r);
    return score_may_run(g, index_of(g, test), r);
}

START_TEST(test_all_passed_is_100)
{
    struct grading *g = fixture_grading();
    score(g);
    ck_assert_double_eq(g->score, 100);
}
END_TEST

START_TEST(test_partial_adds_its_share)
{
    struct grading *g = fixture_grading();
    fixture_record(g, "is_fast")->status = TEST_PARTIAL;
    fixture_record(g, "is_fast")->share = 0.25;
    score(g);
    ck_assert_double_eq(g->score, 85);
}
END_TEST

START_TEST(test_ruled_out_leaves_the_total)
{
    struct grading *g = fixture_grading();
    fixture_record(g, "on_gpus")->status = TEST_SKIPPED;
    fixture_fail(g, "adds_one", "");
    score(g);
    ck_assert_double_eq_tol(g->score, 100.0 * 80 / 90, 1e-9);
}
END_TEST

// What a submission might bring about must not raise its score.
START_TEST(test_waiting_and_not_measured_stay_in_the_total)
{
    struct grading *g = fixture_grading();
    fixture_record(g, "is_fast")->status = TEST_SKIPPED;
    fixture_record(g, "is_fast")->waits = true;
    fixture_record(g, "adds_one")->status = TEST_NOT_MEASURED;
    fixture_record(g, "on_gpus")->status = TEST_NOT_GRADED;
    score(g);
    ck_assert_double_eq(g->score, 60);
    ck_assert_uint_eq(g->nnot_measured, 2);
}
END_TEST

START_TEST(test_others_wait_for_the_main_test)
{
    struct grading *g = fixture_grading();
    struct record r;
    ck_assert(may_run(g, "stays_inside", &r));
    fixture_fail(g, "doubles", "");
    ck_assert(!may_run(g, "stays_inside", &r));
    ck_assert_int_eq(r.status, TEST_SKIPPED);
    ck_assert(r.waits);
    ck_assert_str_eq(r.message, "waits for doubles");
    ck_assert(!may_run(g, "doubles_nothing", &r));
    ck_assert(may_run(g, "doubles", &r));
    ck_assert(may_run(g, "adds_one", &r));
}
END_TEST

START_TEST(test_partial_main_test_is_not_enough)
{
    struct grading *g = fixture_grading();
    struct record r;
    fixture_record(g, "doubles")->status = TEST_PARTIAL;
    ck_assert(!may_run(g, "stays_inside", &r));
}
END_TEST

START_TEST(test_speed_waits_for_every_value_test)
{
    struct grading *g = fixture_grading();
    struct record r;
    fixture_fail(g, "doubles_nothing", "");
    ck_assert(may_run(g, "uses_sectors", &r));
    ck_assert(!may_run(g, "is_fast", &r));
    ck_assert(r.waits);
    fixture_record(g, "doubles_nothing")->status = TEST_SKIPPED; // no memory
    ck_assert(may_run(g, "is_fast", &r));
    fixture_fail(g, "stays_inside", ""); // a check test does not hold speed up
    ck_assert(may_run(g, "is_fast", &r));
}
END_TEST

START_TEST(test_other_target_is_ruled_out)
{
    struct grading *g = fixture_grading();
    struct record r;
    ck_assert(!may_run(g, "on_gpus", &r));
    ck_assert_int_eq(r.status, TEST_SKIPPED);
    ck_assert(!r.waits);
    g->target.kind = TARGET_GPU;
    ck_assert(may_run(g, "on_gpus", &r));
}
END_TEST

static const struct {
    double ratio, lo, hi, share;
} lines[] = {
    {0.4, 0.39, 0.41, 0},   {0.5, 0.5, 0.5, 0},     {0.75, 0.74, 0.76, 0.5},
    {1.0, 1.0, 1.0, 1},     {2.0, 1.9, 2.1, 1},     {0.98, 0.96, 1.01, 1},
    {0.49, 0.48, 0.51, 0},  {NAN, 0, 0, 0},         {0.9, 0.89, 0.99, 0.8},
};

START_TEST(test_speed_line)
{
    ck_assert_double_eq_tol(speed_share(lines[_i].ratio, lines[_i].lo,
                                        lines[_i].hi, 0.5, 1.0),
                            lines[_i].share, 1e-9);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("score");
    TCase *t = tcase_create("rules");
    tcase_add_test(t, test_all_passed_is_100);
    tcase_add_test(t, test_partial_adds_its_share);
    tcase_add_test(t, test_ruled_out_leaves_the_total);
    tcase_add_test(t, test_waiting_and_not_measured_stay_in_the_total);
    tcase_add_test(t, test_others_wait_for_the_main_test);
    tcase_add_test(t, test_partial_main_test_is_not_enough);
    tcase_add_test(t, test_speed_waits_for_every_value_test);
    tcase_add_test(t, test_other_target_is_ruled_out);
    tcase_add_loop_test(t, test_speed_line, 0, sizeof lines / sizeof lines[0]);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
