// Ordinary CUDA programs under vgpu-run. The head of each says what must come
// of it:
//
//   // run: options of vgpu-run
//   // status: its exit status (0 when not said)
//   // expect: a line of stdout; all of them, in this order
//   // expect-error: text that stderr holds
//
// One whose head says nothing of the kind compares with the CPU itself, and
// prints "right" and a checksum.
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test.h"

enum { TEXT = 8192, MAX_PROGRAMS = 128 };

struct expectation {
    char options[512], out[TEXT];
    char errors[8][512];
    unsigned nerrors;
    int status;
};

static char sources[MAX_PROGRAMS][256];
static int nsources;

// The rest of the line behind a key, or NULL.
static const char *value_of(const char *line, const char *key)
{
    size_t n = strlen(key);
    return strncmp(line, key, n) ? NULL : line + n;
}

static struct expectation read_expectation(const char *path)
{
    struct expectation e = {0};
    char line[512];
    const char *value;
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f) && !strncmp(line, "//", 2)) {
        if ((value = value_of(line, "// expect: "))) {
            strncat(e.out, value, sizeof e.out - strlen(e.out) - 1);
            continue;
        }
        line[strcspn(line, "\n")] = 0;
        if ((value = value_of(line, "// run: ")))
            snprintf(e.options, sizeof e.options, "%s", value);
        else if ((value = value_of(line, "// status: ")))
            e.status = atoi(value);
        else if ((value = value_of(line, "// expect-error: ")))
            snprintf(e.errors[e.nerrors++], sizeof e.errors[0], "%s", value);
        ck_assert_uint_lt(e.nerrors, 8);
    }
    fclose(f);
    return e;
}

static void read_all(const char *path, char *text)
{
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, TEXT - 1, f)] = 0;
    fclose(f);
}

// "autograder/tests/programs/x.cu" -> "build/tests/programs/x".
static void program_of(const char *source, char *program, size_t n)
{
    const char *name = source + strlen("autograder/");
    snprintf(program, n, "build/%.*s", (int)(strlen(name) - strlen(".cu")),
             name);
}

START_TEST(test_program_behaves_as_its_head_says)
{
    const char *source = sources[_i];
    struct expectation e = read_expectation(source);
    char program[256], command[2048], err_path[300], out_path[300];
    char out[TEXT], err[TEXT];
    program_of(source, program, sizeof program);
    snprintf(out_path, sizeof out_path, "%s.out", program);
    snprintf(err_path, sizeof err_path, "%s.err", program);
    snprintf(command, sizeof command, "build/bin/vgpu-run %s %s >%s 2>%s",
             e.options, program, out_path, err_path);
    ck_assert_msg(!access(program, X_OK), "%s: not built; make run-tests",
                  program);
    int status = system(command);
    read_all(out_path, out);
    read_all(err_path, err);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == e.status,
                  "%s: status %d, not %d; stderr:\n%s", source,
                  WEXITSTATUS(status), e.status, err);
    bool compares_itself = !e.out[0] && !e.nerrors && !e.status;
    ck_assert_msg(compares_itself ? !strncmp(out, "right, ", 7)
                                  : !strcmp(out, e.out),
                  "%s printed\n%snot\n%sstderr:\n%s",
                  source, out, e.out, err);
    for (unsigned i = 0; i < e.nerrors; i++)
        ck_assert_msg(strstr(err, e.errors[i]), "%s: no \"%s\" in\n%s", source,
                      e.errors[i], err);
}
END_TEST

static void find_sources(void)
{
    glob_t found;
    glob("autograder/tests/programs/*.cu", 0, NULL, &found);
    glob("autograder/tests/programs/*/main.cu", GLOB_APPEND, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc && nsources < MAX_PROGRAMS; i++)
        snprintf(sources[nsources++], sizeof sources[0], "%s",
                 found.gl_pathv[i]);
    globfree(&found);
}

static Suite *programs_suite(void)
{
    Suite *suite = suite_create("programs");
    TCase *programs = tcase_create("vgpu-run");
    find_sources();
    tcase_add_loop_test(programs, test_program_behaves_as_its_head_says, 0,
                        nsources);
    suite_add_tcase(suite, programs);
    return suite;
}

TEST_MAIN(programs_suite)
