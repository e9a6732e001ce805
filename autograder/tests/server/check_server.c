// A running device server, asked rightly and wrongly by owner and programs.
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vgpu/server/control.h>
#include <vgpu/server/wire.h>

#include "../test.h"

enum { GRANULE = 2 << 20 };

static struct vgpu *vgpu;
static int door;
static _Alignas(64) char buffer[WIRE_MESSAGE];

static void setup(void)
{
    char message[256];
    struct vgpu_options options = {
        .ndevices = 2, .watch = WATCH_CHECK | WATCH_WRITERS, .nthreads = 1,
        .server_path = "build/bin/vgpu-server",
    };
    ck_assert_msg(!vgpu_start(&options, &vgpu, message), "%s", message);
    door = vgpu_program_socket(vgpu);
    ck_assert_int_ge(door, 0);
}

static void teardown(void)
{
    close(door);
    vgpu_stop(vgpu);
}

static bool server_lives(void)
{
    double ns;
    return !vgpu_clock(vgpu, &ns);
}

// ---- a program, byte by byte -----------------------------------------------

static int connect_program(void)
{
    int pair[2];
    struct wire_request head = {.op = WIRE_DOOR_CONNECT};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair), 0);
    ck_assert(wire_send(door, &head, sizeof head, NULL, 0, NULL, 0, pair[1]));
    close(pair[1]);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return pair[0];
}

// The reply's error; -1 when the server closed the connection.
static int ask(int sock, uint32_t op, const void *body, size_t n, void *reply,
               size_t nreply)
{
    struct wire_request head = {.op = op, .nbytes = (uint32_t)n};
    size_t nbytes;
    int fd;
    if (!wire_send(sock, &head, sizeof head, body, n, NULL, 0, -1) ||
        wire_receive(sock, buffer, sizeof(struct wire_reply), &nbytes, &fd))
        return -1;
    if (fd >= 0)
        close(fd);
    const struct wire_reply *r = (const void *)buffer;
    ck_assert_uint_eq(r->nbytes, nbytes - sizeof *r);
    if (nreply)
        memcpy(reply, buffer + sizeof *r, nreply);
    return r->error;
}

static int allocate(int sock, uint64_t nbytes, int device, uint64_t *addr)
{
    struct wire_alloc body = {nbytes, device, WIRE_MEM_DEVICE};
    struct wire_range range = {0};
    int error = ask(sock, WIRE_ALLOC, &body, sizeof body, &range, sizeof range);
    *addr = range.addr;
    return error;
}

static int release(int sock, uint64_t addr)
{
    struct wire_free body = {addr, WIRE_MEM_DEVICE, WIRE_WAIT};
    return ask(sock, WIRE_FREE, &body, sizeof body, NULL, 0);
}

START_TEST(test_hello_says_what_is_there)
{
    struct wire_hello hello;
    int sock = connect_program();
    ck_assert_int_eq(ask(sock, WIRE_HELLO, NULL, 0, &hello, sizeof hello), 0);
    ck_assert_uint_eq(hello.version, WIRE_VERSION);
    ck_assert_uint_eq(hello.ndevices, 2);
    ck_assert_str_eq(hello.gpu, "h200"); // the default
    close(sock);
}
END_TEST

START_TEST(test_memory_is_freed_once_and_by_its_owner)
{
    uint64_t addr, other;
    int sock = connect_program(), stranger = connect_program();
    ck_assert_int_eq(allocate(sock, 1000, 0, &addr), 0);
    ck_assert_int_eq(release(stranger, addr), 1);
    ck_assert_int_eq(release(sock, addr + 8), 1);
    ck_assert_int_eq(release(sock, addr), 0);
    ck_assert_int_eq(release(sock, addr), 1);
    ck_assert_int_eq(release(sock, 0), 1);
    ck_assert_int_eq(release(sock, UINT64_MAX), 1);
    ck_assert_int_eq(allocate(stranger, 1000, 1, &other), 0);
    close(stranger);
    close(sock);
}
END_TEST

START_TEST(test_impossible_sizes_and_devices_are_refused)
{
    uint64_t addr;
    int sock = connect_program();
    ck_assert_int_eq(allocate(sock, UINT64_MAX, 0, &addr), 2);
    ck_assert_int_eq(allocate(sock, UINT64_C(1) << 62, 0, &addr), 2);
    ck_assert_int_eq(allocate(sock, 0, 0, &addr), 1);
    ck_assert_int_eq(allocate(sock, 16, 2, &addr), 101);
    ck_assert_int_eq(allocate(sock, 16, -1, &addr), 101);
    close(sock);
}
END_TEST

struct bad_copy {
    const char *name;
    struct wire_copy copy; // dst: an offset into an allocation of 1000 bytes
};
static const struct bad_copy bad_copies[] = {
    {"past the end", {.width = 1001, .height = 1}},
    {"rows past the end",
     {.dst_pitch = 500, .src_pitch = 500, .width = 400, .height = 3}},
    {"pitch times height overflows",
     {.dst_pitch = UINT64_C(1) << 63, .src_pitch = 8, .width = 8, .height = 3}},
    {"width overflows", {.dst = 8, .width = UINT64_MAX - 4, .height = 1}},
    {"rows overlap",
     {.dst_pitch = 1, .src_pitch = 8, .width = 8, .height = 2}},
    {"staging too small",
     {.src = 1, .width = WIRE_STAGING, .height = 1}},
    {"no such kind", {.width = 8, .height = 1, .kind = 9}},
};

START_TEST(test_bad_copy_is_refused)
{
    uint64_t addr;
    int sock = connect_program();
    ck_assert_int_eq(allocate(sock, 1000, 0, &addr), 0);
    struct wire_copy copy = bad_copies[_i].copy;
    if (!copy.kind)
        copy.kind = WIRE_COPY_IN;
    copy.dst += addr;
    ck_assert_msg(ask(sock, WIRE_COPY, &copy, sizeof copy, NULL, 0) == 1,
                  "%s", bad_copies[_i].name);
    struct wire_copy right = {.dst = addr, .width = 1000, .height = 1,
                              .kind = WIRE_COPY_IN};
    ck_assert_int_eq(ask(sock, WIRE_COPY, &right, sizeof right, NULL, 0), 0);
    close(sock);
}
END_TEST

START_TEST(test_invented_handles_are_refused)
{
    int sock = connect_program();
    struct wire_id id = {77};
    struct wire_event_pair pair = {1, 2};
    struct wire_sync sync = {0, 77};
    struct wire_ipc ipc = {.base = 1};
    struct wire_peer peer = {.device = 0, .peer = 9};
    ck_assert_int_eq(ask(sock, WIRE_STREAM_FREE, &id, sizeof id, NULL, 0), 400);
    ck_assert_int_eq(ask(sock, WIRE_EVENT_FREE, &id, sizeof id, NULL, 0), 400);
    ck_assert_int_eq(ask(sock, WIRE_EVENT_SYNC, &id, sizeof id, NULL, 0), 400);
    ck_assert_int_eq(ask(sock, WIRE_EVENT_TIME, &pair, sizeof pair, NULL, 0),
                     400);
    ck_assert_int_eq(ask(sock, WIRE_SYNC, &sync, sizeof sync, NULL, 0), 400);
    ck_assert_int_eq(ask(sock, WIRE_IPC_OPEN, &ipc, sizeof ipc, NULL, 0), 400);
    ck_assert_int_eq(ask(sock, WIRE_PEER, &peer, sizeof peer, NULL, 0), 101);
    id.id = 0; // a default stream cannot be ended
    ck_assert_int_eq(ask(sock, WIRE_STREAM_FREE, &id, sizeof id, NULL, 0), 400);
    close(sock);
}
END_TEST

// ---- what only the owner may do --------------------------------------------

START_TEST(test_program_cannot_do_what_the_owner_does)
{
    for (uint32_t op = WIRE_OWNER_FIRST; op < WIRE_OWNER_END; op++) {
        static const char body[256];
        int sock = connect_program();
        for (size_t n = 0; n <= sizeof body; n += 8)
            if (ask(sock, op, body, n, NULL, 0) == -1)
                break;
            else
                ck_abort_msg("operation %#x was answered", op);
        close(sock);
    }
    ck_assert(server_lives());
}
END_TEST

START_TEST(test_door_takes_nothing_but_connections)
{
    struct wire_request head = {.op = WIRE_OWNER_WATCH, .nbytes = 0};
    int pipes[2];
    ck_assert_int_eq(pipe(pipes), 0);
    ck_assert(wire_send(door, &head, sizeof head, NULL, 0, NULL, 0, -1));
    ck_assert(wire_send(door, "x", 1, NULL, 0, NULL, 0, pipes[0]));
    head.op = WIRE_DOOR_CONNECT;
    ck_assert(wire_send(door, &head, sizeof head, NULL, 0, NULL, 0, pipes[0]));
    ck_assert(wire_send(door, &head, sizeof head, NULL, 0, NULL, 0, -1));
    int sock = connect_program(); // and it still works
    struct wire_hello hello;
    ck_assert_int_eq(ask(sock, WIRE_HELLO, NULL, 0, &hello, sizeof hello), 0);
    close(sock);
}
END_TEST

// ---- noise -----------------------------------------------------------------

// Requests of right and wrong length, with bodies at random.
START_TEST(test_noise_harms_nobody)
{
    srand((unsigned)_i + 1);
    for (int round = 0; round < 40; round++) {
        int sock = connect_program();
        uint64_t addr;
        allocate(sock, 4096, 0, &addr);
        for (int k = 0; k < 50; k++) {
            struct wire_request head = {
                .op = (uint32_t)rand() % (WIRE_PROGRAM_COUNT + 1),
            };
            static char body[512];
            size_t n = (size_t)rand() % sizeof body / 8 * 8;
            for (size_t i = 0; i < n; i++)
                body[i] = rand() % 3 ? 0 : (char)rand();
            if (rand() % 2)
                memcpy(body, &addr, sizeof addr);
            head.nbytes = rand() % 20 ? (uint32_t)n : (uint32_t)rand();
            if (!wire_send(sock, &head, sizeof head, body, n, NULL, 0, -1))
                break;
            while (recv(sock, buffer, sizeof buffer, MSG_DONTWAIT) > 0)
                ;
        }
        close(sock);
    }
    ck_assert(server_lives());
    ck_assert_int_eq(vgpu_wait_idle(vgpu), 0);
}
END_TEST

// Every operation with exactly its size, all bits set: the largest of all.
START_TEST(test_extreme_values_harm_nobody)
{
    static const size_t sizes[] = {
#define OP(name, request, reply) sizeof(struct request),
        WIRE_PROGRAM_OPS(OP)
#undef OP
    };
    static char ones[256];
    memset(ones, 0xff, sizeof ones);
    for (uint32_t op = 0; op < WIRE_PROGRAM_COUNT; op++) {
        int sock = connect_program();
        struct wire_request head = {.op = op, .nbytes = (uint32_t)sizes[op],
                                    .host_ns = UINT64_MAX};
        ck_assert(wire_send(sock, &head, sizeof head, ones, sizes[op], NULL, 0,
                            -1));
        struct wire_hello hello;
        ck_assert_int_ge(ask(sock, WIRE_HELLO, NULL, 0, &hello, sizeof hello),
                         0);
        close(sock);
    }
    ck_assert(server_lives());
}
END_TEST

// ---- the owner -------------------------------------------------------------

START_TEST(test_import_needs_sealed_memory_of_that_size)
{
    int sealed = wire_memfd("test", GRANULE, NULL);
    int loose = memfd_create("test", MFD_ALLOW_SEALING);
    ck_assert_int_eq(ftruncate(loose, GRANULE), 0);
    ck_assert_uint_eq(vgpu_import(vgpu, loose, GRANULE, 0, "loose"), 0);
    ck_assert_uint_eq(vgpu_import(vgpu, sealed, 2 * GRANULE, 0, "big"), 0);
    ck_assert_uint_eq(vgpu_import(vgpu, sealed, GRANULE, 5, "device"), 0);
    uint64_t addr = vgpu_import(vgpu, sealed, GRANULE, 1, "right");
    ck_assert_uint_ne(addr, 0);
    ck_assert_int_eq(vgpu_forget(vgpu, addr + 1), -1);
    ck_assert_int_eq(vgpu_forget(vgpu, addr), 0);
    ck_assert_int_eq(vgpu_forget(vgpu, addr), -1);
    close(sealed);
    close(loose);
}
END_TEST

START_TEST(test_import_is_the_owners_own_memory)
{
    int fd = wire_memfd("test", GRANULE, NULL), sock = connect_program();
    char *mine = mmap(NULL, GRANULE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t addr = vgpu_import(vgpu, fd, GRANULE, 0, "buffer");
    ck_assert_uint_ne(addr, 0);
    // A program may fill it, but not free it.
    struct wire_fill fill = {.dst = addr + 5, .width = 3, .height = 1,
                             .byte = 'x', .flags = WIRE_WAIT};
    ck_assert_int_eq(ask(sock, WIRE_FILL, &fill, sizeof fill, NULL, 0), 0);
    ck_assert_int_eq(memcmp(mine + 4, "\0xxx", 5), 0);
    ck_assert_int_eq(release(sock, addr), 1);
    struct writers w;
    ck_assert_int_eq(vgpu_mark_unwritten(vgpu, addr, GRANULE), 0);
    ck_assert_int_eq(vgpu_mark_host_written(vgpu, addr + 8, 100), 0);
    ck_assert_int_eq(vgpu_writers(vgpu, addr, 200, &w), 0);
    ck_assert_uint_eq(w.host, 100);
    ck_assert_uint_eq(w.nobody, 100);
    ck_assert_int_eq(vgpu_writers(vgpu, addr, GRANULE + 1, &w), -1);
    close(sock);
    close(fd);
}
END_TEST

START_TEST(test_clock_counts_copies_and_goes_on)
{
    uint64_t addr;
    double before, after, later;
    int sock = connect_program();
    ck_assert_int_eq(vgpu_clock(vgpu, &before), 0);
    ck_assert_int_eq(allocate(sock, WIRE_STAGING, 0, &addr), 0);
    struct wire_copy copy = {.dst = addr, .width = WIRE_STAGING, .height = 1,
                             .kind = WIRE_COPY_IN, .flags = WIRE_WAIT};
    ck_assert_int_eq(ask(sock, WIRE_COPY, &copy, sizeof copy, NULL, 0), 0);
    ck_assert_int_eq(vgpu_clock(vgpu, &after), 0);
    // 8 MiB at some 10 GB/s; whatever the model, not less than 60 GB/s.
    ck_assert_double_gt(after - before, WIRE_STAGING / 60.0);
    close(sock);
    ck_assert_int_eq(vgpu_wait_idle(vgpu), 0);
    ck_assert_int_eq(vgpu_clock(vgpu, &later), 0);
    ck_assert_double_ge(later, after);
}
END_TEST

START_TEST(test_leak_is_found_once)
{
    uint64_t addr;
    unsigned n;
    struct finding *found;
    int sock = connect_program();
    ck_assert_int_eq(allocate(sock, 1234, 0, &addr), 0);
    close(sock);
    ck_assert_int_eq(vgpu_wait_idle(vgpu), 0);
    ck_assert_int_eq(vgpu_findings(vgpu, &found, &n), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(found[0].kind, FINDING_LEAK);
    ck_assert_uint_eq(found[0].nbytes, 1234);
    free(found);
    ck_assert_int_eq(vgpu_findings(vgpu, &found, &n), 0);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(test_server_ends_with_its_owner)
{
    struct vgpu *second;
    char message[256];
    struct vgpu_options options = {.server_path = "build/bin/vgpu-server"};
    ck_assert_int_eq(vgpu_start(&options, &second, message), 0);
    pid_t pid = vgpu_pid(second);
    ck_assert_int_eq(kill(pid, 0), 0);
    vgpu_stop(second);
    ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

START_TEST(test_start_says_why_it_failed)
{
    struct vgpu *none;
    char message[256] = "";
    struct vgpu_options wrong_gpu = {.gpu = "h2000",
                                     .server_path = "build/bin/vgpu-server"};
    struct vgpu_options no_server = {.server_path = "build/bin/nothing"};
    ck_assert_int_eq(vgpu_start(&wrong_gpu, &none, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "refused"));
    ck_assert_int_eq(vgpu_start(&no_server, &none, message), -1);
    ck_assert_ptr_nonnull(strstr(message, "build/bin/nothing"));
}
END_TEST

// ---- a sandbox with nothing in it ------------------------------------------

#define SANDBOX                                                                \
    "bwrap", "--unshare-all", "--die-with-parent", "--clearenv", "--ro-bind",  \
        "/usr", "/usr", "--symlink", "usr/lib", "/lib", "--symlink",           \
        "usr/lib64", "/lib64"

static bool sandbox_works(void)
{
    return !system("bwrap --unshare-all --ro-bind / / true 2>/dev/null");
}

START_TEST(test_server_runs_where_there_is_nothing)
{
    char here[PATH_MAX], message[256];
    ck_assert_ptr_nonnull(realpath("build/bin/vgpu-server", here));
    const char *const prefix[] = {SANDBOX, "--ro-bind", here, "/server", NULL};
    struct vgpu_options options = {.prefix = prefix, .server_path = "/server"};
    struct vgpu *inside;
    ck_assert_msg(!vgpu_start(&options, &inside, message), "%s", message);
    int outer = door;
    uint64_t addr;
    door = vgpu_program_socket(inside);
    int sock = connect_program();
    ck_assert_int_eq(allocate(sock, 1 << 20, 0, &addr), 0);
    struct wire_fill fill = {.dst = addr, .width = 1 << 20, .height = 1,
                             .byte = 1, .flags = WIRE_WAIT};
    ck_assert_int_eq(ask(sock, WIRE_FILL, &fill, sizeof fill, NULL, 0), 0);
    close(sock);
    close(door);
    door = outer;
    vgpu_stop(inside);
}
END_TEST

static Suite *server_suite(void)
{
    Suite *suite = suite_create("server");
    TCase *program = tcase_create("program");
    tcase_add_checked_fixture(program, setup, teardown);
    tcase_add_test(program, test_hello_says_what_is_there);
    tcase_add_test(program, test_memory_is_freed_once_and_by_its_owner);
    tcase_add_test(program, test_impossible_sizes_and_devices_are_refused);
    tcase_add_loop_test(program, test_bad_copy_is_refused, 0,
                        sizeof bad_copies / sizeof *bad_copies);
    tcase_add_test(program, test_invented_handles_are_refused);
    tcase_add_test(program, test_program_cannot_do_what_the_owner_does);
    tcase_add_test(program, test_door_takes_nothing_but_connections);
    tcase_add_loop_test(program, test_noise_harms_nobody, 0, 5);
    tcase_add_test(program, test_extreme_values_harm_nobody);
    suite_add_tcase(suite, program);
    TCase *owner = tcase_create("owner");
    tcase_add_checked_fixture(owner, setup, teardown);
    tcase_add_test(owner, test_import_needs_sealed_memory_of_that_size);
    tcase_add_test(owner, test_import_is_the_owners_own_memory);
    tcase_add_test(owner, test_clock_counts_copies_and_goes_on);
    tcase_add_test(owner, test_leak_is_found_once);
    tcase_add_test(owner, test_server_ends_with_its_owner);
    tcase_add_test(owner, test_start_says_why_it_failed);
    if (sandbox_works()) // not where user namespaces are forbidden
        tcase_add_test(owner, test_server_runs_where_there_is_nothing);
    suite_add_tcase(suite, owner);
    return suite;
}

TEST_MAIN(server_suite)
