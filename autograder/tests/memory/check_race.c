// Races by happens-before: accesses of the tests' own making, with what
// orders them told between, or left out.
#include "rig.h"

enum { LOAD, STORE, LOCK, FLAG }; // instructions, of lines 10 to 13

static struct rig rig;
static uint64_t buffer; // 4096 bytes of device memory

static void setup(void)
{
    rig_open(&rig, WATCH_CHECK);
    buffer = memory_alloc(rig.memory, 0, 4096, ALLOC_DEVICE, "a");
    ck_assert(memory_set(rig.memory, buffer, 0, 4096));
    rig.insts[STORE].opcode = "st.global.b32";
    rig.insts[LOCK].opcode = "atom.global.cas.b32";
    rig.insts[FLAG].opcode = "st.volatile.global.b32";
}

static void teardown(void)
{
    rig_close(&rig);
}

// ---- a block, told warp by warp --------------------------------------------

static const struct watcher *watcher(void)
{
    return watch_callbacks(rig.watch);
}

static void begin(void)
{
    static uint8_t shared[1024];
    rig_begin_one(&rig);
    rig.block.shared = shared;
}

static void run_warp(uint32_t index)
{
    rig.warp.index = index;
}

static void all_store(enum ptx_space space, uint64_t first)
{
    rig_access(&rig, space, ACCESS_STORE, STORE, first, 4, 4, UINT32_MAX);
}

static void one_stores(enum ptx_space space, unsigned lane, uint64_t addr)
{
    rig_access(&rig, space, ACCESS_STORE, STORE, addr, 0, 4, 1u << lane);
}

static void one_loads(enum ptx_space space, unsigned lane, uint64_t addr)
{
    rig_access(&rig, space, ACCESS_LOAD, LOAD, addr, 0, 4, 1u << lane);
}

static void one_locks(unsigned lane, uint64_t addr)
{
    rig_access(&rig, SPACE_GLOBAL, ACCESS_ATOMIC, LOCK, addr, 0, 4, 1u << lane);
}

static void meet(uint32_t lanes)
{
    watcher()->warp_sync(watcher()->self, &rig.warp, lanes);
}

static void fence(const char *opcode, uint32_t lanes)
{
    struct ptx_inst inst = {.opcode = opcode};
    watcher()->fence(watcher()->self, &rig.warp, &inst, lanes);
}

static void arrive(uint32_t warp, uint32_t barrier, bool waits)
{
    struct warp_view view = {.block = &rig.block, .index = warp};
    watcher()->arrive(watcher()->self, &view, barrier, waits);
}

static void open(uint32_t barrier, bool whole)
{
    watcher()->barrier(watcher()->self, &rig.block, barrier, whole);
}

static void all_wait(void)
{
    arrive(0, 0, true);
    arrive(1, 0, true);
    open(0, true);
}

static void next_block(uint64_t linear)
{
    rig_block_end(&rig);
    rig_block(&rig, 0, linear, 1024);
}

static void expect_none(void)
{
    rig_end_one(&rig);
    unsigned n;
    const struct finding *all = watch_findings(rig.watch, &n);
    ck_assert_msg(n == 0, "%s", n ? all[0].message : "");
}

static void expect_race(const char *message)
{
    rig_end_one(&rig);
    const struct finding *f = rig_finding(&rig, 0, 1);
    ck_assert_int_eq(f->kind, FINDING_RACE);
    ck_assert_str_eq(f->message, message);
}

// ---- barriers ----------------------------------------------------------------

START_TEST(test_warps_race_without_barrier)
{
    begin();
    run_warp(0);
    all_store(SPACE_SHARED, 0);
    run_warp(1);
    one_loads(SPACE_SHARED, 3, 20);
    expect_race("thread 35 of block 0 read 4 bytes of shared memory that "
                "thread 5 wrote at line 11, with no barrier between");
}
END_TEST

START_TEST(test_barrier_orders_warps)
{
    begin();
    run_warp(0);
    all_store(SPACE_SHARED, 0);
    all_wait();
    run_warp(1);
    one_loads(SPACE_SHARED, 3, 20);
    expect_none();
}
END_TEST

START_TEST(test_access_behind_barrier_is_not_ordered_by_it)
{
    begin();
    all_wait();
    run_warp(0);
    all_store(SPACE_SHARED, 0);
    run_warp(1);
    one_stores(SPACE_SHARED, 0, 4);
    expect_race("thread 32 of block 0 wrote 4 bytes of shared memory that "
                "thread 1 wrote at line 11, with no barrier between");
}
END_TEST

// Whichever warp ran first: here the one that reads, last in its thread.
START_TEST(test_names_the_access_later_in_its_thread)
{
    begin();
    run_warp(0);
    all_store(SPACE_SHARED, 128);
    meet(UINT32_MAX);
    one_loads(SPACE_SHARED, 0, 128);
    one_loads(SPACE_SHARED, 0, 132); // its third access
    run_warp(1);
    one_stores(SPACE_SHARED, 0, 132); // its first
    rig_end_one(&rig);
    const struct finding *f = rig_finding(&rig, 0, 2);
    ck_assert_uint_eq(f->line, 10);
    ck_assert_uint_eq(f->thread[0], 0);
}
END_TEST

START_TEST(test_named_barrier_orders_who_waits)
{
    begin();
    run_warp(0);
    all_store(SPACE_SHARED, 0);
    arrive(0, 1, false); // and goes on
    arrive(1, 1, true);
    open(1, false);
    run_warp(1);
    one_loads(SPACE_SHARED, 0, 0);
    expect_none();
}
END_TEST

START_TEST(test_named_barrier_orders_not_who_only_arrives)
{
    begin();
    run_warp(1);
    all_store(SPACE_SHARED, 0);
    arrive(0, 1, false);
    arrive(1, 1, true);
    open(1, false);
    run_warp(0);
    one_loads(SPACE_SHARED, 0, 0);
    expect_race("thread 0 of block 0 read 4 bytes of shared memory that "
                "thread 32 wrote at line 11, with no barrier between");
}
END_TEST

// ---- lanes -------------------------------------------------------------------

START_TEST(test_lanes_race_without_syncwarp)
{
    begin();
    all_store(SPACE_SHARED, 0);
    one_loads(SPACE_SHARED, 3, 20);
    expect_race("thread 3 of block 0 read 4 bytes of shared memory that "
                "thread 5 wrote at line 11, with no __syncwarp() or barrier "
                "between");
}
END_TEST

START_TEST(test_syncwarp_orders_lanes)
{
    begin();
    all_store(SPACE_SHARED, 0);
    meet(UINT32_MAX);
    one_loads(SPACE_SHARED, 3, 20);
    expect_none();
}
END_TEST

START_TEST(test_syncwarp_orders_lanes_of_its_mask_only)
{
    begin();
    all_store(SPACE_SHARED, 0);
    meet(0x000000ff);
    one_loads(SPACE_SHARED, 3, 20); // of lane 5
    one_loads(SPACE_SHARED, 3, 32); // of lane 8
    expect_race("thread 3 of block 0 read 4 bytes of shared memory that "
                "thread 8 wrote at line 11, with no __syncwarp() or barrier "
                "between");
}
END_TEST

START_TEST(test_order_passes_through_a_third_lane)
{
    begin();
    one_stores(SPACE_SHARED, 0, 0);
    meet(0x3); // lanes 0, 1
    meet(0x6); // lanes 1, 2
    one_loads(SPACE_SHARED, 2, 0);
    expect_none();
}
END_TEST

START_TEST(test_bytes_of_a_word_are_apart)
{
    begin();
    rig_access(&rig, SPACE_SHARED, ACCESS_STORE, STORE, 0, 1, 1, UINT32_MAX);
    run_warp(1);
    rig_access(&rig, SPACE_SHARED, ACCESS_STORE, STORE, 32, 1, 1, UINT32_MAX);
    expect_none();
}
END_TEST

// ---- values ------------------------------------------------------------------

static void store_values(enum ptx_space space, uint64_t addr,
                         const uint32_t values[32])
{
    struct mem_access access = {
        .space = space, .kind = ACCESS_STORE, .nbytes = 4, .align = 4,
        .mask = UINT32_MAX, .addr = rig.addr, .func = &rig.func,
        .inst = &rig.insts[STORE], .values = {values}, .nvalues = 1};
    for (int i = 0; i < 32; i++)
        rig.addr[i] = addr;
    watcher()->access(watcher()->self, &rig.warp, &access);
    memcpy(space == SPACE_SHARED ? rig.block.shared + addr
                                 : (uint8_t *)(uintptr_t)addr,
           &values[31], 4);
}

START_TEST(test_equal_stores_are_let_pass)
{
    uint32_t values[32];
    for (int i = 0; i < 32; i++)
        values[i] = 7;
    begin();
    store_values(SPACE_SHARED, 0, values);
    run_warp(1);
    store_values(SPACE_SHARED, 0, values);
    expect_none();
}
END_TEST

START_TEST(test_unequal_stores_of_one_instruction_race)
{
    uint32_t values[32] = {0, 1, 1, 1};
    begin();
    store_values(SPACE_SHARED, 0, values);
    rig_end_one(&rig);
    ck_assert_int_eq(rig_finding(&rig, 0, 1)->kind, FINDING_RACE);
}
END_TEST

START_TEST(test_store_that_changes_nothing_is_let_pass)
{
    uint32_t values[32] = {0}; // as memory is
    begin();
    one_loads(SPACE_GLOBAL, 0, buffer);
    run_warp(1);
    store_values(SPACE_GLOBAL, buffer, values);
    run_warp(0);
    one_loads(SPACE_GLOBAL, 1, buffer);
    expect_none();
}
END_TEST

START_TEST(test_store_that_changes_memory_races_with_load)
{
    uint32_t values[32] = {0};
    for (int i = 0; i < 32; i++)
        values[i] = 7;
    begin();
    one_loads(SPACE_GLOBAL, 0, buffer);
    run_warp(1);
    store_values(SPACE_GLOBAL, buffer, values);
    rig_end_one(&rig);
    ck_assert_int_eq(rig_finding(&rig, 0, 1)->kind, FINDING_RACE);
}
END_TEST

// ---- atomics and fences --------------------------------------------------------

START_TEST(test_atomics_race_with_stores_only)
{
    begin();
    one_locks(0, buffer);
    run_warp(1);
    one_locks(0, buffer);
    one_loads(SPACE_GLOBAL, 1, buffer); // plain, of device memory: let pass
    run_warp(0);
    one_stores(SPACE_GLOBAL, 0, buffer);
    rig_end_one(&rig);
    unsigned n;
    const struct finding *all = watch_findings(rig.watch, &n);
    ck_assert_uint_eq(n, 2); // with the load, and with the atomic
    ck_assert_int_eq(all[0].kind, FINDING_RACE);
}
END_TEST

// Block 0 stores and unlocks; block 1 locks and stores. What is left out?
static void pass_lock(const char *release, const char *acquire)
{
    begin();
    one_stores(SPACE_GLOBAL, 0, buffer);
    if (release)
        fence(release, 1);
    one_locks(0, buffer + 1024);
    next_block(1);
    one_locks(0, buffer + 1024);
    if (acquire)
        fence(acquire, 1);
    one_loads(SPACE_GLOBAL, 0, buffer);
}

static const char *const needed =
    "thread 0 of block 1 read 4 bytes at a[0] that thread 0 of block 0 wrote "
    "at line 11, and nothing orders the two blocks";

START_TEST(test_lock_with_fences_orders_blocks)
{
    pass_lock("membar.gl", "membar.gl");
    expect_none();
}
END_TEST

START_TEST(test_lock_without_release_does_not)
{
    pass_lock(NULL, "membar.gl");
    expect_race(needed);
}
END_TEST

START_TEST(test_lock_without_acquire_does_not)
{
    pass_lock("membar.gl", NULL);
    expect_race(needed);
}
END_TEST

START_TEST(test_fence_of_a_block_does_not)
{
    pass_lock("membar.cta", "membar.gl");
    expect_race(needed);
}
END_TEST

START_TEST(test_barrier_does_for_acquire)
{
    begin();
    one_stores(SPACE_GLOBAL, 0, buffer);
    fence("membar.gl", 1);
    one_locks(0, buffer + 1024);
    next_block(1);
    one_locks(0, buffer + 1024);
    all_wait();
    run_warp(1); // another warp than the one that looked
    one_loads(SPACE_GLOBAL, 0, buffer);
    expect_none();
}
END_TEST

START_TEST(test_release_says_what_a_barrier_told)
{
    begin();
    run_warp(1);
    one_stores(SPACE_GLOBAL, 0, buffer);
    all_wait();
    run_warp(0);
    fence("membar.gl", 1);
    one_locks(0, buffer + 1024);
    next_block(1);
    one_locks(0, buffer + 1024);
    fence("membar.gl", 1);
    one_loads(SPACE_GLOBAL, 0, buffer);
    expect_none();
}
END_TEST

START_TEST(test_order_passes_through_a_third_block)
{
    rig.insts[FLAG].opcode = "atom.acq_rel.gpu.global.exch.b32";
    begin();
    one_stores(SPACE_GLOBAL, 0, buffer);
    for (uint64_t block = 0; block < 8; block++) {
        uint64_t flag = buffer + 1024 + 4 * block;
        rig_access(&rig, SPACE_GLOBAL, ACCESS_ATOMIC, FLAG, flag, 0, 4, 1);
        next_block(block + 1);
        rig_access(&rig, SPACE_GLOBAL, ACCESS_ATOMIC, FLAG, flag, 0, 4, 1);
    }
    one_loads(SPACE_GLOBAL, 0, buffer);
    expect_none();
}
END_TEST

// ---- launches ------------------------------------------------------------------

START_TEST(test_launches_are_ordered)
{
    begin();
    all_store(SPACE_GLOBAL, buffer);
    rig_end_one(&rig);
    rig_begin(&rig, 1);
    rig_block(&rig, 0, 1, 1024);
    one_loads(SPACE_GLOBAL, 5, buffer);
    expect_none();
}
END_TEST

START_TEST(test_shared_memory_of_blocks_is_apart)
{
    begin();
    all_store(SPACE_SHARED, 0);
    next_block(1);
    one_stores(SPACE_SHARED, 5, 0);
    expect_none();
}
END_TEST

START_TEST(test_one_finding_a_pair_of_lines)
{
    begin();
    run_warp(0);
    all_store(SPACE_SHARED, 0);
    run_warp(1);
    for (unsigned lane = 32; lane-- > 0;)
        one_loads(SPACE_SHARED, lane, 4 * lane);
    rig_end_one(&rig);
    const struct finding *f = rig_finding(&rig, 0, 1);
    ck_assert_uint_eq(f->count, 32);
    ck_assert_uint_eq(f->thread[0], 32);
    ck_assert_uint_eq(f->line, 10);
}
END_TEST

static Suite *race_suite(void)
{
    const TTest *const tests[] = {
        test_warps_race_without_barrier, test_barrier_orders_warps,
        test_access_behind_barrier_is_not_ordered_by_it,
        test_names_the_access_later_in_its_thread,
        test_named_barrier_orders_who_waits,
        test_named_barrier_orders_not_who_only_arrives,
        test_lanes_race_without_syncwarp, test_syncwarp_orders_lanes,
        test_syncwarp_orders_lanes_of_its_mask_only,
        test_order_passes_through_a_third_lane,
        test_bytes_of_a_word_are_apart, test_equal_stores_are_let_pass,
        test_unequal_stores_of_one_instruction_race,
        test_store_that_changes_nothing_is_let_pass,
        test_store_that_changes_memory_races_with_load,
        test_atomics_race_with_stores_only,
        test_lock_with_fences_orders_blocks,
        test_lock_without_release_does_not,
        test_lock_without_acquire_does_not, test_fence_of_a_block_does_not,
        test_barrier_does_for_acquire, test_release_says_what_a_barrier_told,
        test_order_passes_through_a_third_block, test_launches_are_ordered,
        test_shared_memory_of_blocks_is_apart,
        test_one_finding_a_pair_of_lines};
    Suite *suite = suite_create("race");
    TCase *tcase = tcase_create("order");
    tcase_add_checked_fixture(tcase, setup, teardown);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(race_suite)
