// What device code calls and no module defines: vprintf, __assertfail, malloc
// and free.
//
// vprintf's second argument points to the values that the compiler has laid
// out like a struct: each aligned to its size, which is 8 bytes for double,
// pointers and l, ll, z, j, t integers, else 4.
#include <stdio.h>
#include <string.h>

#include "control.h"

enum { MAX_FORMAT = 4096, MAX_OUTPUT = 16384, MAX_SPEC = 64 };

enum external { EXTERNAL_VPRINTF, EXTERNAL_ASSERT, EXTERNAL_MALLOC,
                EXTERNAL_FREE };
static const char *const external_names[] = {"vprintf", "__assertfail",
                                             "malloc", "free"};

bool external_find(const char *name, unsigned *which)
{
    for (unsigned k = 0; k < sizeof external_names / sizeof *external_names;
         k++) {
        if (strcmp(name, external_names[k]) == 0) {
            *which = k;
            return true;
        }
    }
    return false;
}

// ---- arguments and results of a lane -------------------------------------------

struct lane_call {
    struct warp *w;
    const struct call_site *site;
    const struct frame *frame;
    unsigned lane;
};

static uint64_t argument(const struct lane_call *c, uint32_t k)
{
    const struct function *f = c->frame->function;
    uint64_t value = 0;
    if (k >= c->site->nargs)
        return 0;
    uint64_t n = function_param(f, c->site->args[k])->nbytes;
    memcpy(&value,
           c->frame->params + (size_t)c->lane * f->param_stride +
               f->param_at[c->site->args[k]],
           n < sizeof value ? n : sizeof value);
    return value;
}

static void set_result(const struct lane_call *c, uint64_t value)
{
    const struct function *f = c->frame->function;
    if (c->site->nresults == 0)
        return;
    uint64_t n = function_param(f, c->site->results[0])->nbytes;
    memcpy(c->frame->params + (size_t)c->lane * f->param_stride +
               f->param_at[c->site->results[0]],
           &value, n < sizeof value ? n : sizeof value);
}

// Copies a string out of device memory; false when it runs out of it.
static bool read_string(const struct lane_call *c, uint64_t addr, char *out,
                        size_t n)
{
    for (size_t k = 0; k + 1 < n; k++) {
        const uint8_t *p = generic_pointer(c->w, c->lane, addr + k, 1);
        if (!p)
            return false;
        out[k] = (char)*p;
        if (out[k] == 0)
            return true;
    }
    out[n - 1] = 0;
    return true;
}

// ---- printf ----------------------------------------------------------------------

struct output {
    char text[MAX_OUTPUT];
    size_t n;
};

static void put_text(struct output *o, const char *text, size_t n)
{
    size_t room = sizeof o->text - o->n;
    n = n < room ? n : room;
    memcpy(o->text + o->n, text, n);
    o->n += n;
}

struct values {
    uint64_t addr, offset; // of the next value
    int taken;
    bool bad;              // it lies outside memory
};

static uint64_t next_value(const struct lane_call *c, struct values *v,
                           unsigned size)
{
    uint64_t value = 0;
    v->offset = (v->offset + size - 1) & ~(uint64_t)(size - 1);
    const uint8_t *p =
        generic_pointer(c->w, c->lane, v->addr + v->offset, size);
    if (p)
        memcpy(&value, p, size);
    v->bad |= !p;
    v->offset += size;
    return value;
}

// One conversion, from its % on. Returns how long it is in the format.
static size_t split_spec(const char *at, char *flags, size_t n, bool *is_long,
                         char *conversion)
{
    size_t k = 1, used = 0;
    *is_long = false;
    for (; at[k] && strchr("-+ #0123456789.*", at[k]); k++)
        if (used + 1 < n)
            flags[used++] = at[k];
    for (; at[k] && strchr("hlqjzt", at[k]); k++)
        *is_long |= at[k] != 'h';
    flags[used] = 0;
    *conversion = at[k];
    return at[k] ? k + 1 : k;
}

// Puts the values of `*` in their place.
static void fill_stars(const struct lane_call *c, struct values *v,
                       const char *flags, char *out, size_t n)
{
    size_t used = 0;
    for (; *flags && used + 13 < n; flags++) {
        if (*flags == '*')
            used += (size_t)snprintf(out + used, n - used, "%d",
                                     (int)next_value(c, v, 4));
        else
            out[used++] = *flags;
    }
    out[used] = 0;
}

static void print_value(const struct lane_call *c, struct values *v,
                        const char *flags, bool is_long, char conversion,
                        struct output *o)
{
    char spec[MAX_SPEC + 8], text[1024], string[1024];
    int n = 0;
    v->taken++;
    if (strchr("di", conversion)) {
        uint64_t bits = next_value(c, v, is_long ? 8 : 4);
        snprintf(spec, sizeof spec, "%%%slld", flags);
        n = snprintf(text, sizeof text, spec,
                     is_long ? (long long)bits : (long long)(int32_t)bits);
    } else if (strchr("ouxX", conversion)) {
        uint64_t bits = next_value(c, v, is_long ? 8 : 4);
        snprintf(spec, sizeof spec, "%%%sll%c", flags, conversion);
        n = snprintf(text, sizeof text, spec, (unsigned long long)bits);
    } else if (strchr("eEfFgGaA", conversion)) {
        uint64_t bits = next_value(c, v, 8);
        double value;
        memcpy(&value, &bits, sizeof value);
        snprintf(spec, sizeof spec, "%%%s%c", flags, conversion);
        n = snprintf(text, sizeof text, spec, value);
    } else if (conversion == 'c') {
        snprintf(spec, sizeof spec, "%%%sc", flags);
        n = snprintf(text, sizeof text, spec, (int)next_value(c, v, 4));
    } else if (conversion == 'p') {
        snprintf(spec, sizeof spec, "%%%sp", flags);
        n = snprintf(text, sizeof text, spec,
                     (void *)(uintptr_t)next_value(c, v, 8));
    } else { // s
        v->bad |= !read_string(c, next_value(c, v, 8), string, sizeof string);
        snprintf(spec, sizeof spec, "%%%ss", flags);
        if (!v->bad)
            n = snprintf(text, sizeof text, spec, string);
    }
    if (n > 0)
        put_text(o, text, (size_t)n < sizeof text ? (size_t)n
                                                  : sizeof text - 1);
}

static int print_format(const struct lane_call *c, const char *format,
                        struct values *v, struct output *o)
{
    for (const char *p = format; *p && !v->bad;) {
        size_t n = strcspn(p, "%");
        put_text(o, p, n);
        p += n;
        if (!*p)
            break;
        char raw[MAX_SPEC / 4], flags[MAX_SPEC], conversion;
        bool is_long;
        n = split_spec(p, raw, sizeof raw, &is_long, &conversion);
        if (conversion && strchr("diouxXeEfFgGaAcps", conversion)) {
            fill_stars(c, v, raw, flags, sizeof flags);
            print_value(c, v, flags, is_long, conversion, o);
        } else if (conversion == '%') {
            put_text(o, "%", 1);
        } else {
            put_text(o, p, n);
        }
        p += n;
    }
    return v->taken;
}

static void send(struct warp *w, const char *text, size_t n)
{
    struct launch_state *state = w->block->worker->state;
    if (!state->launch->print)
        return;
    pthread_mutex_lock(&state->lock);
    state->launch->print(state->launch->print_self, text, n);
    pthread_mutex_unlock(&state->lock);
}

static bool do_printf(const struct lane_call *c, const struct inst *i)
{
    char format[MAX_FORMAT];
    struct output o = {.n = 0};
    struct values v = {.addr = argument(c, 1)};
    if (!read_string(c, argument(c, 0), format, sizeof format)) {
        warp_fault(c->w, i, LAUNCH_ILLEGAL_ADDRESS, c->lane, argument(c, 0),
                   "the format of printf lies outside memory");
        return false;
    }
    int taken = print_format(c, format, &v, &o);
    if (v.bad) {
        warp_fault(c->w, i, LAUNCH_ILLEGAL_ADDRESS, c->lane, v.addr,
                   "an argument of printf lies outside memory");
        return false;
    }
    send(c->w, o.text, o.n);
    set_result(c, (uint64_t)taken);
    return true;
}

// ---- assert ------------------------------------------------------------------------

// As CUDA prints it:
// file.cu:12: void kernel(int *): block: [0,0,0], thread: [3,0,0] Assertion
// `n > 0` failed.
static void print_assertion(const struct lane_call *c, char *expression,
                            size_t nexpression)
{
    char file[256] = "?", function[256] = "?", text[1024];
    uint32_t thread[3];
    const struct block *b = c->w->block;
    if (!read_string(c, argument(c, 0), expression, nexpression))
        snprintf(expression, nexpression, "?");
    read_string(c, argument(c, 1), file, sizeof file);
    read_string(c, argument(c, 3), function, sizeof function);
    thread_index(b, c->w->index * WARP_LANES + c->lane, thread);
    int n = snprintf(text, sizeof text,
                     "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] "
                     "Assertion `%s` failed.\n",
                     file, (unsigned)argument(c, 2), function, b->view.idx[0],
                     b->view.idx[1], b->view.idx[2], thread[0], thread[1],
                     thread[2], expression);
    send(c->w, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

static bool do_assert(struct lane_call *c, const struct inst *i, uint32_t mask)
{
    char expression[256] = "?";
    for (uint32_t left = mask; left; left &= left - 1) {
        c->lane = (unsigned)__builtin_ctz(left);
        print_assertion(c, expression, sizeof expression);
    }
    warp_fault(c->w, i, LAUNCH_ASSERT, (unsigned)__builtin_ctz(mask), 0,
               "assertion `%s` failed", expression);
    return false;
}

// ---- malloc, free --------------------------------------------------------------------

static bool do_free(const struct lane_call *c, const struct inst *i)
{
    const struct launch *l = c->w->block->worker->state->launch;
    uint64_t addr = argument(c, 0);
    if (addr == 0 || heap_release(l->code->heap, l->device, addr))
        return true;
    warp_fault(c->w, i, LAUNCH_ILLEGAL_ADDRESS, c->lane, addr,
               "free(%#llx): malloc has not returned this address, or it was "
               "freed before", (unsigned long long)addr);
    return false;
}

bool external_call(struct warp *w, const struct inst *i, unsigned which,
                   const struct call_site *site, const struct frame *frame)
{
    const struct launch *l = w->block->worker->state->launch;
    struct lane_call c = {w, site, frame, 0};
    bool good = true;
    if (which == EXTERNAL_ASSERT)
        return do_assert(&c, i, w->mask);
    for (uint32_t left = w->mask; left && good; left &= left - 1) {
        c.lane = (unsigned)__builtin_ctz(left);
        if (which == EXTERNAL_VPRINTF)
            good = do_printf(&c, i);
        else if (which == EXTERNAL_FREE)
            good = do_free(&c, i);
        else
            set_result(&c, heap_alloc(l->code->heap, l->memory, l->device,
                                      argument(&c, 0)));
    }
    return good;
}
