// What an address is: attributes of pointers, advice about ranges, IPC.
#include "runtime.h"

#include <string.h>

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out,
                                     const void *ptr)
{
    struct wire_address body = {(uintptr_t)ptr};
    struct wire_pointer p = {0};
    if (!out)
        return rt_done(cudaErrorInvalidValue);
    cudaError_t error = rt_ask(WIRE_POINTER, &body, sizeof body, &p, sizeof p);
    if (error)
        return rt_done(error);
    void *mine = (void *)(uintptr_t)ptr;
    *out = (struct cudaPointerAttributes){
        .type = cudaMemoryTypeUnregistered, .device = -2,
    };
    if (!p.nbytes) {
        if (rt_is_registered(ptr, 1))
            *out = (struct cudaPointerAttributes){
                .type = cudaMemoryTypeHost, .device = rt_device(),
                .hostPointer = mine,
            };
        return rt_done(cudaSuccess);
    }
    out->device = p.device >= 0 ? p.device : rt_device();
    out->devicePointer = mine;
    out->hostPointer = p.kind == WIRE_MEM_DEVICE ? NULL : mine;
    out->type = p.kind == WIRE_MEM_DEVICE    ? cudaMemoryTypeDevice
                : p.kind == WIRE_MEM_MANAGED ? cudaMemoryTypeManaged
                                             : cudaMemoryTypeHost;
    return rt_done(cudaSuccess);
}

// Advice about managed memory changes nothing here, but must be about some.
cudaError_t cudaMemAdvise(const void *ptr, size_t nbytes,
                          enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    return rt_done(rt_is_known((uintptr_t)ptr, nbytes) ? cudaSuccess
                                                       : cudaErrorInvalidValue);
}

// ---- between processes -----------------------------------------------------

_Static_assert(sizeof(struct wire_ipc) <= sizeof(cudaIpcMemHandle_t),
               "a handle must fit");

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *ptr)
{
    struct wire_address body = {(uintptr_t)ptr};
    struct wire_ipc ipc = {0};
    if (!handle)
        return rt_done(cudaErrorInvalidValue);
    cudaError_t error = rt_ask(WIRE_IPC_GET, &body, sizeof body, &ipc,
                               sizeof ipc);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &ipc, sizeof ipc);
    return rt_done(error);
}

cudaError_t cudaIpcOpenMemHandle(void **ptr, cudaIpcMemHandle_t handle,
                                 unsigned flags)
{
    struct wire_ipc ipc;
    struct wire_range range = {0};
    if (!ptr || flags != cudaIpcMemLazyEnablePeerAccess)
        return rt_done(cudaErrorInvalidValue);
    memcpy(&ipc, &handle, sizeof ipc);
    cudaError_t error = rt_ask(WIRE_IPC_OPEN, &ipc, sizeof ipc, &range,
                               sizeof range);
    if (!error)
        *ptr = (void *)(uintptr_t)range.addr;
    return rt_done(error);
}

// Opening maps nothing, so that there is nothing to undo.
cudaError_t cudaIpcCloseMemHandle(void *ptr)
{
    return rt_done(rt_is_server_address((uintptr_t)ptr)
                       ? cudaSuccess
                       : cudaErrorInvalidValue);
}
