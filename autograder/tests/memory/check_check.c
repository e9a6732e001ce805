#include "rig.h"

static const uint32_t ALL = UINT32_MAX;
static struct rig r;
static uint64_t a; // 4096 bytes, called "a", written by the host

static void setup(void)
{
    rig_open(&r, WATCH_CHECK);
    a = memory_alloc(r.memory, 0, 4096, ALLOC_DEVICE, "a");
    memory_set(r.memory, a, 0, 4096);
    rig_begin_one(&r);
}

static void teardown(void)
{
    rig_close(&r);
}

static const struct finding *only_finding(void)
{
    rig_end_one(&r);
    return rig_finding(&r, 0, 1);
}

static void assert_clean(void)
{
    unsigned n;
    rig_end_one(&r);
    const struct finding *f = watch_findings(r.watch, &n);
    ck_assert_msg(n == 0, "%s", n ? f[0].message : "");
}

// ---- bounds ----------------------------------------------------------------

START_TEST(test_accesses_inside_are_clean)
{
    rig_load(&r, a, 4, ALL);
    rig_load(&r, a + 4096 - 128, 4, ALL);
    rig_load(&r, a + 4092, -4, ALL);
    rig_load(&r, a + 128, 0, ALL);
    rig_load(&r, a + 4092, 4, 1);
    rig_load(&r, a, 128, 0x80000001);
    rig_sync(&r);
    rig_store(&r, a + 4, 64, ALL);
    rig_load(&r, UINT64_MAX, 1000, 0);
    assert_clean();
}
END_TEST

START_TEST(test_out_of_bounds_names_thread_element_and_distance)
{
    r.warp.index = 1;
    rig_load(&r, a + 4 * 1055, 4, 2);
    const struct finding *f = only_finding();
    ck_assert_str_eq(f->message,
                     "thread 33 of block 0 read 4 bytes at a[1056], 128 bytes "
                     "past the end of the 4096-byte allocation #1 (a)");
    ck_assert_int_eq(f->kind, FINDING_OUT_OF_BOUNDS);
    ck_assert_str_eq(f->kernel, "add(float*, int)");
    ck_assert_str_eq(f->file, "add.cu");
    ck_assert_uint_eq(f->line, 10);
    ck_assert_uint_eq(f->thread[0], 33);
    ck_assert_uint_eq(f->addr, a + 4 * 1056);
    ck_assert_int_eq(f->distance, 128);
    ck_assert(!f->fatal); // the slab is mapped
}
END_TEST

START_TEST(test_only_lanes_outside_are_counted)
{
    rig_load(&r, a + 4096 - 64, 4, ALL);
    rig_load(&r, a + 4096 - 64, 4, 0xffff);
    const struct finding *f = only_finding();
    ck_assert_uint_eq(f->count, 16);
    ck_assert_uint_eq(f->thread[0], 16);
    ck_assert_int_eq(f->distance, 0);
    ck_assert_ptr_nonnull(strstr(f->message, "at a[1024], just past the end of"));
}
END_TEST

START_TEST(test_before_the_start_is_negative)
{
    rig_store(&r, a - 8, 4, 1);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->distance, -8);
    ck_assert_str_eq(f->message, "thread 0 of block 0 wrote 4 bytes at a[-2], 8 "
                                 "bytes before the start of the 4096-byte "
                                 "allocation #1 (a)");
}
END_TEST

START_TEST(test_across_the_end_of_an_odd_size)
{
    uint64_t b = memory_alloc(r.memory, 0, 10, ALLOC_DEVICE, NULL);
    rig_store(&r, b, 4, 7);
    const struct finding *f = only_finding();
    ck_assert_uint_eq(f->count, 1);
    ck_assert_str_eq(f->message, "thread 2 of block 0 wrote 4 bytes across the "
                                 "end of the 10-byte allocation #2");
}
END_TEST

START_TEST(test_a_lane_in_the_next_allocation_is_not_out_of_bounds)
{
    uint64_t b = memory_alloc(r.memory, 0, 4096, ALLOC_DEVICE, NULL);
    memory_set(r.memory, b, 0, 4096);
    rig_load(&r, a, (int64_t)(b - a), 3);
    rig_load(&r, b, -(int64_t)(b - a), 3);
    assert_clean();
}
END_TEST

START_TEST(test_outside_every_mapping_is_fatal)
{
    rig_load(&r, a + (UINT64_C(64) << 20), 4, 1);
    ck_assert(only_finding()->fatal);
}
END_TEST

START_TEST(test_vector_access_names_its_first_element)
{
    r.insts[2].opcode = "ld.global.v4.f32";
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 2, a + 4096, 16, 16, 1);
    ck_assert_ptr_nonnull(strstr(only_finding()->message,
                                 "read 16 bytes at a[1024], just past"));
}
END_TEST

START_TEST(test_two_dimensions_show_as_tuples)
{
    r.launch.block[0] = 8;
    r.launch.block[1] = 8;
    r.warp.index = 1;
    rig_load(&r, a + 4096, 4, 1 << 10);
    const struct finding *f = only_finding();
    ck_assert_uint_eq(f->thread[0], 2);
    ck_assert_uint_eq(f->thread[1], 5);
    ck_assert_ptr_nonnull(strstr(f->message, "thread (2, 5, 0) of block 0 "));
}
END_TEST

// ---- other addresses -------------------------------------------------------

START_TEST(test_use_after_free)
{
    uint64_t b = memory_alloc(r.memory, 0, 100, ALLOC_DEVICE, "old");
    rig_end_one(&r);
    memory_release(r.memory, b);
    rig_begin_one(&r);
    rig_load(&r, b + 12, 4, 1);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_USE_AFTER_FREE);
    ck_assert_str_eq(f->message, "thread 0 of block 0 read 4 bytes at old[3] of "
                                 "the 100-byte allocation #2 (old), which was "
                                 "freed before");
}
END_TEST

START_TEST(test_host_pointer)
{
    int on_host;
    rig_store(&r, (uint64_t)(uintptr_t)&on_host & ~UINT64_C(3), 0, 1);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_WRONG_SPACE);
    ck_assert(f->fatal);
    ck_assert_ptr_nonnull(strstr(f->message, "a pointer to host memory"));
}
END_TEST

START_TEST(test_null_pointer)
{
    rig_load(&r, 16, 4, 1);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_OUT_OF_BOUNDS);
    ck_assert_ptr_nonnull(strstr(f->message, "through a null pointer"));
}
END_TEST

START_TEST(test_wild_addresses_are_safe)
{
    static const uint64_t WILD[] = {UINT64_MAX, UINT64_MAX - 3, VGPU_DEVICE_BASE,
                                    VGPU_HOST_BASE + VGPU_HOST_SPAN - 4,
                                    UINT64_C(1) << 63, VGPU_SHARED_WINDOW};
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 0, WILD[_i], 3, 4, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_STORE, 1, WILD[_i], 0, 16, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 2, WILD[_i], INT64_MAX, 1, ALL);
    rig_access(&r, SPACE_SHARED, ACCESS_LOAD, 3, WILD[_i], 1, 8, ALL);
    rig_access(&r, SPACE_SHARED, ACCESS_STORE, 3, WILD[_i], -1, 1, ALL);
    rig_end_one(&r);
    unsigned n;
    watch_findings(r.watch, &n);
    ck_assert_uint_ge(n, 4);
}
END_TEST

START_TEST(test_memory_of_a_peer_needs_leave)
{
    uint64_t b = memory_alloc(r.memory, 1, 4096, ALLOC_DEVICE, NULL);
    memory_set(r.memory, b, 0, 4096);
    rig_load(&r, b, 4, ALL);
    rig_end_one(&r);
    const struct finding *f = rig_finding(&r, 0, 1);
    ck_assert_int_eq(f->kind, FINDING_WRONG_SPACE);
    ck_assert_ptr_nonnull(strstr(f->message, "cudaDeviceEnablePeerAccess"));
    watch_clear(r.watch);
    memory_set_peer(r.memory, 0, 1, true);
    rig_begin_one(&r);
    rig_load(&r, b, 4, ALL);
    assert_clean();
}
END_TEST

START_TEST(test_store_to_a_constant_is_denied)
{
    memory_set_read_only(r.memory, a);
    rig_load(&r, a, 4, ALL);
    ck_assert_uint_eq(r.denied, 0);
    rig_store(&r, a, 4, 0xff);
    ck_assert_uint_eq(r.denied, 0xff);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_READ_ONLY);
    ck_assert_uint_eq(f->count, 8);
}
END_TEST

START_TEST(test_misaligned)
{
    rig_load(&r, a + 2, 4, 0xf);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_MISALIGNED);
    ck_assert(f->fatal);
    ck_assert_uint_eq(f->count, 4);
    ck_assert_ptr_nonnull(strstr(f->message, "which is not a multiple of 4"));
}
END_TEST

START_TEST(test_misaligned_lanes_are_found_by_stride)
{
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 0, a, 4, 8, ALL);
    ck_assert_uint_eq(only_finding()->count, 16);
}
END_TEST

// ---- uninitialized reads -----------------------------------------------------

START_TEST(test_read_of_unwritten_memory)
{
    uint64_t b = memory_alloc(r.memory, 0, 4096, ALLOC_DEVICE, "b");
    rig_store(&r, b, 4, 0xffff);
    rig_load(&r, b, 4, 0xffff);
    rig_sync(&r);
    rig_load(&r, b + 32, 4, ALL);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_UNINITIALIZED);
    ck_assert_uint_eq(f->count, 24);
    ck_assert_uint_eq(f->thread[0], 8);
    ck_assert_str_eq(f->message, "thread 8 of block 0 read 4 bytes at b[16] of "
                                 "the 4096-byte allocation #2 (b), which nobody "
                                 "has written");
}
END_TEST

START_TEST(test_unwritten_single_bytes_are_found)
{
    uint64_t b = memory_alloc(r.memory, 0, 64, ALLOC_DEVICE, NULL);
    memory_set(r.memory, b + 1, 0, 62);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 0, b, 1, 1, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 0, b + 32, 1, 1, ALL);
    ck_assert_uint_eq(only_finding()->count, 2);
}
END_TEST

START_TEST(test_padding_within_a_word_is_no_finding)
{
    uint64_t b = memory_alloc(r.memory, 0, 256, ALLOC_DEVICE, NULL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_STORE, 1, b, 8, 1, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_STORE, 2, b + 4, 8, 4, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_LOAD, 0, b, 8, 8, ALL);
    assert_clean();
}
END_TEST

START_TEST(test_kernel_stores_are_marked)
{
    rig_store(&r, a + 256, 8, ALL);
    rig_store(&r, a + 1024, 4, ALL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 2, a, 0, 4, ALL);
    ck_assert_uint_eq(memory_writers(r.memory, a, 4096).kernel, 128 + 128 + 4);
    assert_clean();
}
END_TEST

START_TEST(test_atomic_on_unwritten_memory)
{
    uint64_t b = memory_alloc(r.memory, 0, 64, ALLOC_DEVICE, NULL);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 2, b, 0, 4, 1);
    rig_access(&r, SPACE_GLOBAL, ACCESS_ATOMIC, 2, b, 0, 4, 1);
    const struct finding *f = only_finding();
    ck_assert_uint_eq(f->count, 1);
    ck_assert_ptr_nonnull(strstr(f->message, "atomically updated 4 bytes"));
}
END_TEST

START_TEST(test_dense_access_across_granules)
{
    uint64_t b = memory_alloc(r.memory, 0, 3 << 20, ALLOC_DEVICE, NULL);
    uint64_t edge = b + VGPU_GRANULE - 64;
    rig_store(&r, edge, 4, ALL);
    rig_load(&r, edge, 4, ALL);
    ck_assert_uint_eq(memory_writers(r.memory, b, 3 << 20).kernel, 128);
    assert_clean();
}
END_TEST

// ---- shared memory -----------------------------------------------------------

static void shared(enum access_kind kind, uint64_t first, int64_t stride,
                   uint32_t nbytes, uint32_t mask)
{
    unsigned inst = kind == ACCESS_LOAD ? 2 : 3;
    rig_access(&r, SPACE_SHARED, kind, inst, first, stride, nbytes, mask);
}

START_TEST(test_shared_written_then_read_is_clean)
{
    shared(ACCESS_STORE, 0, 4, 4, ALL);
    rig_sync(&r);
    shared(ACCESS_LOAD, 124, -4, 4, ALL);
    shared(ACCESS_STORE, 128, 28, 4, ALL);
    shared(ACCESS_LOAD, 128, 28, 4, ALL);
    shared(ACCESS_LOAD, 0, 1, 1, ALL);
    assert_clean();
}
END_TEST

START_TEST(test_shared_unwritten)
{
    shared(ACCESS_STORE, 0, 4, 4, 0x7fffffff);
    shared(ACCESS_LOAD, 0, 4, 4, ALL);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_UNINITIALIZED);
    ck_assert_str_eq(f->message, "thread 31 of block 0 read 4 bytes at offset 124 "
                                 "of shared memory, which no thread of the block "
                                 "has written");
}
END_TEST

START_TEST(test_shared_memory_of_the_next_block_is_unwritten)
{
    shared(ACCESS_STORE, 0, 4, 4, ALL);
    rig_block_end(&r);
    rig_block(&r, 0, 1, 1024);
    shared(ACCESS_LOAD, 0, 4, 4, ALL);
    ck_assert_uint_eq(only_finding()->block[0], 1);
}
END_TEST

START_TEST(test_shared_out_of_bounds)
{
    shared(ACCESS_STORE, 1024 - 64, 4, 4, ALL);
    const struct finding *f = only_finding();
    ck_assert_int_eq(f->kind, FINDING_OUT_OF_BOUNDS);
    ck_assert_uint_eq(f->count, 16);
    ck_assert_str_eq(f->message, "thread 16 of block 0 wrote 4 bytes at offset "
                                 "1024 of shared memory, just past the end of the "
                                 "block's 1024 bytes");
}
END_TEST

START_TEST(test_shared_misaligned)
{
    shared(ACCESS_STORE, 4, 8, 8, 1);
    ck_assert_int_eq(only_finding()->kind, FINDING_MISALIGNED);
}
END_TEST

static void add_address_tests(Suite *s)
{
    TCase *t = tcase_create("addresses");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_use_after_free);
    tcase_add_test(t, test_host_pointer);
    tcase_add_test(t, test_null_pointer);
    tcase_add_loop_test(t, test_wild_addresses_are_safe, 0, 6);
    tcase_add_test(t, test_memory_of_a_peer_needs_leave);
    tcase_add_test(t, test_store_to_a_constant_is_denied);
    tcase_add_test(t, test_misaligned);
    tcase_add_test(t, test_misaligned_lanes_are_found_by_stride);
    suite_add_tcase(s, t);
}

static void add_writer_tests(Suite *s)
{
    TCase *t = tcase_create("unwritten");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_read_of_unwritten_memory);
    tcase_add_test(t, test_unwritten_single_bytes_are_found);
    tcase_add_test(t, test_padding_within_a_word_is_no_finding);
    tcase_add_test(t, test_kernel_stores_are_marked);
    tcase_add_test(t, test_atomic_on_unwritten_memory);
    tcase_add_test(t, test_dense_access_across_granules);
    suite_add_tcase(s, t);
    t = tcase_create("shared");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_shared_written_then_read_is_clean);
    tcase_add_test(t, test_shared_unwritten);
    tcase_add_test(t, test_shared_memory_of_the_next_block_is_unwritten);
    tcase_add_test(t, test_shared_out_of_bounds);
    tcase_add_test(t, test_shared_misaligned);
    suite_add_tcase(s, t);
}

static Suite *suite(void)
{
    Suite *s = suite_create("check");
    TCase *t = tcase_create("bounds");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_accesses_inside_are_clean);
    tcase_add_test(t, test_out_of_bounds_names_thread_element_and_distance);
    tcase_add_test(t, test_only_lanes_outside_are_counted);
    tcase_add_test(t, test_before_the_start_is_negative);
    tcase_add_test(t, test_across_the_end_of_an_odd_size);
    tcase_add_test(t, test_a_lane_in_the_next_allocation_is_not_out_of_bounds);
    tcase_add_test(t, test_outside_every_mapping_is_fatal);
    tcase_add_test(t, test_vector_access_names_its_first_element);
    tcase_add_test(t, test_two_dimensions_show_as_tuples);
    suite_add_tcase(s, t);
    add_address_tests(s);
    add_writer_tests(s);
    return s;
}

TEST_MAIN(suite)
