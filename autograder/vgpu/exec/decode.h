// Between decode.c and the decoders of families, decode_*.c.
#pragma once

#include "control.h"

enum { BAD_ROW = 0xffffffff, FOUND_ROWS = 512 };

struct found_row {
    const char *opcode;
    int row;
    uint16_t flags;
};

struct builder {
    struct code *code;
    struct function *f;
    const struct ptx_func *src;
    uint32_t cap_insts, cap_constants, cap_specials, cap_calls;
    uint32_t *reg_row;       // by register; 0: none yet
    uint8_t *joins;          // by ptx instruction: paths meet here
    uint32_t carry_row;      // CC.CF, 0: none yet
    bool bad;                // an operand does not fit the instruction
    struct found_row *found; // FOUND_ROWS of them, by opcode
};

// A decoder fills `out`, whose fn, op, flags, src and id are set, from the
// operands of out->src. NOT_MINE: try the next row that matches the opcode.
enum decoded { DECODED, MALFORMED, NOT_MINE };
typedef enum decoded decoder(struct builder *, struct inst *out);
decoder *decoder_find(const char *name); // of "*name" signatures
decoder decode_ld, decode_st, decode_atom, decode_red; // decode_memory.c
decoder decode_bra, decode_brx, decode_call, decode_bar, decode_bar_red,
    decode_sync, decode_none, decode_nothing; // decode_control.c

// The row for an operand of the kind that `letter` says; BAD_ROW sets bad.
uint32_t row_of(struct builder *, const struct operand *, char letter);
// A register's second (d|p), or the scratch row.
uint32_t second_row(struct builder *, const struct operand *, char letter);
uint32_t constant_row(struct builder *, enum constant_kind, uint32_t index,
                      uint64_t bits, bool wide);
uint32_t new_row(struct builder *, bool wide);
// The signature's rows, from operand `first` on.
bool decode_rows(struct builder *, struct inst *out, const char *signature);
struct inst *emit_hidden(struct builder *, handler *fn);
struct inst *emit(struct builder *, const struct inst *);

bool letter_is_wide(char letter);
unsigned reg_size(const struct builder *, uint32_t reg);
void *grow(void *array, uint32_t n, uint32_t *cap, size_t size);

// Hidden instructions, fillers and those that are resolved late, control.c.
extern handler join_paths, guard_next, guard_branch, read_special, negate_row,
    unsupported, malformed, bra, brx, call, ret;
enum { BRANCH_GUARDED = 1, BRANCH_NEGATED = 2, BRANCH_RESOLVED = 4,
       BRANCH_BACK = 8 };
enum { NO_JOIN = 0 }; // inst.c of a branch: its paths meet at the end only
