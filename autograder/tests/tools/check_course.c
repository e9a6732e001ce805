// check-course on a small tree: every kind of fault is found and named, and
// verdicts are compared as the files of the corpora say.
#include "../test.h"
#include "tree.h"

#include "tools/tools.h"

#define LAB "labs/01-first-steps"
#define SOLUTION "solutions/01-first-steps"
#define FILES "build/bin/check-course --files"

START_TEST(test_a_new_lab_has_no_fault)
{
    ck_assert_int_eq(sh(FILES " >/dev/null"), 0);
}
END_TEST

static const struct {
    const char *damage, *told;
} faults[] = {
    {"echo x >>" LAB "/first_steps.cu", "not the starter of"},
    {"touch " LAB "/notes.txt", LAB "/notes.txt: a stray file"},
    {"touch " SOLUTION "/right/a.out", "a.out: a stray file"},
    {"touch labs/README", "labs/README: neither a lab"},
    {"mkdir labs/1-x", "labs/1-x: neither a lab"},
    {"mkdir solutions/09-no", "solutions/09-no: there is no lab"},
    {"touch chapters/notes.md", "chapters/notes.md: not the chapter"},
    {"mkdir chapters/examples; touch chapters/examples/x.cu",
     "chapters/examples/x.cu: not the example"},
    {"rm " LAB "/hints.md", LAB "/hints.md: missing"},
    {"rm chapters/01-first-steps.md", "chapters/01-first-steps.md: No such"},
    {"rm " SOLUTION "/right/add.cu", "fewer than two other right"},
    {"rm " SOLUTION "/wrong/empty_task_2.cu", "none leaves task 2 empty"},
    {"sed -i 1d " SOLUTION "/wrong/no_guard.cu", "no_guard.cu:1: write `// fails"},
    {"sed -i 's/stays_in_bounds/stays/' " SOLUTION "/wrong/no_guard.cu",
     "no_guard.cu:1: the lab has no test `stays`"},
    {"sed -i 's/^needs: .*/needs: [warps]/' " LAB "/lab.yaml", "needs `warps`"},
    {"printf 'tests: [' >" LAB "/lab.yaml", LAB "/lab.yaml:2: "},
    {"mkdir " SOLUTION "/rungs; touch " SOLUTION "/rungs/a.cu",
     "lab.yaml does not class this rung"},
    {"printf 'rungs:\\n- {file: a.cu, test: reverses, class: plain}\\n' >>" LAB
     "/lab.yaml", "rung a.cu has no thresholds"},
    {"grep -A4 'TASK 2: launch' " SOLUTION "/first_steps.cu | "
     "sed 's/^ *//' >>chapters/01-first-steps.md", "code of a task of the lab"},
    {"sed -i 's/^## The idea/## Idea/' chapters/01-first-steps.md",
     "no section `The idea`"},
    {"sed -i 's|// END TASK 2|// END TASK 3|' " SOLUTION "/first_steps.cu",
     "END TASK without its TASK"},
    {"yes 'int x;' | head -n 130 >>" SOLUTION "/first_steps.cu",
     "a learner edits 120 at most"},
};

START_TEST(test_names_the_fault)
{
    ck_assert_int_eq(sh(faults[_i].damage), 0);
    ck_assert_int_eq(sh(FILES " >/dev/null"), 1);
    ck_assert(prints(FILES, faults[_i].told));
}
END_TEST

START_TEST(test_needs_may_come_from_an_earlier_lab)
{
    ck_assert_int_eq(sh("autograder/tools/new-lab.sh next >/dev/null"), 0);
    ck_assert_int_eq(sh("sed -i 's/^introduces: .*/introduces: [warps]/' " LAB
                        "/lab.yaml; sed -i 's/^needs: .*/needs: [warps]/' "
                        "labs/02-next/lab.yaml"), 0);
    ck_assert_int_eq(sh(FILES " 02 >/dev/null"), 0);
    ck_assert(prints(FILES " 07", "there is no lab 07"));
}
END_TEST

// ---- verdicts ----------------------------------------------------------------

// A grader that says of each submission what the variable SAYS holds, as
// score and failed tests by path.
static void fake_grader(const char *cases)
{
    FILE *f = fopen("grader", "w");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "#!/bin/sh\n"
               "status=graded score=0 failed=\n"
               "case $4 in\n%s\nesac\n"
               "[ $status = hang ] && sleep 60\n"
               "[ $status = crash ] && exit 3\n"
               "{ printf '{\"target\":\"%%s\",\"status\":\"%%s\",' $6 $status\n"
               "printf '\"score\":%%s,\"max_score\":100,\"tests\":[' $score\n"
               "sep=\n"
               "for t in doubles_whole_blocks doubles_any_size stays_in_bounds "
               "reverses; do\n"
               "case \" $failed \" in *\" $t \"*) s=failed ;; *) s=passed ;; esac\n"
               "printf '%%s{\"name\":\"%%s\",\"status\":\"%%s\"}' \"$sep\" $t $s\n"
               "sep=,\ndone\necho ']}'; } >$8\n"
               "exit 1\n", cases);
    fclose(f);
    ck_assert_int_eq(sh("chmod +x grader"), 0);
}

static const char GOOD[] =
    "labs/*) ;;\n"
    "*no_guard*) failed='doubles_any_size stays_in_bounds' ;;\n"
    "*empty_task_1*) failed=doubles_whole_blocks ;;\n"
    "*empty_task_2*) failed=reverses ;;\n"
    "*) score=100 ;;";

#define CHECK "build/bin/check-course --grade ./grader"

START_TEST(test_agreeing_verdicts_pass)
{
    fake_grader(GOOD);
    ck_assert_int_eq(sh(CHECK " >/dev/null"), 0);
    ck_assert(prints(CHECK, "7 of 7 submissions"));
    ck_assert(prints(CHECK " --only wrong/", "3 of 3 submissions"));
}
END_TEST

static const struct {
    const char *first, *told;
} verdicts[] = {
    {"labs/*) score=5 ;;", "5 of 100 points, wanted 0"},
    {"*/add.cu) score=99 failed=reverses ;;",
     "99 of 100 points, wanted 100; first lost: reverses"},
    {"*no_guard*) failed=doubles_any_size ;;", "does not lose stays_in_bounds"},
    {"*empty_task_2*) failed='reverses stays_in_bounds' ;;",
     "also loses stays_in_bounds"},
    {"*/add.cu) status=compile_error ;;", "not graded: compile_error"},
    {"*/add.cu) status=crash ;;", "grade ended with 3"},
};

START_TEST(test_differing_verdict_is_told)
{
    char cases[1024];
    snprintf(cases, sizeof cases, "%s\n%s", verdicts[_i].first, GOOD);
    fake_grader(cases);
    ck_assert_int_eq(sh(CHECK " >/dev/null"), 1);
    ck_assert(prints(CHECK, verdicts[_i].told));
}
END_TEST

static struct sample rung_of(const char *class)
{
    struct sample s = {.expect = EXPECT_RUNG, .pass = 0.5, .full = 1.0};
    strcpy(s.rung.test, "speed");
    strcpy(s.rung.class, class);
    return s;
}

static const struct {
    const char *class, *ratio;
    bool agrees;
} rungs[] = {
    {"mistake", "0.44", true},  {"mistake", "0.46", false},
    {"plain", "0.94", true},    {"plain", "0.96", false},
    {"method", "1.06", true},   {"method", "1.04", false},
    {"method", "null", false},  {"mistake", "null", false},
};

START_TEST(test_rung_lands_in_its_class)
{
    char json[256], message[TOOL_MESSAGE];
    snprintf(json, sizeof json,
             "{\"target\": \"virtual\", \"status\": \"graded\", \"score\": 1, "
             "\"max_score\": 2, \"tests\": [{\"name\": \"speed\", "
             "\"status\": \"passed\", \"ratio\": %s}]}", rungs[_i].ratio);
    struct sample s = rung_of(rungs[_i].class);
    ck_assert_msg(verdict_agrees(&s, json, "virtual", message) ==
                      rungs[_i].agrees, "%s", message);
}
END_TEST

START_TEST(test_name_counts_on_its_target_only)
{
    const char *lost = "{\"target\": \"%s\", \"status\": \"graded\", \"score\": 0, "
                       "\"max_score\": 9, \"tests\": [{\"name\": \"huge\", "
                       "\"status\": \"%s\"}]}";
    struct sample s = {.expect = EXPECT_FAILS, .fails = "huge@gpu"};
    char json[256], message[TOOL_MESSAGE];
    snprintf(json, sizeof json, lost, "gpu", "failed");
    ck_assert(verdict_agrees(&s, json, "gpu", message));
    snprintf(json, sizeof json, lost, "gpu", "passed");
    ck_assert(!verdict_agrees(&s, json, "gpu", message));
    snprintf(json, sizeof json, lost, "virtual", "skipped");
    ck_assert(verdict_agrees(&s, json, "virtual", message));
    snprintf(json, sizeof json, lost, "virtual", "partial");
    ck_assert(!verdict_agrees(&s, json, "virtual", message));
    ck_assert(!verdict_agrees(&s, "{}", "virtual", message));
    ck_assert(!verdict_agrees(&s, "no JSON", "virtual", message));
}
END_TEST

// ---- jobs ----------------------------------------------------------------------

START_TEST(test_job_is_killed_at_its_deadline_with_its_children)
{
    char *hang[] = {"sh", "-c", "sleep 30 & echo $! >child; wait", NULL};
    char *quick[] = {"sh", "-c", "exit 7", NULL};
    char *none[] = {"/no/such/program", NULL};
    struct job jobs[] = {
        {.argv = hang, .output_path = "o1", .deadline_s = 0.5},
        {.argv = quick, .output_path = "o2", .deadline_s = 5},
        {.argv = none, .output_path = "o3", .deadline_s = 5},
    };
    jobs_run(jobs, 3, 2, NULL, NULL);
    ck_assert_int_eq(jobs[0].status, -1);
    ck_assert(jobs[0].wall_s < 5);
    ck_assert_int_eq(jobs[1].status, 7);
    ck_assert_int_eq(jobs[2].status, 127);
    // gone, or a zombie that its new parent has not collected yet
    ck_assert_int_eq(sh("p=$(cat child); [ ! -d /proc/$p ] || "
                        "grep -q '^State:.Z' /proc/$p/status"), 0);
}
END_TEST

static Suite *course_suite(void)
{
    Suite *s = suite_create("course");
    TCase *t = tcase_create("check-course");
    tcase_add_checked_fixture(t, tree_new, tree_free);
    tcase_add_test(t, test_a_new_lab_has_no_fault);
    tcase_add_loop_test(t, test_names_the_fault, 0,
                        sizeof faults / sizeof *faults);
    tcase_add_test(t, test_needs_may_come_from_an_earlier_lab);
    tcase_add_test(t, test_agreeing_verdicts_pass);
    tcase_add_loop_test(t, test_differing_verdict_is_told, 0,
                        sizeof verdicts / sizeof *verdicts);
    tcase_add_loop_test(t, test_rung_lands_in_its_class, 0,
                        sizeof rungs / sizeof *rungs);
    tcase_add_test(t, test_name_counts_on_its_target_only);
    tcase_add_test(t, test_job_is_killed_at_its_deadline_with_its_children);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(course_suite)
