// When work starts and ends on modelled streams and engines.
#include <vgpu/server/timeline.h>

#include "../test.h"

static struct timeline t;
static struct engines engines;

static void setup(void)
{
    engines = (struct engines){0};
    ck_assert(timeline_init(&t, 2, 100));
}

static void teardown(void) { timeline_free(&t); }

static struct stream *new_stream(bool blocking)
{
    int id = timeline_add(&t, 0, blocking);
    ck_assert_int_ge(id, TIMELINE_MAX_DEVICES);
    return timeline_stream(&t, (uint32_t)id);
}

START_TEST(test_work_of_one_stream_runs_in_turn)
{
    struct stream *s = new_stream(true);
    timeline_kernel(&t, s, &engines, 10, 0.1);
    timeline_kernel(&t, s, &engines, 10, 0.1);
    ck_assert_double_eq(s->end, 120);
    ck_assert_double_eq(t.host, 100);
}
END_TEST

START_TEST(test_small_kernels_of_two_streams_overlap)
{
    uint32_t a = (uint32_t)timeline_add(&t, 0, true);
    uint32_t b = (uint32_t)timeline_add(&t, 0, true);
    timeline_kernel(&t, timeline_stream(&t, a), &engines, 10, 0.5);
    timeline_kernel(&t, timeline_stream(&t, b), &engines, 10, 0.5);
    ck_assert_double_eq(timeline_stream(&t, b)->end, 115);
}
END_TEST

START_TEST(test_kernels_that_fill_the_device_take_turns)
{
    uint32_t a = (uint32_t)timeline_add(&t, 0, true);
    uint32_t b = (uint32_t)timeline_add(&t, 0, true);
    timeline_kernel(&t, timeline_stream(&t, a), &engines, 10, 1);
    timeline_kernel(&t, timeline_stream(&t, b), &engines, 10, 1);
    ck_assert_double_eq(timeline_stream(&t, b)->end, 120);
}
END_TEST

START_TEST(test_copies_of_both_directions_overlap)
{
    uint32_t a = (uint32_t)timeline_add(&t, 0, true);
    uint32_t b = (uint32_t)timeline_add(&t, 0, true);
    timeline_copy(&t, timeline_stream(&t, a), &engines, COPY_H2D, 10);
    timeline_copy(&t, timeline_stream(&t, b), &engines, COPY_D2H, 10);
    ck_assert_double_eq(timeline_stream(&t, b)->end, 110);
    timeline_copy(&t, timeline_stream(&t, b), &engines, COPY_H2D, 10);
    ck_assert_double_eq(timeline_stream(&t, b)->end, 120);
}
END_TEST

START_TEST(test_legacy_stream_waits_for_blocking_streams_only)
{
    timeline_copy(&t, new_stream(true), &engines, COPY_H2D, 10);
    timeline_copy(&t, new_stream(false), &engines, COPY_D2H, 50);
    ck_assert_double_eq(timeline_ready(&t, timeline_stream(&t, 0)), 110);
    // The other device has a default stream of its own.
    ck_assert_double_eq(timeline_ready(&t, timeline_stream(&t, 1)), 100);
}
END_TEST

START_TEST(test_blocking_streams_wait_for_the_legacy_stream)
{
    timeline_copy(&t, timeline_stream(&t, 0), &engines, COPY_H2D, 10);
    ck_assert_double_eq(timeline_ready(&t, new_stream(true)), 110);
    ck_assert_double_eq(timeline_ready(&t, new_stream(false)), 100);
}
END_TEST

START_TEST(test_waiting_moves_the_host_clock)
{
    struct stream *s = new_stream(false);
    timeline_kernel(&t, s, &engines, 30, 1);
    timeline_wait(&t, 0, s);
    ck_assert_double_eq(t.host, 130);
    timeline_wait(&t, 1, NULL); // nothing there: no time passes
    ck_assert_double_eq(t.host, 130);
    ck_assert_double_eq(timeline_end(&t), 130);
}
END_TEST

START_TEST(test_streams_end_at_their_limit)
{
    int id = 0, last = 0;
    while ((id = timeline_add(&t, 0, true)) >= 0)
        last = id;
    ck_assert_int_eq(last, TIMELINE_MAX_STREAMS - 1);
    ck_assert_ptr_null(timeline_stream(&t, TIMELINE_MAX_STREAMS));
    // A stream that has ended leaves its number to the next.
    timeline_stream(&t, 20)->live = false;
    ck_assert_int_eq(timeline_add(&t, 0, true), 20);
}
END_TEST

START_TEST(test_devices_that_are_not_there_have_no_stream)
{
    ck_assert_ptr_nonnull(timeline_stream(&t, 1));
    ck_assert_ptr_null(timeline_stream(&t, 2));
}
END_TEST

static Suite *timeline_suite(void)
{
    Suite *suite = suite_create("timeline");
    TCase *tc = tcase_create("streams");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_work_of_one_stream_runs_in_turn);
    tcase_add_test(tc, test_small_kernels_of_two_streams_overlap);
    tcase_add_test(tc, test_kernels_that_fill_the_device_take_turns);
    tcase_add_test(tc, test_copies_of_both_directions_overlap);
    tcase_add_test(tc, test_legacy_stream_waits_for_blocking_streams_only);
    tcase_add_test(tc, test_blocking_streams_wait_for_the_legacy_stream);
    tcase_add_test(tc, test_waiting_moves_the_host_clock);
    tcase_add_test(tc, test_streams_end_at_their_limit);
    tcase_add_test(tc, test_devices_that_are_not_there_have_no_stream);
    suite_add_tcase(suite, tc);
    return suite;
}

TEST_MAIN(timeline_suite)
