// vgpu-run as a person uses it: options, exit status, counters.
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../test.h"

enum { TEXT = 8192 };

static char said[TEXT]; // on stderr

// Runs vgpu-run with arguments for the shell; its exit status.
static int run(const char *arguments)
{
    char command[1024];
    snprintf(command, sizeof command,
             "build/bin/vgpu-run %s 2>build/tests/runtime/said >/dev/null",
             arguments);
    int status = system(command);
    FILE *f = fopen("build/tests/runtime/said", "r");
    ck_assert_ptr_nonnull(f);
    said[fread(said, 1, sizeof said - 1, f)] = 0;
    fclose(f);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(test_status_of_the_program_is_passed_on)
{
    ck_assert_int_eq(run("sh -c 'exit 5'"), 5);
    ck_assert_int_eq(run("--check sh -c 'exit 0'"), 0);
    ck_assert_int_eq(run("sh -c 'kill -9 $$'"), 137);
}
END_TEST

START_TEST(test_options_behind_the_program_are_its_own)
{
    ck_assert_int_eq(run("sh -c 'test \"$1\" = --check' sh --check"), 0);
}
END_TEST

START_TEST(test_wrong_usage_says_what_is_right)
{
    ck_assert_int_eq(run("--gpu h2000 true"), 2);
    ck_assert_ptr_nonnull(strstr(said, "h200"));
    ck_assert_int_eq(run("--devices 9 true"), 2);
    ck_assert_ptr_nonnull(strstr(said, "1 to 8"));
    setenv("VGPU_DEVICES", "many", 1);
    ck_assert_int_eq(run("true"), 2);
    unsetenv("VGPU_DEVICES");
    ck_assert_ptr_nonnull(strstr(said, "VGPU_DEVICES"));
    ck_assert_int_eq(run(""), 2);
    ck_assert_ptr_nonnull(strstr(said, "vgpu-run ./a.out"));
    ck_assert_int_eq(run("build/nothing-here"), 127);
    ck_assert_ptr_nonnull(strstr(said, "build/nothing-here"));
}
END_TEST

START_TEST(test_environment_sets_the_number_of_devices)
{
    setenv("VGPU_DEVICES", "4", 1);
    ck_assert_int_eq(run("--check build/tests/programs/multi_device"), 86);
    unsetenv("VGPU_DEVICES");
    ck_assert_ptr_nonnull(strstr(said, "on device 3"));
}
END_TEST

START_TEST(test_trace_goes_to_stderr)
{
    setenv("VGPU_TRACE", "launch", 1);
    ck_assert_int_eq(run("build/tests/programs/vector_add"), 0);
    unsetenv("VGPU_TRACE");
    ck_assert_ptr_nonnull(strstr(said, "vgpu launch: "));
    ck_assert_ptr_nonnull(strstr(said, "<<<(3907,1,1), (256,1,1), 0,"));
    ck_assert_ptr_null(strstr(said, "vgpu mem: "));
}
END_TEST

static double metric(const json_t *launch, const char *name)
{
    const json_t *metrics = json_object_get(launch, "metrics");
    const json_t *value = json_object_get(metrics, name);
    ck_assert_msg(json_is_number(value), "no metric %s", name);
    return json_number_value(value);
}

// 1000003 threads that load two floats and store one.
START_TEST(test_counters_are_those_of_the_program)
{
    enum { WARPS = 31251 }; // 3907 blocks of 8, less those past the end
    const char *path = "build/tests/runtime/counters.json";
    ck_assert_int_eq(run("--counters build/tests/runtime/counters.json "
                         "build/tests/programs/vector_add"), 0);
    json_t *all = json_load_file(path, 0, NULL);
    ck_assert_ptr_nonnull(all);
    ck_assert_str_eq(json_string_value(json_object_get(all, "gpu")), "h200");
    const json_t *launches = json_object_get(all, "launches");
    ck_assert_uint_eq(json_array_size(launches), 1);
    const json_t *l = json_array_get(launches, 0);
    ck_assert_str_eq(json_string_value(json_object_get(l, "kernel")),
                     "add(float const*, float const*, float*, int)");
    ck_assert_int_eq(json_integer_value(json_array_get(
                         json_object_get(l, "grid"), 0)), 3907);
    ck_assert_double_eq(
        metric(l, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
        2 * WARPS);
    ck_assert_double_eq(
        metric(l, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"),
        (1000003 * 4 + 31) / 32);
    ck_assert_double_eq(metric(l, "global_load_bytes"), 8.0 * 1000003);
    ck_assert_double_gt(json_number_value(json_object_get(l, "modelled_ns")),
                        1000);
    ck_assert(json_is_string(json_object_get(l, "limiter")));
    json_decref(all);
}
END_TEST

START_TEST(test_explain_names_kernel_and_limit)
{
    ck_assert_int_eq(run("--explain build/tests/programs/vector_add"), 0);
    ck_assert_ptr_nonnull(strstr(said, "add(float const*"));
    ck_assert_ptr_nonnull(strstr(said, "limited by"));
    ck_assert_ptr_nonnull(strstr(said, "modelled for"));
}
END_TEST

static Suite *run_suite(void)
{
    Suite *suite = suite_create("vgpu-run");
    TCase *tc = tcase_create("command");
    tcase_add_test(tc, test_status_of_the_program_is_passed_on);
    tcase_add_test(tc, test_options_behind_the_program_are_its_own);
    tcase_add_test(tc, test_wrong_usage_says_what_is_right);
    tcase_add_test(tc, test_environment_sets_the_number_of_devices);
    tcase_add_test(tc, test_trace_goes_to_stderr);
    tcase_add_test(tc, test_counters_are_those_of_the_program);
    tcase_add_test(tc, test_explain_names_kernel_and_limit);
    suite_add_tcase(suite, tc);
    return suite;
}

TEST_MAIN(run_suite)
