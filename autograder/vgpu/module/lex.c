// PTX text -> tokens, one at a time.
#include "parse.h"

#include <ctype.h>
#include <stdlib.h>

enum { LONGEST_DECIMAL = 400 };

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static bool is_word_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%';
}

static void skip_comment(struct parser *p)
{
    struct lexer *lex = &p->lex;
    if (lex->next[1] == '/') {
        while (lex->next < lex->end && *lex->next != '\n')
            lex->next++;
        return;
    }
    for (lex->next += 2; lex->next < lex->end; lex->next++) {
        if (lex->next[0] == '*' && lex->next[1] == '/') {
            lex->next += 2;
            return;
        }
        lex->line += *lex->next == '\n';
    }
}

static void skip_blank(struct parser *p)
{
    struct lexer *lex = &p->lex;
    for (;;) {
        char c = *lex->next;
        if (c == '/' && (lex->next[1] == '/' || lex->next[1] == '*')) {
            skip_comment(p);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
            lex->line += c == '\n';
            lex->next++;
        } else {
            return;
        }
    }
}

// "a.b.c", "L2::128B": a word's parts. A directive ends at its second dot.
static const char *word_end(const char *at, bool dots)
{
    for (;;) {
        while (is_word_part(*at))
            at++;
        if (dots && at[0] == '.' && is_word_part(at[1]))
            at++;
        else if (at[0] == ':' && at[1] == ':' && is_word_part(at[2]))
            at += 2;
        else
            return at;
    }
}

static unsigned hex_digits(const char *at)
{
    unsigned n = 0;
    while (isxdigit((unsigned char)at[n]))
        n++;
    return n;
}

// 0f3F800000, 0d3FF0000000000000: the bits of a float or a double.
static bool lex_float_bits(struct parser *p, struct token *token)
{
    const char *at = token->at;
    bool is_float = at[1] == 'f' || at[1] == 'F';
    bool is_double = at[1] == 'd' || at[1] == 'D';
    unsigned ndigits = is_float ? 8 : 16;
    if (at[0] != '0' || !(is_float || is_double))
        return false;
    if (hex_digits(at + 2) != ndigits)
        fail_at(p, token, "a literal of %u hex digits was expected", ndigits);
    token->kind = is_float ? TOKEN_F32 : TOKEN_F64;
    token->bits = (int64_t)strtoull(at + 2, NULL, 16);
    token->length = 2 + ndigits;
    return true;
}

// 1.5, 2e10: read from a copy, since strtod() wants an end.
static bool lex_decimal(struct parser *p, struct token *token)
{
    size_t n = strspn(token->at, "0123456789");
    const char *at = token->at + n;
    bool exponent = *at == 'e' || *at == 'E';
    if (*at != '.' && !exponent)
        return false;
    n = 0;
    while (n < LONGEST_DECIMAL && token->at[n] &&
           strchr("0123456789.eE+-", token->at[n]))
        n++;
    char copy[LONGEST_DECIMAL + 1], *end;
    memcpy(copy, token->at, n);
    copy[n] = '\0';
    double value = strtod(copy, &end);
    if (n == LONGEST_DECIMAL || end == copy)
        fail_at(p, token, "this is no number");
    token->kind = TOKEN_F64;
    memcpy(&token->bits, &value, sizeof value);
    token->length = (uint32_t)(end - copy);
    return true;
}

static void lex_integer(struct parser *p, struct token *token)
{
    const char *at = token->at, *end;
    unsigned base = 10;
    if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
        base = 16;
    else if (at[0] == '0' && (at[1] == 'b' || at[1] == 'B'))
        base = 2;
    else if (at[0] == '0')
        base = 8;
    end = at + (base == 16 || base == 2 ? 2 : 0);
    uint64_t value = 0;
    const char *first = end;
    for (;; end++) {
        unsigned char c = (unsigned char)*end;
        unsigned digit = isdigit(c)    ? (unsigned)c - '0'
                         : isxdigit(c) ? (unsigned)tolower(c) - 'a' + 10
                                       : 99;
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            fail_at(p, token, "the number does not fit 64 bits");
        value = value * base + digit;
    }
    if (*end == 'U')
        end++;
    if (end == first || is_word_part(*end))
        fail_at(p, token, "this is no number");
    token->kind = TOKEN_INT;
    token->bits = (int64_t)value;
    token->length = (uint32_t)(end - at);
}

static void lex_string(struct parser *p, struct token *token)
{
    const char *at = token->at + 1;
    while (*at && *at != '"' && *at != '\n')
        at += at[0] == '\\' && at[1] && at[1] != '\n' ? 2 : 1;
    if (*at != '"')
        fail_at(p, token, "the string does not end");
    token->kind = TOKEN_STRING;
    token->length = (uint32_t)(at + 1 - token->at);
}

void lex_advance(struct parser *p)
{
    struct lexer *lex = &p->lex;
    skip_blank(p);
    const char *at = lex->next;
    struct token *token = &lex->token;
    *token = (struct token){.at = at, .line = lex->line, .length = 1};
    if (at >= lex->end) {
        token->kind = TOKEN_END;
        token->length = 0;
    } else if (is_word_start(*at)) {
        token->kind = TOKEN_WORD;
        token->length = (uint32_t)(word_end(at, true) - at);
        token->name = intern(p, at, token->length);
    } else if (*at == '.' && is_word_part(at[1])) {
        token->kind = TOKEN_DIRECTIVE;
        token->length = (uint32_t)(word_end(at + 1, false) - at);
    } else if (isdigit((unsigned char)*at)) {
        if (!lex_float_bits(p, token) && !lex_decimal(p, token))
            lex_integer(p, token);
    } else if (*at == '"') {
        lex_string(p, token);
    } else {
        token->kind = TOKEN_PUNCT;
    }
    lex->next = at + token->length;
}

void lex_begin(struct parser *p, const char *text, size_t nbytes)
{
    p->lex = (struct lexer){
        .text = text, .end = text + nbytes, .next = text, .line = 1};
    lex_advance(p);
}

bool at_punct(const struct parser *p, char c)
{
    const struct token *token = &p->lex.token;
    return token->kind == TOKEN_PUNCT && *token->at == c;
}

static bool spells(const struct token *token, const char *text)
{
    size_t n = strlen(text);
    return token->length == n && !memcmp(token->at, text, n);
}

bool at_directive(const struct parser *p, const char *directive)
{
    return p->lex.token.kind == TOKEN_DIRECTIVE &&
           spells(&p->lex.token, directive);
}

bool at_word(const struct parser *p, const char *word)
{
    return p->lex.token.kind == TOKEN_WORD && spells(&p->lex.token, word);
}

bool accept_punct(struct parser *p, char c)
{
    if (!at_punct(p, c))
        return false;
    lex_advance(p);
    return true;
}

bool accept_directive(struct parser *p, const char *directive)
{
    if (!at_directive(p, directive))
        return false;
    lex_advance(p);
    return true;
}

void expect_punct(struct parser *p, char c)
{
    if (!accept_punct(p, c))
        fail(p, "'%c' was expected", c);
}

struct token expect_word(struct parser *p)
{
    struct token token = p->lex.token;
    if (token.kind != TOKEN_WORD)
        fail(p, "a name was expected");
    lex_advance(p);
    return token;
}

uint64_t expect_unsigned(struct parser *p, uint64_t largest)
{
    const struct token *token = &p->lex.token;
    if (token->kind != TOKEN_INT)
        fail(p, "a number was expected");
    uint64_t value = (uint64_t)token->bits;
    if (value > largest)
        fail(p, "the number is too large");
    lex_advance(p);
    return value;
}

int64_t parse_offset(struct parser *p)
{
    bool minus = at_punct(p, '-');
    if (!minus && !at_punct(p, '+'))
        return 0;
    lex_advance(p);
    minus ^= accept_punct(p, '-');
    int64_t n = (int64_t)expect_unsigned(p, INT64_MAX);
    return minus ? -n : n;
}

static int bracket(const struct parser *p)
{
    if (p->lex.token.kind != TOKEN_PUNCT)
        return 0;
    char c = *p->lex.token.at;
    return c == '(' || c == '[' || c == '{'   ? 1
           : c == ')' || c == ']' || c == '}' ? -1
                                              : 0;
}

uint32_t skip_balanced(struct parser *p)
{
    struct token open = p->lex.token;
    uint32_t depth = 0, line;
    do {
        if (p->lex.token.kind == TOKEN_END)
            fail_at(p, &open, "this bracket is not closed");
        int step = bracket(p);
        depth += step > 0;
        depth -= step < 0;
        line = p->lex.token.line;
        lex_advance(p);
    } while (depth > 0);
    return line;
}

// A directive ends at its `;`, or at the end of its line, or with its block.
void skip_directive(struct parser *p)
{
    uint32_t line = p->lex.token.line;
    lex_advance(p);
    while (p->lex.token.kind != TOKEN_END && p->lex.token.line == line) {
        if (accept_punct(p, ';') || at_punct(p, '}'))
            return;
        if (bracket(p) > 0) {
            line = skip_balanced(p);
        } else {
            lex_advance(p);
        }
    }
    if (at_punct(p, '{'))
        skip_balanced(p);
}
