// Comparison and selection (PTX ISA 9.7.6).
//
// inst.imm holds the comparison, inst.flags what is done with its result:
//   setp  d = (a cmp b) OP c,  d2 = !(a cmp b) OP c
#include <math.h>

#include "compare.h"
#include "lanes.h"

static inline float flush(float x, unsigned flags)
{
    return flags & COMPARE_FTZ && fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

#define SAME(x, flags) (x)

// One loop a comparison, so that each is vectorised. Integers know six; lo,
// ls, hi, hs are decoded to the same.
#define COMPARE_CASE(CODE, T, OUT, PREPARE, EXPR)                              \
    case CODE:                                                                 \
        EACH_LANE                                                              \
        {                                                                      \
            const VALUE_##T x = PREPARE((VALUE_##T)a[l], flags);               \
            const VALUE_##T y = PREPARE((VALUE_##T)b[l], flags);               \
            OUT[l] = PUT_pred(EXPR);                                           \
        }                                                                      \
        break;

#define COMPARE_COMMON(T, OUT, PREPARE)                                        \
    COMPARE_CASE(COMPARE_EQ, T, OUT, PREPARE, x == y)                          \
    COMPARE_CASE(COMPARE_LT, T, OUT, PREPARE, x < y)                           \
    COMPARE_CASE(COMPARE_LE, T, OUT, PREPARE, x <= y)                          \
    COMPARE_CASE(COMPARE_GT, T, OUT, PREPARE, x > y)                           \
    COMPARE_CASE(COMPARE_GE, T, OUT, PREPARE, x >= y)

// With a NaN an ordered comparison is false, an unordered one (..U) true.
#define COMPARE_FLOAT(T, OUT, PREPARE)                                         \
    COMPARE_COMMON(T, OUT, PREPARE)                                            \
    COMPARE_CASE(COMPARE_NE, T, OUT, PREPARE, x < y || x > y)                  \
    COMPARE_CASE(COMPARE_EQU, T, OUT, PREPARE, !(x < y || x > y))              \
    COMPARE_CASE(COMPARE_NEU, T, OUT, PREPARE, !(x == y))                      \
    COMPARE_CASE(COMPARE_LTU, T, OUT, PREPARE, !(x >= y))                      \
    COMPARE_CASE(COMPARE_LEU, T, OUT, PREPARE, !(x > y))                       \
    COMPARE_CASE(COMPARE_GTU, T, OUT, PREPARE, !(x <= y))                      \
    COMPARE_CASE(COMPARE_GEU, T, OUT, PREPARE, !(x < y))                       \
    COMPARE_CASE(COMPARE_NUM, T, OUT, PREPARE, x == x && y == y)               \
    COMPARE_CASE(COMPARE_NAN, T, OUT, PREPARE, !(x == x && y == y))
#define COMPARE_INT(T, OUT, PREPARE)                                           \
    COMPARE_COMMON(T, OUT, PREPARE)                                            \
    COMPARE_CASE(COMPARE_NE, T, OUT, PREPARE, x != y)

// compare_T: a row of truth values for a cmp b.
#define COMPARE(T, CASES, PREPARE)                                             \
    static inline void compare_##T(uint32_t *out, const SLOT_##T *a,           \
                                   const SLOT_##T *b, int64_t code,            \
                                   unsigned flags)                             \
    {                                                                          \
        switch (code) {                                                        \
            CASES(T, out, PREPARE)                                             \
        default:                                                               \
            EACH_LANE                                                          \
            out[l] = 0;                                                        \
        }                                                                      \
    }
COMPARE(u16, COMPARE_INT, SAME)
COMPARE(s16, COMPARE_INT, SAME)
COMPARE(u32, COMPARE_INT, SAME)
COMPARE(s32, COMPARE_INT, SAME)
COMPARE(u64, COMPARE_INT, SAME)
COMPARE(s64, COMPARE_INT, SAME)
COMPARE(f32, COMPARE_FLOAT, flush)
COMPARE(f64, COMPARE_FLOAT, SAME)

// Lanes that are on get EXPR, the second row the same of ~r.
#define COMBINE_LANES(EXPR)                                                    \
    EACH_LANE                                                                  \
    {                                                                          \
        const uint32_t was = d[l], was2 = d2[l], with = c[l];                  \
        uint32_t r = result[l];                                                \
        uint32_t p = EXPR;                                                     \
        r = ~r;                                                                \
        uint32_t q = EXPR;                                                     \
        d[l] = on[l] ? p : was;                                                \
        d2[l] = on[l] ? q : was2;                                              \
        (void)with;                                                            \
    }                                                                          \
    break;

static inline void finish_setp(struct warp *w, const struct inst *i,
                               const uint32_t *result)
{
    uint32_t *d = warp_row(w, i->d), *d2 = warp_row(w, i->d2);
    const uint32_t *c = warp_row(w, i->c), *on = w->mask_row;
    switch (i->flags & COMPARE_BOOL) {
    case COMPARE_AND:
        COMBINE_LANES(r & with)
    case COMPARE_OR:
        COMBINE_LANES(r | with)
    case COMPARE_XOR:
        COMBINE_LANES(r ^ with)
    default:
        COMBINE_LANES(r)
    }
}

#define SETP(T)                                                                \
    HANDLER(setp_##T, some)                                                    \
    {                                                                          \
        uint32_t result[WARP_LANES];                                           \
        compare_##T(result, warp_row(w, i->a), warp_row(w, i->b), i->imm,      \
                    i->flags);                                                 \
        finish_setp(w, i, result);                                             \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(setp_##T, full)                                                    \
    {                                                                          \
        if (i->flags & ~COMPARE_FTZ)                                           \
            return FORM(setp_##T, some)(w, i);                                 \
        compare_##T(warp_row(w, i->d), warp_row(w, i->a), warp_row(w, i->b),   \
                    i->imm, i->flags);                                         \
        return i + 1;                                                          \
    }
SETP(u16)
SETP(s16)
SETP(u32)
SETP(s32)
SETP(u64)
SETP(s64)
SETP(f32)
SETP(f64)

// set: as setp, into a register: all ones, or 1.0f when asked for a float.
static inline void finish_set(struct warp *w, const struct inst *i,
                              const uint32_t *result)
{
    uint32_t *d = warp_row(w, i->d);
    const uint32_t *c = warp_row(w, i->c), *on = w->mask_row;
    uint32_t truth = i->flags & COMPARE_TO_FLOAT ? 0x3f800000 : ALL_LANES;
    unsigned how = i->flags & COMPARE_BOOL;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint32_t r = how == COMPARE_AND   ? result[l] & c[l]
                     : how == COMPARE_OR  ? result[l] | c[l]
                     : how == COMPARE_XOR ? result[l] ^ c[l]
                                          : result[l];
        d[l] = on[l] ? r & truth : d[l];
    }
}

#define SET(T)                                                                 \
    HANDLER(set_##T, some)                                                     \
    {                                                                          \
        uint32_t result[WARP_LANES];                                           \
        compare_##T(result, warp_row(w, i->a), warp_row(w, i->b), i->imm,      \
                    i->flags);                                                 \
        finish_set(w, i, result);                                              \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(set_##T, full)                                                     \
    {                                                                          \
        return FORM(set_##T, some)(w, i);                                      \
    }
SET(u16)
SET(s16)
SET(u32)
SET(s32)
SET(u64)
SET(s64)
SET(f32)
SET(f64)

TERNARY(selp_b32, u32, u32, u32, pred, c ? a : b)
TERNARY(selp_b64, u64, u64, u64, pred, c ? a : b)
TERNARY(slct_b32_s32, u32, u32, u32, s32, c >= 0 ? a : b)
TERNARY(slct_b64_s32, u64, u64, u64, s32, c >= 0 ? a : b)
TERNARY(slct_b32_f32, u32, u32, u32, f32, c >= 0 ? a : b)
TERNARY(slct_b64_f32, u64, u64, u64, f32, c >= 0 ? a : b)
