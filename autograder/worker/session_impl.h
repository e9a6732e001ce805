// What the parts of a session share.
#pragma once

#include "cage.h"
#include "inside/protocol.h"
#include "session.h"

struct target; // how a target holds buffers and starts workers

struct session {
    struct session_options o;     // strings are the session's own
    const struct target *target;
    void *target_data;
    char gpu_name[128];

    struct cage *cage;            // the worker's
    int control;                  // our end of its socket, or -1
    pid_t worker_pid;
    uint32_t serial;
    bool dead;                    // nothing more to call: `last` says why
    struct outcome last;
    struct buffer *buffers[PROTOCOL_BUFFERS];
};

struct buffer {
    struct session *session;
    uint32_t id;                  // index into session->buffers
    bool host;
    size_t nbytes, skew;
    size_t slab_bytes;            // whole granules
    char label[64];
    int fd;                       // memfd: host, and virtual device buffers
    char *map;                    // of the memfd
    uint64_t address;             // device address in the judge or server
    void *data;                   // the target's own
};

// What a worker needs beyond the session's common things.
struct worker_needs {
    struct bind binds[16];
    unsigned nbinds;
    char *strings[32];            // freed by the session
    unsigned nstrings;
    const char *env[16];
    unsigned nenv;
    const char *runtime;          // path of libcudart inside, or ""
    int vgpu_fd;                  // or -1
    bool gpu;
};
// Keeps a string for as long as the needs live.
const char *needs_keep(struct worker_needs *, char *string);
// Binds host at `inside`, or leaves it where it is without namespaces; returns
// the path to use. host is kept and freed.
const char *needs_bind(struct session *, struct worker_needs *, char *host,
                       const char *inside);

struct target {
    bool modelled;
    int (*open)(struct session *, char *message);
    void (*close)(struct session *);
    // Before a worker starts: fresh server, imports, its needs.
    int (*prepare)(struct session *, struct worker_needs *, char *message);
    // A device buffer's memory; 0 or -1.
    int (*acquire)(struct buffer *);
    void (*release)(struct buffer *);
    // Tells the worker of a device buffer; 0 or -1.
    int (*attach)(struct buffer *);
    // Offsets are into the slab.
    int (*write)(struct buffer *, size_t offset, const void *, size_t nbytes);
    int (*read)(struct buffer *, size_t offset, void *, size_t nbytes);
    int (*fill)(struct buffer *, size_t offset, int byte, size_t nbytes);
    int (*random)(struct buffer *, uint64_t seed);
    bool (*writers)(struct buffer *, struct writers *);
    // Modelled time so far; 0 when it is not modelled.
    double (*clock_ns)(struct session *);
};

extern const struct target target_virtual, target_gpu;

// ---- target_gpu.c, for timing: 0 or -1 ----------------------------------------

double gpu_peak_gbs(const struct session *); // of DRAM; 0: unknown
int gpu_plan_gather(struct session *, const uint64_t *address, unsigned n,
                    unsigned element_bytes);
int gpu_gather(struct session *, void *out);
int gpu_flush_l2(struct session *);
uint64_t gpu_free_bytes(struct session *); // now; 0: unknown
int gpu_busy(struct session *, char *message);
int gpu_update_map(struct buffer *); // copy mode: before its map is read

// ---- session.c -------------------------------------------------------------

// One request and its reply. false: the session is dead, and `last` says why.
bool session_exchange(struct session *, struct request *, int fd,
                      struct reply *, double deadline_s);
// Stores a call as number `slot` in the worker.
bool session_prepare(struct session *, unsigned slot, const struct call *,
                     struct reply *);
// Runs the calls in these slots and waits for the device.
bool session_go(struct session *, const uint16_t *slots, unsigned n,
                struct reply *, double deadline_s);
// Ends the worker; calls then report `status` with text.
void session_kill(struct session *, enum call_status, const char *text);
// An outcome's status and text from a reply that is no success.
// session_call, with `fresh` run after the submission knows the call and after
// the clocks were read: what it wrote ahead of "go" is lost, its time counts.
void session_call_fresh(struct session *, const struct call *,
                        bool (*fresh)(void *), void *self, struct outcome *);
void session_explain(struct session *, const struct reply *, struct outcome *);

// ---- buffer.c --------------------------------------------------------------

int buffer_attach(struct buffer *); // to the worker that runs now
// A memfd of whole granules, sealed against every change of size, mapped here.
int buffer_make_memfd(struct buffer *);
void buffer_drop_memfd(struct buffer *);
