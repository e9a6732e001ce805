// lab.yaml: what is taken, and errors that name file and line.
#include "../test.h"

#include <stdio.h>
#include <string.h>

#include "grade/grade.h"
#include "tools/text.h"

#define SMALL "autograder/tests/grade/small_lab/lab.yaml"
#define MADE  "build/tests/grade/changed.yaml"

static char message[GRADE_MESSAGE];

// The small lab with `from` replaced by `to`, read back.
static struct manifest *changed(const char *from, const char *to)
{
    char *yaml = text_read(SMALL), *at = strstr(yaml, from);
    struct buf out = {0};
    ck_assert_ptr_nonnull(at);
    buf_add(&out, yaml, (size_t)(at - yaml));
    buf_puts(&out, to);
    buf_puts(&out, at + strlen(from));
    ck_assert_int_ge(text_write(MADE, out.data), 0);
    buf_free(&out);
    free(yaml);
    return manifest_load(MADE, "99-small", message);
}

START_TEST(test_reads_the_whole)
{
    struct manifest *m = manifest_load(SMALL, "99-small", message);
    ck_assert_msg(m != NULL, "%s", message);
    ck_assert_uint_eq(m->tests_count, 10);
    ck_assert_int_eq(m->tests[3].kind, KIND_CHECK);
    ck_assert_double_eq(m->tests[0].points, 20);
    ck_assert_uint_eq(m->tests[0].on, ON_GPU | ON_VIRTUAL);
    ck_assert_uint_eq(m->tests[9].on, ON_GPU);
    ck_assert_str_eq(manifest_task(m, 2)->title, "Add one");
    ck_assert_ptr_null(manifest_task(m, 3));
    ck_assert_double_eq(m->policy.compile_s, 60);
    ck_assert_uint_eq(m->devices, 1);
    manifest_free(m);
}
END_TEST

START_TEST(test_finds_thresholds_by_class)
{
    struct manifest *m = manifest_load(SMALL, "99-small", message);
    const struct manifest_class *c =
        manifest_thresholds(m, "is_fast", TARGET_VIRTUAL, 90);
    ck_assert_ptr_nonnull(c);
    ck_assert_double_eq(c->full, 1.0);
    ck_assert_ptr_null(manifest_thresholds(m, "is_fast", TARGET_GPU, 90));
    ck_assert_ptr_null(manifest_thresholds(m, "is_fast", TARGET_VIRTUAL, 89));
    manifest_free(m);
}
END_TEST

// What is changed, and how the message ends.
static const struct {
    const char *from, *to, *says;
} faults[] = {
    {"title: A small", "titel: A small", ":2: Unexpected key: titel"},
    {"points: 20, what: doubles 5", "what: doubles 5",
     ":14: Missing required mapping field: points"},
    {"kind: speed", "kind: sped", ":19: Invalid ENUM value: sped"},
    {"points: 20", "points: many", ":14: Invalid FLOAT value: many"},
    {"points: 20", "points: 21", ":13: the tests' points add up to 101, not to 100"},
    {"points: 20", "points: nan", ":14: test doubles has nan points; 0 to 100 can be given"},
    {"name: doubles_nothing", "name: doubles", ":14: test doubles is listed twice"},
    {"main: doubles", "main: triples",
     ":8: main test triples of task 1 is not under tests:"},
    {"main: doubles", "main: stays_inside",
     ":8: main test stays_inside of task 1 must be a value test of that task"},
    {"task: 2, points: 10", "task: 3, points: 10",
     ":20: test adds_one belongs to task 3, which is not under tasks:"},
    {"test: is_fast", "test: adds_one", ":25: adds_one is not a speed test under tests:"},
    {"pass: 0.5", "pass: 1.5",
     ":25: marks of is_fast for sm_90 must rise: pass, full, stretch"},
    {"[small.cu]", "[../small.cu]", ":3: '../small.cu' is no plain file name"},
    {"[small.cu]", "[small.c]", ":3: submit: names no .cu file"},
    {"lab: 99-small", "lab: 98-small",
     ":1: says lab 98-small, but the folder is 99-small"},
};

START_TEST(test_says_file_and_line)
{
    ck_assert_ptr_null(changed(faults[_i].from, faults[_i].to));
    ck_assert_int_eq(strncmp(message, MADE, strlen(MADE)), 0);
    ck_assert_str_eq(message + strlen(MADE), faults[_i].says);
}
END_TEST

START_TEST(test_says_that_it_is_not_there)
{
    ck_assert_ptr_null(manifest_load("build/none.yaml", "99-small", message));
    ck_assert_str_eq(message, "build/none.yaml: No such file or directory");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("manifest");
    TCase *t = tcase_create("lab.yaml");
    tcase_add_test(t, test_reads_the_whole);
    tcase_add_test(t, test_finds_thresholds_by_class);
    tcase_add_loop_test(t, test_says_file_and_line, 0,
                        sizeof faults / sizeof faults[0]);
    tcase_add_test(t, test_says_that_it_is_not_there);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
