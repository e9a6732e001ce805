// Every planted fault is found by the checker, with its kind, block, thread
// and source line; every right idiom is left alone.
//
// The cases stand in the .cu files beside this one (see cases.h); they were
// built to build/faults/, and tell themselves by `--list`.
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "../test.h"

enum { MAX_CASES = 64, MAX_OUTPUT = 1 << 16, FOUND = 86 };

struct fault_case {
    char program[32], name[64], kind[32];
    int block, thread;
};

static struct fault_case cases[3 * MAX_CASES];
static int ncases;

static void list_cases(const char *program)
{
    char command[256];
    snprintf(command, sizeof command,
             "build/bin/vgpu-run build/faults/%s --list", program);
    FILE *in = popen(command, "r");
    struct fault_case c;
    while (in && fscanf(in, "%63s %31s %d %d", c.name, c.kind, &c.block,
                        &c.thread) == 4 &&
           ncases < 3 * MAX_CASES) {
        snprintf(c.program, sizeof c.program, "%s", program);
        cases[ncases++] = c;
    }
    if (in)
        pclose(in);
}

// The line of the case's source that bears `// fault: NAME`; 0 when none.
static int marked_line(const struct fault_case *c)
{
    char path[256], line[1024], mark[96];
    snprintf(path, sizeof path, "autograder/tests/faults/%s.cu", c->program);
    snprintf(mark, sizeof mark, "// fault: %s\n", c->name);
    FILE *in = fopen(path, "r");
    int found = 0;
    for (int n = 1; in && !found && fgets(line, sizeof line, in); n++)
        if (strstr(line, mark))
            found = n;
    if (in)
        fclose(in);
    return found;
}

// Runs a case under the checker; returns the exit status.
static int run_case(const struct fault_case *c, char output[MAX_OUTPUT])
{
    char command[256];
    snprintf(command, sizeof command,
             "timeout 60 build/bin/vgpu-run --check build/faults/%s %s 2>&1",
             c->program, c->name);
    FILE *in = popen(command, "r");
    ck_assert_ptr_nonnull(in);
    size_t n = fread(output, 1, MAX_OUTPUT - 1, in);
    output[n] = '\0';
    int status = pclose(in);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void assert_says(const struct fault_case *c, const char *output,
                        const char *what)
{
    ck_assert_msg(strstr(output, what), "%s: not told \"%s\":\n%s", c->name,
                  what, output);
}

START_TEST(test_finds_planted_fault_or_nothing)
{
    static char output[MAX_OUTPUT];
    const struct fault_case *c = &cases[_i];
    int status = run_case(c, output);
    if (strcmp(c->kind, "none") == 0) {
        ck_assert_msg(status == 0, "%s: status %d:\n%s", c->name, status,
                      output);
        return;
    }
    char text[128];
    ck_assert_msg(status == FOUND, "%s: status %d:\n%s", c->name, status,
                  output);
    int line = marked_line(c);
    if (line)
        snprintf(text, sizeof text, "%s.cu:%d: %s", c->program, line, c->kind);
    else
        snprintf(text, sizeof text, "%s: ", c->kind);
    assert_says(c, output, text);
    if (c->block >= 0) {
        snprintf(text, sizeof text, "block (%d,0,0)", c->block);
        assert_says(c, output, text);
    }
}
END_TEST

START_TEST(test_lists_all_cases)
{
    ck_assert_int_ge(ncases, 62);
}
END_TEST

static Suite *faults_suite(void)
{
    list_cases("memory_faults");
    list_cases("barrier_faults");
    list_cases("race_faults");
    list_cases("right_idioms");
    Suite *suite = suite_create("faults");
    TCase *tcase = tcase_create("corpus");
    tcase_add_test(tcase, test_lists_all_cases);
    tcase_add_loop_test(tcase, test_finds_planted_fault_or_nothing, 0, ncases);
    suite_add_tcase(suite, tcase);
    return suite;
}

TEST_MAIN(faults_suite)
