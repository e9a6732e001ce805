// What the handlers of floating-point instructions share: roundings, flushing
// and saturating, NaNs (PTX ISA 9.7.3).
//
// A NaN that f32, f16 and bf16 arithmetic makes is the canonical one; f64
// keeps the operand's payload, as IEEE 754 hosts do. Both were compared with
// an H200 over all the forms here.
#pragma once

#include <fenv.h>
#include <math.h>
#include <string.h>

#include "lanes.h"

#define CANONICAL_NAN_F32 UINT32_C(0x7fffffff)
#define CANONICAL_NAN_F16 UINT32_C(0x7fff) // of bf16, too
#define F32_SIGN          UINT32_C(0x80000000)
#define F32_INFINITY      UINT32_C(0x7f800000)
#define F32_SMALLEST_NORMAL 0x1p-126f

static inline uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float f32_of_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double f64_of_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// .ftz: a subnormal becomes a zero of its sign.
static inline float flush_f32(float x, unsigned flags)
{
    bool tiny = fabsf(x) < F32_SMALLEST_NORMAL;
    return flags & F_FTZ && tiny ? copysignf(0, x) : x;
}

// .sat: into [0, 1], a NaN to 0.
static inline float saturate_f32(float x, unsigned flags)
{
    float low = x > 0 ? x : 0;
    return flags & F_SAT ? (low < 1 ? low : 1) : x;
}

static inline double saturate_f64(double x, unsigned flags)
{
    double low = x > 0 ? x : 0;
    return flags & F_SAT ? (low < 1 ? low : 1) : x;
}

static inline float canonical_f32(float x)
{
    return x == x ? x : f32_of_bits(CANONICAL_NAN_F32);
}

// What happens to every f32 result.
static inline float finish_f32(float x, unsigned flags)
{
    return canonical_f32(saturate_f32(flush_f32(x, flags), flags));
}

// ---- roundings ---------------------------------------------------------------

// The loops compute with the host's rounding set to the instruction's. The
// rows are read after the call and written before the next, so the compiler
// cannot move arithmetic across.
static inline void round_begin(unsigned flags)
{
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD,
                                FE_UPWARD};
    enum rounding rounding = flags_rounding(flags);
    if (rounding != ROUND_RN && rounding <= ROUND_RP)
        fesetround(modes[rounding]);
}

static inline void round_end(unsigned flags)
{
    if (flags_rounding(flags) != ROUND_RN)
        fesetround(FE_TONEAREST);
}

// As the macros of lanes.h, with `flags` at hand and the rounding set.
#define ROUNDED_LANES_(TD, VALUES, EXPR)                                       \
    EACH_LANE                                                                  \
    {                                                                          \
        VALUES d[l] = (SLOT_##TD)PUT_##TD(EXPR);                               \
    }

// Without flags, as a rule, nothing is left in the loop that keeps the
// compiler from making vectors of it.
#define ROUNDED_(NAME, TD, ROWS, VALUES, EXPR)                                 \
    HANDLER(NAME, full)                                                        \
    {                                                                          \
        SLOT_##TD *d = warp_row(w, i->d);                                      \
        ROWS if (i->flags == 0)                                                \
        {                                                                      \
            const unsigned flags = 0;                                          \
            (void)flags;                                                       \
            ROUNDED_LANES_(TD, VALUES, EXPR)                                   \
            return i + 1;                                                      \
        }                                                                      \
        const unsigned flags = i->flags;                                       \
        round_begin(flags);                                                    \
        ROUNDED_LANES_(TD, VALUES, EXPR)                                       \
        round_end(flags);                                                      \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(NAME, some)                                                        \
    {                                                                          \
        SLOT_##TD *d = warp_row(w, i->d), kept[WARP_LANES];                    \
        const uint32_t *on = w->mask_row;                                      \
        EACH_LANE                                                              \
        kept[l] = d[l];                                                        \
        FORM(NAME, full)(w, i);                                                \
        EACH_LANE                                                              \
        d[l] = on[l] ? d[l] : kept[l];                                         \
        return i + 1;                                                          \
    }

#define ROUNDED_UNARY(NAME, TD, TA, EXPR)                                      \
    ROUNDED_(NAME, TD, ROW_(TA, a), VALUE_(TA, a), EXPR)
#define ROUNDED_BINARY(NAME, TD, TA, TB, EXPR)                                 \
    ROUNDED_(NAME, TD, ROW_(TA, a) ROW_(TB, b), VALUE_(TA, a) VALUE_(TB, b),   \
             EXPR)
#define ROUNDED_TERNARY(NAME, TD, TA, TB, TC, EXPR)                            \
    ROUNDED_(NAME, TD, ROW_(TA, a) ROW_(TB, b) ROW_(TC, c),                    \
             VALUE_(TA, a) VALUE_(TB, b) VALUE_(TC, c), EXPR)

// ---- narrow formats ------------------------------------------------------------

// v / 2^shift as an integer, rounded; negative: the sign of what v stands for.
// shift: 1 to 31.
static inline uint32_t shift_rounded(uint32_t v, uint32_t shift, bool negative,
                                     enum rounding rounding)
{
    uint32_t whole = v >> shift, half = UINT32_C(1) << (shift - 1);
    uint32_t rest = v & (2 * half - 1);
    bool up = rounding == ROUND_RN    ? rest > half - (whole & 1)
              : rounding == ROUND_RNA ? rest >= half
              : rounding == ROUND_RM  ? negative && rest
              : rounding == ROUND_RP  ? !negative && rest
                                      : false;
    return whole + up;
}

// Whether a magnitude too large becomes infinite, not the largest finite.
static inline bool overflows(bool negative, enum rounding rounding)
{
    return rounding == ROUND_RN || rounding == ROUND_RNA ||
           (rounding == ROUND_RM ? negative
                                 : rounding == ROUND_RP && !negative);
}

static inline float f32_of_f16(uint32_t half)
{
    // A half's bits as a float's are the value over 2^112.
    float scaled = f32_of_bits((half & 0x7fff) << 13) * 0x1p112f;
    uint32_t bits = bits_of_f32(scaled);
    if ((half & 0x7c00) == 0x7c00)
        bits |= F32_INFINITY;
    return f32_of_bits(bits | (half & 0x8000) << 16);
}

// A finite magnitude in a format of `fraction` bits after the point, whose
// least normal exponent is 1 - bias; larger ones go on past its exponents.
// Normal values are rebased and lose their last bits; below, the significand
// is shifted to units of the least subnormal.
static inline uint32_t narrowed(uint32_t magnitude, uint32_t fraction,
                                uint32_t bias, bool negative,
                                enum rounding rounding)
{
    uint32_t exponent = magnitude >> 23, least = 128 - bias;
    uint32_t dropped = 23 - fraction;
    uint32_t significand = (magnitude & 0x7fffff) | (exponent ? 1u << 23 : 0);
    uint32_t shift = dropped + least - exponent;
    shift = exponent >= least ? dropped : shift < 31 ? shift : 31;
    uint32_t v =
        exponent >= least ? magnitude - ((least - 1) << 23) : significand;
    return shift_rounded(v, shift, negative, rounding);
}

static inline uint32_t f16_of_f32(float x, enum rounding rounding)
{
    uint32_t bits = bits_of_f32(x), magnitude = bits & ~F32_SIGN;
    bool negative = bits & F32_SIGN;
    uint32_t half = narrowed(magnitude, 10, 15, negative, rounding);
    uint32_t too_large = overflows(negative, rounding) ? 0x7c00 : 0x7bff;
    half = half > 0x7bff ? too_large : half;
    half = magnitude == F32_INFINITY ? 0x7c00 : half;
    half |= negative ? 0x8000 : 0;
    return magnitude > F32_INFINITY ? CANONICAL_NAN_F16 : half;
}

static inline float f32_of_bf16(uint32_t half)
{
    return f32_of_bits(half << 16);
}

static inline uint32_t bf16_of_f32(float x, enum rounding rounding)
{
    uint32_t bits = bits_of_f32(x), magnitude = bits & ~F32_SIGN;
    uint32_t half =
        shift_rounded(magnitude, 16, bits & F32_SIGN, rounding);
    half |= bits >> 16 & 0x8000;
    return magnitude > F32_INFINITY ? CANONICAL_NAN_F16 : half;
}

// The float nearest towards zero, its last bit set when it is not exact: what
// is rounded from it again is rounded once (Boldo and Melquiond, 2008).
static inline float f32_odd(double x)
{
    float near = (float)x;
    uint32_t bits = bits_of_f32(near);
    if (fabs((double)near) > fabs(x))
        bits--;
    if ((double)near != x && x == x)
        bits |= 1;
    return f32_of_bits(bits);
}

// a + b as a double with the same property.
static inline double add_odd(double a, double b)
{
    double sum = a + b, part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    uint64_t bits = bits_of_f64(sum);
    if (error != 0 && fabs(sum) < INFINITY && (bits & 1) == 0)
        bits += (error > 0) == (sum > 0) ? 1 : -1;
    return error == error ? f64_of_bits(bits) : sum;
}
