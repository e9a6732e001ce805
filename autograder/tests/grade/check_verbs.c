// check, counters, explain: what is printed of findings and launches.
#include "../test.h"

#include <string.h>

#include "fixture.h"

static struct finding finding;
static struct vgpu_launch launch[3];
static struct advice advice;

static char *print(void (*verb)(FILE *, const struct style *,
                                const struct grading *, const struct advice *))
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    struct style style = {.width = 80};
    verb(out, &style, fixture_grading(), &advice);
    fclose(out);
    return text;
}

static void setup(void)
{
    finding = (struct finding){
        .kind = FINDING_OUT_OF_BOUNDS, .kernel = "twice(float*)",
        .block = {3, 0, 0}, .thread = {33, 0, 0}, .file = "/scratch/small.cu",
        .line = 9, .count = 4, .message = "wrote b[300], 4 bytes past its end"};
    launch[0] = (struct vgpu_launch){
        .kernel = "twice(float*)", .grid = {1, 1, 1}, .block = {64, 1, 1}};
    launch[1] = (struct vgpu_launch){
        .kernel = "twice(float*)", .grid = {4, 1, 1}, .block = {100, 1, 1},
        .warp_instructions = 100, .lanes_lost_to_branches = 800,
        .access = {.load_requests = 16, .load_sectors = 400, .load_bytes = 1600,
                   .shared_load_wavefronts = 10, .shared_load_conflicts = 1},
        .modelled_ns = 2500, .limiter = "dram"};
    launch[2] = (struct vgpu_launch){
        .kernel = "other()", .grid = {1, 1, 1}, .block = {32, 1, 1},
        .limiter = "launch"};
    advice = (struct advice){&finding, launch, 1, 3};
}

static const char finding_text[] =
    "✗ out-of-bounds\n"
    "    wrote b[300], 4 bytes past its end\n"
    "    kernel twice(float*), block (3, 0, 0), thread (33, 0, 0)\n"
    "    at labs/99-small/small.cu:9\n"
    "    4 accesses like it\n"
    "\n"
    "1 finding.\n";

START_TEST(test_finding_in_full)
{
    char *text = print(print_findings);
    ck_assert_str_eq(text, finding_text);
    free(text);
}
END_TEST

START_TEST(test_fault_of_one_line_is_told_once)
{
    struct finding twice[3] = {finding, finding, finding};
    twice[1].thread[0] = 7;
    twice[2].line = 10;
    advice.findings = twice;
    advice.nfindings = 3;
    char *text = print(print_findings);
    ck_assert_ptr_null(strstr(text, "thread (7, 0, 0)"));
    ck_assert_ptr_nonnull(strstr(text, "small.cu:10\n"));
    ck_assert_ptr_nonnull(strstr(text, "\n2 findings.\n"));
    free(text);
}
END_TEST

START_TEST(test_no_finding_says_so)
{
    advice.nfindings = 0;
    char *text = print(print_findings);
    ck_assert_str_eq(text, "The checker found nothing wrong in 3 launches.\n");
    free(text);
}
END_TEST

START_TEST(test_counters_of_the_largest_launch)
{
    char *text = print(print_counters);
    ck_assert_ptr_nonnull(strstr(text, "twice(float*), grid 4x1x1, block 100x1x1"));
    ck_assert_ptr_null(strstr(text, "block 64x1x1"));
    ck_assert_ptr_nonnull(strstr(text, "16 requests, 400 sectors, 12.5 % of"));
    ck_assert_ptr_nonnull(strstr(text, "2.50 us modelled for NVIDIA H200, "
                                       "limited by dram"));
    ck_assert_ptr_nonnull(strstr(text, "each of 2 kernels, of 3 launches in all"));
    free(text);
}
END_TEST

START_TEST(test_explains_the_largest_cost_first)
{
    char *text = print(print_explanation);
    char *sectors = strstr(text, "1. twice(float*)");
    char *lanes = strstr(text, "2. twice(float*)");
    ck_assert_ptr_nonnull(sectors);
    ck_assert_ptr_nonnull(lanes);
    ck_assert_ptr_nonnull(strstr(sectors, "400 sectors moved where 50 hold what"));
    ck_assert_ptr_nonnull(strstr(lanes, "800 of 3200 lanes idle"));
    ck_assert_ptr_nonnull(strstr(text, "3. twice(float*)"));
    ck_assert_ptr_null(strstr(text, "4. "));
    free(text);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("verbs");
    TCase *t = tcase_create("advice");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_test(t, test_finding_in_full);
    tcase_add_test(t, test_fault_of_one_line_is_told_once);
    tcase_add_test(t, test_no_finding_says_so);
    tcase_add_test(t, test_counters_of_the_largest_launch);
    tcase_add_test(t, test_explains_the_largest_cost_first);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
