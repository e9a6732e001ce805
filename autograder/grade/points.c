// The table of points: the lab's specification with a verdict before each
// line. With --plain the verdict is a word and there are no boxes.
#include "grade.h"

#include <string.h>

enum { WHAT_COLUMNS = 56 };

struct look {
    const char *sign, *word;
    enum colour colour;
};

static struct look look_of(const struct grading *g, const struct record *r)
{
    if (record_hole(g, r))
        return (struct look){"○", "NOT STARTED", YELLOW};
    switch (r->status) {
    case TEST_PASSED:
        return (struct look){"✓", "PASSED", GREEN};
    case TEST_PARTIAL:
        return (struct look){"◐", "PARTIAL", YELLOW};
    case TEST_FAILED:
        return (struct look){"✗", "FAILED", RED};
    case TEST_SKIPPED:
        return r->waits ? (struct look){"·", "WAITS", DIM}
                        : (struct look){"-", "NOT HERE", DIM};
    case TEST_NOT_MEASURED:
        return (struct look){"?", "NOT MEASURED", YELLOW};
    case TEST_NOT_GRADED:
        break;
    }
    return (struct look){"?", "NOT GRADED", YELLOW};
}

// Text in exactly so many columns: padded, or cut with an ellipsis.
static void print_padded(FILE *out, const char *text, size_t columns)
{
    size_t have = text_columns(text), shown = 0;
    const char *p = text;
    size_t keep = have > columns ? columns - 1 : have;
    while (*p && shown < keep) {
        do
            fputc(*p++, out);
        while (((unsigned char)*p & 0xc0) == 0x80);
        shown++;
    }
    if (have > columns) {
        fputs("…", out);
        shown++;
    }
    fprintf(out, "%*s", (int)(columns - shown), "");
}

static void print_rule(FILE *out, const char *left, const char *middle,
                       const char *right)
{
    fputs(left, out);
    for (int i = 0; i < WHAT_COLUMNS + 4; i++)
        fputs("─", out);
    fputs(middle, out);
    for (int i = 0; i < 13; i++)
        fputs("─", out);
    fprintf(out, "%s\n", right);
}

static void points_text(const struct record *r, char out[32])
{
    if (!r->counts)
        snprintf(out, 32, "-");
    else
        snprintf(out, 32, "%.4g/%.4g", r->score, r->test->points);
}

static void print_boxed(FILE *out, const struct style *s,
                        const struct grading *g, const struct record *r)
{
    struct look look = look_of(g, r);
    char points[32], kind[32], what[512];
    points_text(r, points);
    snprintf(kind, sizeof kind, "%s", kind_name(r->test->kind));
    snprintf(what, sizeof what, "%s", r->test->what);
    fprintf(out, "│ %s%s%s ", paint(s, look.colour), look.sign, paint(s, PLAIN));
    print_padded(out, what, WHAT_COLUMNS - 8);
    fprintf(out, " %s%7s%s │ %11s │\n", paint(s, DIM), kind, paint(s, PLAIN),
            points);
}

static void print_plain(FILE *out, const struct grading *g,
                        const struct record *r)
{
    char points[32];
    points_text(r, points);
    fprintf(out, "%s: %s, %s, %s", look_of(g, r).word, r->test->what,
            kind_name(r->test->kind), r->counts ? points : "no points here");
    fputs(r->counts ? " points\n" : "\n", out);
}

static void print_task(FILE *out, const struct style *s,
                       const struct manifest_task *task)
{
    char title[512];
    snprintf(title, sizeof title, "Task %u: %s", task->task, task->title);
    if (s->plain) {
        fprintf(out, "%s\n", title);
        return;
    }
    fprintf(out, "│ %s", paint(s, BOLD));
    print_padded(out, title, WHAT_COLUMNS + 2);
    fprintf(out, "%s │ %11s │\n", paint(s, PLAIN), "");
}

void report_points(FILE *out, const struct style *s, const struct grading *g)
{
    const struct manifest *m = g->manifest;
    if (!s->plain)
        print_rule(out, "┌", "┬", "┐");
    for (unsigned t = 0; t < m->tasks_count; t++) {
        if (t && !s->plain)
            print_rule(out, "├", "┼", "┤");
        print_task(out, s, &m->tasks[t]);
        for (unsigned i = 0; i < m->tests_count; i++) {
            const struct record *r = &g->records[i];
            if (r->test->task != m->tasks[t].task)
                continue;
            if (s->plain)
                print_plain(out, g, r);
            else
                print_boxed(out, s, g, r);
        }
    }
    if (!s->plain)
        print_rule(out, "└", "┴", "┘");
    fputc('\n', out);
}
