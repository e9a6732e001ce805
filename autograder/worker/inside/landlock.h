// Landlock: which files a process may touch, where there are no namespaces.
#pragma once

#include <stdbool.h>

enum { LANDLOCK_MAX_PATHS = 64 };

struct allowed_path {
    const char *path;
    bool writable;
};

// From now on this process and its children reach these paths, and what is
// below them, and nothing else. 0, also where the kernel has no Landlock or a
// path does not exist; or -errno. Needs no_new_privs.
int landlock_restrict(const struct allowed_path *, unsigned n);
