// TASK marks: the solution is the only source, its starter has holes.
//
//     // TASK 1: what the learner is to do, in one line
//     ...                                   left out of the starter
//     // END TASK 1
#include "tools.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// Steps over `word` and returns true, or leaves *at alone.
static bool skip(const char **at, const char *word)
{
    size_t n = strlen(word);
    if (strncmp(*at, word, n) != 0)
        return false;
    *at += n;
    return true;
}

static bool at_line_end(const char *at)
{
    return *at == '\n' || *at == '\0';
}

struct task_mark task_mark(const char *line)
{
    struct task_mark mark = {MARK_NONE, 0, 0};
    const char *at = line;
    at += strspn(at, " \t");
    mark.indent = (int)(at - line);
    if (!skip(&at, "//"))
        return mark;
    at += strspn(at, " ");
    bool end = skip(&at, "END TASK");
    if (!end && !skip(&at, "TASK"))
        return mark;
    if (isalpha((unsigned char)*at) || *at == '_')
        return mark; // TASKS, TASK_NOT_DONE: an ordinary comment
    mark.kind = MARK_BAD;
    if (*at++ != ' ' || *at < '1' || *at > '0' + TASK_MAX)
        return mark;
    mark.task = *at++ - '0';
    if (end) {
        at += strspn(at, " \t\r");
        if (at_line_end(at))
            mark.kind = MARK_END;
    } else if (skip(&at, ": ") && !at_line_end(at)) {
        mark.kind = MARK_BEGIN;
    }
    return mark;
}

struct starter {
    int open;           // the task whose region we are in, 0 outside
    int open_line;
    unsigned seen;      // bit n: task n has a region
    const char *what;   // the first fault, or NULL
};

static void starter_line(struct starter *s, const char *at, int number,
                         struct buf *out)
{
    struct task_mark mark = task_mark(at);
    size_t whole = (size_t)(line_next(at) - at);
    if (mark.kind == MARK_BAD) {
        s->what = "write `// TASK n: one line` or `// END TASK n`, n from 1";
    } else if (mark.kind == MARK_BEGIN && s->open) {
        s->what = "a TASK inside a TASK";
    } else if (mark.kind == MARK_BEGIN) {
        s->open = mark.task;
        s->open_line = number;
        s->seen |= 1u << mark.task;
        buf_add(out, at, whole);
        if (mark.indent)
            buf_printf(out, "%.*sTASK_NOT_DONE(%d);\n", mark.indent, at,
                       mark.task);
    } else if (mark.kind == MARK_END && mark.task != s->open) {
        s->what = "END TASK without its TASK";
    } else {
        if (mark.kind == MARK_END)
            s->open = 0;
        if (!s->open)
            buf_add(out, at, whole);
    }
}

int starter_make(const char *name, const char *text, struct buf *out,
                 char message[TOOL_MESSAGE])
{
    struct starter s = {0};
    int number = 0;
    buf_puts(out, "");
    for (const char *at = text; *at && !s.what; at = line_next(at))
        starter_line(&s, at, ++number, out);
    if (!s.what && s.open) {
        s.what = "TASK without its END TASK";
        number = s.open_line;
    }
    if (!s.what && !s.seen)
        s.what = "no TASK in it";
    // Bits 1..k set and no other: adding the lowest carries through them all.
    if (!s.what && ((s.seen + 2) & s.seen))
        s.what = "tasks are numbered from 1 without a gap";
    if (!s.what)
        return 0;
    snprintf(message, TOOL_MESSAGE, "%s:%d: %s", name, number, s.what);
    return -1;
}
