// Several sources of one program -> one module.
//
// Symbols with a linkage are the program's and live in scope 0; all others
// are their source's and live in scope 1. A declaration and its definition,
// also in another source, share one entry. Where that is known too late (an
// alias, a plain declaration of what another source defines) an entry is
// forwarded, and the references to it are redirected at the end.
#include "parse.h"

#include <stdlib.h>

enum { PROGRAM, SOURCE };
enum { LONGEST_FORWARD = 64 };

static const char *kind_name(enum symbol_kind kind)
{
    return kind == SYMBOL_FUNC  ? "a function"
           : kind == SYMBOL_VAR ? "a variable"
                                : "something else";
}

// The symbol of that name and scope, or NULL; it must be of this kind.
static struct symbol *find(struct parser *p, const struct token *at,
                           enum symbol_kind kind, unsigned depth)
{
    struct symbol *symbol = symbol_find(at->name, depth);
    if (!symbol || symbol->depth != depth)
        return NULL;
    if (symbol->kind != kind)
        fail_at(p, at, "'%s' is %s already", at->name->text,
                kind_name(symbol->kind));
    return symbol;
}

// ---- functions ------------------------------------------------------------

static uint32_t new_func(struct parser *p, const struct token *name)
{
    *vector_push(p, &p->funcs) = (struct ptx_func){
        .name = name->name->text, .is_extern = true, .cubin_regs = -1};
    *vector_push(p, &p->func_states) =
        (struct func_state){.unit = p->unit, .forward = p->funcs.n - 1};
    return p->funcs.n - 1;
}

uint32_t link_func(struct parser *p, const struct token *name, bool is_global)
{
    struct symbol *ours = find(p, name, SYMBOL_FUNC, SOURCE);
    struct symbol *theirs = find(p, name, SYMBOL_FUNC, PROGRAM);
    bool same_source =
        theirs && p->func_states.at[theirs->index].unit == p->unit;
    if (is_global) {
        if (!theirs)
            theirs = symbol_add(p, name, SYMBOL_FUNC,
                                ours ? ours->index : new_func(p, name),
                                PROGRAM);
        if (ours && ours->index != theirs->index)
            p->func_states.at[ours->index].forward = theirs->index;
        p->func_states.at[theirs->index].unit = p->unit;
        return theirs->index;
    }
    if (ours)
        return ours->index;
    if (same_source)
        return theirs->index;
    uint32_t index = new_func(p, name);
    symbol_add(p, name, SYMBOL_FUNC, index, SOURCE);
    return index;
}

void link_body(struct parser *p, const struct token *name, uint32_t index,
               const struct ptx_func *func, bool weak)
{
    struct func_state *state = &p->func_states.at[index];
    if (state->defined && !state->weak && !weak)
        fail_at(p, name, "function '%s' is defined twice", func->name);
    if (state->defined && weak)
        return;
    p->funcs.at[index] = *func;
    state->defined = true;
    state->weak = weak;
}

void link_alias(struct parser *p, const struct token *alias,
                const struct token *target)
{
    const struct symbol *to = symbol_find(target->name, SOURCE);
    if (!to || to->kind != SYMBOL_FUNC)
        fail_at(p, target, "'%s' is no function", target->name->text);
    const struct symbol *from = symbol_find(alias->name, SOURCE);
    if (!from || from->kind != SYMBOL_FUNC)
        fail_at(p, alias, "'%s' is no function", alias->name->text);
    p->func_states.at[from->index].forward = to->index;
}

// ---- variables --------------------------------------------------------------

static uint32_t new_var(struct parser *p)
{
    vector_push(p, &p->vars);
    *vector_push(p, &p->var_states) =
        (struct var_state){.unit = p->unit, .forward = p->vars.n - 1};
    return p->vars.n - 1;
}

// What a further declaration says of a variable that is there.
static void join_var(struct parser *p, const struct token *name,
                     struct linkage linkage, uint32_t index,
                     const struct ptx_var *var)
{
    struct ptx_var *old = &p->vars.at[index];
    struct var_state *state = &p->var_states.at[index];
    bool weak = linkage.weak || linkage.common;
    bool defines = !linkage.is_extern;
    if (old->space != var->space)
        fail_at(p, name, "'%s' is declared in another state space",
                var->name);
    if (defines && state->defined && !state->weak && !weak)
        fail_at(p, name, "variable '%s' is defined twice", var->name);
    uint32_t align = old->align > var->align ? old->align : var->align;
    bool larger = linkage.common && var->nbytes > old->nbytes && !old->init;
    if (defines && (!state->defined || !weak || larger)) {
        *old = *var;
        state->defined = true;
        state->weak = weak;
    }
    old->align = align;
}

void link_var(struct parser *p, const struct token *name,
              struct linkage linkage, const struct ptx_var *var)
{
    unsigned depth = p->in_body ? p->depth : SOURCE;
    if (!p->in_body && (linkage.is_extern || linkage.visible || linkage.weak ||
                        linkage.common))
        depth = PROGRAM;
    struct symbol *symbol = find(p, name, SYMBOL_VAR, depth);
    if (!symbol) {
        symbol = symbol_add(p, name, SYMBOL_VAR, new_var(p), depth);
        p->vars.at[symbol->index] = *var;
        p->var_states.at[symbol->index].defined = !linkage.is_extern;
        p->var_states.at[symbol->index].weak = linkage.weak || linkage.common;
    } else if (depth == PROGRAM) {
        join_var(p, name, linkage, symbol->index, var);
    } else {
        fail_at(p, name, "'%s' is declared twice", var->name);
    }
}

// ---- forwarding ---------------------------------------------------------------

static uint32_t follow(struct parser *p, uint32_t index)
{
    for (unsigned i = 0; i < LONGEST_FORWARD; i++) {
        uint32_t next = p->func_states.at[index].forward;
        if (next == index)
            return index;
        index = next;
    }
    fail(p, "function '%s' is an alias of itself", p->funcs.at[index].name);
}

// A plain declaration may stand for another source's function.
static void forward_undefined(struct parser *p)
{
    for (uint32_t i = 0; i < p->funcs.n; i++) {
        struct func_state *state = &p->func_states.at[i];
        const char *text = p->funcs.at[i].name;
        if (state->defined || state->forward != i)
            continue;
        const struct name *name = intern(p, text, strlen(text));
        const struct symbol *symbol = symbol_find(name, PROGRAM);
        if (symbol && symbol->kind == SYMBOL_FUNC)
            state->forward = symbol->index;
    }
}

static void redirect_operands(struct parser *p, struct operand *operands,
                              uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (operands[i].kind == OPERAND_FUNC)
            operands[i].index = p->func_states.at[operands[i].index].forward;
}

static void redirect(struct parser *p)
{
    for (uint32_t i = 0; i < p->funcs.n; i++)
        p->func_states.at[i].forward = follow(p, i);
    for (uint32_t i = 0; i < p->funcs.n; i++) {
        struct ptx_func *func = &p->funcs.at[i];
        redirect_operands(p, func->operand_pool, func->npool);
        for (uint32_t j = 0; j < func->ninsts; j++)
            redirect_operands(p, func->insts[j].operands,
                              func->insts[j].noperands);
        for (uint32_t j = 0; j < func->ntables; j++) {
            struct ptx_table *table = &func->tables[j];
            for (uint32_t k = 0; table->is_calls && k < table->ntargets; k++)
                table->targets[k] =
                    p->func_states.at[table->targets[k]].forward;
        }
    }
    for (uint32_t i = 0; i < p->vars.n; i++)
        for (uint32_t j = 0; j < p->vars.at[i].nfixups; j++) {
            struct ptx_fixup *fixup = &p->vars.at[i].fixups[j];
            if (fixup->is_func)
                fixup->index = p->func_states.at[fixup->index].forward;
        }
}

// ---- the module -----------------------------------------------------------------

// Of two of one name the one that has a body, or a value, comes first.
static int by_func_name(const void *a, const void *b, void *funcs)
{
    const struct ptx_func *x = (const struct ptx_func *)funcs + *(uint32_t *)a;
    const struct ptx_func *y = (const struct ptx_func *)funcs + *(uint32_t *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->is_extern - y->is_extern;
}

static int by_var_name(const void *a, const void *b, void *vars)
{
    const struct ptx_var *x = (const struct ptx_var *)vars + *(uint32_t *)a;
    const struct ptx_var *y = (const struct ptx_var *)vars + *(uint32_t *)b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->is_extern - y->is_extern;
}

static uint32_t *make_order(struct parser *p, uint32_t n, void *base,
                            int (*compare)(const void *, const void *, void *))
{
    uint32_t *order = allocate(p, p->module->arena, n * sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    if (n)
        qsort_r(order, n, sizeof *order, compare, base);
    return order;
}

// An alias is found by its own name and is its target in all else.
static void become_targets(struct parser *p)
{
    for (uint32_t i = 0; i < p->funcs.n; i++) {
        uint32_t target = p->func_states.at[i].forward;
        if (target == i || !strcmp(p->funcs.at[i].name,
                                   p->funcs.at[target].name))
            continue;
        const char *name = p->funcs.at[i].name;
        p->funcs.at[i] = p->funcs.at[target];
        p->funcs.at[i].name = name;
    }
}

void link_finish(struct parser *p)
{
    struct module *module = p->module;
    forward_undefined(p);
    redirect(p);
    shared_layout(p);
    become_targets(p);

    module->files = vector_keep(p, &p->files);
    module->nfiles = p->files.n;
    module->locs = vector_keep(p, &p->locs);
    module->nlocs = p->locs.n;
    module->vars = vector_keep(p, &p->vars);
    module->nvars = p->vars.n;
    module->funcs = vector_keep(p, &p->funcs);
    module->nfuncs = p->funcs.n;
    module->var_order =
        make_order(p, module->nvars, module->vars, by_var_name);
    module->func_order =
        make_order(p, module->nfuncs, module->funcs, by_func_name);
}
