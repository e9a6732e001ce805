// Seccomp filters by libseccomp: all is allowed but what reaches beyond the
// sandbox (other processes, new namespaces and mounts, the kernel itself).
//
// clone3 hides its flags in memory that a filter cannot read: it is answered
// with ENOSYS, and libc falls back to clone.
#include "filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

enum { FAMILY_ALG = 38, FAMILY_VSOCK = 40 };

static const char *const refused[] = {
    // other processes' memory and descriptors
    "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "pidfd_getfd", "kcmp",
    // kernel objects that outlive a process
    "keyctl", "add_key", "request_key", "shmget", "semget", "msgget",
    "mq_open",
    // large attack surface that no lab needs
    "io_uring_setup", "io_uring_enter", "io_uring_register", "bpf",
    "perf_event_open", "userfaultfd", "name_to_handle_at",
    "open_by_handle_at", "lookup_dcookie", "fanotify_init", "vhangup",
    // mounts and namespaces
    "mount", "umount", "umount2", "pivot_root", "chroot", "open_tree",
    "move_mount", "fsopen", "fsconfig", "fsmount", "fspick", "mount_setattr",
    "setns", "unshare",
    // the machine
    "acct", "quotactl", "swapon", "swapoff", "reboot", "syslog", "iopl",
    "ioperm", "init_module", "finit_module", "delete_module", "kexec_load",
    "kexec_file_load", "settimeofday", "clock_settime", "clock_adjtime",
    "adjtimex", "sethostname", "setdomainname", "nfsservctl", "vserver",
};

static int refuse(scmp_filter_ctx ctx, const char *name, int error)
{
    int nr = seccomp_syscall_resolve_name(name);
    if (nr == __NR_SCMP_ERROR || nr < 0) // not of this machine
        return 0;
    int rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(error), nr, 0);
    return rc == -EACCES ? 0 : rc;
}

static int refuse_namespaces(scmp_filter_ctx ctx)
{
    static const unsigned flags[] = {
        CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,    CLONE_NEWUSER,
        CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP,
    };
    int rc = refuse(ctx, "clone3", ENOSYS);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && rc == 0; i++)
        rc = seccomp_rule_add(
            ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
            SCMP_A0(SCMP_CMP_MASKED_EQ, flags[i], flags[i]));
    return rc;
}

static int refuse_family(scmp_filter_ctx ctx, unsigned family)
{
    return seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket),
                            1, SCMP_A0(SCMP_CMP_EQ, family));
}

static int refuse_network(scmp_filter_ctx ctx)
{
    static const unsigned families[] = {AF_INET, AF_INET6, AF_PACKET,
                                        AF_NETLINK, AF_BLUETOOTH};
    int rc = 0;
    for (size_t i = 0; i < sizeof families / sizeof *families && rc == 0; i++)
        rc = refuse_family(ctx, families[i]);
    return rc;
}

int filter_sandbox(bool offline)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (!ctx)
        return -ENOMEM;
    int rc = refuse_namespaces(ctx);
    for (size_t i = 0; i < sizeof refused / sizeof *refused && rc == 0; i++)
        rc = refuse(ctx, refused[i], EPERM);
    if (rc == 0)
        rc = refuse_family(ctx, FAMILY_VSOCK);
    if (rc == 0)
        rc = refuse_family(ctx, FAMILY_ALG);
    if (rc == 0 && offline)
        rc = refuse_network(ctx);
    if (rc == 0) // typing into the terminal of whoever started us
        rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                              SCMP_A1(SCMP_CMP_EQ, TIOCSTI));
    if (rc == 0)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc;
}

int filter_worker(void)
{
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ALLOW);
    if (!ctx)
        return -ENOMEM;
    int rc = refuse(ctx, "execve", EPERM);
    if (rc == 0)
        rc = refuse(ctx, "execveat", EPERM);
    if (rc == 0)
        rc = refuse(ctx, "fork", EAGAIN);
    if (rc == 0)
        rc = refuse(ctx, "vfork", EAGAIN);
    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EAGAIN), SCMP_SYS(clone), 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    if (rc == 0)
        rc = seccomp_load(ctx);
    seccomp_release(ctx);
    return rc;
}
