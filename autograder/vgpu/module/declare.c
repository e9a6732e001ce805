// Declarations: types, registers, variables, parameters.
#include "parse.h"

enum { LARGEST_ALIGN = 1 << 16 };

static const struct {
    const char *text;
    uint8_t type, nbytes;
} types[] = {
    {".pred", PTX_PRED, 0},     {".b8", PTX_B8, 1},
    {".b16", PTX_B16, 2},       {".b32", PTX_B32, 4},
    {".b64", PTX_B64, 8},       {".b128", PTX_B128, 16},
    {".u8", PTX_U8, 1},         {".u16", PTX_U16, 2},
    {".u32", PTX_U32, 4},       {".u64", PTX_U64, 8},
    {".s8", PTX_S8, 1},         {".s16", PTX_S16, 2},
    {".s32", PTX_S32, 4},       {".s64", PTX_S64, 8},
    {".f16", PTX_F16, 2},       {".f16x2", PTX_F16X2, 4},
    {".bf16", PTX_BF16, 2},     {".bf16x2", PTX_BF16X2, 4},
    {".tf32", PTX_TF32, 4},     {".f32", PTX_F32, 4},
    {".f64", PTX_F64, 8},
    // Opaque handles are 64 bits wide.
    {".texref", PTX_B64, 8},    {".samplerref", PTX_B64, 8},
    {".surfref", PTX_B64, 8},
};
enum { NTYPES = sizeof types / sizeof *types };

unsigned ptx_type_size(enum ptx_type type)
{
    for (unsigned i = 0; i < NTYPES; i++)
        if (types[i].type == type)
            return types[i].nbytes;
    return 0;
}

bool parse_type(struct parser *p, enum ptx_type *type)
{
    if (p->lex.token.kind != TOKEN_DIRECTIVE)
        return false;
    for (unsigned i = 0; i < NTYPES; i++) {
        if (accept_directive(p, types[i].text)) {
            *type = types[i].type;
            return true;
        }
    }
    return false;
}

static const struct {
    const char *text;
    enum ptx_space space;
} spaces[] = {
    {".global", SPACE_GLOBAL},
    {".const", SPACE_CONST},
    {".shared", SPACE_SHARED},
    {".local", SPACE_LOCAL},
};
enum { NSPACES = sizeof spaces / sizeof *spaces };

static unsigned space_at(const struct parser *p)
{
    unsigned i = 0;
    while (i < NSPACES && !at_directive(p, spaces[i].text))
        i++;
    return i;
}

bool at_space(const struct parser *p)
{
    return space_at(p) < NSPACES;
}

// ---- what variables and parameters share --------------------------------

struct form {
    enum ptx_type type;
    uint32_t align;        // 0: not said
    uint32_t nelements;    // of a vector, else 1
    bool is_managed;
};

static uint32_t parse_align(struct parser *p)
{
    struct token at = p->lex.token;
    uint64_t align = expect_unsigned(p, LARGEST_ALIGN);
    if (align == 0 || (align & (align - 1)))
        fail_at(p, &at, "an alignment is a power of two");
    return (uint32_t)align;
}

// .attribute(.managed): others mean nothing here.
static void parse_attribute(struct parser *p, struct form *form)
{
    expect_punct(p, '(');
    while (!at_punct(p, ')')) {
        if (p->lex.token.kind == TOKEN_END)
            fail(p, "')' was expected");
        form->is_managed |= at_directive(p, ".managed");
        if (at_punct(p, '('))
            skip_balanced(p);
        else
            lex_advance(p);
    }
    lex_advance(p);
}

// .ptr [.space] [.align N]: what a pointer parameter points to.
static void parse_pointee(struct parser *p)
{
    while (p->lex.token.kind == TOKEN_DIRECTIVE) {
        if (accept_directive(p, ".align"))
            parse_align(p);
        else
            lex_advance(p);
    }
}

// { .align N | .attribute(...) | .v2 | .v4 } type [.ptr ...]
static struct form parse_form(struct parser *p)
{
    struct form form = {.nelements = 1};
    while (!parse_type(p, &form.type)) {
        if (accept_directive(p, ".align"))
            form.align = parse_align(p);
        else if (accept_directive(p, ".attribute"))
            parse_attribute(p, &form);
        else if (accept_directive(p, ".v2"))
            form.nelements = 2;
        else if (accept_directive(p, ".v4"))
            form.nelements = 4;
        else if (accept_directive(p, ".v8"))
            form.nelements = 8;
        else
            fail(p, "a type was expected");
    }
    if (accept_directive(p, ".ptr"))
        parse_pointee(p);
    return form;
}

// Sizes in [], from the size of one element. *unsized: the first is [].
static uint64_t parse_extent(struct parser *p, uint64_t nbytes, bool *unsized)
{
    *unsized = false;
    for (bool first = true; accept_punct(p, '['); first = false) {
        if (first && accept_punct(p, ']')) {
            *unsized = true;
            continue;
        }
        uint64_t n = expect_unsigned(p, MAX_VARIABLE_BYTES);
        if (n && nbytes > MAX_VARIABLE_BYTES / n)
            fail(p, "the variable is too large");
        nbytes *= n;
        expect_punct(p, ']');
    }
    return nbytes;
}

static struct ptx_var make_var(struct parser *p, const struct form *form,
                               enum ptx_space space, const struct name *name,
                               bool *unsized)
{
    uint32_t nbytes = ptx_type_size(form->type) * form->nelements;
    if (nbytes == 0)
        fail(p, "a variable cannot be a predicate");
    return (struct ptx_var){
        .name = name->text,
        .space = space,
        .type = form->type,
        .align = form->align ? form->align : nbytes,
        .nbytes = parse_extent(p, nbytes, unsized),
        .is_managed = form->is_managed,
    };
}

static uint64_t align_up(uint64_t offset, uint64_t align)
{
    return (offset + align - 1) & ~(align - 1);
}

// ---- registers ------------------------------------------------------------

// .reg [.v2] type name [<count>] {, name [<count>]} ;
void parse_registers(struct parser *p)
{
    lex_advance(p);
    struct form form = parse_form(p);
    if (form.nelements != 1)
        fail(p, "vector registers are not supported");
    do {
        struct token name = expect_word(p);
        bool is_range = accept_punct(p, '<');
        uint32_t count = 1;
        if (is_range) {
            count = (uint32_t)expect_unsigned(p, MAX_REGISTERS);
            expect_punct(p, '>');
        }
        symbol_add_regs(p, &name, form.type, is_range, count);
    } while (accept_punct(p, ','));
    expect_punct(p, ';');
}

// ---- variables --------------------------------------------------------------

static void place_local(struct parser *p, const struct token *name,
                        struct ptx_var *var)
{
    if (!p->in_body)
        fail_at(p, name, "a .local variable outside a function");
    var->offset = align_up(p->local_bytes, var->align);
    p->local_bytes = var->offset + var->nbytes;
    if (p->local_bytes > MAX_VARIABLE_BYTES)
        fail_at(p, name, "the function has too much local memory");
}

static void parse_variable(struct parser *p, struct linkage linkage,
                           const struct form *form, enum ptx_space space)
{
    struct token name = expect_word(p);
    bool unsized;
    struct ptx_var var = make_var(p, form, space, name.name, &unsized);
    var.is_extern = linkage.is_extern;
    var.is_weak = linkage.weak;
    if (accept_punct(p, '='))
        parse_initial(p, &var, unsized);
    else if (unsized)
        var.nbytes = 0;
    if (space == SPACE_LOCAL)
        place_local(p, &name, &var);
    link_var(p, &name, linkage, &var);
}

// .space form name [extent] [= value] {, name ...} ;
void parse_variables(struct parser *p, struct linkage linkage)
{
    enum ptx_space space = spaces[space_at(p)].space;
    lex_advance(p);
    struct form form = parse_form(p);
    do
        parse_variable(p, linkage, &form, space);
    while (accept_punct(p, ','));
    expect_punct(p, ';');
}

// ---- parameters ---------------------------------------------------------------

static void place_param(struct parser *p, struct ptx_var *var, uint32_t *used)
{
    var->offset = align_up(*used, var->align);
    if (var->nbytes > MAX_PARAM_BYTES ||
        var->offset + var->nbytes > MAX_PARAM_BYTES)
        fail(p, "the parameters are too large");
    *used = (uint32_t)(var->offset + var->nbytes);
}

// .param form name [extent], in a body: a call's argument or result.
void parse_call_params(struct parser *p)
{
    lex_advance(p);
    struct form form = parse_form(p);
    do {
        bool unsized;
        struct token name = expect_word(p);
        struct ptx_var var =
            make_var(p, &form, SPACE_PARAM, name.name, &unsized);
        place_param(p, &var, &p->call_param_bytes);
        if (p->max_call_param_bytes < p->call_param_bytes)
            p->max_call_param_bytes = p->call_param_bytes;
        symbol_add(p, &name, SYMBOL_PARAM, p->params.n + p->call_params.n,
                   p->depth);
        *vector_push(p, &p->call_params) = var;
    } while (accept_punct(p, ','));
    expect_punct(p, ';');
}

static void parse_param(struct parser *p)
{
    bool unsized;
    if (!accept_directive(p, ".param"))
        fail(p, "a .param was expected");
    struct form form = parse_form(p);
    struct token name = expect_word(p);
    struct ptx_var var = make_var(p, &form, SPACE_PARAM, name.name, &unsized);
    if (unsized)
        var.nbytes = 0;
    place_param(p, &var, &p->param_bytes);
    if (strcmp(name.name->text, "_"))
        symbol_add(p, &name, SYMBOL_PARAM, p->params.n, p->depth);
    *vector_push(p, &p->params) = var;
}

// ( [.param ... {, .param ...}] )
uint32_t parse_params(struct parser *p)
{
    uint32_t before = p->params.n;
    expect_punct(p, '(');
    if (!at_punct(p, ')')) {
        do
            parse_param(p);
        while (accept_punct(p, ','));
    }
    expect_punct(p, ')');
    return p->params.n - before;
}
