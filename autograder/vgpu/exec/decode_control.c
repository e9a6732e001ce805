// Decodes branches, calls and barriers.
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "sync.h"

// The target is an instruction of the PTX until resolve_branches.
enum decoded decode_bra(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (src->noperands != 1 || src->operands[0].kind != OPERAND_LABEL ||
        src->operands[0].index > b->src->ninsts)
        return MALFORMED;
    out->imm = src->operands[0].index;
    out->flags = 0;
    if (src->guard == PTX_NO_GUARD)
        return DECODED;
    struct operand guard = {.kind = OPERAND_REG, .reg = (uint32_t)src->guard};
    out->a = row_of(b, &guard, 'p');
    out->flags = BRANCH_GUARDED | (src->guard_negated ? BRANCH_NEGATED : 0);
    return DECODED;
}

// brx.idx a, table: imm is the table.
enum decoded decode_brx(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (src->noperands != 2 || src->operands[1].kind != OPERAND_TABLE ||
        src->operands[1].index >= b->src->ntables)
        return MALFORMED;
    const struct ptx_table *table = &b->src->tables[src->operands[1].index];
    for (uint32_t k = 0; k < table->ntargets; k++)
        if (table->is_calls || table->targets[k] > b->src->ninsts)
            return MALFORMED;
    out->imm = src->operands[1].index;
    out->a = row_of(b, &src->operands[0], 'w');
    return DECODED;
}

// The parameters that a list names, as indices of function.param_at.
static bool decode_list(struct builder *b, const struct operand *o,
                        uint32_t **params, uint32_t *n)
{
    if (o->index > b->src->npool || b->src->npool - o->index < o->count)
        return false;
    uint32_t cap = 0;
    for (uint32_t k = 0; k < o->count; k++) {
        const struct operand *p = &b->src->operand_pool[o->index + k];
        if (p->kind != OPERAND_PARAM || p->index >= b->f->nparams)
            return false;
        *params = grow(*params, *n, &cap, sizeof **params);
        (*params)[(*n)++] = p->index;
    }
    return true;
}

static bool decode_callee(struct builder *b, struct inst *out,
                          const struct operand *o, struct call_site *site)
{
    if (o->kind == OPERAND_FUNC) {
        site->func = o->index;
        return o->index < b->code->module->nfuncs;
    }
    site->func = ANY_FUNC;
    out->a = row_of(b, o, 'l');
    return o->kind == OPERAND_REG;
}

// call (results), callee, (arguments), prototype: imm is the call site.
enum decoded decode_call(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    struct function *f = b->f;
    struct call_site site = {0};
    unsigned k = 0;
    bool good = true;
    if (k < src->noperands && src->operands[k].kind == OPERAND_LIST)
        good = decode_list(b, &src->operands[k++], &site.results,
                           &site.nresults);
    good = good && k < src->noperands &&
           decode_callee(b, out, &src->operands[k++], &site);
    if (good && k < src->noperands && src->operands[k].kind == OPERAND_LIST)
        good = decode_list(b, &src->operands[k++], &site.args, &site.nargs);
    f->calls = grow(f->calls, f->ncalls, &b->cap_calls, sizeof *f->calls);
    out->imm = f->ncalls;
    f->calls[f->ncalls++] = site;
    b->code->calls_functions = true;
    return good ? DECODED : MALFORMED;
}

// bar.sync a{, b}; bar.arrive a, b: rows a and b, 0 threads for all.
enum decoded decode_bar(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (src->noperands < 1 || src->noperands > 2)
        return MALFORMED;
    out->flags = strncmp(src->opcode, "bar.", 4) == 0 ||
                         opcode_has(src->opcode, "aligned")
                     ? BAR_ALIGNED : 0;
    out->a = row_of(b, &src->operands[0], 'w');
    if (src->noperands == 2) {
        out->b = row_of(b, &src->operands[1], 'w');
        out->flags |= BAR_COUNTED;
    }
    return DECODED;
}

// bar.red.op.type d, a{, b}, {!}c
enum decoded decode_bar_red(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (src->noperands < 3 || src->noperands > 4)
        return MALFORMED;
    bool popc = opcode_has(src->opcode, "popc");
    out->flags = popc ? BAR_POPC
                      : opcode_has(src->opcode, "and") ? BAR_AND : BAR_OR;
    if (strncmp(src->opcode, "bar.", 4) == 0 ||
        opcode_has(src->opcode, "aligned"))
        out->flags |= BAR_ALIGNED;
    out->a = row_of(b, &src->operands[1], 'w');
    if (src->noperands == 4) {
        out->b = row_of(b, &src->operands[2], 'w');
        out->flags |= BAR_COUNTED;
    }
    out->c = row_of(b, &src->operands[src->noperands - 1], 'p');
    out->d = row_of(b, &src->operands[0], popc ? 'w' : 'p');
    return src->operands[0].kind == OPERAND_REG ? DECODED : MALFORMED;
}

struct sync_form {
    const char *base, *mode;
    int64_t code;
    const char *signature;
};
static const struct sync_form sync_forms[] = {
    {"shfl", "up", SHFL_UP, "wwwww"},
    {"shfl", "down", SHFL_DOWN, "wwwww"},
    {"shfl", "bfly", SHFL_BFLY, "wwwww"},
    {"shfl", "idx", SHFL_IDX, "wwwww"},
    {"vote", "all", VOTE_ALL, "ppw"},
    {"vote", "any", VOTE_ANY, "ppw"},
    {"vote", "uni", VOTE_UNI, "ppw"},
    {"vote", "ballot", VOTE_BALLOT, "wpw"},
    {"match", "any.sync.b32", MATCH_ANY, "www"},
    {"match", "all.sync.b32", MATCH_ALL, "www"},
    {"match", "any.sync.b64", MATCH_ANY64, "wlw"},
    {"match", "all.sync.b64", MATCH_ALL64, "wlw"},
    {"redux", "add", REDUX_ADD, "www"},
    {"redux", "min.u32", REDUX_MIN_U, "www"},
    {"redux", "min.s32", REDUX_MIN_S, "www"},
    {"redux", "max.u32", REDUX_MAX_U, "www"},
    {"redux", "max.s32", REDUX_MAX_S, "www"},
    {"redux", "and", REDUX_AND, "www"},
    {"redux", "or", REDUX_OR, "www"},
    {"redux", "xor", REDUX_XOR, "www"},
    {"elect", "sync", ELECT, "ww"},
    {"bar", "warp", BAR_WARP, "-w"},
};

enum decoded decode_sync(struct builder *b, struct inst *out)
{
    const char *opcode = out->src->opcode;
    size_t base = strcspn(opcode, ".");
    for (size_t k = 0; k < sizeof sync_forms / sizeof *sync_forms; k++) {
        const struct sync_form *f = &sync_forms[k];
        if (strlen(f->base) != base || memcmp(opcode, f->base, base) != 0 ||
            !opcode_has(opcode, f->mode))
            continue;
        out->imm = f->code;
        return decode_rows(b, out, f->signature) ? DECODED : MALFORMED;
    }
    return MALFORMED;
}

enum decoded decode_none(struct builder *b, struct inst *out)
{
    (void)b;
    return out->src->noperands == 0 ? DECODED : MALFORMED;
}

// Hints: whatever the operands are, nothing is done with them.
enum decoded decode_nothing(struct builder *b, struct inst *out)
{
    (void)b;
    (void)out;
    return DECODED;
}
