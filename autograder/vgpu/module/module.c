// The entry points: load, free, look up; and the parser's own errors.
#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fatbin.h"
#include "parse.h"

enum { SHOWN_COLUMNS = 100, FIRST_ELEMENTS = 16 };
#define MODULE_BYTES  (UINT64_C(2) << 30)
#define SCRATCH_BYTES (UINT64_C(2) << 30)

// ---- errors -----------------------------------------------------------------

// The line that holds `at`, cut to what fits, and a caret under it.
static void show_line(const struct parser *p, const struct token *token,
                      char *out, size_t size)
{
    const char *first = token->at, *end = token->at;
    while (first > p->lex.text && first[-1] != '\n' &&
           token->at - first < SHOWN_COLUMNS)
        first--;
    while (end < p->lex.end && *end != '\n' && end - first < SHOWN_COLUMNS)
        end++;
    int n = snprintf(out, size, "\n%6u | ", token->line);
    size_t used = (size_t)n;
    for (const char *at = first; at < end && used + 1 < size; at++)
        out[used++] = *at < ' ' || *at > '~' ? ' ' : *at;
    snprintf(out + used, size - used, "\n       | %*s^",
             (int)(token->at - first), "");
}

static void describe(struct parser *p, const struct token *token,
                     const char *format, va_list args)
{
    char *out = p->message;
    size_t used = 0;
    if (p->nunits > 1)
        used = (size_t)snprintf(out, MODULE_MESSAGE, "source %u, ",
                                p->unit + 1);
    used += (size_t)snprintf(out + used, MODULE_MESSAGE - used,
                             "PTX line %u: ", token->line);
    int n = vsnprintf(out + used, MODULE_MESSAGE / 2, format, args);
    used += n < MODULE_MESSAGE / 2 ? (size_t)n : MODULE_MESSAGE / 2 - 1;
    if (token->at)
        show_line(p, token, out + used, MODULE_MESSAGE - used);
}

void fail_at(struct parser *p, const struct token *token, const char *format,
             ...)
{
    va_list args;
    va_start(args, format);
    describe(p, token, format, args);
    va_end(args);
    if (p->status == MODULE_OK)
        p->status = MODULE_BAD_PTX;
    longjmp(p->failed, 1);
}

void fail(struct parser *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    describe(p, &p->lex.token, format, args);
    va_end(args);
    p->status = MODULE_BAD_PTX;
    longjmp(p->failed, 1);
}

void fail_memory(struct parser *p)
{
    snprintf(p->message, MODULE_MESSAGE,
             "the device code needs more memory than a module may have");
    p->status = MODULE_NO_MEMORY;
    longjmp(p->failed, 1);
}

// ---- memory -------------------------------------------------------------------

void *allocate(struct parser *p, struct arena *arena, size_t nbytes)
{
    void *at = arena_alloc(arena, nbytes);
    if (!at)
        fail_memory(p);
    return at;
}

void *keep(struct parser *p, const void *bytes, size_t nbytes)
{
    if (nbytes == 0)
        return NULL;
    return memcpy(allocate(p, p->module->arena, nbytes), bytes, nbytes);
}

void *vector_grow(struct parser *p, void *at, uint32_t n, uint32_t *capacity,
                  size_t size)
{
    if (*capacity >= MAX_VECTOR)
        fail_memory(p);
    *capacity = *capacity ? 2 * *capacity : FIRST_ELEMENTS;
    void *larger = allocate(p, p->scratch, *capacity * size);
    if (n)
        memcpy(larger, at, n * size);
    return larger;
}

// ---- loading --------------------------------------------------------------------

static void set_registers(void *self, const char *name, uint32_t registers)
{
    struct ptx_func *func =
        (struct ptx_func *)module_find_func(self, name);
    if (func && registers <= INT32_MAX)
        func->cubin_regs = (int32_t)registers;
}

static bool open_images(struct parser *p, const void *const *images,
                        const size_t *nbytes, size_t nimages,
                        struct image *out)
{
    size_t nptx = 0;
    for (size_t i = 0; i < nimages; i++) {
        p->status = fatbin_open(images[i], nbytes[i], p->capability,
                                p->arch_specific, p->scratch, &out[i],
                                p->message);
        if (p->status != MODULE_OK)
            return false;
        nptx += out[i].ptx != NULL;
    }
    p->nunits = (unsigned)nptx;
    if (nptx > 0)
        return true;
    snprintf(p->message, MODULE_MESSAGE,
             "the program holds no PTX that runs on sm_%u: compile with "
             "-gencode arch=compute_XX,code=[sm_XX,compute_XX], XX at most %u",
             p->capability, p->capability);
    p->status = MODULE_NO_IMAGE;
    return false;
}

// Everything that may fail by longjmp; the caller frees.
static void load(struct parser *p, const void *const *images,
                 const size_t *nbytes, size_t nimages)
{
    if (setjmp(p->failed))
        return;
    struct image *opened =
        allocate(p, p->scratch, nimages * sizeof(struct image));
    if (!open_images(p, images, nbytes, nimages, opened))
        return;
    for (size_t i = 0; i < nimages; i++)
        if (opened[i].ptx)
            parse_source(p, opened[i].ptx, opened[i].ptx_bytes);
    link_finish(p);
    for (size_t i = 0; i < nimages; i++)
        if (opened[i].cubin)
            cubin_registers(opened[i].cubin, opened[i].cubin_bytes,
                            set_registers, p->module);
}

static struct module *module_new(void)
{
    struct arena *arena = arena_new(MODULE_BYTES);
    struct module *module = arena ? arena_alloc(arena, sizeof *module) : NULL;
    if (module)
        module->arena = arena;
    else
        arena_free(arena);
    return module;
}

enum module_status module_load(const void *const *images, const size_t *nbytes,
                               size_t nimages, unsigned capability,
                               bool arch_specific, struct module **out,
                               char *message)
{
    enum module_status status = MODULE_NO_MEMORY;
    struct parser *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p) {
        snprintf(message, MODULE_MESSAGE, "out of memory");
        return status;
    }
    *message = '\0';
    p->message = message;
    p->capability = capability;
    p->arch_specific = arch_specific;
    p->module = module_new();
    p->scratch = arena_new(SCRATCH_BYTES);
    p->frame = arena_new(SCRATCH_BYTES);
    if (p->module && p->scratch && p->frame)
        load(p, images, nbytes, nimages);
    else
        p->status = MODULE_NO_MEMORY;
    status = p->status;
    if (status == MODULE_OK)
        *out = p->module;
    else
        module_free(p->module);
    arena_free(p->scratch);
    arena_free(p->frame);
    free(p);
    return status;
}

void module_free(struct module *module)
{
    if (module)
        arena_free(module->arena);
}

// ---- look-up ----------------------------------------------------------------------

const struct ptx_func *module_find_func(const struct module *module,
                                        const char *name)
{
    uint32_t low = 0, high = module->nfuncs; // first not less than name
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = module->funcs[module->func_order[middle]].name;
        if (strcmp(other, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == module->nfuncs)
        return NULL;
    const struct ptx_func *func = &module->funcs[module->func_order[low]];
    return strcmp(func->name, name) ? NULL : func;
}

const struct ptx_var *module_find_var(const struct module *module,
                                      const char *name)
{
    uint32_t low = 0, high = module->nvars;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const char *other = module->vars[module->var_order[middle]].name;
        if (strcmp(other, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == module->nvars)
        return NULL;
    const struct ptx_var *var = &module->vars[module->var_order[low]];
    return strcmp(var->name, name) ? NULL : var;
}
