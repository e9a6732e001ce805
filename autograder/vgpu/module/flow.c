// Where the paths of a branch meet again: immediate post-dominators.
//
// A function is cut into basic blocks. Node 0 is the exit, node b + 1 is
// block b. On the graph with its edges turned round, dominators from the exit
// are post-dominators: Lengauer and Tarjan's algorithm (TOPLAS 1979, the
// simple version), without recursion since the code is not trusted.
#include "parse.h"

#include <stdlib.h>

enum { MOST_EDGES = 1 << 24 };

struct flow {
    struct ptx_func *func;
    uint32_t nnodes;
    uint32_t *first_inst;       // of a node
    uint32_t *node_of;          // an instruction
    uint32_t *next_at, *nexts;  // successors of node n: nexts[next_at[n]..]
    uint32_t *prev_at, *prevs;  // and predecessors
    // By node; order counts from 1, 0 is a node that never ends.
    uint32_t *order, *parent, *semi, *idom, *ancestor, *label;
    uint32_t *bucket, *bucket_next;
    uint32_t *vertex;           // by order
    uint32_t *path;
    uint32_t nreached;
};

static bool is_branch(const struct ptx_inst *inst)
{
    return is_opcode(inst, "bra") || is_opcode(inst, "brx");
}

static bool is_exit(const struct ptx_inst *inst)
{
    return is_opcode(inst, "ret") || is_opcode(inst, "exit") ||
           is_opcode(inst, "trap");
}

// The branch's targets, as instruction indices.
static const uint32_t *targets(const struct flow *f,
                               const struct ptx_inst *inst, uint32_t *n)
{
    *n = 0;
    if (inst->noperands == 0)
        return NULL;
    const struct operand *last = &inst->operands[inst->noperands - 1];
    if (last->kind == OPERAND_LABEL) {
        *n = 1;
        return &last->index;
    }
    if (last->kind == OPERAND_TABLE && !f->func->tables[last->index].is_calls) {
        *n = f->func->tables[last->index].ntargets;
        return f->func->tables[last->index].targets;
    }
    return NULL;
}

// ---- the graph ------------------------------------------------------------

static uint32_t *array(struct parser *p, uint64_t n)
{
    return allocate(p, p->frame, n * sizeof(uint32_t));
}

static void cut_blocks(struct parser *p, struct flow *f)
{
    uint32_t n = f->func->ninsts, ntargets;
    uint8_t *leads = allocate(p, p->frame, n + 1);
    leads[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_inst *inst = &f->func->insts[i];
        if (!is_branch(inst) && !is_exit(inst))
            continue;
        leads[i + 1] = 1;
        if (is_exit(inst))
            continue;
        const uint32_t *to = targets(f, inst, &ntargets);
        for (uint32_t j = 0; j < ntargets; j++)
            leads[to[j]] = 1;
    }
    f->node_of = array(p, n + 1);
    f->first_inst = array(p, (uint64_t)n + 2);
    f->first_inst[0] = n;
    f->nnodes = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (leads[i])
            f->first_inst[f->nnodes++] = i;
        f->node_of[i] = f->nnodes - 1;
    }
    f->first_inst[f->nnodes] = n;
    f->node_of[n] = 0; // past the end is the exit
}

// Calls add(node, successor) for every edge.
static void each_edge(struct flow *f,
                      void (*add)(struct flow *, uint32_t, uint32_t))
{
    for (uint32_t node = 1; node < f->nnodes; node++) {
        uint32_t end = f->first_inst[node + 1], n = 0;
        const struct ptx_inst *last = &f->func->insts[end - 1];
        bool guarded = last->guard != PTX_NO_GUARD;
        if (is_exit(last))
            add(f, node, 0);
        if (is_branch(last)) {
            const uint32_t *to = targets(f, last, &n);
            for (uint32_t i = 0; i < n; i++)
                add(f, node, f->node_of[to[i]]);
        }
        if (guarded || (!is_exit(last) && n == 0))
            add(f, node, f->node_of[end]);
    }
}

static void count_edge(struct flow *f, uint32_t from, uint32_t to)
{
    if (f->next_at[f->nnodes] < MOST_EDGES)
        f->next_at[f->nnodes]++;
    f->next_at[from]++;
    f->prev_at[to]++;
}

static void store_edge(struct flow *f, uint32_t from, uint32_t to)
{
    f->nexts[--f->next_at[from]] = to;
    f->prevs[--f->prev_at[to]] = from;
}

// Counts become ends, and store_edge() moves those to the starts.
static void add_up(uint32_t *at, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        at[i] += at[i - 1];
    at[n] = at[n - 1];
}

static void connect(struct parser *p, struct flow *f)
{
    f->next_at = array(p, f->nnodes + 1);
    f->prev_at = array(p, f->nnodes + 1);
    each_edge(f, count_edge);
    uint32_t nedges = f->next_at[f->nnodes];
    if (nedges == MOST_EDGES)
        fail(p, "the function's branches have too many targets");
    add_up(f->next_at, f->nnodes);
    add_up(f->prev_at, f->nnodes);
    f->nexts = array(p, nedges);
    f->prevs = array(p, nedges);
    each_edge(f, store_edge);
}

// ---- dominators of the turned graph -----------------------------------------

// Depth-first from the exit against the edges.
static void number(struct flow *f)
{
    uint32_t depth = 0, *edge = f->label; // not in use yet
    f->path[depth++] = 0;
    f->order[0] = ++f->nreached;
    f->vertex[1] = 0;
    edge[0] = f->prev_at[0];
    while (depth) {
        uint32_t node = f->path[depth - 1];
        if (edge[node] == f->prev_at[node + 1]) {
            depth--;
            continue;
        }
        uint32_t prev = f->prevs[edge[node]++];
        if (f->order[prev])
            continue;
        f->order[prev] = ++f->nreached;
        f->vertex[f->nreached] = prev;
        f->parent[prev] = node;
        edge[prev] = f->prev_at[prev];
        f->path[depth++] = prev;
    }
    for (uint32_t i = 0; i < f->nnodes; i++) {
        f->semi[i] = f->order[i];
        f->label[i] = i;
        f->ancestor[i] = f->bucket[i] = NOT_YET;
    }
}

// The node of least semidominator on the way up the forest.
static uint32_t eval(struct flow *f, uint32_t node)
{
    if (f->ancestor[node] == NOT_YET)
        return node;
    uint32_t depth = 0;
    for (uint32_t n = node; f->ancestor[f->ancestor[n]] != NOT_YET;
         n = f->ancestor[n])
        f->path[depth++] = n;
    while (depth) {
        uint32_t n = f->path[--depth], up = f->ancestor[n];
        if (f->semi[f->label[up]] < f->semi[f->label[n]])
            f->label[n] = f->label[up];
        f->ancestor[n] = f->ancestor[up];
    }
    return f->label[node];
}

static void empty_bucket(struct flow *f, uint32_t parent)
{
    uint32_t node = f->bucket[parent];
    for (; node != NOT_YET; node = f->bucket_next[node]) {
        uint32_t least = eval(f, node);
        f->idom[node] = f->semi[least] < f->semi[node] ? least : parent;
    }
    f->bucket[parent] = NOT_YET;
}

static void dominate(struct flow *f)
{
    number(f);
    for (uint32_t i = f->nreached; i > 1; i--) {
        uint32_t node = f->vertex[i], parent = f->parent[node];
        for (uint32_t e = f->next_at[node]; e < f->next_at[node + 1]; e++) {
            if (!f->order[f->nexts[e]])
                continue;
            uint32_t least = eval(f, f->nexts[e]);
            if (f->semi[least] < f->semi[node])
                f->semi[node] = f->semi[least];
        }
        uint32_t semi = f->vertex[f->semi[node]];
        f->bucket_next[node] = f->bucket[semi];
        f->bucket[semi] = node;
        f->ancestor[node] = parent;
        empty_bucket(f, parent);
    }
    for (uint32_t i = 2; i <= f->nreached; i++) {
        uint32_t node = f->vertex[i];
        if (f->idom[node] != f->vertex[f->semi[node]])
            f->idom[node] = f->idom[f->idom[node]];
    }
}

// ---- the entry point ----------------------------------------------------------

static void allocate_nodes(struct parser *p, struct flow *f)
{
    uint32_t **arrays[] = {&f->order,    &f->parent, &f->semi,
                           &f->idom,     &f->ancestor, &f->label,
                           &f->bucket,   &f->bucket_next, &f->vertex,
                           &f->path};
    for (unsigned i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = array(p, f->nnodes + 1);
}

void flow_analyse(struct parser *p, struct ptx_func *func)
{
    struct flow f = {.func = func};
    uint32_t nbranches = 0;
    for (uint32_t i = 0; i < func->ninsts; i++)
        nbranches += is_branch(&func->insts[i]);
    if (nbranches == 0)
        return;
    cut_blocks(p, &f);
    connect(p, &f);
    allocate_nodes(p, &f);
    dominate(&f);
    for (uint32_t i = 0; i < func->ninsts; i++) {
        uint32_t node = f.node_of[i];
        if (is_branch(&func->insts[i]))
            func->insts[i].reconverge =
                f.order[node] ? f.first_inst[f.idom[node]] : func->ninsts;
    }
}
