// malloc and free in device code: a heap of 8 MiB a device, as CUDA has by
// default, that lives as long as the module. What is kept about it is out of
// the kernel's reach.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

enum { HEAP_BYTES = 8 << 20, HEAP_ALIGN = 16 };

struct piece {
    uint64_t addr, nbytes;
    bool used;
};

struct arena_of_device {
    struct piece *pieces; // by address, without gaps
    uint32_t n, cap;
};

struct heap {
    pthread_mutex_t lock;
    struct arena_of_device devices[VGPU_MAX_DEVICES];
};

struct heap *heap_new(void)
{
    struct heap *h = calloc(1, sizeof *h);
    if (h)
        pthread_mutex_init(&h->lock, NULL);
    return h;
}

void heap_free(struct heap *h)
{
    if (!h)
        return;
    for (int d = 0; d < VGPU_MAX_DEVICES; d++)
        free(h->devices[d].pieces);
    pthread_mutex_destroy(&h->lock);
    free(h);
}

static bool insert_piece(struct arena_of_device *a, uint32_t at,
                         struct piece value)
{
    if (a->n == a->cap) {
        uint32_t cap = a->cap ? 2 * a->cap : 64;
        struct piece *bigger = realloc(a->pieces, cap * sizeof *bigger);
        if (!bigger)
            return false;
        a->pieces = bigger;
        a->cap = cap;
    }
    memmove(a->pieces + at + 1, a->pieces + at, (a->n - at) * sizeof value);
    a->pieces[at] = value;
    a->n++;
    return true;
}

static void remove_piece(struct arena_of_device *a, uint32_t at)
{
    memmove(a->pieces + at, a->pieces + at + 1,
            (a->n - at - 1) * sizeof *a->pieces);
    a->n--;
}

static bool heap_begin(struct arena_of_device *a, struct memory *memory,
                       int device)
{
    if (a->n > 0)
        return true;
    uint64_t addr = memory_alloc(memory, device, HEAP_BYTES, ALLOC_VARIABLE,
                                 "device heap");
    return addr && insert_piece(a, 0, (struct piece){addr, HEAP_BYTES, false});
}

static uint64_t take_piece(struct arena_of_device *a, uint64_t nbytes)
{
    for (uint32_t k = 0; k < a->n; k++) {
        struct piece *p = &a->pieces[k];
        if (p->used || p->nbytes < nbytes)
            continue;
        struct piece rest = {p->addr + nbytes, p->nbytes - nbytes, false};
        if (rest.nbytes > 0 && !insert_piece(a, k + 1, rest))
            return 0;
        a->pieces[k].nbytes = nbytes;
        a->pieces[k].used = true;
        return a->pieces[k].addr;
    }
    return 0;
}

uint64_t heap_alloc(struct heap *h, struct memory *memory, int device,
                    uint64_t nbytes)
{
    if (!h || nbytes == 0 || nbytes > HEAP_BYTES || device < 0 ||
        device >= VGPU_MAX_DEVICES)
        return 0;
    nbytes = (nbytes + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN;
    pthread_mutex_lock(&h->lock);
    struct arena_of_device *a = &h->devices[device];
    uint64_t addr =
        heap_begin(a, memory, device) ? take_piece(a, nbytes) : 0;
    pthread_mutex_unlock(&h->lock);
    return addr;
}

// Frees piece k and joins it with free neighbours.
static void give_back(struct arena_of_device *a, uint32_t k)
{
    a->pieces[k].used = false;
    if (k + 1 < a->n && !a->pieces[k + 1].used) {
        a->pieces[k].nbytes += a->pieces[k + 1].nbytes;
        remove_piece(a, k + 1);
    }
    if (k > 0 && !a->pieces[k - 1].used) {
        a->pieces[k - 1].nbytes += a->pieces[k].nbytes;
        remove_piece(a, k);
    }
}

bool heap_release(struct heap *h, int device, uint64_t addr)
{
    bool found = false;
    if (!h || device < 0 || device >= VGPU_MAX_DEVICES)
        return false;
    pthread_mutex_lock(&h->lock);
    struct arena_of_device *a = &h->devices[device];
    for (uint32_t k = 0; k < a->n && !found; k++) {
        if (a->pieces[k].addr != addr || !a->pieces[k].used)
            continue;
        found = true;
        give_back(a, k);
    }
    pthread_mutex_unlock(&h->lock);
    return found;
}
