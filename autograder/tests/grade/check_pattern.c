// Comparisons, and what wrong elements have in common.
#include "../test.h"

#include <string.h>

#include "grade/running.h"

enum { N = 1024 };
static float expected[N], actual[N];
static char said[256];

static void setup(void)
{
    for (int i = 0; i < N; i++)
        expected[i] = actual[i] = (float)(i * 7919 % 1009) + 1.5f;
}

static const char *describe(size_t n)
{
    pattern_describe(ELEMENT_F32, actual, expected, n, EXACT, said, sizeof said);
    return said;
}

START_TEST(test_nothing_to_say_when_right)
{
    ck_assert_str_eq(describe(N), "");
}
END_TEST

START_TEST(test_from_an_index_on)
{
    memset(actual + 256, 0xff, (N - 256) * sizeof *actual);
    ck_assert_str_eq(describe(N), "every element from index 256 on: never written");
}
END_TEST

START_TEST(test_every_nth)
{
    for (int i = 31; i < N; i += 32)
        actual[i] += 7;
    ck_assert_str_eq(describe(N), "every 32nd element, from index 31 on");
}
END_TEST

START_TEST(test_part_of_every_block)
{
    for (int i = 0; i < N; i++)
        if (i % 128 >= 96)
            actual[i] = NAN;
    ck_assert_str_eq(describe(N), "elements 96 to 127 of every 128: NaN");
}
END_TEST

START_TEST(test_all_zero)
{
    memset(actual, 0, sizeof actual);
    ck_assert_str_eq(describe(N),
                     "every element: zero: never written, or written with nothing");
}
END_TEST

START_TEST(test_off_by_one)
{
    memcpy(actual, expected + 1, (N - 1) * sizeof *actual);
    ck_assert_str_eq(describe(N - 1), "every element: off by one: holds its "
                                      "right neighbour's value");
    memcpy(actual + 1, expected, (N - 1) * sizeof *actual);
    actual[0] = expected[0];
    ck_assert_str_eq(describe(N), "every element from index 1 on: off by one: "
                                  "holds its left neighbour's value");
}
END_TEST

START_TEST(test_reversed_answer)
{
    for (int i = 0; i < N; i++)
        actual[i] = expected[N - 1 - i];
    describe(N);
    ck_assert_ptr_nonnull(strstr(said, "in reverse order"));
}
END_TEST

START_TEST(test_only_the_last)
{
    actual[N - 1] = 0.5f;
    ck_assert_str_eq(describe(N), "only the last element");
}
END_TEST

START_TEST(test_scattered)
{
    actual[3] = actual[4] = actual[77] = actual[1000] = -9;
    ck_assert_str_eq(describe(N), "4 of 1024 elements, from index 3 to 1000");
}
END_TEST

// ---- when an element is right ---------------------------------------------------

static const struct {
    double actual, expected, absolute, relative;
    bool right;
} elements[] = {
    {1, 1, 0, 0, true},          {1.01, 1, 0, 0.02, true},
    {1.03, 1, 0, 0.02, false},   {NAN, 1, 1e30, 1e30, false},
    {INFINITY, 1, 1e30, 1, false}, {-INFINITY, 1, INFINITY, 1, false},
    {NAN, NAN, 0, 0, true},      {1, NAN, 0, 0, false},
    {INFINITY, INFINITY, 0, 0, true}, {-INFINITY, INFINITY, 1, 1, false},
    {0, 1e-9, 0, 1e-3, false},   {0, 1e-9, 1e-8, 0, true},
    {0.0, -0.0, 0, 0, true},     {1, 1, NAN, 0, false},
};

START_TEST(test_element_right)
{
    struct tolerance t = {elements[_i].absolute, elements[_i].relative};
    ck_assert_int_eq(element_right(elements[_i].actual, elements[_i].expected, t),
                     elements[_i].right);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("pattern");
    TCase *t = tcase_create("patterns");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, test_nothing_to_say_when_right);
    tcase_add_test(t, test_from_an_index_on);
    tcase_add_test(t, test_every_nth);
    tcase_add_test(t, test_part_of_every_block);
    tcase_add_test(t, test_all_zero);
    tcase_add_test(t, test_off_by_one);
    tcase_add_test(t, test_reversed_answer);
    tcase_add_test(t, test_only_the_last);
    tcase_add_test(t, test_scattered);
    tcase_add_loop_test(t, test_element_right, 0,
                        sizeof elements / sizeof elements[0]);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
