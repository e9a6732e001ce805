// Conversions (PTX ISA 9.7.9.22).
//
// The result of a conversion to 8 or 16 bits is extended to the register's
// width by its sign, so that it may stand in a wider one.
#include "float.h"

#define FLUSHED(x) flush_f32(x, flags)

#define DEST_u8  u8
#define DEST_s8  s32
#define DEST_u16 u16
#define DEST_s16 s32
#define DEST_u32 u32
#define DEST_s32 s32
#define DEST_u64 u64
#define DEST_s64 s64

// ---- integers to integers -----------------------------------------------------

static inline int64_t clamp_signed(int64_t x, int64_t least, int64_t most,
                                   unsigned flags)
{
    int64_t held = x < least ? least : x > most ? most : x;
    return flags & F_SAT ? held : x;
}

static inline uint64_t clamp_unsigned(uint64_t x, uint64_t most, unsigned flags)
{
    return flags & F_SAT && x > most ? most : x;
}

// MOST: the largest value that both the destination and an int64_t have.
#define FROM_SIGNED(D, S, LEAST, MOST)                                         \
    ROUNDED_UNARY(cvt_##D##_##S, DEST_##D, S,                                  \
                  (VALUE_##D)clamp_signed(a, LEAST, MOST, flags))
#define FROM_UNSIGNED(D, S, MOST)                                              \
    ROUNDED_UNARY(cvt_##D##_##S, DEST_##D, S,                                  \
                  (VALUE_##D)clamp_unsigned(a, MOST, flags))
#define FROM_INTEGERS(D, LEAST, MOST, UNSIGNED_MOST)                           \
    FROM_SIGNED(D, s8, LEAST, MOST)                                            \
    FROM_SIGNED(D, s16, LEAST, MOST)                                           \
    FROM_SIGNED(D, s32, LEAST, MOST)                                           \
    FROM_SIGNED(D, s64, LEAST, MOST)                                           \
    FROM_UNSIGNED(D, u8, UNSIGNED_MOST)                                        \
    FROM_UNSIGNED(D, u16, UNSIGNED_MOST)                                       \
    FROM_UNSIGNED(D, u32, UNSIGNED_MOST)                                       \
    FROM_UNSIGNED(D, u64, UNSIGNED_MOST)
FROM_INTEGERS(u8, 0, UINT8_MAX, UINT8_MAX)
FROM_INTEGERS(s8, INT8_MIN, INT8_MAX, INT8_MAX)
FROM_INTEGERS(u16, 0, UINT16_MAX, UINT16_MAX)
FROM_INTEGERS(s16, INT16_MIN, INT16_MAX, INT16_MAX)
FROM_INTEGERS(u32, 0, UINT32_MAX, UINT32_MAX)
FROM_INTEGERS(s32, INT32_MIN, INT32_MAX, INT32_MAX)
FROM_INTEGERS(u64, 0, INT64_MAX, UINT64_MAX)
FROM_INTEGERS(s64, INT64_MIN, INT64_MAX, INT64_MAX)

// The low bits of a 64-bit register, extended again.
UNARY(cvt_wide_s8, u64, u64, (uint64_t)(int8_t)a)
UNARY(cvt_wide_s16, u64, u64, (uint64_t)(int16_t)a)
UNARY(cvt_wide_s32, u64, u64, (uint64_t)(int32_t)a)
UNARY(cvt_wide_u8, u64, u64, (uint8_t)a)
UNARY(cvt_wide_u16, u64, u64, (uint16_t)a)
UNARY(cvt_wide_u32, u64, u64, (uint32_t)a)

// ---- floats to integers ---------------------------------------------------------

static inline float integral_f32(float x, unsigned flags)
{
    enum rounding rounding = flags_rounding(flags);
    return rounding == ROUND_RZ   ? truncf(x)
           : rounding == ROUND_RM ? floorf(x)
           : rounding == ROUND_RP ? ceilf(x)
                                  : rintf(x);
}

static inline double integral_f64(double x, unsigned flags)
{
    enum rounding rounding = flags_rounding(flags);
    x = x == x ? x : x + x; // a quiet NaN
    return rounding == ROUND_RZ   ? trunc(x)
           : rounding == ROUND_RM ? floor(x)
           : rounding == ROUND_RP ? ceil(x)
                                  : rint(x);
}

// Out of range gives the nearest value. A NaN gives 0 or, from an f64 or to
// 64 bits, the highest bit alone. PAST: the first value that is too large.
// The handlers round by themselves: they are no ROUNDED_ ones.
#define TO_INTEGER(D, S, ROW, F, OPEN, LEAST, PAST, MIN, MAX, OF_NAN)          \
    static inline VALUE_##D int_##D##_##S(VALUE_##ROW bits, unsigned flags)    \
    {                                                                          \
        F x = integral_##OPEN(OPEN##_of_##S(bits, flags), flags);              \
        bool fits = x >= LEAST && x < PAST;                                    \
        VALUE_##D value = (VALUE_##D)(fits ? x : 0);                           \
        value = x >= PAST ? MAX : x < LEAST ? MIN : value;                     \
        return x == x ? value : (VALUE_##D)OF_NAN;                             \
    }                                                                          \
    UNARY(cvt_##D##_##S, DEST_##D, ROW, int_##D##_##S(a, i->flags))
#define f32_of_f32(x, flags)  flush_f32(x, flags)
#define f64_of_f64(x, flags)  (x)
#define f32_of_f16(x, flags)  f32_of_f16(x)
#define f32_of_bf16(x, flags) f32_of_bf16(x)

#define TO_INTEGERS(D, LEAST, PAST, MIN, MAX, OF_NAN, TOP_BIT)                 \
    TO_INTEGER(D, f32, f32, float, f32, LEAST##f, PAST##f, MIN, MAX, OF_NAN)   \
    TO_INTEGER(D, f16, u16, float, f32, LEAST##f, PAST##f, MIN, MAX, OF_NAN)   \
    TO_INTEGER(D, f64, f64, double, f64, LEAST, PAST, MIN, MAX, TOP_BIT)
#define BF16_TO_INTEGER(D, LEAST, PAST, MIN, MAX, OF_NAN)                      \
    TO_INTEGER(D, bf16, u16, float, f32, LEAST, PAST, MIN, MAX, OF_NAN)
TO_INTEGERS(u8, 0x0p0, 0x1p8, 0, UINT8_MAX, 0, 0x80)
TO_INTEGERS(s8, -0x1p7, 0x1p7, INT8_MIN, INT8_MAX, 0, INT8_MIN)
TO_INTEGERS(u16, 0x0p0, 0x1p16, 0, UINT16_MAX, 0, 0x8000)
TO_INTEGERS(s16, -0x1p15, 0x1p15, INT16_MIN, INT16_MAX, 0, INT16_MIN)
TO_INTEGERS(u32, 0x0p0, 0x1p32, 0, UINT32_MAX, 0, UINT32_C(1) << 31)
TO_INTEGERS(s32, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, 0, INT32_MIN)
TO_INTEGERS(u64, 0x0p0, 0x1p64, 0, UINT64_MAX, UINT64_C(1) << 63,
            UINT64_C(1) << 63)
TO_INTEGERS(s64, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN, INT64_MIN)
// bf16 knows no conversions from and to 8 bits.
BF16_TO_INTEGER(u16, 0, 0x1p16f, 0, UINT16_MAX, 0)
BF16_TO_INTEGER(s16, -0x1p15f, 0x1p15f, INT16_MIN, INT16_MAX, 0)
BF16_TO_INTEGER(u32, 0, 0x1p32f, 0, UINT32_MAX, 0)
BF16_TO_INTEGER(s32, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX, 0)
BF16_TO_INTEGER(u64, 0, 0x1p64f, 0, UINT64_MAX, UINT64_C(1) << 63)
BF16_TO_INTEGER(s64, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX, INT64_MIN)
#undef f32_of_f16
#undef f32_of_bf16

// ---- integers to floats -----------------------------------------------------------

// A double that rounds as the integer does: past 53 bits the last ones are
// gathered in one.
static inline double sticky_u64(uint64_t x)
{
    uint64_t last = x & 0x7ff;
    return (double)(x >> 53 ? (x ^ last) | (last ? 0x800 : 0) : x);
}
static inline double sticky_s64(int64_t x)
{
    double magnitude = sticky_u64(x < 0 ? -(uint64_t)x : (uint64_t)x);
    return x < 0 ? -magnitude : magnitude;
}

static inline uint32_t saturate_f16(uint32_t half, unsigned flags)
{
    bool above = half > 0x3c00 && half <= 0x7c00;
    uint32_t held = half > 0x7c00 ? 0 : above ? 0x3c00 : half;
    return flags & F_SAT ? held : half;
}

#define FROM_INTEGER(S, EXACT)                                                 \
    ROUNDED_UNARY(cvt_f32_##S, f32, S, saturate_f32((float)a, flags))          \
    ROUNDED_UNARY(cvt_f64_##S, f64, S, saturate_f64((double)a, flags))         \
    UNARY(cvt_f16_##S, u16, S,                                                 \
          saturate_f16(f16_of_f32(f32_odd(EXACT(a)), flags_rounding(i->flags)),\
                       i->flags))
#define BF16_FROM_INTEGER(S, EXACT)                                            \
    UNARY(cvt_bf16_##S, u16, S,                                                \
          bf16_of_f32(f32_odd(EXACT(a)), flags_rounding(i->flags)))
FROM_INTEGER(u8, (double))
FROM_INTEGER(s8, (double))
FROM_INTEGER(u16, (double))
FROM_INTEGER(s16, (double))
FROM_INTEGER(u32, (double))
FROM_INTEGER(s32, (double))
FROM_INTEGER(u64, sticky_u64)
FROM_INTEGER(s64, sticky_s64)
BF16_FROM_INTEGER(u16, (double))
BF16_FROM_INTEGER(s16, (double))
BF16_FROM_INTEGER(u32, (double))
BF16_FROM_INTEGER(s32, (double))
BF16_FROM_INTEGER(u64, sticky_u64)
BF16_FROM_INTEGER(s64, sticky_s64)

// ---- floats to floats -----------------------------------------------------------

static inline uint32_t relu_half(uint32_t half, unsigned flags)
{
    return flags & F_RELU && half & 0x8000 ? 0 : half;
}

static inline uint32_t to_f16(float x, unsigned flags)
{
    uint32_t half = f16_of_f32(x, flags_rounding(flags));
    return relu_half(saturate_f16(half, flags), flags);
}

static inline uint32_t to_bf16(float x, unsigned flags)
{
    return relu_half(bf16_of_f32(x, flags_rounding(flags)), flags);
}

// Of a double, a NaN keeps its sign and the upper bits of its payload.
static inline uint32_t f16_of_f64(double x, unsigned flags)
{
    float odd = f32_odd(x);
    uint32_t bits = bits_of_f32(odd);
    uint32_t nan = bits >> 16 & 0x8000;
    nan |= 0x7e00 | (bits >> 13 & 0x3ff);
    return x == x || flags & F_SAT ? to_f16(odd, flags) : nan;
}

static inline uint32_t bf16_of_f64(double x, unsigned flags)
{
    float odd = f32_odd(x);
    return x == x ? to_bf16(odd, flags) : bits_of_f32(odd) >> 16;
}

UNARY(cvt_f16_f32, u16, f32, to_f16(flush_f32(a, i->flags), i->flags))
UNARY(cvt_f16_f64, u16, f64, f16_of_f64(a, i->flags))
UNARY(cvt_f16_bf16, u16, u16, to_f16(f32_of_bf16(a), i->flags))
UNARY(cvt_bf16_f32, u16, f32, to_bf16(a, i->flags))
UNARY(cvt_bf16_f64, u16, f64, bf16_of_f64(a, i->flags))
UNARY(cvt_bf16_f16, u16, u16, to_bf16(f32_of_f16(a), i->flags))

// .ftz makes a NaN canonical, too; without it the bits stay.
static inline float flush_nan(float x, unsigned flags)
{
    return flags & F_FTZ ? canonical_f32(FLUSHED(x)) : x;
}
ROUNDED_UNARY(cvt_f32_f64, f32, f64,
              saturate_f32(FLUSHED((float)a), flags))
ROUNDED_UNARY(cvt_f32_f16, f32, u16,
              canonical_f32(saturate_f32(f32_of_f16(a), flags)))
UNARY(cvt_f32_bf16, u32, u16, (uint32_t)a << 16)
ROUNDED_UNARY(cvt_f64_f32, f64, f32, saturate_f64(flush_nan(a, flags), flags))
ROUNDED_UNARY(cvt_f64_f16, f64, u16, saturate_f64(f32_of_f16(a), flags))
UNARY(cvt_f64_bf16, f64, u16, f32_of_bf16(a))

// To an integer in its own format; without a rounding only .sat and .ftz.
UNARY(cvt_f32_f32_integral, f32, f32,
      finish_f32(integral_f32(flush_f32(a, i->flags), i->flags), i->flags))
UNARY(cvt_f64_f64_integral, f64, f64,
      saturate_f64(integral_f64(a, i->flags), i->flags))
UNARY(cvt_f16_f16_integral, u16, u16,
      saturate_f16(f16_of_f32(integral_f32(f32_of_f16(a), i->flags), ROUND_RN),
                   i->flags))
ROUNDED_UNARY(cvt_f32_f32, f32, f32, saturate_f32(flush_nan(a, flags), flags))
ROUNDED_UNARY(cvt_f64_f64, f64, f64, saturate_f64(a, flags))
ROUNDED_UNARY(cvt_f16_f16, u16, u16,
              saturate_f16(f16_of_f32(f32_of_f16(a), ROUND_RN), flags))

// ---- pairs: the first operand becomes the upper half ----------------------------

BINARY(cvt_f16x2_f32, u32, f32, f32,
       to_f16(flush_f32(a, i->flags), i->flags) << 16 |
           to_f16(flush_f32(b, i->flags), i->flags))
BINARY(cvt_bf16x2_f32, u32, f32, f32,
       to_bf16(a, i->flags) << 16 | to_bf16(b, i->flags))

// tf32: an f32 whose last 13 bits are zero. Rounding away from a tie keeps
// what it can of a NaN; the others make a NaN of their own.
static inline uint32_t to_tf32(uint32_t bits, unsigned flags)
{
    enum rounding rounding = flags_rounding(flags);
    uint32_t magnitude = bits & ~F32_SIGN, sign = bits & F32_SIGN;
    uint32_t kept = shift_rounded(magnitude, 13, sign, rounding) << 13;
    uint32_t of_nan = rounding == ROUND_RNA ? bits >> 13 << 13 : 0x7fffe000;
    uint32_t out = magnitude > F32_INFINITY ? of_nan : kept | sign;
    return flags & F_RELU && out & F32_SIGN ? 0 : out;
}
UNARY(cvt_tf32_f32, u32, u32, to_tf32(a, i->flags))

// ---- 8-bit floats: e4m3 (no infinity, 448 at most), e5m2 -------------------------

// .satfinite: what is too large becomes the largest finite value.
static inline uint32_t to_fp8(float x, uint32_t fraction, uint32_t bias,
                              uint32_t most, unsigned flags)
{
    uint32_t bits = bits_of_f32(x), magnitude = bits & ~F32_SIGN;
    bool negative = bits & F32_SIGN;
    uint32_t out = narrowed(magnitude, fraction, bias, negative, ROUND_RN);
    out = (out < most ? out : most) | (negative ? 0x80 : 0);
    out = flags & F_RELU && negative ? 0 : out;
    return magnitude > F32_INFINITY ? 0x7f : out;
}
#define TO_E4M3(x) to_fp8(x, 3, 7, 0x7e, i->flags)
#define TO_E5M2(x) to_fp8(x, 2, 15, 0x7b, i->flags)
BINARY(cvt_e4m3x2_f32, u16, f32, f32, TO_E4M3(a) << 8 | TO_E4M3(b))
BINARY(cvt_e5m2x2_f32, u16, f32, f32, TO_E5M2(a) << 8 | TO_E5M2(b))
UNARY(cvt_e4m3x2_f16x2, u16, u32,
      TO_E4M3(f32_of_f16(a >> 16)) << 8 | TO_E4M3(f32_of_f16(a & 0xffff)))
UNARY(cvt_e5m2x2_f16x2, u16, u32,
      TO_E5M2(f32_of_f16(a >> 16)) << 8 | TO_E5M2(f32_of_f16(a & 0xffff)))

static inline uint32_t f16_of_e4m3(uint32_t x, unsigned flags)
{
    float value = f32_of_bits((x & 0x7f) << 20) * 0x1p120f;
    uint32_t half = f16_of_f32(value, ROUND_RN) | (x & 0x80) << 8;
    return relu_half((x & 0x7f) == 0x7f ? CANONICAL_NAN_F16 : half, flags);
}

static inline uint32_t f16_of_e5m2(uint32_t x, unsigned flags)
{
    bool nan = (x & 0x7f) > 0x7c;
    return relu_half(nan ? CANONICAL_NAN_F16 : x << 8, flags);
}
UNARY(cvt_f16x2_e4m3x2, u32, u16,
      f16_of_e4m3(a >> 8, i->flags) << 16 | f16_of_e4m3(a & 0xff, i->flags))
UNARY(cvt_f16x2_e5m2x2, u32, u16,
      f16_of_e5m2(a >> 8, i->flags) << 16 | f16_of_e5m2(a & 0xff, i->flags))
