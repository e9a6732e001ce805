// What passes between a CUDA program, the device server and its owner.
//
// Unix SOCK_SEQPACKET sockets: a message is one packet, so that a reader can
// never lose its place, whatever the other side writes.
//
//   request   struct wire_request | body of the operation | tail
//   reply     struct wire_reply   | body of the reply     | tail
//
// Three kinds of socket, each with operations of its own, so that a program
// cannot even name what only the owner may do:
//
//   owner     one, inherited by the server when it starts
//   door      one a program: a process says WIRE_DOOR_CONNECT and passes one
//             end of a socket pair; children that exec share the door
//   program   one a process, made through a door
//
// Bulk data lies in a staging area, a sealed memfd that the server makes and
// both map; messages name offsets in it. Posted operations have no reply:
// what goes wrong in them comes back with the next one that has.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WIRE_VERSION = 1,
    WIRE_MESSAGE = 64 << 10,   // the longest packet, header included
    WIRE_STAGING = 8 << 20,    // bytes of the staging area
    WIRE_MAX_IMAGES = 1024,    // fatbins of one program unit
    WIRE_OWNER_FD = 3,         // where the server finds its owner's socket
};

struct wire_request {
    uint32_t op;
    uint32_t nbytes;           // after this header
    uint64_t host_ns;          // CPU time of the program since its last call
};

struct wire_reply {
    int32_t error;             // a cudaError_t; owner operations: 0 or -1
    uint32_t nbytes;
    uint32_t print_bytes;      // device output waiting to be taken
    uint32_t pad;
};

// ---- program operations ----------------------------------------------------
// OP(name, request body, reply body): sizes are exact, but for the operations
// listed in wire_has_tail(), whose requests may be longer.

#define WIRE_PROGRAM_OPS(OP)                                                   \
    OP(HELLO, wire_nothing, wire_hello)                                        \
    OP(MEM_INFO, wire_device, wire_mem_info)                                   \
    OP(ALLOC, wire_alloc, wire_range)                                          \
    OP(FREE, wire_free, wire_nothing)                                          \
    OP(POINTER, wire_address, wire_pointer)                                    \
    OP(COPY, wire_copy, wire_nothing)                                          \
    OP(FILL, wire_fill, wire_nothing)                                          \
    OP(MODULE, wire_module, wire_id)                                           \
    OP(FUNCTION, wire_symbol, wire_function)                                   \
    OP(VARIABLE, wire_symbol, wire_range)                                      \
    OP(LAUNCH, wire_launch, wire_nothing)                                      \
    OP(STREAM_NEW, wire_stream, wire_id)                                       \
    OP(STREAM_FREE, wire_id, wire_nothing)                                     \
    OP(SYNC, wire_sync, wire_nothing)                                          \
    OP(EVENT_NEW, wire_device, wire_id)                                        \
    OP(EVENT_FREE, wire_id, wire_nothing)                                      \
    OP(EVENT_RECORD, wire_event, wire_nothing)                                 \
    OP(EVENT_WAIT, wire_event, wire_nothing)                                   \
    OP(EVENT_SYNC, wire_id, wire_nothing)                                      \
    OP(EVENT_TIME, wire_event_pair, wire_elapsed)                              \
    OP(TAKE_PRINT, wire_nothing, wire_id)                                      \
    OP(RESET, wire_device, wire_nothing)                                       \
    OP(PEER, wire_peer, wire_nothing)                                          \
    OP(IPC_GET, wire_address, wire_ipc)                                        \
    OP(IPC_OPEN, wire_ipc, wire_range)

enum wire_op {
#define OP(name, request, reply) WIRE_##name,
    WIRE_PROGRAM_OPS(OP)
#undef OP
    WIRE_PROGRAM_COUNT,
};

struct wire_nothing { uint8_t none[0]; };

struct wire_hello {
    uint32_t version, ndevices, staging_bytes;
    uint32_t count_host_time;  // whether host_ns is wanted
    char gpu[32];              // the model's key
};

struct wire_device { int32_t device; };
struct wire_peer { int32_t device, peer, enable, pad; };
struct wire_id { uint32_t id; };        // also: a count of bytes
struct wire_address { uint64_t addr; };
struct wire_range { uint64_t addr, nbytes; };
struct wire_mem_info { uint64_t free_bytes, total_bytes; };

enum wire_memory { WIRE_MEM_DEVICE, WIRE_MEM_HOST, WIRE_MEM_MANAGED };

// With host or managed memory the reply carries a memfd to map at its address.
struct wire_alloc {
    uint64_t nbytes;
    int32_t device;
    uint32_t kind;             // enum wire_memory
};
struct wire_free {
    uint64_t addr;
    uint32_t kind;             // the family it must be of
    uint32_t flags;            // WIRE_WAIT: first wait for the device
};
// nbytes 0: no live allocation holds the address.
struct wire_pointer {
    uint64_t base, nbytes;
    int32_t device;
    uint32_t kind;             // enum wire_memory
};

enum wire_copy_kind {
    WIRE_COPY_DIRECT,          // both addresses are the server's
    WIRE_COPY_IN,              // src is an offset in the staging area
    WIRE_COPY_OUT,             // dst is
};
enum wire_flags {
    WIRE_POSTED = 1,           // no reply wanted
    WIRE_PINNED = 2,           // the host side is page-locked
    WIRE_CONTINUES = 4,        // goes on where the last copy ended
    WIRE_WAIT = 8,             // the program waits for its end
    WIRE_COOPERATIVE = 16,
};
// height rows of width bytes. Staged rows lie packed.
struct wire_copy {
    uint64_t dst, src, dst_pitch, src_pitch, width, height;
    uint32_t stream, kind, flags, pad;
};
struct wire_fill {
    uint64_t dst, pitch, width, height;
    uint32_t stream, flags, byte, pad;
};

// Comes with a sealed memfd; the tail is nimages struct wire_range, offsets
// into it. A failure's reply has the message as its tail.
struct wire_module { uint32_t nimages; };
// The tail is the name, without a final zero.
struct wire_symbol {
    uint32_t module;
    int32_t device;
};
// The tail of the reply is nparams struct wire_param.
struct wire_function {
    uint32_t func;             // what a launch calls it by
    uint32_t regs, regs_exact;
    uint32_t shared_bytes, local_bytes, const_bytes;
    uint32_t max_threads;      // a block
    uint32_t param_bytes, nparams;
    uint32_t capability;       // of the PTX
};
struct wire_param { uint32_t offset, nbytes; };

// Posted. The tail is the parameter block.
struct wire_launch {
    uint32_t module, func;
    int32_t device;
    uint32_t stream;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    uint32_t flags;
};

// Streams 0..7 are the legacy default streams of the devices.
enum { WIRE_FIRST_STREAM = 8 };
struct wire_stream {
    int32_t device;
    uint32_t blocking;         // ordered with the legacy default stream
};
enum { WIRE_ALL_STREAMS = -1 };
struct wire_sync {
    int32_t device;
    int32_t stream;            // or WIRE_ALL_STREAMS
};
// Posted.
struct wire_event { uint32_t event, stream; };
struct wire_event_pair { uint32_t start, end; };
struct wire_elapsed { double ns; };
struct wire_ipc {
    uint64_t secret[2];
    uint64_t base, nbytes;
    int32_t device;
    uint32_t pad;
};

bool wire_has_tail(uint32_t op);
bool wire_is_posted(uint32_t op); // always, whatever its flags

// ---- the door --------------------------------------------------------------

enum { WIRE_DOOR_CONNECT = 0x100 };

// ---- owner operations ------------------------------------------------------

#define WIRE_OWNER_OPS(OP)                                                     \
    OP(START, wire_start, wire_nothing)                                        \
    OP(DOOR, wire_nothing, wire_nothing)                                       \
    OP(IMPORT, wire_import, wire_address)                                      \
    OP(FORGET, wire_address, wire_nothing)                                     \
    OP(WATCH, wire_id, wire_nothing)                                           \
    OP(SCHEDULE, wire_schedule, wire_nothing)                                  \
    OP(CLOCK, wire_nothing, wire_elapsed)                                      \
    OP(PROGRAMS, wire_nothing, wire_id)                                        \
    OP(MARK, wire_mark, wire_nothing)                                          \
    OP(WRITERS, wire_range, wire_writers)                                      \
    OP(FINDINGS, wire_nothing, wire_nothing)                                   \
    OP(LAUNCHES, wire_nothing, wire_nothing)

enum wire_owner_op {
    WIRE_OWNER_FIRST = 0x200,
    WIRE_OWNER_BASE = WIRE_OWNER_FIRST - 1,
#define OP(name, request, reply) WIRE_OWNER_##name,
    WIRE_OWNER_OPS(OP)
#undef OP
    WIRE_OWNER_END,
};

struct wire_start {
    char gpu[32];              // empty: the default
    uint32_t version, ndevices, watch, nthreads;
    uint64_t memory_limit, budget, seed;
    uint32_t schedule, count_host_time;
};
// Comes with the memfd. kind: WIRE_MEM_DEVICE, or WIRE_MEM_HOST.
struct wire_import {
    uint64_t nbytes;
    int32_t device;
    uint32_t kind, pinned, pad;
    char label[64];
};
struct wire_schedule {
    uint32_t schedule, pad;
    uint64_t seed;
};
struct wire_mark {
    uint64_t addr, nbytes;
    uint32_t host;             // 1: written by the host; 0: by nobody
    uint32_t pad;
};
struct wire_writers { uint64_t nobody, host, kernel; };
// FINDINGS and LAUNCHES answer with as many whole structs of control.h and
// memory.h as fit into a packet, the oldest first; none are left when the
// reply is empty. Owner and server are built together, so these have the same
// layout in both.

// ---- packets (wire.c) ------------------------------------------------------

enum wire_status { WIRE_OK, WIRE_CLOSED, WIRE_BAD };

// Sends header, body and tail as one packet, with a descriptor unless fd < 0.
// Never raises SIGPIPE. false when the other side is gone or it is too long.
bool wire_send(int sock, const void *header, size_t nheader, const void *body,
               size_t nbody, const void *tail, size_t ntail, int fd);

// Receives one packet of at least nheader and at most WIRE_MESSAGE bytes into
// buffer (WIRE_MESSAGE bytes). *fd: the descriptor that came along, or -1; it
// is the caller's. WIRE_BAD: a packet out of form, which is discarded whole.
enum wire_status wire_receive(int sock, void *buffer, size_t nheader,
                              size_t *nbytes, int *fd);

// A sealed memfd of nbytes (shrink, grow and seal forbidden; also writing if
// read_only, with its contents from data). -1 on failure.
int wire_memfd(const char *name, size_t nbytes, const void *data);
// Whether fd is a memfd that can no longer change its size, nor its contents
// if read_only, and holds at least nbytes.
bool wire_is_sealed(int fd, uint64_t nbytes, bool read_only);
