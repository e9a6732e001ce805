// What the owner of a device server (the judge, vgpu-run) may ask of it.
//
// The server is a process of its own; it is started here, inside whatever
// sandbox prefix the owner gives. Owner and programs speak the protocol of
// wire.h over separate sockets: a program can do what a CUDA program can do,
// only the owner can import memory, set modes and read findings.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../exec/exec.h"
#include "../memory/watch.h"

struct vgpu; // a running device server, seen from its owner

struct vgpu_options {
    const char *gpu;            // model key; NULL: the default
    unsigned ndevices;          // 1..8; 0: 1
    uint64_t memory_limit;      // bytes of all devices together; 0: 4 GiB
    unsigned watch;             // enum watch_flags
    unsigned nthreads;          // 0: all cores; 1: deterministic
    uint64_t budget;            // warp instructions a launch; 0: none
    enum schedule schedule;
    uint64_t seed;
    // How long an answer may take; then the server is killed and every call
    // fails. 0: for ever.
    double patience_s;
    // Whether the program's CPU time between its calls passes on the modelled
    // clock, too; without it every run gives the same times.
    bool count_host_time;
    // argv put before the server's own (a sandbox), NULL-terminated, or NULL.
    const char *const *prefix;
    const char *server_path;    // NULL: beside the owner's executable
};

// 0, or -1 with a sentence in message (256 bytes).
int vgpu_start(const struct vgpu_options *, struct vgpu **out, char *message);
void vgpu_stop(struct vgpu *);
int vgpu_pid(const struct vgpu *);

// A socket for one program and the programs that it starts: pass it on with
// VGPU_FD=<its number there> in the environment, and close it here. It is
// close-on-exec: dup2() it in the child. -1 on failure.
int vgpu_program_socket(struct vgpu *);

// Maps the owner's sealed memfd (whole granules) on a device; 0 on failure.
uint64_t vgpu_import(struct vgpu *, int fd, uint64_t nbytes, int device,
                     const char *label);
// host: at the same address in every program that asks (pinned buffers).
uint64_t vgpu_import_host(struct vgpu *, int fd, uint64_t nbytes,
                          bool pinned, const char *label);
int vgpu_forget(struct vgpu *, uint64_t addr); // unmap an import

int vgpu_set_watch(struct vgpu *, unsigned flags);
int vgpu_set_schedule(struct vgpu *, enum schedule, uint64_t seed);

// Modelled time, ns since the server started: when all work submitted so far
// has ended. Counts device work, copies, launch overheads.
int vgpu_clock(struct vgpu *, double *ns);

// Marks a buffer as freshly written by the host: kernels may read it.
int vgpu_mark_host_written(struct vgpu *, uint64_t addr, uint64_t nbytes);
// Marks it as written by nobody.
int vgpu_mark_unwritten(struct vgpu *, uint64_t addr, uint64_t nbytes);
int vgpu_writers(struct vgpu *, uint64_t addr, uint64_t nbytes,
                 struct writers *);

// Waits until no program is connected any more (they take a moment to be let
// go after they end); -1 after 10 s.
int vgpu_wait_idle(struct vgpu *);

// Findings since the last call; the caller frees *out.
int vgpu_findings(struct vgpu *, struct finding **out, unsigned *n);

struct vgpu_launch {
    char kernel[256];           // demangled
    uint32_t grid[3], block[3];
    uint32_t regs, shared_bytes;
    uint64_t warp_instructions, lane_instructions;
    uint64_t branches, divergent_branches, lanes_lost_to_branches;
    struct access_counters access;
    struct occupancy occupancy;  // limiter is NULL: see below
    char occupancy_limiter[16];
    double modelled_ns;
    char limiter[16];
};
// Launches since the last call, at most 4096 kept; the caller frees *out.
int vgpu_launches(struct vgpu *, struct vgpu_launch **out, unsigned *n);
// The same as the JSON of `vgpu-run --counters`; the caller frees.
char *vgpu_counters_json(const char *gpu, const struct vgpu_launch *, unsigned n);
