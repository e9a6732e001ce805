// Names and what they stand for.
//
// A spelling is interned once; each keeps a stack of the symbols so called,
// the innermost scope's on top, so that a look-up is one hash probe. Register
// ranges (`.reg .b32 %r<70>`) are one symbol under "%r"; "%r12" finds it
// through its stem, and a register gets its index when it is first used.
#include "parse.h"

#include <ctype.h>

enum { FIRST_NAMES = 1024, LONGEST_NUMBER = 8 };

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static void grow_names(struct parser *p)
{
    uint32_t capacity = p->names_capacity ? 2 * p->names_capacity : FIRST_NAMES;
    struct name **table = allocate(p, p->scratch, capacity * sizeof *table);
    for (uint32_t i = 0; i < p->names_capacity; i++) {
        struct name *name = p->names[i], *next;
        for (; name; name = next) {
            next = name->chain;
            struct name **slot = &table[name->hash & (capacity - 1)];
            name->chain = *slot;
            *slot = name;
        }
    }
    p->names = table;
    p->names_capacity = capacity;
}

struct name *intern(struct parser *p, const char *text, size_t length)
{
    if (p->nnames >= p->names_capacity)
        grow_names(p);
    uint32_t hash = hash_of(text, length);
    struct name **slot = &p->names[hash & (p->names_capacity - 1)];
    for (struct name *name = *slot; name; name = name->chain)
        if (name->hash == hash && name->length == length &&
            !memcmp(name->text, text, length))
            return name;

    struct name *name = allocate(p, p->scratch, sizeof *name);
    char *copy = allocate(p, p->module->arena, length + 1);
    memcpy(copy, text, length);
    *name = (struct name){.text = copy,
                          .length = (uint32_t)length,
                          .hash = hash,
                          .chain = *slot};
    *slot = name;
    p->nnames++;
    return name;
}

// "%r12" -> "%r" and 12; names such as "r" or "r012" have no stem.
static void split(struct parser *p, struct name *name)
{
    uint32_t stem = name->length, number = 0;
    while (stem > 0 && isdigit((unsigned char)name->text[stem - 1]))
        stem--;
    uint32_t ndigits = name->length - stem;
    const char *digits = name->text + stem;
    name->was_split = true;
    if (stem == 0 || ndigits == 0 || ndigits > LONGEST_NUMBER ||
        (digits[0] == '0' && ndigits > 1))
        return;
    for (uint32_t i = 0; i < ndigits; i++)
        number = 10 * number + (uint32_t)(digits[i] - '0');
    name->stem = intern(p, name->text, stem);
    name->number = number;
}

void scope_open(struct parser *p)
{
    if (p->depth + 1 >= MAX_SCOPES)
        fail(p, "blocks are nested too deeply");
    p->scopes[++p->depth] = (struct scope){
        .param_bytes = p->call_param_bytes,
        .first_pending = p->pending.n,
    };
}

void scope_close(struct parser *p)
{
    struct scope *scope = &p->scopes[p->depth--];
    for (struct symbol *s = scope->symbols; s; s = s->sibling) {
        if (s->is_range)
            s->name->range = s->shadowed;
        else
            s->name->symbol = s->shadowed;
    }
    p->call_param_bytes = scope->param_bytes;
}

// Program and source symbols may come after those of a function's header.
static struct symbol *add(struct parser *p, const struct token *at,
                          const struct symbol *symbol, unsigned depth)
{
    struct name *name = at->name;
    struct symbol **top = symbol->is_range ? &name->range : &name->symbol;
    while (*top && (*top)->depth > depth)
        top = &(*top)->shadowed;
    if (*top && (*top)->depth == depth)
        fail_at(p, at, "'%s' is declared twice", name->text);
    struct arena *arena = p->in_body ? p->frame : p->scratch;
    struct symbol *copy = allocate(p, arena, sizeof *copy);
    *copy = *symbol;
    copy->depth = depth;
    copy->name = name;
    copy->shadowed = *top;
    copy->sibling = p->scopes[depth].symbols;
    p->scopes[depth].symbols = copy;
    *top = copy;
    return copy;
}

struct symbol *symbol_add(struct parser *p, const struct token *at,
                          enum symbol_kind kind, uint32_t index,
                          unsigned depth)
{
    return add(p, at, &(struct symbol){.kind = kind, .index = index}, depth);
}

struct symbol *symbol_find(const struct name *name, unsigned depth)
{
    struct symbol *symbol = name->symbol;
    while (symbol && symbol->depth > depth)
        symbol = symbol->shadowed;
    return symbol;
}

struct symbol *symbol_add_regs(struct parser *p, const struct token *at,
                               enum ptx_type type, bool is_range,
                               uint32_t count)
{
    return add(p, at, &(struct symbol){.kind = SYMBOL_REGS,
                                       .type = type,
                                       .is_range = is_range,
                                       .count = count},
               p->depth);
}

static uint32_t use_register(struct parser *p, struct symbol *symbol,
                             uint32_t number, struct name *name)
{
    if (!symbol->regs)
        symbol->regs =
            allocate(p, p->frame, symbol->count * sizeof *symbol->regs);
    if (!symbol->regs[number]) {
        *vector_push(p, &p->regs) =
            (struct ptx_reg){.name = name->text, .type = symbol->type};
        symbol->regs[number] = p->regs.n;
    }
    return symbol->regs[number] - 1;
}

bool find_register(struct parser *p, struct name *name, uint32_t *reg)
{
    if (!name->was_split)
        split(p, name);
    struct symbol *exact = name->symbol;
    struct symbol *range = name->stem ? name->stem->range : NULL;
    if (range && name->number < range->count &&
        (!exact || range->depth > exact->depth)) {
        *reg = use_register(p, range, name->number, name);
        return true;
    }
    if (exact && exact->kind == SYMBOL_REGS) {
        *reg = use_register(p, exact, 0, name);
        return true;
    }
    return false;
}
