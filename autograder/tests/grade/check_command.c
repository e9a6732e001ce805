// The command line: what is meant, and what is told when nothing is.
#include "../test.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grade/command.h"

#define TREE "build/tests/grade/tree"

static char message[1024], lab[80], said[4096], start[PATH_MAX];
static struct command command;

static void setup(void)
{
    ck_assert_ptr_nonnull(getcwd(start, sizeof start));
    mkdir(TREE, 0755);
    mkdir(TREE "/labs", 0755);
    mkdir(TREE "/labs/07-some-thing", 0755);
    mkdir(TREE "/labs/08-other", 0755);
    mkdir(TREE "/labs/no-lab", 0755);
    ck_assert_int_eq(chdir(TREE), 0);
}

// Parses; what went to stderr is in `said`.
static int parse(char **argv)
{
    int argc = 0;
    while (argv[argc])
        argc++;
    FILE *was = stderr;
    memset(said, 0, sizeof said);
    memset(&command, 0, sizeof command);
    stderr = fmemopen(said, sizeof said - 1, "w");
    int status = command_parse(&command, argc, argv);
    fclose(stderr);
    stderr = was;
    return status;
}

static const struct {
    const char *asked, *lab;
} asked[] = {
    {"7", "07-some-thing"},         {"07", "07-some-thing"},
    {"07-some-thing", "07-some-thing"}, {"other", "08-other"},
    {"9", NULL}, {"", NULL}, {"07x", NULL}, {"../07-some-thing", NULL},
    {"no-lab", NULL},
};

START_TEST(test_lab_by_number_or_name)
{
    int failed = command_lab(asked[_i].asked, lab, message);
    ck_assert_int_eq(failed, asked[_i].lab ? 0 : -1);
    if (asked[_i].lab)
        ck_assert_str_eq(lab, asked[_i].lab);
    else
        ck_assert_ptr_nonnull(strstr(message, "there are: 07-some-thing 08-other"));
}
END_TEST

START_TEST(test_reads_options)
{
    char *argv[] = {"grade", "lab", "7", "--target=virtual", "--gpu", "t4",
                    "--json", "out.json", "--plain", "--seed", "5",
                    "--isolation", "none", NULL};
    ck_assert_int_eq(parse(argv), -1);
    ck_assert_int_eq(command.verb, VERB_LAB);
    ck_assert_str_eq(command.lab, "07-some-thing");
    ck_assert_str_eq(command.shown, "labs/07-some-thing");
    ck_assert_str_eq(command.target, "virtual");
    ck_assert_str_eq(command.gpu, "t4");
    ck_assert_int_eq(command.json[0], '/');
    ck_assert_uint_eq(command.seed, 5);
    ck_assert(command.plain && command.isolation_given);
    ck_assert_int_eq(command.isolation, ISOLATION_NONE);
}
END_TEST

START_TEST(test_dash_is_standard_output)
{
    char *argv[] = {"grade", "lab", "7", "--json", "-", NULL};
    ck_assert_int_eq(parse(argv), -1);
    ck_assert_str_eq(command.json, "-");
}
END_TEST

START_TEST(test_unknown_verb_says_what_was_meant)
{
    char *argv[] = {"grade", "chekc", "7", NULL};
    ck_assert_int_eq(parse(argv), 2);
    ck_assert_ptr_nonnull(strstr(said, "no command 'chekc'; did you mean 'check'?"));
    ck_assert_ptr_nonnull(strstr(said, "there are: lab check counters explain"));
}
END_TEST

START_TEST(test_unknown_lab_lists_the_labs)
{
    char *argv[] = {"grade", "lab", "12", NULL};
    ck_assert_int_eq(parse(argv), 2);
    ck_assert_ptr_nonnull(strstr(said, "no lab '12'; there are: 07-some-thing"));
}
END_TEST

START_TEST(test_missing_submission_is_usage)
{
    char *argv[] = {"grade", "lab", "7", "--submission", "nowhere", NULL};
    ck_assert_int_eq(parse(argv), 2);
    ck_assert_ptr_nonnull(strstr(said, "nowhere: No such file"));
}
END_TEST

START_TEST(test_class_program_that_is_not_built)
{
    char *argv[] = {"grade", "calibrate", "--lab", "7", NULL};
    ck_assert_int_eq(parse(argv), 3);
    ck_assert_ptr_nonnull(strstr(said, "calibrate could not be run"));
}
END_TEST

// argp ends the program itself: each of these exits with status 2.
static char *bad[][6] = {
    {"grade", "lab", "7", "--targt", "gpu", NULL},
    {"grade", "lab", NULL},
    {"grade", "lab", "7", "8", NULL},
    {"grade", "lab", "7", "--isolation", "perfect", NULL},
    {"grade", "lab", "7", "--seed", "0x", NULL},
    {"grade", NULL},
};

START_TEST(test_bad_usage_exits_2)
{
    exit(parse(bad[_i]) == -1 ? 0 : 1);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("command");
    TCase *t = tcase_create("arguments");
    tcase_add_checked_fixture(t, setup, NULL);
    tcase_add_loop_test(t, test_lab_by_number_or_name, 0,
                        sizeof asked / sizeof asked[0]);
    tcase_add_test(t, test_reads_options);
    tcase_add_test(t, test_dash_is_standard_output);
    tcase_add_test(t, test_unknown_verb_says_what_was_meant);
    tcase_add_test(t, test_unknown_lab_lists_the_labs);
    tcase_add_test(t, test_missing_submission_is_usage);
    tcase_add_test(t, test_class_program_that_is_not_built);
    tcase_add_loop_exit_test(t, test_bad_usage_exits_2, 2, 0,
                             sizeof bad / sizeof bad[0]);
    suite_add_tcase(s, t);
    return s;
}
TEST_MAIN(suite)
