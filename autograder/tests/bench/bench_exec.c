// How fast the executor is: warp instructions a second and core in an
// arithmetic loop and in a load/store loop, beside the same loops in plain C
// (-O3, one core, 32 lanes an iteration), as ratios. Then what a grid of short
// blocks costs, watched as the server has it: c[i] = a[i] + b[i].
//
//   build/bin/bench_exec
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench_plain.h"
#include "vgpu/exec/exec.h"
#include "vgpu/memory/watch.h"

enum { THREADS = 256, BLOCKS = 8, ELEMENTS = 1 << 16 };

struct loop {
    const char *name;
    const char *body;       // of the loop: `instructions` of them, a counter
    unsigned instructions;  // in one iteration, the loop's own 3 included
    void (*plain)(float *data, unsigned iterations);
    unsigned iterations;
};

static const struct loop loops[] = {
    {"arithmetic",
     "fma.rn.f32 %f1, %f1, %f2, %f3;\nadd.u32 %r1, %r1, %r2;\n"
     "fma.rn.f32 %f4, %f4, %f2, %f3;\nxor.b32 %r3, %r3, %r1;\n"
     "fma.rn.f32 %f5, %f5, %f2, %f3;\nmad.lo.u32 %r4, %r1, %r2, %r3;\n"
     "fma.rn.f32 %f6, %f6, %f2, %f3;\n",
     10, plain_arithmetic, 20000},
    {"integer arithmetic",
     "add.u32 %r1, %r1, %r2;\nxor.b32 %r3, %r3, %r1;\n"
     "mad.lo.u32 %r4, %r1, %r2, %r3;\nshl.b32 %r5, %r1, 3;\n"
     "sub.u32 %r6, %r5, %r3;\nand.b32 %r7, %r6, %r4;\n"
     "or.b32 %r8, %r7, %r5;\n",
     10, plain_integer, 20000},
    {"load and store",
     "ld.global.u32 %r1, [%rd3];\nadd.u32 %r1, %r1, 1;\n"
     "st.global.u32 [%rd3], %r1;\n",
     6, plain_memory, 20000},
};

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry bench(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .b32 %r<16>, %i, %n;\n.reg .f32 %f<8>;\n.reg .b64 %rd<4>;\n"
    ".reg .pred %q;\n"
    "ld.param.u64 %rd1, [p];\nld.param.u32 %n, [n];\nmov.u32 %r1, %tid.x;\n"
    "mad.wide.u32 %rd3, %r1, 4, %rd1;\nmov.u32 %r2, 3;\n"
    "mov.u32 %r3, 1;\nmov.f32 %f1, 0f3F800000;\nmov.f32 %f2, 0f3F800000;\n"
    "mov.f32 %f3, 0f3F800000;\nmov.f32 %f4, 0f3F800000;\n"
    "mov.f32 %f5, 0f3F800000;\nmov.f32 %f6, 0f3F800000;\nmov.u32 %i, 0;\n"
    "LOOP:\n";
static const char tail[] =
    "add.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, %n;\n@%q bra LOOP;\nret;\n}\n";

// CPU time of this process: other programs on the machine do not count.
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static struct module *load_text(const char *name, const char *text)
{
    char message[MODULE_MESSAGE];
    const void *image = text;
    struct module *module;
    size_t n = strlen(text);
    if (module_load(&image, &n, 1, 90, true, &module, message) == MODULE_OK)
        return module;
    fprintf(stderr, "%s: %s\n", name, message);
    exit(EXIT_FAILURE);
}

static struct module *load(const struct loop *loop)
{
    char text[4096];
    snprintf(text, sizeof text, "%s%s%s", head, loop->body, tail);
    return load_text(loop->name, text);
}

// Warp instructions a second, on one core.
static double measure(const struct loop *loop, bool counting)
{
    static const struct gpu_model gpu = {.sms = 1, .warps_per_sm = 64};
    struct module *module = load(loop);
    struct code *code = code_new(module, &gpu);
    struct memory *memory = memory_new(1, UINT64_C(1) << 30);
    uint64_t addr = memory_alloc(memory, 0, 4 * ELEMENTS, ALLOC_DEVICE, NULL);
    uint8_t params[16];
    struct launch_report report = {0};
    uint64_t *counts = calloc(2 * (size_t)module->ninsts, sizeof *counts);
    if (counting) {
        report.inst_count = counts;
        report.inst_lanes = counts + module->ninsts;
    }
    memcpy(params, &addr, 8);
    memcpy(params + 8, &loop->iterations, 4);
    struct launch launch = {
        .code = code, .func = module_find_func(module, "bench"),
        .name = "bench", .grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1},
        .params = params, .gpu = &gpu, .memory = memory, .nthreads = 1,
        .blocks_per_sm = 1,
    };
    double start = cpu_s();
    launch_run(&launch, &report);
    double took = cpu_s() - start;
    if (report.status != LAUNCH_OK) {
        fprintf(stderr, "%s: %s\n", loop->name, report.fault.message);
        exit(EXIT_FAILURE);
    }
    free(counts);
    code_free(code);
    module_free(module);
    memory_free(memory);
    return (double)report.warp_instructions / took;
}

// What plain C does in the place of a warp instruction, a second.
static double measure_plain(const struct loop *loop)
{
    static float data[ELEMENTS];
    unsigned iterations = loop->iterations * 64;
    double start = cpu_s();
    loop->plain(data, iterations);
    return (double)iterations * loop->instructions / (cpu_s() - start);
}

// ---- grids of short blocks ---------------------------------------------------

static const char add_kernel[] = // as nvcc makes it of c[i] = a[i] + b[i]
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry bench(.param .u64 a, .param .u64 b, .param .u64 c,\n"
    ".param .u32 n)\n{\n.reg .pred %p<2>;\n.reg .f32 %f<4>;\n"
    ".reg .b32 %r<6>;\n.reg .b64 %rd<11>;\n"
    "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\n"
    "ld.param.u64 %rd3, [c];\nld.param.u32 %r2, [n];\n"
    "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
    "mad.lo.s32 %r1, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r1, %r2;\n"
    "@%p1 bra END;\ncvta.to.global.u64 %rd4, %rd1;\n"
    "mul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\n"
    "cvta.to.global.u64 %rd7, %rd2;\nadd.s64 %rd8, %rd7, %rd5;\n"
    "ld.global.f32 %f1, [%rd8];\nld.global.f32 %f2, [%rd6];\n"
    "add.f32 %f3, %f2, %f1;\ncvta.to.global.u64 %rd9, %rd3;\n"
    "add.s64 %rd10, %rd9, %rd5;\nst.global.f32 [%rd10], %f3;\n"
    "END:\nret;\n}\n";

// Prints a row for blocks of `threads`, watched with `flags`. The buffers have
// mappings of their own, as those of programs have.
static void measure_add(unsigned threads, uint32_t n, unsigned flags)
{
    const struct gpu_model *gpu = gpu_default();
    struct module *module = load_text("add", add_kernel);
    struct code *code = code_new(module, gpu);
    struct memory *memory = memory_new(1, UINT64_C(1) << 30);
    struct watch *watch = watch_new(memory, flags);
    uint64_t *counts = calloc(2 * (size_t)module->ninsts, sizeof *counts);
    struct launch_report report = {
        .inst_count = counts, .inst_lanes = counts + module->ninsts};
    uint8_t params[28];
    for (int k = 0; k < 3; k++) {
        uint64_t addr = memory_alloc(memory, 0, UINT64_C(4) * n, ALLOC_DEVICE,
                                     NULL);
        memory_set(memory, addr, 0, UINT64_C(4) * n); // its pages are there
        memcpy(params + 8 * k, &addr, 8);
    }
    memcpy(params + 24, &n, 4);
    struct launch launch = {
        .code = code, .func = module_find_func(module, "bench"),
        .name = "bench", .grid = {n / threads, 1, 1}, .block = {threads, 1, 1},
        .params = params, .gpu = gpu, .memory = memory, .nthreads = 1,
        .blocks_per_sm = 2048 / (threads < 64 ? 64 : threads),
        .watcher = watch_callbacks(watch),
    };
    watch_set_module(watch, module);
    double start = cpu_s();
    launch_run(&launch, &report);
    double took = cpu_s() - start;
    if (report.status != LAUNCH_OK) {
        fprintf(stderr, "add: %s\n", report.fault.message);
        exit(EXIT_FAILURE);
    }
    printf("add, %4u threads%-15s %10.3f %10.1f\n", threads,
           flags == WATCH_COUNT ? ", counted" : ", checked, too",
           took / launch.grid[0] * 1e6,
           (double)report.warp_instructions / took / 1e6);
    free(counts);
    watch_free(watch);
    code_free(code);
    module_free(module);
    memory_free(memory);
}

static void measure_grids(void)
{
    unsigned all = WATCH_COUNT | WATCH_CHECK | WATCH_WRITERS;
    printf("\n%-32s %10s %10s\n", "CPU time", "us a block", "M inst/s");
    measure_add(1, 1 << 20, WATCH_COUNT);
    measure_add(1, 1 << 20, all);
    measure_add(256, 1 << 24, WATCH_COUNT);
    measure_add(256, 1 << 24, all);
}

int main(void)
{
    printf("%-20s %14s %14s %14s %8s\n", "million a second", "warp inst",
           "with counters", "plain C", "ratio");
    for (size_t k = 0; k < sizeof loops / sizeof *loops; k++) {
        double bare = measure(&loops[k], false);
        double counted = measure(&loops[k], true);
        double plain = measure_plain(&loops[k]);
        printf("%-20s %14.1f %14.1f %14.1f %8.1f\n", loops[k].name, bare / 1e6,
               counted / 1e6, plain / 1e6, plain / bare);
    }
    measure_grids();
    return EXIT_SUCCESS;
}
