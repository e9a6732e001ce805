// The command line of grade, understood.
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "worker/session.h"

enum verb { VERB_LAB, VERB_CHECK, VERB_COUNTERS, VERB_EXPLAIN };

struct command {
    enum verb verb;
    char lab[80];                // "02-vector-add"
    char shown[512];             // the submission as it was given
    char submission[PATH_MAX];   // absolute
    char json_path[PATH_MAX], junit_path[PATH_MAX];
    const char *json, *junit;    // NULL: not asked for
    const char *target, *gpu;    // NULL: chosen
    char cuda_home[PATH_MAX];
    enum isolation isolation;
    bool isolation_given, quiet, plain, progress;
    uint64_t seed;
};

// Parses, resolves paths, and moves to the repository's root, which is two
// folders above this program. -1 to go on, else the exit status: usage was
// told, or another program was run.
int command_parse(struct command *, int argc, char **argv);
// Which of the folders labs/NN-name `asked` means ("2", "02", the slug);
// 0, or -1 with a sentence that lists what there is.
int command_lab(const char *asked, char lab[80], char message[1024]);
