// The device server: executes the kernels of untrusted programs for an owner
// who started it. It opens no file and no connection; all that it needs are
// memory, threads and the sockets that it is given, so that it can run in a
// sandbox that has nothing else. It ends when its owner's socket closes.
#include "server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int type = 0;
    socklen_t n = sizeof type;
    if (argc > 1 || getsockopt(WIRE_OWNER_FD, SOL_SOCKET, SO_TYPE, &type, &n) ||
        type != SOCK_SEQPACKET) {
        fprintf(stderr, "%s: started by vgpu-run and grade, not by hand; "
                        "try: vgpu-run PROGRAM\n", argv[0]);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_DUMPABLE, 0);
    struct server *server = calloc(1, sizeof *server);
    if (!server || pthread_mutex_init(&server->lock, NULL))
        return 1;
    owner_serve(server, WIRE_OWNER_FD);
    // Programs may be in the middle of a launch: nothing of theirs is kept,
    // so there is nothing to wait for.
    _exit(0);
}
