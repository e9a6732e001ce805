// The line that a person is told of, for code inlined from headers.
#include "../test.h"
#include "vgpu/memory/locate.h"

enum { OWN = 1, OTHER };

// An instruction of `header`, inlined into line 7 of the program's own file.
static uint32_t line_told(const char *header)
{
    const char *files[] = {"?", "/home/ada/race.cu", header};
    struct ptx_loc locs[] = {
        {0}, {.file = OWN, .line = 7}, {.file = OTHER, .line = 373,
                                        .inlined_at = 1}};
    struct module m = {.files = files, .nfiles = 3, .locs = locs, .nlocs = 3};
    return finding_loc(&m, 2)->line;
}

static const char *const toolkit[] = {
    "/usr/local/cuda/bin/../targets/x86_64-linux/include/sm_30_intrinsics.hpp",
    "/usr/local/cuda-13.0/include/cooperative_groups.h",
    "/usr/local/cuda/include/crt/device_functions.hpp",
    "/home/ada/venv/lib/python3/site-packages/nvidia/cu13/include/cuda_fp16.hpp",
    "/usr/include/c++/12/bits/stl_algobase.h",
};

START_TEST(test_names_caller_of_toolkit_header)
{
    ck_assert_uint_eq(line_told(toolkit[_i]), 7);
}
END_TEST

static const char *const own[] = {
    "/home/ada/course/labs/include/tile.h",
    "/home/ada/cuda-from-the-warp-up/include/tile.h",
    "/home/ada/cuda/lab.cu",
    "tile.h",
};

START_TEST(test_names_line_in_own_header)
{
    ck_assert_uint_eq(line_told(own[_i]), 373);
}
END_TEST

START_TEST(test_names_outermost_line_when_all_are_toolkits)
{
    const char *files[] = {"?", "/usr/local/cuda/include/a.h"};
    struct ptx_loc locs[] = {{0}, {.file = 1, .line = 5},
                             {.file = 1, .line = 6, .inlined_at = 1}};
    struct module m = {.files = files, .nfiles = 2, .locs = locs, .nlocs = 3};
    ck_assert_uint_eq(finding_loc(&m, 2)->line, 5);
    ck_assert_ptr_null(finding_loc(&m, 0));
    ck_assert_ptr_null(finding_loc(&m, 3));
}
END_TEST

START_TEST(test_ends_at_circle_of_positions)
{
    const char *files[] = {"?", "/usr/local/cuda/include/a.h"};
    struct ptx_loc locs[] = {{0}, {.file = 1, .line = 5, .inlined_at = 1}};
    struct module m = {.files = files, .nfiles = 2, .locs = locs, .nlocs = 2};
    ck_assert_uint_eq(finding_loc(&m, 1)->line, 5);
}
END_TEST

static Suite *locate_suite(void)
{
    Suite *suite = suite_create("locate");
    TCase *tcase = tcase_create("lines");
    tcase_add_loop_test(tcase, test_names_caller_of_toolkit_header, 0,
                        sizeof toolkit / sizeof *toolkit);
    tcase_add_loop_test(tcase, test_names_line_in_own_header, 0,
                        sizeof own / sizeof *own);
    tcase_add_test(tcase, test_names_outermost_line_when_all_are_toolkits);
    tcase_add_test(tcase, test_ends_at_circle_of_positions);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(locate_suite)
