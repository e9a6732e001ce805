// Taking a submission: only what is listed, only regular files.
#include "../test.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grade/grade.h"
#include "tools/text.h"

static char *names[] = {"one.cu", "two.h"};
static struct manifest manifest = {.submit = names, .submit_count = 2};
static char from[512], into[512], lab[600], message[GRADE_MESSAGE];
static struct submission taken;

static void put(const char *folder, const char *name, const char *text)
{
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_int_ge(text_write(path, text), 0);
}

static const char *got(const char *name)
{
    static char text[256];
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", into, name);
    char *read = text_read(path);
    snprintf(text, sizeof text, "%s", read ? read : "(none)");
    free(read);
    return text;
}

static void setup(void)
{
    ck_assert_int_eq(work_folder(from, sizeof from), 0);
    ck_assert_int_eq(work_folder(into, sizeof into), 0);
    snprintf(lab, sizeof lab, "%s/lab", from);
    mkdir(lab, 0755);
    put(from, "lab.h", "// shared");
    put(lab, "one.h", "// the lab's");
    put(lab, "baseline.cu", "// not for submissions");
    put(from, "one.cu", "// first");
    put(from, "two.h", "// second");
}

static void teardown(void)
{
    work_folder_remove(from);
    work_folder_remove(into);
}

static int take(const char *path)
{
    return intake(&manifest, lab, path, into, &taken, message);
}

// Replaces a listed file by something else.
static void path_of(const char *name, char path[1200])
{
    snprintf(path, 1200, "%s/%s", from, name);
    unlink(path);
}

START_TEST(test_takes_listed_files_and_headers)
{
    put(from, "more.cu", "// not listed");
    ck_assert_msg(take(from) == 0, "%s", message);
    ck_assert_str_eq(got("one.cu"), "// first");
    ck_assert_str_eq(got("two.h"), "// second");
    ck_assert_str_eq(got("one.h"), "// the lab's");
    ck_assert_str_eq(got("lab.h"), "// shared");
    ck_assert_str_eq(got("more.cu"), "(none)");
    ck_assert_str_eq(got("baseline.cu"), "(none)");
}
END_TEST

START_TEST(test_missing_file_is_named)
{
    char path[1200];
    path_of("two.h", path);
    ck_assert_int_eq(take(from), -1);
    ck_assert_str_eq(message, "two.h: is not there");
}
END_TEST

START_TEST(test_refuses_symbolic_link)
{
    char path[1200];
    path_of("two.h", path);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_assert_int_eq(take(from), -1);
    ck_assert_str_eq(message,
                     "two.h: is a symbolic link; hand in the file itself");
    ck_assert_str_eq(got("two.h"), "(none)");
}
END_TEST

START_TEST(test_refuses_fifo_without_waiting)
{
    char path[1200];
    path_of("two.h", path);
    ck_assert_int_eq(mkfifo(path, 0644), 0);
    ck_assert_int_eq(take(from), -1);
    ck_assert_str_eq(message, "two.h: is a FIFO, not a file");
}
END_TEST

START_TEST(test_refuses_folder)
{
    char path[1200];
    path_of("two.h", path);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    ck_assert_int_eq(take(from), -1);
    ck_assert_str_eq(message, "two.h: is a folder, not a file");
    rmdir(path);
}
END_TEST

START_TEST(test_refuses_large_file)
{
    char path[1200];
    path_of("two.h", path);
    put(from, "two.h", "x");
    ck_assert_int_eq(truncate(path, (1 << 20) + 1), 0);
    ck_assert_int_eq(take(from), -1);
    ck_assert_str_eq(message, "two.h: is larger than 1 MiB");
    ck_assert_int_eq(truncate(path, 1 << 20), 0);
    ck_assert_int_eq(take(from), 0);
}
END_TEST

START_TEST(test_single_file_of_any_name)
{
    struct manifest one = {.submit = names, .submit_count = 1};
    char path[1200];
    put(from, "my answer (2).cu", "// mine");
    snprintf(path, sizeof path, "%s/my answer (2).cu", from);
    ck_assert_int_eq(intake(&one, lab, path, into, &taken, message), 0);
    ck_assert_str_eq(got("one.cu"), "// mine");
    ck_assert(taken.single);
    ck_assert_int_eq(take(path), -1); // one of two files does not say which
}
END_TEST

START_TEST(test_single_file_through_a_link_is_refused)
{
    struct manifest one = {.submit = names, .submit_count = 1};
    char path[1200];
    snprintf(path, sizeof path, "%s/link.cu", from);
    ck_assert_int_eq(symlink("/etc/passwd", path), 0);
    ck_assert_int_eq(intake(&one, lab, path, into, &taken, message), -1);
    ck_assert_str_eq(message,
                     "link.cu: is a symbolic link; hand in the file itself");
}
END_TEST

// ---- marks -----------------------------------------------------------------------

static const struct {
    const char *source;
    unsigned n, task, line;
    bool hole;
} sources[] = {
    {"a\n  TASK_NOT_DONE(2);\n", 1, 2, 2, true},
    {"TASK_NOT_DONE ( 1 )", 1, 1, 1, true},
    {"\n\n// TASK 3: do it\n", 1, 3, 3, false},
    {"// TASK_NOT_DONE(1)\n", 0, 0, 0, false},
    {"/* TASK_NOT_DONE(1)\n */", 0, 0, 0, false},
    {"\"TASK_NOT_DONE(1)\"", 0, 0, 0, false},
    {"'\"' TASK_NOT_DONE(1) '\"'", 1, 1, 1, true},
    {"MY_TASK_NOT_DONE(1)", 0, 0, 0, false},
    {"TASK_NOT_DONE(n)", 0, 0, 0, false},
    {"TASK_NOT_DONE(1", 0, 0, 0, false},
    {"// END TASK 3\n", 0, 0, 0, false},
    {"\"never closed\nTASK_NOT_DONE(4)", 1, 4, 2, true},
    {"/* never closed TASK_NOT_DONE(4)", 0, 0, 0, false},
    {"\"\\", 0, 0, 0, false},
    {"", 0, 0, 0, false},
};

START_TEST(test_marks)
{
    struct mark found[4] = {{0}};
    ck_assert_uint_eq(marks_find(sources[_i].source, found, 4), sources[_i].n);
    ck_assert_uint_eq(found[0].task, sources[_i].task);
    ck_assert_uint_eq(found[0].line, sources[_i].line);
    ck_assert_int_eq(found[0].hole, sources[_i].hole);
}
END_TEST

START_TEST(test_marks_stop_at_the_room)
{
    struct mark found[2];
    ck_assert_uint_eq(marks_find("TASK_NOT_DONE(1) TASK_NOT_DONE(2) "
                                 "TASK_NOT_DONE(3)", found, 2), 2);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("intake");
    TCase *t = tcase_create("files");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, test_takes_listed_files_and_headers);
    tcase_add_test(t, test_missing_file_is_named);
    tcase_add_test(t, test_refuses_symbolic_link);
    tcase_add_test(t, test_refuses_fifo_without_waiting);
    tcase_add_test(t, test_refuses_folder);
    tcase_add_test(t, test_refuses_large_file);
    tcase_add_test(t, test_single_file_of_any_name);
    tcase_add_test(t, test_single_file_through_a_link_is_refused);
    suite_add_tcase(s, t);
    TCase *m = tcase_create("marks");
    tcase_add_loop_test(m, test_marks, 0, sizeof sources / sizeof sources[0]);
    tcase_add_test(m, test_marks_stop_at_the_room);
    suite_add_tcase(s, m);
    return s;
}
TEST_MAIN(suite)
