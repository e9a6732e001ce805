// Integer arithmetic (PTX ISA 9.7.1) and extended precision (9.7.2).
#include "lanes.h"

// ---- helpers: a lane's value -----------------------------------------------

static inline uint32_t add_sat(uint32_t a, uint32_t b)
{
    int64_t sum = (int64_t)(int32_t)a + (int32_t)b;
    sum = sum > INT32_MAX ? INT32_MAX : sum;
    return (uint32_t)(sum < INT32_MIN ? INT32_MIN : sum);
}

static inline uint32_t sub_sat(uint32_t a, uint32_t b)
{
    int64_t sum = (int64_t)(int32_t)a - (int32_t)b;
    sum = sum > INT32_MAX ? INT32_MAX : sum;
    return (uint32_t)(sum < INT32_MIN ? INT32_MIN : sum);
}

// Applies 16-bit `op` to both halves.
#define HALVES(T, op)                                                          \
    ((uint32_t)(uint16_t)op((T)a, (T)b) |                                      \
     (uint32_t)(uint16_t)op((T)(a >> 16), (T)(b >> 16)) << 16)
#define ADD(x, y) ((x) + (y))
#define MIN(x, y) ((x) < (y) ? (x) : (y))
#define MAX(x, y) ((x) > (y) ? (x) : (y))

static inline uint64_t mul_hi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

static inline uint64_t mul_hi_s64(int64_t a, int64_t b)
{
    return (uint64_t)((__int128)a * b >> 64);
}

static inline uint32_t mul_hi_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

static inline uint32_t mul_hi_s32(int32_t a, int32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)a * b) >> 32);
}

// Division as NVIDIA's hardware answers it: all ones for x / 0, the dividend
// for x % 0; the least negative number over -1 is itself.
#define DIVISION(T, U, OVERFLOWS)                                              \
    static inline U div_##T(VALUE_##T a, VALUE_##T b)                          \
    {                                                                          \
        if (b == 0)                                                            \
            return (U)~(U)0;                                                   \
        return OVERFLOWS ? (U)(0 - (U)a) : (U)(a / b);                         \
    }                                                                          \
    static inline U rem_##T(VALUE_##T a, VALUE_##T b)                          \
    {                                                                          \
        if (b == 0)                                                            \
            return (U)a;                                                       \
        return OVERFLOWS ? 0 : (U)(a % b);                                     \
    }
DIVISION(u16, uint16_t, false)
DIVISION(u32, uint32_t, false)
DIVISION(u64, uint64_t, false)
DIVISION(s16, uint16_t, b == -1)
DIVISION(s32, uint32_t, b == -1)
DIVISION(s64, uint64_t, b == -1)

static inline uint32_t reverse32(uint32_t x)
{
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}

// Position of the highest bit that differs from the sign, or all ones.
static inline uint32_t find_high(uint64_t x)
{
    return x == 0 ? UINT32_MAX : 63 - (uint32_t)__builtin_clzll(x);
}

static inline uint32_t find_shift(uint64_t x, unsigned width)
{
    return x == 0 ? UINT32_MAX : width - 1 - find_high(x);
}

static inline uint64_t low_bits(uint32_t n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

// bfe: a field of `len` bits from bit `pos` on; past the top the sign (or 0)
// is repeated. The 32-bit forms take both modulo 256, as the PTX ISA says;
// hardware does not in the 64-bit ones.
static inline uint64_t extract(uint64_t a, uint32_t pos, uint32_t len,
                               unsigned width, bool is_signed)
{
    uint64_t field = pos >= width ? 0 : a >> pos & low_bits(len);
    if (!is_signed || len == 0)
        return field;
    uint64_t end = (uint64_t)pos + len - 1;
    unsigned top = end < width - 1 ? (unsigned)end : width - 1;
    if (!(a >> top & 1))
        return field;
    uint32_t have = pos >= width ? 0 : width - pos < len ? width - pos : len;
    return field | ~low_bits(have);
}

// bfi: b with `len` bits of a from bit `pos` on.
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t pos,
                              uint32_t len, unsigned width)
{
    if (pos >= width)
        return b;
    uint64_t field = low_bits(len) << pos;
    return (b & ~field) | (a << pos & field);
}

static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t offset)
{
    if (base > 31)
        return UINT32_MAX;
    if (offset == 0)
        return mask >> base & 1 ? base : UINT32_MAX;
    int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return UINT32_MAX;
}

// bmsk and szext: clamp takes widths past 32 as 32, wrap modulo 32.
static inline uint32_t bit_mask(uint32_t pos, uint32_t len)
{
    if (pos > 31)
        return 0;
    return (uint32_t)(low_bits(len > 32 ? 32 : len) << pos);
}

static inline uint32_t sign_extend(uint32_t a, uint32_t n, bool is_signed)
{
    if (n >= 32)
        return a;
    if (n == 0)
        return 0;
    uint32_t low = a & (uint32_t)low_bits(n);
    return is_signed && a >> (n - 1) & 1 ? low | ~(uint32_t)low_bits(n) : low;
}

static inline int32_t byte_of(uint32_t x, unsigned k, bool is_signed)
{
    uint8_t byte = (uint8_t)(x >> 8 * k);
    return is_signed ? (int8_t)byte : byte;
}

static inline int32_t half_of(uint32_t x, unsigned k, bool is_signed)
{
    uint16_t half = (uint16_t)(x >> 16 * k);
    return is_signed ? (int16_t)half : half;
}

static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool sa,
                            bool sb)
{
    for (unsigned k = 0; k < 4; k++)
        c += (uint32_t)(byte_of(a, k, sa) * byte_of(b, k, sb));
    return c;
}

static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, bool sa,
                            bool sb, unsigned first)
{
    for (unsigned k = 0; k < 2; k++)
        c += (uint32_t)(half_of(a, k, sa) * byte_of(b, first + k, sb));
    return c;
}

#define DISTANCE(a, b, U) ((a) < (b) ? (U)(b) - (U)(a) : (U)(a) - (U)(b))

// ---- add, sub, mul, mad ------------------------------------------------------

BINARY(add_u16, u16, u16, u16, a + b)
BINARY(add_u32, u32, u32, u32, a + b)
BINARY(add_u64, u64, u64, u64, a + b)
BINARY(add_sat_s32, u32, u32, u32, add_sat(a, b))
BINARY(add_u16x2, u32, u32, u32, HALVES(uint16_t, ADD))
BINARY(sub_u16, u16, u16, u16, a - b)
BINARY(sub_u32, u32, u32, u32, a - b)
BINARY(sub_u64, u64, u64, u64, a - b)
BINARY(sub_sat_s32, u32, u32, u32, sub_sat(a, b))

BINARY(mul_lo_u16, u16, u16, u16, (uint32_t)a * b)
BINARY(mul_lo_u32, u32, u32, u32, a * b)
BINARY(mul_lo_u64, u64, u64, u64, a * b)
BINARY(mul_hi_u16, u16, u16, u16, (uint32_t)a * b >> 16)
BINARY(mul_hi_s16, u16, s16, s16, (uint32_t)((int32_t)a * b) >> 16)
BINARY(mul_hi_u32, u32, u32, u32, mul_hi_u32(a, b))
BINARY(mul_hi_s32, u32, s32, s32, mul_hi_s32(a, b))
BINARY(mul_hi_u64, u64, u64, u64, mul_hi_u64(a, b))
BINARY(mul_hi_s64, u64, s64, s64, mul_hi_s64(a, b))
BINARY(mul_wide_u16, u32, u16, u16, (uint32_t)a * b)
BINARY(mul_wide_s16, u32, s16, s16, (uint32_t)((int32_t)a * b))
BINARY(mul_wide_u32, u64, u32, u32, (uint64_t)a * b)
BINARY(mul_wide_s32, u64, s32, s32, (uint64_t)((int64_t)a * b))

TERNARY(mad_lo_u16, u16, u16, u16, u16, (uint32_t)a * b + c)
TERNARY(mad_lo_u32, u32, u32, u32, u32, a * b + c)
TERNARY(mad_lo_u64, u64, u64, u64, u64, a * b + c)
TERNARY(mad_hi_u16, u16, u16, u16, u16, ((uint32_t)a * b >> 16) + c)
TERNARY(mad_hi_s16, u16, s16, s16, u16,
        ((uint32_t)((int32_t)a * b) >> 16) + c)
TERNARY(mad_hi_u32, u32, u32, u32, u32, mul_hi_u32(a, b) + c)
TERNARY(mad_hi_s32, u32, s32, s32, u32, mul_hi_s32(a, b) + c)
TERNARY(mad_hi_sat_s32, u32, s32, s32, u32, add_sat(mul_hi_s32(a, b), c))
TERNARY(mad_hi_u64, u64, u64, u64, u64, mul_hi_u64(a, b) + c)
TERNARY(mad_hi_s64, u64, s64, s64, u64, mul_hi_s64(a, b) + c)
TERNARY(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a * b + c)
TERNARY(mad_wide_s16, u32, s16, s16, u32, (uint32_t)((int32_t)a * b) + c)
TERNARY(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a * b + c)
TERNARY(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)a * b) + c)

// 24-bit multiplication: the low or the high 32 bits of the 48.
#define U24(x)     ((x)&0xffffff)
#define S24(x)     ((int32_t)((x) << 8) >> 8)
#define UMUL24(a, b) ((uint64_t)U24(a) * U24(b))
#define SMUL24(a, b) ((uint64_t)((int64_t)S24(a) * S24(b)))
BINARY(mul24_lo_u32, u32, u32, u32, UMUL24(a, b))
BINARY(mul24_lo_s32, u32, u32, u32, SMUL24(a, b))
BINARY(mul24_hi_u32, u32, u32, u32, UMUL24(a, b) >> 16)
BINARY(mul24_hi_s32, u32, u32, u32, SMUL24(a, b) >> 16)
TERNARY(mad24_lo_u32, u32, u32, u32, u32, UMUL24(a, b) + c)
TERNARY(mad24_lo_s32, u32, u32, u32, u32, SMUL24(a, b) + c)
TERNARY(mad24_hi_u32, u32, u32, u32, u32, (UMUL24(a, b) >> 16) + c)
TERNARY(mad24_hi_s32, u32, u32, u32, u32, (SMUL24(a, b) >> 16) + c)
TERNARY(mad24_hi_sat_s32, u32, u32, u32, u32,
        add_sat((uint32_t)(SMUL24(a, b) >> 16), c))

// ---- sad, div, rem, abs, neg, min, max ---------------------------------------

TERNARY(sad_u16, u16, u16, u16, u16, c + DISTANCE(a, b, uint16_t))
TERNARY(sad_s16, u16, s16, s16, u16, c + DISTANCE(a, b, uint16_t))
TERNARY(sad_u32, u32, u32, u32, u32, c + DISTANCE(a, b, uint32_t))
TERNARY(sad_s32, u32, s32, s32, u32, c + DISTANCE(a, b, uint32_t))
TERNARY(sad_u64, u64, u64, u64, u64, c + DISTANCE(a, b, uint64_t))
TERNARY(sad_s64, u64, s64, s64, u64, c + DISTANCE(a, b, uint64_t))

BINARY(div_u16, u16, u16, u16, div_u16(a, b))
BINARY(div_s16, u16, s16, s16, div_s16(a, b))
BINARY(div_u32, u32, u32, u32, div_u32(a, b))
BINARY(div_s32, u32, s32, s32, div_s32(a, b))
BINARY(div_u64, u64, u64, u64, div_u64(a, b))
BINARY(div_s64, u64, s64, s64, div_s64(a, b))
BINARY(rem_u16, u16, u16, u16, rem_u16(a, b))
BINARY(rem_s16, u16, s16, s16, rem_s16(a, b))
BINARY(rem_u32, u32, u32, u32, rem_u32(a, b))
BINARY(rem_s32, u32, s32, s32, rem_s32(a, b))
BINARY(rem_u64, u64, u64, u64, rem_u64(a, b))
BINARY(rem_s64, u64, s64, s64, rem_s64(a, b))

UNARY(abs_s16, u16, s16, a < 0 ? 0u - (uint16_t)a : (uint16_t)a)
UNARY(abs_s32, u32, s32, a < 0 ? 0u - (uint32_t)a : (uint32_t)a)
UNARY(abs_s64, u64, s64, a < 0 ? 0u - (uint64_t)a : (uint64_t)a)
UNARY(neg_s16, u16, u16, 0u - a)
UNARY(neg_s32, u32, u32, 0u - a)
UNARY(neg_s64, u64, u64, 0u - a)

#define MIN_MAX(T)                                                             \
    BINARY(min_##T, T, T, T, MIN(a, b))                                        \
    BINARY(max_##T, T, T, T, MAX(a, b))
MIN_MAX(u16)
MIN_MAX(s16)
MIN_MAX(u32)
MIN_MAX(s32)
MIN_MAX(u64)
MIN_MAX(s64)
BINARY(min_relu_s32, s32, s32, s32, MAX(MIN(a, b), 0))
BINARY(max_relu_s32, s32, s32, s32, MAX(MAX(a, b), 0))
BINARY(min_u16x2, u32, u32, u32, HALVES(uint16_t, MIN))
BINARY(max_u16x2, u32, u32, u32, HALVES(uint16_t, MAX))
#define MIN_RELU(x, y) MAX(MIN(x, y), 0)
#define MAX_RELU(x, y) MAX(MAX(x, y), 0)
BINARY(min_s16x2, u32, u32, u32, HALVES(int16_t, MIN))
BINARY(max_s16x2, u32, u32, u32, HALVES(int16_t, MAX))
BINARY(min_relu_s16x2, u32, u32, u32, HALVES(int16_t, MIN_RELU))
BINARY(max_relu_s16x2, u32, u32, u32, HALVES(int16_t, MAX_RELU))

// ---- bits ----------------------------------------------------------------------

UNARY(popc_b32, u32, u32, __builtin_popcount(a))
UNARY(popc_b64, u32, u64, __builtin_popcountll(a))
UNARY(clz_b32, u32, u32, a ? __builtin_clz(a) : 32)
UNARY(clz_b64, u32, u64, a ? __builtin_clzll(a) : 64)
UNARY(bfind_u32, u32, u32, find_high(a))
UNARY(bfind_s32, u32, s32, find_high((uint32_t)(a < 0 ? ~a : a)))
UNARY(bfind_u64, u32, u64, find_high(a))
UNARY(bfind_s64, u32, s64, find_high((uint64_t)(a < 0 ? ~a : a)))
UNARY(bfind_shiftamt_u32, u32, u32, find_shift(a, 32))
UNARY(bfind_shiftamt_s32, u32, s32, find_shift((uint32_t)(a < 0 ? ~a : a), 32))
UNARY(bfind_shiftamt_u64, u32, u64, find_shift(a, 64))
UNARY(bfind_shiftamt_s64, u32, s64, find_shift((uint64_t)(a < 0 ? ~a : a), 64))
TERNARY(fns_b32, u32, u32, u32, s32, find_nth(a, b, c))
UNARY(brev_b32, u32, u32, reverse32(a))
UNARY(brev_b64, u64, u64,
      (uint64_t)reverse32((uint32_t)a) << 32 | reverse32((uint32_t)(a >> 32)))
TERNARY(bfe_u32, u32, u32, u32, u32, extract(a, b & 0xff, c & 0xff, 32, false))
TERNARY(bfe_s32, u32, u32, u32, u32, extract(a, b & 0xff, c & 0xff, 32, true))
TERNARY(bfe_u64, u64, u64, u32, u32, extract(a, b, c, 64, false))
TERNARY(bfe_s64, u64, u64, u32, u32, extract(a, b, c, 64, true))

// With a fourth source, e.
#define QUATERNARY(NAME, T, EXPR)                                              \
    LANES_(NAME, T, ROW_(T, a) ROW_(T, b) ROW_(u32, c) ROW_(u32, e),          \
           VALUE_(T, a) VALUE_(T, b) VALUE_(u32, c) VALUE_(u32, e), EXPR)
QUATERNARY(bfi_b32, u32, insert(a, b, c & 0xff, e & 0xff, 32))
QUATERNARY(bfi_b64, u64, insert(a, b, c, e, 64))

BINARY(bmsk_clamp_b32, u32, u32, u32, bit_mask(a, b))
BINARY(bmsk_wrap_b32, u32, u32, u32, bit_mask(a & 31, b & 31))
BINARY(szext_clamp_u32, u32, u32, u32, sign_extend(a, b, false))
BINARY(szext_clamp_s32, u32, u32, u32, sign_extend(a, b, true))
BINARY(szext_wrap_u32, u32, u32, u32, sign_extend(a, b & 31, false))
BINARY(szext_wrap_s32, u32, u32, u32, sign_extend(a, b & 31, true))

TERNARY(dp4a_u32_u32, u32, u32, u32, u32, dot4(a, b, c, false, false))
TERNARY(dp4a_u32_s32, u32, u32, u32, u32, dot4(a, b, c, false, true))
TERNARY(dp4a_s32_u32, u32, u32, u32, u32, dot4(a, b, c, true, false))
TERNARY(dp4a_s32_s32, u32, u32, u32, u32, dot4(a, b, c, true, true))
#define DP2A(HALF, FIRST)                                                      \
    TERNARY(dp2a_##HALF##_u32_u32, u32, u32, u32, u32,                         \
            dot2(a, b, c, false, false, FIRST))                                \
    TERNARY(dp2a_##HALF##_u32_s32, u32, u32, u32, u32,                         \
            dot2(a, b, c, false, true, FIRST))                                 \
    TERNARY(dp2a_##HALF##_s32_u32, u32, u32, u32, u32,                         \
            dot2(a, b, c, true, false, FIRST))                                 \
    TERNARY(dp2a_##HALF##_s32_s32, u32, u32, u32, u32,                         \
            dot2(a, b, c, true, true, FIRST))
DP2A(lo, 0)
DP2A(hi, 2)

// ---- extended precision: a carry a lane --------------------------------------

// SUM is the exact result in WIDE, of which the carry (or the borrow) is a
// bit. d2 is the row of carries, which decode_carry gives to all of these.
#define CARRY(NAME, T, ROWS, VALUES, SUM, OUT)                                 \
    HANDLER(NAME, some)                                                        \
    {                                                                          \
        SLOT_##T *d = warp_row(w, i->d);                                       \
        uint32_t *carries = warp_row(w, i->d2);                                \
        const uint32_t *on = w->mask_row;                                      \
        ROWS for (unsigned l = 0; l < WARP_LANES; l++)                         \
        {                                                                      \
            if (!on[l])                                                        \
                continue;                                                      \
            uint32_t carry = carries[l];                                       \
            (void)carry;                                                       \
            VALUES unsigned __int128 sum = SUM;                                \
            d[l] = (VALUE_##T)sum;                                             \
            if (OUT)                                                           \
                carries[l] = sum >> 8 * sizeof(VALUE_##T) & 1;                 \
        }                                                                      \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(NAME, full)                                                        \
    {                                                                          \
        return FORM(NAME, some)(w, i);                                         \
    }
#define CARRY2(NAME, T, SUM, OUT)                                              \
    CARRY(NAME, T, ROW_(T, a) ROW_(T, b), VALUE_(T, a) VALUE_(T, b), SUM, OUT)
#define CARRY3(NAME, T, SUM, OUT)                                              \
    CARRY(NAME, T, ROW_(T, a) ROW_(T, b) ROW_(T, c),                           \
          VALUE_(T, a) VALUE_(T, b) VALUE_(T, c), SUM, OUT)
#define WIDE(x) ((unsigned __int128)(x))
#define CARRIES(T)                                                             \
    CARRY2(add_cc_##T, T, WIDE(a) + b, true)                                   \
    CARRY2(addc_##T, T, WIDE(a) + b + carry, false)                            \
    CARRY2(addc_cc_##T, T, WIDE(a) + b + carry, true)                          \
    CARRY2(sub_cc_##T, T, WIDE(a) - b, true)                                   \
    CARRY2(subc_##T, T, WIDE(a) - b - carry, false)                            \
    CARRY2(subc_cc_##T, T, WIDE(a) - b - carry, true)                          \
    CARRY3(mad_lo_cc_##T, T, WIDE((VALUE_##T)(a * b)) + c, true)               \
    CARRY3(mad_hi_cc_##T, T, WIDE(mul_hi_##T(a, b)) + c, true)                 \
    CARRY3(madc_lo_##T, T, WIDE((VALUE_##T)(a * b)) + c + carry, false)        \
    CARRY3(madc_hi_##T, T, WIDE(mul_hi_##T(a, b)) + c + carry, false)          \
    CARRY3(madc_lo_cc_##T, T, WIDE((VALUE_##T)(a * b)) + c + carry, true)      \
    CARRY3(madc_hi_cc_##T, T, WIDE(mul_hi_##T(a, b)) + c + carry, true)
CARRIES(u32)
CARRIES(u64)
// The high half of a signed product differs; the low half does not.
#define SIGNED_CARRIES(S, U)                                                   \
    CARRY3(mad_hi_cc_##S, U,                                                   \
           WIDE(mul_hi_##S((VALUE_##S)a, (VALUE_##S)b)) + c, true)             \
    CARRY3(madc_hi_##S, U,                                                     \
           WIDE(mul_hi_##S((VALUE_##S)a, (VALUE_##S)b)) + c + carry, false)    \
    CARRY3(madc_hi_cc_##S, U,                                                  \
           WIDE(mul_hi_##S((VALUE_##S)a, (VALUE_##S)b)) + c + carry, true)
SIGNED_CARRIES(s32, u32)
SIGNED_CARRIES(s64, u64)
