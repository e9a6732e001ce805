// Decodes loads, stores and atomics: the space, the address, the values.
#include <string.h>

#include "access.h"
#include "decode.h"

// ---- the address -----------------------------------------------------------

static enum access_space space_of(const char *opcode)
{
    if (opcode_has(opcode, "global") || opcode_has(opcode, "const"))
        return AT_GLOBAL;
    if (opcode_has(opcode, "shared") || opcode_has(opcode, "shared::cta") ||
        opcode_has(opcode, "shared::cluster"))
        return AT_SHARED;
    if (opcode_has(opcode, "local"))
        return AT_LOCAL;
    if (opcode_has(opcode, "param") || opcode_has(opcode, "param::entry") ||
        opcode_has(opcode, "param::func"))
        return AT_PARAM;
    return AT_GENERIC;
}

// Loads and atomics that may see what another thread writes meanwhile.
static bool may_poll(const char *opcode)
{
    static const char *const words[] = {"volatile", "relaxed", "acquire",
                                        "acq_rel", "sc", "mmio", "cv"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (opcode_has(opcode, words[k]))
            return true;
    return false;
}

// A parameter by name: its place is known, and so is that the access fits.
static bool decode_param(struct builder *b, struct inst *out,
                         const struct operand *o, uint64_t nbytes)
{
    const struct ptx_func *f = b->src;
    if (o->index >= b->f->nparams)
        return false;
    bool own = o->index < f->nparams;
    const struct ptx_var *v =
        own ? &f->params[o->index] : &f->call_params[o->index - f->nparams];
    if (o->bits < 0 || (uint64_t)o->bits > v->nbytes ||
        v->nbytes - (uint64_t)o->bits < nbytes)
        return false;
    bool kernels = own && f->is_entry;
    uint64_t at = kernels ? v->offset : b->f->param_at[o->index];
    out->imm = (int64_t)(at + (uint64_t)o->bits);
    out->flags = (out->flags & ~ACCESS_SPACE) |
                 (kernels ? AT_PARAM_HERE : AT_CALL_PARAM);
    return true;
}

// [base + offset] into out->a, imm and flags.
static bool decode_address(struct builder *b, struct inst *out,
                           const struct operand *o, uint64_t nbytes)
{
    struct operand base = *o;
    out->flags = space_of(out->src->opcode);
    if (opcode_has(out->src->opcode, "const"))
        out->flags |= ACCESS_CONST;
    if (o->kind != OPERAND_MEMORY || o->count > 0)
        return false;
    base.kind = o->mem_base;
    base.bits = 0;
    base.negated = base.has_second = false;
    if (o->mem_base == OPERAND_PARAM)
        return decode_param(b, out, o, nbytes);
    out->imm = o->bits;
    if (o->mem_base == OPERAND_REG && reg_size(b, o->reg) == 4) {
        out->flags |= ACCESS_ADDR32;
        out->a = row_of(b, &base, 'w');
        return true;
    }
    out->a = row_of(b, &base, 'l');
    // A generic access to a symbol of shared or local memory needs its window.
    if (o->mem_base == OPERAND_SYMBOL && o->index < b->code->module->nvars &&
        (out->flags & ACCESS_SPACE) == AT_GENERIC) {
        enum ptx_space space = b->code->module->vars[o->index].space;
        if (space == SPACE_SHARED)
            out->flags |= AT_SHARED;
        else if (space == SPACE_LOCAL)
            out->flags |= AT_LOCAL;
    }
    return true;
}

// ---- values ----------------------------------------------------------------

static unsigned vector_length(const char *opcode)
{
    return opcode_has(opcode, "v4") ? 4 : opcode_has(opcode, "v2") ? 2 : 1;
}

// Bytes of the type that ends an opcode: .b32 -> 4, .bf16x2 -> 4.
static unsigned type_bytes(const char *opcode)
{
    const char *type = strrchr(opcode, '.') + 1;
    if (strstr(type, "16x2"))
        return 4;
    if (strstr(type, "64"))
        return 8;
    return strstr(type, "32") ? 4 : strstr(type, "16") ? 2 : 1;
}

// Rows of the operand's n values, which lie in registers of one width at least
// as wide as the type.
static bool value_rows(struct builder *b, struct inst *out,
                       const struct operand *o, unsigned n, uint32_t *rows[4])
{
    const struct operand *values = o;
    unsigned bytes = type_bytes(out->src->opcode);
    if (n > 1) {
        if (o->kind != OPERAND_VECTOR || o->count != n ||
            o->index > b->src->npool || b->src->npool - o->index < n)
            return false;
        values = b->src->operand_pool + o->index;
    } else if (o->kind == OPERAND_VECTOR) {
        return false;
    }
    bool wide = bytes == 8;
    for (unsigned k = 0; k < n; k++)
        wide |= values[k].kind == OPERAND_REG && reg_size(b, values[k].reg) == 8;
    for (unsigned k = 0; k < n; k++) {
        if (values[k].kind == OPERAND_REG &&
            reg_size(b, values[k].reg) < bytes)
            return false;
        *rows[k] = row_of(b, &values[k], wide ? 'l' : 'w');
    }
    out->flags |= (wide ? ACCESS_WIDE : 0) | n << ACCESS_VECTOR_SHIFT;
    return true;
}

enum decoded decode_ld(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    uint32_t *rows[4] = {&out->d, &out->b, &out->c, &out->e};
    unsigned n = vector_length(src->opcode);
    if (src->noperands < 2 || src->noperands > 3)
        return MALFORMED; // a third is a cache policy
    const struct operand *d = &src->operands[0];
    bool good = decode_address(b, out, &src->operands[1],
                               (uint64_t)n * type_bytes(src->opcode)) &&
                value_rows(b, out, d, n, rows);
    for (unsigned k = 0; good && k < n; k++) {
        uint8_t kind =
            n > 1 ? b->src->operand_pool[d->index + k].kind : d->kind;
        good = kind == OPERAND_REG || kind == OPERAND_SINK;
    }
    if (may_poll(src->opcode))
        out->flags |= ACCESS_POLL | ACCESS_VOLATILE;
    return good ? DECODED : MALFORMED;
}

enum decoded decode_st(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    uint32_t *rows[4] = {&out->b, &out->c, &out->e, &out->d};
    unsigned n = vector_length(src->opcode);
    if (src->noperands < 2 || src->noperands > 3)
        return MALFORMED;
    bool good = decode_address(b, out, &src->operands[0],
                               (uint64_t)n * type_bytes(src->opcode)) &&
                value_rows(b, out, &src->operands[1], n, rows);
    if (opcode_has(src->opcode, "volatile") ||
        opcode_has(src->opcode, "relaxed") ||
        opcode_has(src->opcode, "release"))
        out->flags |= ACCESS_VOLATILE;
    return good ? DECODED : MALFORMED;
}

// ---- atomics -----------------------------------------------------------------

// Values in b and c, as wide as the type; the old one goes to d.
static enum decoded decode_atomic(struct builder *b, struct inst *out,
                                  unsigned first)
{
    const struct ptx_inst *src = out->src;
    unsigned nvalues = opcode_has(src->opcode, "cas") ? 2 : 1;
    unsigned bytes = type_bytes(src->opcode);
    // One more operand may be a cache policy.
    if (src->noperands != first + 1 + nvalues &&
        src->noperands != first + 2 + nvalues)
        return MALFORMED;
    char letter = bytes == 8 ? 'l' : bytes == 4 ? 'w' : 'h';
    const char *type = strrchr(src->opcode, '.') + 1;
    if (type[0] == 'f' && bytes >= 4 && !strstr(type, "x2"))
        letter = bytes == 8 ? 'd' : 'f';
    if (!decode_address(b, out, &src->operands[first], bytes))
        return MALFORMED;
    enum access_space space = out->flags & ACCESS_SPACE;
    if (space != AT_GLOBAL && space != AT_SHARED && space != AT_GENERIC)
        return MALFORMED;
    out->b = row_of(b, &src->operands[first + 1], letter);
    if (nvalues == 2)
        out->c = row_of(b, &src->operands[first + 2], letter);
    out->flags |= ACCESS_POLL | 1 << ACCESS_VECTOR_SHIFT;
    if (first == 0)
        return DECODED; // d is the scratch row
    const struct operand *d = &src->operands[0];
    out->d = row_of(b, d, letter);
    return d->kind == OPERAND_REG || d->kind == OPERAND_SINK ? DECODED
                                                             : MALFORMED;
}

enum decoded decode_atom(struct builder *b, struct inst *out)
{
    return decode_atomic(b, out, 1);
}

enum decoded decode_red(struct builder *b, struct inst *out)
{
    return decode_atomic(b, out, 0);
}
