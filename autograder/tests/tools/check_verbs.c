// The scripts behind make hint, reset, handin, watch and new-lab.
#include "../test.h"
#include "tree.h"

#define LAB "labs/01-first-steps"
#define T "autograder/tools/"

START_TEST(test_new_lab_takes_the_next_number)
{
    ck_assert(prints(T "new-lab.sh more", "labs/02-more"));
    ck_assert_int_eq(sh("mv labs/02-more labs/08-more"), 0);
    ck_assert(prints(T "new-lab.sh other", "labs/09-other"));
    ck_assert(prints(T "new-lab.sh last-one", "labs/10-last-one"));
    ck_assert_int_eq(sh("grep -q 'last_one.h' labs/10-last-one/last_one.cu"), 0);
    ck_assert_int_eq(sh("grep -rq '@[A-Z]*@' labs solutions chapters"), 1);
}
END_TEST

static const char *const bad_names[] = {
    "", "Up", "1st", "a_b", "a/b", "../x", "a b", "a-", "first-steps",
    "a-very-long-name-that-goes-on-and-on-and-on",
};

START_TEST(test_new_lab_refuses_bad_names)
{
    char command[256];
    snprintf(command, sizeof command, T "new-lab.sh '%s' 2>/dev/null",
             bad_names[_i]);
    ck_assert_int_eq(sh(command), 2);
    ck_assert_int_eq(sh("[ $(ls labs | wc -l) = 3 ]"), 0);
}
END_TEST

START_TEST(test_hints_open_one_by_one)
{
    ck_assert(prints(T "hint.sh 01", "Hint 1 of 2. Task 1: twice - Which"));
    ck_assert(prints(T "hint.sh 01", "Hint 2 of 2. Task 2: reversed - What"));
    ck_assert(prints(T "hint.sh 01", "All 2 hints are open"));
    ck_assert(prints(T "hint.sh 01 2", "Hint 1 of 1. Task 2: reversed"));
    ck_assert(prints(T "hint.sh 01 3", "no hints for this task"));
    ck_assert_int_eq(sh("echo garbage >build/hints/01-first-steps-all"), 0);
    ck_assert(prints(T "hint.sh 01-first-steps", "Hint 1 of 2."));
    ck_assert_int_eq(sh(T "hint.sh 01 x 2>/dev/null"), 2);
    ck_assert_int_eq(sh(T "hint.sh 77 2>/dev/null"), 2);
    ck_assert_int_eq(sh(T "hint.sh '' 2>/dev/null"), 2);
}
END_TEST

START_TEST(test_reset_keeps_what_was_there)
{
    ck_assert(prints(T "reset.sh 01", "is the starter already"));
    ck_assert_int_eq(sh("echo '// my work' >>" LAB "/first_steps.cu"), 0);
    ck_assert(prints(T "reset.sh 01", "kept as build/kept/01-first-steps/"));
    ck_assert_int_eq(sh("grep -q 'my work' " LAB "/first_steps.cu"), 1);
    ck_assert_int_eq(sh("grep -q 'my work' build/kept/01-first-steps/*"), 0);
    ck_assert_int_eq(sh("rm " LAB "/first_steps.cu; " T "reset.sh 01 >/dev/null"),
                     0);
    ck_assert_int_eq(sh("grep -q TASK_NOT_DONE " LAB "/first_steps.cu"), 0);
}
END_TEST

START_TEST(test_handin_holds_the_graded_file_alone)
{
    ck_assert(prints(T "handin.sh 01", "task 1, " LAB "/first_steps.cu:"));
    ck_assert(prints("tar -tzf build/handin/01-first-steps.tar.gz",
                     "first_steps.cu"));
    ck_assert_int_eq(
        sh("[ $(tar -tzf build/handin/01-first-steps.tar.gz | wc -l) = 1 ]"), 0);
    ck_assert_int_eq(sh("cp solutions/01-first-steps/first_steps.cu " LAB), 0);
    ck_assert(!prints(T "handin.sh 01 2>/dev/null", "not done"));
    ck_assert_int_eq(sh("rm " LAB "/first_steps.cu; " T "handin.sh 01 2>/dev/null"),
                     3);
}
END_TEST

START_TEST(test_watch_grades_on_every_save)
{
    ck_assert_int_eq(sh("timeout 6 " T "watch.sh 01 sh -c 'echo x >>graded' "
                        ">/dev/null & sleep 2; echo // >>" LAB "/first_steps.cu; "
                        "wait; [ $(wc -l <graded) = 2 ]"), 0);
}
END_TEST

// A checker that ends with the given status and prints the given text.
static void fake_checker(int status, const char *text)
{
    FILE *f = fopen("build/bin/vgpu-run", "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\necho '%s'\nexit %d\n", text, status);
    fclose(f);
    ck_assert_int_eq(sh("chmod +x build/bin/vgpu-run"), 0);
}

START_TEST(test_bug_hunt_must_be_found_and_placed)
{
    ck_assert_int_eq(sh("rm -f build/bin/vgpu-run"), 0);
    fake_checker(86, "thread 7, bug_hunt.cu:9: out of bounds");
    ck_assert_int_eq(sh(T "bug_hunts.sh 01"), 0);
    fake_checker(86, "somewhere");
    ck_assert_int_eq(sh(T "bug_hunts.sh 01 >/dev/null"), 1);
    fake_checker(0, "bug_hunt.cu runs");
    ck_assert(prints(T "bug_hunts.sh 01", "does not name a fault"));
    ck_assert_int_eq(sh(T "bug_hunts.sh 01-first-steps >/dev/null"), 1);
}
END_TEST

static Suite *verbs_suite(void)
{
    Suite *s = suite_create("verbs");
    TCase *t = tcase_create("scripts");
    tcase_add_checked_fixture(t, tree_new, tree_free);
    tcase_add_test(t, test_new_lab_takes_the_next_number);
    tcase_add_loop_test(t, test_new_lab_refuses_bad_names, 0,
                        sizeof bad_names / sizeof *bad_names);
    tcase_add_test(t, test_hints_open_one_by_one);
    tcase_add_test(t, test_reset_keeps_what_was_there);
    tcase_add_test(t, test_handin_holds_the_graded_file_alone);
    tcase_add_test(t, test_bug_hunt_must_be_found_and_placed);
    tcase_add_test(t, test_watch_grades_on_every_save);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(verbs_suite)
