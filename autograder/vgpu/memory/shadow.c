// Who wrote each byte last.
//
// A granule that one writer owns whole has one byte of state and no shadow
// pages; its shadow is filled when a second writer comes. So a buffer of
// gigabytes that the host fills costs nothing here.
#include "space.h"

#include <string.h>
#include <sys/mman.h>

static uint8_t state_of(const struct window *w, uint64_t granule)
{
    return __atomic_load_n(&w->state[granule], __ATOMIC_ACQUIRE);
}

static void set_state(struct window *w, uint64_t granule, uint8_t state)
{
    __atomic_store_n(&w->state[granule], state, __ATOMIC_RELEASE);
}

void shadow_make_mixed(struct memory *m, struct window *w, uint64_t granule)
{
    pthread_mutex_lock(&m->shadow_lock);
    uint8_t state = state_of(w, granule);
    if (state != GRANULE_MIXED) {
        uint8_t *bytes = w->shadow + granule * VGPU_GRANULE;
        // Nobody's shadow pages are untouched, hence zero, already.
        if (state != GRANULE_NOBODY)
            memset(bytes, state, VGPU_GRANULE);
        set_state(w, granule, GRANULE_MIXED);
    }
    pthread_mutex_unlock(&m->shadow_lock);
}

static void set_whole_granule(struct window *w, uint64_t granule,
                              enum writer writer)
{
    if (state_of(w, granule) == GRANULE_MIXED) // its pages read as zero again
        madvise(w->shadow + granule * VGPU_GRANULE, VGPU_GRANULE, MADV_DONTNEED);
    set_state(w, granule, (uint8_t)writer);
}

static void set_part(struct memory *m, struct window *w, uint64_t addr,
                     uint64_t n, enum writer writer)
{
    uint64_t granule = window_granule(w, addr);
    if (state_of(w, granule) == (uint8_t)writer)
        return;
    if (n == VGPU_GRANULE) {
        set_whole_granule(w, granule, writer);
        return;
    }
    shadow_make_mixed(m, w, granule);
    memset(w->shadow + (addr - w->base), (int)writer, n);
}

// How much of [addr, addr + n) lies in the granule of addr.
static uint64_t part_of(uint64_t addr, uint64_t n)
{
    uint64_t left = VGPU_GRANULE - addr % VGPU_GRANULE;
    return n < left ? n : left;
}

void shadow_set(struct memory *m, struct window *w, uint64_t addr, uint64_t n,
                enum writer writer)
{
    while (n > 0) {
        uint64_t part = part_of(addr, n);
        set_part(m, w, addr, part, writer);
        addr += part;
        n -= part;
    }
}

static void copy_part(struct memory *m, struct window *to, uint64_t dst,
                      struct window *from, uint64_t src, uint64_t n)
{
    uint8_t state = state_of(from, window_granule(from, src));
    if (state != GRANULE_MIXED) {
        set_part(m, to, dst, n, (enum writer)state);
        return;
    }
    shadow_make_mixed(m, to, window_granule(to, dst));
    memmove(to->shadow + (dst - to->base), from->shadow + (src - from->base), n);
}

// Data keep their writer when the host has them copied: what a kernel
// computed is still the kernel's. Overlapping ranges (which no right program
// copies) may lose it.
void shadow_copy(struct memory *m, uint64_t dst, uint64_t src, uint64_t n)
{
    struct window *to = space_window(m, dst), *from = space_window(m, src);
    while (n > 0) {
        uint64_t part = part_of(dst, part_of(src, n));
        copy_part(m, to, dst, from, src, part);
        dst += part;
        src += part;
        n -= part;
    }
}

static void count_part(const struct window *w, uint64_t addr, uint64_t n,
                       uint64_t by_writer[3])
{
    uint8_t state = state_of(w, window_granule(w, addr));
    if (state != GRANULE_MIXED) {
        by_writer[state] += n;
        return;
    }
    const uint8_t *bytes = w->shadow + (addr - w->base);
    for (uint64_t i = 0; i < n; i++)
        by_writer[bytes[i]]++;
}

struct writers memory_writers(const struct memory *m, uint64_t addr, uint64_t n)
{
    uint64_t by_writer[3] = {0};
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&m->lock;
    pthread_rwlock_rdlock(lock);
    if (space_is_mapped(m, addr, n)) {
        const struct window *w = space_window(m, addr);
        for (uint64_t done = 0; done < n;) {
            uint64_t part = part_of(addr + done, n - done);
            count_part(w, addr + done, part, by_writer);
            done += part;
        }
    } else {
        by_writer[WRITER_NOBODY] = n;
    }
    pthread_rwlock_unlock(lock);
    return (struct writers){by_writer[WRITER_NOBODY], by_writer[WRITER_HOST],
                            by_writer[WRITER_KERNEL]};
}

void memory_set_writer(struct memory *m, uint64_t addr, uint64_t n,
                       enum writer writer)
{
    pthread_rwlock_rdlock(&m->lock);
    if (space_is_mapped(m, addr, n))
        shadow_set(m, space_window(m, addr), addr, n, writer);
    pthread_rwlock_unlock(&m->lock);
}

void memory_forget_writers(struct memory *m, uint64_t addr, uint64_t n)
{
    memory_set_writer(m, addr, n, WRITER_NOBODY);
}
