// The executor's inside: decoded instructions, warps, and what a handler sees.
//
// A register is a row: 32 lanes side by side, 128 bytes for a value of up to
// 32 bits, 256 bytes for one of 64. Immediates, addresses of variables and
// special registers are rows as well, so that a handler never asks what its
// operand is. All rows of a function lie in one frame; an operand is the byte
// offset of its row in the frame.
//
//   frame  | scratch | registers | constants, specials, temporaries |
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
struct warp_control;

// Executes one instruction and returns the one to go on with, or NULL when
// the path cannot go on now (it blocked, ended or faulted: see warp->stop).
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

// One decoded instruction: a cache line. d, a, b, c, e and d2 are byte offsets
// of rows in the frame: d the destination, a, b, c, e the sources, d2 the
// second destination (`d|p`), a row that nobody reads when there is none.
struct inst {
    handler *fn[2];          // [0]: all 32 lanes active; [1]: lanes of mask
    uint32_t d, a, b, c, e, d2;
    int64_t imm;             // address offset, comparison, ...: as op defines
    const struct ptx_inst *src;
    uint32_t id;             // src->id, or the sentinel of hidden ones
    uint16_t op;             // row in the opcode table
    uint16_t flags;          // F_*, or as op defines
};
_Static_assert(sizeof(struct inst) == 64, "one cache line");

// Reports why a path stopped, to the loop in warp.c.
enum stop { STOP_NONE, STOP_PATH, STOP_SPIN, STOP_SWITCH, STOP_FAULT };

// What a handler sees of its warp. Paths, joins and barriers: control.h.
struct warp {
    uint8_t *frame;           // rows of the running function
    uint32_t mask;            // lanes that execute this instruction
    uint32_t partial;         // 0 when mask is ALL_LANES, else 1: index of fn[]
    const uint32_t *mask_row; // the same by lane: 0 or 0xffffffff

    // Counted by the loop: active lanes in the low half, lanes that a branch
    // has switched off in the high half; hidden instructions are taken back.
    uint64_t tally;
    uint64_t hidden, hidden_tally, guarded_off;
    uint64_t left;            // instructions until the loop ends
    struct count *counts;     // by inst.id, or NULL

    // Memory (access.c).
    struct extent *extents;   // the worker's, see extent_of
    uint8_t *shared, *local;
    uint32_t shared_bytes, local_bytes; // local: a lane's
    const uint8_t *params;    // of the kernel
    uint32_t param_bytes;
    uint32_t past_barrier;    // lanes that went past one that others wait at
    bool watched;             // launch->watcher has an access callback
    bool shares_memory;       // with warps on other host threads
    bool switches;            // let another warp run after a memory operation
    bool polled;              // read what another thread may change, see spin
    uint32_t spins;           // back-edges since, without any progress
    uint32_t long_spins;      // back-edges since anything else happened

    enum stop stop;
    struct block *block;
    struct worker *worker;
    struct warp_control *control;
    uint32_t index;           // in the block
};

struct count {
    uint64_t warps, lanes;
};

// Mapped memory that an instruction reached last: most reach one allocation
// only, while a kernel's instructions go from one to the next.
struct extent {
    uint64_t lo, hi;
};
enum { EXTENTS = 64 };
static inline struct extent *extent_of(const struct warp *w,
                                       const struct inst *i)
{
    return &w->extents[i->id % EXTENTS];
}

static inline void *warp_row(const struct warp *w, uint32_t offset)
{
    return w->frame + offset;
}

// The lanes in which a predicate row is true.
static inline uint32_t row_bits(const uint32_t *row)
{
    static const uint32_t bit[WARP_LANES] = {
        1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,
        1u << 7,  1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13,
        1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20,
        1u << 21, 1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27,
        1u << 28, 1u << 29, 1u << 30, 1u << 31};
    uint32_t bits = 0;
    for (unsigned l = 0; l < WARP_LANES; l++)
        bits |= row[l] & bit[l];
    return bits;
}

static inline void bits_row(uint32_t *row, uint32_t bits)
{
    for (unsigned l = 0; l < WARP_LANES; l++)
        row[l] = -(bits >> l & 1);
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
