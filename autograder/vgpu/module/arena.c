// An arena: a list of chunks, each filled from its start.
#include "arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHUNK = 16 << 10, LARGEST_CHUNK = 1 << 20 };

struct chunk {
    struct chunk *older;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

struct arena {
    struct chunk *newest;
    size_t held, limit, next_capacity;
};

struct arena *arena_new(size_t limit)
{
    struct arena *arena = calloc(1, sizeof *arena);
    if (arena) {
        arena->limit = limit;
        arena->next_capacity = FIRST_CHUNK;
    }
    return arena;
}

static void free_chunks(struct chunk *chunk)
{
    while (chunk) {
        struct chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    free_chunks(arena->newest);
    free(arena);
}

static struct chunk *add_chunk(struct arena *arena, size_t nbytes)
{
    size_t capacity = arena->next_capacity;
    if (capacity < nbytes)
        capacity = nbytes;
    else if (arena->next_capacity < LARGEST_CHUNK)
        arena->next_capacity *= 2;
    if (capacity > arena->limit - arena->held)
        return NULL;
    struct chunk *chunk = calloc(1, sizeof *chunk + capacity);
    if (!chunk)
        return NULL;
    chunk->capacity = capacity;
    chunk->older = arena->newest;
    arena->newest = chunk;
    arena->held += capacity;
    return chunk;
}

void *arena_alloc(struct arena *arena, size_t nbytes)
{
    size_t unit = alignof(max_align_t);
    if (nbytes > SIZE_MAX - unit - sizeof(struct chunk))
        return NULL;
    nbytes = (nbytes + unit - 1) / unit * unit;
    struct chunk *chunk = arena->newest;
    if (!chunk || chunk->capacity - chunk->used < nbytes)
        chunk = add_chunk(arena, nbytes);
    if (!chunk)
        return NULL;
    void *at = chunk->bytes + chunk->used;
    chunk->used += nbytes;
    return at;
}

void arena_reset(struct arena *arena)
{
    struct chunk *newest = arena->newest;
    if (!newest)
        return;
    free_chunks(newest->older);
    newest->older = NULL;
    memset(newest->bytes, 0, newest->used);
    newest->used = 0;
    arena->held = newest->capacity;
}
