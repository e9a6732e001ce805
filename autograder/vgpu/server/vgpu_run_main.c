// vgpu-run: runs a CUDA program on the virtual GPU, in this machine's CPU.
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vgpu_run.h"

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3, EXIT_FAULTS = 86,
       EXIT_NOT_FOUND = 127 };

struct options {
    const char *gpu, *counters;
    unsigned devices;
    bool check, explain, deterministic;
    char **program; // argv of it
};

// ---- the command line ------------------------------------------------------

enum { OPTION_GPU = 256, OPTION_DEVICES, OPTION_CHECK, OPTION_COUNTERS,
       OPTION_EXPLAIN, OPTION_DETERMINISTIC };

static const struct argp_option argp_options[] = {
    {"gpu", OPTION_GPU, "MODEL", 0, "the GPU to be (default: h200)", 0},
    {"devices", OPTION_DEVICES, "N", 0,
     "how many of them, 1 to 8 (default: VGPU_DEVICES, or 1)", 0},
    {"check", OPTION_CHECK, NULL, 0,
     "report memory faults, races and leaks; exit 86 if there are any", 0},
    {"counters", OPTION_COUNTERS, "FILE", 0,
     "write what each launch did, as JSON; - is standard output", 0},
    {"explain", OPTION_EXPLAIN, NULL, 0,
     "say where the modelled time went, and what helps", 0},
    {"deterministic", OPTION_DETERMINISTIC, NULL, 0,
     "one thread, and no host time: the same order and times every run", 0},
    {0},
};

static void list_models(FILE *out)
{
    const struct gpu_model *gpu;
    for (unsigned i = 0; (gpu = gpu_at(i)); i++)
        fprintf(out, "%s%s", i ? ", " : "", gpu->key);
    fputc('\n', out);
}

static unsigned parse_devices(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    return *text && !*end && n >= 1 && n <= VGPU_MAX_DEVICES ? (unsigned)n : 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case OPTION_GPU:
        o->gpu = arg;
        if (!gpu_find(arg)) {
            fprintf(stderr, "vgpu-run: no GPU model is called %s; there are ",
                    arg);
            list_models(stderr);
            exit(EXIT_USAGE);
        }
        return 0;
    case OPTION_DEVICES:
        o->devices = parse_devices(arg);
        if (!o->devices)
            argp_error(state, "--devices takes a number from 1 to 8, not %s",
                       arg);
        return 0;
    case OPTION_CHECK: o->check = true; return 0;
    case OPTION_COUNTERS: o->counters = arg; return 0;
    case OPTION_EXPLAIN: o->explain = true; return 0;
    case OPTION_DETERMINISTIC: o->deterministic = true; return 0;
    case ARGP_KEY_ARG: // the program: what follows is its own
        o->program = &state->argv[state->next - 1];
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which program? Try: vgpu-run ./a.out");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = argp_options, .parser = parse, .args_doc = "PROGRAM [ARGS...]",
    .doc = "Runs a CUDA program on the virtual GPU.\v"
           "The program must use the shared CUDA runtime: compile it with "
           "`nvcc -cudart shared -lineinfo'. Its exit status is passed on. "
           "VGPU_TRACE=launch,mem,parse (or all) in the environment traces its "
           "calls on stderr. Times are modelled, not measured.",
};

// ---- the program -----------------------------------------------------------

static bool has_text(const char *map, size_t n, const char *text)
{
    return memmem(map, n, text, strlen(text)) != NULL;
}

// nvcc links the runtime into the program by default; such a one would look
// for a real GPU.
static void warn_if_static(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 4) {
        size_t n = (size_t)st.st_size;
        char *map = mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            if (!memcmp(map, "\177ELF", 4) && has_text(map, n, ".nv_fatbin") &&
                !has_text(map, n, "libcudart.so."))
                fprintf(stderr,
                        "vgpu-run: %s has the CUDA runtime linked in and will "
                        "not see the virtual GPU; compile it with "
                        "`nvcc -cudart shared'\n", path);
            munmap(map, n);
        }
    }
    close(fd);
}

// Puts the stand-in libraries, which lie beside this program's folder, first.
static void set_library_path(void)
{
    char path[2 * PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (n <= 0)
        return;
    path[n] = 0;
    for (int up = 0; up < 2; up++) { // build/bin/vgpu-run -> build
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = 0;
    }
    strcat(path, "/vgpu/lib");
    const char *old = getenv("LD_LIBRARY_PATH");
    char *all = NULL;
    if (asprintf(&all, "%s%s%s", path, old && *old ? ":" : "",
                 old ? old : "") >= 0)
        setenv("LD_LIBRARY_PATH", all, 1);
    free(all);
}

static void become_program(char **argv, int sock)
{
    char number[16];
    snprintf(number, sizeof number, "%d", sock);
    setenv("VGPU_FD", number, 1);
    fcntl(sock, F_SETFD, 0);
    set_library_path();
    prctl(PR_SET_PDEATHSIG, SIGTERM); // without a GPU it is lost
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    execvp(argv[0], argv);
    fprintf(stderr, "vgpu-run: %s: %s\n", argv[0], strerror(errno));
    _exit(EXIT_NOT_FOUND);
}

// Runs it to its end; its exit status, as a shell would tell it.
static int run_program(struct vgpu *vgpu, char **argv)
{
    int sock = vgpu_program_socket(vgpu);
    if (sock < 0) {
        fprintf(stderr, "vgpu-run: the device server has gone\n");
        return EXIT_MACHINE;
    }
    // The terminal's signals are for the program; what it did is reported
    // nevertheless.
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0)
        become_program(argv, sock);
    close(sock);
    int status = 0;
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return EXIT_MACHINE;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// ---- afterwards ------------------------------------------------------------

static bool write_counters(const char *path, const char *gpu,
                           const struct vgpu_launch *launches, unsigned n)
{
    char *json = vgpu_counters_json(gpu, launches, n);
    bool to_stdout = strcmp(path, "-") == 0;
    FILE *f = to_stdout ? stdout : fopen(path, "w");
    bool ok = json && f && fprintf(f, "%s\n", json) > 0;
    if (f && (to_stdout ? fflush(f) : fclose(f)))
        ok = false;
    if (!ok)
        fprintf(stderr, "vgpu-run: %s: %s\n", path, strerror(errno));
    free(json);
    return ok;
}

static int report(struct vgpu *vgpu, const struct options *o, int status)
{
    const char *gpu = o->gpu ? o->gpu : gpu_default()->key;
    struct finding *findings = NULL;
    struct vgpu_launch *launches = NULL;
    unsigned nfindings = 0, nlaunches = 0;
    // The server lets a program go in a thread of its own: once it answers
    // that nothing of the program is left, what it found is complete.
    vgpu_wait_idle(vgpu);
    if (vgpu_findings(vgpu, &findings, &nfindings) ||
        vgpu_launches(vgpu, &launches, &nlaunches))
        fprintf(stderr, "vgpu-run: the device server has gone\n");
    if (o->explain)
        explain_launches(stderr, gpu, launches, nlaunches);
    if (o->counters && !write_counters(o->counters, gpu, launches, nlaunches))
        status = EXIT_MACHINE;
    // A fault that ended a launch is worth telling without --check, too.
    if (report_findings(stderr, findings, nfindings) && o->check)
        status = EXIT_FAULTS;
    free(findings);
    free(launches);
    return status;
}

// What the devices may hold together; the program needs memory, too.
static uint64_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : 0;
}

int main(int argc, char **argv)
{
    struct options o = {0};
    const char *devices = getenv("VGPU_DEVICES");
    argp_err_exit_status = EXIT_USAGE;
    if (devices && *devices && !(o.devices = parse_devices(devices))) {
        fprintf(stderr, "vgpu-run: VGPU_DEVICES is a number from 1 to 8, not "
                        "%s\n", devices);
        return EXIT_USAGE;
    }
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
    warn_if_static(o.program[0]);

    struct vgpu_options options = {
        .gpu = o.gpu, .ndevices = o.devices,
        .watch = o.check ? WATCH_CHECK | WATCH_WRITERS : 0,
        .nthreads = o.deterministic ? 1 : 0,
        .memory_limit = half_of_memory(),
        .count_host_time = !o.deterministic,
    };
    struct vgpu *vgpu;
    char message[256];
    if (vgpu_start(&options, &vgpu, message)) {
        fprintf(stderr, "vgpu-run: %s\n", message);
        return EXIT_MACHINE;
    }
    int status = run_program(vgpu, o.program);
    status = report(vgpu, &o, status);
    vgpu_stop(vgpu);
    return status;
}
