#include "rig.h"
#include "vgpu/memory/access.h"

static const uint32_t ALL = UINT32_MAX;

// ---- wavefronts ------------------------------------------------------------

struct wave_case {
    const char *what;
    uint32_t nbytes, mask;
    uint64_t first;
    int64_t stride;
    unsigned needed, least;
};

static const struct wave_case WAVES[] = {
    {"neighbouring words", 4, UINT32_MAX, 0, 4, 1, 1},
    {"one word for all", 4, UINT32_MAX, 64, 0, 1, 1},
    {"every second word", 4, UINT32_MAX, 0, 8, 2, 1},
    {"every third word", 4, UINT32_MAX, 0, 12, 1, 1},
    {"a column of 32", 4, UINT32_MAX, 4, 128, 32, 1},
    {"a column of 33", 4, UINT32_MAX, 4, 132, 1, 1},
    {"a column, backwards", 4, UINT32_MAX, 4096, -128, 32, 1},
    {"half a column", 4, 0xffff, 0, 128, 16, 1},
    {"scattered lanes of a column", 4, 0x11111111, 0, 128, 8, 1},
    {"bytes of eight words", 1, UINT32_MAX, 0, 1, 1, 1},
    {"bytes of one bank", 1, UINT32_MAX, 3, 128, 32, 1},
    {"halves", 2, UINT32_MAX, 0, 2, 1, 1},
    {"doubles in a row", 8, UINT32_MAX, 0, 8, 2, 2},
    {"one double for all", 8, UINT32_MAX, 0, 0, 1, 1},
    {"every second double", 8, UINT32_MAX, 0, 16, 4, 2},
    {"few doubles", 8, 0xf, 0, 8, 1, 1},
    {"four words in a row", 16, UINT32_MAX, 0, 16, 4, 4},
    {"one vector for all", 16, UINT32_MAX, 0, 0, 2, 2},
    {"a column of vectors", 16, UINT32_MAX, 0, 128, 32, 4},
};

START_TEST(test_wavefronts)
{
    const struct wave_case *c = &WAVES[_i];
    uint64_t addr[32];
    for (int i = 0; i < 32; i++)
        addr[i] = c->first + (uint64_t)i * (uint64_t)c->stride;
    struct mem_access a = {.nbytes = c->nbytes, .mask = c->mask, .addr = addr};
    struct shape s = access_shape(&a);
    struct wavefronts w = access_wavefronts(&a, &s);
    ck_assert_msg(w.needed == c->needed && w.least == c->least,
                  "%s: %u of least %u", c->what, w.needed, w.least);
}
END_TEST

START_TEST(test_pairs_of_lanes_that_share_merge)
{
    uint64_t addr[32];
    unsigned distance = _i == 0 ? 1 : 2;
    for (unsigned i = 0; i < 32; i++) // 16 distinct values, each for two lanes
        addr[i] = 16 * (uint64_t)(distance == 1 ? i / 2 : i / 4 * 2 + i % 2);
    struct mem_access a = {.nbytes = 16, .mask = ALL, .addr = addr};
    struct shape s = access_shape(&a);
    ck_assert_uint_eq(access_wavefronts(&a, &s).needed, 2);
    addr[5] = 16 * 31;
    ck_assert_uint_gt(access_wavefronts(&a, &s).needed, 2);
}
END_TEST

// ---- sectors ---------------------------------------------------------------

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

// Distinct sectors, counted as the definition says.
static unsigned count_plainly(const struct mem_access *a)
{
    uint64_t seen[1024];
    unsigned n = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        for (uint32_t byte = 0; byte < a->nbytes && a->mask >> lane & 1; byte++) {
            uint64_t sector = (a->addr[lane] + byte) / 32;
            unsigned i = 0;
            while (i < n && seen[i] != sector)
                i++;
            if (i == n)
                seen[n++] = sector;
        }
    return n;
}

START_TEST(test_sectors_of_random_accesses)
{
    uint32_t state = 7;
    struct rig r;
    rig_open(&r, WATCH_COUNT);
    const struct watcher *w = watch_callbacks(r.watch);
    uint64_t addr[32], expected = 0;
    rig_begin_one(&r);
    for (int round = 0; round < 3000; round++) {
        static const uint32_t MASKS[] = {UINT32_MAX, 0xff, 0xf0f0f0f0, 1};
        struct mem_access a = {.space = SPACE_GLOBAL, .kind = ACCESS_LOAD,
                               .nbytes = 1u << next_random(&state) % 5,
                               .mask = MASKS[round % 4], .addr = addr,
                               .inst = &r.insts[0]};
        uint64_t base = VGPU_DEVICE_BASE + next_random(&state) % 4096 * 16;
        uint64_t stride = next_random(&state) % 200;
        for (uint64_t i = 0; i < 32; i++)
            addr[i] = round & 8 ? base + i * stride
                                : base + next_random(&state) % 9999;
        expected += count_plainly(&a);
        w->access(w->self, &r.warp, &a);
    }
    rig_end_one(&r);
    ck_assert_uint_eq(watch_counters(r.watch).load_requests, 3000);
    ck_assert_uint_eq(watch_counters(r.watch).load_sectors, expected);
    rig_close(&r);
}
END_TEST

static struct rig r;
static uint64_t a;

static void setup(void)
{
    rig_open(&r, WATCH_COUNT);
    a = memory_alloc(r.memory, 0, 64 << 20, ALLOC_DEVICE, NULL);
    rig_begin_one(&r);
}

static void teardown(void)
{
    rig_close(&r);
}

static struct access_counters counters(void)
{
    rig_end_one(&r);
    return watch_counters(r.watch);
}

START_TEST(test_loads_stores_and_atomics_are_told_apart)
{
    rig_load(&r, a, 4, ALL);
    rig_store(&r, a + 4, 4, ALL);
    rig_store(&r, a, 128, 0xff);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 2, a, 0, 4, 0xf);
    struct access_counters n = counters();
    ck_assert_uint_eq(n.load_requests, 1);
    ck_assert_uint_eq(n.load_sectors, 4);
    ck_assert_uint_eq(n.load_bytes, 128);
    ck_assert_uint_eq(n.store_requests, 2);
    ck_assert_uint_eq(n.store_sectors, 5 + 8);
    ck_assert_uint_eq(n.store_bytes, 128 + 32);
    ck_assert_uint_eq(n.atomics, 1);
    ck_assert_uint_eq(n.atomic_lanes, 4);
}
END_TEST

START_TEST(test_shared_wavefronts_and_conflicts)
{
    rig_access(&r, SPACE_SHARED, ACCESS_LOAD, 2, 0, 8, 4, ALL);
    rig_access(&r, SPACE_SHARED, ACCESS_STORE, 3, 0, 16, 4, ALL);
    rig_access(&r, SPACE_SHARED, ACCESS_ATOMIC, 3, 0, 16, 4, ALL);
    struct access_counters n = counters();
    ck_assert_uint_eq(n.shared_load_wavefronts, 2);
    ck_assert_uint_eq(n.shared_load_conflicts, 1);
    ck_assert_uint_eq(n.shared_store_wavefronts, 4);
    ck_assert_uint_eq(n.shared_store_conflicts, 3);
    ck_assert_uint_eq(n.shared_atomics, 1);
}
END_TEST

START_TEST(test_other_spaces_are_not_counted)
{
    rig_access(&r, SPACE_LOCAL, ACCESS_LOAD, 2, 0, 4, 4, ALL);
    rig_access(&r, SPACE_CONST, ACCESS_LOAD, 2, a, 0, 4, ALL);
    rig_load(&r, a, 4, 0);
    struct access_counters n = counters(), zero = {0};
    ck_assert_mem_eq(&n, &zero, sizeof n);
}
END_TEST

START_TEST(test_counters_are_of_the_last_launch)
{
    rig_load(&r, a, 4, ALL);
    ck_assert_uint_eq(counters().load_requests, 1);
    rig_begin_one(&r);
    ck_assert_uint_eq(counters().load_requests, 0);
}
END_TEST

// What the executor knows of the form is what the lanes would show.
START_TEST(test_known_form_is_the_form_found)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16};
    uint64_t addr[32];
    struct mem_access access = {.nbytes = sizes[_i], .mask = ALL, .addr = addr};
    for (unsigned i = 0; i < 32; i++)
        addr[i] = 4096 + i * sizes[_i];
    struct shape found = access_shape(&access);
    access.contiguous = true;
    struct shape known = access_shape(&access);
    ck_assert_uint_eq(known.lo, found.lo);
    ck_assert_uint_eq(known.hi, found.hi);
    ck_assert_uint_eq(known.lanes, found.lanes);
    ck_assert_uint_eq(known.nbytes, found.nbytes);
    ck_assert_int_eq(known.stride, found.stride);
    ck_assert(known.affine && found.affine && known.dense && found.dense);
}
END_TEST

// Twice through half a MiB: it stays where L2's reach holds it.
START_TEST(test_reach_of_l2_bounds_what_stays)
{
    rig_end_one(&r);
    r.gpu.l2_reach_bytes = _i ? 256 << 10 : 0;
    rig_begin_one(&r);
    uint64_t buffer = memory_alloc(r.memory, 0, 512 << 10, ALLOC_DEVICE, NULL);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t at = 0; at < 512 << 10; at += 128)
            rig_load(&r, buffer + at, 4, ALL);
    uint64_t hits = counters().l2_hit_sectors;
    ck_assert_uint_eq(hits, _i ? 0 : (512 << 10) / 32);
    rig_begin_one(&r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("counters");
    TCase *t = tcase_create("shared");
    tcase_add_loop_test(t, test_wavefronts, 0, sizeof WAVES / sizeof *WAVES);
    tcase_add_loop_test(t, test_pairs_of_lanes_that_share_merge, 0, 2);
    suite_add_tcase(s, t);
    t = tcase_create("global");
    tcase_add_test(t, test_sectors_of_random_accesses);
    tcase_add_loop_test(t, test_known_form_is_the_form_found, 0, 5);
    suite_add_tcase(s, t);
    t = tcase_create("launch");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_loads_stores_and_atomics_are_told_apart);
    tcase_add_test(t, test_shared_wavefronts_and_conflicts);
    tcase_add_test(t, test_other_spaces_are_not_counted);
    tcase_add_test(t, test_counters_are_of_the_last_launch);
    tcase_add_loop_test(t, test_reach_of_l2_bounds_what_stays, 0, 2);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
