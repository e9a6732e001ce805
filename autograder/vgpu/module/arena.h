// Memory that is given back all at once, and never exceeds a limit.
#pragma once

#include <stddef.h>

struct arena;

// limit: bytes it may hold; NULL when the host has no memory.
struct arena *arena_new(size_t limit);
void arena_free(struct arena *);

// nbytes of zeros, aligned for any type; NULL at the limit.
void *arena_alloc(struct arena *, size_t nbytes);

// Forgets everything that was allocated.
void arena_reset(struct arena *);
