// Chapters teach, they do not print answers: looks for code of a TASK region
// in a chapter, however it is indented there.
#include "tools.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 160, LINES_MOST = 4096, SHORTEST = 10 };

struct line {
    char text[LINE_MOST]; // without any blanks
    int number;
    int region;           // in a solution: which TASK region, from 1
};
struct lines {
    struct line *line;
    size_t n;
};

// The line without blanks and without a comment at its end; false when too
// little is left to call it code of somebody's.
static bool squeeze(const char *at, char text[LINE_MOST])
{
    size_t n = 0, end = line_length(at);
    for (size_t i = 0; i < end && n < LINE_MOST - 1; i++) {
        if (at[i] == '/' && i + 1 < end && at[i + 1] == '/')
            break;
        if (!isspace((unsigned char)at[i]))
            text[n++] = at[i];
    }
    text[n] = '\0';
    return n >= SHORTEST && strncmp(text, "return", 6) != 0;
}

// All lines of code of a text; `regions`: only those in TASK regions.
static struct lines read_lines(const char *text, bool regions)
{
    struct lines lines = {calloc(LINES_MOST, sizeof *lines.line), 0};
    if (!lines.line)
        abort();
    int number = 0, region = 0;
    bool open = !regions;
    for (const char *at = text; *at && lines.n < LINES_MOST; at = line_next(at)) {
        struct line *l = &lines.line[lines.n];
        number++;
        struct task_mark mark = regions ? task_mark(at) : (struct task_mark){0};
        if (mark.kind == MARK_BEGIN) {
            open = true;
            region++;
        } else if (mark.kind == MARK_END) {
            open = false;
        } else if (open && squeeze(at, l->text)) {
            l->number = number;
            l->region = region;
            lines.n++;
        }
    }
    return lines;
}

static bool same(const struct line *a, const struct line *b)
{
    return strcmp(a->text, b->text) == 0;
}

static bool in_region(const struct lines *l, size_t i, int region)
{
    return i < l->n && l->line[i].region == region;
}

int leaks_find(const char *solution, const char *chapter)
{
    struct lines s = read_lines(solution, true), c = read_lines(chapter, false);
    int found = 0;
    for (size_t i = 0; i < s.n && !found; i++) {
        int region = s.line[i].region;
        bool next = in_region(&s, i + 1, region);
        bool alone = !next && (i == 0 || !in_region(&s, i - 1, region));
        for (size_t k = 0; k < c.n && !found; k++)
            if (same(&s.line[i], &c.line[k]) &&
                (alone || (next && k + 1 < c.n &&
                           same(&s.line[i + 1], &c.line[k + 1]))))
                found = c.line[k].number;
    }
    free(s.line);
    free(c.line);
    return found;
}
