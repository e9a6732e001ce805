// Packets and sealed memory files: the lowest layer of the protocol.
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

bool wire_has_tail(uint32_t op)
{
    return op == WIRE_MODULE || op == WIRE_FUNCTION || op == WIRE_VARIABLE ||
           op == WIRE_LAUNCH;
}

bool wire_is_posted(uint32_t op)
{
    return op == WIRE_LAUNCH || op == WIRE_EVENT_RECORD ||
           op == WIRE_EVENT_WAIT;
}

// Room for one descriptor, aligned as the macros of cmsg(3) ask.
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

bool wire_send(int sock, const void *header, size_t nheader, const void *body,
               size_t nbody, const void *tail, size_t ntail, int fd)
{
    if (nheader + nbody > WIRE_MESSAGE ||
        ntail > WIRE_MESSAGE - nheader - nbody)
        return false;
    struct iovec parts[3] = {
        {(void *)header, nheader}, {(void *)body, nbody}, {(void *)tail, ntail},
    };
    union control control = {0};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 3};
    if (fd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&message);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(cmsg), &fd, sizeof fd);
    }
    ssize_t sent;
    do
        sent = sendmsg(sock, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)(nheader + nbody + ntail);
}

// Keeps the first descriptor of a packet and closes any other.
static int take_descriptor(struct msghdr *message)
{
    int kept = -1;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c;
         c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;
            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            if (kept < 0)
                kept = fd;
            else
                close(fd);
        }
    }
    return kept;
}

enum wire_status wire_receive(int sock, void *buffer, size_t nheader,
                              size_t *nbytes, int *fd)
{
    struct iovec part = {buffer, WIRE_MESSAGE};
    union control control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1,
        .msg_control = control.bytes, .msg_controllen = sizeof control.bytes,
    };
    ssize_t got;
    do
        got = recvmsg(sock, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *fd = -1;
    if (got <= 0)
        return WIRE_CLOSED;
    *fd = take_descriptor(&message);
    *nbytes = (size_t)got;
    if ((message.msg_flags & MSG_TRUNC) || (size_t)got < nheader) {
        if (*fd >= 0)
            close(*fd);
        *fd = -1;
        return WIRE_BAD;
    }
    return WIRE_OK;
}

int wire_memfd(const char *name, size_t nbytes, const void *data)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (data)
        seals |= F_SEAL_WRITE;
    if (ftruncate(fd, (off_t)nbytes))
        goto fail;
    for (size_t done = 0; data && done < nbytes;) {
        ssize_t n = pwrite(fd, (const char *)data + done, nbytes - done,
                           (off_t)done);
        if (n <= 0)
            goto fail;
        done += (size_t)n;
    }
    if (fcntl(fd, F_ADD_SEALS, seals))
        goto fail;
    return fd;
fail:
    close(fd);
    return -1;
}

bool wire_is_sealed(int fd, uint64_t nbytes, bool read_only)
{
    struct stat st;
    int wanted = F_SEAL_SHRINK | F_SEAL_GROW;
    if (read_only)
        wanted |= F_SEAL_WRITE;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & wanted) == wanted && !fstat(fd, &st) &&
           st.st_size >= 0 && (uint64_t)st.st_size >= nbytes;
}
