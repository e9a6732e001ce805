// Halves and pairs of them: f16, f16x2, bf16, bf16x2 (PTX ISA 9.7.4, 9.7.7).
//
// Sums and products of halves are computed in a format wide enough that
// rounding them once more does no harm; an fma through a sum rounded to odd.
#include "approx.h"
#include "compare.h"

#define ONE_F16  0x3c00u
#define ONE_BF16 0x3f80u
#define SIGN_F16 0x8000u

// ---- operands and results ---------------------------------------------------

static inline uint32_t flush_f16(uint32_t x, unsigned flags)
{
    return flags & F_FTZ && (x & 0x7fff) < 0x400 ? x & SIGN_F16 : x;
}

static inline float open_f16(uint32_t x, unsigned flags)
{
    return f32_of_f16(flush_f16(x, flags));
}

static inline float open_bf16(uint32_t x, unsigned flags)
{
    (void)flags; // bf16 knows no .ftz
    return f32_of_bf16(x);
}

// .relu: what is negative becomes 0, a NaN stays.
static inline uint32_t relu(uint32_t half, unsigned flags)
{
    return flags & F_RELU && half & SIGN_F16 ? 0 : half;
}

static inline uint32_t close_f16(float x, unsigned flags)
{
    // Flushed for what it is before it is rounded.
    bool tiny = flags & F_FTZ && fabsf(x) < 0x1p-14f;
    uint32_t half = f16_of_f32(tiny ? copysignf(0, x) : x, ROUND_RN);
    bool above = half > ONE_F16 && half <= 0x7c00;
    uint32_t held = half > 0x7c00 ? 0 : above ? ONE_F16 : half;
    return relu(flags & F_SAT ? held : half, flags);
}

static inline uint32_t close_bf16(float x, unsigned flags)
{
    return relu(bf16_of_f32(x, ROUND_RN), flags);
}

// ---- arithmetic ---------------------------------------------------------------

#define ARITHMETIC(T)                                                          \
    static inline uint32_t add_##T##_(uint32_t a, uint32_t b, unsigned flags)  \
    {                                                                          \
        return close_##T(open_##T(a, flags) + open_##T(b, flags), flags);      \
    }                                                                          \
    static inline uint32_t sub_##T##_(uint32_t a, uint32_t b, unsigned flags)  \
    {                                                                          \
        return close_##T(open_##T(a, flags) - open_##T(b, flags), flags);      \
    }                                                                          \
    static inline uint32_t mul_##T##_(uint32_t a, uint32_t b, unsigned flags)  \
    {                                                                          \
        double x = open_##T(a, flags), y = open_##T(b, flags);                 \
        return close_##T(f32_odd(x * y), flags);                               \
    }                                                                          \
    static inline uint32_t fma_##T##_(uint32_t a, uint32_t b, uint32_t c,      \
                                      unsigned flags)                          \
    {                                                                          \
        double x = open_##T(a, flags), y = open_##T(b, flags);                 \
        double sum = add_odd(x * y, open_##T(c, flags));                       \
        return close_##T(f32_odd(sum), flags);                                 \
    }                                                                          \
    static inline uint32_t ex2_##T##_(uint32_t a, unsigned flags)              \
    {                                                                          \
        return close_##T(ex2_approx(open_##T(a, flags)), flags);               \
    }                                                                          \
    static inline uint32_t tanh_##T##_(uint32_t a, unsigned flags)             \
    {                                                                          \
        return close_##T(tanh_approx(open_##T(a, flags)), flags);              \
    }
ARITHMETIC(f16)
ARITHMETIC(bf16)

// ---- signs, minimum and maximum ---------------------------------------------------

// INFINITE: the largest magnitude that is no NaN.
#define PICKING(T, INFINITE, FLUSH)                                            \
    static inline uint32_t canonical_##T(uint32_t x)                           \
    {                                                                          \
        return (x & 0x7fff) > INFINITE ? CANONICAL_NAN_F16 : x;                \
    }                                                                          \
    static inline uint32_t neg_##T##_(uint32_t a, unsigned flags)              \
    {                                                                          \
        return canonical_##T(FLUSH(a, flags) ^ SIGN_F16);                      \
    }                                                                          \
    static inline uint32_t abs_##T##_(uint32_t a, unsigned flags)              \
    {                                                                          \
        return canonical_##T(FLUSH(a, flags) & 0x7fff);                        \
    }                                                                          \
    static inline uint32_t pick_##T(uint32_t a, uint32_t b, bool least,        \
                                    unsigned flags)                            \
    {                                                                          \
        bool xorsign = flags & F_XORSIGN;                                      \
        uint32_t sign = (a ^ b) & SIGN_F16, keep = xorsign ? 0x7fff : 0xffff;  \
        uint32_t x = FLUSH(a, flags) & keep, y = FLUSH(b, flags) & keep;       \
        bool a_nan = (x & 0x7fff) > INFINITE, b_nan = (y & 0x7fff) > INFINITE; \
        /* As integers in the order of the values: -0 before +0. */            \
        int32_t i = x & SIGN_F16 ? (int32_t)~(x & 0x7fff) : (int32_t)x;        \
        int32_t j = y & SIGN_F16 ? (int32_t)~(y & 0x7fff) : (int32_t)y;        \
        uint32_t picked = (least ? i < j : i > j) ? x : y;                     \
        picked = a_nan ? y : b_nan ? x : picked;                               \
        if (flags & F_NAN && (a_nan || b_nan))                                 \
            picked = CANONICAL_NAN_F16;                                        \
        return canonical_##T(xorsign ? picked ^ sign : picked);                \
    }                                                                          \
    static inline uint32_t min_##T##_(uint32_t a, uint32_t b, unsigned flags)  \
    {                                                                          \
        return pick_##T(a, b, true, flags);                                    \
    }                                                                          \
    static inline uint32_t max_##T##_(uint32_t a, uint32_t b, unsigned flags)  \
    {                                                                          \
        return pick_##T(a, b, false, flags);                                   \
    }
#define NO_FLUSH(x, flags) (x)
PICKING(f16, 0x7c00, flush_f16)
PICKING(bf16, 0x7f80, NO_FLUSH)

// ---- handlers: of one, of two side by side --------------------------------------

#define LOW(x)  ((x) & 0xffff)
#define HIGH(x) ((x) >> 16)
#define UNARY_HALF(OP, T)                                                      \
    ROUNDED_UNARY(OP##_##T, u16, u16, OP##_##T##_(a, flags))                   \
    ROUNDED_UNARY(OP##_##T##x2, u32, u32,                                      \
                  OP##_##T##_(LOW(a), flags) |                                 \
                      OP##_##T##_(HIGH(a), flags) << 16)
#define BINARY_HALF(OP, T)                                                     \
    ROUNDED_BINARY(OP##_##T, u16, u16, u16, OP##_##T##_(a, b, flags))          \
    ROUNDED_BINARY(OP##_##T##x2, u32, u32, u32,                                \
                   OP##_##T##_(LOW(a), LOW(b), flags) |                        \
                       OP##_##T##_(HIGH(a), HIGH(b), flags) << 16)
#define TERNARY_HALF(OP, T)                                                    \
    ROUNDED_TERNARY(OP##_##T, u16, u16, u16, u16, OP##_##T##_(a, b, c, flags)) \
    ROUNDED_TERNARY(OP##_##T##x2, u32, u32, u32, u32,                          \
                    OP##_##T##_(LOW(a), LOW(b), LOW(c), flags) |               \
                        OP##_##T##_(HIGH(a), HIGH(b), HIGH(c), flags) << 16)
#define HALF(T)                                                                \
    BINARY_HALF(add, T)                                                        \
    BINARY_HALF(sub, T)                                                        \
    BINARY_HALF(mul, T)                                                        \
    TERNARY_HALF(fma, T)                                                       \
    UNARY_HALF(neg, T)                                                         \
    UNARY_HALF(abs, T)                                                         \
    BINARY_HALF(min, T)                                                        \
    BINARY_HALF(max, T)                                                        \
    UNARY_HALF(ex2, T)                                                         \
    UNARY_HALF(tanh, T)
HALF(f16)
HALF(bf16)

// ---- comparison: inst.imm and inst.flags as in compare.h ---------------------------

static inline bool compare_halves(float x, float y, int64_t code)
{
    switch (code) {
    case COMPARE_EQ:
        return x == y;
    case COMPARE_NE:
        return x < y || x > y;
    case COMPARE_LT:
        return x < y;
    case COMPARE_LE:
        return x <= y;
    case COMPARE_GT:
        return x > y;
    case COMPARE_GE:
        return x >= y;
    case COMPARE_EQU:
        return !(x < y || x > y);
    case COMPARE_NEU:
        return !(x == y);
    case COMPARE_LTU:
        return !(x >= y);
    case COMPARE_LEU:
        return !(x > y);
    case COMPARE_GTU:
        return !(x <= y);
    case COMPARE_GEU:
        return !(x < y);
    case COMPARE_NUM:
        return x == x && y == y;
    default: // COMPARE_NAN
        return x != x || y != y;
    }
}

// All ones or zero, combined with the lane of c.
static inline uint32_t combined(bool result, uint32_t c, unsigned flags)
{
    uint32_t x = result ? ALL_LANES : 0;
    switch (flags & COMPARE_BOOL) {
    case COMPARE_AND:
        return x & c;
    case COMPARE_OR:
        return x | c;
    case COMPARE_XOR:
        return x ^ c;
    default:
        return x;
    }
}

// A handler's two forms, from one that heeds the mask: comparisons of halves
// are too rare for a loop of their own.
#define MASKED(NAME, ROWS, BODY)                                               \
    HANDLER(NAME, some)                                                        \
    {                                                                          \
        const uint32_t *a = warp_row(w, i->a), *b = warp_row(w, i->b);         \
        const uint32_t *c = warp_row(w, i->c), *on = w->mask_row;              \
        ROWS for (unsigned l = 0; l < WARP_LANES; l++)                         \
        {                                                                      \
            if (!on[l])                                                        \
                continue;                                                      \
            BODY                                                               \
        }                                                                      \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(NAME, full)                                                        \
    {                                                                          \
        return FORM(NAME, some)(w, i);                                         \
    }

#define COMPARED(T, PART)                                                      \
    compare_halves(open_##T(PART(a[l]), i->flags & COMPARE_FTZ),               \
                   open_##T(PART(b[l]), i->flags & COMPARE_FTZ), i->imm)
#define D_ROW  uint32_t *d = warp_row(w, i->d);
#define D2_ROW uint32_t *d2 = warp_row(w, i->d2);

// setp: of one half d and its opposite d2; of two, a predicate each.
// set: ONE or all bits, in each half or in the whole.
#define COMPARISONS(T, ONE)                                                    \
    MASKED(setp_##T, D_ROW D2_ROW, bool r = COMPARED(T, LOW);                  \
           uint32_t with = c[l]; d[l] = combined(r, with, i->flags);           \
           d2[l] = combined(!r, with, i->flags);)                              \
    MASKED(setp_##T##x2, D_ROW D2_ROW, bool low = COMPARED(T, LOW);            \
           bool high = COMPARED(T, HIGH); uint32_t with = c[l];                \
           d[l] = combined(low, with, i->flags);                               \
           d2[l] = combined(high, with, i->flags);)                            \
    MASKED(set_##T##_##T, D_ROW,                                               \
           d[l] = combined(COMPARED(T, LOW), c[l], i->flags) & ONE;)           \
    MASKED(set_u32_##T, D_ROW,                                                 \
           d[l] = combined(COMPARED(T, LOW), c[l], i->flags);)                 \
    MASKED(set_##T##x2_##T##x2, D_ROW,                                         \
           uint32_t low = combined(COMPARED(T, LOW), c[l], i->flags);          \
           uint32_t high = combined(COMPARED(T, HIGH), c[l], i->flags);        \
           d[l] = (low & ONE) | (high & ONE) << 16;)                           \
    MASKED(set_u32_##T##x2, D_ROW,                                             \
           uint32_t low = combined(COMPARED(T, LOW), c[l], i->flags);          \
           uint32_t high = combined(COMPARED(T, HIGH), c[l], i->flags);        \
           d[l] = (low & 0xffff) | high << 16;)
COMPARISONS(f16, ONE_F16)
COMPARISONS(bf16, ONE_BF16)
