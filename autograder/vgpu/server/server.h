// Inside of the device server: not for other parts.
//
//   vgpu_server_main.c   the owner's socket, until it closes
//   owner.c              what the owner may ask
//   program.c            a thread a program: receive, check, dispatch, reply
//   serve_memory.c       allocations, copies, fills, IPC handles
//   serve_module.c       modules, functions, variables
//   serve_launch.c       launches, their time, findings and counters
//   serve_stream.c       streams, events, synchronization
//   timeline.c           modelled time
//   findings.c           findings and launches kept for the owner
//
// One lock guards the server. It is held while an operation is carried out,
// launches included, so that programs take turns; never while waiting for a
// message.
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "../model/overlap.h"
#include "control.h"
#include "timeline.h"
#include "wire.h"

enum {
    MAX_PROGRAMS = 64,
    MAX_MODULES = 1024,       // a program
    MAX_EVENTS = 1 << 16,     // a program
    MAX_IMAGE_BYTES = 256 << 20,
    MAX_IMPORTS = 1024,
    MAX_LAUNCHES_KEPT = 4096,
    PRINT_BYTES = 8 << 20,    // device output kept until the program asks
};

// The errors that the server itself makes, as driver_types.h numbers them.
enum cuda_error {
    CUDA_OK = 0, CUDA_INVALID_VALUE = 1, CUDA_OUT_OF_MEMORY = 2,
    CUDA_INITIALIZATION = 3, CUDA_INVALID_SYMBOL = 13, CUDA_UNAVAILABLE = 46,
    CUDA_INVALID_DEVICE_FUNCTION = 98, CUDA_INVALID_DEVICE = 101,
    CUDA_INVALID_IMAGE = 200, CUDA_NO_IMAGE = 209, CUDA_INVALID_PTX = 218,
    CUDA_INVALID_HANDLE = 400, CUDA_NOT_READY = 600, CUDA_ILLEGAL_ADDRESS = 700,
    CUDA_OUT_OF_RESOURCES = 701, CUDA_TIMEOUT = 702, CUDA_ASSERT = 710,
    CUDA_ILLEGAL_INSTRUCTION = 715, CUDA_MISALIGNED = 716,
    CUDA_LAUNCH_FAILURE = 719, CUDA_COOPERATIVE_TOO_LARGE = 720,
    CUDA_NOT_SUPPORTED = 801,
};

struct import {
    uint64_t addr;
    bool pinned;
};

struct server {
    pthread_mutex_t lock;
    const struct gpu_model *gpu;
    unsigned ndevices, nthreads, watch_flags;
    uint64_t memory_limit, budget, seed;
    enum schedule schedule;
    bool count_host_time;
    struct memory *memory;
    struct watch *watch;
    struct engines engines[VGPU_MAX_DEVICES];
    double clock;               // ends of programs that are gone
    struct program *programs;   // a list
    unsigned nprograms;
    struct import imports[MAX_IMPORTS];
    unsigned nimports;
    struct vgpu_launch *launches; // a ring of MAX_LAUNCHES_KEPT
    unsigned first_launch, nlaunches;
    unsigned findings_sent;
    uint64_t secret[2];         // what makes an IPC handle valid
};

struct loaded_module {
    struct module *module;
    struct code *code;
    struct overlap **overlaps;  // by function, for the time model
    uint64_t *var_addr[VGPU_MAX_DEVICES]; // NULL: not yet on that device
};

struct event {
    bool live, recorded;
    int device;
    double ns;
};

// A list of addresses that a program owns, to release when it ends.
struct owned {
    uint64_t addr;
    bool variable;
    int fd;                     // of a managed variable, else -1
};

struct program {
    struct server *server;
    struct program *next;
    int sock;
    char *staging;
    int staging_fd;
    struct timeline timeline;
    int32_t error;              // of posted work, for the next reply
    int32_t sticky[VGPU_MAX_DEVICES];
    int device;                 // of the request being served
    struct loaded_module *modules;
    unsigned nmodules;
    struct event *events;
    unsigned nevents;
    struct owned *owned;
    size_t nowned, owned_room;
    char *print;                // PRINT_BYTES, allocated when first needed
    size_t print_first, print_bytes; // a ring: the oldest gives way
    // Where the last copy ended, for one that continues it.
    uint64_t copy_next, copy_done;
};

// One request as a handler sees it: body and tail checked for length.
struct request {
    struct program *program;
    const void *body;
    const char *tail;
    size_t ntail;
    int fd;                     // came along; closed by the dispatcher
    // The reply, zeroed; its body has the operation's size.
    void *reply;
    char *reply_tail;           // WIRE_MESSAGE / 2 bytes, or less
    size_t nreply_tail;
    int reply_fd;               // sent and closed by the dispatcher
};
typedef int handler(struct request *); // an enum cuda_error

// ---- program.c -------------------------------------------------------------

// Serves a door until it closes, in a thread of its own; owns the socket.
bool program_open_door(struct server *, int sock);

// ---- serve_*.c -------------------------------------------------------------

handler serve_MEM_INFO, serve_ALLOC, serve_FREE, serve_POINTER, serve_COPY,
    serve_FILL, serve_MODULE, serve_FUNCTION, serve_VARIABLE, serve_LAUNCH,
    serve_STREAM_NEW, serve_STREAM_FREE, serve_SYNC, serve_EVENT_NEW,
    serve_EVENT_FREE, serve_EVENT_RECORD, serve_EVENT_WAIT, serve_EVENT_SYNC,
    serve_EVENT_TIME, serve_TAKE_PRINT, serve_RESET, serve_PEER, serve_IPC_GET,
    serve_IPC_OPEN;

// Adds to what the program owns, with fd unless -1; false: no memory.
bool own(struct program *, uint64_t addr, bool variable, int fd);
void release_owned(struct program *, size_t index);
// A duplicate of the descriptor kept with an address, or -1.
int owned_fd(const struct program *, uint64_t addr);
void release_all(struct program *);
// A device's index, or -1; notes it as the request's.
int request_device(struct request *, int32_t device);

const struct loaded_module *module_at(const struct program *, uint32_t id);
// The addresses of its variables on a device, made when first asked for.
// NULL with *error set when there is no memory for them.
const uint64_t *module_vars(struct program *, uint32_t id, int device,
                            int *error);
void modules_free(struct program *);
// Registers a thread: the cubin's, or an estimate (*exact false).
unsigned function_regs(const struct ptx_func *, bool *exact);
unsigned function_max_threads(const struct ptx_func *,
                              const struct gpu_model *);
// Static shared memory and the CUDA name of a function, demangled.
void function_name(const struct ptx_func *, char *name, size_t n);

// Keeps device output for the program.
void print_keep(struct program *, const char *text, size_t n);

// ---- owner.c ---------------------------------------------------------------

// Serves the owner's socket until it closes.
void owner_serve(struct server *, int sock);
bool server_start(struct server *, const struct wire_start *);
bool is_pinned_import(const struct server *, uint64_t base);
