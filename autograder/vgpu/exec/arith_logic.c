// Logic and shifts (PTX ISA 9.7.8). Predicates are words of 0 or ~0, so that
// the 32-bit handlers serve them as well; `not` too.
#include "lanes.h"

BINARY(and_b32, u32, u32, u32, a & b)
BINARY(and_b64, u64, u64, u64, a & b)
BINARY(or_b32, u32, u32, u32, a | b)
BINARY(or_b64, u64, u64, u64, a | b)
BINARY(xor_b32, u32, u32, u32, a ^ b)
BINARY(xor_b64, u64, u64, u64, a ^ b)
UNARY(not_b32, u32, u32, ~a)
UNARY(not_b64, u64, u64, ~a)
UNARY(cnot_b16, u16, u16, a == 0)
UNARY(cnot_b32, u32, u32, a == 0)
UNARY(cnot_b64, u64, u64, a == 0)

// Counts past the width give 0, or the sign; amounts are unsigned.
BINARY(shl_b16, u16, u16, u32, b > 15 ? 0 : (uint32_t)a << (b & 15))
BINARY(shl_b32, u32, u32, u32, b > 31 ? 0 : a << (b & 31))
BINARY(shl_b64, u64, u64, u32, b > 63 ? 0 : a << (b & 63))
BINARY(shr_u16, u16, u16, u32, b > 15 ? 0 : a >> (b & 15))
BINARY(shr_u32, u32, u32, u32, b > 31 ? 0 : a >> (b & 31))
BINARY(shr_u64, u64, u64, u32, b > 63 ? 0 : a >> (b & 63))
BINARY(shr_s16, u16, s16, u32, a >> (b > 15 ? 15 : b))
BINARY(shr_s32, s32, s32, u32, a >> (b > 31 ? 31 : b))
BINARY(shr_s64, s64, s64, u32, a >> (b > 63 ? 63 : b))

// Funnel shifts: the high (l) or low (r) word of b:a shifted by c.
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n)
{
    uint64_t both = (uint64_t)b << 32 | a;
    return (uint32_t)(both << n >> 32);
}

static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}

TERNARY(shf_l_wrap_b32, u32, u32, u32, u32, funnel_left(a, b, c & 31))
TERNARY(shf_l_clamp_b32, u32, u32, u32, u32,
        funnel_left(a, b, c > 32 ? 32 : c))
TERNARY(shf_r_wrap_b32, u32, u32, u32, u32, funnel_right(a, b, c & 31))
TERNARY(shf_r_clamp_b32, u32, u32, u32, u32,
        funnel_right(a, b, c > 32 ? 32 : c))

// Any function of three bits: immLut bit 4a+2b+c, here as eight min-terms.
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t lut)
{
    uint32_t r = 0;
    for (uint32_t k = 0; k < 8; k++) {
        uint32_t term = (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        r |= term & -(lut >> k & 1);
    }
    return r;
}

TERNARY(lop3_b32, u32, u32, u32, u32, lop3(a, b, c, (uint32_t)i->imm))

// prmt: a byte of {b, a} for each nibble of the selector; bit 3 of the nibble
// spreads the byte's sign.
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint32_t nibble = selector >> 4 * k;
        uint32_t byte = (uint32_t)(bytes >> 8 * (nibble & 7)) & 0xff;
        if (nibble & 8)
            byte = byte & 0x80 ? 0xff : 0;
        r |= byte << 8 * k;
    }
    return r;
}

// The modes of prmt as selectors, by the two low bits of c.
static inline uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c,
                                    unsigned mode)
{
    static const uint16_t selectors[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, // f4e
        {0x5670, 0x6701, 0x7012, 0x0123}, // b4e
        {0x0000, 0x1111, 0x2222, 0x3333}, // rc8
        {0x3210, 0x3211, 0x3222, 0x3333}, // ecl
        {0x0000, 0x1110, 0x2210, 0x3210}, // ecr
        {0x1010, 0x3232, 0x1010, 0x3232}, // rc16
    };
    return permute(a, b, selectors[mode][c & 3]);
}

TERNARY(prmt_b32, u32, u32, u32, u32, permute(a, b, c))
TERNARY(prmt_f4e, u32, u32, u32, u32, permute_mode(a, b, c, 0))
TERNARY(prmt_b4e, u32, u32, u32, u32, permute_mode(a, b, c, 1))
TERNARY(prmt_rc8, u32, u32, u32, u32, permute_mode(a, b, c, 2))
TERNARY(prmt_ecl, u32, u32, u32, u32, permute_mode(a, b, c, 3))
TERNARY(prmt_ecr, u32, u32, u32, u32, permute_mode(a, b, c, 4))
TERNARY(prmt_rc16, u32, u32, u32, u32, permute_mode(a, b, c, 5))
