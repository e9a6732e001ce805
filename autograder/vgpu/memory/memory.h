// Device memory of the virtual GPU, and what watches it.
//
//   space.c     address windows and what is mapped in them (2 MiB granules)
//   records.c   the allocations of a window, freed ones included, by address
//   alloc.c     cudaMalloc and friends: slabs, imports, host memory
//   shadow.c    who wrote each byte: nobody, a host copy, a kernel
//   transfer.c  copies and fills, as the host asks for them
//   check.c     bounds, alignment, uninitialized reads -> findings
//   race*.c     threads that nothing orders -> findings
//   counters.c  requests and sectors, as Nsight Compute counts them
//   findings.c  the list of findings, one a (kernel, site, kind)
//
// A device pointer is an address of the server's own address space: device d
// owns [VGPU_DEVICE_BASE + d * VGPU_DEVICE_SPAN, + VGPU_DEVICE_SPAN). The
// program reserves the same range without access, so that a host access to
// device memory faults there as it does with a GPU.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __SANITIZE_THREAD__
#define VGPU_DEVICE_BASE UINT64_C(0x7d0000000000)
#define VGPU_DEVICE_SPAN UINT64_C(0x001000000000)
#else
#define VGPU_DEVICE_BASE UINT64_C(0x200000000000)
#define VGPU_DEVICE_SPAN UINT64_C(0x010000000000)
#endif
#define VGPU_MAX_DEVICES 8
// Pinned and managed memory: the same address in program and server.
#define VGPU_HOST_BASE                                                         \
    (VGPU_DEVICE_BASE + VGPU_MAX_DEVICES * VGPU_DEVICE_SPAN)
#define VGPU_HOST_SPAN VGPU_DEVICE_SPAN
#define VGPU_GRANULE   (UINT64_C(2) << 20) // what a GPU maps at once

// Generic addresses of shared, local and parameter memory: a window each,
// 4 GiB, never mapped; the low 32 bits are the offset.
#define VGPU_SHARED_WINDOW UINT64_C(0x7c0000000000)
#define VGPU_LOCAL_WINDOW  UINT64_C(0x7c0100000000)
#define VGPU_PARAM_WINDOW  UINT64_C(0x7c0200000000)
#define VGPU_WINDOW_BYTES  UINT64_C(0x000100000000)

struct memory; // all device and host-visible memory of one server

// limit_bytes: of all devices together, and as much again of host memory.
// NULL when the address ranges cannot be reserved.
struct memory *memory_new(unsigned ndevices, uint64_t limit_bytes);
void memory_free(struct memory *);

// Threads: everything here may be called from several threads at once, except
// that memory_release() must wait until no launch runs (as cudaFree does).

enum alloc_kind { ALLOC_DEVICE, ALLOC_HOST, ALLOC_MANAGED, ALLOC_IMPORTED,
                  ALLOC_VARIABLE };

struct allocation {
    uint64_t base, nbytes;   // as asked for; mapped to whole granules
    enum alloc_kind kind;
    int device;              // -1 for host memory
    uint64_t serial;         // 1, 2, 3... in order of allocation
    bool freed, read_only;
    const char *label;       // variable or buffer name, or NULL
};

// nbytes at a 512-byte aligned device address; 0 when memory is exhausted.
// As cudaMalloc, neighbours share 2 MiB granules.
uint64_t memory_alloc(struct memory *, int device, uint64_t nbytes,
                      enum alloc_kind, const char *label);
// Maps a sealed memfd whole at a fresh granule-aligned address. host: in the
// host window, for the program to map at the same address.
uint64_t memory_import(struct memory *, int device, int fd, uint64_t nbytes,
                       bool host, const char *label);
// As above, from a memfd made (and sealed) here; *fd is the caller's to send.
uint64_t memory_alloc_host(struct memory *, uint64_t nbytes, enum alloc_kind,
                           int *fd);
// 0, or -1 when addr is no live allocation's base.
int memory_release(struct memory *, uint64_t addr);
// The allocation holding addr, or the nearest one, freed ones included; NULL
// when the window of addr has none. Freed ones are remembered until their
// address is used again or 65536 younger ones have been freed.
const struct allocation *memory_find(const struct memory *, uint64_t addr);
// Calls visit for every allocation that is not freed, by window and address.
void memory_each(const struct memory *,
                 void (*visit)(void *self, const struct allocation *),
                 void *self);
// Kernels must not store to it (constants): a finding if they do.
int memory_set_read_only(struct memory *, uint64_t addr);
// Bytes mapped for allocations, in whole granules; device -1: host memory.
uint64_t memory_used(const struct memory *, int device);
// Kernels on `device` may reach the memory of `peer`; at first they may not.
void memory_set_peer(struct memory *, int device, int peer, bool enabled);

// The mapped extent around addr: what a GPU lets an access reach without a
// fault (allocations rounded out to granules, neighbours joined).
// device: the one executing; false when nothing is mapped there.
bool memory_extent(const struct memory *, int device, uint64_t addr,
                   uint64_t *lo, uint64_t *hi);

// Host-side transfers mark the shadow; the ranges must be mapped.
bool memory_write(struct memory *, uint64_t dst, const void *src, uint64_t n);
bool memory_read(struct memory *, void *dst, uint64_t src, uint64_t n);
bool memory_copy(struct memory *, uint64_t dst, uint64_t src, uint64_t n);
bool memory_set(struct memory *, uint64_t dst, int byte, uint64_t n);

// ---- who wrote what ------------------------------------------------------

enum writer { WRITER_NOBODY, WRITER_HOST, WRITER_KERNEL };

struct writers {
    uint64_t nobody, host, kernel; // bytes
};
// Bytes outside every mapping count as nobody's.
struct writers memory_writers(const struct memory *, uint64_t addr, uint64_t n);
void memory_set_writer(struct memory *, uint64_t addr, uint64_t n, enum writer);
void memory_forget_writers(struct memory *, uint64_t addr, uint64_t n);

// ---- findings ------------------------------------------------------------

enum finding_kind {
    FINDING_OUT_OF_BOUNDS, FINDING_MISALIGNED, FINDING_USE_AFTER_FREE,
    FINDING_WRONG_SPACE,     // a host pointer dereferenced on the device
    FINDING_UNINITIALIZED, FINDING_LEAK,
    FINDING_BARRIER, FINDING_DEADLOCK, FINDING_RACE,
    FINDING_ASSERT, FINDING_TRAP, FINDING_INVALID,
    FINDING_READ_ONLY,       // a store to a constant
    FINDING_UNSUPPORTED,     // the virtual GPU lacks it: no mistake
};

struct finding {
    enum finding_kind kind;
    char kernel[256];        // demangled
    uint32_t block[3], thread[3];
    char file[256];
    uint32_t line;           // 0 when the binary has no line information
    uint64_t addr, nbytes;
    // Out of bounds: bytes from the allocation's end to the access (0: right
    // behind it, or across the end), or (< 0) from the access to its start.
    int64_t distance;
    uint64_t count;          // accesses like this one, in all launches
    char message[512];       // one sentence for a person
    bool fatal;              // a GPU would have faulted here, too
};

const char *finding_name(enum finding_kind); // "out-of-bounds"
