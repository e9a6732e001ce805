#include "../test.h"
#include "vgpu/memory/memory.h"

#include <string.h>

static const uint64_t MIB = 1 << 20;
static struct memory *m;
static uint64_t a;

static void setup(void)
{
    m = memory_new(1, 256 * MIB);
    ck_assert_ptr_nonnull(m);
    a = memory_alloc(m, 0, 10 * MIB, ALLOC_DEVICE, NULL);
}

static void teardown(void)
{
    memory_free(m);
}

static void assert_writers(uint64_t addr, uint64_t n, uint64_t nobody,
                           uint64_t host, uint64_t kernel)
{
    struct writers w = memory_writers(m, addr, n);
    ck_assert_uint_eq(w.nobody, nobody);
    ck_assert_uint_eq(w.host, host);
    ck_assert_uint_eq(w.kernel, kernel);
}

START_TEST(test_fresh_memory_is_written_by_nobody)
{
    assert_writers(a, 10 * MIB, 10 * MIB, 0, 0);
}
END_TEST

START_TEST(test_write_and_read_back)
{
    char back[6] = "";
    ck_assert(memory_write(m, a + 3, "hello", 6));
    ck_assert(memory_read(m, back, a + 3, 6));
    ck_assert_str_eq(back, "hello");
    assert_writers(a, 16, 10, 6, 0);
}
END_TEST

START_TEST(test_set_marks_whole_and_part_granules)
{
    ck_assert(memory_set(m, a + 1, 0x5a, 5 * MIB));
    ck_assert_uint_eq(((uint8_t *)(uintptr_t)a)[5 * MIB], 0x5a);
    assert_writers(a, 10 * MIB, 5 * MIB, 5 * MIB, 0);
    assert_writers(a, 1, 1, 0, 0);
    assert_writers(a + 5 * MIB, 2, 1, 1, 0);
}
END_TEST

START_TEST(test_a_second_writer_of_a_granule_keeps_the_first)
{
    memory_set(m, a, 0, 4 * MIB);
    memory_set_writer(m, a + 2 * MIB + 100, 8, WRITER_KERNEL);
    assert_writers(a, 10 * MIB, 6 * MIB, 4 * MIB - 8, 8);
    memory_set(m, a, 0, 4 * MIB);
    assert_writers(a, 10 * MIB, 6 * MIB, 4 * MIB, 0);
    memory_set_writer(m, a + 100, 8, WRITER_KERNEL);
    memory_forget_writers(m, a, 10 * MIB);
    assert_writers(a, 10 * MIB, 10 * MIB, 0, 0);
    memory_set_writer(m, a + 100, 8, WRITER_KERNEL);
    assert_writers(a, 10 * MIB, 10 * MIB - 8, 0, 8);
}
END_TEST

START_TEST(test_a_copy_keeps_the_writer)
{
    uint64_t b = memory_alloc(m, 0, 10 * MIB, ALLOC_DEVICE, NULL);
    memory_set(m, a, 7, 2 * MIB);
    memory_set_writer(m, a + 3 * MIB, 1000, WRITER_KERNEL);
    ck_assert(memory_copy(m, b + 5, a, 4 * MIB));
    ck_assert_uint_eq(((uint8_t *)(uintptr_t)b)[2 * MIB + 4], 7);
    assert_writers(b, 10 * MIB, 8 * MIB - 1000, 2 * MIB, 1000);
    assert_writers(b + 5 + 3 * MIB, 1000, 0, 0, 1000);
}
END_TEST

START_TEST(test_transfers_outside_mappings_fail)
{
    char c = 0;
    uint64_t end = a + 10 * MIB;
    uint64_t b = memory_alloc(m, 0, 16, ALLOC_DEVICE, NULL);
    ck_assert(!memory_write(m, end, &c, 1));
    ck_assert(!memory_read(m, &c, end - 1, 2));
    ck_assert(!memory_set(m, a, 0, UINT64_MAX));
    ck_assert(!memory_copy(m, b, end - 1, 2));
    ck_assert(!memory_copy(m, end - 1, b, 2));
    ck_assert(!memory_read(m, &c, UINT64_MAX, 1));
    ck_assert(!memory_read(m, &c, (uint64_t)(uintptr_t)&c, 1));
    ck_assert(!memory_read(m, &c, VGPU_SHARED_WINDOW, 1));
    assert_writers(end - 1, 2, 2, 0, 0);
}
END_TEST

START_TEST(test_freed_and_mapped_again_is_nobodys)
{
    uint64_t b = memory_alloc(m, 0, 64, ALLOC_DEVICE, NULL);
    memory_set(m, b, 1, 64);
    memory_set(m, a, 1, 10 * MIB);
    memory_release(m, a);
    memory_release(m, b);
    assert_writers(b, 64, 64, 0, 0);
    assert_writers(a, 64, 64, 0, 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("transfer");
    TCase *t = tcase_create("transfer");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_fresh_memory_is_written_by_nobody);
    tcase_add_test(t, test_write_and_read_back);
    tcase_add_test(t, test_set_marks_whole_and_part_granules);
    tcase_add_test(t, test_a_second_writer_of_a_granule_keeps_the_first);
    tcase_add_test(t, test_a_copy_keeps_the_writer);
    tcase_add_test(t, test_transfers_outside_mappings_fail);
    tcase_add_test(t, test_freed_and_mapped_again_is_nobodys);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
