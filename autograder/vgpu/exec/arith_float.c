// 32- and 64-bit floating-point arithmetic as IEEE 754 has it (PTX ISA 9.7.3).
// What is approximate: arith_approx.c.
#include "float.h"

#define FLUSHED(x) flush_f32(x, flags)

ROUNDED_BINARY(add_f32, f32, f32, f32,
               finish_f32(FLUSHED(a) + FLUSHED(b), flags))
ROUNDED_BINARY(sub_f32, f32, f32, f32,
               finish_f32(FLUSHED(a) - FLUSHED(b), flags))
ROUNDED_UNARY(rcp_f32, f32, f32, finish_f32(1 / FLUSHED(a), flags))
ROUNDED_UNARY(sqrt_f32, f32, f32, finish_f32(sqrtf(FLUSHED(a)), flags))
ROUNDED_TERNARY(fma_f32, f32, f32, f32, f32,
                finish_f32(fmaf(FLUSHED(a), FLUSHED(b), FLUSHED(c)), flags))

// A result is flushed for what it is before it is rounded: just below the
// least normal value, too. (A sum is exact there; an fma is let go, for its
// speed.)
static inline float flush_tiny(float x, bool tiny, unsigned flags)
{
    return finish_f32(flags & F_FTZ && tiny ? copysignf(0, x) : x, flags);
}

static inline float multiply_f32(float a, float b, unsigned flags)
{
    float x = FLUSHED(a), y = FLUSHED(b);
    bool tiny = fabs((double)x * y) < F32_SMALLEST_NORMAL;
    return flush_tiny(x * y, tiny, flags);
}

static inline float divide_f32(float a, float b, unsigned flags)
{
    float x = FLUSHED(a), y = FLUSHED(b);
    bool tiny = fabs((double)x) < F32_SMALLEST_NORMAL * fabs((double)y);
    return flush_tiny(x / y, tiny && fabsf(y) < INFINITY, flags);
}
ROUNDED_BINARY(mul_f32, f32, f32, f32, multiply_f32(a, b, flags))
ROUNDED_BINARY(div_f32, f32, f32, f32, divide_f32(a, b, flags))

// Of several NaNs b is the result before c before a. x + x makes it quiet.
static inline double nan_of_two(double result, double a, double b)
{
    double nan = b != b ? b + b : a != a ? a + a : result;
    return result == result ? result : nan;
}

static inline double nan_of_three(double result, double a, double b, double c)
{
    double nan = c != c ? c + c : a != a ? a + a : result;
    nan = b != b ? b + b : nan;
    return result == result ? result : nan;
}
ROUNDED_BINARY(add_f64, f64, f64, f64, nan_of_two(a + b, a, b))
ROUNDED_BINARY(sub_f64, f64, f64, f64, nan_of_two(a - b, a, b))
ROUNDED_BINARY(mul_f64, f64, f64, f64, nan_of_two(a *b, a, b))
ROUNDED_TERNARY(fma_f64, f64, f64, f64, f64,
                nan_of_three(fma(a, b, c), a, b, c))
ROUNDED_BINARY(div_f64, f64, f64, f64, a / b)
ROUNDED_UNARY(rcp_f64, f64, f64, 1 / a)
ROUNDED_UNARY(sqrt_f64, f64, f64, sqrt(a))

// ---- sign ------------------------------------------------------------------

ROUNDED_UNARY(neg_f32, f32, f32, canonical_f32(-FLUSHED(a)))
ROUNDED_UNARY(abs_f32, f32, f32, canonical_f32(fabsf(FLUSHED(a))))
BINARY(copysign_f32, u32, u32, u32, (b & ~F32_SIGN) | (a & F32_SIGN))

#define F64_SIGN  (UINT64_C(1) << 63)
#define F64_QUIET (UINT64_C(1) << 51)
// Arithmetic: a NaN keeps its sign and becomes quiet.
static inline uint64_t with_sign_f64(uint64_t bits, uint64_t sign)
{
    bool nan = (bits & ~F64_SIGN) > UINT64_C(0x7ff) << 52;
    return nan ? bits | F64_QUIET : (bits & ~F64_SIGN) | sign;
}
UNARY(neg_f64, u64, u64, with_sign_f64(a, ~a & F64_SIGN))
UNARY(abs_f64, u64, u64, with_sign_f64(a, 0))
BINARY(copysign_f64, u64, u64, u64, (b & ~F64_SIGN) | (a & F64_SIGN))

// ---- minimum and maximum ------------------------------------------------------

// A NaN gives way to a number, unless .NaN; -0 is less than +0.
#define MIN_MAX(T, BITS)                                                       \
    static inline T min_##BITS(T a, T b)                                       \
    {                                                                          \
        T least = a < b || (a == b && signbit(a)) ? a : b;                     \
        return a != a ? (b != b ? b + b : b) : b != b ? a : least;             \
    }                                                                          \
    static inline T max_##BITS(T a, T b)                                       \
    {                                                                          \
        T most = a > b || (a == b && signbit(b)) ? a : b;                      \
        return a != a ? (b != b ? b + b : b) : b != b ? a : most;              \
    }
MIN_MAX(float, f32_)
MIN_MAX(double, f64_)

// .xorsign.abs: of the magnitudes, with the product of the signs.
static inline float pick_f32(float a, float b, bool least, unsigned flags)
{
    bool xorsign = flags & F_XORSIGN;
    uint32_t sign = (bits_of_f32(a) ^ bits_of_f32(b)) & F32_SIGN;
    float x = FLUSHED(a), y = FLUSHED(b);
    x = xorsign ? fabsf(x) : x;
    y = xorsign ? fabsf(y) : y;
    float picked = least ? min_f32_(x, y) : max_f32_(x, y);
    if (flags & F_NAN && (x != x || y != y))
        picked = NAN;
    if (xorsign)
        picked = f32_of_bits(bits_of_f32(picked) ^ sign);
    return canonical_f32(picked);
}
ROUNDED_BINARY(min_f32, f32, f32, f32, pick_f32(a, b, true, flags))
ROUNDED_BINARY(max_f32, f32, f32, f32, pick_f32(a, b, false, flags))
BINARY(min_f64, f64, f64, f64, min_f64_(a, b))
BINARY(max_f64, f64, f64, f64, max_f64_(a, b))

// ---- properties -----------------------------------------------------------------

#define F64_INFINITY        (UINT64_C(0x7ff) << 52)
#define F64_SMALLEST_NORMAL (UINT64_C(1) << 52)
// A zero counts as normal.
#define TESTP(T, BITS, INFINITE, NORMAL, SIGN)                                 \
    UNARY(testp_finite_##T, pred, BITS, (a & ~SIGN) < INFINITE)                \
    UNARY(testp_infinite_##T, pred, BITS, (a & ~SIGN) == INFINITE)             \
    UNARY(testp_number_##T, pred, BITS, (a & ~SIGN) <= INFINITE)               \
    UNARY(testp_notanumber_##T, pred, BITS, (a & ~SIGN) > INFINITE)            \
    UNARY(testp_normal_##T, pred, BITS,                                        \
          (a & ~SIGN) - 1 >= NORMAL - 1 && (a & ~SIGN) < INFINITE)             \
    UNARY(testp_subnormal_##T, pred, BITS,                                     \
          (a & ~SIGN) < NORMAL && (a & ~SIGN) > 0)
TESTP(f32, u32, F32_INFINITY, UINT32_C(0x800000), F32_SIGN)
TESTP(f64, u64, F64_INFINITY, F64_SMALLEST_NORMAL, F64_SIGN)
