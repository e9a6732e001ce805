#include "rig.h"
#include "vgpu/memory/cache.h"

static const uint32_t ALL = UINT32_MAX;
static const uint64_t MIB = 1 << 20;
static struct rig r; // its L2 holds 1 MiB
static uint64_t a;

static void setup(void)
{
    rig_open(&r, WATCH_COUNT);
    a = memory_alloc(r.memory, 0, 64 * MIB, ALLOC_DEVICE, NULL);
}

static void teardown(void)
{
    rig_close(&r);
}

// Reads or writes [a, a + nbytes) once, a warp after another.
static struct access_counters sweep(uint64_t nbytes, bool store, bool past_l1)
{
    r.insts[0].opcode = past_l1 ? "ld.global.cg.f32" : "ld.global.f32";
    rig_begin_one(&r);
    for (uint64_t at = 0; at < nbytes; at += 128)
        store ? rig_store(&r, a + at, 4, ALL) : rig_load(&r, a + at, 4, ALL);
    rig_end_one(&r);
    return watch_counters(r.watch);
}

START_TEST(test_stream_reads_all_of_it_from_dram)
{
    struct access_counters n = sweep(16 * MIB, false, false);
    ck_assert_uint_eq(n.dram_read_bytes, 16 * MIB);
    ck_assert_uint_eq(n.l2_hit_sectors, 0);
    ck_assert_uint_eq(n.l1_hit_sectors, 0);
}
END_TEST

// What stays in L2 of its own has pushed out what was there before, of which
// six of sixteen lines are dirty.
START_TEST(test_stream_of_stores_pushes_out_foreign_lines)
{
    struct access_counters n = sweep(16 * MIB, true, false);
    ck_assert_uint_eq(n.dram_write_bytes, 15 * MIB + MIB * 6 / 16);
    ck_assert_uint_eq(n.dram_read_bytes, 0);
    watch_flush_cache(r.watch);
    ck_assert_uint_eq(sweep(MIB / 2, true, false).dram_write_bytes, MIB * 3 / 16);
    ck_assert_uint_eq(sweep(MIB / 2, true, false).dram_write_bytes, 0);
}
END_TEST

START_TEST(test_l2_keeps_what_fits_for_the_next_launch)
{
    sweep(MIB / 2, false, true);
    struct access_counters n = sweep(MIB / 2, false, true);
    ck_assert_uint_eq(n.dram_read_bytes, 0);
    ck_assert_uint_eq(n.l2_hit_sectors, MIB / 2 / 32);
    watch_flush_cache(r.watch);
    ck_assert_uint_eq(sweep(MIB / 2, false, true).dram_read_bytes, MIB / 2);
}
END_TEST

START_TEST(test_l1_answers_within_a_block)
{
    rig_begin_one(&r);
    for (int i = 0; i < 4; i++)
        for (uint64_t at = 0; at < 8192; at += 128)
            rig_load(&r, a + at, 4, ALL);
    rig_block_end(&r);
    rig_block(&r, 0, 1, 0);
    rig_load(&r, a, 4, ALL); // another block, another L1
    rig_end_one(&r);
    struct access_counters n = watch_counters(r.watch);
    ck_assert_uint_eq(n.l1_hit_sectors, 3 * 8192 / 32);
    ck_assert_uint_eq(n.l2_hit_sectors, 4);
    ck_assert_uint_eq(n.l2_sectors, 8192 / 32 + 4);
    ck_assert_uint_eq(n.dram_read_bytes, 8192);
    struct launch_work work = {0};
    counters_to_work(&n, &work);
    ck_assert_uint_eq(work.global_load_sectors, 4 * 8192 / 32 + 4);
    ck_assert_uint_eq(work.l2_sectors, n.l2_sectors);
    ck_assert_uint_eq(work.dram_read_bytes, 8192);
}
END_TEST

START_TEST(test_single_sectors_cost_what_dram_fetches)
{
    static const unsigned FETCH[] = {32, 64};
    r.gpu.dram_fetch_bytes = FETCH[_i];
    rig_begin_one(&r);
    rig_load(&r, a, 128, ALL);
    rig_end_one(&r);
    ck_assert_uint_eq(watch_counters(r.watch).dram_read_bytes, 32 * FETCH[_i]);
}
END_TEST

START_TEST(test_atomics_read_and_write_in_l2)
{
    rig_begin_one(&r);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 0, a, 4, 4, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 0, a, 4, 4, ALL);
    rig_end_one(&r);
    struct access_counters n = watch_counters(r.watch);
    ck_assert_uint_eq(n.dram_read_bytes, 128);
    ck_assert_uint_eq(n.l2_hit_sectors, 4);
}
END_TEST

// Every block reads 64 KiB of a shared table, in some order of blocks.
static struct access_counters blocks_in_order(const uint64_t *order, unsigned n)
{
    watch_flush_cache(r.watch);
    rig_begin(&r, n);
    for (unsigned i = 0; i < n; i++) {
        rig_block(&r, i, order[i], 0);
        uint64_t from = a + (order[i] % 3) * 512 * 1024;
        for (uint64_t at = 0; at < 512 * 1024; at += 128)
            rig_load(&r, from + at, 4, ALL);
        rig_block_end(&r);
    }
    rig_end(&r);
    return watch_counters(r.watch);
}

START_TEST(test_counts_do_not_depend_on_the_order_of_workers)
{
    static const uint64_t UP[] = {0, 1, 2, 3, 4, 5}, MIXED[] = {3, 0, 5, 4, 1, 2};
    struct access_counters x = blocks_in_order(UP, 6);
    struct access_counters y = blocks_in_order(MIXED, 6);
    ck_assert_uint_gt(x.dram_read_bytes, 0);
    ck_assert_mem_eq(&x, &y, sizeof x);
}
END_TEST

START_TEST(test_long_blocks_are_fed_in_parts)
{
    rig_begin_one(&r);
    for (uint64_t i = 0; i < 3 * TRACE_MAX; i++)
        rig_load(&r, a + i % 2 * 4096 + i * 256, 4, 0xff);
    rig_end_one(&r);
    struct access_counters n = watch_counters(r.watch);
    ck_assert_uint_eq(n.dram_read_bytes / 32 + n.l1_hit_sectors +
                          n.l2_hit_sectors, n.load_sectors);
}
END_TEST

START_TEST(test_a_launch_that_was_cut_short_leaves_a_usable_watch)
{
    rig_begin(&r, 2);
    rig_block(&r, 0, 5, 64);
    rig_load(&r, a, 4, ALL);
    rig_end(&r);
    ck_assert_uint_eq(sweep(MIB, false, false).dram_read_bytes, MIB);
}
END_TEST

START_TEST(test_runs_of_lines_share_an_entry)
{
    static struct trace t;
    for (uint64_t line = 0; line < 600; line++)
        ck_assert(trace_add(&t, TRAFFIC_READ, line, 15));
    ck_assert_uint_eq(t.n, 3);
    struct l2 l2;
    struct l2_counts n = {0};
    ck_assert(l2_open(&l2, 1 << 20, 32));
    l2_feed(&l2, &t, &n);
    ck_assert_uint_eq(n.read_sectors, 2400);
    l2_close(&l2);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("cache");
    TCase *t = tcase_create("cache");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_stream_reads_all_of_it_from_dram);
    tcase_add_test(t, test_stream_of_stores_pushes_out_foreign_lines);
    tcase_add_test(t, test_l2_keeps_what_fits_for_the_next_launch);
    tcase_add_test(t, test_l1_answers_within_a_block);
    tcase_add_loop_test(t, test_single_sectors_cost_what_dram_fetches, 0, 2);
    tcase_add_test(t, test_atomics_read_and_write_in_l2);
    tcase_add_test(t, test_counts_do_not_depend_on_the_order_of_workers);
    tcase_add_test(t, test_long_blocks_are_fed_in_parts);
    tcase_add_test(t, test_a_launch_that_was_cut_short_leaves_a_usable_watch);
    tcase_add_test(t, test_runs_of_lines_share_an_entry);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
