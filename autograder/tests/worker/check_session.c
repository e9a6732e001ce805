// A session survives whatever a submission does, and says what it did.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"
#include "worker/cage.h"
#include "worker/session_impl.h"
#include "worker/tree.h"

static struct session *session;
static char message[512];
static enum isolation level;

static void open_session(const char *submission)
{
    struct session_options o = {.target = TARGET_VIRTUAL,
                                .isolation = level,
                                .submission = submission,
                                .memory_bytes = 512 << 20,
                                .max_processes = 50};
    int rc = session_open(&o, &session, message);
    ck_assert_msg(rc == 0, "%s", message);
}

static void open_plain(void)
{
    char *plain = build_path("tests/worker/plain.so");
    ck_assert_ptr_nonnull(plain);
    open_session(plain);
    free(plain);
}

static void open_isolated(void)
{
    level = isolation_probe();
    open_plain();
}

static void open_as_fresh_user(void)
{
    level = ISOLATION_USER;
    open_plain();
}

static void close_session(void)
{
    session_close(session);
    struct tree_usage u; // this process alone, and no child of its
    tree_measure(getpid(), &u);
    ck_assert_uint_eq(u.processes, 1);
}

static struct outcome call(const char *symbol, enum return_kind returns)
{
    struct call c = {.symbol = symbol, .returns = returns, .deadline_s = 1};
    struct outcome o;
    session_call(session, &c, &o);
    return o;
}

// Those that would never come back get a second, the others what they need
// on a busy machine.
static struct outcome call_with(const char *symbol, uint64_t value)
{
    bool stays = strstr(symbol, "hang") || strcmp(symbol, "hog") == 0;
    struct call c = {.symbol = symbol, .returns = RETURN_I32, .nargs = 1,
                     .deadline_s = stays ? 1 : 9,
                     .args = {{.kind = ARG_U64, .u = value}}};
    struct outcome o;
    session_call(session, &c, &o);
    return o;
}

START_TEST(test_calls_with_host_buffers)
{
    enum { N = 1000 };
    struct buffer *a = buffer_host(session, N * sizeof(float), "a");
    struct buffer *c = buffer_host(session, N * sizeof(float), "c");
    float *h_a = buffer_map(a), *h_c = buffer_map(c);
    for (int i = 0; i < N; i++)
        h_a[i] = (float)i;
    ck_assert_int_eq(buffer_fill(c, 0xff), 0);
    struct call add = {
        .symbol = "add", .returns = RETURN_I32, .nargs = 4,
        .args = {{.kind = ARG_BUFFER, .buffer = a},
                 {.kind = ARG_BUFFER, .buffer = a, .offset = 4},
                 {.kind = ARG_BUFFER, .buffer = c},
                 {.kind = ARG_U64, .u = N - 1}}};
    struct outcome o;
    session_call(session, &add, &o);
    ck_assert_msg(o.status == CALL_RETURNED, "%s", o.text);
    ck_assert_int_eq(o.cuda_error, 0);
    for (int i = 0; i < N - 1; i++)
        ck_assert_float_eq(h_c[i], 2 * (float)i + 1);
    uint32_t last;
    ck_assert_int_eq(buffer_read(c, (N - 1) * 4, &last, 4), 0);
    ck_assert_uint_eq(last, 0xffffffff);
    ck_assert_int_eq(buffer_read(c, N * 4 - 3, &last, 4), -1);
}
END_TEST

START_TEST(test_passes_every_kind_of_argument)
{
    struct buffer *p = buffer_host(session, 1, "p");
    struct call c = {
        .symbol = "mix", .returns = RETURN_I64, .nargs = 8,
        .args = {{.kind = ARG_I32, .i = -1},
                 {.kind = ARG_U32, .u = 4000000000},
                 {.kind = ARG_I64, .i = -5000000000},
                 {.kind = ARG_U64, .u = 7},
                 {.kind = ARG_F32, .f = 2.5},
                 {.kind = ARG_F64, .f = -1.5},
                 {.kind = ARG_NULL},
                 {.kind = ARG_BUFFER, .buffer = p}}};
    struct outcome o;
    session_call(session, &c, &o);
    ck_assert_int_eq(o.status, CALL_RETURNED);
    ck_assert_int_eq(o.i, -1 + 4000000000 - 5000000000 + 7 + 25 - 15);
    ck_assert_int_eq(*(char *)buffer_map(p), 'm');
}
END_TEST

START_TEST(test_returns_every_kind)
{
    struct call c = {.symbol = "half", .returns = RETURN_F32, .nargs = 1,
                     .args = {{.kind = ARG_F32, .f = 3}}};
    struct outcome o;
    session_call(session, &c, &o);
    ck_assert_double_eq(o.f, 1.5);
    c = (struct call){.symbol = "third", .returns = RETURN_F64, .nargs = 1,
                      .args = {{.kind = ARG_F64, .f = 1}}};
    session_call(session, &c, &o);
    ck_assert_double_eq(o.f, 1.0 / 3);
    ck_assert_int_eq(call("negative", RETURN_I32).i, -7);
}
END_TEST

START_TEST(test_reads_the_cpu_clock)
{
    struct outcome quick = call("negative", RETURN_I32);
    struct outcome slow = call("flood", RETURN_VOID);
    ck_assert_double_lt(quick.worker_cpu_s, 0.02);
    ck_assert_double_gt(slow.worker_cpu_s, 0.001);
}
END_TEST

START_TEST(test_nobody_can_shrink_a_buffer)
{
    struct buffer *b = buffer_host(session, 5000, "b");
    ck_assert_int_eq(ftruncate(b->fd, 0), -1);
    ck_assert_int_eq(ftruncate(b->fd, 64 << 20), -1);
    ck_assert_int_eq(fcntl(b->fd, F_ADD_SEALS, F_SEAL_WRITE), -1);
}
END_TEST

// ---- endings -----------------------------------------------------------------

static const struct {
    const char *symbol;
    uint64_t arg;
    enum call_status status;
    int code;
    const char *text; // a part of it
} ends[] = {
    {"no_such_function", 0, CALL_NO_SYMBOL, 0, "no_such_function"},
    {"crash", 0, CALL_SIGNAL, 11, "address"},
    {"say_and_crash", 0, CALL_SIGNAL, 6, "aborted"},
    {"leave", 0, CALL_EXITED, 0, "status 0"},
    {"leave", 3, CALL_EXITED, 3, "status 3"},
    {"leave", 139, CALL_EXITED, 139, "status 139"},
    {"hang", 0, CALL_TIMEOUT, 0, "1 s"},
    {"catch_and_hang", 0, CALL_TIMEOUT, 0, "1 s"},
    {"hog", 800, CALL_TIMEOUT, 0, "1 s"}, // it gets no more than the limit
    {"hog_memfd", 700, CALL_SIGNAL, 9, "limit on memory"},
    {"close_all", 0, CALL_EXITED, -1, "descriptors"},
};

START_TEST(test_tells_how_it_ended)
{
    struct outcome o = call_with(ends[_i].symbol, ends[_i].arg);
    ck_assert_msg(o.status == ends[_i].status, "%s: %d %s", ends[_i].symbol,
                  o.status, o.text);
    if (ends[_i].text[0])
        ck_assert_int_eq(o.code, ends[_i].code);
    ck_assert_msg(strstr(o.text, ends[_i].text) != NULL, "%s", o.text);
    // It stays so until a restart, and then all is well again.
    if (o.status != CALL_NO_SYMBOL) {
        struct outcome again = call("negative", RETURN_I32);
        ck_assert_int_eq(again.status, o.status);
        ck_assert_int_eq(session_restart(session, message), 0);
    }
    ck_assert_int_eq(call("negative", RETURN_I32).i, -7);
}
END_TEST

START_TEST(test_keeps_last_words)
{
    struct outcome o = call("say_and_crash", RETURN_VOID);
    ck_assert_str_eq(o.output, "last words ?[2J?\n");
}
END_TEST

START_TEST(test_buffers_outlive_a_crash)
{
    struct buffer *a = buffer_host(session, 64, "a");
    memset(buffer_map(a), 7, 64);
    ck_assert_int_eq(call("crash", RETURN_VOID).status, CALL_SIGNAL);
    ck_assert_int_eq(session_restart(session, message), 0);
    struct call c = {.symbol = "mix", .returns = RETURN_I64, .nargs = 8,
                     .args = {{.kind = ARG_I32}, {.kind = ARG_U32},
                              {.kind = ARG_I64}, {.kind = ARG_U64},
                              {.kind = ARG_F32}, {.kind = ARG_F64},
                              {.kind = ARG_NULL},
                              {.kind = ARG_BUFFER, .buffer = a, .offset = 1}}};
    struct outcome o;
    session_call(session, &c, &o);
    ck_assert_int_eq(o.status, CALL_RETURNED);
    ck_assert_int_eq(((char *)buffer_map(a))[0], 7);
    ck_assert_int_eq(((char *)buffer_map(a))[1], 'm');
}
END_TEST

// ---- attacks ------------------------------------------------------------------

START_TEST(test_starts_no_process)
{
    ck_assert_int_lt(call("fork_once", RETURN_I32).i, 0);
}
END_TEST

START_TEST(test_bounds_threads)
{
    struct outcome o = call_with("threads", 400);
    if (o.status == CALL_RETURNED)
        ck_assert_int_le(o.i, 50);
    else
        ck_assert_ptr_nonnull(strstr(o.text, "processes and threads"));
    ck_assert_int_eq(session_restart(session, message), 0);
    ck_assert_int_eq(call_with("threads", 20).i, 20);
}
END_TEST

START_TEST(test_forged_replies_change_nothing)
{
    call("forge", RETURN_VOID);
    for (int i = 0; i < 5; i++)
        ck_assert_int_eq(call("negative", RETURN_I32).i, -7);
}
END_TEST

START_TEST(test_cannot_kill_what_watches_it)
{
    call("kill_all", RETURN_VOID);
    ck_assert_int_eq(call("negative", RETURN_I32).i, -7);
}
END_TEST

START_TEST(test_lends_few_descriptors)
{
    // stdin, stdout, stderr, the judge's socket, the device server's
    ck_assert_int_eq(call("count_fds", RETURN_I32).i, 5);
}
END_TEST

START_TEST(test_breaks_out_nowhere)
{
    if (level != ISOLATION_NONE)
        ck_assert_int_eq(call("breaches", RETURN_I32).i, 0);
}
END_TEST

// ---- submissions that do not load -------------------------------------------------

static void check_not_loaded(const char *path)
{
    open_session(path);
    struct outcome o = call("negative", RETURN_I32);
    ck_assert_int_eq(o.status, CALL_NOT_LOADED);
    ck_assert_uint_gt(strlen(o.text), 0);
    close_session();
}

START_TEST(test_takes_regular_files_only)
{
    char path[] = "/tmp/check-session-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(path));
    char fifo[64], link[64], text[64];
    snprintf(fifo, sizeof fifo, "%s/fifo", path);
    snprintf(link, sizeof link, "%s/link", path);
    snprintf(text, sizeof text, "%s/text", path);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    ck_assert_int_eq(symlink("/lib/x86_64-linux-gnu/libc.so.6", link), 0);
    FILE *f = fopen(text, "w");
    fputs("no shared object\n", f);
    fclose(f);
    check_not_loaded(fifo);
    check_not_loaded(link);
    check_not_loaded(text);
    check_not_loaded("/dev/zero");
    check_not_loaded("/nowhere.so");
    unlink(fifo), unlink(link), unlink(text), rmdir(path);
}
END_TEST

static void add_tests(Suite *s, const char *name, SFun open)
{
    TCase *t = tcase_create(name);
    tcase_add_checked_fixture(t, open, close_session);
    tcase_set_timeout(t, 30);
    tcase_add_test(t, test_calls_with_host_buffers);
    tcase_add_test(t, test_passes_every_kind_of_argument);
    tcase_add_test(t, test_returns_every_kind);
    tcase_add_test(t, test_reads_the_cpu_clock);
    tcase_add_test(t, test_nobody_can_shrink_a_buffer);
    tcase_add_loop_test(t, test_tells_how_it_ended, 0,
                        sizeof ends / sizeof *ends);
    tcase_add_test(t, test_keeps_last_words);
    tcase_add_test(t, test_buffers_outlive_a_crash);
    tcase_add_test(t, test_starts_no_process);
    tcase_add_test(t, test_bounds_threads);
    tcase_add_test(t, test_forged_replies_change_nothing);
    tcase_add_test(t, test_cannot_kill_what_watches_it);
    tcase_add_test(t, test_lends_few_descriptors);
    tcase_add_test(t, test_breaks_out_nowhere);
    suite_add_tcase(s, t);
}

static Suite *suite(void)
{
    Suite *s = suite_create("session");
    setenv("HOSTILE_TEST_SECRET", "secret", 1);
    add_tests(s, "isolated as well as can be", open_isolated);
    if (geteuid() == 0)
        add_tests(s, "a fresh user", open_as_fresh_user);
    TCase *t = tcase_create("submissions");
    tcase_add_test(t, test_takes_regular_files_only);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
