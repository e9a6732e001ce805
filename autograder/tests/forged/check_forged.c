// Right answers in forged time: submissions for lab 02 that compute slowly and
// try to make the modelled clock say otherwise. Graded end to end; none may
// reach the marks of a speed test by it.
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "../test.h"

static const struct {
    const char *name;
    double most; // the ratio that honest time can have at most
} cases[] = {
    {"prepare_ahead", 0.3},    // the work is done before the clock is read
    {"clock_gone", 0.3},       // the device server is kept busy till it dies
    {"streams_overlap", 1.05}, // four kernels beside each other share a memory
};

static json_t *grade(const char *name)
{
    char command[512], json[128];
    snprintf(json, sizeof json, "build/tests/forged/%s.json", name);
    remove(json);
    snprintf(command, sizeof command,
             "timeout 150 build/bin/grade lab 02 --target virtual --quiet "
             "--submission autograder/tests/forged/%s.cu --json %s >/dev/null",
             name, json);
    ck_assert_int_ne(system(command), -1);
    return json_load_file(json, 0, NULL);
}

START_TEST(test_forged_time_earns_nothing)
{
    json_t *result = grade(cases[_i].name), *test;
    size_t i, nspeed = 0;
    ck_assert_ptr_nonnull(result);
    json_array_foreach(json_object_get(result, "tests"), i, test) {
        if (strcmp(json_string_value(json_object_get(test, "kind")), "speed"))
            continue;
        nspeed++;
        double ratio = json_number_value(json_object_get(test, "ratio"));
        ck_assert_msg(ratio <= cases[_i].most, "%s: ratio %g", cases[_i].name,
                      ratio);
    }
    ck_assert_uint_eq(nspeed, 2);
    json_decref(result);
}
END_TEST

static Suite *forged_suite(void)
{
    Suite *suite = suite_create("forged");
    TCase *tcase = tcase_create("time");
    tcase_set_timeout(tcase, 300);
    tcase_add_loop_test(tcase, test_forged_time_earns_nothing, 0,
                        sizeof cases / sizeof cases[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(forged_suite)
