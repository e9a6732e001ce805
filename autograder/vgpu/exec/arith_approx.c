// Approximate functions of 32-bit floats (PTX ISA 9.7.3.8, 13 to 22). They
// are computed in double and rounded once, so that they lie well within the
// errors that the CUDA guide states; special values are as an H200 has them.
#include "approx.h"

#define FLUSHED(x) flush_f32(x, flags)

// ---- quotients and roots ------------------------------------------------------

// Divisors from 2^126 on have a reciprocal that is flushed.
static inline float div_approx(float a, float b)
{
    float quotient = a / b;
    bool huge = fabsf(b) > 0x1p126f && fabsf(b) < INFINITY;
    float flushed = fabsf(a) < INFINITY ? copysignf(0, quotient) : NAN;
    return huge && a == a ? flushed : quotient;
}

ROUNDED_BINARY(div_approx_f32, f32, f32, f32,
               finish_f32(div_approx(FLUSHED(a), FLUSHED(b)), flags))
ROUNDED_UNARY(rcp_approx_f32, f32, f32, finish_f32(1 / FLUSHED(a), flags))
ROUNDED_UNARY(sqrt_approx_f32, f32, f32, finish_f32(sqrtf(FLUSHED(a)), flags))
ROUNDED_UNARY(rsqrt_approx_f32, f32, f32,
              finish_f32((float)(1 / sqrt((double)FLUSHED(a))), flags))

// .approx.ftz.f64: the upper half of the result from that of the operand.
#define F64_UPPER UINT64_C(0xffffffff00000000)
#define CANONICAL_UPPER_NAN UINT64_C(0x7fffffff00000000)
static inline uint64_t upper_f64(double x)
{
    double kept = fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
    return x == x ? bits_of_f64(kept) & F64_UPPER : CANONICAL_UPPER_NAN;
}
static inline double upper_operand(double x)
{
    double upper = f64_of_bits(bits_of_f64(x) & F64_UPPER);
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : upper;
}
UNARY(rcp_approx_f64, u64, f64, upper_f64(1 / upper_operand(a)))
UNARY(rsqrt_approx_ftz_f64, u64, f64, upper_f64(1 / sqrt(upper_operand(a))))
UNARY(rsqrt_approx_f64, f64, f64, 1 / sqrt(a))

// ---- powers of two and logarithms ----------------------------------------------

// log2 of a positive double: exponent and 2 atanh((m - 1) / (m + 1)) / ln 2
// for m from sqrt(1/2) to sqrt(2).
static inline double log2_double(double x)
{
    uint64_t bits = bits_of_f64(x) + UINT64_C(0x00095f619980c433);
    double exponent = (double)((int32_t)(bits >> 52) - 1023);
    double m = f64_of_bits((bits & UINT64_C(0xfffffffffffff)) +
                           UINT64_C(0x3fe6a09e667f3bcd));
    double s = (m - 1) / (m + 1), q = s * s;
    double sum = 1.0 / 13;
    sum = 1.0 / 11 + q * sum;
    sum = 1.0 / 9 + q * sum;
    sum = 1.0 / 7 + q * sum;
    sum = 1.0 / 5 + q * sum;
    sum = 1.0 / 3 + q * sum;
    sum = 1.0 + q * sum;
    return exponent + 0x1.71547652b82fep+1 * s * sum;
}

static inline float lg2_approx(float x)
{
    float log = (float)log2_double(x);
    log = x == 0 ? -INFINITY : log;
    log = x < 0 ? NAN : log;
    return fabsf(x) < INFINITY || x < 0 ? log : x;
}

ROUNDED_UNARY(ex2_approx_f32, f32, f32,
              finish_f32(ex2_approx(FLUSHED(a)), flags))
ROUNDED_UNARY(lg2_approx_f32, f32, f32,
              finish_f32(lg2_approx(FLUSHED(a)), flags))

// ---- circular and hyperbolic functions -------------------------------------------

// sin(2 pi turns) for |turns| <= 0.5, folded to a quarter turn; Taylor's
// series to the 15th power, error below 2^-33.
static inline double sin_turns(double turns)
{
    double folded = fabs(turns) > 0.25 ? copysign(0.5, turns) - turns : turns;
    double x = folded * 0x1.921fb54442d18p+2, q = -x * x;
    double sum = 1 + q / (14 * 15);
    sum = 1 + q / (12 * 13) * sum;
    sum = 1 + q / (10 * 11) * sum;
    sum = 1 + q / (8 * 9) * sum;
    sum = 1 + q / (6 * 7) * sum;
    sum = 1 + q / (4 * 5) * sum;
    sum = 1 + q / (2 * 3) * sum;
    return x * sum;
}

// As the hardware does, the argument is brought to turns in f32, rounded
// towards zero: that is the error which grows with it.
static inline double turns_of(float x)
{
    double exact = x * 0x1.45f306p-3;
    float turns = (float)exact;
    if (fabs((double)turns) > fabs(exact))
        turns = f32_of_bits(bits_of_f32(turns) - 1);
    return (double)turns - rint((double)turns);
}

// Small arguments are flushed whether asked for or not, infinities give NaN.
static inline float sin_approx(float x)
{
    float sine = (float)sin_turns(turns_of(x));
    return fabsf(x) < F32_SMALLEST_NORMAL ? copysignf(0, x) : sine;
}

static inline float cos_approx(float x)
{
    double turns = turns_of(x) + 0.25;
    return (float)sin_turns(turns - rint(turns));
}

ROUNDED_UNARY(sin_approx_f32, f32, f32,
              finish_f32(sin_approx(FLUSHED(a)), flags))
ROUNDED_UNARY(cos_approx_f32, f32, f32,
              finish_f32(cos_approx(FLUSHED(a)), flags))
ROUNDED_UNARY(tanh_approx_f32, f32, f32, finish_f32(tanh_approx(a), flags))
