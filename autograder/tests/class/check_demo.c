// make demo-class with the real grader: ten submissions to a CSV.
#include "../setup/shell.h"

START_TEST(test_ten_submissions_become_a_csv)
{
    ck_assert_msg(shell("autograder/grade/class/demo.sh") == 0, "%s", said);
    ck_assert_said("10 graded, 0 not");

    shell("cat build/demo-class/grades.csv");
    ck_assert_said("\r\nAda Lovelace,02-vector-add,100.00,100.00,yes,graded,"
                   "virtual,");
    ck_assert_said("\r\nGrace Hopper,02-vector-add,100.00,");
    ck_assert_said("\r\n\"O'Neil, Zoë\",02-vector-add,");
    ck_assert_said("\r\n\"'=cmd|calc\",02-vector-add,");
    ck_assert_said("\r\n김지우,02-vector-add,");
    ck_assert_int_eq(shell("grep -c 02-vector-add build/demo-class/grades.csv"),
                     0);
    ck_assert_str_eq(said, "10\n");
    // Of ten submissions three are right.
    shell("grep -c ',100.00,100.00,' build/demo-class/grades.csv");
    ck_assert_str_eq(said, "3\n");
}
END_TEST

static Suite *demo_suite(void)
{
    Suite *suite = suite_create("demo");
    TCase *tcase = tcase_create("demo");
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, test_ten_submissions_become_a_csv);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(demo_suite)
