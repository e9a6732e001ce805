// Macros for handlers that compute each lane from the same lane of their
// operands. A handler is compiled in two forms, for all lanes and for some,
// and every file of handlers twice, plain and for AVX2 (build.mk). The loops
// are plain so that the compiler vectorises them: a row is never a part of
// another, a destination is a source or apart from it.
//
//   BINARY(add_s32, u32, u32, u32, a + b)
//
// defines add_s32: destination type, source types, and the value of a lane in
// terms of a, b, c (of the source types) and i->flags. Types: u8 s8 u16 s16
// u32 s32 u64 s64 f32 f64 pred (a pred is 0 or ~0 as a uint32_t; a value of
// type pred may be any truth value).
// Wrap-around arithmetic is written with unsigned types; an expression is
// also computed for lanes that are off and must not trap.
#pragma once

#include "warp.h"

#ifdef EXEC_AVX2
#define FORM(NAME, FORM_) NAME##_##FORM_##_avx2
#define OPS ops_avx2
#else
#define FORM(NAME, FORM_) NAME##_##FORM_
#define OPS ops_base
#endif

// The head of a handler's form: full or some.
#define HANDLER(NAME, FORM_)                                                   \
    const struct inst *FORM(NAME, FORM_)(struct warp * w, const struct inst *i)
#define DECLARE_HANDLER(NAME)                                                  \
    HANDLER(NAME, full);                                                       \
    HANDLER(NAME, some);

// Type of an element of a row, and of the value in it.
#define SLOT_u8   uint32_t
#define SLOT_s8   uint32_t
#define SLOT_u16  uint32_t
#define SLOT_s16  uint32_t
#define SLOT_u32  uint32_t
#define SLOT_s32  int32_t
#define SLOT_u64  uint64_t
#define SLOT_s64  int64_t
#define SLOT_f32  float
#define SLOT_f64  double
#define SLOT_pred uint32_t
#define VALUE_u8   uint8_t
#define VALUE_s8   int8_t
#define VALUE_u16  uint16_t
#define VALUE_s16  int16_t
#define VALUE_u32  uint32_t
#define VALUE_s32  int32_t
#define VALUE_u64  uint64_t
#define VALUE_s64  int64_t
#define VALUE_f32  float
#define VALUE_f64  double
#define VALUE_pred uint32_t

// From a value to what the row holds.
#define PUT_u8(x)   ((uint8_t)(x))
#define PUT_s8(x)   ((uint8_t)(x))
#define PUT_u16(x)  ((uint16_t)(x))
#define PUT_s16(x)  ((uint16_t)(x))
#define PUT_u32(x)  ((uint32_t)(x))
#define PUT_s32(x)  ((int32_t)(x))
#define PUT_u64(x)  ((uint64_t)(x))
#define PUT_s64(x)  ((int64_t)(x))
#define PUT_f32(x)  ((float)(x))
#define PUT_f64(x)  ((double)(x))
#define PUT_pred(x) ((x) ? UINT32_C(0xffffffff) : 0)

#define EACH_LANE                                                              \
    _Pragma("GCC ivdep") for (unsigned l = 0; l < WARP_LANES; l++)

#define LANES_(NAME, TD, ROWS, VALUES, EXPR)                                   \
    HANDLER(NAME, full)                                                        \
    {                                                                          \
        SLOT_##TD *d = warp_row(w, i->d);                                      \
        ROWS EACH_LANE                                                         \
        {                                                                      \
            VALUES d[l] = (SLOT_##TD)PUT_##TD(EXPR);                           \
        }                                                                      \
        return i + 1;                                                          \
    }                                                                          \
    HANDLER(NAME, some)                                                        \
    {                                                                          \
        SLOT_##TD *d = warp_row(w, i->d);                                      \
        const uint32_t *on = w->mask_row;                                      \
        ROWS EACH_LANE                                                         \
        {                                                                      \
            VALUES SLOT_##TD value = (SLOT_##TD)PUT_##TD(EXPR);                \
            d[l] = on[l] ? value : d[l];                                       \
        }                                                                      \
        return i + 1;                                                          \
    }

#define ROW_(T, x)   const SLOT_##T *row_##x = warp_row(w, i->x);
#define VALUE_(T, x) const VALUE_##T x = (VALUE_##T)row_##x[l];

#define UNARY(NAME, TD, TA, EXPR)                                              \
    LANES_(NAME, TD, ROW_(TA, a), VALUE_(TA, a), EXPR)
#define BINARY(NAME, TD, TA, TB, EXPR)                                         \
    LANES_(NAME, TD, ROW_(TA, a) ROW_(TB, b), VALUE_(TA, a) VALUE_(TB, b),     \
           EXPR)
#define TERNARY(NAME, TD, TA, TB, TC, EXPR)                                    \
    LANES_(NAME, TD, ROW_(TA, a) ROW_(TB, b) ROW_(TC, c),                      \
           VALUE_(TA, a) VALUE_(TB, b) VALUE_(TC, c), EXPR)
