// From 32 addresses to a form: most accesses of most kernels are affine, and
// for those nothing else need look at the lanes one by one.
#include "access.h"

// The one loop that every access of every warp pays for.
#ifdef __x86_64__
#define BOTH_BUILDS __attribute__((target_clones("avx2", "default")))
#else
#define BOTH_BUILDS
#endif

BOTH_BUILDS
static bool is_affine32(const uint64_t *addr, uint64_t stride)
{
    uint64_t differ = 0;
    for (int i = 1; i < LANES; i++)
        differ |= addr[i] ^ (addr[i - 1] + stride);
    return differ == 0;
}

static bool is_affine(const uint64_t *addr, unsigned n, uint64_t stride)
{
    if (n == LANES)
        return is_affine32(addr, stride);
    for (uint64_t i = 1; i < n; i++)
        if (addr[i] != addr[0] + i * stride)
            return false;
    return true;
}

static void span_affine(struct shape *s, uint64_t first, uint64_t last)
{
    s->lo = first < last ? first : last;
    s->hi = (first < last ? last : first) + s->nbytes;
    uint64_t step = s->stride < 0 ? -(uint64_t)s->stride : (uint64_t)s->stride;
    s->dense = step <= s->nbytes;
}

static void span_any(struct shape *s, const struct mem_access *a)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        uint64_t addr = a->addr[__builtin_ctz(rest)];
        lo = addr < lo ? addr : lo;
        hi = addr > hi ? addr : hi;
    }
    s->lo = lo;
    s->hi = hi + a->nbytes;
}

struct shape access_shape(const struct mem_access *a)
{
    uint32_t mask = a->mask;
    if (a->contiguous)
        return (struct shape){.lo = a->addr[0],
                              .hi = a->addr[0] + (uint64_t)LANES * a->nbytes,
                              .lanes = LANES, .nbytes = a->nbytes,
                              .affine = true, .stride = a->nbytes,
                              .dense = true};
    struct shape s = {.nbytes = a->nbytes, .lanes = LANES};
    if (mask != UINT32_MAX)
        s.lanes = (uint32_t)__builtin_popcount(mask);
    bool prefix = (mask & (mask + 1)) == 0;
    uint64_t stride = s.lanes > 1 ? a->addr[1] - a->addr[0] : 0;
    if (prefix && is_affine(a->addr, s.lanes, stride)) {
        s.affine = true;
        s.stride = (int64_t)stride;
        span_affine(&s, a->addr[0], a->addr[s.lanes - 1]);
    } else {
        span_any(&s, a);
    }
    return s;
}
