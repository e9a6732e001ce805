// grade-class: a folder of submissions into a gradebook.
#include <argp.h>
#include <fcntl.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../worker/session.h"
#include "class.h"

enum { EXIT_ALL_GRADED = 0, EXIT_SOME_NOT = 1, EXIT_USAGE = 2,
       EXIT_CANNOT = 3 };
enum { OPTION_TARGET = 256, OPTION_GPU, OPTION_DEADLINE, OPTION_NO_ISOLATION };

static struct {
    const char *lab, *folder, *gradebook;
    struct grader grader;
    bool resume;
    unsigned jobs;
} arguments = {.gradebook = "grades.db",
               .grader = {.deadline_s = 900},
               .jobs = 1};

static const struct argp_option options[] = {
    {"lab", 'l', "LAB", 0, "The lab: 02, or 02-vector-add", 0},
    {"gradebook", 'g', "FILE", 0, "The gradebook (grades.db)", 0},
    {"resume", 'r', 0, 0, "Go on with the last run: what it left, and what is new", 0},
    {"jobs", 'j', "N", 0, "Grade N submissions at a time (1)", 0},
    {"target", OPTION_TARGET, "TARGET", 0, "gpu or virtual", 0},
    {"gpu", OPTION_GPU, "MODEL", 0, "The GPU to run on, or to model", 0},
    {"deadline", OPTION_DEADLINE, "SECONDS", 0,
     "The longest that one submission may take (900)", 0},
    {"allow-no-isolation", OPTION_NO_ISOLATION, 0, 0,
     "Grade even where the sandbox cannot be built", 0},
    {0},
};

// A number from 1 to `most`, or a usage error.
static unsigned positive(const char *text, long most, struct argp_state *state)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (*end || end == text || value < 1 || value > most)
        argp_error(state, "a number from 1 to %ld is needed, not '%s'", most,
                   text);
    return (unsigned)value;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case 'l':
        arguments.lab = arg;
        return 0;
    case 'g':
        arguments.gradebook = arg;
        return 0;
    case 'r':
        arguments.resume = true;
        return 0;
    case 'j':
        arguments.jobs = positive(arg, 256, state);
        return 0;
    case OPTION_TARGET:
        if (strcmp(arg, "gpu") != 0 && strcmp(arg, "virtual") != 0)
            argp_error(state, "--target is gpu or virtual, not '%s'", arg);
        arguments.grader.target = arg;
        return 0;
    case OPTION_GPU:
        arguments.grader.gpu = arg;
        return 0;
    case OPTION_DEADLINE:
        arguments.grader.deadline_s = positive(arg, 86400, state);
        return 0;
    case OPTION_NO_ISOLATION:
        arguments.grader.allow_no_isolation = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments.folder)
            argp_error(state, "one folder of submissions, not also '%s'", arg);
        arguments.folder = arg;
        return 0;
    case ARGP_KEY_END:
        if (!arguments.lab || !arguments.folder)
            argp_error(state, "a lab and a folder are needed: --lab 02 FOLDER");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// The folder name of a lab, given that or its number; NULL when there is none.
// Lists those that there are on stderr then. The caller frees.
static char *find_lab(const char *name)
{
    struct dirent **entries;
    char *found = NULL;
    int n = scandir("labs", &entries, NULL, alphasort);

    for (int i = 0; i < n; i++) {
        const char *slug = entries[i]->d_name;
        const char *dash = strchr(slug, '-');
        if (dash && (strcmp(slug, name) == 0 ||
                     (strncmp(slug, name, (size_t)(dash - slug)) == 0 &&
                      name[dash - slug] == '\0')))
            found = strdup(slug);
    }
    if (!found) {
        fprintf(stderr, "grade-class: there is no lab '%s' in labs/. There "
                        "are:", name);
        for (int i = 0; i < n; i++)
            if (entries[i]->d_name[0] != '.' &&
                strchr(entries[i]->d_name, '-'))
                fprintf(stderr, " %s", entries[i]->d_name);
        fputs("\n", stderr);
    }
    for (int i = 0; i < n; i++)
        free(entries[i]);
    if (n >= 0)
        free(entries);
    return found;
}

// The grader stands beside this program.
static char *grader_path(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    return text_format("%s/grade", self);
}

// A folder for what children leave behind, beside the gradebook and empty.
// One that is there already is emptied if a run before this one made it.
static char *make_scratch(const char *gradebook, char *message)
{
    char *relative = text_format("%s.work", gradebook);

    char *mark = text_format("%s/.grade-class", relative);
    if (access(mark, F_OK) == 0)
        remove_tree(relative);
    char *scratch = mkdir(relative, 0700) == 0 ? realpath(relative, NULL)
                                               : NULL;
    int marked = scratch ? open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (marked >= 0)
        close(marked);
    free(mark);
    if (!scratch)
        snprintf(message, CLASS_MESSAGE, "%s: %s", relative, strerror(errno));
    free(relative);
    return scratch;
}

// The run to work on, or -1 with a message.
static int64_t choose_run(struct gradebook *book, const char *lab,
                          const struct submissions *all, char *message)
{
    int64_t run = 0;

    if (arguments.resume)
        run = gradebook_resume(book, lab, all->folder, all);
    if (run == 0)
        run = gradebook_begin(book, lab, all->folder, all);
    if (run < 0)
        snprintf(message, CLASS_MESSAGE, "gradebook: %s",
                 gradebook_error(book));
    return run;
}

static int finish_run(struct gradebook *book, int64_t run, char *message)
{
    struct tally tally;

    if (gradebook_finish(book, run) != 0 ||
        gradebook_tally(book, run, &tally) != 0) {
        snprintf(message, CLASS_MESSAGE, "gradebook: %s",
                 gradebook_error(book));
        return EXIT_CANNOT;
    }
    printf("%u graded, %u not. The gradebook is %s: see it with grade-show, "
           "export it with grade-export.\n",
           tally.graded, tally.failed, arguments.gradebook);
    return tally.failed ? EXIT_SOME_NOT : EXIT_ALL_GRADED;
}

static int grade_all(struct gradebook *book, const char *lab,
                     const struct submissions *all, char *message)
{
    if (!arguments.grader.allow_no_isolation &&
        isolation_probe() == ISOLATION_NONE) {
        snprintf(message, CLASS_MESSAGE, "%s", NO_ISOLATION);
        return EXIT_CANNOT;
    }
    int64_t run = choose_run(book, lab, all, message);
    char *scratch = run < 0 ? NULL : make_scratch(arguments.gradebook, message);

    if (!scratch)
        return EXIT_CANNOT;
    printf("%s: %zu submissions. If this is interrupted, the same command "
           "with --resume goes on.\n", lab, all->n);
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].problem) {
            fputs("       ", stdout);
            text_padded(stdout, all->list[i].student, 24);
            printf(" not graded: %s\n", all->list[i].problem);
        }
    fflush(stdout);
    int status = run_class(book, run, &arguments.grader, arguments.jobs,
                           scratch, stdout, message);
    remove_tree(scratch);
    free(scratch);
    return status == 0 ? finish_run(book, run, message) : EXIT_CANNOT;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {
        options, parse_option, "FOLDER",
        "Grades a class: every submission in FOLDER, a folder, a .cu file or "
        "an archive a student, named after the student.\v"
        "Exit status: 0 all were graded, 1 some could not be, 2 usage, 3 the "
        "run could not go on.", NULL, NULL, NULL};
    char message[CLASS_MESSAGE] = "";
    struct submissions all;

    setlocale(LC_CTYPE, "C.UTF-8");
    argp_err_exit_status = EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, NULL);
    char *lab = find_lab(arguments.lab);
    if (!lab)
        return EXIT_USAGE;
    if (submissions_find(arguments.folder, &all) != 0 || all.n == 0) {
        fprintf(stderr, "grade-class: %s: %s\n", arguments.folder,
                all.folder ? "there is no submission in it" : strerror(errno));
        submissions_free(&all);
        free(lab);
        return EXIT_USAGE;
    }
    char *program = grader_path();
    arguments.grader.program = program;
    arguments.grader.lab = lab;
    struct gradebook *book =
        gradebook_open(arguments.gradebook, true, message);
    int status = book ? grade_all(book, lab, &all, message) : EXIT_CANNOT;
    if (status == EXIT_CANNOT)
        fprintf(stderr, "grade-class: %s\n", message);
    gradebook_close(book);
    submissions_free(&all);
    free(program);
    free(lab);
    return status;
}
