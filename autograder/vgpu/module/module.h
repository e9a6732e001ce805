// A CUDA module: from the fatbin a program carries to kernels ready to decode.
//
//   fatbin.c       find and unpack the PTX for a device
//   cubin.c        registers a thread, from the machine code beside it
//   lex.c          PTX text -> tokens
//   names.c        names, scopes, registers
//   parse.c        sources, functions, bodies
//   declare.c      variables and parameters; initial.c their values
//   instruction.c  instructions and operands
//   debug.c        source positions
//   link.c         several PTX sources of one program (-rdc) -> one module
//   flow.c         where the paths of a branch meet again
//   module.c       the entry points
//
// Nothing here knows what an instruction does: the opcode table of exec/ does.
// Everything of a module lives in one arena and is read-only once loaded.
// The input is untrusted: no input may crash, hang, or exhaust the host.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

// ---- types ------------------------------------------------------------

enum ptx_type {
    PTX_NONE,
    PTX_PRED,
    PTX_B8, PTX_B16, PTX_B32, PTX_B64, PTX_B128,
    PTX_U8, PTX_U16, PTX_U32, PTX_U64,
    PTX_S8, PTX_S16, PTX_S32, PTX_S64,
    PTX_F16, PTX_F16X2, PTX_BF16, PTX_BF16X2, PTX_TF32, PTX_F32, PTX_F64,
};

// Size in bytes of one value; 0 for PTX_NONE and PTX_PRED.
unsigned ptx_type_size(enum ptx_type type);

enum ptx_space {
    SPACE_GENERIC, SPACE_REG, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL,
    SPACE_CONST, SPACE_PARAM,
};

// ---- operands and instructions ------------------------------------------

enum operand_kind {
    OPERAND_NONE,
    OPERAND_REG,     // reg
    OPERAND_INT,     // bits: 64-bit two's complement
    OPERAND_F32,     // bits: 0f... as written (low 32 bits)
    OPERAND_F64,     // bits: 0d... or a decimal literal, as a double
    OPERAND_SPECIAL, // %tid.x, %laneid, WARP_SZ...: text
    OPERAND_SYMBOL,  // address of variable var, plus bits
    OPERAND_FUNC,    // address of function func
    OPERAND_LABEL,   // instruction index in the same function: target
    OPERAND_MEMORY,  // [base + bits]: base is mem_base, REG or SYMBOL or PARAM;
                     // [base, more...]: count more from first = reg2 in the pool
    OPERAND_PARAM,   // params[index], or past them call_params[index - nparams]
    OPERAND_VECTOR,  // {a, b, c, d}: first/count in func->operand_pool
    OPERAND_LIST,    // (p0, p1): first/count in func->operand_pool
    OPERAND_SINK,    // _
    OPERAND_TABLE,   // .branchtargets and the like: index in func->tables
    OPERAND_NAME,    // anything else that is a bare word: text
};

struct operand {
    uint8_t kind;      // enum operand_kind
    uint8_t mem_base;  // OPERAND_MEMORY: REG, SYMBOL, PARAM or INT
    bool negated;      // !p, or -x before a register
    bool has_second;   // d|p: the second register stands in reg2
    uint32_t reg;      // index in func->regs
    uint32_t reg2;
    uint32_t index;    // var, func, param, label target, or first in the pool
    uint32_t count;    // VECTOR, LIST
    int64_t bits;      // literal, or byte offset
    const char *text;  // SPECIAL, NAME
};

enum { PTX_MAX_OPERANDS = 10, PTX_NO_GUARD = -1 };

// One PTX instruction as it was written. `opcode` is the whole dotted word
// ("ld.global.nc.v4.f32"); the opcode table splits it.
struct ptx_inst {
    const char *opcode;
    int32_t guard;        // predicate register, or PTX_NO_GUARD
    bool guard_negated;
    uint8_t noperands;
    struct operand operands[PTX_MAX_OPERANDS];
    uint32_t loc;         // index in module->locs; 0 when unknown
    uint32_t ptx_line;    // line in the PTX text
    uint32_t id;          // unique in the module, 0..module->ninsts-1
    // flow.c: for a branch, where its paths meet again (an instruction index,
    // func->ninsts when only at the function's end).
    uint32_t reconverge;
};

// A source position; inlined code points at its caller, outwards.
struct ptx_loc {
    uint32_t file;        // index in module->files
    uint32_t line, column;
    uint32_t inlined_at;  // index in module->locs; 0 when outermost
};

// ---- variables, functions, modules --------------------------------------

struct ptx_reg {
    const char *name;
    enum ptx_type type;
};

// A variable of global, const, shared or local space, or a parameter.
struct ptx_var {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;      // of one element
    uint32_t align;
    uint64_t nbytes;         // 0: an extern array of unknown size
    uint64_t offset;         // in its parameter block, shared or local frame
    bool is_extern, is_weak, is_managed;
    const void *init;        // nbytes of initial value, or NULL for zeros
    struct ptx_fixup *fixups; // addresses inside init
    uint32_t nfixups;
};

// An initial value that is the address of something (`= generic(table)`).
struct ptx_fixup {
    uint64_t offset;         // in init
    bool is_func, generic;
    uint8_t nbytes, shift;   // store nbytes of (address + addend) >> shift
    uint32_t index;          // in module->vars or module->funcs
    int64_t addend;
};

struct ptx_func {
    const char *name;
    bool is_entry, is_extern, noreturn;
    struct ptx_reg *regs;
    uint32_t nregs;
    struct ptx_var *params;  // inputs; for functions, see nresults
    uint32_t nparams;
    uint32_t nresults;       // the first nresults of params are results
    uint32_t param_bytes;    // of the parameter block, results included
    struct ptx_var *call_params; // .param declared inside the body
    uint32_t ncall_params;
    uint32_t call_param_bytes;   // frame of call_params
    uint64_t local_bytes;    // frame of .local variables, per thread
    uint64_t shared_bytes;   // entry: static shared memory, callees included;
                             // .extern .shared arrays start after it, at
                             // the module's extern_shared_align
    struct ptx_inst *insts;
    uint32_t ninsts;
    struct operand *operand_pool;
    uint32_t npool;
    // Prototypes and tables of labels (.branchtargets, .calltargets).
    struct ptx_table *tables;
    uint32_t ntables;
    // Launch bounds; 0 where not given.
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg;
    // Registers a thread: from the cubin when one travels along, else -1.
    int32_t cubin_regs;
    uint32_t first_loc;      // of the function's own line
};

struct ptx_table {
    const char *name;
    bool is_calls;           // .calltargets, else .branchtargets
    uint32_t *targets;       // instruction or function indices
    uint32_t ntargets;       // 0: .callprototype
};

struct module {
    struct arena *arena;
    unsigned capability;     // of the PTX chosen: 90 for sm_90
    bool arch_specific;      // an 'a' target
    const char **files;      // [0] is "?"
    uint32_t nfiles;
    struct ptx_loc *locs;    // [0] is "unknown"
    uint32_t nlocs;
    struct ptx_var *vars;    // module scope, all spaces
    uint32_t nvars;
    struct ptx_func *funcs;
    uint32_t nfuncs;
    uint32_t *var_order, *func_order; // by name, for module_find_*
    uint32_t ninsts;         // over all functions
    uint64_t extern_shared_align;
};

enum module_status {
    MODULE_OK,
    MODULE_NO_IMAGE,   // no PTX for this device: cudaErrorNoKernelImageForDevice
    MODULE_BAD_IMAGE,  // not a fatbin, or truncated: cudaErrorInvalidKernelImage
    MODULE_BAD_PTX,    // message names line and token: cudaErrorInvalidPtx
    MODULE_NO_MEMORY,
};

enum { MODULE_MESSAGE = 1024 };

// Loads one program unit. `images`: one or more fatbin regions (magic
// 0xBA55ED50; more than one when compiled with -rdc), or plain PTX text.
// `capability`: the device's, 90 for sm_90; `arch_specific` whether it runs
// sm_90a code. message: MODULE_MESSAGE bytes, filled on failure.
enum module_status module_load(const void *const *images,
                               const size_t *nbytes, size_t nimages,
                               unsigned capability, bool arch_specific,
                               struct module **out, char *message);
void module_free(struct module *module);

const struct ptx_func *module_find_func(const struct module *, const char *name);
const struct ptx_var *module_find_var(const struct module *, const char *name);
