#include "rig.h"

static struct rig r;
static uint64_t a;

static void setup(void)
{
    rig_open(&r, WATCH_CHECK);
    a = memory_alloc(r.memory, 0, 4096, ALLOC_DEVICE, "a");
    memory_set(r.memory, a, 0, 4096);
}

static void teardown(void)
{
    rig_close(&r);
}

START_TEST(test_lowest_block_and_thread_win_in_any_order)
{
    rig_begin(&r, 3);
    static const uint64_t BLOCKS[] = {9, 2, 5};
    for (unsigned worker = 0; worker < 3; worker++) {
        rig_block(&r, worker, BLOCKS[worker], 0);
        r.warp.index = 1;
        rig_store(&r, a + 4096, 4, 0xf0);
        r.warp.index = 0;
        rig_store(&r, a + 4096, 4, 0xc0);
        rig_block_end(&r);
    }
    rig_end(&r);
    const struct finding *f = rig_finding(&r, 0, 1);
    ck_assert_uint_eq(f->block[0], 2);
    ck_assert_uint_eq(f->thread[0], 6);
    ck_assert_uint_eq(f->count, 3 * 6);
    ck_assert_ptr_nonnull(strstr(f->message, "thread 6 of block 2"));
}
END_TEST

START_TEST(test_findings_are_in_order_of_block_and_thread)
{
    rig_begin(&r, 2);
    rig_block(&r, 0, 7, 0);
    rig_load(&r, a + 4096, 4, 1);
    rig_block_end(&r);
    rig_block(&r, 1, 3, 0);
    rig_store(&r, a + 4096, 4, 1);
    rig_block_end(&r);
    rig_end(&r);
    ck_assert_uint_eq(rig_finding(&r, 0, 2)->block[0], 3);
    ck_assert_uint_eq(rig_finding(&r, 1, 2)->block[0], 7);
}
END_TEST

static void one_bad_store(unsigned thread)
{
    rig_begin_one(&r);
    rig_store(&r, a + 4096, 4, 1u << thread);
    rig_end_one(&r);
}

START_TEST(test_launches_add_up_and_the_first_stays)
{
    one_bad_store(5);
    one_bad_store(2);
    const struct finding *f = rig_finding(&r, 0, 1);
    ck_assert_uint_eq(f->count, 2);
    ck_assert_uint_eq(f->thread[0], 5);
    r.launch.name = "other";
    one_bad_store(5);
    ck_assert_str_eq(rig_finding(&r, 1, 2)->kernel, "other");
    watch_clear(r.watch);
    rig_finding(&r, 0, 0);
}
END_TEST

START_TEST(test_without_lines_instructions_are_sites)
{
    r.insts[0].loc = r.insts[1].loc = 0;
    rig_begin_one(&r);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 0, a + 4096, 4, 4, 1);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 1, a + 4096, 4, 4, 1);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 1, a + 4096, 4, 4, 2);
    rig_end_one(&r);
    ck_assert_uint_eq(rig_finding(&r, 1, 2)->count, 2);
}
END_TEST

START_TEST(test_inlined_toolkit_code_shows_its_caller)
{
    r.locs[2] = (struct ptx_loc){.file = 2, .line = 900, .inlined_at = 4};
    one_bad_store(0);
    ck_assert_str_eq(rig_finding(&r, 0, 1)->file, "add.cu");
    ck_assert_uint_eq(rig_finding(&r, 0, 1)->line, 13);
}
END_TEST

START_TEST(test_hostile_locations_are_safe)
{
    r.locs[2] = (struct ptx_loc){.file = 77, .line = 1, .inlined_at = 2};
    one_bad_store(0);
    ck_assert_str_eq(rig_finding(&r, 0, 1)->file, "");
    r.insts[1].loc = 1000000;
    one_bad_store(0);
    ck_assert_uint_eq(rig_finding(&r, 1, 2)->line, 0);
}
END_TEST

START_TEST(test_a_fault_that_is_known_becomes_fatal)
{
    one_bad_store(0);
    struct finding fault = *rig_finding(&r, 0, 1);
    ck_assert(!fault.fatal);
    fault.fatal = true;
    strcpy(fault.message, "less is known");
    watch_add(r.watch, &fault);
    ck_assert(rig_finding(&r, 0, 1)->fatal);
    ck_assert_str_ne(rig_finding(&r, 0, 1)->message, "less is known");
    fault.kind = FINDING_DEADLOCK;
    watch_add(r.watch, &fault);
    ck_assert_str_eq(rig_finding(&r, 1, 2)->message, "less is known");
}
END_TEST

START_TEST(test_what_the_executor_finds_is_counted)
{
    const struct watcher *w = watch_callbacks(r.watch);
    struct finding f = {.kind = FINDING_BARRIER, .line = 7, .message = "half"};
    rig_begin_one(&r);
    w->found(w->self, &f);
    w->found(w->self, &f);
    f.line = 8;
    w->found(w->self, &f);
    rig_end_one(&r);
    ck_assert_uint_eq(rig_finding(&r, 0, 2)->count, 2);
    watch_clear(r.watch);
    watch_set_flags(r.watch, WATCH_COUNT);
    rig_begin_one(&r);
    w->found(w->self, &f);
    rig_end_one(&r);
    rig_finding(&r, 0, 0);
}
END_TEST

START_TEST(test_leaks_are_what_the_program_holds)
{
    int fd;
    memory_alloc(r.memory, 1, 77, ALLOC_VARIABLE, "table");
    memory_alloc(r.memory, 1, 20, ALLOC_DEVICE, NULL);
    memory_alloc_host(r.memory, 5, ALLOC_HOST, &fd);
    ck_assert_uint_eq(watch_leaks(r.watch), 3);
    ck_assert_str_eq(rig_finding(&r, 0, 3)->message,
                     "the 4096-byte allocation #1 (a) on device 0 was never "
                     "freed");
    ck_assert_str_eq(rig_finding(&r, 1, 3)->message,
                     "the 20-byte allocation #3 on device 1 was never freed");
    ck_assert_str_eq(rig_finding(&r, 2, 3)->message,
                     "the 5-byte allocation #4 was never freed");
}
END_TEST

START_TEST(test_the_list_ends_at_1024)
{
    struct finding f = {.kind = FINDING_LEAK};
    for (int i = 0; i < 2000; i++)
        watch_add(r.watch, &f);
    rig_finding(&r, 0, 1024);
}
END_TEST

START_TEST(test_nothing_is_recorded_without_the_flag)
{
    watch_set_flags(r.watch, WATCH_WRITERS);
    one_bad_store(0);
    rig_begin_one(&r);
    rig_store(&r, a, 4, 1);
    rig_end_one(&r);
    rig_finding(&r, 0, 0);
    ck_assert_uint_eq(memory_writers(r.memory, a, 4096).kernel, 4);
}
END_TEST

START_TEST(test_kinds_have_names)
{
    ck_assert_str_eq(finding_name(FINDING_OUT_OF_BOUNDS), "out-of-bounds");
    ck_assert_str_eq(finding_name(FINDING_READ_ONLY), "read-only");
    ck_assert_str_eq(finding_name((enum finding_kind)99), "unknown");
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("findings");
    TCase *t = tcase_create("merge");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_lowest_block_and_thread_win_in_any_order);
    tcase_add_test(t, test_findings_are_in_order_of_block_and_thread);
    tcase_add_test(t, test_launches_add_up_and_the_first_stays);
    tcase_add_test(t, test_without_lines_instructions_are_sites);
    tcase_add_test(t, test_inlined_toolkit_code_shows_its_caller);
    tcase_add_test(t, test_hostile_locations_are_safe);
    tcase_add_test(t, test_a_fault_that_is_known_becomes_fatal);
    tcase_add_test(t, test_what_the_executor_finds_is_counted);
    tcase_add_test(t, test_leaks_are_what_the_program_holds);
    tcase_add_test(t, test_the_list_ends_at_1024);
    tcase_add_test(t, test_nothing_is_recorded_without_the_flag);
    tcase_add_test(t, test_kinds_have_names);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
