// Static shared memory: an offset for every variable, a size for every entry.
//
// A variable has one offset, whichever entry runs. Variables that several
// entries reach come first, side by side; those of one entry follow, so that
// every entry's block is as small as if it were alone. Reached is what the
// entry names, and what the functions it may call name; a call through a
// pointer may call every function whose address is taken.
#include "parse.h"

#include <stdlib.h>

enum { MOST_STEPS = 1 << 26 };
#define MAX_SHARED_BYTES (UINT64_C(1) << 30)

struct refs {
    VECTOR(uint32_t) funcs, vars;
    bool calls_pointers;
};

struct use {
    uint32_t entry, var;
};

struct layout {
    struct refs *refs;          // of every function
    VECTOR(uint32_t) taken;     // functions whose address is taken
    VECTOR(uint32_t) todo;
    VECTOR(struct use) uses;
    uint32_t *seen_func, *seen_var; // stamps
    uint32_t *nentries;         // that use a variable
    uint64_t steps;
};

static bool is_static_shared(const struct ptx_var *var)
{
    return var->space == SPACE_SHARED && !var->is_extern;
}

static void note_operand(struct parser *p, struct layout *l, uint32_t func,
                         const struct operand *operand, bool is_call)
{
    struct refs *refs = &l->refs[func];
    bool symbol = operand->kind == OPERAND_SYMBOL ||
                  (operand->kind == OPERAND_MEMORY &&
                   operand->mem_base == OPERAND_SYMBOL);
    if (operand->kind == OPERAND_FUNC) {
        *vector_push(p, &refs->funcs) = operand->index;
        if (!is_call)
            *vector_push(p, &l->taken) = operand->index;
    } else if (symbol && is_static_shared(&p->vars.at[operand->index]) &&
               l->seen_var[operand->index] != func + 1) {
        l->seen_var[operand->index] = func + 1;
        *vector_push(p, &refs->vars) = operand->index;
    } else if (operand->kind == OPERAND_REG && is_call) {
        refs->calls_pointers = true;
    }
}

static void note_function(struct parser *p, struct layout *l, uint32_t index)
{
    const struct ptx_func *func = &p->funcs.at[index];
    for (uint32_t i = 0; i < func->npool; i++)
        note_operand(p, l, index, &func->operand_pool[i], false);
    for (uint32_t i = 0; i < func->ninsts; i++) {
        const struct ptx_inst *inst = &func->insts[i];
        bool is_call = is_opcode(inst, "call");
        for (unsigned j = 0; j < inst->noperands; j++)
            note_operand(p, l, index, &inst->operands[j], is_call);
    }
}

static void note_tables(struct parser *p, struct layout *l)
{
    for (uint32_t i = 0; i < p->vars.n; i++)
        for (uint32_t j = 0; j < p->vars.at[i].nfixups; j++)
            if (p->vars.at[i].fixups[j].is_func)
                *vector_push(p, &l->taken) = p->vars.at[i].fixups[j].index;
}

static void visit(struct parser *p, struct layout *l, uint32_t entry,
                  uint32_t func)
{
    if (++l->steps > MOST_STEPS)
        fail(p, "too many calls between functions");
    if (l->seen_func[func] == entry + 1)
        return;
    l->seen_func[func] = entry + 1;
    *vector_push(p, &l->todo) = func;
}

static void reach(struct parser *p, struct layout *l, uint32_t entry)
{
    bool pointers = false;
    visit(p, l, entry, entry);
    while (l->todo.n) {
        const struct refs *refs = &l->refs[l->todo.at[--l->todo.n]];
        for (uint32_t i = 0; i < refs->funcs.n; i++)
            visit(p, l, entry, refs->funcs.at[i]);
        if (refs->calls_pointers && !pointers) {
            pointers = true;
            for (uint32_t i = 0; i < l->taken.n; i++)
                visit(p, l, entry, l->taken.at[i]);
        }
        for (uint32_t i = 0; i < refs->vars.n; i++) {
            uint32_t var = refs->vars.at[i];
            if (++l->steps > MOST_STEPS)
                fail(p, "too many uses of shared memory");
            if (l->seen_var[var] == entry + 1)
                continue;
            l->seen_var[var] = entry + 1;
            l->nentries[var]++;
            *vector_push(p, &l->uses) = (struct use){entry, var};
        }
    }
}

static void place(struct parser *p, struct ptx_var *var, uint64_t *top)
{
    var->offset = (*top + var->align - 1) & ~(uint64_t)(var->align - 1);
    *top = var->offset + var->nbytes;
    if (*top > MAX_SHARED_BYTES)
        fail(p, "too much shared memory");
}

static void place_all(struct parser *p, struct layout *l)
{
    uint64_t common = 0;
    for (uint32_t i = 0; i < p->vars.n; i++)
        if (l->nentries[i] > 1)
            place(p, &p->vars.at[i], &common);
    for (uint32_t i = 0; i < l->uses.n; i++) {
        const struct ptx_var *var = &p->vars.at[l->uses.at[i].var];
        uint64_t *top = &p->funcs.at[l->uses.at[i].entry].shared_bytes;
        uint64_t end = var->offset + var->nbytes;
        if (l->nentries[l->uses.at[i].var] > 1 && *top < end)
            *top = end;
    }
    for (uint32_t i = 0; i < l->uses.n; i++)
        if (l->nentries[l->uses.at[i].var] == 1)
            place(p, &p->vars.at[l->uses.at[i].var],
                  &p->funcs.at[l->uses.at[i].entry].shared_bytes);
}

void shared_layout(struct parser *p)
{
    struct layout l = {0};
    uint32_t nfuncs = p->funcs.n, nvars = p->vars.n;
    l.refs = allocate(p, p->scratch, nfuncs * sizeof *l.refs);
    l.seen_func = allocate(p, p->scratch, nfuncs * sizeof *l.seen_func);
    l.seen_var = allocate(p, p->scratch, nvars * sizeof *l.seen_var);
    l.nentries = allocate(p, p->scratch, nvars * sizeof *l.nentries);
    for (uint32_t i = 0; i < nfuncs; i++)
        note_function(p, &l, i);
    note_tables(p, &l);
    if (nvars)
        memset(l.seen_var, 0, nvars * sizeof *l.seen_var);
    for (uint32_t i = 0; i < nfuncs; i++)
        if (p->funcs.at[i].is_entry)
            reach(p, &l, i);
    place_all(p, &l);

    p->module->extern_shared_align = 1;
    for (uint32_t i = 0; i < nvars; i++) {
        const struct ptx_var *var = &p->vars.at[i];
        if (var->space == SPACE_SHARED && var->is_extern &&
            var->align > p->module->extern_shared_align)
            p->module->extern_shared_align = var->align;
    }
}
