// Barriers, early exits, spin locks, calls, deadlocks.
#include <string.h>

#include "support/kernel.h"
#include "tests/test.h"

// ---- barriers ------------------------------------------------------------------

// Every thread reads what its neighbour in another warp wrote before.
static const char exchange[] =
    ".shared .align 4 .b8 tile[4096];\n"
    "mov.u32 %r1, tile;\nmad.lo.u32 %r2, %t, 4, %r1;\n"
    "st.shared.u32 [%r2], %t;\nbar.sync 0;\n"
    "mov.u32 %r3, %ntid.x;\nsub.u32 %r4, %r3, %t;\nsub.u32 %r4, %r4, 1;\n"
    "mad.lo.u32 %r5, %r4, 4, %r1;\nld.shared.u32 %r6, [%r5];\n"
    "st.global.u32 [%to], %r6;\nret;";

START_TEST(test_barrier_orders_warps)
{
    struct kernel *k = kernel_of_body(exchange);
    k->launch.schedule = (enum schedule)_i;
    ck_assert_int_eq(kernel_run(k, 1, 300), LAUNCH_OK);
    for (uint32_t t = 0; t < 300; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 299 - t);
    ck_assert_uint_eq(k->report.barriers, 1);
    ck_assert_uint_eq(k->nfindings, 0);
    kernel_free(k);
}
END_TEST

START_TEST(test_exited_threads_do_not_count_at_a_barrier)
{
    struct kernel *k = kernel_of_body(
        "setp.ge.u32 %p1, %t, 70;\n@%p1 bra END;\n"
        "bar.sync 0;\nst.global.u32 [%to], 1;\nbar.sync 0;\nEND:\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 128), LAUNCH_OK);
    for (uint32_t t = 0; t < 128; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t < 70);
    ck_assert_uint_eq(k->nfindings, 0);
    kernel_free(k);
}
END_TEST

START_TEST(test_guarded_exit_before_a_barrier_is_legal)
{
    struct kernel *k = kernel_of_body(
        "setp.ge.u32 %p1, %t, 10;\n@%p1 exit;\n"
        "bar.sync 0;\nst.global.u32 [%to], 1;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 64), LAUNCH_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t < 10);
    ck_assert_uint_eq(k->nfindings, 0);
    kernel_free(k);
}
END_TEST

START_TEST(test_barrier_in_one_branch_is_reported)
{
    struct kernel *k = kernel_of_body(
        "setp.ge.u32 %p1, %t, 16;\n@%p1 bra JOIN;\nbar.sync 0;\n"
        "JOIN:\nst.global.u32 [%to], 7;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 7);
    ck_assert_uint_eq(k->nfindings, 1);
    ck_assert_int_eq(k->findings[0].kind, FINDING_BARRIER);
    ck_assert_uint_eq(k->findings[0].thread[0], 16);
    kernel_free(k);
}
END_TEST

START_TEST(test_warps_at_different_barriers_are_reported)
{
    struct kernel *k = kernel_of_body(
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra HIGH;\nbar.sync 0;\n"
        "bra.uni JOIN;\nHIGH:\nbar.sync 0;\nJOIN:\n"
        "st.global.u32 [%to], 7;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 64), LAUNCH_OK);
    ck_assert_uint_eq(k->nfindings, 1);
    ck_assert_int_eq(k->findings[0].kind, FINDING_BARRIER);
    ck_assert_uint_eq(k->findings[0].thread[0], 32);
    kernel_free(k);
}
END_TEST

START_TEST(test_named_barrier_counts_its_threads)
{
    // Warps 0 and 1 meet at barrier 3; warp 2 does not take part.
    struct kernel *k = kernel_of_body(
        ".shared .align 4 .b8 tile[256];\nmov.u32 %r1, tile;\n"
        "mad.lo.u32 %r2, %t, 4, %r1;\n"
        "setp.ge.u32 %p1, %t, 64;\n@%p1 bra END;\n"
        "st.shared.u32 [%r2], %t;\nbar.sync 3, 64;\n"
        "xor.b32 %r3, %t, 32;\nmad.lo.u32 %r4, %r3, 4, %r1;\n"
        "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%to], %r5;\nEND:\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 96), LAUNCH_OK);
    for (uint32_t t = 0; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t ^ 32);
    kernel_free(k);
}
END_TEST

START_TEST(test_producer_arrives_and_consumer_waits)
{
    struct kernel *k = kernel_of_body(
        ".shared .align 4 .b8 tile[256];\nmov.u32 %r1, tile;\n"
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra CONSUME;\n"
        "mad.lo.u32 %r2, %t, 4, %r1;\nst.shared.u32 [%r2], %t;\n"
        "bar.arrive 1, 64;\nbra.uni END;\nCONSUME:\nbar.sync 1, 64;\n"
        "sub.u32 %r3, %t, 32;\nmad.lo.u32 %r4, %r3, 4, %r1;\n"
        "ld.shared.u32 %r5, [%r4];\nst.global.u32 [%to], %r5;\nEND:\nret;");
    k->launch.schedule = SCHEDULE_DESCENDING;
    ck_assert_int_eq(kernel_run(k, 1, 64), LAUNCH_OK);
    for (uint32_t t = 32; t < 64; t++)
        ck_assert_uint_eq(kernel_out(k)[t], t - 32);
    ck_assert_uint_eq(k->nfindings, 0);
    kernel_free(k);
}
END_TEST

START_TEST(test_barrier_reduces_over_the_block)
{
    struct kernel *k = kernel_of_body(
        "setp.lt.u32 %p1, %t, 50;\nbar.red.popc.u32 %r1, 0, %p1;\n"
        "bar.red.and.pred %p2, 0, %p1;\nbar.red.or.pred %p3, 0, %p1;\n"
        "bar.red.popc.u32 %r4, 0, !%p1;\n"
        "selp.u32 %r2, 1, 0, %p2;\nselp.u32 %r3, 1, 0, %p3;\n"
        "st.global.v4.u32 [%out], {%r1, %r2, %r3, %r4};\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 100), LAUNCH_OK);
    ck_assert_uint_eq(kernel_out(k)[0], 50);
    ck_assert_uint_eq(kernel_out(k)[1], 0);
    ck_assert_uint_eq(kernel_out(k)[2], 1);
    ck_assert_uint_eq(kernel_out(k)[3], 50);
    kernel_free(k);
}
END_TEST

START_TEST(test_deadlock_says_who_waits_where)
{
    // Barrier 2 waits for 64 threads, of which 32 have ended.
    struct kernel *k = kernel_of_body(
        "setp.ge.u32 %p1, %t, 32;\n@%p1 bra END;\nbar.sync 2, 64;\nEND:\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 64), LAUNCH_DEADLOCK);
    ck_assert_ptr_nonnull(
        strstr(k->report.fault.message, "warp 0 (lanes 0xffffffff) waits in "
                                        "bar.sync"));
    kernel_free(k);
}
END_TEST

// ---- .sync within a warp ---------------------------------------------------------

START_TEST(test_syncwarp_joins_both_arms_of_a_branch)
{
    struct kernel *k = kernel_of_body(
        ".shared .align 4 .b8 tile[128];\nmov.u32 %r1, tile;\n"
        "mad.lo.u32 %r2, %t, 4, %r1;\nsetp.lt.u32 %p1, %t, 16;\n"
        "@%p1 bra LOW;\nst.shared.u32 [%r2], 5;\nbar.warp.sync -1;\n"
        "bra.uni JOIN;\nLOW:\nbar.warp.sync -1;\n"
        "ld.shared.u32 %r3, [%r2+64];\nst.global.u32 [%to], %r3;\nJOIN:\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 16; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 5);
    kernel_free(k);
}
END_TEST

START_TEST(test_shuffle_waits_for_diverged_lanes)
{
    struct kernel *k = kernel_of_body(
        "setp.lt.u32 %p1, %t, 16;\nmul.lo.u32 %r1, %t, 10;\n"
        "@%p1 bra LOW;\n"
        "shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1;\nbra.uni JOIN;\nLOW:\n"
        "shfl.sync.bfly.b32 %r2, %r1, 31, 31, -1;\nJOIN:\n"
        "st.global.u32 [%to], %r2;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 10 * (31 - t));
    kernel_free(k);
}
END_TEST

START_TEST(test_lanes_with_masks_of_their_own_reduce_apart)
{
    struct kernel *k = kernel_of_body(
        "and.b32 %r1, %t, 3;\nmatch.any.sync.b32 %r2, %r1, -1;\n"
        "redux.sync.add.u32 %r3, %t, %r2;\nst.global.u32 [%to], %r3;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    for (uint32_t t = 0; t < 32; t++)
        ck_assert_uint_eq(kernel_out(k)[t], 8 * (t & 3) + 4 * 28);
    kernel_free(k);
}
END_TEST

START_TEST(test_lane_outside_its_member_mask_is_reported)
{
    struct kernel *k = kernel_of_body(
        "vote.sync.ballot.b32 %r1, 1, 0x0000ffff;\nret;");
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_OK);
    ck_assert_uint_eq(k->nfindings, 1);
    ck_assert_uint_eq(k->findings[0].thread[0], 16);
    kernel_free(k);
}
END_TEST

// ---- spinning ----------------------------------------------------------------------

START_TEST(test_spin_lock_between_lanes_ends)
{
    struct kernel *k = kernel_of_body(
        "SPIN:\natom.global.cas.b32 %r1, [%in], 0, 1;\n"
        "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra SPIN;\n"
        "ld.volatile.global.u32 %r2, [%out];\nadd.u32 %r2, %r2, 1;\n"
        "st.volatile.global.u32 [%out], %r2;\nmembar.gl;\n"
        "atom.global.exch.b32 %r3, [%in], 0;\nret;");
    k->launch.schedule = (enum schedule)_i;
    ck_assert_int_eq(kernel_run(k, 4, 96), LAUNCH_OK);
    ck_assert_uint_eq(kernel_out(k)[0], 4 * 96);
    kernel_free(k);
}
END_TEST

// Block b waits until block b-1 has set its flag.
static const char chain[] =
    "mov.u32 %r1, %ctaid.x;\nmad.wide.u32 %rd1, %r1, 4, %out;\n"
    "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra GO;\nWAIT:\n"
    "ld.acquire.gpu.global.u32 %r2, [%rd1-4];\nsetp.eq.u32 %p2, %r2, 0;\n"
    "@%p2 bra WAIT;\nGO:\nadd.u32 %r3, %r1, 1;\n"
    "st.release.gpu.global.u32 [%rd1], %r3;\nret;";

START_TEST(test_blocks_wait_for_flags_of_others)
{
    struct kernel *k = kernel_of_body(chain);
    k->launch.schedule = (enum schedule)(_i % 3);
    k->launch.nthreads = _i < 3 ? 1 : 2;
    k->launch.blocks_per_sm = 16;
    ck_assert_int_eq(kernel_run(k, 40, 32), LAUNCH_OK);
    for (uint32_t n = 0; n < 40; n++)
        ck_assert_uint_eq(kernel_out(k)[n], n + 1);
    kernel_free(k);
}
END_TEST

// What nvcc makes of grid.sync(), less the checks: a counter in the second
// word of a workspace whose address comes in two special registers.
static const char grid_sync[] =
    "mov.u32 %r1, %envreg1;\nmov.u32 %r2, %envreg2;\n"
    "mov.b64 %rd1, {%r2, %r1};\nsetp.eq.u64 %p1, %rd1, 0;\n@%p1 trap;\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
    "mad.lo.u32 %r5, %r3, %r4, %t;\nmad.wide.u32 %rd2, %r5, 4, %in;\n"
    "st.global.u32 [%rd2], %r5;\nbarrier.sync 0;\n"
    "setp.ne.u32 %p2, %t, 0;\n@%p2 bra ARRIVED;\n"
    "mov.u32 %r6, %nctaid.x;\nsub.u32 %r7, -2147483647, %r6;\n"
    "setp.eq.u32 %p3, %r3, 0;\nselp.b32 %r8, %r7, 1, %p3;\n"
    "add.u64 %rd3, %rd1, 4;\natom.add.release.gpu.u32 %r9, [%rd3], %r8;\n"
    "WAIT:\nld.acquire.gpu.u32 %r10, [%rd3];\nxor.b32 %r11, %r10, %r9;\n"
    "setp.gt.s32 %p4, %r11, -1;\n@%p4 bra WAIT;\nARRIVED:\nbarrier.sync 0;\n"
    "mul.lo.u32 %r12, %r6, %r4;\nmov.u32 %r13, %nctaid.x;\n"
    "mul.lo.u32 %r12, %r13, %r4;\nsub.u32 %r14, %r12, %r5;\n"
    "sub.u32 %r14, %r14, 1;\nmad.wide.u32 %rd4, %r14, 4, %in;\n"
    "ld.global.u32 %r15, [%rd4];\nmad.wide.u32 %rd5, %r5, 4, %out;\n"
    "st.global.u32 [%rd5], %r15;\nret;";

START_TEST(test_grid_sync_meets_all_blocks)
{
    struct kernel *k = kernel_of_body(grid_sync);
    k->launch.cooperative = true;
    k->launch.schedule = (enum schedule)(_i % 3);
    k->launch.nthreads = _i < 3 ? 1 : 2;
    ck_assert_int_eq(kernel_run(k, 8, 64), LAUNCH_OK);
    for (uint32_t n = 0; n < 8 * 64; n++)
        ck_assert_uint_eq(kernel_out(k)[n], 8 * 64 - 1 - n);
    kernel_free(k);
}
END_TEST

START_TEST(test_waiting_for_a_flag_nobody_sets_is_a_deadlock)
{
    struct kernel *k = kernel_of_body(
        "WAIT:\nld.volatile.global.u32 %r1, [%in];\n"
        "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra WAIT;\nret;");
    k->launch.budget = 0;
    ck_assert_int_eq(kernel_run(k, 2, 64), LAUNCH_DEADLOCK);
    ck_assert_ptr_nonnull(strstr(k->report.fault.message, "warp 1"));
    kernel_free(k);
}
END_TEST

START_TEST(test_endless_loop_ends_by_its_budget)
{
    struct kernel *k =
        kernel_of_body("LOOP:\nadd.u32 %r1, %r1, 1;\nbra.uni LOOP;");
    k->launch.budget = 1000000;
    ck_assert_int_eq(kernel_run(k, 1, 32), LAUNCH_BUDGET);
    kernel_free(k);
}
END_TEST

// Block 2 sets the flag after longer than an idle worker waits for anything.
static const char late_flag[] =
    "mov.u32 %r1, %ctaid.x;\nsetp.lt.u32 %p1, %r1, 2;\n@%p1 bra WAIT;\n"
    "LOOP:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 50000000;\n"
    "@%p2 bra LOOP;\nst.volatile.global.u32 [%in], 1;\nret;\n"
    "WAIT:\nld.volatile.global.u32 %r3, [%in];\nsetp.eq.u32 %p3, %r3, 0;\n"
    "@%p3 bra WAIT;\nst.global.u32 [%out], 7;\nret;";

START_TEST(test_waiting_for_a_busy_block_is_no_deadlock)
{
    struct kernel *k = kernel_of_body(late_flag);
    k->launch.budget = 0;
    k->launch.nthreads = 2;
    ck_assert_int_eq(kernel_run(k, 3, 1), LAUNCH_OK);
    ck_assert_uint_eq(kernel_out(k)[0], 7);
    kernel_free(k);
}
END_TEST

static bool cancel_at_once(void *self)
{
    return self != NULL;
}

START_TEST(test_cancelled_launch_ends)
{
    struct kernel *k =
        kernel_of_body("LOOP:\nadd.u32 %r1, %r1, 1;\nbra.uni LOOP;");
    k->launch.budget = 0;
    k->launch.cancelled = cancel_at_once;
    ck_assert_int_eq(kernel_run(k, 3, 64), LAUNCH_CANCELLED);
    kernel_free(k);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("exec/control");
    TCase *c = tcase_create("barriers");
    tcase_add_loop_test(c, test_barrier_orders_warps, 0, 3);
    tcase_add_test(c, test_exited_threads_do_not_count_at_a_barrier);
    tcase_add_test(c, test_guarded_exit_before_a_barrier_is_legal);
    tcase_add_test(c, test_barrier_in_one_branch_is_reported);
    tcase_add_test(c, test_warps_at_different_barriers_are_reported);
    tcase_add_test(c, test_named_barrier_counts_its_threads);
    tcase_add_test(c, test_producer_arrives_and_consumer_waits);
    tcase_add_test(c, test_barrier_reduces_over_the_block);
    tcase_add_test(c, test_deadlock_says_who_waits_where);
    suite_add_tcase(s, c);
    c = tcase_create("warp");
    tcase_add_test(c, test_syncwarp_joins_both_arms_of_a_branch);
    tcase_add_test(c, test_shuffle_waits_for_diverged_lanes);
    tcase_add_test(c, test_lanes_with_masks_of_their_own_reduce_apart);
    tcase_add_test(c, test_lane_outside_its_member_mask_is_reported);
    suite_add_tcase(s, c);
    c = tcase_create("spinning");
    tcase_add_loop_test(c, test_spin_lock_between_lanes_ends, 0, 3);
    tcase_add_loop_test(c, test_blocks_wait_for_flags_of_others, 0, 6);
    tcase_add_loop_test(c, test_grid_sync_meets_all_blocks, 0, 6);
    tcase_add_test(c, test_waiting_for_a_flag_nobody_sets_is_a_deadlock);
    tcase_add_test(c, test_endless_loop_ends_by_its_budget);
    tcase_add_test(c, test_waiting_for_a_busy_block_is_no_deadlock);
    tcase_add_test(c, test_cancelled_launch_ends);
    suite_add_tcase(s, c);
    return s;
}

TEST_MAIN(suite)
