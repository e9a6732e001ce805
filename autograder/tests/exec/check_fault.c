// What ends a launch: who, where and why; and what must not.
#include <string.h>

#include "support/kernel.h"
#include "tests/test.h"

static void expect_message(const struct kernel *k, const char *part)
{
    ck_assert_msg(strstr(k->report.fault.message, part) != NULL, "\"%s\"",
                  k->report.fault.message);
}

START_TEST(test_access_outside_memory_names_the_thread)
{
    struct kernel *k = kernel_of_body(
        "setp.eq.u32 %p1, %t, 37;\n@%p1 mov.u64 %to, 0x1000;\n"
        "st.global.u32 [%to], 1;\nret;");
    k->launch.block[1] = 2;
    ck_assert_int_eq(kernel_run(k, 1, 40), LAUNCH_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(k->report.fault.thread[0], 37);
    ck_assert_uint_eq(k->report.fault.thread[1], 0);
    ck_assert_uint_eq(k->report.fault.addr, 0x1000);
    ck_assert_str_eq(k->report.fault.kernel, "test");
    expect_message(k, "writes 4 bytes at 0x1000, where no memory");
    kernel_free(k);
}
END_TEST

struct bad_kernel {
    const char *body;
    enum launch_status status;
    const char *message;
};
static const struct bad_kernel bad_kernels[] = {
    {"ld.global.u32 %r1, [%out+2];\nret;", LAUNCH_MISALIGNED, "multiple of 4"},
    {"ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%out+8];\nret;", LAUNCH_MISALIGNED,
     "multiple of 16"},
    {".shared .align 4 .b8 tile[64];\nmov.u32 %r1, tile;\n"
     "ld.shared.u32 %r2, [%r1+64];\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "reads 4 bytes at offset 64 of 64 bytes of shared"},
    {"mov.u32 %r1, 0;\nst.shared.u32 [%r1], 1;\nret;", LAUNCH_ILLEGAL_ADDRESS,
     "writes 4 bytes at offset 0 of 0 bytes of shared"},
    {".local .align 4 .b8 frame[16];\nmov.u64 %rd1, frame;\n"
     "ld.local.u32 %r1, [%rd1+16];\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "of local memory"},
    {"mov.u64 %rd1, 0xfffffffffffffffc;\nld.global.u64 %rd2, [%rd1+4];\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "reads 8 bytes at 0"},
    {"mov.u64 %rd1, 0x7c0000000000;\nst.u32 [%rd1], 1;\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "of shared memory"},
    {"atom.global.add.u32 %r1, [%out+1], 1;\nret;", LAUNCH_MISALIGNED, ""},
    {"mov.u64 %rd1, 0x7c0200000000;\natom.add.u32 %r1, [%rd1], 1;\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "parameter memory"},
    {"setp.eq.u32 %p1, %t, 5;\n@%p1 ld.global.u32 %r1, [%out+2];\nret;",
     LAUNCH_MISALIGNED, "multiple of 4"},
    {".shared .align 4 .b8 tile[64];\nmov.u32 %r1, tile;\n"
     "setp.eq.u32 %p1, %t, 5;\n@%p1 ld.shared.u32 %r2, [%r1+64];\nret;",
     LAUNCH_ILLEGAL_ADDRESS, "reads 4 bytes at offset 64 of 64 bytes of shared"},
    {"trap;\nret;", LAUNCH_TRAP, "trap"},
    {"bar.sync 16;\nret;", LAUNCH_ILLEGAL_INSTRUCTION, "barrier 16"},
    {"frobnicate.u32 %r1, %r2;\nret;", LAUNCH_UNSUPPORTED,
     "does not execute frobnicate.u32"},
    {"add.u32 %r1, %rd1, %r2;\nret;", LAUNCH_ILLEGAL_INSTRUCTION,
     "operands do not fit add.u32"},
    {"add.u32 %r1, %r2;\nret;", LAUNCH_ILLEGAL_INSTRUCTION, "do not fit"},
    {"mov.u32 %r1, %p1;\nret;", LAUNCH_ILLEGAL_INSTRUCTION, "do not fit"},
    {"ld.global.u64 %r1, [%out];\nret;", LAUNCH_ILLEGAL_INSTRUCTION, ""},
    {"st.param.u32 [p_out], %r1;\nret;", LAUNCH_ILLEGAL_INSTRUCTION, ""},
    {"ld.param.u64 %rd1, [p_in+4];\nret;", LAUNCH_ILLEGAL_INSTRUCTION, ""},
    {"ts: .branchtargets A;\nbrx.idx %t, ts;\nA:\nret;",
     LAUNCH_ILLEGAL_INSTRUCTION, "target 1 of 1"},
};

START_TEST(test_bad_kernel_ends_with_its_reason)
{
    const struct bad_kernel *bad = &bad_kernels[_i];
    struct kernel *k = kernel_of_body(bad->body);
    ck_assert_int_eq(kernel_run(k, 2, 40), bad->status);
    ck_assert(k->report.fault.fatal);
    expect_message(k, bad->message);
    kernel_free(k);
}
END_TEST

START_TEST(test_unknown_instruction_faults_only_when_reached)
{
    struct kernel *k = kernel_of_body(
        "setp.gt.u32 %p1, %t, 1000;\n@%p1 bra NEVER;\n"
        "st.global.u32 [%to], 5;\nret;\nNEVER:\nfrobnicate.u32 %r1;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    ck_assert_uint_eq(kernel_out(k)[31], 5);
    kernel_free(k);
}
END_TEST

START_TEST(test_threads_that_are_off_may_have_any_address)
{
    struct kernel *k = kernel_of_body(
        "setp.lt.u32 %p1, %t, 3;\nselp.u64 %rd1, %to, 0x1001, %p1;\n"
        "@%p1 st.global.u32 [%rd1], 9;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    ck_assert_uint_eq(kernel_out(k)[2], 9);
    kernel_free(k);
}
END_TEST

static const char with_lines[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry test(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b64 %a;\n.loc 1 17 3\nmov.u64 %a, 8;\n.loc 1 18 5\n"
    "st.global.u32 [%a], 1;\nret;\n}\n.file 1 \"dir/kernel.cu\"\n";

START_TEST(test_fault_has_its_source_line)
{
    struct kernel *k = kernel_load(with_lines, "test");
    ck_assert_int_eq(kernel_run(k, 1, 1), LAUNCH_ILLEGAL_ADDRESS);
    ck_assert_uint_eq(k->report.fault.line, 18);
    ck_assert_ptr_nonnull(strstr(k->report.fault.file, "kernel.cu"));
    kernel_free(k);
}
END_TEST

// ---- the watcher ---------------------------------------------------------------

struct seen {
    unsigned accesses, blocks;
    uint32_t mask, nbytes;
    enum ptx_space space;
    enum access_kind kind;
    uint64_t addr;
};

static uint32_t note_access(void *self, struct warp_view *w,
                            const struct mem_access *m)
{
    struct seen *s = self;
    ck_assert_uint_eq(w->index, 0);
    s->accesses++;
    s->mask = m->mask;
    s->nbytes = m->nbytes;
    s->space = m->space;
    s->kind = m->kind;
    s->addr = m->addr[3];
    return 1u << 3; // thread 3 must not
}

static void note_block(void *self, struct block_view *b)
{
    struct seen *s = self;
    ck_assert_uint_eq(b->linear, s->blocks);
    s->blocks++;
}

START_TEST(test_watcher_sees_accesses_and_takes_lanes_out)
{
    struct kernel *k = kernel_of_body(
        "setp.lt.u32 %p1, %t, 8;\n@%p1 st.u32 [%to], 1;\nret;");
    struct seen seen = {0};
    k->watcher = (struct watcher){.self = &seen, .access = note_access,
                                  .block_begin = note_block};
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    ck_assert_uint_eq(seen.accesses, 1);
    ck_assert_uint_eq(seen.blocks, 1);
    ck_assert_uint_eq(seen.mask, 0xff);
    ck_assert_uint_eq(seen.nbytes, 4);
    ck_assert_int_eq(seen.space, SPACE_GLOBAL);
    ck_assert_int_eq(seen.kind, ACCESS_STORE);
    ck_assert_uint_eq(seen.addr, k->out + 12);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t < 8 && t != 3);
    kernel_free(k);
}
END_TEST

// ---- counts --------------------------------------------------------------------

START_TEST(test_counts_instructions_and_lanes)
{
    struct kernel *k = kernel_of_body(
        "setp.lt.u32 %p1, %t, 8;\n@%p1 add.u32 %r1, %t, 1;\n"
        "@%p1 bra LOW;\nadd.u32 %r2, %t, 1;\nadd.u32 %r3, %t, 1;\n"
        "LOW:\nret;");
    uint64_t counts[64] = {0}, lanes[64] = {0};
    ck_assert_uint_lt(k->module->ninsts, 64);
    k->report.inst_count = counts;
    k->report.inst_lanes = lanes;
    ck_assert_int_eq(kernel_run(k, 3, 64), LAUNCH_OK);
    // 5 instructions of the head, then setp, the guarded add, bra.
    ck_assert_uint_eq(counts[5], 6);
    ck_assert_uint_eq(lanes[5], 6 * 32);
    ck_assert_uint_eq(counts[6], 6);
    ck_assert_uint_eq(lanes[6], 3 * 8);
    ck_assert_uint_eq(counts[8], 6);
    ck_assert_uint_eq(lanes[8], 3 * 24 + 3 * 32);
    ck_assert_uint_eq(k->report.branches, 6);
    ck_assert_uint_eq(k->report.divergent_branches, 3);
    uint64_t all = 0, all_lanes = 0;
    for (uint32_t n = 0; n < k->module->ninsts; n++) {
        all += counts[n];
        all_lanes += lanes[n];
    }
    ck_assert_uint_eq(k->report.warp_instructions, all);
    ck_assert_uint_eq(k->report.lane_instructions, all_lanes);
    // Two additions without 8 lanes, and both `ret`s.
    ck_assert_uint_eq(k->report.lanes_lost_to_branches, 3 * (8 + 8 + 8));
    struct launch_work work = {0};
    launch_pipes(k->code, &k->report, &work);
    ck_assert_uint_eq(work.issue, all);
    ck_assert_uint_eq(work.branch, 6 + counts[10]);
    ck_assert_uint_eq(work.lsu, 2 * 6);
    kernel_free(k);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("exec/fault");
    TCase *c = tcase_create("faults");
    tcase_add_test(c, test_access_outside_memory_names_the_thread);
    tcase_add_loop_test(c, test_bad_kernel_ends_with_its_reason, 0,
                        sizeof bad_kernels / sizeof *bad_kernels);
    tcase_add_test(c, test_unknown_instruction_faults_only_when_reached);
    tcase_add_test(c, test_threads_that_are_off_may_have_any_address);
    tcase_add_test(c, test_fault_has_its_source_line);
    suite_add_tcase(s, c);
    c = tcase_create("watching");
    tcase_add_test(c, test_watcher_sees_accesses_and_takes_lanes_out);
    tcase_add_test(c, test_counts_instructions_and_lanes);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
