// Whole kernels: vector sums, loops, divergence, guards.
#include <string.h>

#include "support/kernel.h"
#include "tests/test.h"

START_TEST(test_every_thread_writes_its_index)
{
    struct kernel *k = kernel_of_body("mov.u32 %r1, %ctaid.x;\n"
                                      "mov.u32 %r2, %ntid.x;\n"
                                      "mad.lo.u32 %r3, %r1, %r2, %t;\n"
                                      "mad.wide.u32 %rd1, %r3, 4, %out;\n"
                                      "st.global.u32 [%rd1], %r3;\n"
                                      "ret;");
    ck_assert_int_eq(kernel_run(k, 5, 100), LAUNCH_OK);
    for (uint32_t n = 0; n < 500; n++)
        ck_assert_uint_eq(kernel_out(k)[n], n);
    ck_assert_uint_eq(kernel_out(k)[500], 0);
    kernel_free(k);
}
END_TEST

START_TEST(test_reconverges_after_if_else)
{
    struct kernel *k = kernel_of_body(
        "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "@%p1 bra EVEN;\nmov.u32 %r2, 100;\nbra.uni DONE;\n"
        "EVEN:\nmov.u32 %r2, 200;\nDONE:\n"
        "activemask.b32 %r3;\nadd.u32 %r2, %r2, %t;\n"
        "st.global.u32 [%to], %r2;\nst.global.u32 [%to+128], %r3;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(kernel_out(k)[t], (t & 1 ? 100 : 200) + t);
        ck_assert_uint_eq(kernel_out(k)[32 + t], 0xffffffff);
    }
    ck_assert_uint_eq(k->report.divergent_branches, 1);
    kernel_free(k);
}
END_TEST

START_TEST(test_reconverges_after_loop_of_different_lengths)
{
    struct kernel *k = kernel_of_body(
        "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nLOOP:\n"
        "add.u32 %r2, %r2, %r1;\nadd.u32 %r1, %r1, 1;\n"
        "setp.le.u32 %p1, %r1, %t;\n@%p1 bra LOOP;\n"
        "activemask.b32 %r3;\nst.global.u32 [%to], %r2;\n"
        "st.global.u32 [%to+128], %r3;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(kernel_out(k)[t], t * (t + 1) / 2);
        ck_assert_uint_eq(kernel_out(k)[32 + t], 0xffffffff);
    }
    kernel_free(k);
}
END_TEST

START_TEST(test_guard_changes_only_its_lanes)
{
    struct kernel *k = kernel_of_body(
        "mov.u32 %r2, 5;\nsetp.lt.u32 %p1, %t, 10;\n"
        "@%p1 add.u32 %r2, %r2, %t;\n@!%p1 mov.u32 %r2, 77;\n"
        "@%p1 st.global.u32 [%to+256], %r2;\nst.global.u32 [%to], %r2;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(kernel_out(k)[t], t < 10 ? 5 + t : 77);
        ck_assert_uint_eq(kernel_out(k)[64 + t], t < 10 ? 5 + t : 0);
    }
    kernel_free(k);
}
END_TEST

// Blocks follow one another in the same rows: only their index changes.
START_TEST(test_blocks_of_one_thread_know_their_index)
{
    struct kernel *k = kernel_of_body(
        "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ctaid.y;\n"
        "mov.u32 %r3, %ctaid.z;\nmov.u32 %r4, %nctaid.x;\n"
        "mov.u32 %r5, %nctaid.y;\nmad.lo.u32 %r6, %r3, %r5, %r2;\n"
        "mad.lo.u32 %r6, %r6, %r4, %r1;\nmad.lo.u32 %r7, %r3, 100, %r2;\n"
        "mad.lo.u32 %r7, %r7, 100, %r1;\nmad.wide.u32 %rd1, %r6, 4, %out;\n"
        "st.global.u32 [%rd1], %r7;\nret;");
    k->launch.grid[1] = 4;
    k->launch.grid[2] = 5;
    ck_assert_int_eq(kernel_run(k, 3, 1), LAUNCH_OK);
    for (uint32_t n = 0; n < 60; n++)
        ck_assert_uint_eq(kernel_out(k)[n],
                          n / 12 * 10000 + n / 3 % 4 * 100 + n % 3);
    kernel_free(k);
}
END_TEST

START_TEST(test_parameter_is_loaded_in_lanes_that_are_on)
{
    struct kernel *k = kernel_of_body(
        "mov.u64 %rd1, 7;\nmov.u32 %r1, 8;\nmov.u32 %r2, 9;\n"
        "setp.lt.u32 %p1, %t, 10;\n@%p1 ld.param.u64 %rd1, [p_out];\n"
        "@%p1 ld.param.u32 %r1, [p_out+4];\n@%p1 ld.param.s8 %r2, [p_out+5];\n"
        "shr.u64 %rd2, %rd1, 32;\ncvt.u32.u64 %r3, %rd2;\n"
        "cvt.u32.u64 %r4, %rd1;\nst.global.u32 [%to], %r3;\n"
        "st.global.u32 [%to+128], %r4;\nst.global.u32 [%to+256], %r1;\n"
        "st.global.u32 [%to+384], %r2;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    const uint32_t *out = kernel_out(k), high = (uint32_t)(k->out >> 32);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(out[t], t < 10 ? high : 0);
        ck_assert_uint_eq(out[32 + t], t < 10 ? (uint32_t)k->out : 7);
        ck_assert_uint_eq(out[64 + t], t < 10 ? high : 8);
        ck_assert_uint_eq(out[96 + t],
                          t < 10 ? (uint32_t)(int8_t)(high >> 8) : 9);
    }
    kernel_free(k);
}
END_TEST

// One lane's access takes a way of its own; it is the lane that is on.
START_TEST(test_lone_lane_loads_and_stores)
{
    struct kernel *k = kernel_of_body(
        "mov.u32 %r1, 1;\nsetp.eq.u32 %p1, %t, 19;\n"
        "st.global.u32 [%to], %t;\n@%p1 ld.global.u32 %r1, [%to];\n"
        "@%p1 st.global.u32 [%to+128], %r1;\n"
        "st.global.u32 [%to+256], %r1;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(kernel_out(k)[32 + t], t == 19 ? 19 : 0);
        ck_assert_uint_eq(kernel_out(k)[64 + t], t == 19 ? 19 : 1);
    }
    kernel_free(k);
}
END_TEST

// One instruction, lanes in two mappings by turns.
START_TEST(test_loads_from_two_mappings_at_once)
{
    struct kernel *k = kernel_of_body(
        "and.b32 %r1, %t, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
        "ld.global.u64 %rd5, [%in];\nmov.u64 %rd1, %in;\n"
        "@%p1 mov.u64 %rd1, %rd5;\nmov.u32 %r3, 3;\n"
        "ld.global.u32 %r2, [%rd1+8];\nst.global.u32 [%to], %r2;\nret;");
    uint64_t far = memory_alloc(k->memory, 0, 4 << 20, ALLOC_DEVICE, NULL);
    memcpy(kernel_in(k), &far, sizeof far);
    kernel_in(k)[2] = 5;
    *(uint32_t *)(uintptr_t)(far + 8) = 6;
    ck_assert_int_eq(kernel_run(k, 2, 64), LAUNCH_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t & 1 ? 5 : 6);
    kernel_free(k);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("exec/warp");
    TCase *c = tcase_create("kernels");
    tcase_add_test(c, test_every_thread_writes_its_index);
    tcase_add_test(c, test_reconverges_after_if_else);
    tcase_add_test(c, test_reconverges_after_loop_of_different_lengths);
    tcase_add_test(c, test_guard_changes_only_its_lanes);
    tcase_add_test(c, test_blocks_of_one_thread_know_their_index);
    tcase_add_test(c, test_parameter_is_loaded_in_lanes_that_are_on);
    tcase_add_test(c, test_lone_lane_loads_and_stores);
    tcase_add_test(c, test_loads_from_two_mappings_at_once);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
