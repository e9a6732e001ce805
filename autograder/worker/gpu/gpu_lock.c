#include "gpu_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// Two steps: Linux refuses to open another user's file in /tmp with O_CREAT.
static int open_lock(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0)
        return fd;
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0)
        fchmod(fd, 0666); // for other users, whatever the umask
    return fd;
}

// Who holds the file's lock, and who waits for it, by /proc/locks: a line
// each, "1: -> FLOCK ADVISORY WRITE 4711 08:01:1234 0 EOF". Those of other pid
// namespaces are not shown, so one is ahead at least.
static unsigned count_ahead(int fd)
{
    char line[256];
    unsigned n = 0;
    struct stat st;
    FILE *f = fopen("/proc/locks", "re");
    while (f && fstat(fd, &st) == 0 && fgets(line, sizeof line, f)) {
        const char *flock = strstr(line, "FLOCK");
        unsigned long inode = 0;
        if (flock && sscanf(flock, "FLOCK %*s %*s %*d %*x:%*x:%lu", &inode) == 1 &&
            inode == st.st_ino)
            n++;
    }
    if (f)
        fclose(f);
    return n ? n : 1;
}

static int wait_for(int fd, const char *bus_id)
{
    int rc;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    fprintf(stderr, "waiting for GPU %s: %u ahead of you\n", bus_id,
            count_ahead(fd));
    do
        rc = flock(fd, LOCK_EX);
    while (rc != 0 && errno == EINTR);
    return rc;
}

int gpu_lock_take(const char *bus_id, char *message, size_t message_bytes)
{
    char path[96];
    snprintf(path, sizeof path, "/tmp/warp-up-gpu-%.32s.lock", bus_id);
    int fd = open_lock(path);
    if (fd >= 0 && wait_for(fd, bus_id) == 0)
        return fd;
    snprintf(message, message_bytes, "the lock file %s cannot be %s: %s", path,
             fd < 0 ? "made" : "locked", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}
