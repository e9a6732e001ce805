// The solution is the only source of the starter.
#include "../test.h"

#include <string.h>

#include "tools/tools.h"

static const char solution[] = "int f(void)\n"
                               "{\n"
                               "    // TASK 1: return the answer\n"
                               "    return 42;\n"
                               "    // END TASK 1\n"
                               "}\n"
                               "// TASK 2: write g\n"
                               "int g(void) { return 7; }\n"
                               "// END TASK 2\n";

START_TEST(test_region_becomes_hole)
{
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    ck_assert_int_eq(starter_make("s.cu", solution, &out, message), 0);
    ck_assert_str_eq(out.data, "int f(void)\n"
                               "{\n"
                               "    // TASK 1: return the answer\n"
                               "    TASK_NOT_DONE(1);\n"
                               "    // END TASK 1\n"
                               "}\n"
                               "// TASK 2: write g\n"
                               "// END TASK 2\n");
    buf_free(&out);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"int x;\n", "s.cu:1: no TASK in it"},
    {"", "s.cu:0: no TASK in it"},
    {" // TASK 1: a\n", "s.cu:1: TASK without its END TASK"},
    {"\n // END TASK 1\n", "s.cu:2: END TASK without its TASK"},
    {" // TASK 1: a\n // END TASK 2\n", "s.cu:2: END TASK without its TASK"},
    {" // TASK 1: a\n // TASK 2: b\n", "s.cu:2: a TASK inside a TASK"},
    {" // TASK 2: a\n // END TASK 2\n",
     "s.cu:2: tasks are numbered from 1 without a gap"},
    {" // TASK 1\n", "s.cu:1: write `// TASK n: one line`"},
    {" // TASK 1:\n", "s.cu:1: write `// TASK n: one line`"},
    {" // TASK 12: a\n", "s.cu:1: write `// TASK n: one line`"},
    {" // TASK 0: a\n", "s.cu:1: write `// TASK n: one line`"},
    {" // TASK 1: a\n // END TASK 1 b\n", "s.cu:2: write `// TASK n: one line`"},
};

START_TEST(test_says_where_marks_are_wrong)
{
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    ck_assert_int_eq(starter_make("s.cu", bad[_i].text, &out, message), -1);
    ck_assert_msg(strncmp(message, bad[_i].message,
                          strlen(bad[_i].message)) == 0,
                  "said: %s", message);
    buf_free(&out);
}
END_TEST

START_TEST(test_marks_are_told_from_ordinary_comments)
{
    ck_assert_int_eq(task_mark("// TASKS are fun").kind, MARK_NONE);
    ck_assert_int_eq(task_mark("x = 1; // TASK 1: a").kind, MARK_NONE);
    ck_assert_int_eq(task_mark("//TASK 1: a").kind, MARK_BEGIN);
    ck_assert_int_eq(task_mark("  // END TASK 3\r\n").kind, MARK_END);
    ck_assert_int_eq(task_mark("  // END TASK 3\n").task, 3);
    ck_assert_int_eq(task_mark("\t// TASK 1: a").indent, 1);
}
END_TEST

// The programs' exit statuses, as make and CI rely on them.
START_TEST(test_program_checks_and_writes)
{
    ck_assert_int_eq(system("d=$(mktemp -d) && cd $d || exit 9\n"
                            "s=$OLDPWD/build/bin/starter\n"
                            "printf ' // TASK 1: a\\nx\\n // END TASK 1\\n' >s.cu\n"
                            "exec 2>/dev/null >/dev/null\n"
                            "$s -c -o t.cu s.cu; [ $? = 1 ] || exit 1\n"
                            "$s -o t.cu s.cu || exit 2\n"
                            "$s -c -o t.cu s.cu || exit 3\n"
                            "grep -q 'TASK_NOT_DONE(1);' t.cu || exit 4\n"
                            "! grep -q x t.cu || exit 5\n"
                            "$s none.cu; [ $? = 2 ] || exit 6\n"
                            "$s; [ $? = 2 ] || exit 7\n"
                            "printf 'a\\0b' >n.cu; $s n.cu; [ $? = 2 ] || exit 8\n"
                            "rm -r $d\n"),
                     0);
}
END_TEST

static Suite *starter_suite(void)
{
    Suite *s = suite_create("starter");
    TCase *t = tcase_create("tasks");
    tcase_add_test(t, test_region_becomes_hole);
    tcase_add_loop_test(t, test_says_where_marks_are_wrong, 0,
                        sizeof bad / sizeof *bad);
    tcase_add_test(t, test_marks_are_told_from_ordinary_comments);
    tcase_add_test(t, test_program_checks_and_writes);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(starter_suite)
