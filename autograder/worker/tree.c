#include "tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TREE_MAX = 4096 };

// Memory files hold pages even when nothing maps them.
static uint64_t memory_files(pid_t pid)
{
    char path[64], target[64];
    uint64_t nbytes = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    struct dirent *e;
    while (dir && (e = readdir(dir)) != NULL) {
        ssize_t n = readlinkat(dirfd(dir), e->d_name, target, sizeof target);
        struct stat st;
        if (n >= 7 && memcmp(target, "/memfd:", 7) == 0 &&
            fstatat(dirfd(dir), e->d_name, &st, 0) == 0)
            nbytes += (uint64_t)st.st_blocks * 512;
    }
    if (dir)
        closedir(dir);
    return nbytes;
}

static void add_process(pid_t pid, struct tree_usage *u)
{
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    u->processes++;
    while (fgets(line, sizeof line, f)) {
        unsigned long long v;
        if (sscanf(line, "RssAnon: %llu", &v) == 1 ||
            sscanf(line, "RssShmem: %llu", &v) == 1 ||
            sscanf(line, "VmSwap: %llu", &v) == 1)
            u->memory_bytes += v << 10;
        else if (sscanf(line, "Threads: %llu", &v) == 1)
            u->threads += (unsigned)v;
    }
    fclose(f);
    u->memory_bytes += memory_files(pid);
}

// Appends the children of one thread.
static unsigned add_children(pid_t pid, const char *tid, pid_t *list,
                             unsigned n)
{
    char path[96];
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", (int)pid, tid);
    FILE *f = fopen(path, "re");
    int child;
    while (f && n < TREE_MAX && fscanf(f, "%d", &child) == 1)
        list[n++] = child;
    if (f)
        fclose(f);
    return n;
}

void tree_measure(pid_t root, struct tree_usage *u)
{
    pid_t list[TREE_MAX];
    unsigned n = 1;
    list[0] = root;
    memset(u, 0, sizeof *u);
    for (unsigned i = 0; i < n; i++) {
        char path[64];
        add_process(list[i], u);
        snprintf(path, sizeof path, "/proc/%d/task", (int)list[i]);
        DIR *dir = opendir(path);
        struct dirent *e;
        while (dir && (e = readdir(dir)) != NULL)
            if (e->d_name[0] != '.')
                n = add_children(list[i], e->d_name, list, n);
        if (dir)
            closedir(dir);
    }
}

double process_cpu_s(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
