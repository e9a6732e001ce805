// Copies, fills and stream-ordered allocations; compiled twice.
#include "runtime.h"

// ---- copies ----------------------------------------------------------------

static cudaError_t copy(void *dst, const void *src, size_t n,
                        enum cudaMemcpyKind kind, bool wait, cudaStream_t s)
{
    struct rt_rows rows = {dst, n, src, n, n, 1, kind, wait};
    return rt_copy(&rows, s, ZERO_STREAM);
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t n,
                       enum cudaMemcpyKind kind)
{
    return rt_done(copy(dst, src, n, kind, true, 0));
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n,
                            enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt_done(copy(dst, src, n, kind, false, stream));
}

static cudaError_t copy_2d(void *dst, size_t dst_pitch, const void *src,
                           size_t src_pitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind, bool wait, cudaStream_t s)
{
    struct rt_rows rows = {dst,   dst_pitch, src,  src_pitch,
                           width, height,    kind, wait};
    if (width > dst_pitch || width > src_pitch)
        return cudaErrorInvalidPitchValue;
    return rt_copy(&rows, s, ZERO_STREAM);
}

cudaError_t cudaMemcpy2D(void *dst, size_t dst_pitch, const void *src,
                         size_t src_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    return rt_done(copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind,
                           true, 0));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dst_pitch, const void *src,
                              size_t src_pitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    return rt_done(copy_2d(dst, dst_pitch, src, src_pitch, width, height, kind,
                           false, stream));
}

// Slices of a box are copied one by one; arrays are not there.
static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, bool wait,
                           cudaStream_t stream)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (p->srcArray || p->dstArray)
        return rt_not_supported("cudaMemcpy3D with arrays");
    const struct cudaPitchedPtr *d = &p->dstPtr, *s = &p->srcPtr;
    char *dst = (char *)d->ptr + p->dstPos.x + p->dstPos.y * d->pitch +
                p->dstPos.z * d->pitch * d->ysize;
    const char *src = (const char *)s->ptr + p->srcPos.x +
                      p->srcPos.y * s->pitch + p->srcPos.z * s->pitch * s->ysize;
    for (size_t z = 0; z < p->extent.depth; z++) {
        cudaError_t error = copy_2d(
            dst + z * d->pitch * d->ysize, d->pitch,
            src + z * s->pitch * s->ysize, s->pitch, p->extent.width,
            p->extent.height, p->kind, wait, stream);
        if (error)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    return rt_done(copy_3d(p, true, 0));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p,
                              cudaStream_t stream)
{
    return rt_done(copy_3d(p, false, stream));
}

// ---- variables -------------------------------------------------------------

static cudaError_t within(const void *symbol, size_t n, size_t offset,
                          char **at)
{
    const struct rt_variable *var = rt_find_variable(symbol);
    if (!var)
        return cudaErrorInvalidSymbol;
    if (offset > var->nbytes || n > var->nbytes - offset)
        return cudaErrorInvalidValue;
    uint64_t addr;
    cudaError_t error = rt_variable_address(var, &addr);
    *at = (char *)(uintptr_t)addr + offset;
    return error;
}

static cudaError_t to_symbol(const void *symbol, const void *src, size_t n,
                             size_t offset, enum cudaMemcpyKind kind, bool wait,
                             cudaStream_t stream)
{
    char *dst;
    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = within(symbol, n, offset, &dst);
    return error ? error : copy(dst, src, n, kind, wait, stream);
}

static cudaError_t from_symbol(void *dst, const void *symbol, size_t n,
                               size_t offset, enum cudaMemcpyKind kind,
                               bool wait, cudaStream_t stream)
{
    char *src;
    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    cudaError_t error = within(symbol, n, offset, &src);
    return error ? error : copy(dst, src, n, kind, wait, stream);
}

cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n,
                               size_t offset, enum cudaMemcpyKind kind)
{
    return rt_done(to_symbol(symbol, src, n, offset, kind, true, 0));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src,
                                    size_t n, size_t offset,
                                    enum cudaMemcpyKind kind,
                                    cudaStream_t stream)
{
    return rt_done(to_symbol(symbol, src, n, offset, kind, false, stream));
}

cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n,
                                 size_t offset, enum cudaMemcpyKind kind)
{
    return rt_done(from_symbol(dst, symbol, n, offset, kind, true, 0));
}

cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n,
                                      size_t offset, enum cudaMemcpyKind kind,
                                      cudaStream_t stream)
{
    return rt_done(from_symbol(dst, symbol, n, offset, kind, false, stream));
}

// ---- fills -----------------------------------------------------------------

cudaError_t cudaMemset(void *dst, int byte, size_t n)
{
    return rt_done(rt_fill(dst, n, byte, n, 1, false, 0, ZERO_STREAM));
}

cudaError_t cudaMemsetAsync(void *dst, int byte, size_t n, cudaStream_t stream)
{
    return rt_done(rt_fill(dst, n, byte, n, 1, false, stream, ZERO_STREAM));
}

cudaError_t cudaMemset2D(void *dst, size_t pitch, int byte, size_t width,
                         size_t height)
{
    return rt_done(rt_fill(dst, pitch, byte, width, height, false, 0,
                           ZERO_STREAM));
}

cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int byte, size_t width,
                              size_t height, cudaStream_t stream)
{
    return rt_done(rt_fill(dst, pitch, byte, width, height, false, stream,
                           ZERO_STREAM));
}

static cudaError_t fill_3d(struct cudaPitchedPtr dst, int byte,
                           struct cudaExtent e, cudaStream_t stream)
{
    for (size_t z = 0; z < e.depth; z++) {
        char *slice = (char *)dst.ptr + z * dst.pitch * dst.ysize;
        cudaError_t error = rt_fill(slice, dst.pitch, byte, e.width, e.height,
                                    false, stream, ZERO_STREAM);
        if (error)
            return error;
    }
    return cudaSuccess;
}

cudaError_t cudaMemset3D(struct cudaPitchedPtr dst, int byte,
                         struct cudaExtent extent)
{
    return rt_done(fill_3d(dst, byte, extent, 0));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr dst, int byte,
                              struct cudaExtent extent, cudaStream_t stream)
{
    return rt_done(fill_3d(dst, byte, extent, stream));
}

// ---- stream-ordered memory -------------------------------------------------

// Work is executed in the order in which it is asked for, so memory that is
// there at once is there in time.
static cudaError_t allocate_on(void **ptr, size_t nbytes, cudaStream_t stream)
{
    uint32_t id;
    int device;
    uint64_t addr = 0;
    cudaError_t error = ptr ? rt_connect() : cudaErrorInvalidValue;
    if (error || (error = rt_stream(stream, ZERO_STREAM, &id, &device)))
        return error;
    if (nbytes)
        error = rt_allocate(WIRE_MEM_DEVICE, device, nbytes, &addr);
    if (!error)
        *ptr = (void *)(uintptr_t)addr;
    return error;
}

cudaError_t cudaMallocAsync(void **ptr, size_t nbytes, cudaStream_t stream)
{
    return rt_done(allocate_on(ptr, nbytes, stream));
}

cudaError_t cudaMallocFromPoolAsync(void **ptr, size_t nbytes,
                                    cudaMemPool_t pool, cudaStream_t stream)
{
    return rt_done(pool ? allocate_on(ptr, nbytes, stream)
                        : cudaErrorInvalidValue);
}

cudaError_t cudaFreeAsync(void *ptr, cudaStream_t stream)
{
    uint32_t id;
    int device;
    cudaError_t error = rt_connect();
    if (!error)
        error = rt_stream(stream, ZERO_STREAM, &id, &device);
    return rt_done(error ? error : rt_release(WIRE_MEM_DEVICE, ptr, false));
}

// Managed memory is where it is: moving it ahead of use is a hint.
cudaError_t cudaMemPrefetchAsync(const void *ptr, size_t nbytes,
                                 struct cudaMemLocation where, unsigned flags,
                                 cudaStream_t stream)
{
    uint32_t id;
    int device;
    cudaError_t error = rt_connect();
    if (!error && (flags || !rt_is_known((uintptr_t)ptr, nbytes)))
        error = cudaErrorInvalidValue;
    if (!error && where.type == cudaMemLocationTypeDevice)
        error = rt_check_device(where.id);
    if (!error)
        error = rt_stream(stream, ZERO_STREAM, &id, &device);
    return rt_done(error);
}
