// Stands in for the device server, so that sessions can be tested without
// one: takes every buffer, executes nothing, and its clock stands still.
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "vgpu/model/model.h"
#include "vgpu/server/control.h"

struct vgpu {
    uint64_t next;
    int other_end;
};

const struct gpu_model *gpu_default(void)
{
    static const struct gpu_model g = {.key = "test", .name = "Test GPU"};
    return &g;
}

const struct gpu_model *gpu_find(const char *key)
{
    return NULL;
}

int vgpu_start(const struct vgpu_options *o, struct vgpu **out, char *message)
{
    *out = calloc(1, sizeof **out);
    (*out)->next = VGPU_DEVICE_BASE;
    (*out)->other_end = -1;
    return 0;
}

void vgpu_stop(struct vgpu *v)
{
    close(v->other_end);
    free(v);
}

int vgpu_program_socket(struct vgpu *v)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
        return -1;
    close(v->other_end);
    v->other_end = pair[1];
    return pair[0];
}

uint64_t vgpu_import(struct vgpu *v, int fd, uint64_t nbytes, int device,
                     const char *label)
{
    v->next += (nbytes + VGPU_GRANULE) / VGPU_GRANULE * VGPU_GRANULE;
    return v->next;
}

int vgpu_forget(struct vgpu *v, uint64_t addr)
{
    return 0;
}

int vgpu_clock(struct vgpu *v, double *ns)
{
    *ns = 0;
    return 0;
}

int vgpu_mark_host_written(struct vgpu *v, uint64_t addr, uint64_t nbytes)
{
    return 0;
}

int vgpu_mark_unwritten(struct vgpu *v, uint64_t addr, uint64_t nbytes)
{
    return 0;
}

int vgpu_writers(struct vgpu *v, uint64_t addr, uint64_t n, struct writers *w)
{
    return -1;
}
