// The sandbox's command line. With namespaces, the root holds this and no
// more:
//
//   /usr (or its libraries alone), /lib /bin ... as the machine links them
//   /proc of the new pid namespace, its machine-wide parts read-only
//   /dev with null zero full random urandom tty, and the GPUs' nodes
//   /tmp  a tmpfs of limited size; /dev/shm likewise
//   /keeper and what the caller binds
//
// Files of /proc that root may write stay writable for a sandbox started by
// root (core_pattern among them), as bubblewrap maps no other user there:
// so /proc/sys is bound read-only over itself.
#include "cage.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

static void add(struct args *a, const char *arg)
{
    if (a->n + 1 >= sizeof a->v / sizeof *a->v) {
        a->overflow = true;
        return;
    }
    a->v[a->n++] = arg;
    a->v[a->n] = NULL;
}

// Adds all up to NULL.
static void add_all(struct args *a, ...)
{
    va_list list;
    va_start(list, a);
    for (const char *s; (s = va_arg(list, const char *)) != NULL;)
        add(a, s);
    va_end(list);
}

__attribute__((format(printf, 2, 3))) static void
add_format(struct args *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    size_t room = sizeof a->text - a->used;
    int n = vsnprintf(a->text + a->used, room, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= room) {
        a->overflow = true;
        return;
    }
    add(a, a->text + a->used);
    a->used += (size_t)n + 1;
}

char *build_path(const char *name)
{
    char self[PATH_MAX], path[PATH_MAX + 256];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n < 0)
        return NULL;
    self[n] = '\0';
    // build/bin/x and build/tests/part/x alike.
    for (int up = 0; up < 4; up++) {
        char *slash = strrchr(self, '/');
        if (!slash || slash == self)
            return NULL;
        *slash = '\0';
        snprintf(path, sizeof path, "%s/%s", self, name);
        if (access(path, R_OK) == 0)
            return realpath(path, NULL);
    }
    return NULL;
}

// ---- namespaces ------------------------------------------------------------

static void add_root(struct args *a, bool tools)
{
    static const char *const links[] = {"/lib", "/lib64", "/lib32", "/libx32",
                                        "/bin", "/sbin"};
    if (tools)
        add_all(a, "--ro-bind", "/usr", "/usr", NULL);
    else
        add_all(a, "--ro-bind", "/usr/lib", "/usr/lib", "--ro-bind-try",
                "/usr/lib64", "/usr/lib64", NULL);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        char target[PATH_MAX];
        ssize_t n = readlink(links[i], target, sizeof target - 1);
        if (n > 0) {
            target[n] = '\0';
            add(a, "--symlink");
            add_format(a, "%s", target);
            add(a, links[i]);
        } else if (i < 4 || tools) {
            add_all(a, "--ro-bind-try", links[i], links[i], NULL);
        }
    }
    add_all(a, "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache", NULL);
    if (tools)
        add_all(a, "--ro-bind-try", "/etc/alternatives", "/etc/alternatives",
                NULL);
}

static void add_gpu_nodes(struct args *a)
{
    static const char *const patterns[] = {"/dev/nvidia*", "/dev/dxg"};
    for (size_t i = 0; i < 2; i++) {
        glob_t found;
        if (glob(patterns[i], 0, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc; j++) {
            add(a, "--dev-bind");
            add_format(a, "%s", found.gl_pathv[j]);
            add_format(a, "%s", found.gl_pathv[j]);
        }
        globfree(&found);
    }
    add_all(a, "--ro-bind-try", "/sys", "/sys", NULL);
}

static void add_environment(struct args *a, const char *const *env)
{
    add(a, "--clearenv");
    for (; env && *env; env++) {
        const char *equals = strchr(*env, '=');
        if (!equals)
            continue;
        add(a, "--setenv");
        add_format(a, "%.*s", (int)(equals - *env), *env);
        add(a, equals + 1);
    }
}

static void add_proc(struct args *a)
{
    static const char *const parts[] = {"/proc/sys", "/proc/sysrq-trigger",
                                        "/proc/irq", "/proc/bus",
                                        "/proc/pressure", "/proc/acpi"};
    add_all(a, "--proc", "/proc", NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (access(parts[i], F_OK) == 0)
            add_all(a, "--ro-bind", parts[i], parts[i], NULL);
}

// Set by bwrap_works: whether this bubblewrap knows --disable-userns.
static bool can_disable_userns;

static void add_bwrap(struct args *a, const struct cage_options *o,
                      const char *keeper)
{
    uint64_t tmp = o->tmp_bytes ? o->tmp_bytes : UINT64_C(64) << 20;
    add_all(a, "bwrap", "--unshare-all", "--unshare-user", NULL);
    if (can_disable_userns)
        add(a, "--disable-userns");
    add_all(a, "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
            "--die-with-parent", "--new-session", "--as-pid-1", "--cap-drop",
            "ALL", NULL);
    add_environment(a, o->env);
    add_root(a, o->tools);
    add_proc(a);
    add_all(a, "--dev", "/dev", "--size", NULL);
    add_format(a, "%llu", (unsigned long long)tmp);
    add_all(a, "--tmpfs", "/tmp", "--size", NULL);
    add_format(a, "%llu", (unsigned long long)tmp);
    add_all(a, "--tmpfs", "/dev/shm", NULL);
    if (o->gpu)
        add_gpu_nodes(a);
    for (unsigned i = 0; i < o->nbinds; i++) {
        const struct bind *b = &o->binds[i];
        add_all(a, b->writable ? "--bind" : "--ro-bind", b->host,
                b->inside ? b->inside : b->host, NULL);
    }
    add(a, "--ro-bind");
    add_format(a, "%s", keeper);
    add_all(a, "/keeper", "--remount-ro", "/dev", "--remount-ro", "/",
            "--chdir", o->directory ? o->directory : "/tmp", "--", NULL);
}

// ---- all levels -------------------------------------------------------------

// Since Linux 5.14 RLIMIT_NPROC counts within the user namespace; before, it
// would count all processes of the person who grades.
static bool counts_by_namespace(void)
{
    struct utsname u;
    int major = 0, minor = 0;
    return uname(&u) == 0 &&
           sscanf(u.release, "%d.%d", &major, &minor) == 2 &&
           (major > 5 || (major == 5 && minor >= 14));
}

static void add_limit(struct args *a, const char *option, uint64_t value)
{
    if (value == 0)
        return;
    add(a, option);
    add_format(a, "%llu", (unsigned long long)value);
}

// A user that nobody is, another one for every sandbox.
static uint64_t fresh_uid(void)
{
    static unsigned count;
    return UINT64_C(200000000) +
           ((uint64_t)getpid() * 64 + count++ % 64) % 100000000;
}

static void allow(struct args *a, const char *path, bool writable)
{
    add(a, writable ? "--write" : "--read");
    add_format(a, "%s", path);
}

// What namespaces would show, as paths that Landlock allows.
static void add_paths(struct args *a, const struct cage_options *o)
{
    static const char *const always[] = {"/lib", "/lib64", "/lib32", "/usr/lib",
                                         "/usr/lib64", "/etc/ld.so.cache"};
    static const char *const tools[] = {"/usr", "/bin", "/sbin",
                                        "/etc/alternatives"};
    static const char *const nodes[] = {"/dev/null", "/dev/zero", "/dev/full",
                                        "/dev/random", "/dev/urandom",
                                        "/dev/tty", "/proc"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        allow(a, always[i], false);
    for (size_t i = 0; o->tools && i < sizeof tools / sizeof *tools; i++)
        allow(a, tools[i], false);
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        allow(a, nodes[i], true);
    for (unsigned i = 0; i < o->nbinds; i++)
        allow(a, o->binds[i].host, o->binds[i].writable);
    if (o->gpu) {
        allow(a, "/dev", true); // the nodes' own permissions say which
        allow(a, "/sys", false);
    }
}

static void add_keeper(struct args *a, const struct cage_options *o,
                       int status_fd)
{
    if (status_fd >= 0)
        add_limit(a, "--status", (uint64_t)status_fd);
    add_limit(a, "--cpu", o->cpu_s > 0 ? (uint64_t)(o->cpu_s + 0.999) : 0);
    add_limit(a, "--file", o->file_bytes);
    // CUDA maps more than it uses; what it touches is watched from outside.
    if (!o->gpu)
        add_limit(a, "--data", o->memory_bytes);
    if (o->isolation == ISOLATION_USER ||
        (o->isolation == ISOLATION_NAMESPACES && counts_by_namespace()))
        add_limit(a, "--processes", o->max_tasks);
    add_limit(a, "--files", 1024);
    if (o->isolation == ISOLATION_USER) {
        add_limit(a, "--uid", fresh_uid());
        add_limit(a, "--offline", 1);
        add_paths(a, o);
    }
    add(a, "--");
}

bool cage_prefix(const struct cage_options *o, int status_fd, struct args *a)
{
    char *keeper = build_path("bin/keeper");
    a->n = 0, a->used = 0, a->overflow = keeper == NULL;
    if (keeper && o->isolation == ISOLATION_NAMESPACES) {
        add_bwrap(a, o, keeper);
        add(a, "/keeper");
    } else if (keeper) {
        add_format(a, "%s", keeper);
    }
    add_keeper(a, o, status_fd);
    free(keeper);
    return !a->overflow;
}

// ---- probing -----------------------------------------------------------------

static bool try_true(void)
{
    static const char *const argv[] = {"/usr/bin/true", NULL};
    struct cage_options o = {.isolation = ISOLATION_NAMESPACES, .argv = argv,
                             .tools = true};
    char message[512];
    struct cage *c = cage_start(&o, message);
    if (!c)
        return false;
    cage_wait(c, -1, now_s() + 10);
    bool works = c->state == CAGE_ENDED && c->status == 0;
    cage_free(c);
    return works;
}

bool bwrap_works(void)
{
    can_disable_userns = true;
    if (try_true())
        return true;
    can_disable_userns = false;
    return try_true();
}
