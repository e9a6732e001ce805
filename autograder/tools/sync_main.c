// sync: makes the generated blocks of Markdown files anew (see blocks.c).
#include "tools.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char doc[] =
    "Makes code, tables and command transcripts in Markdown files anew from "
    "the sources, results and commands that they name.\v"
    "Run it at the root of the repository. Exit status: 0 all is in step, 1 "
    "--check found a file that is not, 2 bad use, a file or a command failed.";
static char args_doc[] = "FILE.md...";

static const struct argp_option options[] = {
    {"check", 'c', 0, 0, "change nothing, only say what would change", 0},
    {"no-run", 'n', 0, 0, "leave command transcripts as they are", 0},
    {0},
};

struct arguments {
    bool check, no_run;
    char **files;
    int nfiles;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'c':
        a->check = true;
        return 0;
    case 'n':
        a->no_run = true;
        return 0;
    case ARGP_KEY_ARGS:
        a->files = state->argv + state->next;
        a->nfiles = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which files?");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// Transcripts must read the same wherever they are made.
static void plain_environment(void)
{
    static const char *const unwanted[] = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS",
                                           "MAKEOVERRIDES", "COLUMNS"};
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
    setenv("NO_COLOR", "1", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("TARGET", "virtual", 1);
}

static int first_difference(const char *a, const char *b)
{
    const char *at = a;
    while (*at && *at == *b)
        at++, b++;
    return line_number(a, at);
}

// 0 in step (now), 1 --check found it is not, 2 failed.
static int sync_file(const char *path, const struct arguments *a)
{
    char *text = text_read(path);
    if (!text) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 2;
    }
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    int status = 0;
    if (blocks_sync(path, text, !a->no_run, &out, message) < 0) {
        fprintf(stderr, "%s\n", message);
        status = 2;
    } else if (a->check && strcmp(text, out.data) != 0) {
        fprintf(stderr, "%s:%d: not in step with its source; run `make sync`\n",
                path, first_difference(text, out.data));
        status = 1;
    } else if (!a->check) {
        int wrote = text_write(path, out.data);
        if (wrote < 0)
            fprintf(stderr, "%s: %s\n", path, strerror(errno));
        else if (wrote)
            printf("wrote %s\n", path);
        status = wrote < 0 ? 2 : 0;
    }
    buf_free(&out);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    struct argp argp = {options, parse, args_doc, doc, 0, 0, 0};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, 0, &a);
    plain_environment();
    int worst = 0;
    for (int i = 0; i < a.nfiles; i++) {
        int status = sync_file(a.files[i], &a);
        if (status > worst)
            worst = status;
    }
    return worst;
}
