// Modules of a program: loading, functions, variables on each device.
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// ---- loading ---------------------------------------------------------------

static int status_error(enum module_status status)
{
    switch (status) {
    case MODULE_OK: return CUDA_OK;
    case MODULE_NO_IMAGE: return CUDA_NO_IMAGE;
    case MODULE_BAD_IMAGE: return CUDA_INVALID_IMAGE;
    case MODULE_BAD_PTX: return CUDA_INVALID_PTX;
    case MODULE_NO_MEMORY: return CUDA_OUT_OF_MEMORY;
    }
    return CUDA_INVALID_IMAGE;
}

static void unload(struct loaded_module *m)
{
    for (uint32_t i = 0; m->overlaps && i < m->module->nfuncs; i++)
        overlap_free(m->overlaps[i]);
    free(m->overlaps);
    for (unsigned d = 0; d < VGPU_MAX_DEVICES; d++)
        free(m->var_addr[d]);
    if (m->code)
        code_free(m->code);
    module_free(m->module);
}

// What executing and timing a module need, made once. false: no memory.
static bool prepare(struct loaded_module *m, const struct gpu_model *gpu)
{
    const struct module *module = m->module;
    m->code = code_new(module, gpu);
    m->overlaps = calloc(module->nfuncs + 1, sizeof *m->overlaps);
    bool ok = m->code && m->overlaps;
    for (uint32_t i = 0; ok && i < module->nfuncs; i++)
        ok = (m->overlaps[i] = overlap_new(&module->funcs[i])) != NULL;
    return ok;
}

// Loads images that lie in a mapping of nbytes, as the ranges say.
static int load_images(struct request *r, const char *map, uint64_t nbytes,
                       const struct wire_range *ranges, uint32_t n,
                       struct loaded_module *out)
{
    const struct gpu_model *gpu = r->program->server->gpu;
    const void *images[WIRE_MAX_IMAGES];
    size_t sizes[WIRE_MAX_IMAGES];
    for (uint32_t i = 0; i < n; i++) {
        if (ranges[i].addr > nbytes || ranges[i].nbytes > nbytes - ranges[i].addr)
            return CUDA_INVALID_VALUE;
        images[i] = map + ranges[i].addr;
        sizes[i] = ranges[i].nbytes;
    }
    char message[MODULE_MESSAGE] = "";
    int error = status_error(module_load(images, sizes, n, gpu->capability,
                                         gpu->arch_specific, &out->module,
                                         message));
    if (error) {
        message[sizeof message - 1] = 0;
        r->nreply_tail = strlen(message);
        memcpy(r->reply_tail, message, r->nreply_tail);
        return error;
    }
    if (prepare(out, gpu))
        return CUDA_OK;
    unload(out);
    return CUDA_OUT_OF_MEMORY;
}

static bool modules_room(struct program *p)
{
    if (p->nmodules & (p->nmodules - 1)) // room doubles at powers of two
        return true;
    unsigned room = p->nmodules ? 2 * p->nmodules : 1;
    void *more = realloc(p->modules, room * sizeof *p->modules);
    if (more)
        p->modules = more;
    return more != NULL;
}

int serve_MODULE(struct request *r)
{
    const struct wire_module *body = r->body;
    struct program *p = r->program;
    // The tail lies behind a body of four bytes: copied out to be aligned.
    struct wire_range ranges[WIRE_MAX_IMAGES];
    if (!body->nimages || body->nimages > WIRE_MAX_IMAGES ||
        r->ntail != body->nimages * sizeof *ranges)
        return CUDA_INVALID_VALUE;
    memcpy(ranges, r->tail, r->ntail);
    off_t end = r->fd < 0 ? -1 : lseek(r->fd, 0, SEEK_END);
    if (end <= 0 || end > MAX_IMAGE_BYTES || p->nmodules >= MAX_MODULES ||
        !wire_is_sealed(r->fd, (uint64_t)end, true))
        return CUDA_INVALID_VALUE;
    void *map = mmap(NULL, (size_t)end, PROT_READ, MAP_SHARED, r->fd, 0);
    if (map == MAP_FAILED)
        return CUDA_OUT_OF_MEMORY;
    struct loaded_module loaded = {0};
    int error = modules_room(p) ? load_images(r, map, (uint64_t)end, ranges,
                                              body->nimages, &loaded)
                                : CUDA_OUT_OF_MEMORY;
    munmap(map, (size_t)end);
    if (error)
        return error;
    ((struct wire_id *)r->reply)->id = p->nmodules;
    p->modules[p->nmodules++] = loaded;
    return CUDA_OK;
}

const struct loaded_module *module_at(const struct program *p, uint32_t id)
{
    return id < p->nmodules ? &p->modules[id] : NULL;
}

void modules_free(struct program *p)
{
    for (unsigned i = 0; i < p->nmodules; i++)
        unload(&p->modules[i]);
    free(p->modules);
    p->nmodules = 0;
}

// ---- functions -------------------------------------------------------------

char *__cxa_demangle(const char *, char *, size_t *, int *); // of libstdc++

void function_name(const struct ptx_func *func, char *name, size_t n)
{
    int status;
    char *plain = strlen(func->name) < 4096
                      ? __cxa_demangle(func->name, NULL, NULL, &status)
                      : NULL;
    snprintf(name, n, "%s", plain ? plain : func->name);
    free(plain);
}

unsigned function_regs(const struct ptx_func *func, bool *exact)
{
    *exact = func->cubin_regs > 0;
    if (*exact)
        return (unsigned)func->cubin_regs;
    // PTX names every value once, a compiler keeps few alive at a time: kernels
    // of n instructions were seen to need 10 + n/6, and seldom over 64.
    unsigned estimate = 10 + func->ninsts / 6;
    unsigned most = func->maxnreg && func->maxnreg < 64 ? func->maxnreg : 64;
    return estimate < most ? estimate : most;
}

unsigned function_max_threads(const struct ptx_func *func,
                              const struct gpu_model *gpu)
{
    const uint32_t *bound = func->reqntid[0] ? func->reqntid : func->maxntid;
    unsigned most = 1024;
    if (bound[0]) {
        uint64_t threads = (uint64_t)bound[0] * (bound[1] ? bound[1] : 1) *
                           (bound[2] ? bound[2] : 1);
        if (threads < most)
            most = (unsigned)threads;
    }
    bool exact;
    unsigned regs = function_regs(func, &exact);
    unsigned fit = regs ? gpu->regs_per_sm / regs / 32 * 32 : most;
    return exact && fit < most ? fit : most;
}

// The tail of a request as a C string, or false when it is none.
static bool tail_name(const struct request *r, char *name, size_t room)
{
    if (!r->ntail || r->ntail >= room || memchr(r->tail, 0, r->ntail))
        return false;
    memcpy(name, r->tail, r->ntail);
    name[r->ntail] = 0;
    return true;
}

static uint32_t const_bytes(const struct module *m)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < m->nvars; i++)
        if (m->vars[i].space == SPACE_CONST)
            sum += m->vars[i].nbytes;
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

int serve_FUNCTION(struct request *r)
{
    const struct wire_symbol *body = r->body;
    const struct loaded_module *loaded = module_at(r->program, body->module);
    static char name[WIRE_MESSAGE]; // guarded by the server's lock
    if (!loaded || !tail_name(r, name, sizeof name))
        return CUDA_INVALID_VALUE;
    const struct ptx_func *func = module_find_func(loaded->module, name);
    if (!func || !func->is_entry)
        return CUDA_INVALID_DEVICE_FUNCTION;
    if (func->nparams > WIRE_MESSAGE / 4 / sizeof(struct wire_param))
        return CUDA_INVALID_IMAGE;
    bool exact;
    struct wire_function *reply = r->reply;
    *reply = (struct wire_function){
        .func = (uint32_t)(func - loaded->module->funcs),
        .regs = function_regs(func, &exact),
        .shared_bytes = (uint32_t)func->shared_bytes,
        .local_bytes = (uint32_t)func->local_bytes,
        .const_bytes = const_bytes(loaded->module),
        .max_threads = function_max_threads(func, r->program->server->gpu),
        .param_bytes = func->param_bytes,
        .nparams = func->nparams,
        .capability = loaded->module->capability,
    };
    reply->regs_exact = exact;
    struct wire_param *params = (void *)r->reply_tail;
    for (uint32_t i = 0; i < func->nparams; i++)
        params[i] = (struct wire_param){(uint32_t)func->params[i].offset,
                                        (uint32_t)func->params[i].nbytes};
    r->nreply_tail = func->nparams * sizeof *params;
    return CUDA_OK;
}

// ---- variables -------------------------------------------------------------

static bool has_address(const struct ptx_var *var)
{
    return (var->space == SPACE_GLOBAL || var->space == SPACE_CONST) &&
           !var->is_extern;
}

// A managed variable has one address for all devices.
static uint64_t place_elsewhere(const struct loaded_module *m, uint32_t i)
{
    for (unsigned d = 0; d < VGPU_MAX_DEVICES; d++)
        if (m->var_addr[d])
            return m->var_addr[d][i];
    return 0;
}

static uint64_t place_variable(struct program *p, const struct loaded_module *m,
                               uint32_t i, int device)
{
    const struct ptx_var *var = &m->module->vars[i];
    struct memory *memory = p->server->memory;
    uint64_t nbytes = var->nbytes ? var->nbytes : 1, addr;
    int fd = -1; // of a managed variable, kept for the program to map
    if (var->is_managed) {
        addr = place_elsewhere(m, i);
        if (addr)
            return addr;
        addr = memory_alloc_host(memory, nbytes, ALLOC_MANAGED, &fd);
    } else {
        addr = memory_alloc(memory, device, nbytes, ALLOC_VARIABLE, var->name);
    }
    if (!addr)
        return 0;
    bool ok = var->init ? memory_write(memory, addr, var->init, nbytes)
                        : memory_set(memory, addr, 0, nbytes);
    if (!ok || !own(p, addr, true, fd)) {
        memory_release(memory, addr);
        if (fd >= 0)
            close(fd);
        return 0;
    }
    if (var->space == SPACE_CONST)
        memory_set_read_only(memory, addr);
    return addr;
}

// Writes the addresses that initial values of variables hold.
static void apply_fixups(struct memory *memory, const struct module *m,
                         const uint64_t *addr)
{
    for (uint32_t i = 0; i < m->nvars; i++) {
        const struct ptx_var *var = &m->vars[i];
        for (uint32_t f = 0; addr[i] && f < var->nfixups; f++) {
            const struct ptx_fixup *fixup = &var->fixups[f];
            uint32_t limit = fixup->is_func ? m->nfuncs : m->nvars;
            if (fixup->index >= limit || fixup->offset > var->nbytes ||
                var->nbytes - fixup->offset < 8)
                continue;
            uint64_t value = fixup->is_func ? code_func_address(fixup->index)
                                            : addr[fixup->index];
            value += (uint64_t)fixup->addend;
            memory_write(memory, addr[i] + fixup->offset, &value, sizeof value);
        }
    }
}

const uint64_t *module_vars(struct program *p, uint32_t id, int device,
                            int *error)
{
    struct loaded_module *m = &p->modules[id];
    if (m->var_addr[device])
        return m->var_addr[device];
    *error = CUDA_OUT_OF_MEMORY;
    uint64_t *addr = calloc(m->module->nvars + 1, sizeof *addr);
    if (!addr)
        return NULL;
    for (uint32_t i = 0; i < m->module->nvars; i++) {
        if (!has_address(&m->module->vars[i]))
            continue;
        addr[i] = place_variable(p, m, i, device);
        if (!addr[i]) {
            // What was placed already is released with the program.
            free(addr);
            return NULL;
        }
    }
    apply_fixups(p->server->memory, m->module, addr);
    *error = CUDA_OK;
    return m->var_addr[device] = addr;
}

int serve_VARIABLE(struct request *r)
{
    const struct wire_symbol *body = r->body;
    struct program *p = r->program;
    const struct loaded_module *loaded = module_at(p, body->module);
    static char name[WIRE_MESSAGE]; // guarded by the server's lock
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    if (!loaded || !tail_name(r, name, sizeof name))
        return CUDA_INVALID_VALUE;
    const struct ptx_var *var = module_find_var(loaded->module, name);
    if (!var || !has_address(var))
        return CUDA_INVALID_SYMBOL;
    int error;
    const uint64_t *addr = module_vars(p, body->module, device, &error);
    if (!addr)
        return error;
    uint32_t i = (uint32_t)(var - loaded->module->vars);
    *(struct wire_range *)r->reply = (struct wire_range){addr[i], var->nbytes};
    if (var->is_managed)
        r->reply_fd = owned_fd(p, addr[i]);
    return CUDA_OK;
}
