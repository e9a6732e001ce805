// System calls that nothing in a sandbox may make.
#pragma once

#include <stdbool.h>

// For compilers, device servers and workers alike. offline: no sockets but
// local ones, where no network namespace sees to that. 0, or -errno.
int filter_sandbox(bool offline);
// For a worker on top of that: threads only, no program, no process.
int filter_worker(void);
