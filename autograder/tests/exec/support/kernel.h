// Runs a kernel from PTX text: what every test of the executor needs.
#pragma once

#include "vgpu/exec/exec.h"

enum { KERNEL_WORDS = 1 << 16 };

struct kernel {
    struct module *module;
    struct code *code;
    struct memory *memory;
    uint64_t *var_addr;
    uint64_t out, in;          // device buffers of KERNEL_WORDS words, zeroed
    struct gpu_model gpu;
    struct launch launch;      // a test may change it before kernel_run
    struct launch_report report;
    char printed[1 << 16];
    size_t nprinted;
    // Findings that the executor told the watcher.
    struct watcher watcher;
    struct finding findings[16];
    unsigned nfindings;
};

// Loads PTX; its kernel `name` takes (out, in). Fails the test when it is bad.
struct kernel *kernel_load(const char *ptx, const char *name);
struct kernel *kernel_load_file(const char *path, const char *name);
void kernel_free(struct kernel *);
// Runs it over grid x block threads.
enum launch_status kernel_run(struct kernel *, uint32_t grid, uint32_t block);
uint32_t *kernel_out(struct kernel *);
uint32_t *kernel_in(struct kernel *);

// A kernel around a body: out in %out, in in %in, %tid.x in %t, and registers
// %r<32> %rd<32> %f<32> %fd<32> %p<16> %h<32>.
struct kernel *kernel_of_body(const char *body);
