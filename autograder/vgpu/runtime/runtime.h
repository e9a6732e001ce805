// Inside of the stand-in CUDA runtime: not for other parts.
//
//   connection.c   the socket to the device server, replies, device output
//   register.c     what nvcc's start-up code registers: fatbins, kernels, ...
//   load.c         modules and functions, sent to the server when first used
//   submit.c       a launch, checked as the real runtime checks it
//   copy.c         copies and fills, in pieces through the staging area
//   error.c        last errors, names and strings; calls that are not there
//   memory.c       cudaMalloc and friends      pool.c      memory pools
//   pointer.c      what an address is
//   handles.c      streams and events as handles
//   device.c attributes.c peer.c occupancy.c function.c stream.c event.c
//                  the calls themselves, by subject
//   per_thread_*.c calls whose stream 0 depends on how a program was compiled:
//                  compiled twice, the second time under their _ptsz and
//                  _ptds names (as cuda_runtime_api.h renames them)
//   stubs          generated: every other name that the real library exports
//
// Every call ends in `return rt_done(error)`, which remembers the error for
// cudaGetLastError.
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../model/model.h"
#include "../server/wire.h"

// What stream 0 means to the code that a file is compiled for.
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define ZERO_STREAM cudaStreamPerThread
#else
#define ZERO_STREAM cudaStreamLegacy
#endif

enum { RT_MAX_DEVICES = 8 };

// ---- error.c ---------------------------------------------------------------

cudaError_t rt_done(cudaError_t error);
// Says its name once on stderr; cudaErrorNotSupported.
cudaError_t rt_not_supported(const char *name);
// Whether VGPU_TRACE names a subject: "launch", "mem", "parse", "sync".
bool rt_traces(const char *subject);
void rt_trace(const char *subject, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// ---- connection.c ----------------------------------------------------------

// Connects to the server at the first call. cudaErrorInitializationError in a
// child of fork, whose parent's connection is not its own.
cudaError_t rt_connect(void);
// After rt_connect():
const struct wire_hello *rt_hello(void);
const struct gpu_model *rt_gpu(void);

// One request and its reply. tail and fd may be absent (NULL, -1).
struct exchange {
    uint32_t op;
    const void *body;
    size_t nbody;
    const void *tail;
    size_t ntail;
    int fd;
    void *reply;          // nreply bytes, filled when there is no error
    size_t nreply;
    char *reply_tail;     // reply_room bytes, or NULL
    size_t reply_room, nreply_tail;
    int *reply_fd;        // receives a descriptor, or -1; NULL: not wanted
};
cudaError_t rt_exchange(struct exchange *);
// Without tails or descriptors.
cudaError_t rt_ask(uint32_t op, const void *body, size_t nbody, void *reply,
                   size_t nreply);
// Sends without waiting for a reply.
cudaError_t rt_post(uint32_t op, const void *body, size_t nbody,
                    const void *tail, size_t ntail);

// The staging area, for who holds the lock around its exchanges.
char *rt_lock_staging(void);
cudaError_t rt_exchange_locked(struct exchange *);
void rt_unlock_staging(void);
// Writes what kernels printed to stdout, as CUDA does when the program waits
// for the device.
void rt_write_output(void);
// CPU time until now is the runtime's own, not the program's.
void rt_forgive_time(void);

// Whether an address is one that the server knows as it is.
bool rt_is_server_address(uint64_t addr);

// ---- device.c --------------------------------------------------------------

int rt_device(void); // the calling thread's current device
cudaError_t rt_check_device(int device);

// ---- handles.c -------------------------------------------------------------

// The server's number of a stream and its device. zero: what stream 0 means.
cudaError_t rt_stream(cudaStream_t, cudaStream_t zero, uint32_t *id,
                      int *device);
cudaError_t rt_event(cudaEvent_t, uint32_t *id);

// ---- register.c, load.c ----------------------------------------------------

struct rt_fatbin {
    struct rt_fatbin *next;
    const void **images;
    size_t nimages;
    bool asked;             // loading was tried: error says how it went
    cudaError_t error;
    uint32_t module;
};

struct rt_function {
    struct rt_fatbin *bin;
    const void *host;       // what the program knows it by
    const char *name;       // mangled
    bool asked;
    cudaError_t error;
    struct wire_function info;
    struct wire_param *params; // info.nparams
    int dynamic_shared_max; // as cudaFuncSetAttribute left it; -1: the default
    int carveout;
};

struct rt_variable {
    struct rt_fatbin *bin;
    const void *host;       // a managed variable: of the pointer to it
    const char *name;
    size_t nbytes;
    bool managed;
};

// By host function or by kernel handle; NULL when there is none.
struct rt_function *rt_find_function(const void *func);
struct rt_variable *rt_find_variable(const void *symbol);
cudaError_t rt_load_fatbin(struct rt_fatbin *);
// Fills func->info, once.
cudaError_t rt_load_function(struct rt_function *);
// Where a variable lies on the current device.
cudaError_t rt_variable_address(const struct rt_variable *, uint64_t *addr);

// ---- submit.c --------------------------------------------------------------

struct rt_launch {
    const void *func;
    dim3 grid, block;
    void **args;
    size_t dynamic_shared;
    cudaStream_t stream, zero;
    bool cooperative;
};
cudaError_t rt_submit(const struct rt_launch *);
// Dynamic shared memory a launch of it may ask for.
size_t rt_dynamic_shared_limit(const struct rt_function *);

// ---- copy.c ----------------------------------------------------------------

struct rt_rows { // height rows of width bytes
    void *dst;
    size_t dst_pitch;
    const void *src;
    size_t src_pitch;
    size_t width, height;
    enum cudaMemcpyKind kind;
    bool wait;              // until it has ended
};
cudaError_t rt_copy(const struct rt_rows *, cudaStream_t, cudaStream_t zero);
cudaError_t rt_fill(void *dst, size_t pitch, int byte, size_t width,
                    size_t height, bool wait, cudaStream_t, cudaStream_t zero);

// ---- memory.c, pointer.c ---------------------------------------------------

cudaError_t rt_allocate(enum wire_memory, int device, size_t nbytes,
                        uint64_t *addr);
cudaError_t rt_release(enum wire_memory, void *ptr, bool wait);
// Whether the program has page-locked the whole range by cudaHostRegister.
bool rt_is_registered(const void *ptr, size_t nbytes);
// Whether a range lies in one live allocation that this process made.
bool rt_is_known(uint64_t addr, size_t nbytes);
// Maps what the server shares at its own address; takes the descriptor.
cudaError_t rt_map_shared(uint64_t addr, uint64_t nbytes, int fd);

static inline size_t rt_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}
