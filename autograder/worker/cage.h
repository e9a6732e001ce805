// One sandboxed process tree and what it prints, from outside.
//
//   bwrap.c   the command line that builds the sandbox
//   cage.c    start, watch, stop
//
// Whatever the isolation, the tree's first process is the keeper (inside/).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture.h"
#include "session.h"

struct bind {
    const char *host, *inside; // absolute; inside NULL: the same
    bool writable;
};

enum { CAGE_MAX_FDS = 4 };
struct cage_options {
    enum isolation isolation;
    const char *const *argv;   // NULL-terminated; names as seen inside
    const char *const *env;    // NULL-terminated
    const struct bind *binds;
    unsigned nbinds;
    const char *directory;     // working directory; NULL: /tmp
    bool tools;                // all of /usr, not its libraries alone
    bool gpu;                  // device nodes of the GPUs
    uint64_t tmp_bytes;        // of the tmpfs at /tmp
    double cpu_s;              // a process; 0: none
    uint64_t memory_bytes;     // 0: none
    uint64_t file_bytes;       // largest file; 0: none
    unsigned max_tasks;        // processes and threads; 0: none
    int fds[CAGE_MAX_FDS];     // become 3, 4, ... inside
    unsigned nfds;
};

// ---- the command line ----------------------------------------------------

struct args {
    const char *v[512];
    unsigned n;
    char text[32 << 10]; // holds what was made here
    size_t used;
    bool overflow;
};
// [bwrap ...] keeper [limits] --; what the caller appends is then run.
// status_fd: the keeper's, or -1. false: too long.
bool cage_prefix(const struct cage_options *, int status_fd, struct args *);
// Whether a bubblewrap that does all we ask of it works here.
bool bwrap_works(void);
// A program or folder of this repository's build, found from the running
// executable ("bin/worker"); the caller frees. NULL: not there.
char *build_path(const char *name);

// ---- a cage --------------------------------------------------------------

enum cage_state {
    CAGE_RUNNING,
    CAGE_ENDED,      // status says how
    CAGE_OVER_LIMIT, // `limit` says which; stopped
    CAGE_BROKEN,     // the sandbox failed; what it printed says why
};

struct cage {
    enum cage_state state;
    int status;                // as waitpid gives it
    const char *limit;         // "memory", "processes and threads", "files"
    struct capture output;
    uint64_t shared_bytes;     // the judge's own memory in it: not counted
    // private
    pid_t pid;
    int pidfd, status_fd, output_fd;
    uint64_t memory_bytes;
    unsigned max_tasks;
    const char *scratch;       // a folder whose size is watched, or NULL
    uint64_t scratch_bytes;
    double next_look;
};

double now_s(void); // CLOCK_MONOTONIC

// The caller's; NULL with message (512 bytes) when it cannot be started.
struct cage *cage_start(const struct cage_options *, char *message);
// Waits until fd (or -1) is readable, the cage is no longer running, or the
// deadline (of now_s) has passed. Drains output and looks at limits
// meanwhile. true: fd is readable.
bool cage_wait(struct cage *, int fd, double deadline);
// Ends everything in it; returns when it is gone.
void cage_stop(struct cage *);
void cage_free(struct cage *); // stops it first
