// cudaMalloc and friends.
//
// Small allocations are cut one after another from slabs of one granule, 512
// bytes aligned, with at least 512 bytes between them that belong to nobody:
//
//   | a ......pad|gap| b .......pad|gap| c ..  unused   | unmapped granule
//
// A freed piece is not used again while there is room elsewhere.
#include "space.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    ALIGN = 512,
    GAP = 512,
    SMALL = 1 << 20,  // with its gap: longer ones get granules of their own
    FREED_BYTE = 0xdd // so that a stale value shows as one
};

static const int SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

static struct window *device_window(struct memory *m, int device)
{
    bool known = device >= 0 && device < (int)m->ndevices;
    return known ? &m->windows[device] : NULL;
}

static struct window *host_window(struct memory *m)
{
    return &m->windows[VGPU_MAX_DEVICES];
}

static uint64_t *used_total(struct memory *m, const struct window *w)
{
    return w == host_window(m) ? &m->host_used : &m->used;
}

static bool fits_limit(struct memory *m, struct window *w, uint64_t nbytes)
{
    uint64_t used = *used_total(m, w);
    return nbytes <= m->limit && used <= m->limit - nbytes;
}

static void mapping_take(struct memory *m, struct window *w, struct mapping *map)
{
    if (map->live++ > 0)
        return;
    w->used += map->hi - map->lo;
    *used_total(m, w) += map->hi - map->lo;
}

// True when it was the mapping's last allocation.
static bool mapping_drop(struct memory *m, struct window *w, struct mapping *map)
{
    if (--map->live > 0)
        return false;
    w->used -= map->hi - map->lo;
    *used_total(m, w) -= map->hi - map->lo;
    return true;
}

static bool is_current_slab(const struct window *w, const struct mapping *map)
{
    return map->slab && w->slab_end == map->hi;
}

// ---- placing ----------------------------------------------------------------

// A slab whose pieces are all freed goes back when the next one is begun.
static void leave_slab(struct window *w)
{
    if (!w->slab_end)
        return;
    struct mapping *old = space_mapping(w, w->slab_end - 1, 1);
    w->slab_next = w->slab_end = 0;
    if (old && old->live == 0)
        space_unmap(w, old);
}

static bool begin_slab(struct memory *m, struct window *w)
{
    leave_slab(w);
    if (!fits_limit(m, w, VGPU_GRANULE))
        return false;
    struct mapping *map = space_map(w, VGPU_GRANULE, -1);
    if (!map)
        return false;
    map->slab = true;
    w->slab_next = map->lo;
    w->slab_end = map->hi;
    return true;
}

// The piece that has been free for longest, when there is no room elsewhere.
static uint64_t place_again(struct memory *m, struct window *w, uint64_t room,
                            uint64_t *got)
{
    struct record *old = records_freed_with_room(w, room);
    if (!old)
        return 0;
    uint64_t base = old->a.base;
    *got = old->room;
    records_forget(w, base, base + old->room);
    shadow_set(m, w, base, *got, WRITER_NOBODY);
    return base;
}

static uint64_t place_small(struct memory *m, struct window *w, uint64_t room,
                            uint64_t *got)
{
    *got = room;
    bool full = w->slab_end - w->slab_next < room;
    if (full && !begin_slab(m, w))
        return place_again(m, w, room, got);
    uint64_t base = w->slab_next;
    w->slab_next += room;
    return base;
}

static uint64_t place_large(struct memory *m, struct window *w, uint64_t nbytes,
                            uint64_t *got)
{
    *got = round_up(nbytes, VGPU_GRANULE);
    if (!fits_limit(m, w, *got))
        return 0;
    struct mapping *map = space_map(w, nbytes, -1);
    return map ? map->lo : 0;
}

// Writes the record of what was placed; the lock is held.
static uint64_t enter(struct memory *m, struct window *w, struct record *r,
                      const char *label)
{
    struct mapping *map = space_mapping(w, r->a.base, 1);
    r->a.serial = m->serial + 1;
    if (label)
        snprintf(r->label, sizeof r->label, "%s", label);
    if (!records_add(w, r)) {
        if (map->live == 0 && !is_current_slab(w, map))
            space_unmap(w, map);
        return 0;
    }
    m->serial++;
    mapping_take(m, w, map);
    return r->a.base;
}

uint64_t memory_alloc(struct memory *m, int device, uint64_t nbytes,
                      enum alloc_kind kind, const char *label)
{
    struct window *w = device_window(m, device);
    if (!w || nbytes == 0 || nbytes > m->limit)
        return 0;
    struct record r = {.a = {.nbytes = nbytes, .kind = kind, .device = device}};
    uint64_t room = round_up(nbytes, ALIGN) + GAP;
    pthread_rwlock_wrlock(&m->lock);
    r.a.base = room <= SMALL ? place_small(m, w, room, &r.room)
                             : place_large(m, w, nbytes, &r.room);
    uint64_t base = r.a.base ? enter(m, w, &r, label) : 0;
    pthread_rwlock_unlock(&m->lock);
    return base;
}

// ---- shared with other processes ----------------------------------------

// A file that may shrink would turn an access into SIGBUS: none of those.
static bool is_sealed(int fd, uint64_t nbytes)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &st) == 0 &&
           st.st_size >= 0 && (uint64_t)st.st_size >= nbytes;
}

static uint64_t map_file(struct memory *m, struct window *w, int fd,
                         struct record *r, const char *label)
{
    uint64_t whole = round_up(r->a.nbytes, VGPU_GRANULE);
    pthread_rwlock_wrlock(&m->lock);
    struct mapping *map =
        fits_limit(m, w, whole) ? space_map(w, whole, fd) : NULL;
    uint64_t base = 0;
    if (map) {
        r->a.base = map->lo;
        r->room = whole;
        base = enter(m, w, r, label);
    }
    if (base && w == host_window(m)) // the program can write it unseen
        shadow_set(m, w, base, whole, WRITER_HOST);
    pthread_rwlock_unlock(&m->lock);
    return base;
}

uint64_t memory_import(struct memory *m, int device, int fd, uint64_t nbytes,
                       bool host, const char *label)
{
    struct window *w = host ? host_window(m) : device_window(m, device);
    if (!w || nbytes == 0 || nbytes > m->limit ||
        !is_sealed(fd, round_up(nbytes, VGPU_GRANULE)))
        return 0;
    struct record r = {.a = {.nbytes = nbytes,
                             .kind = ALLOC_IMPORTED,
                             .device = host ? -1 : device}};
    return map_file(m, w, fd, &r, label);
}

static int sealed_file(uint64_t nbytes)
{
    int fd = memfd_create("vgpu-host", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (ftruncate(fd, (off_t)nbytes) != 0 || fcntl(fd, F_ADD_SEALS, SEALS) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

uint64_t memory_alloc_host(struct memory *m, uint64_t nbytes,
                           enum alloc_kind kind, int *fd)
{
    *fd = -1;
    if (nbytes == 0 || nbytes > m->limit)
        return 0;
    int file = sealed_file(round_up(nbytes, VGPU_GRANULE));
    if (file < 0)
        return 0;
    struct record r = {.a = {.nbytes = nbytes, .kind = kind, .device = -1}};
    uint64_t base = map_file(m, host_window(m), file, &r, NULL);
    if (base)
        *fd = file;
    else
        close(file);
    return base;
}

// ---- release and look-up -----------------------------------------------------

int memory_release(struct memory *m, uint64_t addr)
{
    struct window *w = space_window(m, addr);
    if (!w)
        return -1;
    pthread_rwlock_wrlock(&m->lock);
    struct record *r = records_live_at(w, addr);
    if (r) {
        struct mapping *map = space_mapping(w, addr, 1);
        bool last = mapping_drop(m, w, map);
        if (last && !is_current_slab(w, map)) {
            space_unmap(w, map);
        } else {
            memset((void *)(uintptr_t)addr, FREED_BYTE, r->a.nbytes);
            shadow_set(m, w, addr, r->a.nbytes, WRITER_NOBODY);
        }
        records_mark_freed(m, w, r);
    }
    pthread_rwlock_unlock(&m->lock);
    return r ? 0 : -1;
}

int memory_set_read_only(struct memory *m, uint64_t addr)
{
    struct window *w = space_window(m, addr);
    if (!w)
        return -1;
    pthread_rwlock_wrlock(&m->lock);
    struct record *r = records_live_at(w, addr);
    if (r)
        r->a.read_only = true;
    pthread_rwlock_unlock(&m->lock);
    return r ? 0 : -1;
}

const struct allocation *memory_find(const struct memory *m, uint64_t addr)
{
    const struct window *w = space_window(m, addr);
    if (!w)
        return NULL;
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&m->lock;
    pthread_rwlock_rdlock(lock);
    const struct record *r = records_nearest(w, addr);
    pthread_rwlock_unlock(lock);
    return r ? &r->a : NULL;
}

void memory_each(const struct memory *m,
                 void (*visit)(void *self, const struct allocation *), void *self)
{
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&m->lock;
    pthread_rwlock_rdlock(lock);
    for (unsigned i = 0; i <= VGPU_MAX_DEVICES; i++) {
        const struct window *w = &m->windows[i];
        for (size_t j = 0; j < w->nrecords; j++)
            if (!w->records[j]->a.freed)
                visit(self, &w->records[j]->a);
    }
    pthread_rwlock_unlock(lock);
}

uint64_t memory_used(const struct memory *m, int device)
{
    if (device >= (int)m->ndevices)
        return 0;
    pthread_rwlock_t *lock = (pthread_rwlock_t *)&m->lock;
    pthread_rwlock_rdlock(lock);
    uint64_t used = m->windows[device < 0 ? VGPU_MAX_DEVICES : device].used;
    pthread_rwlock_unlock(lock);
    return used;
}
