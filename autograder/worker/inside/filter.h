// System calls that nothing in a sandbox may make.
#pragma once

// For compilers, device servers and workers alike. 0, or -errno.
int filter_sandbox(void);
// For a worker on top of that: threads only, no program, no process.
int filter_worker(void);
