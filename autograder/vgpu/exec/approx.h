// Approximate functions that f32 and the narrow formats share.
#pragma once

#include "float.h"

// 2^x for |x| <= 0.5: the series of e^(x ln 2), error below 2^-32.
static inline double exp2_fraction(double x)
{
    double t = x * 0x1.62e42fefa39efp-1;
    double sum = 1 + t / 9;
    sum = 1 + t / 8 * sum;
    sum = 1 + t / 7 * sum;
    sum = 1 + t / 6 * sum;
    sum = 1 + t / 5 * sum;
    sum = 1 + t / 4 * sum;
    sum = 1 + t / 3 * sum;
    sum = 1 + t / 2 * sum;
    return 1 + t * sum;
}

// 2^x with x held where doubles reach: beyond, floats are 0 or infinite.
static inline double exp2_double(double x)
{
    double held = x < -300 ? -300 : x > 300 ? 300 : x;
    double whole = rint(held);
    double power = f64_of_bits((uint64_t)((int64_t)(int32_t)whole + 1023)
                               << 52);
    return exp2_fraction(held - whole) * power;
}

static inline float ex2_approx(float x)
{
    return x == x ? (float)exp2_double(x) : x;
}

static inline float tanh_approx(float x)
{
    // 2 x / ln 2, held where the result is 1.
    double t = fabs((double)x) * 0x1.71547652b82fep+1;
    double power = exp2_double(t < 100 ? t : 100);
    float large = (float)((power - 1) / (power + 1));
    // Below 2^-10 the cube is less than the last bit but two.
    float magnitude = fabsf(x) < 0x1p-10f ? fabsf(x) : large;
    return x == x ? copysignf(magnitude, x) : x;
}
