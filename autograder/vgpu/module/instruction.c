// Instructions and their operands, without knowing what they mean.
#include "parse.h"

#include <stdio.h>

bool is_opcode(const struct ptx_inst *inst, const char *base)
{
    size_t n = strlen(base);
    return !strncmp(inst->opcode, base, n) &&
           (inst->opcode[n] == '.' || !inst->opcode[n]);
}

// ---- operands ---------------------------------------------------------------

static void parse_operand(struct parser *p, struct operand *, unsigned depth);

static void negate(struct operand *operand)
{
    uint64_t bits = (uint64_t)operand->bits;
    if (operand->kind == OPERAND_INT)
        bits = -bits;
    else if (operand->kind == OPERAND_F32)
        bits ^= UINT64_C(1) << 31;
    else
        bits ^= UINT64_C(1) << 63;
    operand->bits = (int64_t)bits;
}

static bool parse_literal(struct parser *p, struct operand *operand)
{
    const struct token *token = &p->lex.token;
    if (token->kind == TOKEN_INT)
        operand->kind = OPERAND_INT;
    else if (token->kind == TOKEN_F32)
        operand->kind = OPERAND_F32;
    else if (token->kind == TOKEN_F64)
        operand->kind = OPERAND_F64;
    else
        return false;
    operand->bits = token->bits;
    lex_advance(p);
    return true;
}

// Fills the operand with what the name stands for; false when that is a
// label, or not known here.
static bool resolve(struct parser *p, const struct token *word,
                    struct operand *operand)
{
    struct name *name = word->name;
    if (find_register(p, name, &operand->reg)) {
        operand->kind = OPERAND_REG;
        return true;
    }
    const struct symbol *symbol = name->symbol;
    if (symbol && symbol->kind != SYMBOL_LABEL) {
        operand->kind = symbol->kind == SYMBOL_VAR     ? OPERAND_SYMBOL
                        : symbol->kind == SYMBOL_FUNC  ? OPERAND_FUNC
                        : symbol->kind == SYMBOL_PARAM ? OPERAND_PARAM
                                                       : OPERAND_TABLE;
        operand->index = symbol->index;
        return true;
    }
    if (!strcmp(name->text, "_")) {
        operand->kind = OPERAND_SINK;
        return true;
    }
    if (*name->text == '%' || !strcmp(name->text, "WARP_SZ")) {
        if (name->stem && name->stem->range)
            fail_at(p, word, "register '%s' is not declared", name->text);
        operand->kind = OPERAND_SPECIAL;
        operand->text = name->text;
        return true;
    }
    return false;
}

// A word inside brackets or a list: never a label.
static void parse_known(struct parser *p, struct operand *operand)
{
    struct token word = expect_word(p);
    if (!resolve(p, &word, operand))
        fail_at(p, &word, "'%s' is not declared", word.name->text);
}

// Moves the elements on the stack to the pool, side by side.
static void pop_elements(struct parser *p, uint32_t bottom, uint32_t *first,
                         uint32_t *count)
{
    *first = p->pool.n;
    *count = p->stack.n - bottom;
    for (uint32_t i = bottom; i < p->stack.n; i++)
        *vector_push(p, &p->pool) = p->stack.at[i];
    p->stack.n = bottom;
}

// Operands up to `close`, which follows or is the current token.
static void parse_elements(struct parser *p, char close, unsigned depth,
                           uint32_t *first, uint32_t *count)
{
    uint32_t bottom = p->stack.n;
    while (!at_punct(p, close)) {
        struct operand element = {0};
        parse_operand(p, &element, depth + 1);
        *vector_push(p, &p->stack) = element;
        if (!accept_punct(p, ','))
            break;
    }
    expect_punct(p, close);
    pop_elements(p, bottom, first, count);
}

// [base], [base + offset], [offset]; [base, {x, y}, ...]
static void parse_memory(struct parser *p, struct operand *operand,
                         unsigned depth)
{
    struct operand base = {0};
    bool negative = accept_punct(p, '-');
    if (!parse_literal(p, &base))
        parse_known(p, &base);
    else if (negative)
        negate(&base);
    if (base.kind != OPERAND_REG && base.kind != OPERAND_SYMBOL &&
        base.kind != OPERAND_PARAM && base.kind != OPERAND_INT)
        fail(p, "this is no address");
    *operand = base;
    operand->kind = OPERAND_MEMORY;
    operand->mem_base = base.kind;
    operand->bits = (int64_t)((uint64_t)base.bits + (uint64_t)parse_offset(p));
    if (accept_punct(p, ','))
        parse_elements(p, ']', depth, &operand->reg2, &operand->count);
    else
        expect_punct(p, ']');
}

// At the current word: the operand, and what may follow it.
static void parse_word(struct parser *p, struct operand *operand,
                       unsigned depth)
{
    struct token word = p->lex.token;
    lex_advance(p);
    if (!resolve(p, &word, operand)) {
        if (depth > 0)
            fail_at(p, &word, "'%s' is not declared", word.name->text);
        operand->kind = OPERAND_LABEL;
        operand->text = word.name->text;
        *vector_push(p, &p->pending) = (struct pending){
            .at = word,
            .owner = p->insts.n - 1,
            .position = p->insts.at[p->insts.n - 1].noperands,
        };
        return;
    }
    if (operand->kind == OPERAND_SYMBOL)
        operand->bits = parse_offset(p);
    if (accept_punct(p, '|')) {
        struct operand second = {0};
        parse_known(p, &second);
        // `_|p` and `d|_` leave one of the two out.
        if (second.kind == OPERAND_REG) {
            operand->has_second = true;
            operand->reg2 = second.reg;
        } else if (second.kind != OPERAND_SINK) {
            fail(p, "a register was expected after '|'");
        }
    }
}

static void parse_operand(struct parser *p, struct operand *operand,
                          unsigned depth)
{
    if (depth > MAX_NESTING)
        fail(p, "operands are nested too deeply");
    bool list = at_punct(p, '(');
    if (list || at_punct(p, '{')) {
        lex_advance(p);
        operand->kind = list ? OPERAND_LIST : OPERAND_VECTOR;
        parse_elements(p, list ? ')' : '}', depth, &operand->index,
                       &operand->count);
        return;
    }
    if (accept_punct(p, '[')) {
        parse_memory(p, operand, depth);
        return;
    }
    bool minus = accept_punct(p, '-');
    bool invert = !minus && accept_punct(p, '~');
    bool negated = !minus && !invert && accept_punct(p, '!');
    if (parse_literal(p, operand)) {
        if (minus)
            negate(operand);
        if (invert)
            operand->bits = ~operand->bits;
        if (negated)
            operand->bits = !operand->bits;
    } else if (p->lex.token.kind == TOKEN_WORD) {
        parse_word(p, operand, depth);
        operand->negated = minus || negated;
    } else {
        fail(p, "an operand was expected");
    }
}

// ---- instructions -------------------------------------------------------------

// @p or @!p
static void parse_guard(struct parser *p, struct ptx_inst *inst)
{
    uint32_t reg;
    inst->guard_negated = accept_punct(p, '!');
    struct token word = expect_word(p);
    if (!find_register(p, word.name, &reg) ||
        p->regs.at[reg].type != PTX_PRED)
        fail_at(p, &word, "'%s' is no predicate", word.name->text);
    inst->guard = (int32_t)reg;
}

// The opcode, also where blanks stand before its suffixes.
static const char *parse_opcode(struct parser *p)
{
    char text[256];
    struct token word = expect_word(p);
    if (p->lex.token.kind != TOKEN_DIRECTIVE)
        return word.name->text;
    int n = snprintf(text, sizeof text, "%s", word.name->text);
    while (p->lex.token.kind == TOKEN_DIRECTIVE) {
        if (n + p->lex.token.length >= sizeof text)
            fail(p, "the opcode is too long");
        memcpy(text + n, p->lex.token.at, p->lex.token.length);
        n += (int)p->lex.token.length;
        lex_advance(p);
    }
    return intern(p, text, (size_t)n)->text;
}

// [@[!]p] opcode [operand {, operand}] ;
void parse_instruction(struct parser *p)
{
    struct ptx_inst *inst = vector_push(p, &p->insts);
    inst->guard = PTX_NO_GUARD;
    inst->ptx_line = p->lex.token.line;
    inst->loc = p->loc;
    if (accept_punct(p, '@'))
        parse_guard(p, inst);
    inst->opcode = parse_opcode(p);
    while (!at_punct(p, ';')) {
        if (inst->noperands == PTX_MAX_OPERANDS)
            fail(p, "too many operands");
        parse_operand(p, &inst->operands[inst->noperands], 0);
        inst->noperands++;
        if (!accept_punct(p, ','))
            break;
    }
    expect_punct(p, ';');
}

// ---- labels ---------------------------------------------------------------------

static uint32_t parse_targets(struct parser *p, struct ptx_table *table,
                              uint32_t owner)
{
    VECTOR(uint32_t) targets = {0};
    do {
        struct token word = expect_word(p);
        uint32_t *target = vector_push(p, &targets);
        if (table->is_calls) {
            const struct symbol *symbol = word.name->symbol;
            if (!symbol || symbol->kind != SYMBOL_FUNC)
                fail_at(p, &word, "'%s' is no function", word.name->text);
            *target = symbol->index;
        } else {
            *vector_push(p, &p->pending) =
                (struct pending){.at = word,
                                 .in_table = true,
                                 .owner = owner,
                                 .position = targets.n - 1};
        }
    } while (accept_punct(p, ','));
    table->targets = vector_keep(p, &targets);
    return targets.n;
}

void parse_table(struct parser *p, const struct token *name)
{
    uint32_t index = p->tables.n;
    struct ptx_table table = {.name = name->name->text,
                              .is_calls = at_directive(p, ".calltargets")};
    bool is_prototype = at_directive(p, ".callprototype");
    symbol_add(p, name, SYMBOL_TABLE, index, p->depth);
    lex_advance(p);
    if (is_prototype) {
        while (!at_punct(p, ';') && p->lex.token.kind != TOKEN_END)
            lex_advance(p);
    } else {
        table.ntargets = parse_targets(p, &table, index);
    }
    expect_punct(p, ';');
    *vector_push(p, &p->tables) = table;
}

// Whether the word could be set to what it means in the closing scope.
static bool settle(struct parser *p, const struct pending *word)
{
    const struct symbol *symbol = word->at.name->symbol;
    if (!symbol || symbol->depth < p->depth)
        return false;
    if (word->in_table) {
        if (symbol->kind != SYMBOL_LABEL)
            return false;
        p->tables.at[word->owner].targets[word->position] = symbol->index;
        return true;
    }
    struct operand *operand =
        &p->insts.at[word->owner].operands[word->position];
    if (symbol->kind != SYMBOL_LABEL && symbol->kind != SYMBOL_TABLE)
        return false;
    operand->kind =
        symbol->kind == SYMBOL_LABEL ? OPERAND_LABEL : OPERAND_TABLE;
    operand->index = symbol->index;
    return true;
}

// What is no label at the function's end: a bare word that the instruction
// may know.
static void give_up(struct parser *p, const struct pending *word)
{
    struct ptx_inst *inst = &p->insts.at[word->owner];
    if (word->in_table || is_opcode(inst, "bra"))
        fail_at(p, &word->at, "label '%s' is not there",
                word->at.name->text);
    inst->operands[word->position].kind = OPERAND_NAME;
}

void resolve_pending(struct parser *p, uint32_t first, bool at_end)
{
    uint32_t kept = first;
    for (uint32_t i = first; i < p->pending.n; i++) {
        struct pending *word = &p->pending.at[i];
        if (settle(p, word))
            continue;
        if (at_end)
            give_up(p, word);
        else
            p->pending.at[kept++] = *word;
    }
    p->pending.n = kept;
}
