// What a process and all its descendants use, from /proc.
#pragma once

#include <stdint.h>
#include <sys/types.h>

struct tree_usage {
    unsigned processes, threads;
    uint64_t memory_bytes; // anonymous, shared and swapped pages, memory files
};

// As far as can be seen; a process that ends meanwhile is left out. Stops
// counting at 4096 processes.
void tree_measure(pid_t root, struct tree_usage *);
// CPU time of one process, its threads included; 0 when it is gone.
double process_cpu_s(pid_t);
