// Who else computes on a GPU, and who waits for it: no GPU is needed.
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"
#include "worker/gpu/gpu_lock.h"
#include "worker/gpu/strangers.h"

static const struct pids nobody;

static struct pids with(unsigned a, unsigned b)
{
    return (struct pids){2, {a, b}};
}

// A child that lives until its input ends; its own child's pid comes back.
static pid_t start_family(int *hold, pid_t *grandchild)
{
    int life[2], told[2];
    ck_assert_int_eq(pipe(life), 0);
    ck_assert_int_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        char c;
        close(life[1]);
        pid_t own = fork();
        if (own > 0 && write(told[1], &own, sizeof own) != sizeof own)
            _exit(1);
        _exit(read(life[0], &c, 1) != 0);
    }
    close(life[0]);
    ck_assert_int_eq(read(told[0], grandchild, sizeof *grandchild),
                     sizeof *grandchild);
    *hold = life[1];
    return child;
}

START_TEST(test_children_are_no_strangers)
{
    int hold;
    pid_t grandchild, child = start_family(&hold, &grandchild);
    struct pids now = {3, {(unsigned)getpid(), (unsigned)child,
                           (unsigned)grandchild}};
    ck_assert_uint_eq(strangers_count(&nobody, &now, 1), 0);
    close(hold);
    waitpid(child, NULL, 0);
}
END_TEST

START_TEST(test_others_are_strangers)
{
    struct pids now = with((unsigned)getpid(), (unsigned)getppid());
    ck_assert_uint_eq(strangers_count(&nobody, &now, 9), 1);
}
END_TEST

START_TEST(test_one_that_just_ended_is_ours)
{
    pid_t gone = fork();
    if (gone == 0)
        _exit(0);
    waitpid(gone, NULL, 0);
    struct pids now = with((unsigned)getpid(), (unsigned)gone);
    ck_assert_uint_eq(strangers_count(&nobody, &now, 2), 0);
    ck_assert_uint_eq(strangers_count(&now, &now, 2), 1); // if it was there before
}
END_TEST

// Pids of another namespace: one of them exists here, by chance.
START_TEST(test_foreign_pids_are_told_by_time)
{
    struct pids before = {1, {4000001}};
    struct pids now = with(4000002, (unsigned)getppid());
    ck_assert_uint_eq(strangers_count(&before, &now, 2), 0);
    ck_assert_uint_eq(strangers_count(&before, &now, 1), 1);
    now = with(4000001, 4000002);
    ck_assert_uint_eq(strangers_count(&before, &now, 2), 1);
    ck_assert_uint_eq(strangers_count(&before, &nobody, 2), 0);
}
END_TEST

// ---- the lock ------------------------------------------------------------------

static char bus_id[32], path[96];

static void name_lock(void)
{
    snprintf(bus_id, sizeof bus_id, "test-%d", (int)getpid());
    snprintf(path, sizeof path, "/tmp/warp-up-gpu-%s.lock", bus_id);
}

static void remove_lock(void)
{
    unlink(path);
}

// A child that waits for the lock; what it says of that into line.
static pid_t start_waiter(char *line, size_t room)
{
    int said[2];
    char message[256];
    ck_assert_int_eq(pipe(said), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(said[1], STDERR_FILENO);
        _exit(gpu_lock_take(bus_id, message, sizeof message) < 0);
    }
    ssize_t n = read(said[0], line, room - 1);
    line[n > 0 ? n : 0] = '\0';
    close(said[0]);
    close(said[1]);
    usleep(50000); // until it waits
    return child;
}

START_TEST(test_waiters_are_told_how_many_are_ahead)
{
    char message[256], line[2][256], wanted[2][256];
    int status, fd = gpu_lock_take(bus_id, message, sizeof message);
    pid_t waiter[2];
    ck_assert_msg(fd >= 0, "%s", message);
    for (int i = 0; i < 2; i++) {
        waiter[i] = start_waiter(line[i], sizeof line[i]);
        snprintf(wanted[i], sizeof wanted[i],
                 "waiting for GPU %s: %d ahead of you\n", bus_id, i + 1);
        ck_assert_str_eq(line[i], wanted[i]);
    }
    flock(fd, LOCK_UN); // the waiters have inherited the descriptor
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(waitpid(waiter[i], &status, 0), waiter[i]);
        ck_assert_int_eq(status, 0);
    }
}
END_TEST

START_TEST(test_a_lock_that_cannot_be_made_is_told)
{
    char message[256] = "";
    ck_assert_int_eq(symlink("/nowhere", path), 0);
    ck_assert_int_eq(gpu_lock_take(bus_id, message, sizeof message), -1);
    ck_assert_ptr_nonnull(strstr(message, path));
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("gpu state");
    TCase *t = tcase_create("strangers");
    tcase_add_test(t, test_children_are_no_strangers);
    tcase_add_test(t, test_others_are_strangers);
    tcase_add_test(t, test_one_that_just_ended_is_ours);
    tcase_add_test(t, test_foreign_pids_are_told_by_time);
    suite_add_tcase(s, t);
    t = tcase_create("lock");
    tcase_add_checked_fixture(t, name_lock, remove_lock);
    tcase_add_test(t, test_waiters_are_told_how_many_are_ahead);
    tcase_add_test(t, test_a_lock_that_cannot_be_made_is_told);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
