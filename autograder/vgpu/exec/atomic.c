// Atomics (PTX ISA 9.7.13.5 and 9.7.13.6). Lanes update memory one after the
// other, the lowest first; across host threads by compare and swap.
#include <string.h>

#include "access.h"

// Updates *at; returns what was there, and whether it has changed.
typedef uint64_t update(void *at, uint64_t b, uint64_t c, bool shared_by_hosts,
                        bool *changed);

#define UPDATE(NAME, T, EXPR)                                                  \
    static uint64_t do_##NAME(void *at, uint64_t b64, uint64_t c64,            \
                              bool shared_by_hosts, bool *changed)             \
    {                                                                          \
        T *p = at, b = (T)b64, c = (T)c64, new;                                \
        T old = __atomic_load_n(p, __ATOMIC_RELAXED);                          \
        (void)b;                                                               \
        (void)c;                                                               \
        do                                                                     \
            new = (T)(EXPR);                                                   \
        while (shared_by_hosts &&                                              \
               !__atomic_compare_exchange_n(p, &old, new, false,               \
                                            __ATOMIC_SEQ_CST,                  \
                                            __ATOMIC_SEQ_CST));                \
        if (!shared_by_hosts)                                                  \
            *p = new;                                                          \
        *changed |= old != new;                                                \
        return old;                                                            \
    }

// ---- values of floats, by their bits -----------------------------------------

static float f32_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t add_f64(uint64_t a, uint64_t b)
{
    double x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x += y;
    memcpy(&a, &x, sizeof a);
    return a;
}

// Sums of halves are exact in a float, so that one rounding is made.
static uint16_t add_f16(uint16_t a, uint16_t b)
{
    _Float16 x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (_Float16)((float)x + (float)y);
    memcpy(&a, &x, sizeof a);
    return a;
}

static uint16_t add_bf16(uint16_t a, uint16_t b)
{
    float x = f32_of((uint32_t)a << 16) + f32_of((uint32_t)b << 16);
    uint32_t bits = bits_of_f32(x);
    if (x != x)
        return 0x7fff;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint32_t add_halves(uint32_t a, uint32_t b,
                           uint16_t (*add)(uint16_t, uint16_t))
{
    return add((uint16_t)a, (uint16_t)b) |
           (uint32_t)add((uint16_t)(a >> 16), (uint16_t)(b >> 16)) << 16;
}

// ---- a warp's worth ------------------------------------------------------------

static uint64_t value_at(const void *row, unsigned lane, unsigned size)
{
    if (size == 8)
        return ((const uint64_t *)row)[lane];
    return ((const uint32_t *)row)[lane];
}

static void update_lanes(const struct access *a, struct warp *w,
                         const struct inst *i, unsigned size, update *op,
                         bool shared_by_hosts)
{
    const void *b = warp_row(w, i->b), *c = warp_row(w, i->c);
    void *d = warp_row(w, i->d);
    bool changed = false;
    for (uint32_t left = a->mask; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        uint64_t old = op(access_pointer(a, l), value_at(b, l, size),
                          value_at(c, l, size), shared_by_hosts, &changed);
        if (size == 8)
            ((uint64_t *)d)[l] = old;
        else
            ((uint32_t *)d)[l] = (uint32_t)old;
    }
    if (changed) {
        w->polled = false;
        w->spins = 0;
        w->worker->progressed = true;
    }
}

static const struct inst *atomic(struct warp *w, const struct inst *i,
                                 unsigned size, update *op)
{
    struct access a;
    enum access_space space = i->flags & ACCESS_SPACE;
    access_addresses(&a, w, i);
    w->polled = true;
    for (uint32_t left = w->mask; left;) {
        uint32_t lanes = left;
        if ((i->flags & ACCESS_SPACE) == AT_GENERIC)
            lanes = access_group(&a, w, left, &space);
        left &= ~lanes;
        if (!access_check(&a, w, i, space, lanes, size, ACCESS_ATOMIC))
            return NULL;
        update_lanes(&a, w, i, size, op,
                     w->shares_memory && space == AT_GLOBAL);
    }
    return access_done(w, i);
}

#define ATOMIC(NAME, T, EXPR)                                                  \
    UPDATE(NAME, T, EXPR)                                                      \
    const struct inst *atom_##NAME(struct warp *w, const struct inst *i)       \
    {                                                                          \
        return atomic(w, i, sizeof(T), do_##NAME);                             \
    }

ATOMIC(add_u32, uint32_t, old + b)
ATOMIC(add_u64, uint64_t, old + b)
ATOMIC(add_f32, uint32_t, bits_of_f32(f32_of(old) + f32_of(b)))
ATOMIC(add_f64, uint64_t, add_f64(old, b))
ATOMIC(add_f16, uint16_t, add_f16(old, b))
ATOMIC(add_f16x2, uint32_t, add_halves(old, b, add_f16))
ATOMIC(add_bf16, uint16_t, add_bf16(old, b))
ATOMIC(add_bf16x2, uint32_t, add_halves(old, b, add_bf16))
ATOMIC(min_u32, uint32_t, old < b ? old : b)
ATOMIC(min_s32, int32_t, old < b ? old : b)
ATOMIC(min_u64, uint64_t, old < b ? old : b)
ATOMIC(min_s64, int64_t, old < b ? old : b)
ATOMIC(max_u32, uint32_t, old > b ? old : b)
ATOMIC(max_s32, int32_t, old > b ? old : b)
ATOMIC(max_u64, uint64_t, old > b ? old : b)
ATOMIC(max_s64, int64_t, old > b ? old : b)
ATOMIC(inc_u32, uint32_t, old >= b ? 0 : old + 1)
ATOMIC(dec_u32, uint32_t, old == 0 || old > b ? b : old - 1)
ATOMIC(and_u32, uint32_t, old & b)
ATOMIC(and_u64, uint64_t, old & b)
ATOMIC(or_u32, uint32_t, old | b)
ATOMIC(or_u64, uint64_t, old | b)
ATOMIC(xor_u32, uint32_t, old ^ b)
ATOMIC(xor_u64, uint64_t, old ^ b)
ATOMIC(exch_u32, uint32_t, b)
ATOMIC(exch_u64, uint64_t, b)
ATOMIC(cas_u16, uint16_t, old == b ? c : old)
ATOMIC(cas_u32, uint32_t, old == b ? c : old)
ATOMIC(cas_u64, uint64_t, old == b ? c : old)
