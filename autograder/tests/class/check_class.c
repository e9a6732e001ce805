// A class graded end to end by build/bin/grade-class, with a stand-in for
// `grade lab` beside a copy of it: what comes in, what is recorded, what a
// kill leaves behind, and what comes out.
#include <unistd.h>

#include "../setup/shell.h"

// A folder with bin/grade-class and bin/grade, a lab, and class/ to fill.
#define SCRATCH                                                                \
    "R=$PWD; T=$(mktemp -d); trap 'rm -rf $T' EXIT; cd $T;"                    \
    "mkdir -p bin class labs/02-vector-add labs/01-device-query;"              \
    "cp $R/build/bin/grade-* $R/build/bin/keeper bin;"                         \
    "cp $R/autograder/tests/class/fake-grade.sh bin/grade;"                    \
    "hand_in() { echo \"$2\" >class/$1.cu; };"                                 \
    "grade() { bin/grade-class --lab 02 class \"$@\"; };"                      \
    "sql() { sqlite3 -batch grades.db \"$1\"; };"

START_TEST(test_grades_what_is_there)
{
    int status = shell(SCRATCH "hand_in ada 'SCORE 62.5'; hand_in bob BROKEN;"
                               "mkdir class/cyd; echo SCORE 100 >class/cyd/a;"
                               "grade && bin/grade-export");
    ck_assert_int_eq(status, 0);
    ck_assert_said("1/3  ada");
    ck_assert_said("does not compile");
    ck_assert_said("3 graded, 0 not");
    ck_assert_said("\r\nada,02-vector-add,62.50,100.00,yes,graded,virtual,"
                   "H200,namespaces,2");
    ck_assert_said("\r\nbob,02-vector-add,0.00,100.00,yes,compile_error,");
    ck_assert_said("\r\ncyd,02-vector-add,100.00,");
}
END_TEST

START_TEST(test_one_bad_submission_costs_nobody_else)
{
    int status = shell(SCRATCH
                       "hand_in ada CRASH; hand_in bob HALF; hand_in cyd "
                       "REFUSE; hand_in dan 'SLEEP 30'; hand_in eve 'SCORE 9';"
                       "grade --deadline 1");
    ck_assert_int_eq(status, 1);
    ck_assert_said("ada                      not graded: the grader was ended "
                   "by signal 11: went wrong here");
    ck_assert_said("bob                      not graded: the grader ended with "
                   "status 0 and no result");
    ck_assert_said("not graded: the GPU is busy");
    ck_assert_said("not graded: not done after 1 s");
    ck_assert_said("eve                        9.0 of 100");
    ck_assert_said("1 graded, 4 not");
}
END_TEST

START_TEST(test_a_deadline_ends_all_that_was_started)
{
    shell(SCRATCH "hand_in ada 'SLEEP 54.321'; grade --deadline 1;"
                  "sleep 0.2; cat /proc/[0-9]*/cmdline 2>/dev/null |"
                  "tr '\\0' ' ' | grep -c 'sleep 54[.]321'");
    ck_assert_said("\n0\n");
}
END_TEST

START_TEST(test_a_failed_regrade_replaces_nothing)
{
    int status = shell(SCRATCH
                       "hand_in ada 'SCORE 80'; grade >out; hand_in ada CRASH;"
                       "grade >out; bin/grade-show; echo; bin/grade-show ada");
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(strncmp(said, "ada ", 4), 0);
    ck_assert_said(" 80.00 of 100");
    ck_assert_said("2 attempts\n\nada"); // what counts, then the history
    ck_assert_said("signal 11");
    ck_assert(strstr(said, "not graded") > strstr(said, "2 attempts"));
}
END_TEST

START_TEST(test_a_later_grade_counts)
{
    shell(SCRATCH "hand_in ada 'SCORE 80'; grade >out; hand_in ada 'SCORE 7';"
                  "grade >out; bin/grade-export --format json");
    ck_assert_said("\"score\": 7.0");
    ck_assert_said("\"attempts\": 2");
    ck_assert_said("\"isolation\": \"namespaces\"");
    ck_assert_not_said("80.0");
}
END_TEST

START_TEST(test_refuses_to_grade_without_isolation)
{
    int status = shell(SCRATCH "hand_in ada NAKED; grade");
    ck_assert_int_eq(status, 3);
    ck_assert_said("graded without isolation");
    status = shell(SCRATCH "hand_in ada 'NAKED SCORE 5';"
                           "grade --allow-no-isolation");
    ck_assert_int_eq(status, 0);
    ck_assert_said("5.0 of 100");
}
END_TEST

// ---- what comes in ---------------------------------------------------------

START_TEST(test_what_is_no_submission_is_told)
{
    int status = shell(SCRATCH "ln -s /etc class/ada; mkfifo class/bob;"
                               "touch class/cyd.txt class/.hidden; grade");
    ck_assert_int_eq(status, 1);
    shell(SCRATCH "ln -s /etc/passwd class/ada.cu; mkfifo class/bob;"
                  "touch class/cyd.txt class/.hidden; grade >out;"
                  "bin/grade-export | tr -d '\\r'");
    ck_assert_said("\nada,02-vector-add,,,,not_graded,");
    ck_assert_said("\"a symbolic link, not a file or folder\"\n");
    ck_assert_said("\"a special file, not a file or folder\"\n");
    ck_assert_said("\"neither a folder nor a .cu, .zip, .tar or .tar.gz file\"");
    ck_assert_not_said("hidden");
}
END_TEST

START_TEST(test_two_submissions_of_one_student_are_told)
{
    int status = shell(SCRATCH "hand_in ada 'SCORE 1'; mkdir class/ada; grade");
    ck_assert_int_eq(status, 1);
    ck_assert_said("ada                      not graded: handed in twice: ");
}
END_TEST

START_TEST(test_archives_are_unpacked)
{
    int status = shell(
        SCRATCH "mkdir -p x/folder; echo SCORE 33 >x/folder/a.cu;"
                "tar -C x -czf class/ada.tar.gz folder;"
                "tar -C x/folder -cf class/bob.tar a.cu; grade;"
                "ls grades.db.work");
    ck_assert_int_ne(status, 0); // the scratch folder is gone
    ck_assert_said("ada                       33.0 of 100");
    ck_assert_said("bob                       33.0 of 100");
}
END_TEST

START_TEST(test_archives_cannot_reach_outside)
{
    int status = shell(
        SCRATCH "mkdir x; echo out >x/evil; ln -s /tmp x/link;"
                "tar -C x -P --transform 's|^|../../../|' -cf class/ada.tar "
                "evil; tar -C x -P --transform \"s|^|$T/|\" -cf class/bob.tar "
                "evil; tar -C x -cf class/cyd.tar link;"
                "echo garbage >class/dan.zip;"
                "truncate -s 40M x/big; tar -C x -czf class/eve.tgz big; grade;"
                "find . -name evil");
    ck_assert_int_eq(status, 0);
    ck_assert_said("ada                      not graded: cannot be unpacked");
    ck_assert_said("bob                      not graded: cannot be unpacked");
    ck_assert_said("the archive holds a link");
    ck_assert_said("dan                      not graded: cannot be unpacked");
    ck_assert_said("eve                      not graded: cannot be unpacked");
    ck_assert_said("\n./x/evil\n");
    ck_assert_not_said("./evil");
}
END_TEST

START_TEST(test_names_of_any_script_survive)
{
    int status = shell(
        SCRATCH "hand_in \"O'Brien, Zoë \\\"Z\\\"\" 'SCORE 1';"
                "hand_in '김철수' 'SCORE 2'; hand_in '=SUM(A1)' 'SCORE 3';"
                "hand_in \"$(printf 'bad\\377name')\" 'SCORE 4';"
                "hand_in \"$(printf 'red\\033[31m')\" 'SCORE 5'; grade;"
                "bin/grade-export");
    ck_assert_int_eq(status, 0);
    ck_assert_said("\r\n\"O'Brien, Zoë \"\"Z\"\"\",02-vector-add,1.00");
    ck_assert_said("\r\n김철수,02-vector-add,2.00");
    ck_assert_said("\r\n\"'=SUM(A1)\",02-vector-add,3.00");
    ck_assert_said("\r\nbad%FFname,02-vector-add,4.00");
    ck_assert_said("red%1B[31m,02-vector-add,5.00");
    // Columns, not bytes: a wide letter takes two.
    ck_assert_said("김철수                     2.0 of 100");
    ck_assert_not_said("\033");
}
END_TEST

// ---- usage -----------------------------------------------------------------

START_TEST(test_usage_errors_say_what_there_is)
{
    ck_assert_int_eq(shell(SCRATCH "bin/grade-class --lab 77 class"), 2);
    ck_assert_said("01-device-query 02-vector-add");
    ck_assert_int_eq(shell(SCRATCH "grade"), 2);
    ck_assert_said("no submission");
    ck_assert_int_eq(shell(SCRATCH "bin/grade-class --lab 02 nowhere"), 2);
    ck_assert_said("No such file");
    ck_assert_int_eq(shell(SCRATCH "grade -j 0"), 2);
    ck_assert_int_eq(shell(SCRATCH "grade --target gpus"), 2);
    ck_assert_int_eq(shell(SCRATCH "bin/grade-export"), 2);
    ck_assert_int_eq(shell(SCRATCH "bin/grade-show"), 2);
}
END_TEST

START_TEST(test_a_file_that_is_no_gradebook_is_left_alone)
{
    int status = shell(SCRATCH "hand_in ada 'SCORE 1'; echo my thesis, all of "
                               "it, in one file of text >thesis;"
                               "grade -g thesis; echo $?; cat thesis");
    ck_assert_int_eq(status, 0);
    ck_assert_said("3\nmy thesis");
}
END_TEST

START_TEST(test_an_export_is_whole_or_not_there)
{
    int status = shell(SCRATCH "hand_in ada 'SCORE 1'; grade >out;"
                               "echo old >e.csv; mkdir e.csv.new;"
                               "bin/grade-export -o e.csv; echo $? $(cat e.csv)"
                               "; bin/grade-export >/dev/full");
    ck_assert_int_eq(status, 3);
    ck_assert_said("\n3 old\n");
    ck_assert_said("nothing was exported: No space left on device");
    status = shell(SCRATCH "hand_in ada 'SCORE 1'; grade >out;"
                           "bin/grade-export -o e.csv && ls; cat e.csv");
    ck_assert_int_eq(status, 0);
    ck_assert_said("\r\nada,");
    ck_assert_not_said("e.csv.new");
}
END_TEST

// ---- kills -----------------------------------------------------------------

START_TEST(test_two_at_once_on_one_gradebook_are_refused)
{
    shell(SCRATCH "hand_in ada 'SLEEP 1 SCORE 1'; grade >out & sleep 0.4;"
                  "grade; echo status $?; wait");
    ck_assert_said("another grade-class");
    ck_assert_said("status 3");
}
END_TEST

START_TEST(test_resume_takes_up_what_is_new_and_nothing_else)
{
    shell(SCRATCH "hand_in ada 'SCORE 1'; grade --resume; hand_in bob 'SCORE 2'"
                  "; hand_in ada 'SCORE 9'; grade --resume; sql 'SELECT run,"
                  " student, score FROM attempt'");
    ck_assert_said("\n1|ada|1.0\n1|bob|2.0\n");
    shell(SCRATCH "hand_in ada 'SCORE 1'; grade; grade;"
                  "sql 'SELECT count(*) FROM run'");
    ck_assert_said("\n2\n");
}
END_TEST

// Killed at random moments once it has begun, up to 15 times; 12 students, two
// at a time. In the end each has one grade in one run; nobody is graded again once that was recorded: at
// most the two that a kill interrupts are started anew.
START_TEST(test_kills_lose_nothing_and_grade_nothing_twice)
{
    char script[2048];

    snprintf(
        script, sizeof script,
        SCRATCH
        "export FAKE_LOG=$T/log; seed=%d; kills=0;"
        "for s in a b c d e f g h i j k l; do"
        " hand_in $s \"SLEEP 0.05 SCORE $(printf %%d \"'$s\")\"; done;"
        "while :; do >out; bin/grade-class --lab 02 class --resume -j 2 >>out "
        "2>&1 & pid=$!; seed=$(((seed * 75 + 74) %% 65537));"
        " until [ -s out ]; do sleep 0.01; done;"
        " sleep 0.$((seed %% 3))$((seed / 7 %% 10));"
        " [ $kills -eq 15 ] || kill -9 $pid 2>kill; wait $pid 2>kill;"
        " [ $? -eq 137 ] || break; kills=$((kills + 1)); done;"
        "[ $kills -gt 0 ] && echo KILLED; sql \"SELECT count(*),"
        " count(DISTINCT student), count(DISTINCT run), sum(score),"
        " min(state) FROM attempt\";"
        "[ $(wc -l <log) -le $((12 + 2 * kills)) ] && echo ENOUGH;"
        "sql 'PRAGMA integrity_check'; cat out",
        _i * 7919 + 11);
    shell(script);
    ck_assert_said("KILLED");
    ck_assert_said("\n12|12|1|1230.0|graded\n");
    ck_assert_said("ENOUGH");
    ck_assert_said("\nok\n");
    ck_assert_said("12 graded, 0 not");
}
END_TEST

static Suite *class_suite(void)
{
    Suite *suite = suite_create("class");
    TCase *grade = tcase_create("grade");
    tcase_set_timeout(grade, 60);
    tcase_add_test(grade, test_grades_what_is_there);
    tcase_add_test(grade, test_one_bad_submission_costs_nobody_else);
    tcase_add_test(grade, test_a_deadline_ends_all_that_was_started);
    tcase_add_test(grade, test_a_failed_regrade_replaces_nothing);
    tcase_add_test(grade, test_a_later_grade_counts);
    tcase_add_test(grade, test_refuses_to_grade_without_isolation);
    tcase_add_test(grade, test_what_is_no_submission_is_told);
    tcase_add_test(grade, test_two_submissions_of_one_student_are_told);
    tcase_add_test(grade, test_archives_are_unpacked);
    tcase_add_test(grade, test_archives_cannot_reach_outside);
    tcase_add_test(grade, test_names_of_any_script_survive);
    tcase_add_test(grade, test_usage_errors_say_what_there_is);
    tcase_add_test(grade, test_a_file_that_is_no_gradebook_is_left_alone);
    tcase_add_test(grade, test_an_export_is_whole_or_not_there);
    suite_add_tcase(suite, grade);

    TCase *kills = tcase_create("kills");
    tcase_set_timeout(kills, 120);
    tcase_add_test(kills, test_two_at_once_on_one_gradebook_are_refused);
    tcase_add_test(kills, test_resume_takes_up_what_is_new_and_nothing_else);
    tcase_add_loop_test(kills, test_kills_lose_nothing_and_grade_nothing_twice,
                        0, 3);
    suite_add_tcase(suite, kills);
    return suite;
}

TEST_MAIN(class_suite)
