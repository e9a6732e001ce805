// Findings, printed the way a good compiler prints its errors:
//
//   sum.cu:12: out-of-bounds: thread (33,0,0) of block (0,0,0) read ...
//      12 |     total += tile[threadIdx.x + 100];
//         |     ^
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vgpu_run.h"

struct style {
    const char *fault, *place, *end;
};

static struct style style_of(FILE *out)
{
    static const struct style plain = {"", "", ""};
    static const struct style coloured = {"\033[1;31m", "\033[1m", "\033[0m"};
    const char *no = getenv("NO_COLOR");
    return isatty(fileno(out)) && !(no && *no) ? coloured : plain;
}

// The names and sentences come out of a binary that may be hostile: nothing
// but printable text reaches the terminal.
static void print_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        fputc(c < ' ' || c == 0x7f ? '?' : c, out);
    }
}

// Line number `wanted` of a file, without its end, or NULL; the caller frees.
static char *source_line(const char *path, uint32_t wanted)
{
    FILE *f = wanted ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t n = -1;
    for (uint32_t i = 0; f && i < wanted; i++)
        if ((n = getline(&line, &room, f)) < 0)
            break;
    if (f)
        fclose(f);
    if (n < 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = 0;
    return line;
}

static void print_source(FILE *out, const struct finding *f)
{
    char *line = source_line(f->file, f->line);
    if (!line)
        return;
    size_t indent = strspn(line, " \t");
    fprintf(out, "%6u | ", f->line);
    print_text(out, line);
    // The caret's line repeats tabs, so that it stands under the code.
    fprintf(out, "\n       | ");
    for (size_t i = 0; i < indent; i++)
        fputc(line[i] == '\t' ? '\t' : ' ', out);
    fprintf(out, "^\n");
    free(line);
}

static void print_finding(FILE *out, const struct finding *f,
                          const struct style *style)
{
    const char *file = strrchr(f->file, '/');
    file = file ? file + 1 : f->file;
    fputs(style->place, out);
    if (f->line) {
        print_text(out, file);
        fprintf(out, ":%u: ", f->line);
    } else if (f->kernel[0]) {
        fputs("kernel ", out);
        print_text(out, f->kernel);
        fputs(": ", out);
    }
    fprintf(out, "%s%s%s%s: ", style->end, style->fault,
            finding_name(f->kind), style->end);
    print_text(out, f->message);
    fputc('\n', out);
    print_source(out, f);
    if (f->kernel[0])
        fprintf(out, "       in kernel ");
    print_text(out, f->kernel);
    if (f->kernel[0])
        fprintf(out, ", block (%u,%u,%u), thread (%u,%u,%u)%s", f->block[0],
                f->block[1], f->block[2], f->thread[0], f->thread[1],
                f->thread[2], f->count > 1 ? "" : "\n");
    if (f->kernel[0] && f->count > 1)
        fprintf(out, "; %llu like it\n", (unsigned long long)f->count);
}

unsigned report_findings(FILE *out, const struct finding *findings, unsigned n)
{
    struct style style = style_of(out);
    for (unsigned i = 0; i < n; i++)
        print_finding(out, &findings[i], &style);
    if (n)
        fprintf(out, "vgpu: %u finding%s\n", n, n == 1 ? "" : "s");
    return n;
}
