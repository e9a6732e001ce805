// Host arrays, buffers with guards, random input.
#include "running.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

// ---- host arrays ---------------------------------------------------------------

void *room(size_t nbytes)
{
    void *p = calloc(1, nbytes ? nbytes : 1);
    void **grown = realloc(running.rooms, (running.nrooms + 1) * sizeof *grown);
    if (grown)
        running.rooms = grown;
    if (!p || !grown) {
        free(p);
        skip("needs %.1f GiB of host memory at once", (double)nbytes / (1 << 30));
    }
    return running.rooms[running.nrooms++] = p;
}

// n elements, or a skipped test when the size itself overflows.
static void *room_of(size_t n, size_t each)
{
    if (n > SIZE_MAX / each)
        skip("needs more memory than there can be");
    return room(n * each);
}

float *room_f32(size_t n)
{
    return room_of(n, sizeof(float));
}

double *room_f64(size_t n)
{
    return room_of(n, sizeof(double));
}

int32_t *room_i32(size_t n)
{
    return room_of(n, sizeof(int32_t));
}

// ---- randomness: splitmix64, seeded from the machine's entropy -------------------

uint64_t random_bits(void)
{
    uint64_t z = running.random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t random_below(uint64_t n)
{
    return n ? (uint64_t)(((unsigned __int128)random_bits() * n) >> 64) : 0;
}

float *random_f32(size_t n, double lo, double hi)
{
    float *a = room_f32(n);
    for (size_t i = 0; i < n; i++)
        a[i] = (float)(lo + (hi - lo) * (double)(random_bits() >> 11) * 0x1p-53);
    return a;
}

int32_t *random_i32(size_t n, int32_t lo, int32_t hi)
{
    int32_t *a = room_i32(n);
    uint64_t span = (uint64_t)((int64_t)hi - lo);
    for (size_t i = 0; i < n; i++)
        a[i] = (int32_t)(lo + (int64_t)random_below(span));
    return a;
}

// ---- buffers ---------------------------------------------------------------------

struct held *held_of(struct buffer *buffer)
{
    for (unsigned i = 0; i < running.nheld; i++)
        if (running.held[i].buffer == buffer)
            return &running.held[i];
    machine_failed("the lab's check uses a buffer that this test did not make");
}

// Checks need exact ends; elsewhere a guard shows a write past the end.
static size_t guard_of_purpose(void)
{
    return running.purpose == FOR_VALUES ? GUARD_BYTES : 0;
}

static struct held *hold(const char *name, size_t nbytes, size_t skew, bool host)
{
    if (running.nheld == MAX_HELD)
        machine_failed("the lab's check makes more than %d buffers", MAX_HELD);
    struct session *session = session_of(running.side);
    struct held *h = &running.held[running.nheld];
    *h = (struct held){.side = running.side, .nbytes = nbytes,
                       .guard = guard_of_purpose()};
    snprintf(h->name, sizeof h->name, "%s", name);
    h->buffer = host ? buffer_host(session, nbytes + h->guard, name)
                     : buffer_device(session, nbytes + h->guard, skew, name);
    if (!h->buffer && nbytes > (64u << 20))
        skip("needs %.1f GiB more memory than there is for %s",
             (double)nbytes / (1 << 30), name);
    if (!h->buffer)
        machine_failed("no memory for %s (%zu bytes)", name, nbytes);
    running.nheld++;
    // Timed buffers are filled before every batch, by time_ratio.
    if (running.purpose != FOR_SPEED && buffer_fill(h->buffer, 0xff))
        machine_failed("%s could not be written: the device failed", name);
    return h;
}

void refill(struct buffer *buffer, const void *data)
{
    if (!buffer)
        return;
    struct held *h = held_of(buffer);
    if (!h->original)
        h->original = malloc(h->nbytes);
    if (!h->original)
        skip("needs %.1f GiB of host memory at once",
             (double)h->nbytes / (1 << 30));
    memcpy(h->original, data, h->nbytes);
    if (buffer_write(buffer, 0, data, h->nbytes))
        machine_failed("%s could not be written: the device failed", h->name);
}

void poison(struct buffer *buffer)
{
    if (buffer && buffer_fill(buffer, 0xff))
        machine_failed("%s could not be written: the device failed",
                       held_of(buffer)->name);
}

static struct buffer *input(const char *name, const void *data, size_t nbytes,
                            size_t skew, bool host)
{
    if (!nbytes)
        return NULL;
    struct buffer *buffer = hold(name, nbytes, skew, host)->buffer;
    refill(buffer, data);
    return buffer;
}

struct buffer *device_input(const char *name, const void *data, size_t nbytes)
{
    return input(name, data, nbytes, 0, false);
}

struct buffer *device_input_at(const char *name, const void *data,
                               size_t nbytes, size_t skew)
{
    return input(name, data, nbytes, skew, false);
}

struct buffer *host_input(const char *name, const void *data, size_t nbytes)
{
    return input(name, data, nbytes, 0, true);
}

struct buffer *device_output(const char *name, size_t nbytes)
{
    return device_output_at(name, nbytes, 0);
}

struct buffer *device_output_at(const char *name, size_t nbytes, size_t skew)
{
    return nbytes ? hold(name, nbytes, skew, false)->buffer : NULL;
}

struct buffer *host_output(const char *name, size_t nbytes)
{
    return nbytes ? hold(name, nbytes, 0, true)->buffer : NULL;
}

const void *contents(struct buffer *buffer)
{
    if (!buffer)
        return room(0);
    struct held *h = held_of(buffer);
    void *copy = room(h->nbytes);
    if (buffer_read(buffer, 0, copy, h->nbytes))
        machine_failed("%s could not be read: the device failed", h->name);
    return copy;
}
