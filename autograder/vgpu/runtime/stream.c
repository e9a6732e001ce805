// Streams: made, described and ended. Calls that take a stream 0 are in
// per_thread_stream.c.
#include "handles.h"

static cudaError_t make_stream(cudaStream_t *out, unsigned flags, int priority)
{
    if (!out || (flags != cudaStreamDefault && flags != cudaStreamNonBlocking))
        return cudaErrorInvalidValue;
    struct wire_stream body = {rt_device(), flags == cudaStreamDefault};
    struct wire_id made = {0};
    cudaError_t error = rt_ask(WIRE_STREAM_NEW, &body, sizeof body, &made,
                               sizeof made);
    if (error)
        return error;
    struct CUstream_st *s = rt_new_stream();
    if (!s)
        return cudaErrorMemoryAllocation;
    static unsigned long long serial;
    s->id = made.id;
    s->device = rt_device();
    s->flags = flags;
    s->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    s->serial = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED) + 2;
    *out = s;
    return cudaSuccess;
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
    return rt_done(make_stream(out, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned flags)
{
    return rt_done(make_stream(out, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *out, unsigned flags,
                                         int priority)
{
    return rt_done(make_stream(out, flags, priority));
}

cudaError_t cudaStreamDestroy(cudaStream_t handle)
{
    struct CUstream_st *s = rt_find_stream(handle);
    if (!s)
        return rt_done(cudaErrorInvalidResourceHandle);
    struct wire_id body = {s->id};
    cudaError_t error = rt_ask(WIRE_STREAM_FREE, &body, sizeof body, NULL, 0);
    s->live = false;
    return rt_done(error);
}

// No stream is ever being captured here.
cudaError_t cudaThreadExchangeStreamCaptureMode(
    enum cudaStreamCaptureMode *mode)
{
    static _Thread_local enum cudaStreamCaptureMode current;
    if (!mode)
        return rt_done(cudaErrorInvalidValue);
    enum cudaStreamCaptureMode before = current;
    current = *mode;
    *mode = before;
    return rt_done(cudaSuccess);
}
