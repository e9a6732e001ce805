// Loads and stores (PTX ISA 9.7.9.8 to 9.7.9.11), an element type a handler.
#include <string.h>

#include "access.h"
#include "lanes.h"

static inline unsigned vector_length(const struct inst *i)
{
    return i->flags >> ACCESS_VECTOR_SHIFT & ACCESS_VECTOR;
}

// ---- the commonest case --------------------------------------------------------

// All 32 lanes, one behind the other, in memory that nobody watches: where
// they are, or NULL when this access is not so simple.
static inline __attribute__((always_inline)) uint8_t *
side_by_side(struct warp *w, const struct inst *i, unsigned size)
{
    unsigned space = i->flags & ACCESS_SPACE;
    uint64_t first, differs = 0;
    if (w->partial | w->watched | w->switches | (w->past_barrier != 0) ||
        space > AT_SHARED || vector_length(i) != 1)
        return NULL;
    if (i->flags & ACCESS_ADDR32) {
        const uint32_t *row = warp_row(w, i->a);
        uint32_t some = row[0], odd = 0;
        for (unsigned l = 0; l < WARP_LANES; l++)
            odd |= row[l] ^ (some + l * size);
        differs = odd;
        first = (uint32_t)(some + (uint32_t)i->imm);
    } else {
        const uint64_t *row = warp_row(w, i->a);
        uint64_t some = row[0];
        for (unsigned l = 0; l < WARP_LANES; l++)
            differs |= row[l] ^ (some + (uint64_t)l * size);
        first = some + (uint64_t)i->imm;
    }
    if (differs | (first & (size - 1)))
        return NULL;
    const struct extent *extent = extent_of(w, i);
    uint64_t lo = space == AT_SHARED ? 0 : extent->lo;
    uint64_t hi = space == AT_SHARED ? w->shared_bytes : extent->hi;
    uint64_t nbytes = (uint64_t)WARP_LANES * size;
    if (first < lo || first > hi || hi - first < nbytes)
        return NULL;
    return space == AT_SHARED ? w->shared + first
                              : (uint8_t *)(uintptr_t)first;
}

// ---- loads -------------------------------------------------------------------

// Puts a value of `size` bytes in a register's lane.
static inline __attribute__((always_inline)) void
put(void *row, unsigned l, const void *from, unsigned size, bool is_signed,
    bool wide)
{
    uint64_t value = 0;
    memcpy(&value, from, size);
    if (is_signed && size < 8)
        value = (uint64_t)((int64_t)(value << (64 - 8 * size)) >>
                           (64 - 8 * size));
    if (wide)
        ((uint64_t *)row)[l] = value;
    else
        ((uint32_t *)row)[l] = (uint32_t)value;
}

static inline __attribute__((always_inline)) void
load_element(const struct access *a, void *row, unsigned at, unsigned size,
             bool is_signed, bool wide)
{
    if (a->uniform && a->mask == ALL_LANES) {
        const uint8_t *from = access_pointer(a, 0) + at;
        uint8_t copy[8];
        memcpy(copy, from, size);
        for (unsigned l = 0; l < WARP_LANES; l++)
            put(row, l, copy, size, is_signed, wide);
    } else if (a->mask == ALL_LANES && a->stride == 0) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            put(row, l, a->base + a->offset[l] + at, size, is_signed, wide);
    } else {
        for (uint32_t left = a->mask; left; left &= left - 1) {
            unsigned l = (unsigned)__builtin_ctz(left);
            put(row, l, access_pointer(a, l) + at, size, is_signed, wide);
        }
    }
}

static inline __attribute__((always_inline)) void
load_values(const struct access *a, struct warp *w, const struct inst *i,
            unsigned size, bool is_signed)
{
    const uint32_t rows[4] = {i->d, i->b, i->c, i->e};
    unsigned n = vector_length(i);
    bool wide = i->flags & ACCESS_WIDE;
    if (a->contiguous && n == 1 && size == (wide ? 8 : 4)) {
        memcpy(warp_row(w, i->d), a->base + a->offset[0],
               (size_t)WARP_LANES * size);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        if (wide)
            load_element(a, warp_row(w, rows[k]), k * size, size, is_signed,
                         true);
        else if (size < 8)
            load_element(a, warp_row(w, rows[k]), k * size, size, is_signed,
                         false);
    }
}

// One value of a kernel's parameters is the same for all lanes.
static inline __attribute__((always_inline)) const struct inst *
load_uniform(struct warp *w, const struct inst *i, unsigned size,
             bool is_signed)
{
    uint64_t value[1];
    const uint32_t *on = w->mask_row;
    bool wide = i->flags & ACCESS_WIDE;
    put(value, 0, w->params + i->imm, size, is_signed, true);
    if (wide) {
        uint64_t *d = warp_row(w, i->d);
        EACH_LANE
        d[l] = on[l] ? value[0] : d[l];
    } else {
        uint32_t *d = warp_row(w, i->d), word = (uint32_t)value[0];
        EACH_LANE
        d[l] = on[l] ? word : d[l];
    }
    return i + 1;
}

// Parameters have no address that a lane computes.
static inline __attribute__((always_inline)) bool
find_parameter(struct access *a, struct warp *w, const struct inst *i)
{
    unsigned space = i->flags & ACCESS_SPACE;
    if (space < AT_PARAM_HERE)
        return false;
    memset(a->offset, 0, sizeof a->offset);
    a->mask = w->mask;
    a->contiguous = false;
    a->uniform = space == AT_PARAM_HERE;
    if (space == AT_PARAM_HERE) {
        a->base = (uint8_t *)(uintptr_t)w->params + i->imm;
        a->stride = 0;
    } else {
        const struct frame *f = path_current(w)->frame;
        a->base = f->params + i->imm;
        a->stride = f->function->param_stride;
    }
    return true;
}

// A load that may wait for another thread, or for the host.
static inline void note_poll(struct warp *w, const struct inst *i,
                             uint64_t address)
{
    if (!(i->flags & ACCESS_POLL))
        return;
    w->polled = true;
    if (address - VGPU_HOST_BASE < VGPU_HOST_SPAN)
        w->worker->polls_host = true;
}

static inline __attribute__((always_inline)) const struct inst *
load(struct warp *w, const struct inst *i, unsigned size, bool is_signed)
{
    struct access a;
    unsigned nbytes = size * vector_length(i);
    enum access_space space = i->flags & ACCESS_SPACE;
    if (space == AT_PARAM_HERE && nbytes == size)
        return load_uniform(w, i, size, is_signed);
    const uint8_t *all = side_by_side(w, i, size);
    if (all && size == (i->flags & ACCESS_WIDE ? 8 : 4)) {
        note_poll(w, i, (uint64_t)(uintptr_t)all);
        memcpy(warp_row(w, i->d), all, (size_t)WARP_LANES * size);
        return i + 1;
    }
    if (find_parameter(&a, w, i)) {
        load_values(&a, w, i, size, is_signed);
        return i + 1;
    }
    access_addresses(&a, w, i);
    note_poll(w, i, a.offset[0]);
    for (uint32_t left = w->mask; left;) {
        uint32_t lanes = left;
        if ((i->flags & ACCESS_SPACE) == AT_GENERIC)
            lanes = access_group(&a, w, left, &space);
        left &= ~lanes;
        if (!access_check(&a, w, i, space, lanes, nbytes, ACCESS_LOAD))
            return NULL;
        load_values(&a, w, i, size, is_signed);
    }
    return access_done(w, i);
}

// ---- stores ------------------------------------------------------------------

static inline __attribute__((always_inline)) void
store_element(const struct access *a, const void *row, unsigned at,
              unsigned size, bool wide)
{
    const uint8_t *from = row;
    size_t step = wide ? 8 : 4;
    if (a->mask == ALL_LANES && a->stride == 0) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            memcpy(a->base + a->offset[l] + at, from + l * step, size);
        return;
    }
    for (uint32_t left = a->mask; left; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        memcpy(access_pointer(a, l) + at, from + l * step, size);
    }
}

static inline __attribute__((always_inline)) void
store_values(const struct access *a, struct warp *w, const struct inst *i,
             unsigned size)
{
    const uint32_t rows[4] = {i->b, i->c, i->e, i->d};
    unsigned n = vector_length(i);
    bool wide = i->flags & ACCESS_WIDE;
    if (a->contiguous && n == 1 && size == (wide ? 8 : 4)) {
        memcpy(a->base + a->offset[0], warp_row(w, i->b),
               (size_t)WARP_LANES * size);
        return;
    }
    for (unsigned k = 0; k < n; k++)
        store_element(a, warp_row(w, rows[k]), k * size, size, wide);
}

// Whoever waits for this store may go on.
static inline const struct inst *stored(struct warp *w, const struct inst *i)
{
    w->polled = false;
    w->spins = 0;
    w->worker->progressed = true;
    return access_done(w, i);
}

static inline __attribute__((always_inline)) const struct inst *
store(struct warp *w, const struct inst *i, unsigned size)
{
    struct access a;
    unsigned nbytes = size * vector_length(i);
    enum access_space space = i->flags & ACCESS_SPACE;
    uint8_t *all = side_by_side(w, i, size);
    if (all && size == (i->flags & ACCESS_WIDE ? 8 : 4)) {
        memcpy(all, warp_row(w, i->b), (size_t)WARP_LANES * size);
        return stored(w, i);
    }
    if (space == AT_PARAM_HERE)
        return warp_fault(w, i, LAUNCH_ILLEGAL_INSTRUCTION,
                          (unsigned)__builtin_ctz(w->mask), 0,
                          "writes to a parameter of the kernel");
    if (find_parameter(&a, w, i)) {
        store_values(&a, w, i, size);
        return i + 1;
    }
    access_addresses(&a, w, i);
    for (uint32_t left = w->mask; left;) {
        uint32_t lanes = left;
        if ((i->flags & ACCESS_SPACE) == AT_GENERIC)
            lanes = access_group(&a, w, left, &space);
        left &= ~lanes;
        if (!access_check(&a, w, i, space, lanes, nbytes, ACCESS_STORE))
            return NULL;
        store_values(&a, w, i, size);
    }
    return space == AT_LOCAL ? access_done(w, i) : stored(w, i);
}

// ---- the handlers ------------------------------------------------------------

#define BOTH_FORMS(NAME, CALL)                                                 \
    HANDLER(NAME, full)                                                        \
    {                                                                          \
        return CALL;                                                           \
    }                                                                          \
    HANDLER(NAME, some)                                                        \
    {                                                                          \
        return CALL;                                                           \
    }
BOTH_FORMS(ld_u8, load(w, i, 1, false))
BOTH_FORMS(ld_s8, load(w, i, 1, true))
BOTH_FORMS(ld_u16, load(w, i, 2, false))
BOTH_FORMS(ld_s16, load(w, i, 2, true))
BOTH_FORMS(ld_u32, load(w, i, 4, false))
BOTH_FORMS(ld_s32, load(w, i, 4, true))
BOTH_FORMS(ld_b64, load(w, i, 8, false))
BOTH_FORMS(st_b8, store(w, i, 1))
BOTH_FORMS(st_b16, store(w, i, 2))
BOTH_FORMS(st_b32, store(w, i, 4))
BOTH_FORMS(st_b64, store(w, i, 8))
