// Moves, packing, and addresses (PTX ISA 9.7.9).
#include "control.h"
#include "lanes.h"

UNARY(mov_b32, u32, u32, a)
UNARY(mov_b64, u64, u64, a)

// mov.b64 d, {a, b} and its kin: the first element is the lowest.
BINARY(pack_2x32, u64, u32, u32, (uint64_t)b << 32 | a)
BINARY(pack_2x16, u32, u16, u16, (uint32_t)b << 16 | a)
BINARY(pack_2x8, u16, u8, u8, (uint32_t)b << 8 | a)
LANES_(pack_4x16, u64,
       ROW_(u16, a) ROW_(u16, b) ROW_(u16, c) ROW_(u16, e),
       VALUE_(u16, a) VALUE_(u16, b) VALUE_(u16, c) VALUE_(u16, e),
       (uint64_t)e << 48 | (uint64_t)c << 32 | (uint64_t)b << 16 | a)
LANES_(pack_4x8, u32, ROW_(u8, a) ROW_(u8, b) ROW_(u8, c) ROW_(u8, e),
       VALUE_(u8, a) VALUE_(u8, b) VALUE_(u8, c) VALUE_(u8, e),
       (uint32_t)e << 24 | (uint32_t)c << 16 | (uint32_t)b << 8 | a)

// mov.b64 {d, d2, b, c}, a: into as many rows as imm says, flags bits each.
static inline void unpack(struct warp *w, const struct inst *i, uint64_t *a)
{
    const uint32_t rows[4] = {i->d, i->d2, i->b, i->c};
    const uint32_t *on = w->mask_row;
    uint64_t keep = i->flags == 32 ? UINT32_MAX : (1u << i->flags) - 1;
    for (int64_t k = 0; k < i->imm; k++) {
        uint32_t *d = warp_row(w, rows[k]);
        unsigned shift = (unsigned)k * i->flags;
        EACH_LANE
        d[l] = on[l] ? (uint32_t)(a[l] >> shift & keep) : d[l];
    }
}

HANDLER(unpack_b64, some)
{
    unpack(w, i, warp_row(w, i->a));
    return i + 1;
}

HANDLER(unpack_b64, full)
{
    return FORM(unpack_b64, some)(w, i);
}

HANDLER(unpack_b32, some)
{
    const uint32_t *a = warp_row(w, i->a);
    uint64_t wide[WARP_LANES];
    EACH_LANE
    wide[l] = a[l];
    unpack(w, i, wide);
    return i + 1;
}

HANDLER(unpack_b32, full)
{
    return FORM(unpack_b32, some)(w, i);
}

// cvta: imm is the window of the space (0 for global and const).
UNARY(cvta_b64, u64, u64, a + (uint64_t)i->imm)
UNARY(cvta_to_b64, u64, u64, a - (uint64_t)i->imm)
UNARY(cvta_b32, u32, u32, a)

// isspacep: whether a generic address lies in the window imm; global (and
// const, which lies there too) when imm is 0.
static inline bool in_space(uint64_t address, uint64_t window)
{
    uint64_t base = address & ~(VGPU_WINDOW_BYTES - 1);
    if (window != 0)
        return base == window;
    return base != VGPU_SHARED_WINDOW && base != VGPU_LOCAL_WINDOW &&
           base != VGPU_PARAM_WINDOW;
}
UNARY(isspacep_b64, pred, u64, in_space(a, (uint64_t)i->imm))
