// grade-export: what counts, as CSV or JSON; a file is written whole or not
// at all.
#include <argp.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"
#include "tools/text.h"

static struct {
    const char *gradebook, *lab, *output;
    bool json;
} arguments = {.gradebook = "grades.db"};

static const struct argp_option options[] = {
    {"gradebook", 'g', "FILE", 0, "The gradebook (grades.db)", 0},
    {"lab", 'l', "LAB", 0, "Only this lab, as 02-vector-add", 0},
    {"format", 'f', "FORMAT", 0, "csv (the default) or json", 0},
    {"output", 'o', "FILE", 0, "Write to FILE instead of the screen", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'g':
        arguments.gradebook = arg;
        return 0;
    case 'l':
        arguments.lab = arg;
        return 0;
    case 'f':
        if (strcmp(arg, "csv") != 0 && strcmp(arg, "json") != 0)
            argp_error(state, "--format is csv or json, not '%s'", arg);
        arguments.json = strcmp(arg, "json") == 0;
        return 0;
    case 'o':
        arguments.output = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int write_report(struct gradebook *book, FILE *out)
{
    int status = arguments.json ? report_json(book, arguments.lab, out)
                                : report_csv(book, arguments.lab, out);

    return status == 0 && fflush(out) == 0 && !ferror(out) ? 0 : -1;
}

// Whole or not at all, so that no reader sees half of it.
static int write_file(struct gradebook *book, const char *path)
{
    char *text = NULL;
    size_t nbytes = 0;
    FILE *out = open_memstream(&text, &nbytes);
    int status = out ? write_report(book, out) : -1;

    if (out && fclose(out) != 0)
        status = -1;
    if (status == 0 && text_write(path, text) < 0)
        status = -1;
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse_option, NULL,
        "Exports the grades that count: for every student and lab the newest "
        "that could be graded.", NULL, NULL, NULL};
    char message[CLASS_MESSAGE] = "";

    setlocale(LC_CTYPE, "C.UTF-8");
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    struct gradebook *book =
        gradebook_open(arguments.gradebook, false, message);
    if (!book) {
        fprintf(stderr, "grade-export: %s\n", message);
        return 2;
    }
    errno = 0;
    int status = arguments.output ? write_file(book, arguments.output)
                                  : write_report(book, stdout);
    if (status != 0)
        fprintf(stderr, "grade-export: nothing was exported: %s\n",
                errno ? strerror(errno) : gradebook_error(book));
    gradebook_close(book);
    return status == 0 ? EXIT_SUCCESS : 3;
}
