// nvcc, in the compile sandbox: sources in a folder -> a shared object there.
//
// The folder holds the student's files and the lab's headers and nothing
// else; it is the one place that the compiler may write.
#include "grade.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/text.h"

enum { MOST_ARGS = 64, MOST_PATHS = 12, SCRATCH_BYTES = 512 << 20 };

// SASS and PTX from one pass. The second pair for a GPU that is not sm_90.
static unsigned add_flags(const struct build_options *o, const char **argv,
                          unsigned n, char pair[64])
{
    argv[n++] = "-O3";
    argv[n++] = "-lineinfo";
    argv[n++] = "-cudart";
    argv[n++] = "shared";
    argv[n++] = "-gencode";
    argv[n++] = "arch=compute_90,code=[sm_90,compute_90]";
    if (o->capability && o->capability != 90) {
        snprintf(pair, 64, "arch=compute_%u,code=[sm_%u,compute_%u]",
                 o->capability, o->capability, o->capability);
        argv[n++] = "-gencode";
        argv[n++] = pair;
    }
    argv[n++] = "-shared";
    argv[n++] = "-Xcompiler";
    argv[n++] = "-fPIC";
    return n;
}

static bool is_cuda(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && !strcmp(name + n - 3, ".cu");
}

// What a compiler needs to see of the machine; only what there is.
static void readable_paths(const struct build_options *o, const char **out)
{
    const char *const wanted[] = {o->cuda_home, "/usr", "/lib", "/lib64",
                                  "/bin", "/etc/alternatives",
                                  "/etc/ld.so.cache", NULL};
    unsigned n = 0;
    for (unsigned i = 0; wanted[i]; i++)
        if (!access(wanted[i], F_OK))
            out[n++] = wanted[i];
    out[n] = NULL;
}

// "name(12): error" -> "name:12: error", as editors and people read it.
static char *friendly(const char *output, char *const *files, unsigned nfiles)
{
    struct buf text = {0};
    for (const char *at = output; *at; at = line_next(at)) {
        size_t length = line_length(at), used = 0;
        for (unsigned i = 0; i < nfiles && !used; i++) {
            size_t n = strlen(files[i]);
            unsigned line;
            int digits = 0;
            if (n < length && !strncmp(at, files[i], n) &&
                sscanf(at + n, "(%u)%n", &line, &digits) == 1 && digits) {
                buf_printf(&text, "%s:%u", files[i], line);
                used = n + (size_t)digits;
            }
        }
        buf_add(&text, at + used, length - used);
        buf_puts(&text, "\n");
    }
    char *clean = malloc(text.n + 1);
    if (clean)
        text_clean(clean, text.n + 1, text.data ? text.data : "", false);
    buf_free(&text);
    return clean;
}

static enum build_status judge_run(const struct build_options *o,
                                   const struct sandbox_result *ran,
                                   char *const *files, unsigned nfiles,
                                   char **text)
{
    char why[256] = "";
    if (ran->how == RAN_EXIT && ran->code == 0)
        return BUILD_OK;
    if (ran->how == RAN_EXIT && ran->code == 127)
        snprintf(why, sizeof why, "nvcc was not found in %s", o->cuda_home);
    if (ran->how == RAN_NOT_STARTED || why[0]) {
        if (asprintf(text, "the compiler could not be started: %s",
                     why[0] ? why : ran->output ? ran->output : "") < 0)
            *text = NULL;
        return BUILD_IMPOSSIBLE;
    }
    if (ran->how == RAN_TIMEOUT)
        snprintf(why, sizeof why, "compiling took longer than %.0f s\n", o->wall_s);
    else if (ran->how == RAN_SIGNAL)
        snprintf(why, sizeof why, "the compiler was ended by signal %d: "
                 "it needed more memory or time than is allowed\n", ran->code);
    char *said = friendly(ran->output ? ran->output : "", files, nfiles);
    if (asprintf(text, "%s%s", why, said ? said : "") < 0)
        *text = NULL;
    free(said);
    return BUILD_FAILED;
}

enum build_status build_object(const struct build_options *o, const char *folder,
                               char *const *files, unsigned nfiles,
                               const char *object, char **text)
{
    const char *argv[MOST_ARGS], *readable[MOST_PATHS];
    char nvcc[PATH_MAX], path[PATH_MAX], temporary[PATH_MAX], pair[64];
    unsigned n = 0, sources = 0;
    *text = NULL;

    snprintf(nvcc, sizeof nvcc, "%s/bin/nvcc", o->cuda_home);
    snprintf(path, sizeof path, "PATH=%s/bin:/usr/bin:/bin", o->cuda_home);
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    argv[n++] = nvcc;
    n = add_flags(o, argv, n, pair);
    for (unsigned i = 0; i < nfiles && n < MOST_ARGS - 8; i++)
        if (is_cuda(files[i])) {
            argv[n++] = files[i];
            sources++;
        }
    if (sources == 1) { // nvcc lists dependencies of one source at a time
        argv[n++] = "-MD";
        argv[n++] = "-MF";
        argv[n++] = "dependencies";
    }
    argv[n++] = "-o";
    argv[n++] = object;
    argv[n] = NULL;

    readable_paths(o, readable);
    const char *const env[] = {path, temporary, "LC_ALL=C", NULL};
    struct sandbox_run run = {
        .isolation = o->isolation, .argv = argv, .env = env,
        .readable = readable, .scratch = folder, .wall_s = o->wall_s,
        .cpu_s = o->wall_s, .memory_bytes = o->memory_bytes,
        .scratch_bytes = SCRATCH_BYTES, .max_processes = 64};
    struct sandbox_result ran = {0};
    sandbox_run(&run, &ran);
    enum build_status status = judge_run(o, &ran, files, nfiles, text);
    sandbox_result_free(&ran);
    return status;
}

// ---- the baseline ---------------------------------------------------------------

static uint64_t hash_bytes(uint64_t h, const char *bytes)
{
    for (; *bytes; bytes++) // FNV-1a; the content is ours, not hostile
        h = (h ^ (unsigned char)*bytes) * UINT64_C(0x100000001b3);
    return h;
}

static uint64_t hash_file(uint64_t h, const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *content = text_read(path);
    h = hash_bytes(hash_bytes(h, name), content ? content : "");
    free(content);
    return h;
}

static int header(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 2 && !strcmp(e->d_name + n - 2, ".h");
}

static uint64_t hash_baseline(const struct build_options *o, const char *folder)
{
    struct dirent **list;
    char capability[16], version[PATH_MAX];
    snprintf(capability, sizeof capability, "%u", o->capability);
    snprintf(version, sizeof version, "%s", o->cuda_home);
    uint64_t h = hash_bytes(UINT64_C(0xcbf29ce484222325), capability);
    h = hash_file(hash_bytes(h, version), o->cuda_home, "version.json");
    h = hash_file(h, folder, "baseline.cu");
    h = hash_file(h, folder, "../lab.h");
    int n = scandir(folder, &list, header, alphasort);
    for (int i = 0; i < n; i++) {
        h = hash_file(h, folder, list[i]->d_name);
        free(list[i]);
    }
    if (n >= 0)
        free(list);
    return h;
}

enum build_status build_baseline(const struct build_options *o,
                                 const char *lab_folder, char *object,
                                 size_t room, char **text)
{
    static char *const files[] = {"baseline.cu"};
    struct manifest only = {.submit = (char **)files, .submit_count = 1};
    char source[PATH_MAX], folder[PATH_MAX], built[PATH_MAX + 16];
    char message[GRADE_MESSAGE];
    struct submission taken;
    enum build_status status = BUILD_IMPOSSIBLE;
    *text = NULL;
    object[0] = '\0';

    snprintf(source, sizeof source, "%s/baseline.cu", lab_folder);
    if (access(source, R_OK))
        return BUILD_OK;
    mkdir("build", 0755);
    mkdir("build/baseline", 0755);
    snprintf(object, room, "build/baseline/%s-%016llx.so",
             strrchr(lab_folder, '/') ? strrchr(lab_folder, '/') + 1 : lab_folder,
             (unsigned long long)hash_baseline(o, lab_folder));
    if (!access(object, R_OK))
        return BUILD_OK;
    if (work_folder(folder, sizeof folder) ||
        intake(&only, lab_folder, lab_folder, folder, &taken, message)) {
        *text = strdup("no folder for the baseline could be made under build/");
        return BUILD_IMPOSSIBLE;
    }
    status = build_object(o, folder, files, 1, "baseline.so", text);
    snprintf(built, sizeof built, "%s/baseline.so", folder);
    if (status == BUILD_OK && rename(built, object))
        status = BUILD_IMPOSSIBLE;
    work_folder_remove(folder);
    return status;
}
