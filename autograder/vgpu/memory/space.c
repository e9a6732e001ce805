// Address windows and what is mapped in them.
//
// A window is reserved without access at the start, its shadow beside it, so
// that no mapping can ever fall on anything else of the process, and whatever
// is not mapped faults.
#include "space.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { RESERVE = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

static void *at(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

static bool window_open(struct window *w, uint64_t base)
{
    uint64_t granules = VGPU_DEVICE_SPAN / VGPU_GRANULE;
    void *range = mmap(at(base), VGPU_DEVICE_SPAN, PROT_NONE,
                       RESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (range == MAP_FAILED)
        return false;
    if (range != at(base)) { // a kernel that does not know the flag
        munmap(range, VGPU_DEVICE_SPAN);
        return false;
    }
    w->base = w->cursor = base;
    void *shadow = mmap(NULL, VGPU_DEVICE_SPAN, PROT_NONE, RESERVE, -1, 0);
    void *state = mmap(NULL, granules, PROT_READ | PROT_WRITE, RESERVE, -1, 0);
    w->shadow = shadow == MAP_FAILED ? NULL : shadow;
    w->state = state == MAP_FAILED ? NULL : state;
    return w->shadow && w->state;
}

static void window_close(struct window *w)
{
    if (!w->base)
        return;
    records_clear(w);
    free(w->maps);
    munmap(at(w->base), VGPU_DEVICE_SPAN);
    if (w->shadow)
        munmap(w->shadow, VGPU_DEVICE_SPAN);
    if (w->state)
        munmap(w->state, VGPU_DEVICE_SPAN / VGPU_GRANULE);
}

struct memory *memory_new(unsigned ndevices, uint64_t limit_bytes)
{
    if (ndevices < 1 || ndevices > VGPU_MAX_DEVICES)
        return NULL;
    struct memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->ndevices = ndevices;
    m->limit = limit_bytes;
    pthread_rwlock_init(&m->lock, NULL);
    pthread_mutex_init(&m->shadow_lock, NULL);
    bool ok = window_open(&m->windows[VGPU_MAX_DEVICES], VGPU_HOST_BASE);
    for (unsigned d = 0; ok && d < ndevices; d++)
        ok = window_open(&m->windows[d], VGPU_DEVICE_BASE + d * VGPU_DEVICE_SPAN);
    if (!ok) {
        memory_free(m);
        return NULL;
    }
    return m;
}

void memory_free(struct memory *m)
{
    if (!m)
        return;
    for (unsigned i = 0; i <= VGPU_MAX_DEVICES; i++)
        window_close(&m->windows[i]);
    pthread_rwlock_destroy(&m->lock);
    pthread_mutex_destroy(&m->shadow_lock);
    free(m);
}

struct window *space_window(const struct memory *m, uint64_t addr)
{
    if (addr < VGPU_DEVICE_BASE || addr >= VGPU_HOST_BASE + VGPU_HOST_SPAN)
        return NULL;
    uint64_t i = (addr - VGPU_DEVICE_BASE) / VGPU_DEVICE_SPAN;
    const struct window *w = &m->windows[i];
    return w->base ? (struct window *)w : NULL;
}

// Index of the first mapping that ends after addr.
static size_t first_ending_after(const struct window *w, uint64_t addr)
{
    size_t lo = 0, hi = w->nmaps;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (w->maps[mid].hi > addr)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct mapping *space_mapping(const struct window *w, uint64_t addr, uint64_t n)
{
    size_t i = first_ending_after(w, addr);
    if (i == w->nmaps || w->maps[i].lo > addr || n > w->maps[i].hi - addr)
        return NULL;
    return &w->maps[i];
}

bool space_is_mapped(const struct memory *m, uint64_t addr, uint64_t n)
{
    const struct window *w = space_window(m, addr);
    return w && space_mapping(w, addr, n);
}

// Free addresses for nbytes with a free granule on both sides, looked for
// from `from` on; 0 when there are none. *index: where its mapping belongs.
static uint64_t find_gap(const struct window *w, uint64_t from, uint64_t nbytes,
                         size_t *index)
{
    uint64_t end = w->base + VGPU_DEVICE_SPAN;
    uint64_t lo = from + VGPU_GRANULE;
    size_t i = first_ending_after(w, from);
    for (; i < w->nmaps; i++) {
        const struct mapping *map = &w->maps[i];
        if (map->lo > lo && map->lo - lo >= nbytes + VGPU_GRANULE)
            break;
        lo = map->hi + VGPU_GRANULE;
    }
    *index = i;
    return lo < end && end - lo >= nbytes + VGPU_GRANULE ? lo : 0;
}

static bool grow_maps(struct window *w)
{
    if (w->nmaps < w->maps_cap)
        return true;
    size_t cap = w->maps_cap ? 2 * w->maps_cap : 16;
    struct mapping *maps = realloc(w->maps, cap * sizeof *maps);
    if (!maps)
        return false;
    w->maps = maps;
    w->maps_cap = cap;
    return true;
}

static bool map_pages(struct window *w, uint64_t lo, uint64_t nbytes, int fd)
{
    int flags = fd >= 0 ? MAP_SHARED : RESERVE;
    int rw = PROT_READ | PROT_WRITE;
    if (mmap(at(lo), nbytes, rw, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
        return false;
    uint8_t *shadow = w->shadow + (lo - w->base);
    if (mprotect(shadow, nbytes, rw) != 0) {
        mmap(at(lo), nbytes, PROT_NONE, RESERVE | MAP_FIXED, -1, 0);
        return false;
    }
    if (nbytes > VGPU_GRANULE) { // fewer page faults; its failure costs nothing
        madvise(at(lo), nbytes, MADV_HUGEPAGE);
        madvise(shadow, nbytes, MADV_HUGEPAGE);
    }
    return true;
}

struct mapping *space_map(struct window *w, uint64_t nbytes, int fd)
{
    if (nbytes == 0 || nbytes > VGPU_DEVICE_SPAN - 2 * VGPU_GRANULE)
        return NULL;
    nbytes = round_up(nbytes, VGPU_GRANULE);
    size_t i;
    uint64_t lo = find_gap(w, w->cursor, nbytes, &i);
    if (!lo) // the window is used up once: begin again with its oldest part
        lo = find_gap(w, w->base, nbytes, &i);
    if (!lo || !grow_maps(w) || !map_pages(w, lo, nbytes, fd))
        return NULL;
    memmove(&w->maps[i + 1], &w->maps[i], (w->nmaps - i) * sizeof *w->maps);
    w->maps[i] = (struct mapping){.lo = lo, .hi = lo + nbytes};
    w->nmaps++;
    w->cursor = lo + nbytes;
    records_forget(w, lo, lo + nbytes);
    return &w->maps[i];
}

void space_unmap(struct window *w, struct mapping *map)
{
    uint64_t nbytes = map->hi - map->lo;
    uint8_t *shadow = w->shadow + (map->lo - w->base);
    mmap(at(map->lo), nbytes, PROT_NONE, RESERVE | MAP_FIXED, -1, 0);
    mmap(shadow, nbytes, PROT_NONE, RESERVE | MAP_FIXED, -1, 0);
    memset(w->state + window_granule(w, map->lo), GRANULE_NOBODY,
           nbytes / VGPU_GRANULE);
    size_t i = (size_t)(map - w->maps);
    w->nmaps--;
    memmove(map, map + 1, (w->nmaps - i) * sizeof *map);
}

// Kernels of `device` reach their own memory, the host's, and enabled peers'.
static bool may_reach(const struct memory *m, int device, const struct window *w)
{
    if (device < 0 || device >= VGPU_MAX_DEVICES)
        return false;
    size_t owner = (size_t)(w - m->windows);
    return owner == VGPU_MAX_DEVICES || owner == (size_t)device ||
           m->peer[device][owner];
}

bool memory_extent(const struct memory *m, int device, uint64_t addr,
                   uint64_t *lo, uint64_t *hi)
{
    const struct window *w = space_window(m, addr);
    if (!w)
        return false;
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&m->lock;
    pthread_rwlock_rdlock(lock);
    const struct mapping *map =
        may_reach(m, device, w) ? space_mapping(w, addr, 1) : NULL;
    if (map) {
        *lo = map->lo;
        *hi = map->hi;
    }
    pthread_rwlock_unlock(lock);
    return map != NULL;
}

void memory_set_peer(struct memory *m, int device, int peer, bool enabled)
{
    int n = (int)m->ndevices;
    if (device < 0 || device >= n || peer < 0 || peer >= n)
        return;
    pthread_rwlock_wrlock(&m->lock);
    m->peer[device][peer] = enabled;
    pthread_rwlock_unlock(&m->lock);
}
