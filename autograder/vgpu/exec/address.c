// Where a warp's memory accesses go: addresses, spaces, bounds, the watcher.
#include "access.h"

#if defined __x86_64__ && defined __GNUC__ && !defined __clang__
#define VECTORIZED __attribute__((target_clones("avx2", "default")))
#else
#define VECTORIZED
#endif

static bool is_one(uint32_t lanes)
{
    return (lanes & (lanes - 1)) == 0;
}

// Of a warp with one lane on, in a space that is known: nobody looks at the
// others then.
static void lone_address(struct access *a, const struct warp *w,
                         const struct inst *i)
{
    unsigned lane = (unsigned)__builtin_ctz(w->mask);
    if (i->flags & ACCESS_ADDR32) {
        const uint32_t *row = warp_row(w, i->a);
        a->offset[lane] = (uint32_t)(row[lane] + (uint32_t)i->imm);
    } else {
        const uint64_t *row = warp_row(w, i->a);
        a->offset[lane] = row[lane] + (uint64_t)i->imm;
    }
    a->offset[0] = a->offset[lane];
}

VECTORIZED static void all_addresses(struct access *a, const struct warp *w,
                                     const struct inst *i)
{
    uint64_t *offset = a->offset;
    if (i->flags & ACCESS_ADDR32) {
        const uint32_t *row = warp_row(w, i->a);
        for (unsigned l = 0; l < WARP_LANES; l++)
            offset[l] = (uint32_t)(row[l] + (uint32_t)i->imm);
    } else {
        const uint64_t *row = warp_row(w, i->a);
        for (unsigned l = 0; l < WARP_LANES; l++)
            offset[l] = row[l] + (uint64_t)i->imm;
    }
    if (w->mask == ALL_LANES)
        return;
    uint64_t some = offset[__builtin_ctz(w->mask)];
    const uint32_t *on = w->mask_row;
    for (unsigned l = 0; l < WARP_LANES; l++)
        offset[l] = on[l] ? offset[l] : some;
}

void access_addresses(struct access *a, const struct warp *w,
                      const struct inst *i)
{
    if (is_one(w->mask) && (i->flags & ACCESS_SPACE) != AT_GENERIC)
        lone_address(a, w, i);
    else
        all_addresses(a, w, i);
}

static enum access_space space_at(uint64_t address)
{
    switch (address & ~(VGPU_WINDOW_BYTES - 1)) {
    case VGPU_SHARED_WINDOW:
        return AT_SHARED;
    case VGPU_LOCAL_WINDOW:
        return AT_LOCAL;
    case VGPU_PARAM_WINDOW:
        return AT_PARAM;
    default:
        return AT_GLOBAL;
    }
}

uint32_t access_group(struct access *a, const struct warp *w, uint32_t left,
                      enum access_space *space)
{
    uint32_t group = 0;
    (void)w;
    *space = space_at(a->offset[__builtin_ctz(left)]);
    for (unsigned l = 0; l < WARP_LANES; l++)
        group |= (uint32_t)(space_at(a->offset[l]) == *space) << l;
    group &= left;
    if (*space == AT_GLOBAL)
        return group;
    for (unsigned l = 0; l < WARP_LANES; l++)
        if (group >> l & 1)
            a->offset[l] &= VGPU_WINDOW_BYTES - 1;
    return group;
}

// ---- what may be reached -----------------------------------------------------

struct bounds {
    uint64_t lo, size; // in the terms of offset[]
};

static struct bounds bounds_of(const struct warp *w, const struct inst *i,
                               enum access_space space)
{
    const struct extent *extent;
    switch (space) {
    case AT_SHARED:
        return (struct bounds){0, w->shared_bytes};
    case AT_LOCAL:
        return (struct bounds){0, w->local_bytes};
    case AT_PARAM:
        return (struct bounds){0, w->param_bytes};
    default:
        extent = extent_of(w, i);
        return (struct bounds){extent->lo, extent->hi - extent->lo};
    }
}

static bool inside(const struct bounds *b, uint64_t offset, unsigned nbytes)
{
    return b->size >= nbytes && offset - b->lo <= b->size - nbytes;
}

static bool find_extent(struct warp *w, const struct inst *i, uint64_t address,
                        unsigned nbytes)
{
    const struct launch *l = w->block->worker->state->launch;
    uint64_t lo, hi;
    if (!memory_extent(l->memory, l->device, address, &lo, &hi))
        return false;
    *extent_of(w, i) = (struct extent){lo, hi};
    return hi - address >= nbytes;
}

static const char *space_name(enum access_space space)
{
    switch (space) {
    case AT_SHARED:
        return "shared";
    case AT_LOCAL:
        return "local";
    case AT_PARAM:
        return "parameter";
    default:
        return "global";
    }
}

static void fault_bounds(struct warp *w, const struct inst *i, unsigned lane,
                         enum access_space space, uint64_t offset,
                         unsigned nbytes, enum access_kind kind)
{
    const char *verb = kind == ACCESS_LOAD ? "reads" : kind == ACCESS_STORE
                           ? "writes" : "updates";
    if (space == AT_GLOBAL)
        warp_fault(w, i, LAUNCH_ILLEGAL_ADDRESS, lane, offset,
                   "%s %u bytes at %#llx, where no memory is allocated", verb,
                   nbytes, (unsigned long long)offset);
    else
        warp_fault(w, i, LAUNCH_ILLEGAL_ADDRESS, lane, offset,
                   "%s %u bytes at offset %llu of %llu bytes of %s memory",
                   verb, nbytes, (unsigned long long)offset,
                   (unsigned long long)bounds_of(w, i, space).size,
                   space_name(space));
}

// Lane by lane, when a look at all of them found something amiss.
static bool check_lanes(const struct access *a, struct warp *w,
                        const struct inst *i, enum access_space space,
                        uint32_t lanes, unsigned nbytes, enum access_kind kind)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        uint64_t offset = a->offset[lane];
        struct bounds b = bounds_of(w, i, space);
        bool good = inside(&b, offset, nbytes) ||
                    (space == AT_GLOBAL && find_extent(w, i, offset, nbytes));
        if (!good) {
            fault_bounds(w, i, lane, space, offset, nbytes, kind);
            return false;
        }
        if (offset & (nbytes - 1)) {
            warp_fault(w, i, LAUNCH_MISALIGNED, lane, offset,
                       "an access of %u bytes at %#llx, which is no multiple "
                       "of %u", nbytes, (unsigned long long)offset, nbytes);
            return false;
        }
    }
    return true;
}

// ---- the watcher ---------------------------------------------------------------

static void tell_values(struct mem_access *m, const struct warp *w,
                        const struct inst *i)
{
    const uint32_t rows[4] = {i->b, i->c, i->e, i->d};
    m->nvalues = i->flags >> ACCESS_VECTOR_SHIFT & ACCESS_VECTOR;
    m->wide = i->flags & ACCESS_WIDE;
    for (uint32_t k = 0; k < m->nvalues && k < 4; k++)
        m->values[k] = warp_row(w, rows[k]);
}

static uint32_t tell_watcher(const struct access *a, struct warp *w,
                             const struct inst *i, enum access_space space,
                             uint32_t lanes, unsigned nbytes,
                             enum access_kind kind)
{
    static const uint8_t spaces[] = {
        [AT_GLOBAL] = SPACE_GLOBAL, [AT_SHARED] = SPACE_SHARED,
        [AT_LOCAL] = SPACE_LOCAL, [AT_PARAM] = SPACE_PARAM};
    const struct launch *l = w->block->worker->state->launch;
    struct warp_view view = {&w->block->view, w->index};
    struct mem_access m = {
        .space = (enum ptx_space)spaces[space],
        .kind = kind,
        .nbytes = nbytes,
        .align = nbytes,
        .mask = lanes,
        .contiguous = a->contiguous,
        .is_volatile = i->flags & ACCESS_VOLATILE,
        .addr = a->offset,
        .func = path_current(w)->frame->function->src,
        .inst = i->src,
    };
    if (i->flags & ACCESS_CONST)
        m.space = SPACE_CONST;
    if (kind == ACCESS_STORE)
        tell_values(&m, w, i);
    return l->watcher->access(l->watcher->self, &view, &m);
}

static uint8_t *base_of(const struct warp *w, enum access_space space)
{
    switch (space) {
    case AT_SHARED:
        return w->shared;
    case AT_LOCAL:
        return w->local;
    case AT_PARAM:
        return (uint8_t *)(uintptr_t)w->params; // decoded for loads only
    default:
        return NULL; // a device address is an address of this process
    }
}

// Whether all lanes are in bounds and aligned, by one look; says how they lie.
VECTORIZED static bool survey(struct access *a, const struct bounds *b,
                              unsigned nbytes)
{
    uint64_t span = b->size - nbytes, first = a->offset[0], lo = b->lo;
    uint64_t outside = span, low = 0, step = 0, differs = 0;
    for (unsigned l = 0; l < WARP_LANES; l++) {
        uint64_t offset = a->offset[l], from = offset - lo;
        outside |= from | (span - from); // top bit: negative, or past the end
        low |= offset;
        step |= offset ^ (first + (uint64_t)l * nbytes);
        differs |= offset ^ first;
    }
    a->contiguous = step == 0;
    a->uniform = differs == 0;
    return !(outside >> 63) && !(low & (nbytes - 1));
}

bool access_check(struct access *a, struct warp *w, const struct inst *i,
                  enum access_space space, uint32_t lanes, unsigned nbytes,
                  enum access_kind kind)
{
    struct bounds b = bounds_of(w, i, space);
    uint64_t first = a->offset[__builtin_ctz(lanes)];
    bool good;
    if (is_one(lanes)) {
        good = inside(&b, first, nbytes) && !(first & (nbytes - 1));
        a->contiguous = a->uniform = false;
    } else {
        good = survey(a, &b, nbytes);
    }
    a->mask = lanes;
    a->base = base_of(w, space);
    a->stride = space == AT_LOCAL ? w->local_bytes : 0;
    a->contiguous &= lanes == ALL_LANES && a->stride == 0;
    a->uniform &= a->stride == 0;
    if (w->past_barrier & lanes)
        sync_past_barrier(w, i);
    if (w->watched)
        a->mask &= ~tell_watcher(a, w, i, space, lanes, nbytes, kind);
    if (kind != ACCESS_LOAD && space == AT_PARAM) {
        fault_bounds(w, i, (unsigned)__builtin_ctz(lanes), space, first, nbytes,
                     kind);
        return false;
    }
    if (a->mask != ALL_LANES)
        a->contiguous = false;
    return good || check_lanes(a, w, i, space, lanes, nbytes, kind);
}

const struct inst *access_done(struct warp *w, const struct inst *i)
{
    if (w->switches && random_next(&w->worker->random) % 4 == 0)
        return path_yield(w, i + 1, STOP_SWITCH);
    return i + 1;
}

uint8_t *generic_pointer(struct warp *w, unsigned lane, uint64_t address,
                         uint64_t nbytes)
{
    enum access_space space = space_at(address);
    uint64_t lo, hi;
    const struct launch *l = w->block->worker->state->launch;
    if (space == AT_GLOBAL) {
        if (!memory_extent(l->memory, l->device, address, &lo, &hi) ||
            hi - address < nbytes)
            return NULL;
        return (uint8_t *)(uintptr_t)address;
    }
    uint64_t offset = address & (VGPU_WINDOW_BYTES - 1);
    struct bounds b = bounds_of(w, NULL, space); // never global memory
    if (offset > b.size || b.size - offset < nbytes)
        return NULL;
    uint64_t stride = space == AT_LOCAL ? w->local_bytes : 0;
    return base_of(w, space) + lane * stride + offset;
}
