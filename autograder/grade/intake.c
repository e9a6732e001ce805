// Takes what is listed under submit:, and nothing else, into our own folder.
//
// A submission's folder is hostile: a name in it may be a link to the
// gradebook, a FIFO that blocks whoever opens it, a device. So files are
// opened without following links and without blocking, looked at through the
// descriptor, and copied; only the copies are used.
#include "grade.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/text.h"

enum { LARGEST = 1 << 20 };

static int refuse(char *message, const char *name, const char *why)
{
    snprintf(message, GRADE_MESSAGE, "%s: %s", name, why);
    return -1;
}

static const char *what_it_is(mode_t mode)
{
    return S_ISLNK(mode)   ? "is a symbolic link; hand in the file itself"
           : S_ISDIR(mode) ? "is a folder, not a file"
           : S_ISFIFO(mode) ? "is a FIFO, not a file"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "is a device, not a file"
                                            : "is no regular file";
}

// Opens a regular file of bearable size for reading, or says why not.
static int open_file(int dir, const char *name, char *message)
{
    struct stat st;
    if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
        return refuse(message, name, errno == ENOENT ? "is not there"
                                                     : strerror(errno));
    if (!S_ISREG(st.st_mode))
        return refuse(message, name, what_it_is(st.st_mode));
    int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return refuse(message, name, strerror(errno));
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        close(fd);
        return refuse(message, name, "changed while it was opened");
    }
    if (st.st_size > LARGEST) {
        close(fd);
        return refuse(message, name, "is larger than 1 MiB");
    }
    return fd;
}

// Copies at most LARGEST bytes; a file that grows meanwhile is refused.
static int copy_bytes(int from, int to)
{
    char block[65536];
    size_t total = 0;
    ssize_t n;
    while ((n = read(from, block, sizeof block)) > 0) {
        total += (size_t)n;
        if (total > LARGEST) {
            errno = EFBIG;
            return -1;
        }
        for (ssize_t done = 0; done < n;) {
            ssize_t w = write(to, block + done, (size_t)(n - done));
            if (w < 0)
                return -1;
            done += w;
        }
    }
    return n < 0 ? -1 : 0;
}

static int copy_file(int dir, const char *name, const char *into, char *message)
{
    char path[PATH_MAX];
    int from = open_file(dir, name, message);
    if (from < 0)
        return -1;
    snprintf(path, sizeof path, "%s/%s", into, name);
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                  0644);
    int failed = to < 0 || copy_bytes(from, to);
    if (to >= 0 && close(to))
        failed = 1;
    close(from);
    return failed ? refuse(message, name, strerror(errno)) : 0;
}

// The headers a lab gives: its own, and lab.h beside the labs.
static int copy_headers(const char *folder, const char *into, char *message)
{
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = dir < 0 ? NULL : fdopendir(dir);
    int failed = 0;
    if (!list) {
        if (dir >= 0)
            close(dir);
        return refuse(message, folder, strerror(errno));
    }
    for (struct dirent *e; !failed && (e = readdir(list));) {
        size_t n = strlen(e->d_name);
        if (n > 2 && !strcmp(e->d_name + n - 2, ".h"))
            failed = copy_file(dir, e->d_name, into, message);
    }
    closedir(list);
    return failed;
}

static bool is_submitted(const struct manifest *m, const char *name)
{
    for (unsigned i = 0; i < m->submit_count; i++)
        if (!strcmp(m->submit[i], name))
            return true;
    return false;
}

// A single file, of whatever name, stands for the one that is submitted.
static int copy_single(const struct manifest *m, const char *path,
                       const char *into, char *message)
{
    char *folder = strdup(path), *slash = strrchr(folder, '/');
    const char *name = slash ? path + (slash - folder) + 1 : path;
    char from[PATH_MAX], to[PATH_MAX];
    int failed = -1, dir = -1;

    if (m->submit_count != 1 && !is_submitted(m, name)) {
        refuse(message, name, "is one file, but this lab submits several; "
                              "give their folder");
        goto out;
    }
    if (slash)
        slash[slash == folder] = '\0';
    dir = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0) {
        refuse(message, path, strerror(errno));
        goto out;
    }
    failed = copy_file(dir, name, into, message);
    snprintf(from, sizeof from, "%s/%s", into, name);
    snprintf(to, sizeof to, "%s/%s", into, m->submit[0]);
    if (!failed && m->submit_count == 1 && rename(from, to))
        failed = refuse(message, name, strerror(errno));
out:
    if (dir >= 0)
        close(dir);
    free(folder);
    return failed;
}

static int copy_submitted(const struct manifest *m, const char *path,
                          const char *into, char *message)
{
    int failed = 0, dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return refuse(message, path, strerror(errno));
    for (unsigned i = 0; !failed && i < m->submit_count; i++)
        failed = copy_file(dir, m->submit[i], into, message);
    close(dir);
    return failed;
}

static void find_marks(const struct manifest *m, struct submission *s)
{
    s->nmarks = 0;
    for (unsigned i = 0; i < m->submit_count && s->nmarks < MAX_MARKS; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", s->folder, m->submit[i]);
        char *source = text_read(path);
        if (!source)
            continue; // holds a NUL byte: for the compiler to say
        unsigned n = marks_find(source, s->marks + s->nmarks,
                                MAX_MARKS - s->nmarks);
        for (unsigned k = 0; k < n; k++)
            s->marks[s->nmarks++].file = i;
        free(source);
    }
}

int intake(const struct manifest *m, const char *lab_folder, const char *path,
           const char *into, struct submission *s, char *message)
{
    struct stat st;
    char shared[PATH_MAX];
    snprintf(s->shown, sizeof s->shown, "%s", path);
    snprintf(s->folder, sizeof s->folder, "%s", into);
    snprintf(shared, sizeof shared, "%s/..", lab_folder);
    if (lstat(path, &st))
        return refuse(message, path, errno == ENOENT ? "there is no such "
                                                       "file or folder"
                                                     : strerror(errno));
    // The lab's headers first: a file that is submitted may replace one.
    if (copy_headers(shared, into, message) ||
        copy_headers(lab_folder, into, message))
        return -1;
    s->single = !S_ISDIR(st.st_mode);
    if (!s->single ? copy_submitted(m, path, into, message)
                            : copy_single(m, path, into, message))
        return -1;
    find_marks(m, s);
    return 0;
}
