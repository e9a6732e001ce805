// Streams and events as a program holds them: addresses in two tables, so
// that a stale or invented handle is found out without following it.
#include "handles.h"

#include <pthread.h>

enum { MAX_STREAMS = 4096, MAX_HANDLE_EVENTS = 1 << 16 };

static struct CUstream_st streams[MAX_STREAMS];
static struct CUevent_st events[MAX_HANDLE_EVENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// cudaStreamPerThread of this thread, a device; 0: not made yet.
static _Thread_local uint32_t own_stream[RT_MAX_DEVICES];

struct CUstream_st *rt_new_stream(void)
{
    static unsigned next;
    struct CUstream_st *found = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_STREAMS && !found; i++) {
        struct CUstream_st *s = &streams[(next + i) % MAX_STREAMS];
        if (!s->live) {
            *s = (struct CUstream_st){.live = true};
            next = (next + i + 1) % MAX_STREAMS;
            found = s;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

struct CUevent_st *rt_new_event(void)
{
    static unsigned next;
    struct CUevent_st *found = NULL;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < MAX_HANDLE_EVENTS && !found; i++) {
        struct CUevent_st *e = &events[(next + i) % MAX_HANDLE_EVENTS];
        if (!e->live) {
            *e = (struct CUevent_st){.live = true};
            next = (next + i + 1) % MAX_HANDLE_EVENTS;
            found = e;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

// Whether p is the address of a whole element of a table.
static bool in_table(const void *p, const void *table, size_t size, size_t n)
{
    uintptr_t offset = (uintptr_t)p - (uintptr_t)table;
    return (uintptr_t)p >= (uintptr_t)table && offset < size * n &&
           offset % size == 0;
}

struct CUstream_st *rt_find_stream(cudaStream_t handle)
{
    return in_table(handle, streams, sizeof *streams, MAX_STREAMS) &&
                   handle->live
               ? handle
               : NULL;
}

struct CUevent_st *rt_find_event(cudaEvent_t handle)
{
    return in_table(handle, events, sizeof *events, MAX_HANDLE_EVENTS) &&
                   handle->live
               ? handle
               : NULL;
}

cudaError_t rt_stream(cudaStream_t handle, cudaStream_t zero, uint32_t *id,
                      int *device)
{
    if (!handle)
        handle = zero;
    if (handle == cudaStreamLegacy) {
        *device = rt_device();
        *id = (uint32_t)*device;
        return cudaSuccess;
    }
    if (handle == cudaStreamPerThread) {
        *device = rt_device();
        uint32_t *own = &own_stream[*device];
        struct wire_stream body = {*device, 1};
        struct wire_id made = {0};
        cudaError_t error = *own ? cudaSuccess
                                 : rt_ask(WIRE_STREAM_NEW, &body, sizeof body,
                                          &made, sizeof made);
        if (!*own)
            *own = made.id;
        *id = *own;
        return error;
    }
    const struct CUstream_st *s = rt_find_stream(handle);
    if (!s)
        return cudaErrorInvalidResourceHandle;
    *id = s->id;
    *device = s->device;
    return cudaSuccess;
}

cudaError_t rt_event(cudaEvent_t handle, uint32_t *id)
{
    const struct CUevent_st *e = rt_find_event(handle);
    if (!e)
        return cudaErrorInvalidResourceHandle;
    *id = e->id;
    return cudaSuccess;
}
