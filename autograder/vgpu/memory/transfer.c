// Copies and fills that the host asks for. Each checks its ranges, moves the
// bytes, and marks in the shadow who wrote them.
#include "space.h"

#include <string.h>

static void *at(uint64_t addr)
{
    return (void *)(uintptr_t)addr;
}

bool memory_write(struct memory *m, uint64_t dst, const void *src, uint64_t n)
{
    pthread_rwlock_rdlock(&m->lock);
    bool ok = space_is_mapped(m, dst, n);
    if (ok) {
        memcpy(at(dst), src, n);
        shadow_set(m, space_window(m, dst), dst, n, WRITER_HOST);
    }
    pthread_rwlock_unlock(&m->lock);
    return ok;
}

bool memory_read(struct memory *m, void *dst, uint64_t src, uint64_t n)
{
    pthread_rwlock_rdlock(&m->lock);
    bool ok = space_is_mapped(m, src, n);
    if (ok)
        memcpy(dst, at(src), n);
    pthread_rwlock_unlock(&m->lock);
    return ok;
}

bool memory_copy(struct memory *m, uint64_t dst, uint64_t src, uint64_t n)
{
    pthread_rwlock_rdlock(&m->lock);
    bool ok = space_is_mapped(m, dst, n) && space_is_mapped(m, src, n);
    if (ok) {
        memmove(at(dst), at(src), n);
        shadow_copy(m, dst, src, n);
    }
    pthread_rwlock_unlock(&m->lock);
    return ok;
}

bool memory_set(struct memory *m, uint64_t dst, int byte, uint64_t n)
{
    pthread_rwlock_rdlock(&m->lock);
    bool ok = space_is_mapped(m, dst, n);
    if (ok) {
        memset(at(dst), byte, n);
        shadow_set(m, space_window(m, dst), dst, n, WRITER_HOST);
    }
    pthread_rwlock_unlock(&m->lock);
    return ok;
}
