// The command line: verbs, labs, paths.
#include "command.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EXIT_USAGE = 2 };
enum { KEY_TARGET = 't', KEY_SUBMISSION = 's', KEY_QUIET = 'q', KEY_GPU = 256,
       KEY_JSON, KEY_JUNIT, KEY_PLAIN, KEY_ISOLATION, KEY_SEED };

static const struct argp_option options[] = {
    {"submission", KEY_SUBMISSION, "PATH", 0,
     "a folder or a file to grade; the lab's own folder when left out", 0},
    {"target", KEY_TARGET, "gpu|virtual", 0,
     "where to run; the GPU if there is a usable one, else virtual", 0},
    {"gpu", KEY_GPU, "MODEL", 0,
     "the GPU to model (h200, t4, ...), or the number of a real one", 0},
    {"json", KEY_JSON, "FILE", 0, "write the result as JSON (- for stdout)", 0},
    {"junit", KEY_JUNIT, "FILE", 0, "write the result as JUnit XML", 0},
    {"quiet", KEY_QUIET, 0, 0, "print the score alone", 0},
    {"plain", KEY_PLAIN, 0, 0, "no boxes, no colour, verdict word first", 0},
    {"isolation", KEY_ISOLATION, "namespaces|user|none", 0,
     "instead of the strongest that works here", 0},
    {"seed", KEY_SEED, "N", 0, "inputs from this seed, not from entropy", 0},
    {0}};

static const char usage[] = "lab NN\ncheck NN\ncounters NN\nexplain NN\n"
                            "class|regrade|show|report|export|calibrate|purge ...";
static const char about[] =
    "Grades a lab, or says what the virtual GPU sees of it.\v"
    "Exit status: 0 full marks, 1 graded below full, 2 usage, 3 could not be "
    "graded.";

// ---- verbs --------------------------------------------------------------------

static const char *const verbs[] = {"lab", "check", "counters", "explain"};
static const char *const others[] = {"class", "regrade", "show", "report",
                                     "export", "calibrate", "purge"};
enum { NVERBS = sizeof verbs / sizeof verbs[0],
       NOTHERS = sizeof others / sizeof others[0] };

// Edit distance, for "did you mean"; words are short.
static unsigned distance(const char *a, const char *b)
{
    unsigned row[32], m = (unsigned)strnlen(b, 31);
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (; *a; a++) {
        unsigned corner = row[0]++;
        for (unsigned j = 1; j <= m; j++) {
            unsigned swap = corner + (*a != b[j - 1]);
            corner = row[j];
            row[j] = row[j] + 1 < swap ? row[j] + 1 : swap;
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
        }
    }
    return row[m];
}

static void unknown_verb(const char *asked)
{
    const char *best = verbs[0];
    for (unsigned i = 0; i < NVERBS + NOTHERS; i++) {
        const char *v = i < NVERBS ? verbs[i] : others[i - NVERBS];
        if (distance(asked, v) < distance(asked, best))
            best = v;
    }
    fprintf(stderr, "grade: there is no command '%s'", asked);
    if (distance(asked, best) <= 2)
        fprintf(stderr, "; did you mean '%s'?", best);
    fprintf(stderr, "\n  there are:");
    for (unsigned i = 0; i < NVERBS; i++)
        fprintf(stderr, " %s", verbs[i]);
    for (unsigned i = 0; i < NOTHERS; i++)
        fprintf(stderr, " %s", others[i]);
    fputc('\n', stderr);
}

// The folder that holds this program.
static int program_folder(char out[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", out, PATH_MAX - 1);
    if (n <= 0)
        return -1;
    out[n] = '\0';
    *strrchr(out, '/') = '\0';
    return 0;
}

// Programs of class runs stand beside this one, so that `grade lab` links
// neither a database nor an archive library.
static int run_other(char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    bool known = false;
    for (unsigned i = 0; i < NOTHERS; i++)
        known |= !strcmp(argv[1], others[i]);
    if (!known) {
        unknown_verb(argv[1]);
        return EXIT_USAGE;
    }
    if (!program_folder(folder)) {
        snprintf(path, sizeof path, "%s/grade-%s", folder, argv[1]);
        execv(path, argv + 1);
    }
    fprintf(stderr, "grade: %s could not be run (%s); is it built?\n", argv[1],
            strerror(errno));
    return 3;
}

// ---- options ---------------------------------------------------------------------

struct parse {
    struct command *command;
    const char *verb, *lab, *submission;
};

static error_t parse_isolation(struct command *c, const char *arg,
                               struct argp_state *state)
{
    for (int i = ISOLATION_NONE; i <= ISOLATION_NAMESPACES; i++)
        if (!strcmp(arg, isolation_name(i))) {
            c->isolation = i;
            c->isolation_given = true;
            return 0;
        }
    argp_error(state, "there is no isolation '%s'; there are: namespaces user "
               "none", arg);
    return EINVAL;
}

static error_t parse_argument(struct parse *p, char *arg, struct argp_state *state)
{
    if (!p->verb)
        p->verb = arg;
    else if (!p->lab)
        p->lab = arg;
    else
        argp_error(state, "one lab at a time; what is '%s'?", arg);
    return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;
    struct command *c = p->command;
    char *end;
    switch (key) {
    case KEY_SUBMISSION:
        p->submission = arg;
        return 0;
    case KEY_TARGET:
        c->target = arg;
        return 0;
    case KEY_GPU:
        c->gpu = arg;
        return 0;
    case KEY_JSON:
        c->json = arg;
        return 0;
    case KEY_JUNIT:
        c->junit = arg;
        return 0;
    case KEY_QUIET:
        c->quiet = true;
        return 0;
    case KEY_PLAIN:
        c->plain = true;
        return 0;
    case KEY_ISOLATION:
        return parse_isolation(c, arg, state);
    case KEY_SEED:
        errno = 0;
        c->seed = strtoull(arg, &end, 0);
        if (errno || end == arg || *end || !c->seed)
            argp_error(state, "a seed is a number from 1 on, not '%s'", arg);
        return 0;
    case ARGP_KEY_ARG:
        return parse_argument(p, arg, state);
    case ARGP_KEY_END:
        if (!p->verb)
            argp_error(state, "say what to do");
        if (!p->lab)
            argp_error(state, "say which lab: %s 02", p->verb);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

// ---- labs and paths -----------------------------------------------------------------

static int is_lab(const struct dirent *e)
{
    const char *n = e->d_name;
    return n[0] >= '0' && n[0] <= '9' && n[1] >= '0' && n[1] <= '9' &&
           n[2] == '-' && n[3];
}

// "2", "02", "02-vector-add" and "vector-add" all mean 02-vector-add.
static bool means(const char *asked, const char *slug)
{
    char *end;
    long number = strtol(asked, &end, 10);
    return !strcmp(asked, slug) || !strcmp(asked, slug + 3) ||
           (end != asked && !*end && number == (slug[0] - '0') * 10 + slug[1] - '0');
}

int command_lab(const char *asked, char lab[80], char message[1024])
{
    struct dirent **list;
    int n = scandir("labs", &list, is_lab, alphasort);
    int used = snprintf(message, 1024, "there is no lab '%.80s'; there are:", asked);
    bool found = false;
    for (int i = 0; i < n; i++) {
        const char *slug = list[i]->d_name;
        if (!found && means(asked, slug) && strlen(slug) < 80) {
            snprintf(lab, 80, "%s", slug);
            found = true;
        }
        if (used >= 0 && used < 1024)
            used += snprintf(message + used, (size_t)(1024 - used), " %s", slug);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    else
        snprintf(message, 1024, "there is no folder labs/ here: %s",
                 strerror(errno));
    return found ? 0 : -1;
}

// A path that is to hold when the working folder has changed.
static const char *absolute(const char *path, char out[PATH_MAX])
{
    char here[PATH_MAX];
    int n = -1;
    if (!strcmp(path, "-"))
        return path;
    if (path[0] == '/')
        n = snprintf(out, PATH_MAX, "%s", path);
    else if (getcwd(here, sizeof here))
        n = snprintf(out, PATH_MAX, "%s/%s", here, path);
    return n > 0 && n < PATH_MAX ? out : NULL;
}

// CUDA_HOME; else as `make setup` recorded; else the usual place.
static void find_toolkit(char out[PATH_MAX])
{
    const char *given = getenv("CUDA_HOME");
    char line[PATH_MAX] = "", path[PATH_MAX] = "/usr/local/cuda";
    FILE *f = fopen("build/toolkit.mk", "r");
    if (f) {
        if (fgets(line, sizeof line, f))
            sscanf(line, "CUDA_HOME := %4000[^\n]", path);
        fclose(f);
    }
    if (given && *given)
        snprintf(path, sizeof path, "%s", given);
    if (!realpath(path, out))
        snprintf(out, PATH_MAX, "%s", path);
}

static int to_root(void)
{
    char folder[PATH_MAX], root[PATH_MAX + 8];
    if (!access("labs", X_OK) || program_folder(folder))
        return 0;
    snprintf(root, sizeof root, "%s/../..", folder);
    return chdir(root);
}

static int resolve(struct command *c, const struct parse *p)
{
    char message[1024];
    if ((c->json && !(c->json = absolute(c->json, c->json_path))) ||
        (c->junit && !(c->junit = absolute(c->junit, c->junit_path))) ||
        (p->submission && !absolute(p->submission, c->submission))) {
        fprintf(stderr, "grade: a path is too long\n");
        return EXIT_USAGE;
    }
    if (p->submission && access(c->submission, F_OK)) {
        fprintf(stderr, "grade: submission %s: %s\n", p->submission,
                strerror(errno));
        return EXIT_USAGE;
    }
    if (to_root() || command_lab(p->lab, c->lab, message)) {
        fprintf(stderr, "grade: %s\n", message);
        return EXIT_USAGE;
    }
    if (p->submission)
        snprintf(c->shown, sizeof c->shown, "%s", p->submission);
    else
        snprintf(c->shown, sizeof c->shown, "labs/%s", c->lab);
    if (!p->submission)
        absolute(c->shown, c->submission);
    while (c->shown[1] && c->shown[strlen(c->shown) - 1] == '/')
        c->shown[strlen(c->shown) - 1] = '\0';
    find_toolkit(c->cuda_home);
    c->progress = isatty(STDERR_FILENO) && !c->plain && !c->quiet;
    return -1;
}

int command_parse(struct command *c, int argc, char **argv)
{
    static const struct argp argp = {options, parse_option, usage, about,
                                     NULL, NULL, NULL};
    struct parse parse = {.command = c};
    argp_err_exit_status = EXIT_USAGE;
    // Another program's options are its own to read.
    if (argc > 1 && argv[1][0] != '-') {
        unsigned i = 0;
        while (i < NVERBS && strcmp(argv[1], verbs[i]))
            i++;
        if (i == NVERBS)
            return run_other(argv);
    }
    if (argp_parse(&argp, argc, argv, 0, NULL, &parse))
        return EXIT_USAGE;
    for (unsigned i = 0; i < NVERBS; i++)
        if (!strcmp(parse.verb, verbs[i])) {
            c->verb = i;
            return resolve(c, &parse);
        }
    unknown_verb(parse.verb);
    return EXIT_USAGE;
}
