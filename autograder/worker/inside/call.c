// Calls a C function whose type is known only as a list of kinds.
#include <dlfcn.h>
#include <ffi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../session.h"
#include "worker.h"

union value {
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
    void *pointer;
};

struct prepared {
    void (*function)(void);
    enum return_kind returns;
    ffi_cif cif;
    ffi_type *types[PROTOCOL_ARGS];
    union value values[PROTOCOL_ARGS];
    void *pointers[PROTOCOL_ARGS];
};

static ffi_type *return_type(enum return_kind kind)
{
    switch (kind) {
    case RETURN_I32:
        return &ffi_type_sint32;
    case RETURN_I64:
        return &ffi_type_sint64;
    case RETURN_F32:
        return &ffi_type_float;
    case RETURN_F64:
        return &ffi_type_double;
    default:
        return &ffi_type_void;
    }
}

// Sets one argument's type and value; false: no such buffer.
static bool set_arg(struct prepared *p, unsigned i, const struct wire_arg *a,
                    const struct mapping *mappings)
{
    union value *v = &p->values[i];
    double f;
    memcpy(&f, &a->value, sizeof f);
    switch (a->kind) {
    case ARG_I32:
        p->types[i] = &ffi_type_sint32, v->i32 = (int32_t)a->value;
        break;
    case ARG_U32:
        p->types[i] = &ffi_type_uint32, v->u32 = (uint32_t)a->value;
        break;
    case ARG_I64:
        p->types[i] = &ffi_type_sint64, v->i64 = (int64_t)a->value;
        break;
    case ARG_U64:
        p->types[i] = &ffi_type_uint64, v->u64 = a->value;
        break;
    case ARG_F32:
        p->types[i] = &ffi_type_float, v->f32 = (float)f;
        break;
    case ARG_F64:
        p->types[i] = &ffi_type_double, v->f64 = f;
        break;
    case ARG_NULL:
        p->types[i] = &ffi_type_pointer, v->pointer = NULL;
        break;
    default:
        if (a->buffer >= PROTOCOL_BUFFERS ||
            mappings[a->buffer].kind == MAPPING_NONE)
            return false;
        p->types[i] = &ffi_type_pointer;
        v->pointer = mappings[a->buffer].address + a->value;
    }
    return true;
}

struct prepared *call_prepare(void *library, const struct wire_call *c,
                              const struct mapping *mappings,
                              struct reply *reply)
{
    reply->status = REPLY_FAILED;
    if (c->nargs > PROTOCOL_ARGS ||
        !memchr(c->symbol, '\0', sizeof c->symbol))
        return NULL;
    struct prepared *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *(void **)&p->function = dlsym(library, c->symbol);
    if (!p->function) {
        reply->status = REPLY_NO_SYMBOL;
        snprintf(reply->text, sizeof reply->text,
                 "there is no function %s in it", c->symbol);
        goto fail;
    }
    p->returns = (enum return_kind)c->returns;
    for (unsigned i = 0; i < c->nargs; i++) {
        p->pointers[i] = &p->values[i];
        if (!set_arg(p, i, &c->args[i], mappings))
            goto fail;
    }
    if (ffi_prep_cif(&p->cif, FFI_DEFAULT_ABI, c->nargs,
                     return_type(p->returns), p->types) != FFI_OK)
        goto fail;
    reply->status = REPLY_OK;
    return p;
fail:
    free(p);
    return NULL;
}

void call_free(struct prepared *p)
{
    free(p);
}

void call_run(struct prepared *p, struct reply *reply)
{
    union { // libffi widens small integers to a whole register
        ffi_arg word;
        int64_t i64;
        float f32;
        double f64;
    } result;
    memset(&result, 0, sizeof result);
    ffi_call(&p->cif, p->function, &result, p->pointers);
    switch (p->returns) {
    case RETURN_I32:
        reply->i = (int32_t)result.word;
        break;
    case RETURN_I64:
        reply->i = result.i64;
        break;
    case RETURN_F32:
        reply->f = (double)result.f32;
        break;
    case RETURN_F64:
        reply->f = result.f64;
        break;
    default:
        break;
    }
}
