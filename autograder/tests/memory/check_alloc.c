#include "../test.h"
#include "vgpu/memory/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t MIB = 1 << 20;
static const int SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
static struct memory *m;

static void setup(void)
{
    m = memory_new(2, 64 * MIB);
    ck_assert_ptr_nonnull(m);
}

static void teardown(void)
{
    memory_free(m);
}

static uint64_t device_alloc(uint64_t nbytes)
{
    return memory_alloc(m, 0, nbytes, ALLOC_DEVICE, NULL);
}

START_TEST(test_small_allocations_share_a_granule)
{
    uint64_t a = device_alloc(100), b = device_alloc(5000);
    ck_assert_uint_ne(a, 0);
    ck_assert_uint_eq(a % 512, 0);
    ck_assert_uint_eq(b % 512, 0);
    ck_assert_uint_eq(a / VGPU_GRANULE, b / VGPU_GRANULE);
    ck_assert_uint_ge(b, a + 512 + 512); // some bytes between are nobody's
    ck_assert_uint_eq(memory_used(m, 0), VGPU_GRANULE);
    memset((void *)(uintptr_t)b, 1, 5000);
}
END_TEST

START_TEST(test_large_allocation_has_its_own_granules)
{
    uint64_t a = device_alloc(2 * MIB), b = device_alloc(3 * MIB);
    uint64_t lo, hi;
    ck_assert_uint_eq(a % VGPU_GRANULE, 0);
    ck_assert(memory_extent(m, 0, b + 3 * MIB, &lo, &hi));
    ck_assert_uint_eq(lo, b);
    ck_assert_uint_eq(hi, b + 4 * MIB);
    ck_assert(!memory_extent(m, 0, a + 2 * MIB, &lo, &hi)); // never b
}
END_TEST

START_TEST(test_allocation_of_nothing_or_nowhere_fails)
{
    ck_assert_uint_eq(device_alloc(0), 0);
    ck_assert_uint_eq(device_alloc(UINT64_MAX), 0);
    ck_assert_uint_eq(device_alloc(UINT64_MAX - 100), 0);
    ck_assert_uint_eq(memory_alloc(m, 2, 16, ALLOC_DEVICE, NULL), 0);
    ck_assert_uint_eq(memory_alloc(m, -1, 16, ALLOC_DEVICE, NULL), 0);
}
END_TEST

START_TEST(test_limit_holds_for_all_devices_together)
{
    ck_assert_uint_ne(device_alloc(32 * MIB), 0);
    ck_assert_uint_ne(memory_alloc(m, 1, 30 * MIB, ALLOC_DEVICE, NULL), 0);
    ck_assert_uint_eq(device_alloc(4 * MIB), 0);
    uint64_t last = device_alloc(2 * MIB);
    ck_assert_uint_ne(last, 0);
    ck_assert_int_eq(memory_release(m, last), 0);
    ck_assert_uint_ne(device_alloc(2 * MIB), 0);
}
END_TEST

START_TEST(test_freed_pieces_are_used_again_at_the_limit)
{
    uint64_t kept[32], piece = 900 << 10;
    for (int i = 0; i < 32; i++) { // two a granule: one stays, one goes
        kept[i] = device_alloc(piece);
        uint64_t gone = device_alloc(piece);
        ck_assert_uint_ne(gone, 0);
        memory_release(m, gone);
    }
    ck_assert_uint_eq(memory_used(m, 0), 64 * MIB);
    for (int i = 0; i < 32; i++) {
        uint64_t again = device_alloc(piece);
        ck_assert_uint_ne(again, 0);
        ck_assert_uint_eq(memory_find(m, again)->freed, false);
        for (int j = 0; j < 32; j++)
            ck_assert(again >= kept[j] + piece || again + piece <= kept[j]);
    }
    ck_assert_uint_eq(device_alloc(piece), 0);
}
END_TEST

START_TEST(test_release_of_a_wrong_address_fails)
{
    uint64_t a = device_alloc(1000);
    ck_assert_int_eq(memory_release(m, a + 512), -1);
    ck_assert_int_eq(memory_release(m, 0), -1);
    ck_assert_int_eq(memory_release(m, UINT64_MAX), -1);
    ck_assert_int_eq(memory_release(m, a), 0);
    ck_assert_int_eq(memory_release(m, a), -1);
}
END_TEST

START_TEST(test_freed_memory_is_remembered)
{
    uint64_t a = device_alloc(1000), b = device_alloc(1000);
    memset((void *)(uintptr_t)a, 7, 1000);
    memory_release(m, a);
    const struct allocation *found = memory_find(m, a + 10);
    ck_assert_uint_eq(found->base, a);
    ck_assert(found->freed);
    ck_assert_uint_ne(*(uint8_t *)(uintptr_t)a, 7); // a stale value shows
    ck_assert_uint_ne(device_alloc(1000), a);
    uint64_t lo, hi, large = device_alloc(4 * MIB);
    memory_release(m, large);
    ck_assert(!memory_extent(m, 0, large, &lo, &hi));
    ck_assert(memory_find(m, large + 5)->freed);
    ck_assert(!memory_find(m, b)->freed);
}
END_TEST

START_TEST(test_nearest_allocation_is_found)
{
    uint64_t a = memory_alloc(m, 0, 1000, ALLOC_VARIABLE, "table");
    uint64_t b = device_alloc(3 * MIB);
    ck_assert_str_eq(memory_find(m, a + 1100)->label, "table");
    ck_assert_uint_eq(memory_find(m, a + 1100)->serial, 1);
    ck_assert_uint_eq(memory_find(m, b - 1)->base, b);
    ck_assert_uint_eq(memory_find(m, b + 3 * MIB)->base, b);
    ck_assert_ptr_null(memory_find(m, b)->label);
    ck_assert_ptr_null(memory_find(m, VGPU_DEVICE_BASE + VGPU_DEVICE_SPAN));
    ck_assert_ptr_null(memory_find(m, 0x1000));
    ck_assert_ptr_null(memory_find(m, UINT64_MAX));
}
END_TEST

START_TEST(test_many_cycles_neither_slow_down_nor_run_out)
{
    for (int i = 0; i < 300000; i++) {
        uint64_t a = device_alloc(i % 64 == 0 ? 5 * MIB : 4096);
        ck_assert_uint_ne(a, 0);
        ck_assert_int_eq(memory_release(m, a), 0);
    }
    ck_assert_uint_eq(memory_used(m, 0), 0);
}
END_TEST

START_TEST(test_addresses_wrap_when_the_window_is_used_up)
{
    struct memory *big = memory_new(1, VGPU_DEVICE_SPAN);
    uint64_t nbytes = VGPU_DEVICE_SPAN / 4, first = 0;
    for (int i = 0; i < 12; i++) {
        uint64_t a = memory_alloc(big, 0, nbytes, ALLOC_DEVICE, NULL);
        ck_assert_uint_ne(a, 0);
        first = i == 0 ? a : first;
        ck_assert(!memory_find(big, a)->freed);
        ck_assert_int_eq(memory_release(big, a), 0);
    }
    ck_assert_uint_eq(memory_find(big, first)->base, first);
    ck_assert_uint_gt(memory_find(big, first)->serial, 1);
    memory_free(big);
}
END_TEST

static int memfd_of(uint64_t nbytes, int seals)
{
    int fd = memfd_create("test", MFD_ALLOW_SEALING | MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)nbytes), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

START_TEST(test_import_shows_the_files_bytes)
{
    int fd = memfd_of(4 * MIB, SEALS);
    ck_assert_int_eq(pwrite(fd, "warp", 4, 3 * MIB), 4);
    uint64_t a = memory_import(m, 1, fd, 3 * MIB + 4, false, "input");
    ck_assert_uint_eq(a / VGPU_DEVICE_SPAN,
                      VGPU_DEVICE_BASE / VGPU_DEVICE_SPAN + 1);
    ck_assert_mem_eq((void *)(uintptr_t)(a + 3 * MIB), "warp", 4);
    ck_assert_uint_eq(memory_find(m, a)->nbytes, 3 * MIB + 4);
    ck_assert_int_eq(memory_find(m, a)->kind, ALLOC_IMPORTED);
    ck_assert_int_eq(memory_release(m, a), 0);
    close(fd);
}
END_TEST

START_TEST(test_import_refuses_what_may_shrink)
{
    static const int LACKING[] = {0, F_SEAL_SHRINK, F_SEAL_GROW | F_SEAL_SEAL,
                                  F_SEAL_SHRINK | F_SEAL_SEAL};
    int fd = memfd_of(2 * MIB, LACKING[_i]);
    ck_assert_uint_eq(memory_import(m, 0, fd, 2 * MIB, false, NULL), 0);
    close(fd);
}
END_TEST

START_TEST(test_import_refuses_what_is_too_short)
{
    int fd = memfd_of(2 * MIB, SEALS);
    ck_assert_uint_eq(memory_import(m, 0, fd, 2 * MIB + 1, false, NULL), 0);
    ck_assert_uint_eq(memory_import(m, 0, fd, UINT64_MAX, false, NULL), 0);
    ck_assert_uint_ne(memory_import(m, 0, fd, 2 * MIB, true, NULL), 0);
    ck_assert_uint_eq(memory_import(m, 0, -1, 2 * MIB, true, NULL), 0);
    ck_assert_uint_eq(memory_import(m, 0, STDIN_FILENO, 1, true, NULL), 0);
    close(fd);
}
END_TEST

START_TEST(test_host_memory_is_a_sealed_file)
{
    int fd;
    uint64_t a = memory_alloc_host(m, 100, ALLOC_MANAGED, &fd);
    ck_assert_uint_ge(a, VGPU_HOST_BASE);
    ck_assert_int_eq(fcntl(fd, F_GET_SEALS) & SEALS, SEALS);
    char *other = mmap(NULL, VGPU_GRANULE, PROT_READ | PROT_WRITE, MAP_SHARED,
                       fd, 0);
    other[42] = 9;
    ck_assert_uint_eq(((char *)(uintptr_t)a)[42], 9);
    ck_assert_uint_eq(memory_writers(m, a, 100).host, 100);
    ck_assert_int_eq(memory_find(m, a)->device, -1);
    ck_assert_uint_eq(memory_used(m, -1), VGPU_GRANULE);
    ck_assert_uint_eq(memory_alloc_host(m, 64 * MIB, ALLOC_HOST, &fd), 0);
    ck_assert_int_eq(fd, -1);
}
END_TEST

START_TEST(test_peers_are_reached_when_enabled)
{
    uint64_t a = memory_alloc(m, 1, 64, ALLOC_DEVICE, NULL), lo, hi;
    ck_assert(memory_extent(m, 1, a, &lo, &hi));
    ck_assert(!memory_extent(m, 0, a, &lo, &hi));
    memory_set_peer(m, 0, 1, true);
    ck_assert(memory_extent(m, 0, a, &lo, &hi));
    memory_set_peer(m, 0, 1, false);
    ck_assert(!memory_extent(m, 0, a, &lo, &hi));
    ck_assert(!memory_extent(m, -1, a, &lo, &hi));
    ck_assert(!memory_extent(m, 99, a, &lo, &hi));
}
END_TEST

static void count_live(void *self, const struct allocation *a)
{
    ck_assert(!a->freed);
    *(uint64_t *)self += a->nbytes;
}

START_TEST(test_each_visits_what_is_live)
{
    uint64_t total = 0, a = device_alloc(10);
    int fd;
    memory_alloc(m, 1, 200, ALLOC_DEVICE, NULL);
    memory_alloc_host(m, 3000, ALLOC_HOST, &fd);
    memory_release(m, a);
    memory_each(m, count_live, &total);
    ck_assert_uint_eq(total, 3200);
}
END_TEST

START_TEST(test_read_only_is_kept)
{
    uint64_t a = device_alloc(10);
    ck_assert(!memory_find(m, a)->read_only);
    ck_assert_int_eq(memory_set_read_only(m, a), 0);
    ck_assert(memory_find(m, a)->read_only);
    ck_assert_int_eq(memory_set_read_only(m, a + 1), -1);
}
END_TEST

START_TEST(test_memory_needs_one_to_eight_devices)
{
    ck_assert_ptr_null(memory_new(0, MIB));
    ck_assert_ptr_null(memory_new(9, MIB));
    ck_assert_ptr_null(memory_new(1, MIB)); // the addresses are taken by m
    memory_free(m);
    m = memory_new(8, 4096 * MIB);
    ck_assert_ptr_nonnull(m);
    ck_assert_uint_ne(memory_alloc(m, 7, 1, ALLOC_DEVICE, NULL), 0);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("alloc");
    TCase *t = tcase_create("device");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_small_allocations_share_a_granule);
    tcase_add_test(t, test_large_allocation_has_its_own_granules);
    tcase_add_test(t, test_allocation_of_nothing_or_nowhere_fails);
    tcase_add_test(t, test_limit_holds_for_all_devices_together);
    tcase_add_test(t, test_freed_pieces_are_used_again_at_the_limit);
    tcase_add_test(t, test_release_of_a_wrong_address_fails);
    tcase_add_test(t, test_freed_memory_is_remembered);
    tcase_add_test(t, test_nearest_allocation_is_found);
    tcase_add_test(t, test_many_cycles_neither_slow_down_nor_run_out);
    tcase_add_test(t, test_each_visits_what_is_live);
    tcase_add_test(t, test_read_only_is_kept);
    tcase_add_test(t, test_peers_are_reached_when_enabled);
    tcase_add_test(t, test_memory_needs_one_to_eight_devices);
    suite_add_tcase(s, t);
    t = tcase_create("shared");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_import_shows_the_files_bytes);
    tcase_add_loop_test(t, test_import_refuses_what_may_shrink, 0, 4);
    tcase_add_test(t, test_import_refuses_what_is_too_short);
    tcase_add_test(t, test_host_memory_is_a_sealed_file);
    suite_add_tcase(s, t);
    t = tcase_create("wrap");
    tcase_add_test(t, test_addresses_wrap_when_the_window_is_used_up);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
