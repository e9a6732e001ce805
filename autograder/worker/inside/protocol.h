// What judge and worker say to each other, one datagram each way, over a
// SEQPACKET socket that the worker finds as descriptor 3.
//
// Both are of one build on one machine, so structures travel as they are. The
// submission shares the worker's process: the judge takes a reply as data,
// checks its size, and believes nothing in it.
#pragma once

#include <stdint.h>

enum { PROTOCOL_FD = 3, PROTOCOL_VGPU_FD = 4 };
enum { PROTOCOL_SYMBOL = 64, PROTOCOL_TEXT = 512, PROTOCOL_ARGS = 16 };
enum { PROTOCOL_BUFFERS = 1024, PROTOCOL_CALLS = 512, PROTOCOL_HANDLE = 64 };

enum request_kind {
    REQUEST_LOAD = 1,  // text: path of the submission
    REQUEST_MAP_HOST,  // buffer, nbytes, a memfd travels along
    REQUEST_MAP_AT,    // buffer, address: device memory, where it is
    REQUEST_MAP_IPC,   // buffer, handle: a CUDA IPC handle to open
    REQUEST_ALLOC,     // buffer, nbytes: device memory of the worker's own
    REQUEST_UNMAP,     // buffer
    REQUEST_COPY_IN,   // nbytes at offset of buffer, from those of `other`
    REQUEST_COPY_OUT,  // the other way
    REQUEST_PREPARE,   // stores the call as number `slot`
    REQUEST_GO,        // runs calls `slots[0..nslots)`, or the least that the
                       // device can do if there are none; then synchronizes
};

struct wire_arg {
    uint32_t kind;     // enum arg_kind
    uint32_t buffer;   // ARG_BUFFER
    uint64_t value;    // bits of the value, or the offset into the buffer
};

struct wire_call {
    char symbol[PROTOCOL_SYMBOL];
    uint32_t returns;  // enum return_kind
    uint32_t nargs;
    struct wire_arg args[PROTOCOL_ARGS];
};

struct request {
    uint32_t kind, serial;
    uint32_t buffer, other;
    uint64_t address, nbytes, offset;
    uint32_t slot, nslots;
    union {
        char text[4096];
        uint8_t handle[PROTOCOL_HANDLE];
        struct wire_call call;
        uint16_t slots[PROTOCOL_CALLS];
    };
};

enum reply_status {
    REPLY_OK = 1,
    REPLY_NOT_LOADED,
    REPLY_NO_SYMBOL,
    REPLY_FAILED,      // cuda_error and text say why
};

struct reply {
    uint32_t serial;
    uint32_t status;   // enum reply_status
    int64_t i;         // the returned value
    double f;
    int32_t cuda_error;
    uint32_t unused;
    char cuda_error_name[64];
    char text[PROTOCOL_TEXT];
};
