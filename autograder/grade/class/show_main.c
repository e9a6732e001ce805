// grade-show: the gradebook on the screen; of one student, every attempt.
#include <argp.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "class.h"

static struct {
    const char *gradebook, *lab, *student;
} arguments = {.gradebook = "grades.db"};

static const struct argp_option options[] = {
    {"gradebook", 'g', "FILE", 0, "The gradebook (grades.db)", 0},
    {"lab", 'l', "LAB", 0, "Only this lab, as 02-vector-add", 0},
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
    case ARGP_KEY_ARG:
        if (arguments.student)
            argp_error(state, "one student, not also '%s'", arg);
        arguments.student = arg;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int print_row(void *self, const struct row *row)
{
    unsigned *rows = self;

    ++*rows;
    text_padded(stdout, row->student, 24);
    printf("  ");
    text_padded(stdout, row->lab, 16);
    if (row->graded)
        printf("  %6.2f of %g", row->score, row->max_score);
    else
        printf("  not graded   ");
    printf("  %s", row->when ? row->when : "");
    if (row->target)
        printf("  %s", row->target);
    if (row->attempts > 1)
        printf("  %u attempts", row->attempts);
    if (row->reason) {
        const char *end = strchrnul(row->reason, '\n');
        printf("\n    %.*s", (int)(end - row->reason), row->reason);
    }
    putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse_option, "[STUDENT]",
        "Shows the grades that count; of one STUDENT every attempt, the "
        "oldest first.", NULL, NULL, NULL};
    char message[CLASS_MESSAGE] = "";
    unsigned rows = 0;

    setlocale(LC_CTYPE, "C.UTF-8");
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    struct gradebook *book =
        gradebook_open(arguments.gradebook, false, message);
    if (!book) {
        fprintf(stderr, "grade-show: %s\n", message);
        return 2;
    }
    int status =
        arguments.student
            ? gradebook_history(book, arguments.lab, arguments.student,
                                print_row, &rows)
            : gradebook_rows(book, arguments.lab, NULL, print_row, &rows);
    if (status != 0)
        fprintf(stderr, "grade-show: %s\n", gradebook_error(book));
    else if (rows == 0)
        puts("There is no such grade in this gradebook.");
    gradebook_close(book);
    return status == 0 ? EXIT_SUCCESS : 3;
}
