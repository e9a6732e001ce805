// The marks of tasks in a submission's source: TASK_NOT_DONE(n), where a task
// is not started, and the comment `// TASK n: ...`, where it is written.
//
// They are read from the text, so that they cost nothing at run time, work in
// kernels too, and can only change how a failure is told.
#include "grade.h"

#include <ctype.h>
#include <string.h>

// Steps over a comment or literal that begins at p; p when none does.
static const char *skip_quoted(const char *p)
{
    if (p[0] == '/' && p[1] == '/')
        return p + strcspn(p, "\n");
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'')
        return p;
    const char *q = p + 1;
    while (*q && *q != *p && *q != '\n')
        q += q[0] == '\\' && q[1] ? 2 : 1;
    return *q ? q + 1 : q;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

// Whether a mark begins at p; `quoted`: p begins a comment or literal.
static bool mark_at(const char *source, const char *p, bool quoted,
                    struct mark *out)
{
    static const char name[] = "TASK_NOT_DONE";
    char end = 0;
    out->hole = !quoted;
    if (quoted)
        return sscanf(p, "// TASK %3u%c", &out->task, &end) == 2 && end == ':';
    return !strncmp(p, name, sizeof name - 1) &&
           (p == source || !is_word(p[-1])) &&
           sscanf(p + sizeof name - 1, " ( %3u %c", &out->task, &end) == 2 &&
           end == ')';
}

unsigned marks_find(const char *source, struct mark *out, unsigned room)
{
    unsigned n = 0, line = 1;
    for (const char *p = source; *p && n < room;) {
        const char *after = skip_quoted(p);
        struct mark mark = {.line = line};
        if (mark_at(source, p, after != p, &mark))
            out[n++] = mark;
        for (after = after == p ? p + 1 : after; p < after; p++)
            line += *p == '\n';
    }
    return n;
}
