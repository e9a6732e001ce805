#include "landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Since ABI 3; not in the headers of older distributions.
static const uint64_t access_truncate = UINT64_C(1) << 14;

static const uint64_t access_read = LANDLOCK_ACCESS_FS_EXECUTE |
                                    LANDLOCK_ACCESS_FS_READ_FILE |
                                    LANDLOCK_ACCESS_FS_READ_DIR;
static const uint64_t access_folder =
    LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR |
    LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
    LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
    LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM |
    LANDLOCK_ACCESS_FS_REFER;

// All accesses that this kernel knows of, up to what we do.
static uint64_t known_access(int abi)
{
    uint64_t all = access_read | access_folder | LANDLOCK_ACCESS_FS_WRITE_FILE;
    if (abi < 2)
        all &= ~(uint64_t)LANDLOCK_ACCESS_FS_REFER;
    return abi >= 3 ? all | access_truncate : all;
}

static int allow(int ruleset, const struct allowed_path *p, uint64_t known)
{
    struct stat st;
    int fd = open(p->path, O_PATH | O_CLOEXEC);
    if (fd < 0)
        return 0; // nothing there, nothing to allow
    struct landlock_path_beneath_attr rule = {
        .allowed_access = p->writable ? known : access_read, .parent_fd = fd};
    if (fstat(fd, &st) == 0 && !S_ISDIR(st.st_mode))
        rule.allowed_access &= ~access_folder;
    long rc = syscall(SYS_landlock_add_rule, ruleset,
                      LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    int error = errno;
    close(fd);
    return rc == 0 ? 0 : -error;
}

int landlock_restrict(const struct allowed_path *paths, unsigned n)
{
    long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
                       LANDLOCK_CREATE_RULESET_VERSION);
    if (abi < 1)
        return 0;
    uint64_t known = known_access((int)abi);
    struct landlock_ruleset_attr attr = {.handled_access_fs = known};
    int ruleset =
        (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof attr, 0);
    if (ruleset < 0)
        return -errno;
    int rc = 0;
    for (unsigned i = 0; i < n && rc == 0; i++)
        rc = allow(ruleset, &paths[i], known);
    if (rc == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        rc = -errno;
    close(ruleset);
    return rc;
}
