// A small course in a folder of its own, for tests of the tools: the scripts
// and programs of this repository around one lab made by new-lab.
#pragma once

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char tree_folder[64];

// Runs a shell command in the tree; its exit status.
static int sh(const char *command)
{
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Whether the command prints `text`.
static int prints(const char *command, const char *text)
{
    static char all[65536];
    char line[2048];
    snprintf(line, sizeof line, "( %s ) 2>&1", command);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t n = fread(all, 1, sizeof all - 1, pipe);
    all[n] = '\0';
    pclose(pipe);
    if (!strstr(all, text))
        fprintf(stderr, "`%s` printed:\n%s\n", command, all);
    return strstr(all, text) != NULL;
}

static void tree_new(void)
{
    char command[512];
    strcpy(tree_folder, "/tmp/check_tools.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tree_folder));
    snprintf(command, sizeof command,
             "mkdir -p %s/autograder %s/build %s/labs && "
             "cp -r autograder/tools autograder/setup %s/autograder && "
             "cp -r build/bin %s/build && cp labs/lab.h labs/lab.mk %s/labs",
             tree_folder, tree_folder, tree_folder, tree_folder, tree_folder,
             tree_folder);
    ck_assert_int_eq(sh(command), 0);
    ck_assert_int_eq(chdir(tree_folder), 0);
    ck_assert_int_eq(sh("autograder/tools/new-lab.sh first-steps >/dev/null"), 0);
}

static void tree_free(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", tree_folder);
    ck_assert_int_eq(chdir("/tmp"), 0);
    ck_assert_int_eq(sh(command), 0);
}
