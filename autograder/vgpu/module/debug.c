// Source positions: .loc, .file; debug sections are passed over.
//
// `.loc 2 549 1, function_name $L, inlined_at 1 17 3` names its caller by the
// position of an earlier .loc, so the last one of every position is kept in a
// hash table. File numbers are a source's own and .file may follow .loc, so
// they become indices of module->files at the source's end.
#include "parse.h"

#include <stdlib.h>

enum { FIRST_LOCS = 256 };

static uint32_t loc_slot(const struct parser *p, uint32_t file, uint32_t line,
                         uint32_t column)
{
    uint32_t mask = p->loc_capacity - 1;
    uint32_t slot = (file * 31 + line) * 2654435761u + column * 40503u;
    for (slot ^= slot >> 15;; slot++) {
        const struct ptx_loc *loc = &p->locs.at[p->loc_table[slot & mask]];
        if (!p->loc_table[slot & mask] ||
            (loc->file == file && loc->line == line && loc->column == column))
            return slot & mask;
    }
}

static void new_table(struct parser *p, uint32_t capacity)
{
    p->loc_table = allocate(p, p->scratch, capacity * sizeof *p->loc_table);
    p->loc_capacity = capacity;
    for (uint32_t i = p->first_loc; i < p->locs.n; i++) {
        const struct ptx_loc *loc = &p->locs.at[i];
        p->loc_table[loc_slot(p, loc->file, loc->line, loc->column)] = i;
    }
}

// The position's index, or 0 before any .loc has named it.
static uint32_t find_loc(const struct parser *p, const uint32_t at[3])
{
    return p->loc_table[loc_slot(p, at[0], at[1], at[2])];
}

static uint32_t add_loc(struct parser *p, const uint32_t at[3],
                        uint32_t inlined_at)
{
    uint32_t found = find_loc(p, at);
    if (found && p->locs.at[found].inlined_at == inlined_at)
        return found;
    if (2 * (p->locs.n - p->first_loc) >= p->loc_capacity)
        new_table(p, 2 * p->loc_capacity);
    *vector_push(p, &p->locs) = (struct ptx_loc){.file = at[0],
                                                 .line = at[1],
                                                 .column = at[2],
                                                 .inlined_at = inlined_at};
    uint32_t index = p->locs.n - 1;
    p->loc_table[loc_slot(p, at[0], at[1], at[2])] = index;
    return index;
}

static void parse_position(struct parser *p, uint32_t at[3])
{
    for (unsigned i = 0; i < 3; i++)
        at[i] = (uint32_t)expect_unsigned(p, UINT32_MAX);
}

// .loc file line column [, function_name label [+ n]] [, inlined_at ...]
void parse_loc(struct parser *p)
{
    uint32_t at[3], caller[3], inlined_at = 0;
    lex_advance(p);
    parse_position(p, at);
    while (accept_punct(p, ',')) {
        if (at_word(p, "inlined_at")) {
            lex_advance(p);
            parse_position(p, caller);
            inlined_at = find_loc(p, caller);
            if (!inlined_at)
                inlined_at = add_loc(p, caller, 0);
        } else if (at_word(p, "function_name")) {
            lex_advance(p);
            expect_word(p);
            parse_offset(p);
        } else {
            fail(p, "'function_name' or 'inlined_at' was expected");
        }
    }
    // Line 0 is code that no line asked for: it counts for the line before.
    if (at[1] != 0)
        p->loc = add_loc(p, at, inlined_at);
}

// A quoted path as it is: compilers escape nothing but quotes and strokes.
static const char *unquote(struct parser *p, const struct token *token)
{
    char *text = allocate(p, p->module->arena, token->length), *to = text;
    const char *end = token->at + token->length - 1;
    for (const char *at = token->at + 1; at < end; at++) {
        if (*at == '\\' && at + 1 < end)
            at++;
        *to++ = *at;
    }
    return text;
}

// .file number "path" [, timestamp, size]
void parse_file(struct parser *p)
{
    lex_advance(p);
    uint32_t number = (uint32_t)expect_unsigned(p, UINT32_MAX);
    struct token token = p->lex.token;
    if (token.kind != TOKEN_STRING)
        fail(p, "a path was expected");
    *vector_push(p, &p->files) = unquote(p, &token);
    *vector_push(p, &p->file_numbers) =
        (struct file_number){number, p->files.n - 1};
    lex_advance(p);
    while (accept_punct(p, ','))
        expect_unsigned(p, UINT64_MAX);
}

// .section name { data }: nothing here reads DWARF.
void parse_section(struct parser *p)
{
    lex_advance(p);
    while (!at_punct(p, '{') && p->lex.token.kind != TOKEN_END)
        lex_advance(p);
    if (!at_punct(p, '{'))
        fail(p, "'{' was expected");
    skip_balanced(p);
}

void debug_begin(struct parser *p)
{
    if (p->locs.n == 0)
        vector_push(p, &p->locs); // 0: unknown
    if (p->files.n == 0)
        *vector_push(p, &p->files) = "?";
    p->file_numbers.n = 0;
    p->first_loc = p->locs.n;
    new_table(p, FIRST_LOCS);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = ((const struct file_number *)a)->number;
    uint32_t y = ((const struct file_number *)b)->number;
    return (x > y) - (x < y);
}

void debug_end(struct parser *p)
{
    struct file_number *numbers = p->file_numbers.at;
    uint32_t n = p->file_numbers.n;
    if (n)
        qsort(numbers, n, sizeof *numbers, by_number);
    for (uint32_t i = p->first_loc; i < p->locs.n; i++) {
        struct file_number key = {.number = p->locs.at[i].file};
        const struct file_number *found =
            n ? bsearch(&key, numbers, n, sizeof key, by_number) : NULL;
        p->locs.at[i].file = found ? found->index : 0;
    }
}
