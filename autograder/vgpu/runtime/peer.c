// Several devices: access to each other's memory, and copies between them.
#include "runtime.h"

static bool peers[RT_MAX_DEVICES][RT_MAX_DEVICES];

static cudaError_t check_pair(int device, int peer)
{
    cudaError_t error = rt_check_device(device);
    return error ? error : rt_check_device(peer);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    cudaError_t error = can ? check_pair(device, peer) : cudaErrorInvalidValue;
    if (!error)
        *can = device != peer;
    return rt_done(error);
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr,
                                      int device, int peer)
{
    cudaError_t error = value ? check_pair(device, peer)
                              : cudaErrorInvalidValue;
    if (!error && device == peer)
        error = cudaErrorInvalidDevice;
    if (!error && (attr < cudaDevP2PAttrPerformanceRank ||
                   attr > cudaDevP2PAttrOnlyPartialNativeAtomicSupported))
        error = cudaErrorInvalidValue;
    if (!error)
        *value = attr == cudaDevP2PAttrAccessSupported ||
                 attr == cudaDevP2PAttrNativeAtomicSupported;
    return rt_done(error);
}

static cudaError_t set_peer(int peer, bool enable)
{
    cudaError_t error = rt_check_device(peer);
    if (error)
        return error;
    if (peer == rt_device())
        return cudaErrorPeerAccessUnsupported;
    if (peers[rt_device()][peer] == enable)
        return enable ? cudaErrorPeerAccessAlreadyEnabled
                      : cudaErrorPeerAccessNotEnabled;
    struct wire_peer body = {.device = rt_device(), .peer = peer, .enable = enable};
    error = rt_ask(WIRE_PEER, &body, sizeof body, NULL, 0);
    if (!error)
        peers[rt_device()][peer] = enable;
    return error;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    return rt_done(flags ? cudaErrorInvalidValue : set_peer(peer, true));
}

cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    return rt_done(set_peer(peer, false));
}

// ---- copies ----------------------------------------------------------------

static cudaError_t copy_peer(void *dst, int dst_device, const void *src,
                             int src_device, size_t n, bool wait,
                             cudaStream_t stream)
{
    cudaError_t error = check_pair(dst_device, src_device);
    struct rt_rows rows = {dst, n, src, n, n, 1, cudaMemcpyDeviceToDevice,
                           wait};
    return error ? error : rt_copy(&rows, stream, cudaStreamLegacy);
}

cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src,
                           int src_device, size_t n)
{
    return rt_done(copy_peer(dst, dst_device, src, src_device, n, true, 0));
}

cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src,
                                int src_device, size_t n, cudaStream_t stream)
{
    return rt_done(copy_peer(dst, dst_device, src, src_device, n, false,
                             stream));
}
