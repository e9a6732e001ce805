#include "kernel.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_print(void *self, const char *text, size_t n)
{
    struct kernel *k = self;
    if (n > sizeof k->printed - 1 - k->nprinted)
        n = sizeof k->printed - 1 - k->nprinted;
    memcpy(k->printed + k->nprinted, text, n);
    k->nprinted += n;
}

static void on_finding(void *self, const struct finding *f)
{
    struct kernel *k = self;
    if (k->nfindings < 16)
        k->findings[k->nfindings++] = *f;
}

// Device addresses of the module's variables, with their initial values.
static void place_variables(struct kernel *k)
{
    const struct module *m = k->module;
    k->var_addr = calloc(m->nvars + 1, sizeof *k->var_addr);
    for (uint32_t v = 0; v < m->nvars; v++) {
        const struct ptx_var *var = &m->vars[v];
        if (var->space != SPACE_GLOBAL && var->space != SPACE_CONST)
            continue;
        k->var_addr[v] = memory_alloc(k->memory, 0, var->nbytes,
                                      ALLOC_VARIABLE, var->name);
        memory_set(k->memory, k->var_addr[v], 0, var->nbytes);
        if (var->init)
            memory_write(k->memory, k->var_addr[v], var->init, var->nbytes);
    }
    for (uint32_t v = 0; v < m->nvars; v++) {
        for (uint32_t f = 0; f < m->vars[v].nfixups; f++) {
            const struct ptx_fixup *fix = &m->vars[v].fixups[f];
            uint64_t to = fix->is_func ? code_func_address(fix->index)
                                       : k->var_addr[fix->index];
            to += (uint64_t)fix->addend;
            memory_write(k->memory, k->var_addr[v] + fix->offset, &to, 8);
        }
    }
}

static uint64_t buffer(struct kernel *k)
{
    uint64_t addr = memory_alloc(k->memory, 0, 4 * KERNEL_WORDS, ALLOC_DEVICE,
                                 NULL);
    ck_assert(addr != 0);
    memory_set(k->memory, addr, 0, 4 * KERNEL_WORDS);
    return addr;
}

struct kernel *kernel_load(const char *ptx, const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);
    char message[MODULE_MESSAGE] = "";
    const void *image = ptx;
    size_t nbytes = strlen(ptx);
    enum module_status status =
        module_load(&image, &nbytes, 1, 90, true, &k->module, message);
    ck_assert_msg(status == MODULE_OK, "%s", message);
    k->memory = memory_new(1, UINT64_C(1) << 32);
    ck_assert_ptr_nonnull(k->memory);
    k->gpu = (struct gpu_model){.sms = 4, .warps_per_sm = 64};
    k->code = code_new(k->module, &k->gpu);
    place_variables(k);
    k->out = buffer(k);
    k->in = buffer(k);
    k->watcher = (struct watcher){.self = k, .found = on_finding};
    k->launch = (struct launch){
        .code = k->code,
        .func = module_find_func(k->module, name),
        .name = name,
        .var_addr = k->var_addr,
        .gpu = &k->gpu,
        .memory = k->memory,
        .watcher = &k->watcher,
        .nthreads = 1,
        .seed = 1,
        .budget = 50000000,
        .blocks_per_sm = 2,
        .print = on_print,
        .print_self = k,
    };
    ck_assert_ptr_nonnull(k->launch.func);
    return k;
}

struct kernel *kernel_load_file(const char *path, const char *name)
{
    FILE *f = fopen(path, "r");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    char *text = calloc(1, 1 << 20);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    ck_assert(n > 0);
    fclose(f);
    struct kernel *k = kernel_load(text, name);
    free(text);
    return k;
}

void kernel_free(struct kernel *k)
{
    code_free(k->code);
    module_free(k->module);
    memory_free(k->memory);
    free(k->var_addr);
    free(k);
}

enum launch_status kernel_run(struct kernel *k, uint32_t grid, uint32_t block)
{
    uint8_t *params = calloc(1, k->launch.func->param_bytes + 16);
    memcpy(params, &k->out, 8);
    memcpy(params + 8, &k->in, 8);
    k->launch.params = params;
    k->launch.grid[0] = grid;
    k->launch.block[0] = block;
    for (int d = 1; d < 3; d++) {
        k->launch.grid[d] = k->launch.grid[d] ? k->launch.grid[d] : 1;
        k->launch.block[d] = k->launch.block[d] ? k->launch.block[d] : 1;
    }
    launch_run(&k->launch, &k->report);
    free(params);
    return k->report.status;
}

uint32_t *kernel_out(struct kernel *k)
{
    return (uint32_t *)(uintptr_t)k->out;
}

uint32_t *kernel_in(struct kernel *k)
{
    return (uint32_t *)(uintptr_t)k->in;
}

struct kernel *kernel_of_body(const char *body)
{
    static const char head[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry test(.param .u64 p_out, .param .u64 p_in)\n{\n"
        ".reg .b32 %r<32>;\n.reg .b64 %rd<32>;\n.reg .f32 %f<32>;\n"
        ".reg .f64 %fd<32>;\n.reg .pred %p<16>;\n.reg .b16 %h<32>;\n"
        ".reg .b32 %t;\n.reg .b64 %out, %in, %to, %from;\n"
        "ld.param.u64 %out, [p_out];\nld.param.u64 %in, [p_in];\n"
        "mov.u32 %t, %tid.x;\n"
        "mad.wide.u32 %to, %t, 4, %out;\nmad.wide.u32 %from, %t, 4, %in;\n";
    size_t n = sizeof head + strlen(body) + 16;
    char *ptx = malloc(n);
    snprintf(ptx, n, "%s%s\n}\n", head, body);
    struct kernel *k = kernel_load(ptx, "test");
    free(ptx);
    return k;
}
