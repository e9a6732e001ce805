// Loading PTX text in a test.
#pragma once

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../../vgpu/module/module.h"
#include "../test.h"

#define PTX_HEADER ".version 9.0\n.target sm_90\n.address_size 64\n"

// Loads text for an sm_90 device; the message goes to `message`.
static inline enum module_status try_load(const char *text,
                                          struct module **module,
                                          char message[MODULE_MESSAGE])
{
    const void *images[] = {text};
    size_t nbytes[] = {strlen(text)};
    return module_load(images, nbytes, 1, 90, true, module, message);
}

// A module of the header and `text`, or a failed test.
static inline struct module *load(const char *text)
{
    char message[MODULE_MESSAGE], *whole = NULL;
    struct module *module;
    ck_assert_int_ge(asprintf(&whole, "%s%s", PTX_HEADER, text), 0);
    ck_assert_msg(try_load(whole, &module, message) == MODULE_OK, "%s",
                  message);
    free(whole);
    return module;
}

// The only operand-carrying form most tests need: instruction `i` of the
// function `name`.
static inline const struct ptx_inst *inst_of(const struct module *module,
                                             const char *name, uint32_t i)
{
    const struct ptx_func *func = module_find_func(module, name);
    ck_assert_ptr_nonnull(func);
    ck_assert_uint_lt(i, func->ninsts);
    return &func->insts[i];
}
