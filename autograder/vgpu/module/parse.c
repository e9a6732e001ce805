// A source of PTX: directives, functions, the statements of their bodies.
#include "parse.h"

#include <stdlib.h>

// ---- function headers -----------------------------------------------------

// .maxntid x [, y [, z]]
static void parse_extents(struct parser *p, uint32_t extents[3])
{
    lex_advance(p);
    unsigned n = 0;
    do
        extents[n++] = (uint32_t)expect_unsigned(p, UINT32_MAX);
    while (n < 3 && accept_punct(p, ','));
    while (n < 3)
        extents[n++] = 1;
}

static void parse_number(struct parser *p, uint32_t *out)
{
    lex_advance(p);
    *out = (uint32_t)expect_unsigned(p, UINT32_MAX);
}

// What may stand between a function's parameters and its body.
static void parse_performance(struct parser *p, struct ptx_func *func)
{
    while (p->lex.token.kind == TOKEN_DIRECTIVE) {
        if (at_directive(p, ".maxntid"))
            parse_extents(p, func->maxntid);
        else if (at_directive(p, ".reqntid"))
            parse_extents(p, func->reqntid);
        else if (at_directive(p, ".minnctapersm"))
            parse_number(p, &func->minnctapersm);
        else if (at_directive(p, ".maxnreg"))
            parse_number(p, &func->maxnreg);
        else if (accept_directive(p, ".noreturn"))
            func->noreturn = true;
        else
            skip_directive(p);
    }
}

static void begin_function(struct parser *p)
{
    p->regs.n = p->params.n = p->call_params.n = p->insts.n = 0;
    p->pool.n = p->stack.n = p->tables.n = p->pending.n = 0;
    p->param_bytes = p->call_param_bytes = p->max_call_param_bytes = 0;
    p->local_bytes = 0;
    p->loc = 0;
}

// ---- bodies -----------------------------------------------------------------

static void close_block(struct parser *p, bool is_last)
{
    resolve_pending(p, p->scopes[p->depth].first_pending, is_last);
    scope_close(p);
}

static void parse_body_directive(struct parser *p)
{
    if (at_directive(p, ".loc"))
        parse_loc(p);
    else if (at_directive(p, ".reg"))
        parse_registers(p);
    else if (at_directive(p, ".param"))
        parse_call_params(p);
    else if (at_space(p))
        parse_variables(p, (struct linkage){0});
    else
        skip_directive(p);
}

// name: or name: .branchtargets ...
static void parse_label(struct parser *p)
{
    struct token name = expect_word(p);
    expect_punct(p, ':');
    if (at_directive(p, ".branchtargets") || at_directive(p, ".calltargets") ||
        at_directive(p, ".callprototype"))
        parse_table(p, &name);
    else
        symbol_add(p, &name, SYMBOL_LABEL, p->insts.n, p->depth);
}

static bool label_follows(const struct parser *p)
{
    const char *at = p->lex.next;
    while (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\n')
        at++;
    return *at == ':';
}

static void parse_statement(struct parser *p)
{
    enum token_kind kind = p->lex.token.kind;
    if (kind == TOKEN_DIRECTIVE)
        parse_body_directive(p);
    else if (kind == TOKEN_WORD && label_follows(p))
        parse_label(p);
    else if (kind == TOKEN_WORD || at_punct(p, '@'))
        parse_instruction(p);
    else if (!accept_punct(p, ';'))
        fail(p, "a statement was expected");
}

static void parse_body(struct parser *p)
{
    struct token open = p->lex.token;
    unsigned outside = p->depth;
    expect_punct(p, '{');
    p->in_body = true;
    scope_open(p);
    while (p->depth > outside) {
        if (p->lex.token.kind == TOKEN_END)
            fail_at(p, &open, "the function's body does not end");
        if (accept_punct(p, '{'))
            scope_open(p);
        else if (accept_punct(p, '}'))
            close_block(p, p->depth == outside + 1);
        else
            parse_statement(p);
    }
    p->in_body = false;
}

// Moves what was parsed to the module.
static void keep_body(struct parser *p, struct ptx_func *func)
{
    for (uint32_t i = 0; i < p->insts.n; i++)
        p->insts.at[i].id = p->module->ninsts++;
    func->regs = vector_keep(p, &p->regs);
    func->nregs = p->regs.n;
    func->call_params = vector_keep(p, &p->call_params);
    func->ncall_params = p->call_params.n;
    func->call_param_bytes = p->max_call_param_bytes;
    func->local_bytes = p->local_bytes;
    func->insts = vector_keep(p, &p->insts);
    func->ninsts = p->insts.n;
    func->operand_pool = vector_keep(p, &p->pool);
    func->npool = p->pool.n;
    func->tables = vector_keep(p, &p->tables);
    func->ntables = p->tables.n;
    func->first_loc = p->insts.n ? p->insts.at[0].loc : 0;
}

// (.entry | .func) [(results)] name [(params)] {directive} (; | body)
static void parse_function(struct parser *p, struct linkage linkage)
{
    struct ptx_func func = {.is_entry = at_directive(p, ".entry"),
                            .cubin_regs = -1};
    lex_advance(p);
    begin_function(p);
    scope_open(p);
    if (accept_directive(p, ".attribute"))
        skip_balanced(p);
    if (at_punct(p, '('))
        func.nresults = parse_params(p);
    struct token name = expect_word(p);
    func.name = name.name->text;
    if (at_punct(p, '('))
        parse_params(p);
    func.params = vector_keep(p, &p->params);
    func.nparams = p->params.n;
    func.param_bytes = p->param_bytes;
    parse_performance(p, &func);

    bool is_global = func.is_entry || linkage.is_extern || linkage.visible ||
                     linkage.weak || linkage.common;
    uint32_t index = link_func(p, &name, is_global);
    if (accept_punct(p, ';')) {
        if (!p->func_states.at[index].defined) {
            func.is_extern = true;
            p->funcs.at[index] = func;
        }
    } else {
        parse_body(p);
        keep_body(p, &func);
        flow_analyse(p, &func);
        link_body(p, &name, index, &func, linkage.weak);
    }
    scope_close(p);
    arena_reset(p->frame);
}

// ---- sources ------------------------------------------------------------------

static struct linkage parse_linkage(struct parser *p)
{
    struct linkage linkage = {0};
    for (;;) {
        if (accept_directive(p, ".extern"))
            linkage.is_extern = true;
        else if (accept_directive(p, ".visible"))
            linkage.visible = true;
        else if (accept_directive(p, ".weak"))
            linkage.weak = true;
        else if (accept_directive(p, ".common"))
            linkage.common = true;
        else
            return linkage;
    }
}

// .target sm_90a, debug ...: for text that came without a fatbin, the only
// place that names an architecture.
static void parse_target(struct parser *p)
{
    lex_advance(p);
    struct token token = expect_word(p);
    const char *text = token.name->text;
    if (!strncmp(text, "sm_", 3)) {
        char *end;
        unsigned long capability = strtoul(text + 3, &end, 10);
        if (capability > p->capability || (*end && !p->arch_specific) ||
            (*end == 'a' && capability != p->capability)) {
            p->status = MODULE_NO_IMAGE;
            fail_at(p, &token, "the code is for %s, the device is sm_%u", text,
                    p->capability);
        }
        if (capability >= p->module->capability) {
            p->module->capability = (unsigned)capability;
            p->module->arch_specific |= *end != '\0';
        }
    }
    while (accept_punct(p, ','))
        lex_advance(p);
}

static void parse_address_size(struct parser *p)
{
    lex_advance(p);
    struct token at = p->lex.token;
    if (expect_unsigned(p, UINT32_MAX) != 64)
        fail_at(p, &at, "only 64-bit code runs on the virtual GPU");
}

// .alias name, function ;
static void parse_alias(struct parser *p)
{
    lex_advance(p);
    struct token alias = expect_word(p);
    expect_punct(p, ',');
    struct token target = expect_word(p);
    expect_punct(p, ';');
    link_alias(p, &alias, &target);
}

static void parse_item(struct parser *p)
{
    struct linkage linkage = parse_linkage(p);
    if (p->lex.token.kind != TOKEN_DIRECTIVE)
        fail(p, "a directive was expected");
    if (at_directive(p, ".entry") || at_directive(p, ".func"))
        parse_function(p, linkage);
    else if (at_space(p))
        parse_variables(p, linkage);
    else if (at_directive(p, ".target"))
        parse_target(p);
    else if (at_directive(p, ".address_size"))
        parse_address_size(p);
    else if (at_directive(p, ".file"))
        parse_file(p);
    else if (at_directive(p, ".section"))
        parse_section(p);
    else if (at_directive(p, ".alias"))
        parse_alias(p);
    else
        skip_directive(p);
}

void parse_source(struct parser *p, const char *text, size_t nbytes)
{
    lex_begin(p, text, nbytes);
    scope_open(p);
    debug_begin(p);
    while (p->lex.token.kind != TOKEN_END)
        if (!accept_punct(p, ';'))
            parse_item(p);
    debug_end(p);
    scope_close(p);
    p->unit++;
}
