// Events: made, waited for, and the modelled time between two.
#include "handles.h"

static cudaError_t make_event(cudaEvent_t *out, unsigned flags)
{
    const unsigned known = cudaEventBlockingSync | cudaEventDisableTiming |
                           cudaEventInterprocess;
    if (!out || (flags & ~known) ||
        ((flags & cudaEventInterprocess) && !(flags & cudaEventDisableTiming)))
        return cudaErrorInvalidValue;
    struct wire_device body = {rt_device()};
    struct wire_id made = {0};
    cudaError_t error = rt_ask(WIRE_EVENT_NEW, &body, sizeof body, &made,
                               sizeof made);
    if (error)
        return error;
    struct CUevent_st *e = rt_new_event();
    if (!e)
        return cudaErrorMemoryAllocation;
    e->id = made.id;
    e->device = rt_device();
    e->flags = flags;
    *out = e;
    return cudaSuccess;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    return rt_done(make_event(out, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned flags)
{
    return rt_done(make_event(out, flags));
}

cudaError_t cudaEventDestroy(cudaEvent_t handle)
{
    struct CUevent_st *e = rt_find_event(handle);
    if (!e)
        return rt_done(cudaErrorInvalidResourceHandle);
    struct wire_id body = {e->id};
    cudaError_t error = rt_ask(WIRE_EVENT_FREE, &body, sizeof body, NULL, 0);
    e->live = false;
    return rt_done(error);
}

cudaError_t cudaEventSynchronize(cudaEvent_t handle)
{
    struct wire_id body;
    cudaError_t error = rt_event(handle, &body.id);
    if (!error)
        error = rt_ask(WIRE_EVENT_SYNC, &body, sizeof body, NULL, 0);
    rt_write_output();
    return rt_done(error);
}

// By the time that the server answers, all earlier work has been executed.
cudaError_t cudaEventQuery(cudaEvent_t handle)
{
    struct wire_id body;
    cudaError_t error = rt_event(handle, &body.id);
    if (!error)
        error = rt_ask(WIRE_EVENT_SYNC, &body, sizeof body, NULL, 0);
    return rt_done(error);
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    const struct CUevent_st *a = rt_find_event(start);
    const struct CUevent_st *b = rt_find_event(end);
    if (!ms)
        return rt_done(cudaErrorInvalidValue);
    if (!a || !b || ((a->flags | b->flags) & cudaEventDisableTiming))
        return rt_done(cudaErrorInvalidResourceHandle);
    struct wire_event_pair body = {a->id, b->id};
    struct wire_elapsed elapsed = {0};
    cudaError_t error = rt_ask(WIRE_EVENT_TIME, &body, sizeof body, &elapsed,
                               sizeof elapsed);
    if (!error)
        *ms = (float)(elapsed.ns / 1e6);
    return rt_done(error);
}
