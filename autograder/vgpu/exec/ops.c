// The opcode table, once for each build of the handlers.
#include "lanes.h"

#define OP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)                   \
    DECLARE_HANDLER(NAME)
#define OP_WARP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME) handler NAME;
#include "opcodes.def"
#undef OP
#undef OP_WARP

const struct op OPS[] = {
#define OP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)                   \
    {PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE_##PIPE,                        \
     {FORM(NAME, full), FORM(NAME, some)}},
#define OP_WARP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)              \
    {PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE_##PIPE, {NAME, NAME}},
#include "opcodes.def"
#undef OP
#undef OP_WARP
    {NULL, NULL, NULL, NULL, PIPE_OTHER, {NULL, NULL}},
};
