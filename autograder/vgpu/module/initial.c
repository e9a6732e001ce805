// Initial values of variables.
#include "parse.h"

struct writer {
    struct ptx_var *var;
    unsigned size;        // of an element
    uint64_t offset;      // of the next element
    bool grows;           // `[]`: as long as its value
    VECTOR(uint8_t) bytes;
    VECTOR(struct ptx_fixup) fixups;
};

static uint8_t *element(struct parser *p, struct writer *w)
{
    uint64_t end = w->offset + w->size;
    if (!w->grows && end > w->var->nbytes)
        fail(p, "more values than the variable holds");
    while (w->bytes.n < end)
        vector_push(p, &w->bytes);
    return w->bytes.at + w->offset;
}

// A value of the variable's type, from a literal of another.
static uint64_t convert(const struct writer *w, const struct token *token,
                        bool negative)
{
    uint64_t bits = (uint64_t)token->bits;
    bool is_float = w->var->type == PTX_F32 || w->var->type == PTX_F64;
    double value;
    float narrow;
    if (token->kind == TOKEN_INT) {
        if (!is_float)
            return negative ? -bits : bits;
        value = (double)token->bits;
    } else if (token->kind == TOKEN_F32) {
        uint32_t low = (uint32_t)bits;
        memcpy(&narrow, &low, sizeof narrow);
        value = narrow;
    } else {
        memcpy(&value, &bits, sizeof value);
    }
    if (negative)
        value = -value;
    if (w->size == sizeof(float) && token->kind == TOKEN_F32) {
        uint32_t sign = negative ? UINT32_C(1) << 31 : 0;
        return (uint32_t)bits ^ sign; // keeps a NaN's bits
    }
    if (w->size == sizeof(float)) {
        uint32_t low;
        narrow = (float)value;
        memcpy(&low, &narrow, sizeof low);
        return low;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static bool parse_number(struct parser *p, struct writer *w)
{
    bool negative = accept_punct(p, '-');
    struct token token = p->lex.token;
    if (token.kind != TOKEN_INT && token.kind != TOKEN_F32 &&
        token.kind != TOKEN_F64) {
        if (negative)
            fail(p, "a number was expected");
        return false;
    }
    lex_advance(p);
    if (at_punct(p, '(')) { // a mask before an address: parse_address()
        p->lex.next = token.at;
        p->lex.line = token.line;
        lex_advance(p);
        return false;
    }
    uint64_t bits = convert(w, &token, negative);
    uint8_t *at = element(p, w);
    for (unsigned i = 0; i < w->size && i < sizeof bits; i++)
        at[i] = (uint8_t)(bits >> (8 * i));
    return true;
}

// 0xFF00(address): the byte of it that the mask selects.
static void parse_mask(struct parser *p, struct ptx_fixup *fixup)
{
    struct token token = p->lex.token;
    uint64_t mask = expect_unsigned(p, UINT64_MAX);
    while (fixup->shift < 56 && mask && !(mask & 0xff)) {
        mask >>= 8;
        fixup->shift += 8;
    }
    if (mask != 0xff)
        fail_at(p, &token, "a mask selects one byte");
    fixup->nbytes = 1;
}

// name | generic(name), then [+ n]
static void parse_target(struct parser *p, struct ptx_fixup *fixup)
{
    fixup->generic = at_word(p, "generic");
    if (fixup->generic) {
        lex_advance(p);
        expect_punct(p, '(');
    }
    struct token name = expect_word(p);
    const struct symbol *symbol = name.name->symbol;
    if (!symbol || (symbol->kind != SYMBOL_VAR && symbol->kind != SYMBOL_FUNC))
        fail_at(p, &name, "'%s' is not declared", name.name->text);
    fixup->is_func = symbol->kind == SYMBOL_FUNC;
    fixup->index = symbol->index;
    fixup->addend = parse_offset(p);
    if (fixup->generic)
        expect_punct(p, ')');
    fixup->addend += parse_offset(p);
}

static void parse_address(struct parser *p, struct writer *w)
{
    struct ptx_fixup fixup = {.offset = w->offset, .nbytes = (uint8_t)w->size};
    bool masked = p->lex.token.kind == TOKEN_INT;
    if (masked) {
        parse_mask(p, &fixup);
        expect_punct(p, '(');
    }
    parse_target(p, &fixup);
    if (masked)
        expect_punct(p, ')');
    if (fixup.nbytes > w->size || fixup.nbytes > sizeof(uint64_t))
        fail(p, "an address does not fit this type");
    element(p, w);
    *vector_push(p, &w->fixups) = fixup;
}

// A list starts where it stands; a row of an array of rows fills what it
// says, and rows are written out in full by compilers.
static void parse_value(struct parser *p, struct writer *w, unsigned depth)
{
    if (depth > MAX_NESTING)
        fail(p, "the value is nested too deeply");
    if (!accept_punct(p, '{')) {
        if (!parse_number(p, w))
            parse_address(p, w);
        w->offset += w->size;
        return;
    }
    while (!at_punct(p, '}')) {
        parse_value(p, w, depth + 1);
        if (!accept_punct(p, ','))
            break;
    }
    expect_punct(p, '}');
}

void parse_initial(struct parser *p, struct ptx_var *var, bool unsized)
{
    struct writer w = {
        .var = var, .size = ptx_type_size(var->type), .grows = unsized};
    parse_value(p, &w, 0);
    if (unsized)
        var->nbytes = w.offset;
    uint8_t *init = allocate(p, p->module->arena, var->nbytes);
    if (w.bytes.n)
        memcpy(init, w.bytes.at, w.bytes.n);
    var->init = init;
    var->fixups = vector_keep(p, &w.fixups);
    var->nfixups = w.fixups.n;
}
