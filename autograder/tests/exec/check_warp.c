// Whole kernels: vector sums, loops, divergence, guards.
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

static Suite *suite(void)
{
    Suite *s = suite_create("exec/warp");
    TCase *c = tcase_create("kernels");
    tcase_add_test(c, test_every_thread_writes_its_index);
    tcase_add_test(c, test_reconverges_after_if_else);
    tcase_add_test(c, test_reconverges_after_loop_of_different_lengths);
    tcase_add_test(c, test_guard_changes_only_its_lanes);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
