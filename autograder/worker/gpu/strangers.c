#include "strangers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DEPTH = 64 };

static bool has(const struct pids *list, unsigned pid)
{
    for (unsigned i = 0; i < list->n; i++)
        if (list->pid[i] == pid)
            return true;
    return false;
}

// 0: there is no such process here. The name before it may hold anything.
static unsigned parent_of(unsigned pid)
{
    char path[64], line[512] = "", state;
    unsigned parent = 0;
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    size_t n = fread(line, 1, sizeof line - 1, f);
    fclose(f);
    line[n] = '\0';
    const char *end = strrchr(line, ')');
    if (!end || sscanf(end + 1, " %c %u", &state, &parent) != 2)
        return 0;
    return parent;
}

enum relation { OURS, STRANGER, UNKNOWN };

static enum relation relation_of(unsigned pid)
{
    unsigned self = (unsigned)getpid(), at = pid;
    for (unsigned depth = 0; depth < MAX_DEPTH; depth++) {
        if (at == self)
            return OURS;
        unsigned parent = parent_of(at);
        if (parent == 0) // not here, or the first of all processes
            return at == pid ? UNKNOWN : STRANGER;
        at = parent;
    }
    return STRANGER;
}

unsigned strangers_count(const struct pids *before, const struct pids *now,
                         unsigned own)
{
    // Where the driver's pids are not this namespace's, one that exists here
    // is somebody else by chance.
    bool related = has(now, (unsigned)getpid());
    unsigned strangers = 0, unknown = 0, ours = 0;
    for (unsigned i = 0; i < now->n; i++) {
        enum relation r = related ? relation_of(now->pid[i]) : UNKNOWN;
        if (r == OURS)
            ours++;
        else if (r == STRANGER || has(before, now->pid[i]))
            strangers++;
        else
            unknown++;
    }
    unsigned missing = own > ours ? own - ours : 0;
    return strangers + (unknown > missing ? unknown - missing : 0);
}
