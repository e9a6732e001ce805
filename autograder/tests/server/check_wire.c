// Packets and sealed memory, between two ends of a socket pair.
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vgpu/server/wire.h>

#include "../test.h"

static int ends[2];
static _Alignas(64) char buffer[WIRE_MESSAGE];

static void setup(void)
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
}

static void teardown(void)
{
    close(ends[0]);
    close(ends[1]);
}

START_TEST(test_parts_and_descriptor_arrive_as_one_packet)
{
    size_t n;
    int got, fd = wire_memfd("test", 10, "0123456789");
    ck_assert_int_ge(fd, 0);
    ck_assert(wire_send(ends[0], "abcd", 4, "ef", 2, "ghi", 3, fd));
    ck_assert_int_eq(wire_receive(ends[1], buffer, 4, &n, &got), WIRE_OK);
    ck_assert_uint_eq(n, 9);
    ck_assert_int_eq(memcmp(buffer, "abcdefghi", 9), 0);
    ck_assert_int_ge(got, 0);
    ck_assert_int_eq(fcntl(got, F_GETFD), FD_CLOEXEC);
    ck_assert_int_eq(pread(got, buffer, 10, 0), 10);
    ck_assert_int_eq(memcmp(buffer, "0123456789", 10), 0);
    close(got);
    close(fd);
}
END_TEST

START_TEST(test_short_packet_is_bad_and_leaks_no_descriptor)
{
    size_t n;
    int got, fd = wire_memfd("test", 1, NULL);
    ck_assert(wire_send(ends[0], "abc", 3, NULL, 0, NULL, 0, fd));
    ck_assert_int_eq(wire_receive(ends[1], buffer, 4, &n, &got), WIRE_BAD);
    ck_assert_int_eq(got, -1);
    int next = dup(fd);
    ck_assert_int_eq(next, fd + 1); // what came along was closed
    close(next);
    close(fd);
}
END_TEST

START_TEST(test_oversized_packet_is_bad)
{
    size_t n;
    int got;
    static char big[WIRE_MESSAGE + 1];
    ck_assert(!wire_send(ends[0], big, sizeof big, NULL, 0, NULL, 0, -1));
    ck_assert(!wire_send(ends[0], big, 8, big, WIRE_MESSAGE, NULL, 0, -1));
    ck_assert(!wire_send(ends[0], big, 8, NULL, 0, big, SIZE_MAX - 4, -1));
    ck_assert_int_eq(send(ends[0], big, sizeof big, 0), sizeof big);
    ck_assert_int_eq(wire_receive(ends[1], buffer, 4, &n, &got), WIRE_BAD);
    ck_assert(wire_send(ends[0], big, WIRE_MESSAGE, NULL, 0, NULL, 0, -1));
    ck_assert_int_eq(wire_receive(ends[1], buffer, 4, &n, &got), WIRE_OK);
    ck_assert_uint_eq(n, WIRE_MESSAGE);
}
END_TEST

START_TEST(test_closed_end_is_told_without_a_signal)
{
    size_t n;
    int got;
    close(ends[0]);
    ck_assert_int_eq(wire_receive(ends[1], buffer, 1, &n, &got), WIRE_CLOSED);
    ck_assert(!wire_send(ends[1], "abcd", 4, NULL, 0, NULL, 0, -1));
    ends[0] = dup(ends[1]);
}
END_TEST

START_TEST(test_second_descriptor_of_a_packet_is_closed)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(2 * sizeof(int))];
    } control = {0};
    char text[4] = "abcd";
    struct iovec part = {text, 4};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    int fds[2] = {ends[0], ends[1]}, got;
    size_t n;
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof fds);
    memcpy(CMSG_DATA(c), fds, sizeof fds);
    int before = dup(ends[0]);
    close(before);
    ck_assert_int_eq(sendmsg(ends[0], &m, 0), 4);
    ck_assert_int_eq(wire_receive(ends[1], buffer, 4, &n, &got), WIRE_OK);
    close(got);
    int after = dup(ends[0]);
    close(after);
    ck_assert_int_eq(after, before);
}
END_TEST

START_TEST(test_only_sealed_memory_counts_as_sealed)
{
    int sealed = wire_memfd("test", 4096, NULL);
    int fixed = wire_memfd("test", 3, "abc");
    int open_ended = memfd_create("test", MFD_ALLOW_SEALING);
    int pipes[2];
    ck_assert_int_eq(ftruncate(open_ended, 4096), 0);
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert(wire_is_sealed(sealed, 4096, false));
    ck_assert(!wire_is_sealed(sealed, 4097, false)); // smaller than that
    ck_assert(!wire_is_sealed(sealed, 4096, true));  // can be written
    ck_assert(wire_is_sealed(fixed, 3, true));
    ck_assert(!wire_is_sealed(open_ended, 4096, false));
    ck_assert(!wire_is_sealed(pipes[0], 0, false));
    ck_assert(!wire_is_sealed(-1, 0, false));
    ck_assert_int_eq(ftruncate(sealed, 0), -1);
}
END_TEST

static Suite *wire_suite(void)
{
    Suite *suite = suite_create("wire");
    TCase *tc = tcase_create("packets");
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, test_parts_and_descriptor_arrive_as_one_packet);
    tcase_add_test(tc, test_short_packet_is_bad_and_leaks_no_descriptor);
    tcase_add_test(tc, test_oversized_packet_is_bad);
    tcase_add_test(tc, test_closed_end_is_told_without_a_signal);
    tcase_add_test(tc, test_second_descriptor_of_a_packet_is_closed);
    tcase_add_test(tc, test_only_sealed_memory_counts_as_sealed);
    suite_add_tcase(suite, tc);
    return suite;
}

TEST_MAIN(wire_suite)
