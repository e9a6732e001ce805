// Runs goldens on a GPU, to prove that they expect what hardware does.
//
//   build/bin/goldens-on-gpu [--print] autograder/tests/ptx/*.ptx
//
// Says which expectation a GPU does not meet; --print: shows what it computed,
// as `path label: words`. Needs the driver alone (libcuda.so.1).
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"

typedef struct module_handle *cu_module;
typedef struct function_handle *cu_function;
typedef unsigned long long cu_pointer;

struct driver {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_context)(void *);
    int (*load)(cu_module *, const void *, unsigned, int *, void **);
    int (*unload)(cu_module);
    int (*get_function)(cu_function *, cu_module, const char *);
    int (*alloc)(cu_pointer *, size_t);
    int (*set)(cu_pointer, unsigned char, size_t);
    int (*upload)(cu_pointer, const void *, size_t);
    int (*download)(void *, cu_pointer, size_t);
    int (*launch)(cu_function, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned, unsigned, void *, void **, void **);
    int (*synchronize)(void);
};

static bool driver_open(struct driver *d)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    if (!lib) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    const char *const names[] = {
        "cuInit", "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent",
        "cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction",
        "cuMemAlloc_v2", "cuMemsetD8_v2", "cuMemcpyHtoD_v2",
        "cuMemcpyDtoH_v2", "cuLaunchKernel", "cuCtxSynchronize"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        void *symbol = dlsym(lib, names[k]);
        memcpy((char *)d + k * sizeof symbol, &symbol, sizeof symbol);
        if (!symbol)
            return false;
    }
    return true;
}

// CU_JIT_ERROR_LOG_BUFFER and its size.
static int load_ptx(const struct driver *d, const char *ptx, cu_module *module)
{
    static char log[8192];
    int options[2] = {5, 6};
    void *values[2] = {log, (void *)(uintptr_t)sizeof log};
    int error = d->load(module, ptx, 2, options, values);
    if (error)
        fprintf(stderr, "%s\n", log);
    return error;
}

static uint32_t *inputs_of(const struct golden *g)
{
    uint32_t *words = calloc(GOLDEN_LINES * g->threads, sizeof *words);
    for (unsigned n = 0; n < g->nin; n++)
        for (unsigned t = 0; t < g->threads; t++)
            words[n * g->threads + t] = golden_word(&g->in[n], t);
    return words;
}

static int run(const struct driver *d, const struct golden *g, uint32_t *out)
{
    size_t nbytes = GOLDEN_LINES * g->threads * sizeof *out;
    cu_module module = NULL;
    cu_function function = NULL;
    cu_pointer buffers[2];
    uint32_t *in = inputs_of(g);
    void *params[2] = {&buffers[0], &buffers[1]};
    int error = load_ptx(d, g->ptx, &module);
    if (!error)
        error = d->get_function(&function, module, "test");
    if (!error)
        error = d->alloc(&buffers[0], nbytes);
    if (!error)
        error = d->alloc(&buffers[1], nbytes);
    if (!error)
        error = d->set(buffers[0], 0, nbytes);
    if (!error)
        error = d->upload(buffers[1], in, nbytes);
    if (!error)
        error = d->launch(function, 1, 1, 1, g->threads, 1, 1, 0, NULL, params,
                          NULL);
    if (!error)
        error = d->synchronize();
    if (!error)
        error = d->download(out, buffers[0], nbytes);
    free(in);
    return error;
}

static unsigned compare(const char *path, const struct golden *g,
                        const uint32_t *out, bool print)
{
    unsigned wrong = 0;
    for (unsigned n = 0; n < g->nexpect; n++) {
        const struct golden_line *line = &g->expect[n];
        if (print)
            printf("%s %s:", path, line->label);
        for (unsigned t = 0; t < g->threads; t++) {
            uint32_t got = out[n * g->threads + t];
            if (print)
                printf(" %#x", got);
            else if (got != golden_word(line, t) && ++wrong)
                printf("%s: %s, thread %u: %#x, not %#x\n", path, line->label,
                       t, got, golden_word(line, t));
        }
        if (print)
            printf("\n");
    }
    return wrong;
}

int main(int argc, char **argv)
{
    struct driver d;
    void *context;
    bool print = argc > 1 && strcmp(argv[1], "--print") == 0;
    unsigned wrong = 0, goldens = 0;
    if (!driver_open(&d) || d.init(0) || d.retain(&context, 0) ||
        d.set_context(context)) {
        fprintf(stderr, "no usable GPU\n");
        return EXIT_FAILURE;
    }
    for (int k = 1 + print; k < argc; k++) {
        struct golden g;
        if (!golden_read(argv[k], &g))
            return EXIT_FAILURE;
        uint32_t *out = calloc(GOLDEN_LINES * g.threads, sizeof *out);
        int error = run(&d, &g, out);
        if (error)
            fprintf(stderr, "%s: error %d of the driver\n", argv[k], error);
        wrong += error ? 1 : compare(argv[k], &g, out, print);
        goldens++;
        free(out);
        golden_free(&g);
    }
    fprintf(stderr, "%u goldens, %u differences\n", goldens, wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
