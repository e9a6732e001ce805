// make setup: what is missing is found, asked for or installed, and where
// there are no rights the administrator's line is printed.
#include "shell.h"

// Scripts run in a folder of their own, with programs of our own first on
// the PATH: an apt-get that only notes its call, and an id that is not root.
#define SCRATCH                                                                \
    "S=$PWD/autograder/setup; T=$(mktemp -d); trap 'rm -rf $T' EXIT; "         \
    "mkdir $T/bin; cd $T; PATH=$T/bin:$PATH; "                                 \
    "tool() { printf '#!/bin/sh\\n%s\\n' \"$2\" >bin/$1; chmod +x bin/$1; }; "
#define TABLE                                                                  \
    "cp $S/*.sh $T; echo 'grade cmd:sh shell here\n"                           \
    "grade cmd:no-such-program-1 package-one needed\n"                         \
    "grade header:no/such.h package-two needed' >packages.txt; "

START_TEST(test_lists_only_what_is_missing)
{
    ck_assert_int_eq(shell(SCRATCH TABLE "here=$T; . ./packages.sh;"
                                         "missing_packages grade"),
                     0);
    ck_assert_str_eq(said, "package-one package-two ");
}
END_TEST

START_TEST(test_finds_headers_below_include)
{
    ck_assert_int_eq(
        shell(". autograder/setup/packages.sh; is_here header:check.h"), 0);
    ck_assert_int_eq(
        shell(". autograder/setup/packages.sh; is_here header:chekc.h"), 1);
}
END_TEST

START_TEST(test_without_rights_prints_the_line_and_calls_nothing)
{
    int status = shell(SCRATCH TABLE "tool id 'echo 1000';"
                                     "tool apt-get 'echo CALLED';"
                                     "tool sudo 'echo CALLED'; ./setup.sh grade");
    ck_assert_int_eq(status, 1);
    ck_assert_said("apt-get install -y --no-install-recommends package-one "
                   "package-two");
    ck_assert_said("administrator");
    ck_assert_said("without them nothing can be graded");
    ck_assert_not_said("CALLED");
}
END_TEST

START_TEST(test_with_rights_installs_without_asking_where_nobody_is)
{
    int status = shell(SCRATCH TABLE
                       "tool id 'echo 0';"
                       "tool apt-get 'echo \"$@\" >>apt.log';"
                       "./setup.sh grade; status=$?; cat apt.log; exit $status");
    ck_assert_int_eq(status, 1); // the pretended installation brought nothing
    ck_assert_said("install -y --no-install-recommends");
    ck_assert_said("still missing: package-one package-two");
}
END_TEST

START_TEST(test_fetches_lists_when_a_package_is_unknown)
{
    shell(SCRATCH TABLE "tool id 'echo 0'; tool apt-get "
                        "'echo \"$@\" >>apt.log; [ $2 != --simulate ]';"
                        "./setup.sh grade; sed -n 2p apt.log");
    ck_assert_said("\nupdate -o");
}
END_TEST

START_TEST(test_packages_of_all_groups_come_at_once)
{
    shell(SCRATCH TABLE "echo 'book cmd:no-such-2 package-three x' "
                        ">>packages.txt; tool id 'echo 1000';"
                        "tool apt-get :; ./setup.sh grade book");
    ck_assert_said("to grade labs, build the book an administrator");
    ck_assert_said("recommends package-one package-two package-three\n");
}
END_TEST

// script(1) gives the setup a terminal to ask on.
START_TEST(test_asks_on_a_terminal)
{
    shell(SCRATCH TABLE
          "tool id 'echo 0'; tool apt-get 'echo \"$@\" >>apt.log';"
          "echo n | script -qec './setup.sh grade' /dev/null;"
          "grep -c 'install -y' apt.log");
    ck_assert_said("go ahead? [Y/n]");
    ck_assert_said("\n0\n");
    shell(SCRATCH TABLE
          "tool id 'echo 0'; tool apt-get 'echo \"$@\" >>apt.log';"
          "echo n | YES=1 script -qec './setup.sh grade' /dev/null;"
          "grep -c 'install -y' apt.log");
    ck_assert_not_said("go ahead?");
    ck_assert_said("\n1\n");
}
END_TEST

START_TEST(test_shows_the_end_of_a_failed_installation)
{
    shell(SCRATCH TABLE "tool id 'echo 0';"
                        "tool apt-get 'echo Disk quota exceeded; exit 100';"
                        "./setup.sh grade");
    ck_assert_said("Disk quota exceeded");
}
END_TEST

START_TEST(test_missing_sandbox_is_no_obstacle)
{
    int status = shell(SCRATCH "cp $S/*.sh $T; tool id 'echo 1000';"
                               "echo 'sandbox cmd:no-such bubblewrap x'"
                               " >packages.txt; ./setup.sh sandbox");
    ck_assert_int_eq(status, 0);
    ck_assert_said("without isolation");
}
END_TEST

START_TEST(test_every_table_line_is_whole)
{
    ck_assert_int_eq(
        shell("grep -v '^#' autograder/setup/packages.txt | grep -v '^$' | "
              "grep -cvE '^[a-z]+ +(cmd|header|module):[^ ]+ +[a-z0-9+.-]+ +."
              "+$'"),
        1);
    ck_assert_str_eq(said, "0\n");
}
END_TEST

// ---- toolkit ---------------------------------------------------------------

// A folder that looks like a toolkit of the release $1.
#define FAKE_TOOLKIT                                                           \
    "fake() { mkdir -p fake/bin fake/lib64; touch fake/lib64/libcudart.so; "   \
    "printf '#!/bin/sh\\necho Cuda tools, release %s, V1\\n' $1"              \
    " >fake/bin/nvcc; chmod +x fake/bin/nvcc; }; "

START_TEST(test_takes_the_toolkit_of_cuda_home)
{
    int status = shell(SCRATCH FAKE_TOOLKIT
                       "fake 13.0; export CUDA_HOME=$T/fake;"
                       "$S/setup.sh toolkit; cat build/toolkit.mk");
    ck_assert_int_eq(status, 0);
    ck_assert_said("fake\nNVCC := ");
    ck_assert_said("fake/bin/nvcc\n");
}
END_TEST

START_TEST(test_passes_over_an_older_toolkit)
{
    shell(SCRATCH FAKE_TOOLKIT
          "fake 12.8; here=$S; . $S/packages.sh; . $S/toolkit.sh;"
          "toolkit_usable $T/fake && echo TAKEN");
    ck_assert_said("passing over");
    ck_assert_said("CUDA 12");
    ck_assert_not_said("TAKEN");
}
END_TEST

START_TEST(test_passes_over_a_toolkit_without_runtime)
{
    shell(SCRATCH FAKE_TOOLKIT
          "fake 13.0; rm fake/lib64/libcudart.so; here=$S; . $S/toolkit.sh;"
          "toolkit_usable $T/fake && echo TAKEN");
    ck_assert_said("no libcudart.so");
    ck_assert_not_said("TAKEN");
}
END_TEST

START_TEST(test_a_record_holds_until_its_toolkit_is_gone)
{
    int status = shell(SCRATCH FAKE_TOOLKIT
                       "fake 13.1; unset CUDA_HOME; here=$S; . $S/toolkit.sh;"
                       "toolkit_record $T/fake; toolkit_recorded && echo HOLDS;"
                       "rm fake/bin/nvcc; toolkit_recorded || echo GONE");
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(said, "HOLDS\nGONE\n");
}
END_TEST

START_TEST(test_mends_the_layout_of_the_wheels)
{
    int status =
        shell(SCRATCH "mkdir -p k/lib k/bin; touch k/lib/libcudart.so.13 "
                      "k/bin/nvcc; here=$S; . $S/toolkit.sh; mend_layout k;"
                      "mend_layout k; readlink k/lib64 k/lib/libcudart.so;"
                      "test -x k/bin/nvcc");
    ck_assert_int_eq(status, 0);
    ck_assert_str_eq(said, "lib\nlibcudart.so.13\n");
}
END_TEST

START_TEST(test_says_how_large_the_wheels_are)
{
    ck_assert_int_eq(shell("here=autograder/setup; . $here/toolkit.sh;"
                           "wheels_size toolkit; wheels_of libraries"),
                     0);
    ck_assert_str_eq(said, "105\nnvidia-cublas==13.0.* "
                           "nvidia-nccl-cu13==2.28.* ");
}
END_TEST

// ---- verbs -----------------------------------------------------------------

START_TEST(test_bare_make_lists_the_verbs)
{
    ck_assert_int_eq(shell("MAKEFLAGS= make --no-print-directory"), 0);
    ck_assert_said("make grade ");
    ck_assert_said("LAB=02");
    ck_assert_said("make test ");
}
END_TEST

START_TEST(test_an_unknown_lab_lists_those_that_are)
{
    ck_assert_int_eq(shell("autograder/setup/lab.sh grade 77"), 2);
    ck_assert_said("no lab '77'");
    ck_assert_int_eq(shell("autograder/setup/lab.sh grade ''"), 2);
    ck_assert_said("which lab?");
}
END_TEST

static Suite *setup_suite(void)
{
    Suite *suite = suite_create("setup");
    TCase *packages = tcase_create("packages");
    tcase_add_test(packages, test_lists_only_what_is_missing);
    tcase_add_test(packages, test_finds_headers_below_include);
    tcase_add_test(packages,
                   test_without_rights_prints_the_line_and_calls_nothing);
    tcase_add_test(packages,
                   test_with_rights_installs_without_asking_where_nobody_is);
    tcase_add_test(packages, test_fetches_lists_when_a_package_is_unknown);
    tcase_add_test(packages, test_packages_of_all_groups_come_at_once);
    tcase_add_test(packages, test_asks_on_a_terminal);
    tcase_add_test(packages, test_shows_the_end_of_a_failed_installation);
    tcase_add_test(packages, test_missing_sandbox_is_no_obstacle);
    tcase_add_test(packages, test_every_table_line_is_whole);
    suite_add_tcase(suite, packages);

    TCase *toolkit = tcase_create("toolkit");
    tcase_add_test(toolkit, test_takes_the_toolkit_of_cuda_home);
    tcase_add_test(toolkit, test_passes_over_an_older_toolkit);
    tcase_add_test(toolkit, test_passes_over_a_toolkit_without_runtime);
    tcase_add_test(toolkit, test_a_record_holds_until_its_toolkit_is_gone);
    tcase_add_test(toolkit, test_mends_the_layout_of_the_wheels);
    tcase_add_test(toolkit, test_says_how_large_the_wheels_are);
    suite_add_tcase(suite, toolkit);

    TCase *verbs = tcase_create("verbs");
    tcase_add_test(verbs, test_bare_make_lists_the_verbs);
    tcase_add_test(verbs, test_an_unknown_lab_lists_those_that_are);
    suite_add_tcase(suite, verbs);
    return suite;
}

TEST_MAIN(setup_suite)
