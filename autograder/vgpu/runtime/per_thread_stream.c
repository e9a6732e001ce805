// Work on streams other than kernels and copies; compiled twice.
#include "handles.h"

// ---- waiting ---------------------------------------------------------------

static cudaError_t synchronize(cudaStream_t handle)
{
    uint32_t id;
    int device;
    cudaError_t error = rt_connect();
    if (error || (error = rt_stream(handle, ZERO_STREAM, &id, &device)))
        return error;
    struct wire_sync body = {device, (int32_t)id};
    return rt_ask(WIRE_SYNC, &body, sizeof body, NULL, 0);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle)
{
    cudaError_t error = synchronize(handle);
    rt_write_output();
    return rt_done(error);
}

// By the time that the server answers, all earlier work has been executed.
cudaError_t cudaStreamQuery(cudaStream_t handle)
{
    return rt_done(synchronize(handle));
}

// ---- events ----------------------------------------------------------------

static cudaError_t post_event(uint32_t op, cudaEvent_t event,
                              cudaStream_t handle)
{
    uint32_t id;
    int device;
    struct CUevent_st *e = rt_find_event(event);
    cudaError_t error = rt_connect();
    if (error)
        return error;
    if (!e)
        return cudaErrorInvalidResourceHandle;
    if ((error = rt_stream(handle, ZERO_STREAM, &id, &device)))
        return error;
    // An event is recorded on its own device; any stream can wait for it.
    if (op == WIRE_EVENT_RECORD && e->device != device)
        return cudaErrorInvalidResourceHandle;
    struct wire_event body = {e->id, id};
    return rt_post(op, &body, sizeof body, NULL, 0);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle)
{
    return rt_done(post_event(WIRE_EVENT_RECORD, event, handle));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle,
                                     unsigned flags)
{
    if (flags != cudaEventRecordDefault)
        return rt_done(cudaErrorInvalidValue);
    return rt_done(post_event(WIRE_EVENT_RECORD, event, handle));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event,
                                unsigned flags)
{
    if (flags != cudaEventWaitDefault)
        return rt_done(cudaErrorInvalidValue);
    return rt_done(post_event(WIRE_EVENT_WAIT, event, handle));
}

// ---- host functions --------------------------------------------------------

// Run where they are asked for, once the stream has come so far: later work
// of the stream must wait for them, and so does the program here.
cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t fn, void *data)
{
    if (!fn)
        return rt_done(cudaErrorInvalidValue);
    cudaError_t error = synchronize(handle);
    if (!error)
        fn(data);
    return rt_done(error);
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle,
                                  cudaStreamCallback_t callback, void *data,
                                  unsigned flags)
{
    if (!callback || flags)
        return rt_done(cudaErrorInvalidValue);
    cudaError_t error = synchronize(handle);
    if (error != cudaErrorInvalidResourceHandle)
        callback(handle, error, data);
    return rt_done(error);
}

// ---- what a stream is ------------------------------------------------------

static cudaError_t describe(cudaStream_t handle, const struct CUstream_st **out)
{
    static const struct CUstream_st standard; // flags and priority 0
    uint32_t id;
    int device;
    cudaError_t error = rt_connect();
    if (!error)
        error = rt_stream(handle, ZERO_STREAM, &id, &device);
    const struct CUstream_st *s = rt_find_stream(handle);
    *out = s ? s : &standard;
    return error;
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags)
{
    const struct CUstream_st *s;
    cudaError_t error = flags ? describe(handle, &s) : cudaErrorInvalidValue;
    if (!error)
        *flags = s->flags;
    return rt_done(error);
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority)
{
    const struct CUstream_st *s;
    cudaError_t error = priority ? describe(handle, &s) : cudaErrorInvalidValue;
    if (!error)
        *priority = s->priority;
    return rt_done(error);
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id)
{
    const struct CUstream_st *s;
    cudaError_t error = id ? describe(handle, &s) : cudaErrorInvalidValue;
    if (!error)
        *id = s->serial ? s->serial : 1;
    return rt_done(error);
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *device)
{
    uint32_t id;
    cudaError_t error = device ? rt_connect() : cudaErrorInvalidValue;
    if (!error)
        error = rt_stream(handle, ZERO_STREAM, &id, device);
    return rt_done(error);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                  enum cudaStreamCaptureStatus *status)
{
    const struct CUstream_st *s;
    cudaError_t error = status ? describe(handle, &s) : cudaErrorInvalidValue;
    if (!error)
        *status = cudaStreamCaptureStatusNone;
    return rt_done(error);
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void *ptr,
                                     size_t nbytes, unsigned flags)
{
    const struct CUstream_st *s;
    return rt_done(ptr ? describe(handle, &s) : cudaErrorInvalidValue);
}

// ---- attributes ------------------------------------------------------------

// What a stream may be told about caches and clusters is a hint.
cudaError_t cudaStreamSetAttribute(cudaStream_t handle,
                                   cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue *value)
{
    const struct CUstream_st *s;
    return rt_done(value ? describe(handle, &s) : cudaErrorInvalidValue);
}
