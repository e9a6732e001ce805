// Which of the processes on a GPU are not the judge's.
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PIDS_MAX = 64 };
struct pids {
    unsigned n;
    unsigned pid[PIDS_MAX]; // as the driver gives them
};

// How many of `now` are neither this process nor descend from it.
//
// In a container the driver may give pids of another namespace, which name
// nobody here or somebody else. They are told by time: those of `before`,
// listed when this process had not opened the GPU yet, are strangers; of the
// others `own` are taken as ours.
unsigned strangers_count(const struct pids *before, const struct pids *now,
                         unsigned own);

#ifdef __cplusplus
}
#endif
