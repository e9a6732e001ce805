// The socket to the device server: one a process, used by all its threads in
// turn, so that work arrives in the order in which the program asked for it.
#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../memory/memory.h"

static struct {
    pthread_mutex_t lock;
    bool tried;
    cudaError_t error;      // how connecting went
    pid_t pid;              // whose connection it is
    int sock;
    char *staging;
    char *buffer;           // WIRE_MESSAGE bytes, for replies
    uint32_t print_bytes;   // device output waiting, as the last reply said
    struct wire_hello hello;
    const struct gpu_model *gpu;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER, .sock = -1};

// When this thread last left the runtime, by its CPU clock; 0: never was in.
static _Thread_local uint64_t left_ns;

const struct wire_hello *rt_hello(void) { return &server.hello; }
const struct gpu_model *rt_gpu(void) { return server.gpu; }

bool rt_is_server_address(uint64_t addr)
{
    return addr >= VGPU_DEVICE_BASE && addr < VGPU_HOST_BASE + VGPU_HOST_SPAN;
}

// ---- the program's own time ------------------------------------------------

static uint64_t thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t time_since_last_call(void)
{
    if (!server.hello.count_host_time || !left_ns)
        return 0;
    uint64_t now = thread_cpu_ns();
    return now > left_ns ? now - left_ns : 0;
}

void rt_forgive_time(void)
{
    if (server.hello.count_host_time)
        left_ns = thread_cpu_ns();
}

// ---- exchanges -------------------------------------------------------------

static cudaError_t server_is_gone(void)
{
    static bool said;
    if (!said)
        fprintf(stderr, "vgpu: the device server has gone\n");
    said = true;
    return cudaErrorUnknown;
}

static bool send_request(const struct exchange *x)
{
    struct wire_request head = {
        .op = x->op, .nbytes = (uint32_t)(x->nbody + x->ntail),
        .host_ns = time_since_last_call(),
    };
    return wire_send(server.sock, &head, sizeof head, x->body, x->nbody, x->tail,
                     x->ntail, x->fd);
}

static cudaError_t receive_reply(struct exchange *x)
{
    size_t nbytes;
    int fd;
    if (wire_receive(server.sock, server.buffer, sizeof(struct wire_reply), &nbytes,
                     &fd) != WIRE_OK)
        return server_is_gone();
    const struct wire_reply *reply = (const void *)server.buffer;
    const char *body = server.buffer + sizeof *reply;
    size_t nbody = nbytes - sizeof *reply;
    if (x->reply_fd)
        *x->reply_fd = fd;
    else if (fd >= 0)
        close(fd);
    server.print_bytes = reply->print_bytes;
    if (nbody < x->nreply)
        return server_is_gone();
    memcpy(x->reply, body, x->nreply);
    x->nreply_tail = nbody - x->nreply;
    if (x->nreply_tail > x->reply_room)
        x->nreply_tail = x->reply_room;
    if (x->nreply_tail)
        memcpy(x->reply_tail, body + x->nreply, x->nreply_tail);
    return (cudaError_t)reply->error;
}

void rt_write_output(void)
{
    if (!__atomic_load_n(&server.print_bytes, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&server.lock);
    while (server.print_bytes) {
        struct wire_id taken = {0};
        struct exchange x = {.op = WIRE_TAKE_PRINT, .fd = -1, .reply = &taken,
                             .nreply = sizeof taken};
        if (!send_request(&x) || receive_reply(&x) || !taken.id ||
            taken.id > WIRE_STAGING)
            break;
        fwrite(server.staging, 1, taken.id, stdout);
    }
    pthread_mutex_unlock(&server.lock);
    rt_forgive_time();
}

cudaError_t rt_exchange_locked(struct exchange *x)
{
    return send_request(x) ? receive_reply(x) : server_is_gone();
}

cudaError_t rt_exchange(struct exchange *x)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    pthread_mutex_lock(&server.lock);
    error = rt_exchange_locked(x);
    pthread_mutex_unlock(&server.lock);
    rt_forgive_time();
    return error;
}

cudaError_t rt_ask(uint32_t op, const void *body, size_t nbody, void *reply,
                   size_t nreply)
{
    struct exchange x = {.op = op, .body = body, .nbody = nbody, .fd = -1,
                         .reply = reply, .nreply = nreply};
    return rt_exchange(&x);
}

cudaError_t rt_post(uint32_t op, const void *body, size_t nbody,
                    const void *tail, size_t ntail)
{
    cudaError_t error = rt_connect();
    if (error)
        return error;
    struct exchange x = {.op = op, .body = body, .nbody = nbody, .tail = tail,
                         .ntail = ntail, .fd = -1};
    pthread_mutex_lock(&server.lock);
    error = send_request(&x) ? cudaSuccess : server_is_gone();
    pthread_mutex_unlock(&server.lock);
    rt_forgive_time();
    return error;
}

char *rt_lock_staging(void)
{
    pthread_mutex_lock(&server.lock);
    return server.staging;
}

void rt_unlock_staging(void)
{
    pthread_mutex_unlock(&server.lock);
    rt_forgive_time();
}

// ---- connecting ------------------------------------------------------------

// Asks at the door, by passing one end of a fresh pair of sockets.
static bool knock(int door)
{
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return false;
    struct wire_request head = {.op = WIRE_DOOR_CONNECT};
    bool ok = wire_send(door, &head, sizeof head, NULL, 0, NULL, 0, pair[1]);
    close(pair[1]);
    server.sock = pair[0];
    return ok;
}

static bool greet(void)
{
    int fd = -1;
    struct exchange x = {.op = WIRE_HELLO, .fd = -1, .reply = &server.hello,
                         .nreply = sizeof server.hello, .reply_fd = &fd};
    server.buffer = aligned_alloc(64, WIRE_MESSAGE);
    if (!server.buffer || !send_request(&x) || receive_reply(&x))
        return false;
    struct wire_hello *hello = &server.hello;
    hello->gpu[sizeof hello->gpu - 1] = 0;
    server.gpu = gpu_find(hello->gpu);
    if (hello->version != WIRE_VERSION || !server.gpu || fd < 0 ||
        hello->ndevices > RT_MAX_DEVICES || hello->staging_bytes < WIRE_STAGING)
        return false;
    void *map = mmap(NULL, WIRE_STAGING, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                     0);
    close(fd);
    server.staging = map == MAP_FAILED ? NULL : map;
    return server.staging != NULL;
}

// Keeps the devices' addresses free of anything else, and without access, so
// that the host faults when it follows a device pointer. Where that fails,
// the addresses are unmapped, which faults as well.
static void reserve_device_addresses(void)
{
    mmap((void *)VGPU_DEVICE_BASE, VGPU_MAX_DEVICES * VGPU_DEVICE_SPAN,
         PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
         0);
}

static cudaError_t connect_once(void)
{
    const char *door = getenv("VGPU_FD");
    if (!door || !*door) {
        fprintf(stderr, "vgpu: no virtual GPU here; start the program with "
                        "vgpu-run\n");
        return cudaErrorNoDevice;
    }
    if (!knock(atoi(door)) || !greet()) {
        fprintf(stderr, "vgpu: the device server does not answer\n");
        return cudaErrorInitializationError;
    }
    reserve_device_addresses();
    return cudaSuccess;
}

cudaError_t rt_connect(void)
{
    // The lock of a child of fork may be held by a thread that it lacks.
    if (__atomic_load_n(&server.tried, __ATOMIC_ACQUIRE))
        return server.pid == getpid() ? server.error
                                    : cudaErrorInitializationError;
    pthread_mutex_lock(&server.lock);
    if (!server.tried) {
        server.error = connect_once();
        server.pid = getpid();
        __atomic_store_n(&server.tried, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&server.lock);
    return server.error;
}
