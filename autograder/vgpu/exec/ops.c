// The opcode table, once for each build of the handlers.
#include "lanes.h"

#define OP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)                   \
    DECLARE_HANDLER(NAME)
#include "opcodes.def"
#undef OP

const struct op OPS[] = {
#define OP(PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE, NAME)                   \
    {PATTERN, OPTIONS, SIGNATURE, SECTION, PIPE_##PIPE,                        \
     {FORM(NAME, full), FORM(NAME, some)}},
#include "opcodes.def"
#undef OP
    {NULL, NULL, NULL, NULL, PIPE_OTHER, {NULL, NULL}},
};
