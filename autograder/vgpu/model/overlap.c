#include "overlap.h"

#include <stdlib.h>
#include <string.h>

struct overlap {
    uint32_t n;
    bool *starts;        // an instruction: a load that begins a round
    uint16_t *cycles;    // by which it makes the region's critical path longer
};

// ---- what an instruction is --------------------------------------------------

enum class {
    CLASS_FREE,     // ptxas makes it go away: mov, cvta, ld.param
    CLASS_ALU, CLASS_FP64, CLASS_SFU, CLASS_SHARED,
    CLASS_LOAD, CLASS_STORE, CLASS_BRANCH, CLASS_BARRIER,
};

// Cycles until the result can be used: measured on an H200 (chains of one
// kind); loads of global memory are counted in rounds instead.
static const uint8_t LATENCY[] = {
    [CLASS_FREE] = 0, [CLASS_ALU] = 4, [CLASS_FP64] = 8, [CLASS_SFU] = 18,
    [CLASS_SHARED] = 23, [CLASS_LOAD] = 0, [CLASS_STORE] = 0,
    [CLASS_BRANCH] = 0, [CLASS_BARRIER] = 30,
};

static bool starts_with(const char *text, const char *head)
{
    return strncmp(text, head, strlen(head)) == 0;
}

static bool starts_with_any(const char *text, const char *const *heads)
{
    for (; *heads; heads++)
        if (starts_with(text, *heads))
            return true;
    return false;
}

// ld and atom: by the space that answers.
static enum class class_of_load(const char *opcode)
{
    if (strstr(opcode, ".param") || strstr(opcode, ".const"))
        return CLASS_FREE;
    if (strstr(opcode, ".shared") || strstr(opcode, ".local"))
        return CLASS_SHARED;
    return CLASS_LOAD;
}

static enum class class_of(const struct ptx_inst *inst)
{
    static const char *const FREE[] = {"mov.", "cvta", "pragma", NULL};
    static const char *const BRANCH[] = {"bra", "brx", "ret", "exit", "call",
                                         "trap", NULL};
    static const char *const BARRIER[] = {"bar.", "barrier", "cp.async.wait",
                                          "mbarrier", "membar", "fence", NULL};
    static const char *const SFU[] = {"sin.", "cos.", "ex2.", "lg2.", "rcp.",
                                      "rsqrt.", "sqrt.", "div.", "tanh.", NULL};
    const char *op = inst->opcode;
    if (starts_with_any(op, FREE))
        return CLASS_FREE;
    if (starts_with(op, "ld") || starts_with(op, "atom"))
        return class_of_load(op);
    if (starts_with(op, "st.") || starts_with(op, "red."))
        return strstr(op, ".shared") ? CLASS_ALU : CLASS_STORE;
    if (starts_with_any(op, BRANCH))
        return CLASS_BRANCH;
    if (starts_with_any(op, BARRIER))
        return CLASS_BARRIER;
    if (starts_with(op, "shfl") || starts_with(op, "vote"))
        return CLASS_SHARED;
    if (starts_with_any(op, SFU))
        return CLASS_SFU;
    return strstr(op, ".f64") ? CLASS_FP64 : CLASS_ALU;
}

// ---- a walk over the function ---------------------------------------------------

// When a register's value is there: after so many rounds of loads, and at
// which cycle of the region besides.
struct value {
    uint32_t region;     // else it was there before the region began
    uint32_t depth, ready;
};

struct walk {
    const struct ptx_func *func;
    struct overlap *out;
    struct value *values;    // by register
    uint8_t *edge;           // by instruction: where blocks and regions begin
    uint32_t region;
    uint32_t rounds, finish; // of the region so far
    uint32_t issued;         // instructions, hence cycles at least
    uint32_t floor;          // rounds that later loads wait for
    uint32_t store_floor;    // those that loads behind a store wait for
    uint32_t consumed;       // rounds that this block has used values of
};

enum { EDGE_NONE, EDGE_BLOCK, EDGE_LOOP };

static void set_edge(struct walk *w, uint64_t at, uint8_t edge)
{
    if (at < w->func->ninsts && w->edge[at] < edge)
        w->edge[at] = edge;
}

// A backward branch begins a region at its target and another behind it.
static void find_edges(struct walk *w)
{
    for (uint32_t i = 0; i < w->func->ninsts; i++) {
        const struct ptx_inst *inst = &w->func->insts[i];
        if (class_of(inst) != CLASS_BRANCH)
            continue;
        set_edge(w, (uint64_t)i + 1, EDGE_BLOCK);
        const struct operand *target = &inst->operands[0];
        if (inst->noperands == 0 || target->kind != OPERAND_LABEL)
            continue;
        bool back = target->index <= i;
        set_edge(w, target->index, back ? EDGE_LOOP : EDGE_BLOCK);
        if (back)
            set_edge(w, (uint64_t)i + 1, EDGE_LOOP);
    }
}

static void begin_region(struct walk *w)
{
    w->region++;
    w->rounds = w->finish = w->issued = 0;
    w->floor = w->store_floor = w->consumed = 0;
}

static void cross_edge(struct walk *w, uint8_t edge)
{
    if (edge == EDGE_LOOP)
        begin_region(w);
    else if (edge == EDGE_BLOCK && w->consumed > w->floor)
        w->floor = w->consumed;
}

// ---- operands ------------------------------------------------------------------

static void need_reg(const struct walk *w, uint32_t reg, struct value *need)
{
    if (reg >= w->func->nregs || w->values[reg].region != w->region)
        return;
    const struct value *v = &w->values[reg];
    need->depth = v->depth > need->depth ? v->depth : need->depth;
    need->ready = v->ready > need->ready ? v->ready : need->ready;
}

static void give_reg(struct walk *w, uint32_t reg, struct value value)
{
    if (reg < w->func->nregs)
        w->values[reg] = value;
}

// The operand itself, or the parts of a vector or list.
static const struct operand *parts_of(const struct walk *w,
                                      const struct operand *o, uint32_t *n)
{
    *n = 1;
    if (o->kind != OPERAND_VECTOR && o->kind != OPERAND_LIST)
        return o;
    bool fits = o->index <= w->func->npool &&
                o->count <= w->func->npool - o->index;
    *n = fits ? o->count : 0;
    return w->func->operand_pool + o->index;
}

static void need_operand(const struct walk *w, const struct operand *o,
                         struct value *need)
{
    uint32_t n;
    const struct operand *parts = parts_of(w, o, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool is_base = parts[i].kind == OPERAND_MEMORY &&
                       parts[i].mem_base == OPERAND_REG;
        if (parts[i].kind == OPERAND_REG || is_base)
            need_reg(w, parts[i].reg, need);
    }
}

static void give_operand(struct walk *w, const struct operand *o,
                         struct value value)
{
    uint32_t n;
    const struct operand *parts = parts_of(w, o, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i].kind != OPERAND_REG)
            continue;
        give_reg(w, parts[i].reg, value);
        if (parts[i].has_second)
            give_reg(w, parts[i].reg2, value);
    }
}

static bool has_result(const struct ptx_inst *inst, enum class class)
{
    bool none = class == CLASS_STORE || class == CLASS_BRANCH ||
                class == CLASS_BARRIER || starts_with(inst->opcode, "st.") ||
                starts_with(inst->opcode, "red.");
    return !none && inst->noperands > 0;
}

static struct value needs_of(const struct walk *w, const struct ptx_inst *inst,
                             bool result)
{
    struct value need = {.region = w->region};
    if (inst->guard != PTX_NO_GUARD)
        need_reg(w, (uint32_t)inst->guard, &need);
    for (unsigned i = result; i < inst->noperands && i < PTX_MAX_OPERANDS; i++)
        need_operand(w, &inst->operands[i], &need);
    return need;
}

// ---- one instruction -------------------------------------------------------------

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void step_load(struct walk *w, uint32_t i, struct value *value)
{
    bool free_of_stores = strstr(w->func->insts[i].opcode, ".nc") != NULL;
    uint32_t after = larger(value->depth, w->floor);
    if (!free_of_stores)
        after = larger(after, w->store_floor);
    value->depth = after + 1;
    if (value->depth > w->rounds) {
        w->rounds = value->depth;
        w->out->starts[i] = true;
    }
}

// Cycles: it issues when its operands are there, one instruction a cycle.
static void step_cycles(struct walk *w, uint32_t i, enum class class,
                        struct value *value)
{
    if (class == CLASS_FREE)
        return;
    uint32_t start = larger(value->ready, w->issued++);
    uint32_t finish = start + larger(LATENCY[class], 1);
    value->ready = start + LATENCY[class];
    if (class == CLASS_BARRIER)
        w->issued = larger(w->issued, finish);
    if (finish > w->finish) {
        uint32_t more = finish - w->finish;
        w->out->cycles[i] = (uint16_t)(more < UINT16_MAX ? more : UINT16_MAX);
        w->finish = finish;
    }
}

static void step(struct walk *w, uint32_t i)
{
    const struct ptx_inst *inst = &w->func->insts[i];
    enum class class = class_of(inst);
    bool result = has_result(inst, class);
    struct value value = needs_of(w, inst, result);
    if (class != CLASS_FREE && class != CLASS_LOAD)
        w->consumed = larger(w->consumed, value.depth);
    if (class == CLASS_LOAD)
        step_load(w, i, &value);
    else if (class == CLASS_STORE)
        w->store_floor = larger(w->store_floor, larger(value.depth, w->floor));
    else if (class == CLASS_BARRIER || class == CLASS_BRANCH)
        w->floor = larger(w->floor, w->consumed);
    step_cycles(w, i, class, &value);
    if (result)
        give_operand(w, &inst->operands[0], value);
}

// ---- entry points -----------------------------------------------------------------

struct overlap *overlap_new(const struct ptx_func *func)
{
    struct overlap *o = calloc(1, sizeof *o);
    struct walk w = {.func = func, .out = o};
    w.values = calloc((size_t)func->nregs + 1, sizeof *w.values);
    w.edge = calloc((size_t)func->ninsts + 1, sizeof *w.edge);
    if (o) {
        o->n = func->ninsts;
        o->starts = calloc((size_t)func->ninsts + 1, sizeof *o->starts);
        o->cycles = calloc((size_t)func->ninsts + 1, sizeof *o->cycles);
    }
    if (o && o->starts && o->cycles && w.values && w.edge) {
        find_edges(&w);
        begin_region(&w);
        for (uint32_t i = 0; i < func->ninsts; i++) {
            cross_edge(&w, w.edge[i]);
            step(&w, i);
        }
    } else {
        overlap_free(o);
        o = NULL;
    }
    free(w.values);
    free(w.edge);
    return o;
}

void overlap_free(struct overlap *o)
{
    if (!o)
        return;
    free(o->starts);
    free(o->cycles);
    free(o);
}

bool overlap_starts_round(const struct overlap *o, uint32_t inst)
{
    return inst < o->n && o->starts[inst];
}

unsigned overlap_cycles(const struct overlap *o, uint32_t inst)
{
    return inst < o->n ? o->cycles[inst] : 0;
}

void overlap_apply(const struct overlap *o, const struct ptx_func *func,
                   const uint64_t *inst_count, struct launch_work *work)
{
    for (uint32_t i = 0; i < o->n; i++) {
        double times = (double)inst_count[func->insts[i].id];
        work->serial_cycles += times * o->cycles[i];
        if (o->starts[i])
            work->critical_path_loads += times;
    }
}

void overlap_finish(struct launch_work *work)
{
    uint64_t warps = work->blocks * ((work->threads_per_block + 31) / 32);
    if (warps == 0)
        return;
    double rounds = work->critical_path_loads;
    if (rounds > 0)
        work->bytes_in_flight_per_warp = (double)work->global_load_bytes / rounds;
    work->critical_path_loads /= (double)warps;
    work->serial_cycles /= (double)warps;
}
