// Calls of device functions, printf, assert, malloc and free.
#include <string.h>

#include "support/kernel.h"
#include "tests/test.h"

// Module scope: what nvcc declares for device printf and the like.
#define EXTERNALS                                                              \
    ".version 8.0\n.target sm_90\n.address_size 64\n"                          \
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"   \
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c,"  \
    " .param .b64 d, .param .b64 e);\n"                                        \
    ".extern .func (.param .b64 r) malloc(.param .b64 a);\n"                   \
    ".extern .func free(.param .b64 a);\n"                                     \
    ".extern .func nowhere();\n"
#define KERNEL                                                                 \
    ".visible .entry test(.param .u64 p_out, .param .u64 p_in)\n{\n"           \
    ".reg .b32 %r<16>, %t;\n.reg .b64 %rd<16>, %out, %to;\n"                   \
    ".reg .pred %p<4>;\n"                                                      \
    "ld.param.u64 %out, [p_out];\nmov.u32 %t, %tid.x;\n"                       \
    "mad.wide.u32 %to, %t, 4, %out;\n"
#define CALL_PRINTF                                                            \
    "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 r;\n"                      \
    "st.param.b64 [a], %rd2;\nst.param.b64 [b], %rd1;\n"                       \
    "call.uni (r), vprintf, (a, b);\nld.param.b32 %r9, [r];\n}\n"

static const char print_kernel[] = EXTERNALS
    // "%d %5.2f|%-6s|%c %lld %x %%\n"
    ".global .align 1 .b8 format[32] = {37,100,32,37,53,46,50,102,124,37,45,"
    "54,115,124,37,99,32,37,108,108,100,32,37,120,32,37,37,10,0};\n"
    ".global .align 1 .b8 word[4] = {97,98,99,0};\n" KERNEL
    ".local .align 8 .b8 buffer[48];\n"
    "setp.gt.u32 %p1, %t, 1;\n@%p1 bra END;\n"
    "mov.u64 %rd3, buffer;\ncvta.local.u64 %rd1, %rd3;\n"
    "mov.u64 %rd4, format;\ncvta.global.u64 %rd2, %rd4;\n"
    "sub.u32 %r1, 0, %t;\nst.local.u32 [%rd3], %r1;\n"
    "st.local.f64 [%rd3+8], 0d400921FB54442D18;\n"
    "mov.u64 %rd5, word;\nst.local.u64 [%rd3+16], %rd5;\n"
    "mov.u32 %r2, 88;\nst.local.u32 [%rd3+24], %r2;\n"
    "mov.u64 %rd6, -5000000000;\nst.local.u64 [%rd3+32], %rd6;\n"
    "mov.u32 %r3, 255;\nst.local.u32 [%rd3+40], %r3;\n" CALL_PRINTF
    "st.global.u32 [%to], %r9;\nEND:\nret;\n}\n";

START_TEST(test_printf_formats_as_cuda_does)
{
    struct kernel *k = kernel_load(print_kernel, "test");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    ck_assert_str_eq(k->printed, "0  3.14|abc   |X -5000000000 ff %\n"
                                 "-1  3.14|abc   |X -5000000000 ff %\n");
    ck_assert_uint_eq(kernel_out(k)[0], 6);
    ck_assert_uint_eq(kernel_out(k)[1], 6);
    kernel_free(k);
}
END_TEST

static const char bad_print[] = EXTERNALS KERNEL
    "mov.u64 %rd1, 16;\nmov.u64 %rd2, 32;\n" CALL_PRINTF "ret;\n}\n";

START_TEST(test_printf_of_a_wild_pointer_faults)
{
    struct kernel *k = kernel_load(bad_print, "test");
    ck_assert_int_eq(kernel_run(k, 1, 1), LAUNCH_ILLEGAL_ADDRESS);
    ck_assert_ptr_nonnull(strstr(k->report.fault.message, "printf"));
    kernel_free(k);
}
END_TEST

static const char assert_kernel[] = EXTERNALS
    ".global .align 1 .b8 text[6] = {110,32,62,32,48,0};\n"
    ".global .align 1 .b8 file[5] = {97,46,99,117,0};\n"
    ".global .align 1 .b8 name[4] = {107,40,41,0};\n" KERNEL
    "setp.lt.u32 %p1, %t, 34;\n@%p1 bra END;\n"
    "mov.u64 %rd1, text;\nmov.u64 %rd2, file;\nmov.u64 %rd3, name;\n"
    "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n"
    ".param .b64 e;\nst.param.b64 [a], %rd1;\nst.param.b64 [b], %rd2;\n"
    "st.param.b32 [c], 12;\nst.param.b64 [d], %rd3;\nst.param.b64 [e], 1;\n"
    "call.uni __assertfail, (a, b, c, d, e);\n}\nEND:\nret;\n}\n";

START_TEST(test_assert_prints_as_cuda_does_and_ends_the_launch)
{
    struct kernel *k = kernel_load(assert_kernel, "test");
    ck_assert_int_eq(kernel_run(k, 1, 35), LAUNCH_ASSERT);
    ck_assert_str_eq(k->printed, "a.cu:12: k(): block: [0,0,0], thread: "
                                 "[34,0,0] Assertion `n > 0` failed.\n");
    ck_assert_int_eq(k->report.fault.kind, FINDING_ASSERT);
    ck_assert_uint_eq(k->report.fault.thread[0], 34);
    kernel_free(k);
}
END_TEST

#define MALLOC(REG, SIZE)                                                      \
    "{\n.param .b64 a;\n.param .b64 r;\nst.param.b64 [a], " SIZE ";\n"         \
    "call.uni (r), malloc, (a);\nld.param.b64 " REG ", [r];\n}\n"
#define FREE(REG)                                                              \
    "{\n.param .b64 a;\nst.param.b64 [a], " REG ";\ncall.uni free, (a);\n}\n"
static const char heap_kernel[] = EXTERNALS KERNEL
    MALLOC("%rd1", "100") MALLOC("%rd2", "16777216")
    "st.u32 [%rd1+96], %t;\nld.u32 %r1, [%rd1+96];\n"
    "setp.eq.u64 %p1, %rd2, 0;\nselp.u32 %r2, 1000, 0, %p1;\n"
    "add.u32 %r1, %r1, %r2;\nst.global.u32 [%to], %r1;\n"
    FREE("%rd1") FREE("%rd2") "ret;\n}\n";

START_TEST(test_malloc_gives_each_thread_its_own)
{
    struct kernel *k = kernel_load(heap_kernel, "test");
    ck_assert_int_eq(kernel_run(k, 1, 64), LAUNCH_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 1000 + t);
    kernel_free(k);
}
END_TEST

static const char double_free[] = EXTERNALS KERNEL
    MALLOC("%rd1", "100") FREE("%rd1") FREE("%rd1") "ret;\n}\n";

START_TEST(test_double_free_faults)
{
    struct kernel *k = kernel_load(double_free, "test");
    ck_assert_int_eq(kernel_run(k, 1, 1), LAUNCH_ILLEGAL_ADDRESS);
    ck_assert_ptr_nonnull(strstr(k->report.fault.message, "free("));
    kernel_free(k);
}
END_TEST

static const char no_body[] =
    EXTERNALS KERNEL "call.uni nowhere;\nret;\n}\n";

START_TEST(test_call_without_a_body_says_its_name)
{
    struct kernel *k = kernel_load(no_body, "test");
    ck_assert_int_eq(kernel_run(k, 1, 1), LAUNCH_UNSUPPORTED);
    ck_assert_ptr_nonnull(strstr(k->report.fault.message, "nowhere"));
    kernel_free(k);
}
END_TEST

static const char endless[] = EXTERNALS
    ".func again()\n{\ncall.uni again;\nret;\n}\n" KERNEL
    "call.uni again;\nret;\n}\n";

START_TEST(test_endless_recursion_uses_up_the_stack)
{
    struct kernel *k = kernel_load(endless, "test");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_ILLEGAL_ADDRESS);
    ck_assert_ptr_nonnull(strstr(k->report.fault.message, "call stack"));
    kernel_free(k);
}
END_TEST

// Each thread sums a local array in a function that it calls to its own depth.
static const char locals[] = EXTERNALS
    ".func (.param .b32 r) down(.param .b32 n)\n{\n"
    ".local .align 4 .b8 mine[16];\n.reg .b32 %n, %x;\n.reg .pred %p;\n"
    ".reg .b64 %a;\nld.param.b32 %n, [n];\nmov.u64 %a, mine;\n"
    "st.local.u32 [%a+4], %n;\nmov.u32 %x, 0;\n"
    "setp.eq.u32 %p, %n, 0;\n@%p bra OUT;\nsub.u32 %x, %n, 1;\n"
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %x;\n"
    "call.uni (b), down, (a);\nld.param.b32 %x, [b];\n}\n"
    "OUT:\nld.local.u32 %n, [%a+4];\nadd.u32 %x, %x, %n;\n"
    "st.param.b32 [r], %x;\nret;\n}\n" KERNEL
    "{\n.param .b32 a;\n.param .b32 b;\nst.param.b32 [a], %t;\n"
    "call.uni (b), down, (a);\nld.param.b32 %r1, [b];\n}\n"
    "activemask.b32 %r2;\nst.global.u32 [%to], %r1;\n"
    "st.global.u32 [%to+128], %r2;\nret;\n}\n";

START_TEST(test_every_call_has_its_own_local_frame)
{
    struct kernel *k = kernel_load(locals, "test");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++) {
        ck_assert_uint_eq(kernel_out(k)[t], t * (t + 1) / 2);
        ck_assert_uint_eq(kernel_out(k)[32 + t], 0xffffffff);
    }
    kernel_free(k);
}
END_TEST

static const char barrier_inside[] = EXTERNALS
    ".func wait()\n{\nbar.sync 0;\nret;\n}\n" KERNEL
    "setp.ge.u32 %p1, %t, 40;\n@%p1 bra END;\ncall.uni wait;\n"
    "st.global.u32 [%to], 3;\nEND:\nret;\n}\n";

START_TEST(test_barrier_inside_a_function_lets_others_exit)
{
    struct kernel *k = kernel_load(barrier_inside, "test");
    ck_assert_int_eq(kernel_run(k, 2, 64), LAUNCH_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t < 40 ? 3 : 0);
    ck_assert_uint_eq(k->nfindings, 0);
    kernel_free(k);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("exec/calls");
    TCase *c = tcase_create("externals");
    tcase_add_test(c, test_printf_formats_as_cuda_does);
    tcase_add_test(c, test_printf_of_a_wild_pointer_faults);
    tcase_add_test(c, test_assert_prints_as_cuda_does_and_ends_the_launch);
    tcase_add_test(c, test_malloc_gives_each_thread_its_own);
    tcase_add_test(c, test_double_free_faults);
    suite_add_tcase(s, c);
    c = tcase_create("functions");
    tcase_add_test(c, test_call_without_a_body_says_its_name);
    tcase_add_test(c, test_endless_recursion_uses_up_the_stack);
    tcase_add_test(c, test_every_call_has_its_own_local_frame);
    tcase_add_test(c, test_barrier_inside_a_function_lets_others_exit);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
