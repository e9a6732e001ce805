// Decodes functions: one pass that gives every operand a row and every
// instruction a handler, then a second that resolves branches.
//
// Hidden instructions, which nobody counts, are put between the real ones:
// a join where paths meet, a guard before a predicated instruction, the
// reading of a clock, the negation of a predicate.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"

enum { MAX_FRAME = 32 << 20, MAX_PARAMS = 2 << 20, SCRATCH_ROW = 0 };

void *grow(void *array, uint32_t n, uint32_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    *cap = *cap ? *cap * 2 : 16;
    void *bigger = realloc(array, *cap * size);
    if (!bigger) {
        fputs("vgpu: out of memory while decoding\n", stderr);
        abort();
    }
    return bigger;
}

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size);
    if (!p) {
        fputs("vgpu: out of memory while decoding\n", stderr);
        abort();
    }
    return p;
}

// ---- rows ------------------------------------------------------------------

bool letter_is_wide(char letter)
{
    return letter == 'l' || letter == 'd';
}

uint32_t new_row(struct builder *b, bool wide)
{
    uint32_t row = b->f->frame_bytes;
    if (row > MAX_FRAME)
        return SCRATCH_ROW; // decode_function refuses the function
    b->f->frame_bytes += wide ? WIDE_ROW_BYTES : ROW_BYTES;
    return row;
}

unsigned reg_size(const struct builder *b, uint32_t reg)
{
    return reg < b->src->nregs ? ptx_type_size(b->src->regs[reg].type) : 16;
}

static uint32_t reg_row(struct builder *b, uint32_t reg, char letter)
{
    unsigned size = reg_size(b, reg);
    bool is_pred = reg < b->src->nregs && b->src->regs[reg].type == PTX_PRED;
    if (size > 8 || is_pred != (letter == 'p') ||
        (size == 8) != letter_is_wide(letter))
        return BAD_ROW;
    if (b->reg_row[reg] == 0)
        b->reg_row[reg] = new_row(b, size == 8);
    return b->reg_row[reg];
}

uint32_t constant_row(struct builder *b, enum constant_kind kind,
                      uint32_t index, uint64_t bits, bool wide)
{
    struct function *f = b->f;
    for (uint32_t k = 0; k < f->nconstants; k++) {
        const struct constant *c = &f->constants[k];
        if (c->kind == kind && c->index == index && c->bits == bits &&
            c->wide == wide)
            return c->row;
    }
    f->constants = grow(f->constants, f->nconstants, &b->cap_constants,
                        sizeof *f->constants);
    uint32_t row = new_row(b, wide);
    f->constants[f->nconstants++] =
        (struct constant){row, (uint8_t)kind, wide, index, bits};
    return row;
}

static uint32_t special_row(struct builder *b, const char *name, char letter)
{
    struct function *f = b->f;
    enum special s;
    if (!name || !special_find(name, &s))
        return BAD_ROW;
    bool wide = special_is_wide(s);
    if (letter == 'p' || (letter_is_wide(letter) && !wide))
        return BAD_ROW;
    if (special_is_dynamic(s)) {
        struct inst *i = emit_hidden(b, read_special);
        i->d = new_row(b, wide);
        i->imm = s;
        return i->d;
    }
    for (uint32_t k = 0; k < f->nspecials; k++)
        if (f->specials[k].special == s)
            return f->specials[k].row;
    f->specials =
        grow(f->specials, f->nspecials, &b->cap_specials, sizeof *f->specials);
    uint32_t row = new_row(b, wide);
    f->specials[f->nspecials++] = (struct special_use){row, (uint8_t)s};
    return row;
}

static uint32_t symbol_row(struct builder *b, const struct operand *o,
                           bool wide)
{
    const struct module *m = b->code->module;
    if (o->index >= m->nvars)
        return BAD_ROW;
    const struct ptx_var *v = &m->vars[o->index];
    uint64_t bits = v->offset + (uint64_t)o->bits;
    switch (v->space) {
    case SPACE_SHARED:
        if (v->is_extern)
            return constant_row(b, CONSTANT_DYNAMIC, 0, (uint64_t)o->bits,
                                wide);
        return constant_row(b, CONSTANT_SHARED, 0, bits, wide);
    case SPACE_LOCAL:
        return constant_row(b, CONSTANT_LOCAL, 0, bits, wide);
    default:
        return constant_row(b, CONSTANT_VAR, o->index, (uint64_t)o->bits, wide);
    }
}

static uint32_t float_row(struct builder *b, const struct operand *o,
                          char letter)
{
    uint64_t bits = (uint64_t)o->bits;
    if (letter == 'f' && o->kind == OPERAND_F64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        float narrow = (float)value;
        uint32_t word;
        memcpy(&word, &narrow, sizeof word);
        bits = word;
    } else if (letter == 'd' && o->kind == OPERAND_INT) {
        double value = (double)o->bits; // `fma.rn.f64 d, a, b, 1`
        memcpy(&bits, &value, sizeof bits);
    } else if (letter == 'f' && o->kind == OPERAND_INT) {
        float value = (float)o->bits;
        uint32_t word;
        memcpy(&word, &value, sizeof word);
        bits = word;
    }
    return constant_row(b, CONSTANT_BITS, 0, bits, letter_is_wide(letter));
}

// The row for a predicate operand `!p`, or for `p`.
static uint32_t predicate_row(struct builder *b, const struct operand *o)
{
    uint32_t row = BAD_ROW;
    if (o->kind == OPERAND_REG)
        row = reg_row(b, o->reg, 'p');
    else if (o->kind == OPERAND_INT)
        row = constant_row(b, CONSTANT_BITS, 0, o->bits ? ALL_LANES : 0, false);
    if (row == BAD_ROW || !o->negated)
        return row;
    struct inst *i = emit_hidden(b, negate_row);
    i->a = row;
    i->d = new_row(b, false);
    return i->d;
}

static uint32_t any_row(struct builder *b, const struct operand *o, char letter)
{
    bool wide = letter_is_wide(letter);
    if (letter == 'p' && o->kind != OPERAND_SINK)
        return predicate_row(b, o);
    if (o->negated && o->kind == OPERAND_REG)
        return BAD_ROW;
    switch (o->kind) {
    case OPERAND_REG:
        return reg_row(b, o->reg, letter);
    case OPERAND_SINK:
        return SCRATCH_ROW;
    case OPERAND_INT:
        if (letter == 'f' || letter == 'd')
            return float_row(b, o, letter);
        return constant_row(b, CONSTANT_BITS, 0,
                            wide ? (uint64_t)o->bits : (uint32_t)o->bits, wide);
    case OPERAND_F32:
    case OPERAND_F64:
        return float_row(b, o, letter);
    case OPERAND_SPECIAL:
        return special_row(b, o->text, letter);
    case OPERAND_SYMBOL:
        return symbol_row(b, o, wide);
    case OPERAND_FUNC:
        return constant_row(b, CONSTANT_BITS, 0, code_func_address(o->index),
                            wide);
    case OPERAND_PARAM: // where a kernel's parameter lies in the window
        if (!b->src->is_entry || o->index >= b->src->nparams)
            return BAD_ROW;
        return constant_row(b, CONSTANT_BITS, 0,
                            b->src->params[o->index].offset + (uint64_t)o->bits,
                            wide);
    default:
        return BAD_ROW;
    }
}

uint32_t row_of(struct builder *b, const struct operand *o, char letter)
{
    uint32_t row = any_row(b, o, letter);
    if (row == BAD_ROW) {
        b->bad = true;
        return SCRATCH_ROW;
    }
    return row;
}

uint32_t second_row(struct builder *b, const struct operand *o, char letter)
{
    if (!o->has_second)
        return SCRATCH_ROW;
    uint32_t row = reg_row(b, o->reg2, letter);
    if (row == BAD_ROW)
        b->bad = true;
    return row == BAD_ROW ? SCRATCH_ROW : row;
}

bool decode_rows(struct builder *b, struct inst *out, const char *signature)
{
    const struct ptx_inst *src = out->src;
    uint32_t *sources[4] = {&out->a, &out->b, &out->c, &out->e};
    size_t n = strlen(signature);
    bool has_dest = signature[0] != '-';
    if (src->noperands != n - !has_dest || n > 5)
        return false;
    for (size_t k = has_dest ? 1 : 0; k < src->noperands; k++)
        *sources[k - has_dest] =
            row_of(b, &src->operands[k], signature[k + !has_dest]);
    if (has_dest) {
        const struct operand *d = &src->operands[0];
        if (d->kind != OPERAND_REG && d->kind != OPERAND_SINK)
            return false;
        out->d = row_of(b, d, signature[0]);
        out->d2 = second_row(b, d, 'p');
    }
    return !b->bad;
}

// ---- instructions ----------------------------------------------------------

struct inst *emit(struct builder *b, const struct inst *i)
{
    struct function *f = b->f;
    f->insts = grow(f->insts, f->ninsts, &b->cap_insts, sizeof *f->insts);
    f->insts[f->ninsts] = *i;
    return &f->insts[f->ninsts++];
}

struct inst *emit_hidden(struct builder *b, handler *fn)
{
    uint32_t at = b->f->ninsts;
    struct inst hidden = {.fn = {fn, fn}, .id = b->code->module->ninsts};
    hidden.src = at > 0 ? b->f->insts[at - 1].src : NULL;
    return emit(b, &hidden);
}

// A path stops or waits in these: a guard parts the lanes as a branch does.
static bool parts_lanes(const struct op *op)
{
    return op->fn[0] == op->fn[1] && op->pipe != PIPE_LSU;
}

static void emit_guarded(struct builder *b, const struct inst *out,
                         const struct op *op)
{
    const struct ptx_inst *src = out->src;
    struct operand guard = {.kind = OPERAND_REG, .reg = (uint32_t)src->guard};
    uint32_t row = row_of(b, &guard, 'p');
    bool parts = op && parts_lanes(op);
    struct inst *i = emit_hidden(b, parts ? guard_branch : guard_next);
    i->src = src;
    i->a = row;
    i->flags = src->guard_negated ? BRANCH_NEGATED : 0;
    if (!parts) {
        i->id = src->id; // counted here, its successor runs within
        emit(b, out);
        return;
    }
    i->imm = i->c = 2; // past the instruction, where the lanes meet again
    emit(b, out);
    emit_hidden(b, join_paths);
}

static enum decoded try_row(struct builder *b, struct inst *out, int row)
{
    const struct op *op = &b->code->ops[row];
    b->bad = false;
    out->op = (uint16_t)row;
    out->fn[0] = op->fn[0];
    out->fn[1] = op->fn[1];
    decoder *decode =
        op->signature[0] == '*' ? decoder_find(op->signature + 1) : NULL;
    enum decoded d;
    if (decode)
        d = decode(b, out);
    else
        d = decode_rows(b, out, op->signature) ? DECODED : MALFORMED;
    return b->bad ? MALFORMED : d;
}

// opcode_find from the table's start, for the few words of which a module has
// thousands. The module keeps each spelling once.
static int find_first(struct builder *b, const char *opcode, uint16_t *flags)
{
    struct found_row *f = &b->found[((uintptr_t)opcode >> 3) % FOUND_ROWS];
    if (f->opcode != opcode) {
        f->opcode = opcode;
        f->row = opcode_find(opcode, 0, &f->flags);
    }
    *flags = f->flags;
    return f->row;
}

static void decode_inst(struct builder *b, const struct ptx_inst *src)
{
    struct inst out = {0};
    const struct op *op = NULL;
    enum decoded d = NOT_MINE;
    for (int row = 0; d == NOT_MINE; row++) {
        out = (struct inst){.src = src, .id = src->id};
        row = row == 0 ? find_first(b, src->opcode, &out.flags)
                       : opcode_find(src->opcode, row, &out.flags);
        if (row < 0)
            break;
        op = &b->code->ops[row];
        d = try_row(b, &out, row);
    }
    if (d != DECODED)
        out.fn[0] = out.fn[1] = op ? malformed : unsupported;
    bool is_branch = d == DECODED && op->fn[0] == bra;
    if (src->guard != PTX_NO_GUARD && !is_branch)
        emit_guarded(b, &out, op);
    else
        emit(b, &out);
    if (d == DECODED && op->fn[0] == call)
        emit_hidden(b, join_paths); // lanes that called different functions
}

// Marks where paths meet, but for ends of functions: returning lanes meet at
// the call, exiting ones nowhere.
static void mark_joins(struct builder *b)
{
    const struct ptx_func *f = b->src;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        uint32_t at = f->insts[k].reconverge;
        if (at == 0 || at >= f->ninsts)
            continue;
        const struct ptx_inst *there = &f->insts[at];
        bool ends = strcmp(there->opcode, "ret") == 0 ||
                    strcmp(there->opcode, "exit") == 0;
        if (!ends || there->guard != PTX_NO_GUARD)
            b->joins[at] = 1;
    }
}

static void resolve_branches(struct builder *b)
{
    struct function *f = b->f;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        struct inst *i = &f->insts[k];
        if (i->fn[0] != bra && i->fn[0] != brx)
            continue;
        uint32_t meet = i->src->reconverge;
        i->c = NO_JOIN;
        if (meet < b->src->ninsts && b->joins[meet])
            i->c = f->start[meet] - k;
        if (i->fn[0] != bra)
            continue;
        i->imm = (int64_t)f->start[i->imm] - k;
        if (i->imm <= 0)
            i->flags |= BRANCH_BACK;
    }
}

// A frame has the function's own parameters, then those of its calls.
static void place_params(struct builder *b)
{
    const struct ptx_func *src = b->src;
    struct function *f = b->f;
    uint64_t end = 0, own = 0;
    f->nparams = src->nparams + src->ncall_params;
    f->param_at = zeroed(f->nparams, sizeof *f->param_at);
    for (uint32_t k = 0; k < f->nparams; k++) {
        const struct ptx_var *v = k < src->nparams
                                      ? &src->params[k]
                                      : &src->call_params[k - src->nparams];
        if (k == src->nparams)
            own = (end + 15) & ~UINT64_C(15);
        f->param_at[k] = (uint32_t)(own + v->offset);
        uint64_t past = own + v->offset + v->nbytes;
        end = past > end ? past : end;
    }
    end = (end + 15) & ~UINT64_C(15);
    f->param_stride = end > MAX_PARAMS ? MAX_PARAMS + 16 : (uint32_t)end;
}

static void refuse(struct builder *b)
{
    b->f->ninsts = 0;
    b->f->frame_bytes = WIDE_ROW_BYTES;
    struct inst *i = emit_hidden(b, unsupported);
    i->src = &b->src->insts[0]; // only a function with some is so large
}

static void decode_function(struct code *code, uint32_t index,
                            struct found_row *found)
{
    struct function *f = &code->functions[index];
    const struct ptx_func *src = &code->module->funcs[index];
    struct builder b = {.code = code, .f = f, .src = src, .found = found};
    f->code = code;
    f->src = src;
    f->frame_bytes = WIDE_ROW_BYTES; // the scratch row
    if (src->ninsts == 0 && !src->is_entry)
        return;
    b.reg_row = zeroed(src->nregs, sizeof *b.reg_row);
    b.joins = zeroed(src->ninsts, 1);
    f->start = zeroed(src->ninsts + 1, sizeof *f->start);
    place_params(&b);
    mark_joins(&b);
    for (uint32_t k = 0; k < src->ninsts; k++) {
        f->start[k] = f->ninsts;
        if (b.joins[k])
            emit_hidden(&b, join_paths);
        decode_inst(&b, &src->insts[k]);
    }
    f->start[src->ninsts] = f->ninsts;
    emit_hidden(&b, ret);
    resolve_branches(&b);
    if (f->frame_bytes > MAX_FRAME || f->param_stride > MAX_PARAMS)
        refuse(&b);
    free(b.reg_row);
    free(b.joins);
}

// ---- code --------------------------------------------------------------------

bool code_use_avx2 = true; // tests try both builds of the handlers

static const struct op *ops_for_this_cpu(void)
{
#ifdef __x86_64__
    if (code_use_avx2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("f16c"))
        return ops_avx2;
#endif
    return ops_base;
}

struct code *code_new(const struct module *module, const struct gpu_model *gpu)
{
    struct code *code = zeroed(1, sizeof *code);
    code->module = module;
    code->gpu = gpu;
    code->ops = ops_for_this_cpu();
    code->heap = heap_new();
    code->functions = zeroed(module->nfuncs, sizeof *code->functions);
    struct found_row *found = zeroed(FOUND_ROWS, sizeof *found);
    for (uint32_t k = 0; k < module->nfuncs; k++)
        decode_function(code, k, found);
    free(found);
    return code;
}

static void free_function(struct function *f)
{
    for (uint32_t k = 0; k < f->ncalls; k++) {
        free(f->calls[k].args);
        free(f->calls[k].results);
    }
    free(f->calls);
    free(f->param_at);
    free(f->start);
    free(f->constants);
    free(f->specials);
    free(f->insts);
}

void code_free(struct code *code)
{
    if (!code)
        return;
    for (uint32_t k = 0; k < code->module->nfuncs; k++)
        free_function(&code->functions[k]);
    free(code->functions);
    heap_free(code->heap);
    free(code);
}
