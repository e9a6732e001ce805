// What a learner reads on the screen.
//
// In this order: what was graded and how; one failure in full, with what the
// wrong elements have in common, the line to edit and where help is; the
// others a line each; the table of points; the score. A starter reads as the
// start of a road: which task is first, where, what to read, what waits.
#include "grade.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct style style_for(FILE *out, bool plain, bool quiet)
{
    const char *no_color = getenv("NO_COLOR");
    bool terminal = isatty(fileno(out));
    return (struct style){.plain = plain, .quiet = quiet, .width = 80,
                          .colour = terminal && !plain &&
                                    !(no_color && *no_color)};
}

const char *paint(const struct style *s, enum colour colour)
{
    static const char *const codes[] = {"\033[0m",  "\033[31m", "\033[32m",
                                        "\033[33m", "\033[1m",  "\033[2m"};
    return s->colour ? codes[colour] : "";
}

size_t text_columns(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

void print_wrapped(FILE *out, const struct style *s, const char *indent,
                   const char *text)
{
    size_t used = 0, room = s->width - strlen(indent);
    for (const char *word = text + strspn(text, " "); *word;) {
        char copy[GRADE_MESSAGE];
        size_t n = strcspn(word, " ");
        snprintf(copy, sizeof copy, "%.*s", (int)n, word);
        size_t columns = text_columns(copy);
        if (used && used + 1 + columns > room) {
            fputc('\n', out);
            used = 0;
        }
        fprintf(out, "%s%s", used ? " " : indent, copy);
        used += columns + (used ? 1 : 0);
        word += n;
        word += strspn(word, " ");
    }
    if (used)
        fputc('\n', out);
}

// ---- the parts ---------------------------------------------------------------------

static void report_head(FILE *out, const struct style *s, const struct grading *g)
{
    bool modelled = g->target.kind == TARGET_VIRTUAL;
    fprintf(out, "%sLab %s: %s%s\n", paint(s, BOLD), g->manifest->lab,
            g->manifest->title, paint(s, PLAIN));
    fprintf(out, "  graded     %s\n", g->submission->shown);
    fprintf(out, "  target     %s (%s)\n", modelled ? "virtual" : "gpu",
            g->target.why);
    fprintf(out, "  GPU        %s%s%s\n", modelled ? "modelled for " : "",
            g->target.name, g->copies ? " (copy mode: it lends no memory)" : "");
    fprintf(out, "  isolation  %s%s\n\n", isolation_name(g->isolation),
            g->isolation == ISOLATION_NONE
                ? " (grade only your own code this way)" : "");
}

// The hole of a task whose main test fails where TASK_NOT_DONE stands.
static const struct mark *not_started(const struct grading *g,
                                      const struct manifest_task *task)
{
    for (unsigned i = 0; i < g->manifest->tests_count; i++)
        if (!strcmp(g->records[i].test->name, task->main))
            return record_hole(g, &g->records[i]);
    return NULL;
}

// What is not done: neither started, nor waiting, nor ruled out.
static bool is_failure(const struct grading *g, const struct record *r)
{
    bool lost = r->status == TEST_FAILED || r->status == TEST_PARTIAL;
    return lost && !record_hole(g, r);
}

void print_place(FILE *out, const struct grading *g, const char *file,
                 unsigned line)
{
    if (g->submission->single)
        fprintf(out, "%s:%u", g->submission->shown, line);
    else
        fprintf(out, "%s/%s:%u", g->submission->shown, file, line);
}

static void report_place(FILE *out, const struct style *s,
                         const struct grading *g, const struct record *r)
{
    if (!r->file[0] || !r->line)
        return;
    fprintf(out, "  %sedit%s   ", paint(s, BOLD), paint(s, PLAIN));
    print_place(out, g, r->file, r->line);
    fputc('\n', out);
}

static void report_help(FILE *out, const struct style *s,
                        const struct grading *g,
                        const struct manifest_task *task)
{
    fprintf(out, "  %sread%s   chapters/%s.md, \"%s\"\n", paint(s, BOLD),
            paint(s, PLAIN), g->manifest->lab, task->section);
    fprintf(out, "  %shint%s   make hint LAB=%.2s\n", paint(s, BOLD),
            paint(s, PLAIN), g->manifest->lab);
}

static void report_failure(FILE *out, const struct style *s,
                           const struct grading *g, const struct record *r)
{
    bool part = r->status == TEST_PARTIAL;
    fprintf(out, "%s%s%s %s%s\n", paint(s, part ? YELLOW : RED),
            s->plain ? "" : part ? "◐ " : "✗ ",
            s->plain ? part ? "PARTIAL" : "FAILED" : part ? "Partial:" : "Failed:",
            r->test->name, paint(s, PLAIN));
    fprintf(out, "  the submission %s\n", r->test->what);
    if (r->given[0])
        print_wrapped(out, s, "    ", r->given);
    print_wrapped(out, s, "    ", r->message);
    if (r->pattern[0]) {
        char text[320];
        snprintf(text, sizeof text, "wrong: %s", r->pattern);
        print_wrapped(out, s, "    ", text);
    }
    report_place(out, s, g, r);
    report_help(out, s, g, manifest_task(g->manifest, r->test->task));
    fputc('\n', out);
}

// One failure in full, the others a line each.
static void report_failures(FILE *out, const struct style *s,
                            const struct grading *g)
{
    unsigned n = 0;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        const struct record *r = &g->records[i];
        char text[GRADE_MESSAGE + 128];
        if (!is_failure(g, r))
            continue;
        if (n++ == 0) {
            report_failure(out, s, g, r);
            continue;
        }
        if (n == 2)
            fprintf(out, "Also, in short:\n");
        snprintf(text, sizeof text, "%s: %.*s%s", r->test->name, 160, r->message,
                 strlen(r->message) > 160 ? "..." : "");
        print_wrapped(out, s, "  ", text);
    }
    if (n > 1)
        fputc('\n', out);
}

static unsigned waiting_for(const struct grading *g, unsigned task)
{
    unsigned n = 0;
    for (unsigned i = 0; i < g->manifest->tests_count; i++)
        n += g->records[i].test->task == task && g->records[i].waits;
    return n;
}

// The first task that is not started, as the next step of the road.
static void report_next(FILE *out, const struct style *s, const struct grading *g)
{
    for (unsigned i = 0; i < g->manifest->tasks_count; i++) {
        const struct manifest_task *task = &g->manifest->tasks[i];
        const struct mark *mark = not_started(g, task);
        if (!mark)
            continue;
        unsigned waiting = waiting_for(g, task->task);
        fprintf(out, "%s%sNext: task %u, %s%s\n", paint(s, YELLOW),
                s->plain ? "" : "→ ", task->task, task->title, paint(s, PLAIN));
        fprintf(out, "  %sedit%s   ", paint(s, BOLD), paint(s, PLAIN));
        print_place(out, g, g->manifest->submit[mark->file], mark->line);
        fprintf(out, ", where TASK_NOT_DONE(%u) stands\n", task->task);
        report_help(out, s, g, task);
        fprintf(out, "  Its first test is %s; %u more wait%s for it.\n\n",
                task->main, waiting, waiting == 1 ? "s" : "");
        return;
    }
}

static void report_shown(FILE *out, const struct style *s, const struct grading *g)
{
    bool any = false;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        const struct record *r = &g->records[i];
        char text[sizeof r->shown + 128];
        if (!r->shown[0])
            continue;
        snprintf(text, sizeof text, "%s: %s (%s %s)", r->test->name, r->shown,
                 r->modelled ? "modelled for" : "on", g->target.name);
        print_wrapped(out, s, "  ", text);
        any = true;
    }
    if (any)
        fputc('\n', out);
}

static void report_score(FILE *out, const struct style *s, const struct grading *g)
{
    double open = 0, gone = 0;
    for (unsigned i = 0; i < g->manifest->tests_count; i++) {
        const struct record *r = &g->records[i];
        open += r->counts && (r->status == TEST_NOT_MEASURED ||
                              r->status == TEST_NOT_GRADED) ? r->test->points : 0;
        gone += r->counts ? 0 : r->test->points;
    }
    fprintf(out, "%sScore: %.4g/%.4g%s\n", paint(s, BOLD), g->score, g->max_score,
            paint(s, PLAIN));
    if (s->quiet)
        return;
    if (gone > 0)
        fprintf(out, "  %.4g points cannot be judged here; the score is scaled to "
                "the other %.4g.\n", gone, 100 - gone);
    if (open > 0)
        fprintf(out, "  %.4g points could not be measured this time: grade again "
                "for them.\n", open);
}

// ---- entry ----------------------------------------------------------------------------

static void report_compiler(FILE *out, const struct style *s,
                            const struct grading *g)
{
    fprintf(out, "%s%s%s%s\n", paint(s, RED), s->plain ? "FAILED " : "✗ ",
            g->refused ? "Not accepted" : "Does not compile", paint(s, PLAIN));
    const char *text = g->compiler ? g->compiler : "";
    while (*text) {
        size_t n = strcspn(text, "\n");
        fprintf(out, "  %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
    fprintf(out, "\n%sScore: 0/100%s, until %s\n", paint(s, BOLD),
            paint(s, PLAIN), g->refused ? "this is mended" : "it compiles");
}

void report(FILE *out, const struct style *s, const struct grading *g)
{
    if (!s->quiet)
        report_head(out, s, g);
    if (g->status == NOT_GRADED) {
        fprintf(out, "Could not be graded, which is not the submission's fault:\n");
        print_wrapped(out, s, "  ", g->reason);
        fprintf(out, "make doctor says more about this machine.\n");
    } else if (g->status == COMPILE_ERROR) {
        report_compiler(out, s, g);
    } else {
        if (!s->quiet) {
            report_failures(out, s, g);
            report_next(out, s, g);
            report_points(out, s, g);
            report_shown(out, s, g);
        }
        report_score(out, s, g);
    }
}
