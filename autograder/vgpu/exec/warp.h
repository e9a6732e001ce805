// The executor's inside: decoded instructions, warps, and what a handler sees.
//
// A register is a row: 32 lanes side by side, 128 bytes for a value of up to
// 32 bits, 256 bytes for one of 64. Immediates, addresses of variables and
// special registers are rows as well, so that a handler never asks what its
// operand is. All rows of a function lie in one frame; an operand is the byte
// offset of its row in the frame.
//
//   frame  | scratch | specials | constants | registers |
//
// How values lie in a row:
//   .pred          32 words, each 0 or 0xffffffff, nothing else
//   8 and 16 bits  32 words; the upper bits are unspecified: readers truncate
//   32 bits        32 words        64 bits   32 double words
#pragma once

#include <stddef.h>

#include "exec.h"

enum { WARP_LANES = 32, ROW_BYTES = 128, WIDE_ROW_BYTES = 256 };
#define ALL_LANES UINT32_C(0xffffffff)

struct warp;
struct inst;
struct block;
struct worker;

// Executes one instruction and returns the one to go on with, or NULL when
// the path cannot go on now (it blocked, ended or faulted: see control.h).
// The operands of `inst` were checked when it was decoded.
typedef const struct inst *handler(struct warp *, const struct inst *);

// Bits of inst.flags for arithmetic and conversions.
enum {
    F_FTZ = 1 << 0,
    F_SAT = 1 << 1,
    F_ROUND = 7 << 2,    // see enum rounding
    F_INTEGRAL = 1 << 5, // .rni .rzi .rmi .rpi: the rounding is to an integer
    F_RELU = 1 << 6,
    F_NAN = 1 << 7,      // .NaN of min and max
    F_XORSIGN = 1 << 8,  // .xorsign.abs
    F_SATFINITE = 1 << 9,
    F_APPROX = 1 << 10,
    F_ABS = 1 << 11,
};
enum rounding { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP, ROUND_RNA };
static inline enum rounding flags_rounding(unsigned flags)
{
    return (enum rounding)(flags >> 2 & 7);
}

// One decoded instruction: a cache line. d, a, b, c, d2 and guard are byte
// offsets of rows in the frame. d2 is the second destination (`d|p`), a row
// nobody reads when none is written.
struct inst {
    handler *fn[2];          // [0]: all 32 lanes active; [1]: lanes of mask
    uint32_t d, a, b, c, d2;
    uint32_t guard;
    int64_t imm;             // address offset, comparison, ...: as op defines
    const struct ptx_inst *src;
    uint32_t id;             // src->id, or the sentinel of hidden ones
    uint16_t op;             // row in the opcode table
    uint16_t flags;          // F_*, or as op defines
};
_Static_assert(sizeof(struct inst) == 64, "one cache line");

// What a handler may use of a warp. Everything else: see control.h.
struct warp {
    uint8_t *frame;           // rows of the running function
    uint32_t mask;            // lanes that execute this instruction
    uint32_t partial;         // 0 when mask is ALL_LANES, else 1: index of fn[]
    const uint32_t *mask_row; // the same by lane: 0 or 0xffffffff
    struct warp_state *state; // control.h
};

static inline void *warp_row(const struct warp *w, uint32_t offset)
{
    return w->frame + offset;
}

// ---- the opcode table ------------------------------------------------------

// Pipes of the time model, as struct launch_work names them.
enum pipe { PIPE_INT, PIPE_FP32, PIPE_FP64, PIPE_SFU, PIPE_LSU, PIPE_BRANCH,
            PIPE_TENSOR, PIPE_OTHER };

struct op {
    const char *pattern;   // "add.s32": the modifiers that must be there
    const char *options;   // "sat ftz": modifiers that may be there
    const char *signature; // a letter an operand, see opcodes.def
    const char *section;   // of the PTX ISA 9.0
    enum pipe pipe;
    handler *fn[2];
};

// Two builds of the handlers; code_new takes the one that this CPU can run.
extern const struct op ops_base[];
extern const struct op ops_avx2[];
