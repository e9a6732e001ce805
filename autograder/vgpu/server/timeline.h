// The modelled time of one program's streams, apart from what they execute.
//
// Work is executed in the order in which it is asked for; this decides when
// it would have started and ended on a GPU. Each stream is a queue, each
// device has engines that queues share:
//
//   compute     kernels overlap as far as the device has room for both
//   copy in, copy out, copy peer    one transfer at a time each
//
// The legacy default stream waits for all blocking streams and they for it.
// All times are ns since the server started.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "../model/model.h"

enum { TIMELINE_MAX_DEVICES = 8, TIMELINE_MAX_STREAMS = 4096 };

struct stream {
    bool live, blocking;
    int device;
    double end;        // when all its work so far has ended
};

struct engines { // of one device, shared by all programs
    double compute, copy[COPY_MEMSET + 1];
};

struct timeline {
    double host;       // the program's own clock
    struct stream *streams;
    unsigned nstreams, ndevices;
};

// Streams 0 .. ndevices-1 are the legacy default streams. false: no memory.
bool timeline_init(struct timeline *, unsigned ndevices, double now);
void timeline_free(struct timeline *);
// A stream's number, or -1 when there are too many.
int timeline_add(struct timeline *, int device, bool blocking);
// NULL when there is no such stream.
struct stream *timeline_stream(const struct timeline *, uint32_t id);
// The earliest start of new work on a stream.
double timeline_ready(const struct timeline *, const struct stream *);

// A kernel of `ns` that occupies a `share` (0..1] of the device.
void timeline_kernel(struct timeline *, struct stream *, struct engines *,
                     double ns, double share);
// A transfer of `ns` on one engine.
void timeline_copy(struct timeline *, struct stream *, struct engines *,
                   enum copy_kind, double ns);
// The program waits for a stream, or for all of a device (NULL).
void timeline_wait(struct timeline *, int device, const struct stream *);
// When all work so far has ended.
double timeline_end(const struct timeline *);
