// Decoders of the families whose operands do not follow a plain signature:
// comparisons, moves, carries. Memory and control: decode_memory.c and
// decode_control.c.
#include <string.h>

#include "compare.h"
#include "decode.h"

// ---- comparisons -------------------------------------------------------------

struct compare_word {
    const char *word;
    enum compare code;
};
static const struct compare_word compare_words[] = {
    {"eq", COMPARE_EQ},   {"ne", COMPARE_NE},   {"lt", COMPARE_LT},
    {"le", COMPARE_LE},   {"gt", COMPARE_GT},   {"ge", COMPARE_GE},
    {"lo", COMPARE_LT},   {"ls", COMPARE_LE},   {"hi", COMPARE_GT},
    {"hs", COMPARE_GE},   {"equ", COMPARE_EQU}, {"neu", COMPARE_NEU},
    {"ltu", COMPARE_LTU}, {"leu", COMPARE_LEU}, {"gtu", COMPARE_GTU},
    {"geu", COMPARE_GEU}, {"num", COMPARE_NUM}, {"nan", COMPARE_NAN},
};

static bool decode_comparison(struct inst *out)
{
    const char *opcode = out->src->opcode;
    bool found = false;
    size_t n = sizeof compare_words / sizeof *compare_words;
    for (size_t k = 0; k < n; k++) {
        if (!opcode_has(opcode, compare_words[k].word))
            continue;
        out->imm = compare_words[k].code;
        found = true;
    }
    out->flags &= F_FTZ;
    if (opcode_has(opcode, "and"))
        out->flags |= COMPARE_AND;
    else if (opcode_has(opcode, "or"))
        out->flags |= COMPARE_OR;
    else if (opcode_has(opcode, "xor"))
        out->flags |= COMPARE_XOR;
    return found;
}

// The letter of the type that ends the opcode.
static char last_letter(const char *opcode)
{
    const char *type = strrchr(opcode, '.') + 1;
    if (strcmp(type, "f32") == 0)
        return 'f';
    if (strcmp(type, "f64") == 0)
        return 'd';
    return strstr(type, "64") ? 'l' : strstr(type, "32") ? 'w' : 'h';
}

static bool compare_sources(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    bool combines = out->flags & COMPARE_BOOL;
    if (src->noperands != 3u + combines)
        return false;
    char letter = last_letter(src->opcode);
    out->a = row_of(b, &src->operands[1], letter);
    out->b = row_of(b, &src->operands[2], letter);
    if (combines)
        out->c = row_of(b, &src->operands[3], 'p');
    return true;
}

static enum decoded decode_setp(struct builder *b, struct inst *out)
{
    const struct operand *d = out->src->operands;
    if (!decode_comparison(out) || !compare_sources(b, out))
        return MALFORMED;
    out->d = row_of(b, d, 'p');
    out->d2 = second_row(b, d, 'p');
    if (d->has_second)
        out->flags |= COMPARE_TWO;
    bool good = d->kind == OPERAND_REG || d->kind == OPERAND_SINK;
    return good ? DECODED : MALFORMED;
}

static enum decoded decode_set(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (!decode_comparison(out) || !compare_sources(b, out))
        return MALFORMED;
    out->d = row_of(b, &src->operands[0], 'w');
    const char *compared = strrchr(src->opcode, '.');
    if (compared - src->opcode >= 4 && memcmp(compared - 4, ".f32", 4) == 0)
        out->flags |= COMPARE_TO_FLOAT;
    return src->operands[0].kind == OPERAND_REG ? DECODED : MALFORMED;
}

// ---- moves ---------------------------------------------------------------------

static unsigned type_bits(const char *opcode)
{
    const char *type = strrchr(opcode, '.') + 1;
    return strstr(type, "64") ? 64 : strstr(type, "32") ? 32 : 16;
}

static char bits_letter(unsigned bits)
{
    return bits == 64 ? 'l' : bits == 32 ? 'w' : 'h';
}

static enum decoded decode_mov(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    char letter = last_letter(src->opcode);
    const char signature[3] = {letter, letter, 0};
    if (src->noperands == 2 && (src->operands[0].kind == OPERAND_VECTOR ||
                                src->operands[1].kind == OPERAND_VECTOR))
        return NOT_MINE; // the rows that pack and unpack follow
    return decode_rows(b, out, signature) ? DECODED : MALFORMED;
}

// The elements of a {vector} operand, NULL unless it is one of `n`.
static const struct operand *vector_of(const struct builder *b,
                                       const struct operand *o, uint32_t n)
{
    if (o->kind != OPERAND_VECTOR || o->count != n ||
        o->index > b->src->npool || b->src->npool - o->index < n)
        return NULL;
    return b->src->operand_pool + o->index;
}

// mov d, {a, b}: the row's handler packs n elements.
static enum decoded decode_pack(struct builder *b, struct inst *out,
                                uint32_t n)
{
    const struct ptx_inst *src = out->src;
    uint32_t *rows[4] = {&out->a, &out->b, &out->c, &out->e};
    unsigned bits = type_bits(src->opcode);
    const struct operand *from =
        src->noperands == 2 ? vector_of(b, &src->operands[1], n) : NULL;
    if (!from)
        return NOT_MINE;
    for (uint32_t k = 0; k < n; k++)
        *rows[k] = row_of(b, &from[k], bits_letter(bits / n));
    out->d = row_of(b, &src->operands[0], bits_letter(bits));
    return src->operands[0].kind == OPERAND_REG ? DECODED : MALFORMED;
}

static enum decoded decode_pack2(struct builder *b, struct inst *out)
{
    return decode_pack(b, out, 2);
}

static enum decoded decode_pack4(struct builder *b, struct inst *out)
{
    return decode_pack(b, out, 4);
}

// mov {d, d2, b, c}, a
static enum decoded decode_unpack(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    uint32_t *rows[4] = {&out->d, &out->d2, &out->b, &out->c};
    unsigned bits = type_bits(src->opcode);
    if (src->noperands != 2 || src->operands[0].kind != OPERAND_VECTOR)
        return NOT_MINE;
    uint32_t n = src->operands[0].count;
    const struct operand *to = vector_of(b, &src->operands[0], n);
    if (!to || (n != 2 && n != 4) || bits / n < 8)
        return MALFORMED;
    for (uint32_t k = 0; k < n; k++) {
        if (to[k].kind != OPERAND_REG && to[k].kind != OPERAND_SINK)
            return MALFORMED;
        *rows[k] = row_of(b, &to[k], bits_letter(bits / n));
    }
    out->a = row_of(b, &src->operands[1], bits_letter(bits));
    out->imm = n;
    out->flags = (uint16_t)(bits / n);
    return DECODED;
}

static enum decoded decode_lop3(struct builder *b, struct inst *out)
{
    struct ptx_inst src = *out->src;
    const struct operand *lut = &src.operands[4];
    if (src.noperands != 5 || lut->kind != OPERAND_INT)
        return MALFORMED;
    out->imm = lut->bits & 0xff;
    src.noperands = 4;
    const struct ptx_inst *whole = out->src;
    out->src = &src;
    bool good = decode_rows(b, out, "wwww");
    out->src = whole;
    return good ? DECODED : MALFORMED;
}

// ---- addresses -------------------------------------------------------------------

static uint64_t window_of(const char *opcode)
{
    if (opcode_has(opcode, "shared") || opcode_has(opcode, "shared::cta") ||
        opcode_has(opcode, "shared::cluster"))
        return VGPU_SHARED_WINDOW;
    if (opcode_has(opcode, "local"))
        return VGPU_LOCAL_WINDOW;
    if (opcode_has(opcode, "param") || opcode_has(opcode, "param::entry"))
        return VGPU_PARAM_WINDOW;
    return 0;
}

static enum decoded decode_cvta(struct builder *b, struct inst *out)
{
    out->imm = (int64_t)window_of(out->src->opcode);
    return decode_rows(b, out, "ll") ? DECODED : MALFORMED;
}

static enum decoded decode_isspacep(struct builder *b, struct inst *out)
{
    out->imm = (int64_t)window_of(out->src->opcode);
    return decode_rows(b, out, "pl") ? DECODED : MALFORMED;
}

// ---- carries -----------------------------------------------------------------------

// CC.CF is a row of its own, of words 0 and 1.
static enum decoded decode_carry(struct builder *b, struct inst *out)
{
    char signature[5] = {0};
    unsigned n = out->src->noperands;
    if (n != 3 && n != 4)
        return MALFORMED;
    memset(signature, type_bits(out->src->opcode) == 64 ? 'l' : 'w', n);
    if (b->carry_row == 0)
        b->carry_row = new_row(b, false);
    bool is_mad = strncmp(out->src->opcode, "mad", 3) == 0;
    bool good = decode_rows(b, out, signature);
    out->d2 = b->carry_row;
    return good && is_mad == (n == 4) ? DECODED : MALFORMED;
}

// ---- the list ------------------------------------------------------------------------

// ---- conversions -------------------------------------------------------------

// cvt.s64.s8 and the like may take the low bits of a 64-bit register.
static enum decoded decode_cvt_wide(struct builder *b, struct inst *out)
{
    const struct ptx_inst *src = out->src;
    if (src->noperands != 2 || src->operands[1].kind != OPERAND_REG ||
        reg_size(b, src->operands[1].reg) != 8)
        return NOT_MINE;
    return decode_rows(b, out, "ll") ? DECODED : MALFORMED;
}

struct named_decoder {
    const char *name;
    decoder *decode;
};
static const struct named_decoder decoders[] = {
    {"setp", decode_setp},       {"set", decode_set},
    {"mov", decode_mov},         {"pack2", decode_pack2},
    {"pack4", decode_pack4},     {"unpack", decode_unpack},
    {"lop3", decode_lop3},       {"cvta", decode_cvta},
    {"isspacep", decode_isspacep}, {"carry", decode_carry},
    {"ld", decode_ld},           {"st", decode_st},
    {"atom", decode_atom},       {"red", decode_red},
    {"bra", decode_bra},         {"brx", decode_brx},
    {"call", decode_call},       {"bar", decode_bar},
    {"bar_red", decode_bar_red}, {"none", decode_none},
    {"sync", decode_sync},       {"cvt_wide", decode_cvt_wide},
    {"nothing", decode_nothing}, {"nanosleep", decode_nothing},
};

decoder *decoder_find(const char *name)
{
    for (size_t k = 0; k < sizeof decoders / sizeof *decoders; k++)
        if (strcmp(decoders[k].name, name) == 0)
            return decoders[k].decode;
    return NULL;
}
