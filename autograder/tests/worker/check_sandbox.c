// Commands in a sandbox: what they see, how they end, and that nothing stays.
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"
#include "worker/session.h"

static char scratch[64];

static void make_scratch(void)
{
    strcpy(scratch, "/tmp/check-sandbox-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(scratch));
}

static void remove_scratch(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", scratch);
    ck_assert_int_eq(system(command), 0);
}

// Processes of this machine whose command line holds the word.
static unsigned processes_with(const char *word)
{
    unsigned n = 0;
    DIR *proc = opendir("/proc");
    struct dirent *e;
    while ((e = readdir(proc)) != NULL) {
        char path[300], line[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", e->d_name);
        int fd = open(path, O_RDONLY);
        ssize_t got = fd >= 0 ? read(fd, line, sizeof line) : 0;
        if (fd >= 0)
            close(fd);
        n += got > 0 && memmem(line, (size_t)got, word, strlen(word)) != NULL;
    }
    closedir(proc);
    return n;
}

static struct sandbox_result shell_in(enum isolation isolation,
                                      const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", "MARK=set", NULL};
    struct sandbox_run run = {
        .isolation = isolation, .argv = argv, .env = env, .scratch = scratch,
        .wall_s = 2, .cpu_s = 10, .memory_bytes = 256 << 20,
        .scratch_bytes = 32 << 20, .max_processes = 40,
    };
    struct sandbox_result result;
    sandbox_run(&run, &result);
    return result;
}

// The levels that this machine has: each test runs at all of them.
static const enum isolation levels[] = {ISOLATION_NONE, ISOLATION_USER,
                                        ISOLATION_NAMESPACES};
enum { NLEVELS = sizeof levels / sizeof *levels };

static bool has_level(enum isolation i)
{
    return i == ISOLATION_NONE || (i == ISOLATION_USER && geteuid() == 0) ||
           (i == ISOLATION_NAMESPACES &&
            isolation_probe() == ISOLATION_NAMESPACES);
}

#define SKIP_UNLESS(level)                                                     \
    if (!has_level(level))                                                     \
    return

START_TEST(test_runs_and_tells_the_status)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r =
        shell_in(levels[_i], "echo out; echo err >&2; echo $MARK; exit 3");
    ck_assert_int_eq(r.how, RAN_EXIT);
    ck_assert_int_eq(r.code, 3);
    ck_assert_str_eq(r.output, "out\nerr\nset\n");
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_tells_the_signal)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r = shell_in(levels[_i], "kill -SEGV $$");
    ck_assert_int_eq(r.how, RAN_SIGNAL);
    ck_assert_int_eq(r.code, 11);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_writes_into_scratch)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r = shell_in(levels[_i], "pwd > made");
    char path[128], text[128] = "";
    snprintf(path, sizeof path, "%s/made", scratch);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
    fclose(f);
    ck_assert_int_eq(strncmp(text, scratch, strlen(scratch)), 0);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_ends_at_the_deadline_with_all_it_started)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r =
        shell_in(levels[_i], "trap '' TERM HUP INT; setsid sleep 34567 & "
                             "(setsid sleep 34567 &) ; sleep 34567");
    ck_assert_int_eq(r.how, RAN_TIMEOUT);
    ck_assert_double_le(r.wall_s, 4);
    ck_assert_uint_eq(processes_with("34567"), 0);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_ends_what_is_left_behind)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r =
        shell_in(levels[_i], "setsid sleep 45678 >/dev/null 2>&1 & exit 0");
    ck_assert_int_eq(r.how, RAN_EXIT);
    ck_assert_double_le(r.wall_s, 1.5);
    ck_assert_uint_eq(processes_with("45678"), 0);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_bounds_a_fork_bomb)
{
    SKIP_UNLESS(levels[_i]);
    // Doubles seven times: 128 processes, and no more.
    struct sandbox_result r = shell_in(
        levels[_i], "b() { [ $1 -gt 0 ] && { b $(($1 - 1)) & "
                    "b $(($1 - 1)) & wait; } || sleep 56789; }; b 7");
    // Ended from outside, or refused a process and given up by itself.
    ck_assert(r.how != RAN_EXIT || r.code != 0);
    ck_assert_double_le(r.wall_s, 4);
    ck_assert_uint_eq(processes_with("56789"), 0);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_bounds_memory)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r = shell_in(
        levels[_i], "for i in 1 2 3 4; do "
                    "head -c 120m /dev/zero | tail -c 120m | sleep 3 & "
                    "done; wait; echo not bounded");
    ck_assert_ptr_null(strstr(r.output, "not bounded"));
    ck_assert_double_le(r.wall_s, 4);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_bounds_scratch)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r = shell_in(
        levels[_i], "for i in 1 2 3 4 5 6 7 8; do "
                    "head -c 10m /dev/zero > flood$i; sleep 0.1; done; "
                    "echo not bounded");
    ck_assert_int_eq(r.how, RAN_SIGNAL);
    ck_assert_ptr_nonnull(strstr(r.output, "limit on files"));
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_drains_a_flood)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r =
        shell_in(levels[_i], "echo first; head -c 200m /dev/zero; echo last");
    ck_assert_int_eq(r.how, RAN_EXIT);
    ck_assert_uint_eq(r.output_bytes, 11 + (200 << 20));
    ck_assert_int_eq(strncmp(r.output, "first\n", 6), 0);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_dies_with_its_owner)
{
    SKIP_UNLESS(levels[_i]);
    pid_t owner = fork();
    if (owner == 0) {
        shell_in(levels[_i], "sleep 67891 & sleep 67891");
        _exit(0);
    }
    for (int i = 0; i < 150 && processes_with("67891") == 0; i++)
        usleep(10000);
    usleep(100000);
    ck_assert_uint_gt(processes_with("67891"), 0);
    kill(owner, SIGKILL);
    ck_assert_int_eq(waitpid(owner, NULL, 0), owner);
    for (int i = 0; i < 100 && processes_with("67891") > 0; i++)
        usleep(10000);
    ck_assert_uint_eq(processes_with("67891"), 0);
}
END_TEST

// ---- what namespaces hide ---------------------------------------------------

static const char *const hidden[] = {
    "cat /etc/passwd", "ls /root", "ls /home", "ls /var",
    "echo x > /file", "echo x > /usr/file", "echo x > /dev/file",
    "echo core > /proc/sys/kernel/core_pattern",
    "echo x > /proc/sys/kernel/hostname",
    "unshare -U true", "mount -t tmpfs none /tmp", "cat /proc/1/environ",
    "kill -9 1; kill -0 2 && [ \"$PPID\" != 1 ]",
    "env | grep -q HOSTILE_TEST_SECRET",
};

START_TEST(test_namespaces_hold)
{
    SKIP_UNLESS(ISOLATION_NAMESPACES);
    setenv("HOSTILE_TEST_SECRET", "secret", 1);
    struct sandbox_result r = shell_in(ISOLATION_NAMESPACES, hidden[_i]);
    ck_assert_int_eq(r.how, RAN_EXIT);
    ck_assert_msg(r.code != 0, "possible: %s\n%s", hidden[_i], r.output);
    sandbox_result_free(&r);
}
END_TEST

static const char *const hidden_from_user[] = {
    "cat /etc/passwd", "ls /root", "ls /home", "ls /var", "ls /tmp",
    "echo x > /tmp/file", "echo x > /usr/file",
    "echo core > /proc/sys/kernel/core_pattern", "unshare -U true",
    "kill -9 $PPID", "cat /proc/$PPID/environ",
    "env | grep -q HOSTILE_TEST_SECRET",
};

START_TEST(test_a_fresh_user_holds)
{
    SKIP_UNLESS(ISOLATION_USER);
    setenv("HOSTILE_TEST_SECRET", "secret", 1);
    struct sandbox_result r = shell_in(ISOLATION_USER, hidden_from_user[_i]);
    ck_assert_int_eq(r.how, RAN_EXIT);
    ck_assert_msg(r.code != 0, "possible: %s\n%s", hidden_from_user[_i],
                  r.output);
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_only_readable_paths_are_there)
{
    SKIP_UNLESS(ISOLATION_NAMESPACES);
    char file[128], script[512];
    snprintf(file, sizeof file, "/tmp/check-sandbox-%d-file", (int)getpid());
    int fd = open(file, O_CREAT | O_WRONLY, 0644);
    ck_assert_int_eq(write(fd, "lent\n", 5), 5);
    close(fd);
    snprintf(script, sizeof script, "cat %s; echo x >> %s; ls /tmp", file, file);
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
    const char *const readable[] = {file, NULL};
    struct sandbox_run run = {.isolation = ISOLATION_NAMESPACES, .argv = argv,
                              .env = env, .readable = readable,
                              .scratch = scratch, .wall_s = 5};
    struct sandbox_result r;
    sandbox_run(&run, &r);
    unlink(file);
    ck_assert_int_eq(strncmp(r.output, "lent\n", 5), 0);
    ck_assert_ptr_nonnull(strstr(r.output, "Read-only"));
    sandbox_result_free(&r);
}
END_TEST

START_TEST(test_compiles)
{
    SKIP_UNLESS(levels[_i]);
    struct sandbox_result r = shell_in(levels[_i],
        "echo 'int main(void) { return 0; }' > a.c && cc a.c -o a && ./a && "
        "echo compiled");
    ck_assert_str_eq(r.output, "compiled\n");
    sandbox_result_free(&r);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("sandbox");
    TCase *t = tcase_create("every level");
    tcase_add_checked_fixture(t, make_scratch, remove_scratch);
    tcase_set_timeout(t, 30);
    tcase_add_loop_test(t, test_runs_and_tells_the_status, 0, NLEVELS);
    tcase_add_loop_test(t, test_tells_the_signal, 0, NLEVELS);
    tcase_add_loop_test(t, test_writes_into_scratch, 0, NLEVELS);
    tcase_add_loop_test(t, test_ends_at_the_deadline_with_all_it_started, 0,
                        NLEVELS);
    tcase_add_loop_test(t, test_ends_what_is_left_behind, 0, NLEVELS);
    tcase_add_loop_test(t, test_bounds_a_fork_bomb, 0, NLEVELS);
    tcase_add_loop_test(t, test_bounds_memory, 0, NLEVELS);
    tcase_add_loop_test(t, test_bounds_scratch, 0, NLEVELS);
    tcase_add_loop_test(t, test_drains_a_flood, 0, NLEVELS);
    tcase_add_loop_test(t, test_dies_with_its_owner, 0, NLEVELS);
    suite_add_tcase(s, t);
    t = tcase_create("what is hidden");
    tcase_add_checked_fixture(t, make_scratch, remove_scratch);
    tcase_add_loop_test(t, test_namespaces_hold, 0,
                        sizeof hidden / sizeof *hidden);
    tcase_add_loop_test(t, test_a_fresh_user_holds, 0,
                        sizeof hidden_from_user / sizeof *hidden_from_user);
    tcase_add_test(t, test_only_readable_paths_are_there);
    tcase_add_loop_test(t, test_compiles, 0, NLEVELS);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
