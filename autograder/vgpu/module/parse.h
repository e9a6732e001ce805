// The parser's own: what lex.c, names.c, parse.c, declare.c, instruction.c,
// debug.c, link.c and flow.c share. Nothing outside module/ sees it.
//
// Errors leave by longjmp to module_load(), which frees the arenas; nothing
// that is allocated while parsing is owned by anything else.
#pragma once

#include <setjmp.h>
#include <string.h>

#include "arena.h"
#include "module.h"

enum {
    MAX_SCOPES = 64,          // nested {}
    MAX_NESTING = 16,         // nested operands, initialisers
    MAX_REGISTERS = 1 << 20,  // a .reg declaration
    MAX_VECTOR = 1 << 28,     // elements of any list
    MAX_PARAM_BYTES = 1 << 20,
};
#define MAX_VARIABLE_BYTES (UINT64_C(1) << 40)
#define NOT_YET            UINT32_MAX

struct parser;
struct name;
struct symbol;

// ---- lex.c ----------------------------------------------------------------

enum token_kind {
    TOKEN_END,
    TOKEN_WORD,      // an opcode, a name, %tid.x: whole, with its dots
    TOKEN_DIRECTIVE, // .reg
    TOKEN_INT, TOKEN_F32, TOKEN_F64,
    TOKEN_STRING,
    TOKEN_PUNCT,     // one character
};

struct token {
    enum token_kind kind;
    uint32_t line;
    const char *at;
    uint32_t length;
    int64_t bits;       // of a literal
    struct name *name;  // of a word
};

struct lexer {
    const char *text, *end; // *end is NUL
    const char *next;
    uint32_t line;
    struct token token;     // the current one
};

void lex_begin(struct parser *, const char *text, size_t nbytes);
void lex_advance(struct parser *);

// Whether the current token is this punctuation, directive or word.
bool at_punct(const struct parser *, char c);
bool at_directive(const struct parser *, const char *directive);
bool at_word(const struct parser *, const char *word);
// As above, and goes past it if it is.
bool accept_punct(struct parser *, char c);
bool accept_directive(struct parser *, const char *directive);
// As above, and fails if it is not.
void expect_punct(struct parser *, char c);
struct token expect_word(struct parser *);
uint64_t expect_unsigned(struct parser *, uint64_t largest);
// + n, - n, +-n, or nothing: 0.
int64_t parse_offset(struct parser *);

// Passes over a directive that means nothing here, with what belongs to it.
void skip_directive(struct parser *);
// Passes over a balanced (), [] or {} at the current token; the line it ends
// on.
uint32_t skip_balanced(struct parser *);

// ---- names.c: interned names, symbols, scopes -------------------------------

enum symbol_kind {
    SYMBOL_REGS,   // name, or name<count>: registers
    SYMBOL_VAR, SYMBOL_FUNC, SYMBOL_PARAM, SYMBOL_LABEL, SYMBOL_TABLE,
};

struct symbol {
    enum symbol_kind kind;
    unsigned depth;          // of its scope
    struct name *name;
    struct symbol *shadowed; // the same name, further out
    struct symbol *sibling;  // the scope's next symbol
    uint32_t index;          // VAR, FUNC, PARAM, LABEL, TABLE
    enum ptx_type type;      // REGS
    bool is_range;
    uint32_t count;
    uint32_t *regs;          // count; index + 1 in the function, 0: unused
};

// Every spelling exists once, so that names compare as pointers.
struct name {
    const char *text;
    uint32_t length, hash;
    struct name *chain;
    struct symbol *symbol;   // the innermost one so called
    struct symbol *range;    // the innermost register range so called
    struct name *stem;       // "%r" of "%r12"; NULL when not such a name
    uint32_t number;         // 12
    bool was_split;
};

struct scope {
    struct symbol *symbols;
    uint32_t param_bytes;    // call parameters laid out when it began
    uint32_t first_pending;
};

struct name *intern(struct parser *, const char *text, size_t length);
void scope_open(struct parser *);
void scope_close(struct parser *);
// Adds a symbol to the scope; fails if that has one of the name.
struct symbol *symbol_add(struct parser *, const struct token *at,
                          enum symbol_kind, uint32_t index, unsigned depth);
// The innermost symbol so called that is no deeper than `depth`, or NULL.
struct symbol *symbol_find(const struct name *, unsigned depth);
struct symbol *symbol_add_regs(struct parser *, const struct token *at,
                               enum ptx_type, bool is_range, uint32_t count);
// The register so called, made on first use; false when there is none.
bool find_register(struct parser *, struct name *, uint32_t *reg);

// ---- the parser's state -----------------------------------------------------

#define VECTOR(TYPE)                                                           \
    struct {                                                                   \
        TYPE *at;                                                              \
        uint32_t n, capacity;                                                  \
    }

// The address of a new, zeroed last element.
#define vector_push(p, vector)                                                 \
    ((vector)->n < (vector)->capacity                                          \
         ? (void)0                                                             \
         : (void)((vector)->at = vector_grow((p), (vector)->at, (vector)->n,   \
                                             &(vector)->capacity,              \
                                             sizeof *(vector)->at)),           \
     memset(&(vector)->at[(vector)->n], 0, sizeof *(vector)->at),              \
     &(vector)->at[(vector)->n++])

void *vector_grow(struct parser *, void *at, uint32_t n, uint32_t *capacity,
                  size_t size);

// A copy in the module, of the vector's elements; NULL when it has none.
#define vector_keep(p, vector)                                                 \
    keep((p), (vector)->at, (vector)->n * sizeof *(vector)->at)

// A word that may be a label further down.
struct pending {
    struct token at;
    bool in_table;
    uint32_t owner;    // instruction, or table
    uint32_t position; // operand, or target
};

// A function as it is known so far.
struct func_state {
    bool defined, weak;
    unsigned unit;     // the last source that named it
    uint32_t forward;  // the function it stands for; itself as a rule
};

struct var_state {
    bool defined, weak;
    unsigned unit;
    uint32_t forward;
};

struct file_number {
    uint32_t number, index; // in .loc; in module->files
};

struct parser {
    struct module *module;
    struct arena *scratch;   // until the module is loaded
    struct arena *frame;     // until the end of the function
    unsigned capability;     // the device's
    bool arch_specific;
    jmp_buf failed;
    enum module_status status;
    char *message;

    struct lexer lex;
    unsigned unit, nunits;   // which source of how many

    struct name **names;     // hash table, a power of two
    uint32_t nnames, names_capacity;
    struct scope scopes[MAX_SCOPES];
    unsigned depth;          // open scopes; 0: program, 1: source

    VECTOR(struct ptx_func) funcs;
    VECTOR(struct func_state) func_states;
    VECTOR(struct ptx_var) vars;
    VECTOR(struct var_state) var_states;
    VECTOR(const char *) files;
    VECTOR(struct ptx_loc) locs;
    uint32_t *loc_table;     // hash of (file, line, column) -> last loc
    uint32_t loc_capacity;
    VECTOR(struct file_number) file_numbers; // this source's
    uint32_t first_loc;      // this source's

    // The function being parsed.
    VECTOR(struct ptx_reg) regs;
    VECTOR(struct ptx_var) params;
    VECTOR(struct ptx_var) call_params;
    VECTOR(struct ptx_inst) insts;
    VECTOR(struct operand) pool;
    VECTOR(struct operand) stack; // elements of unfinished lists
    VECTOR(struct ptx_table) tables;
    VECTOR(struct pending) pending;
    uint32_t param_bytes, call_param_bytes, max_call_param_bytes;
    uint64_t local_bytes;
    uint32_t loc;            // the current one
    bool in_body;
};

_Noreturn void fail_at(struct parser *, const struct token *,
                       const char *format, ...)
    __attribute__((format(printf, 3, 4)));
_Noreturn void fail(struct parser *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
_Noreturn void fail_memory(struct parser *);

// Zeroed memory of the arena; fails when it is used up.
void *allocate(struct parser *, struct arena *, size_t nbytes);
void *keep(struct parser *, const void *bytes, size_t nbytes);

// ---- parse.c: a source, its functions and their bodies ----------------------

void parse_source(struct parser *, const char *text, size_t nbytes);

// ---- declare.c: variables, parameters, registers ----------------------------

struct linkage {
    bool is_extern, visible, weak, common;
};

bool parse_type(struct parser *, enum ptx_type *);
// At .global, .const, .shared or .local.
bool at_space(const struct parser *);
void parse_variables(struct parser *, struct linkage);
void parse_registers(struct parser *);      // at .reg
void parse_call_params(struct parser *);    // at .param, in a body
// (.param ..., ...): appended to p->params; the number of them.
uint32_t parse_params(struct parser *);

// initial.c: the value after `=`.
void parse_initial(struct parser *, struct ptx_var *, bool unsized);

// ---- instruction.c -----------------------------------------------------------

void parse_instruction(struct parser *);
// .branchtargets, .calltargets or .callprototype after `name:`
void parse_table(struct parser *, const struct token *name);
void resolve_pending(struct parser *, uint32_t first, bool at_end);

// ---- debug.c ------------------------------------------------------------------

void debug_begin(struct parser *);
void parse_loc(struct parser *);
void parse_file(struct parser *);
void parse_section(struct parser *);
void debug_end(struct parser *);            // .file may follow its .loc

// ---- link.c --------------------------------------------------------------------

// The function or variable so named; joins a declaration with what other
// sources say of it. Entries and what has a linkage are the program's, all
// else is its source's.
uint32_t link_func(struct parser *, const struct token *name, bool is_global);
// Takes a parsed body, unless the function has one that goes before it.
void link_body(struct parser *, const struct token *name, uint32_t index,
               const struct ptx_func *, bool weak);
void link_var(struct parser *, const struct token *name, struct linkage,
              const struct ptx_var *);
void link_alias(struct parser *, const struct token *alias,
                const struct token *target);
// Resolves names across sources and fills the module.
void link_finish(struct parser *);

// ---- shared.c: where shared variables stand ------------------------------------

bool is_opcode(const struct ptx_inst *, const char *base); // "call"
void shared_layout(struct parser *);

// ---- flow.c --------------------------------------------------------------------

// Fills ptx_inst.reconverge of every branch.
void flow_analyse(struct parser *, struct ptx_func *);
