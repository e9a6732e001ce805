// One definition out of a C or CUDA source, by name, with its comment.
//
// Not a parser: it walks the tokens at file scope, knows comments, literals,
// braces and directives, and takes what stands from the start of a
// declaration to the brace that closes it.
#include "tools.h"

#include <ctype.h>
#include <string.h>

static const char *after(const char *at, const char *closing)
{
    const char *end = strstr(at, closing);
    return end ? end + strlen(closing) : at + strlen(at);
}

static const char *literal_end(const char *at)
{
    char quote = *at++;
    while (*at && *at != quote && *at != '\n')
        at += (at[0] == '\\' && at[1]) ? 2 : 1;
    return *at ? at + 1 : at;
}

static bool word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_comment(const char *at)
{
    return at[0] == '/' && (at[1] == '/' || at[1] == '*');
}

static const char *token_end(const char *at)
{
    if (at[0] == '/' && at[1] == '/')
        return line_next(at);
    if (at[0] == '/' && at[1] == '*')
        return after(at + 2, "*/");
    if (*at == '"' || *at == '\'')
        return literal_end(at);
    const char *end = at;
    while (word_char(*end))
        end++;
    return end > at ? end : at + 1;
}

static const char *line_start(const char *text, const char *at)
{
    while (at > text && at[-1] != '\n')
        at--;
    return at;
}

static bool begins_directive(const char *text, const char *at)
{
    const char *line = line_start(text, at);
    return *at == '#' && line + strspn(line, " \t") == at;
}

// The end of a directive, past its continuation lines.
static const char *directive_end(const char *at)
{
    for (;;) {
        size_t n = line_length(at);
        bool goes_on = n && at[n - 1] == '\\';
        at = line_next(at);
        if (!goes_on || !*at)
            return at;
    }
}

static bool same_word(const char *at, const char *end, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(end - at) == n && strncmp(at, word, n) == 0;
}

static bool defines_macro(const char *at, const char *symbol)
{
    at += 1 + strspn(at + 1, " \t");
    if (strncmp(at, "define", 6) != 0)
        return false;
    at += 6 + strspn(at + 6, " \t");
    return same_word(at, token_end(at), symbol);
}

static bool comment_line(const char *line)
{
    line += strspn(line, " \t");
    return is_comment(line) || (line[0] == '*' && line[1] != '(');
}

// Moves back over the comment lines right above.
static const char *with_comment(const char *text, const char *at)
{
    at = line_start(text, at);
    while (at > text) {
        const char *above = line_start(text, at - 1);
        if (!comment_line(above))
            break;
        at = above;
    }
    return at;
}

struct walk {
    const char *text, *symbol;
    const char *begin;   // of the declaration we are in, or NULL
    int depth;
    bool found;          // it is the symbol's
    bool tag;            // the last word was struct, union or enum
    char last;           // first character of the last token
};

static void walk_word(struct walk *w, const char *at, const char *end)
{
    if (w->depth == 0 && same_word(at, end, w->symbol)) {
        const char *next = end + strspn(end, " \t\n");
        if (*next == '(' || (w->tag && *next == '{'))
            w->found = true;
    }
    w->tag = same_word(at, end, "struct") || same_word(at, end, "union") ||
             same_word(at, end, "enum");
}

// True when this token ends the definition that is looked for.
static bool walk_punctuation(struct walk *w, char c)
{
    if (c == '{') {
        if (w->depth == 0 && w->last == '"') // extern "C" {
            w->begin = NULL;
        else
            w->depth++;
    } else if (c == '}' && w->depth > 0) {
        w->depth--;
        if (w->depth == 0 && w->found)
            return true;
    }
    if ((c == ';' || c == '}') && w->depth == 0) {
        w->begin = NULL;
        w->found = false;
    }
    return false;
}

// Where the definition ends (after its brace), or NULL; sets w->begin.
static const char *walk(struct walk *w)
{
    const char *at = w->text;
    while (*at) {
        const char *end = token_end(at);
        if (begins_directive(w->text, at)) {
            end = directive_end(at);
            if (w->depth == 0 && defines_macro(at, w->symbol)) {
                w->begin = at;
                return end;
            }
        } else if (!isspace((unsigned char)*at) && !is_comment(at)) {
            if (!w->begin)
                w->begin = at;
            if (word_char(*at))
                walk_word(w, at, end);
            else if (walk_punctuation(w, *at))
                return end;
            w->last = *at;
        }
        at = end;
    }
    return NULL;
}

int snippet_find(const char *text, const char *symbol, struct buf *out)
{
    if (strcmp(symbol, "*") == 0) {
        buf_puts(out, text);
        return 0;
    }
    struct walk w = {.text = text, .symbol = symbol};
    const char *end = walk(&w);
    if (!end)
        return -1;
    if (end[-1] != '\n')
        end = line_next(end); // takes the `;` of a struct along
    const char *begin = with_comment(text, w.begin);
    buf_add(out, begin, (size_t)(end - begin));
    if (out->data[out->n - 1] != '\n')
        buf_puts(out, "\n");
    return 0;
}
