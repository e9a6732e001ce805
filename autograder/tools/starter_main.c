// starter: writes labs/NN-name/name.cu from solutions/NN-name/name.cu.
#include "tools.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char doc[] =
    "Makes a lab's starter: SOLUTION with every TASK region left out. Without "
    "-o it goes to standard output.\v"
    "Exit status: 0 done, 1 --check found a difference, 2 bad use or input.";
static char args_doc[] = "SOLUTION";

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "write FILE", 0},
    {"check", 'c', 0, 0, "only say whether FILE is what would be written", 0},
    {0},
};

struct arguments {
    const char *solution, *output;
    bool check;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    switch (key) {
    case 'o':
        a->output = arg;
        return 0;
    case 'c':
        a->check = true;
        return 0;
    case ARGP_KEY_ARG:
        if (a->solution)
            argp_error(state, "one SOLUTION, please");
        a->solution = arg;
        return 0;
    case ARGP_KEY_END:
        if (!a->solution)
            argp_error(state, "which SOLUTION?");
        if (a->check && !a->output)
            argp_error(state, "--check needs -o FILE to look at");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// 0 when `path` holds `text`, else 1, said on stderr.
static int compare(const char *path, const char *text, const char *solution)
{
    char *is = text_read(path);
    bool same = is && strcmp(is, text) == 0;
    if (!same)
        fprintf(stderr, "%s: %s; `make starters` writes it anew from %s\n",
                path, is ? "is not the starter of its solution" : strerror(errno),
                solution);
    free(is);
    return same ? 0 : 1;
}

static int write_out(const char *path, const char *text)
{
    if (!path) {
        fputs(text, stdout);
        return fflush(stdout) ? 2 : 0;
    }
    int wrote = text_write(path, text);
    if (wrote < 0)
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    else if (wrote)
        printf("wrote %s\n", path);
    return wrote < 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    struct argp argp = {options, parse, args_doc, doc, 0, 0, 0};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, 0, &a);
    char *text = text_read(a.solution);
    if (!text) {
        fprintf(stderr, "%s: %s\n", a.solution, strerror(errno));
        return 2;
    }
    struct buf out = {0};
    char message[TOOL_MESSAGE];
    int status = 2;
    if (starter_make(a.solution, text, &out, message) < 0)
        fprintf(stderr, "%s\n", message);
    else if (a.check)
        status = compare(a.output, out.data, a.solution);
    else
        status = write_out(a.output, out.data);
    buf_free(&out);
    free(text);
    return status;
}
