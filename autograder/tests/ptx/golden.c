#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!f || !text || fread(text, 1, (1 << 20) - 1, f) == 0) {
        perror(path);
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

// "label: word word ..." up to the line's end.
static bool read_line(const char *p, struct golden_line *line)
{
    size_t end = strcspn(p, "\n"), colon = end;
    for (size_t k = 0; k + 1 < end; k++) // a label may hold "L2::128B"
        if (p[k] == ':' && p[k + 1] == ' ')
            colon = k;
    if (colon == end || colon >= GOLDEN_LABEL)
        return false;
    memcpy(line->label, p, colon);
    line->label[colon] = 0;
    const char *at = p + colon + 1;
    line->nwords = 0;
    for (;;) {
        at += strspn(at, " ");
        if (*at == '\n' || *at == 0)
            return line->nwords > 0;
        char *rest;
        long long word = strtoll(at, &rest, 0);
        if (rest == at || line->nwords == GOLDEN_WORDS)
            return false;
        line->words[line->nwords++] = (uint32_t)word;
        at = rest;
    }
}

static bool add_line(const char *at, struct golden_line *lines, unsigned *n)
{
    return *n < GOLDEN_LINES && read_line(at, &lines[(*n)++]);
}

bool golden_read(const char *path, struct golden *g)
{
    unsigned number = 1;
    memset(g, 0, sizeof *g);
    g->threads = 32;
    g->ptx = read_file(path);
    for (const char *p = g->ptx; p; number++) {
        bool good = true;
        if (strncmp(p, "// in ", 6) == 0)
            good = add_line(p + 6, g->in, &g->nin);
        else if (strncmp(p, "// expect ", 10) == 0)
            good = add_line(p + 10, g->expect, &g->nexpect);
        else if (strncmp(p, "// threads: ", 12) == 0)
            g->threads = (unsigned)atoi(p + 12);
        if (!good) {
            fprintf(stderr, "%s:%u: not as golden.h says\n", path, number);
            return false;
        }
        p = strchr(p, '\n');
        p = p && p[1] ? p + 1 : NULL;
    }
    return g->ptx && g->threads > 0 && g->nexpect > 0;
}

void golden_free(struct golden *g)
{
    free(g->ptx);
}
