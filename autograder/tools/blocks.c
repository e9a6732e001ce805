// The blocks of a Markdown file that are made from the real thing.
#include "tools.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { RUN_OUTPUT_MOST = 64 << 10, COLUMNS_MOST = 32 };

struct block {
    char kind[8];          // "code", "table", "points", "run"
    char rest[1024];       // its arguments
};

static const char END_MARK[] = "<!-- end -->";

// How many backticks or tildes open or close a code fence here; 0: no fence.
static size_t fence_length(const char *line)
{
    size_t indent = strspn(line, " ");
    const char *at = line + indent;
    size_t n = strspn(at, "`");
    if (!n)
        n = strspn(at, "~");
    return indent < 4 && n >= 3 ? n : 0;
}

static bool is_end(const char *line)
{
    size_t n = sizeof END_MARK - 1;
    return strncmp(line, END_MARK, n) == 0 && line_length(line) == n;
}

// Whether the line opens a block; fills it.
static bool is_begin(const char *line, struct block *block)
{
    size_t n = line_length(line);
    char copy[1200];
    if (n < 14 || n >= sizeof copy || memcmp(line + n - 4, " -->", 4) != 0)
        return false;
    memcpy(copy, line, n - 4);
    copy[n - 4] = '\0';
    if (sscanf(copy, "<!-- %7[a-z] %1023[^\n]", block->kind, block->rest) != 2)
        return false;
    return strcmp(block->kind, "code") == 0 ||
           strcmp(block->kind, "table") == 0 ||
           strcmp(block->kind, "points") == 0 || strcmp(block->kind, "run") == 0;
}

// The line of the block's end, or NULL when there is none before the next.
static const char *find_end(const char *at)
{
    size_t fence = 0;
    struct block other;
    for (; *at; at = line_next(at)) {
        size_t n = fence_length(at);
        if (n && (!fence || n >= fence))
            fence = fence ? 0 : n;
        else if (!fence && is_end(at))
            return at;
        else if (!fence && is_begin(at, &other))
            return NULL;
    }
    return NULL;
}

// ---- making one block ------------------------------------------------------

static size_t longest_backticks(const char *text)
{
    size_t most = 0;
    for (const char *at = text; *at; at++) {
        size_t n = strspn(at, "`");
        if (n > most)
            most = n;
        if (n)
            at += n - 1;
    }
    return most;
}

static void add_fenced(struct buf *out, const char *language, const char *text)
{
    size_t n = longest_backticks(text) + 1;
    const char *fence = "````````````````";
    int width = n < 3 ? 3 : n > 16 ? 16 : (int)n;
    buf_printf(out, "%.*s%s\n%s%.*s\n", width, fence, language, text, width,
               fence);
}

static bool inside_tree(const char *path)
{
    return path[0] != '/' && strcmp(path, "..") != 0 &&
           strncmp(path, "../", 3) != 0 && !strstr(path, "/../") &&
           (strlen(path) < 3 || strcmp(path + strlen(path) - 3, "/..") != 0);
}

// Reads the file that a block names; NULL with `what` filled.
static char *read_named(const char *path, char *what, size_t room)
{
    if (!inside_tree(path)) {
        snprintf(what, room, "%.200s is not inside the repository", path);
        return NULL;
    }
    char *text = text_read(path);
    if (!text)
        snprintf(what, room, "%.200s: %s", path, strerror(errno));
    return text;
}

static const char *language_of(const char *path)
{
    static const struct { const char *suffix, *language; } known[] = {
        {".cu", "cpp"}, {".cuh", "cpp"}, {".c", "c"}, {".h", "c"},
        {".py", "python"}, {".sh", "sh"}, {".yaml", "yaml"},
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof *known; i++)
        if (strcmp(dot, known[i].suffix) == 0)
            return known[i].language;
    return "text";
}

static int make_code(char *rest, struct buf *out, char *what, size_t room)
{
    char *save = NULL;
    char *path = strtok_r(rest, " ", &save);
    char *text = path ? read_named(path, what, room) : NULL;
    if (!path)
        snprintf(what, room, "code needs a file and a name");
    if (!text)
        return -1;
    struct buf code = {0};
    unsigned n = 0;
    int status = 0;
    for (char *s; status == 0 && (s = strtok_r(NULL, " ", &save)); n++) {
        if (n)
            buf_puts(&code, "\n");
        status = snippet_find(text, s, &code);
        if (status < 0)
            snprintf(what, room, "%.200s defines no `%.100s`", path, s);
    }
    if (status == 0 && !n) {
        snprintf(what, room, "code needs the name of what to show");
        status = -1;
    }
    if (status == 0)
        add_fenced(out, language_of(path), code.data);
    buf_free(&code);
    free(text);
    return status;
}

// One CSV cell (RFC 4180) into `cell`, escaped for a Markdown table.
static const char *csv_cell(const char *at, struct buf *cell)
{
    bool quoted = *at == '"';
    at += quoted;
    for (; *at; at++) {
        if (quoted && at[0] == '"' && at[1] != '"') {
            at++;
            break;
        }
        if (!quoted && (*at == ',' || *at == '\n' || *at == '\r'))
            break;
        if (quoted && at[0] == '"')
            at++;
        if (*at == '|')
            buf_puts(cell, "\\");
        buf_add(cell, *at == '\n' || *at == '\r' ? " " : at, 1);
    }
    at += *at == '\r';
    return at;
}

// One row: cells[0..n), returns the start of the next; *n is what there was.
static const char *csv_row(const char *at, struct buf *cells, size_t *n)
{
    for (*n = 0;;) {
        struct buf cell = {0};
        buf_puts(&cell, "");
        at = csv_cell(at, &cell);
        if (*n < COLUMNS_MOST)
            cells[(*n)++] = cell;
        else
            buf_free(&cell);
        if (*at != ',')
            break;
        at++;
    }
    return *at == '\n' ? at + 1 : line_next(at);
}

static void free_cells(struct buf *cells, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_free(&cells[i]);
}

// Which columns to show: indices into the header row. 0, or -1.
static int choose_columns(char *names, const struct buf *header, size_t nheader,
                          size_t *chosen, size_t *n, char *what, size_t room)
{
    char *save = NULL;
    *n = 0;
    for (char *s = strtok_r(names, " ", &save); s && *n < COLUMNS_MOST;
         s = strtok_r(NULL, " ", &save)) {
        size_t i = 0;
        while (i < nheader && strcmp(header[i].data, s) != 0)
            i++;
        if (i == nheader) {
            snprintf(what, room, "no column `%.100s`", s);
            return -1;
        }
        chosen[(*n)++] = i;
    }
    if (!*n)
        for (; *n < nheader; ++*n)
            chosen[*n] = *n;
    return 0;
}

static void add_row(struct buf *out, const struct buf *cells, size_t ncells,
                    const size_t *chosen, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "| %s ", chosen[i] < ncells ? cells[chosen[i]].data : "");
    buf_puts(out, "|\n");
}

static int make_table(char *rest, struct buf *out, char *what, size_t room)
{
    char *names = rest + strcspn(rest, " ");
    if (*names)
        *names++ = '\0';
    char *text = read_named(rest, what, room);
    if (!text)
        return -1;
    struct buf cells[COLUMNS_MOST];
    size_t ncells, chosen[COLUMNS_MOST], n;
    const char *at = csv_row(text, cells, &ncells);
    int status = choose_columns(names, cells, ncells, chosen, &n, what, room);
    if (status == 0) {
        add_row(out, cells, ncells, chosen, n);
        for (size_t i = 0; i < n; i++)
            buf_puts(out, "|---");
        buf_puts(out, "|\n");
    }
    free_cells(cells, ncells);
    while (status == 0 && *at) {
        at = csv_row(at, cells, &ncells);
        add_row(out, cells, ncells, chosen, n);
        free_cells(cells, ncells);
    }
    free(text);
    return status;
}

// Runs the command; its output without trailing blanks on any line.
static int run_command(const char *command, struct buf *output)
{
    struct buf line = {0};
    buf_printf(&line, "( %s\n) 2>&1 </dev/null", command);
    FILE *pipe = popen(line.data, "re");
    buf_free(&line);
    if (!pipe)
        return -1;
    char text[4096];
    while (fgets(text, sizeof text, pipe)) {
        size_t n = strlen(text);
        bool whole = n && text[n - 1] == '\n';
        n -= whole;
        while (whole && n && (text[n - 1] == ' ' || text[n - 1] == '\r'))
            n--;
        if (output->n < RUN_OUTPUT_MOST) {
            buf_add(output, text, n);
            buf_puts(output, whole ? "\n" : "");
        }
    }
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int make_run(const char *rest, struct buf *out, char *what, size_t room)
{
    char *command;
    long wanted = strtol(rest, &command, 10);
    command += strspn(command, " ");
    struct buf shown = {0};
    buf_printf(&shown, "$ %s\n", command);
    int status = run_command(command, &shown);
    bool ok = status == wanted;
    if (ok && shown.data[shown.n - 1] != '\n')
        buf_puts(&shown, "\n");
    if (ok)
        add_fenced(out, "console", shown.data);
    else
        snprintf(what, room, "`%.200s` ended with status %d, not %ld", command,
                 status, wanted);
    buf_free(&shown);
    return ok ? 0 : -1;
}

static int make_points(const char *slug, struct buf *out, char *what,
                       size_t room)
{
    char message[TOOL_MESSAGE];
    int status = points_table(slug, out, message);
    if (status < 0)
        snprintf(what, room, "%.350s", message);
    return status;
}

static int make_block(struct block *block, struct buf *out, char *what,
                      size_t room)
{
    if (strcmp(block->kind, "code") == 0)
        return make_code(block->rest, out, what, room);
    if (strcmp(block->kind, "table") == 0)
        return make_table(block->rest, out, what, room);
    if (strcmp(block->kind, "points") == 0)
        return make_points(block->rest, out, what, room);
    return make_run(block->rest, out, what, room);
}

// ---- the whole file ----------------------------------------------------------

int blocks_sync(const char *name, const char *text, bool with_runs,
                struct buf *out, char message[TOOL_MESSAGE])
{
    size_t fence = 0;
    buf_puts(out, "");
    for (const char *at = text; *at;) {
        const char *next = line_next(at);
        char what[400] = "";
        struct block block;
        size_t n = fence_length(at);
        if (n && (!fence || n >= fence))
            fence = fence ? 0 : n;
        buf_add(out, at, (size_t)(next - at));
        if (!fence && is_end(at)) {
            snprintf(what, sizeof what, "%s without its beginning", END_MARK);
        } else if (!fence && is_begin(at, &block)) {
            const char *end = find_end(next);
            if (!end)
                snprintf(what, sizeof what, "no %s for this block", END_MARK);
            else if (strcmp(block.kind, "run") == 0 && !with_runs)
                buf_add(out, next, (size_t)(end - next));
            else
                make_block(&block, out, what, sizeof what);
            if (end) {
                next = line_next(end);
                buf_add(out, end, (size_t)(next - end));
            }
        }
        if (*what) {
            snprintf(message, TOOL_MESSAGE, "%.90s:%d: %.400s", name,
                     line_number(text, at), what);
            return -1;
        }
        at = next;
    }
    return 0;
}
