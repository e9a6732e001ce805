// A submission without CUDA: what a session must survive, in plain C. Each
// function is bounded, should the sandbox fail.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int add(const float *a, const float *b, float *c, size_t n)
{
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
    return 0;
}

int64_t mix(int32_t i, uint32_t u, int64_t l, uint64_t ul, float f, double d,
            const void *null, char *p)
{
    p[0] = 'm';
    return i + (int64_t)u + l + (int64_t)ul + (int64_t)(10 * f) +
           (int64_t)(10 * d) + (null ? 1000000 : 0);
}

float half(float x)
{
    return x / 2;
}

double third(double x)
{
    return x / 3;
}

int negative(void)
{
    return -7;
}

void crash(void)
{
    volatile uintptr_t nowhere = 8;
    *(volatile int *)nowhere = 1;
}

void say_and_crash(void)
{
    printf("last words \033[2J\xff\n");
    fflush(stdout);
    abort();
}

void leave(int status)
{
    exit(status);
}

void hang(void)
{
    time_t end = time(NULL) + 60;
    while (time(NULL) < end)
        ;
}

void catch_and_hang(void)
{
    for (int i = 1; i < 64; i++)
        signal(i, SIG_IGN);
    hang();
}

void flood(void)
{
    static char block[1 << 20];
    memset(block, 'x', sizeof block);
    for (int i = 0; i < 256; i++)
        if (write(1, block, sizeof block) < 0)
            return;
}

int fork_once(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        sleep(30);
        _exit(0);
    }
    return pid < 0 ? -errno : 0;
}

static void *hold(void *unused)
{
    sleep(30);
    return unused;
}

int threads(int n)
{
    int started = 0;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 << 10);
    for (int i = 0; i < n; i++) {
        pthread_t thread;
        started += pthread_create(&thread, &attr, hold, NULL) == 0;
    }
    usleep(100000);
    return started;
}

void hog(uint64_t mib)
{
    for (uint64_t i = 0; i < mib / 16; i++) {
        char *p = malloc(16 << 20);
        if (p)
            memset(p, 1, 16 << 20);
    }
    sleep(10);
}

void hog_memfd(uint64_t mib)
{
    size_t piece = 16 << 20;
    char *p = malloc(piece);
    memset(p, 1, piece);
    int fd = memfd_create("hidden", 0);
    for (uint64_t i = 0; i < mib / 16; i++)
        if (write(fd, p, piece) < 0)
            return;
    sleep(10);
}

void close_all(void)
{
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    sleep(10);
}

void forge(void)
{
    char forged[8192];
    memset(forged, 1, sizeof forged);
    for (int fd = 0; fd < 64; fd++)
        for (size_t n = 1; n <= sizeof forged; n *= 2)
            if (write(fd, forged, n) < 0)
                break;
}

void kill_all(void)
{
    kill(getppid(), SIGKILL);
    for (pid_t pid = 1; pid < 100; pid++)
        if (pid != getpid())
            kill(pid, SIGKILL);
}

// The number of descriptors open.
int count_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

// Bits for what could be done that must not be.
int breaches(void)
{
    int b = 0;
    b |= ptrace(PTRACE_ATTACH, getppid(), NULL, NULL) == 0 ? 1 : 0;
    b |= open("/etc/passwd", O_RDONLY) >= 0 ? 2 : 0;
    b |= open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0 ? 4 : 0;
    b |= getenv("HOSTILE_TEST_SECRET") != NULL ? 8 : 0;
    b |= socket(40, SOCK_STREAM, 0) >= 0 ? 16 : 0;
    b |= open("/hostile-root", O_CREAT | O_WRONLY, 0600) >= 0 ? 32 : 0;
    b |= open("/dev/hostile", O_CREAT | O_WRONLY, 0600) >= 0 ? 64 : 0;
    b |= open("/proc/1/mem", O_RDONLY) >= 0 ? 128 : 0;
    b |= execl("/worker", "worker", (char *)NULL) == 0 ? 256 : 0;
    return b;
}

// ---- to be timed: some work, then a sleep -----------------------------------

static int calls;

int add_slowly(const float *a, const float *b, float *c, size_t n, int ms)
{
    calls++;
    usleep((useconds_t)ms * 1000);
    return add(a, b, c, n);
}

// Every call takes longer than the one before, by ever more.
int add_ever_slower(const float *a, const float *b, float *c, size_t n, int ms)
{
    usleep((useconds_t)(ms * calls * calls / 2));
    return add_slowly(a, b, c, n, ms);
}

// Right ten times, wrong ever after.
int add_ten_times(const float *a, const float *b, float *c, size_t n, int ms)
{
    add_slowly(a, b, c, n, ms);
    if (calls > 10)
        c[n / 2] += 1;
    for (size_t i = 0; calls > 10 && i < n; i += 3)
        c[i] += 1;
    return 0;
}

// Answers from the inputs of its first calls.
int add_once(const float *a, const float *b, float *c, size_t n, int ms)
{
    static float kept[1 << 16];
    if (calls < 1)
        add(a, b, kept, n);
    add_slowly(a, b, c, n, ms);
    memcpy(c, kept, n * sizeof *c);
    return 0;
}

static struct later {
    const float *a, *b;
    float *c;
    size_t n;
    int ms;
} later;

static void *finish_later(void *unused)
{
    struct later l = later;
    usleep((useconds_t)l.ms * 1000);
    add(l.a, l.b, l.c, l.n);
    return unused;
}

// Is back at once, and finishes when nobody looks.
int add_later(const float *a, const float *b, float *c, size_t n, int ms)
{
    pthread_t thread;
    later = (struct later){a, b, c, n, ms};
    return pthread_create(&thread, NULL, finish_later, NULL);
}

// Right but for one element near the end, which no sample is likely to see.
int add_but_one(const float *a, const float *b, float *c, size_t n, int ms)
{
    add_slowly(a, b, c, n, ms);
    c[n - 7] = 0.25f;
    return 0;
}
