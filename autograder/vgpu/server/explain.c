// Where the modelled time of a program went: its kernels by cost, the pipe
// that limits each, the number that shows it, and what usually helps.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu_run.h"

struct cost {
    const struct vgpu_launch *worst; // the launch that took longest
    unsigned launches;
    double ns;
};

static const struct {
    const char *limiter, *meaning, *cure;
} cures[] = {
    {"dram", "bytes moved to and from device memory",
     "move fewer bytes: reuse what was loaded (shared memory, registers), "
     "store in a smaller type, fuse kernels that pass data on"},
    {"l2", "sectors moved between the L2 cache and the SMs",
     "let neighbouring threads touch neighbouring addresses, and keep what a "
     "block uses again in shared memory"},
    {"blocks", "starting blocks, each with little to do",
     "let a block do more: several elements a thread, or a grid-stride loop"},
    {"latency", "waiting for memory with too little in flight",
     "keep more loads in flight: more warps an SM, several elements a thread, "
     "vector loads"},
    {"issue", "issuing instructions",
     "do more work an instruction: vector loads, unrolled loops, fewer index "
     "computations"},
    {"fp32", "single-precision arithmetic", "nothing cheap: this is the peak"},
    {"fp64", "double-precision arithmetic",
     "use float where the precision allows it"},
    {"shared", "shared memory",
     "avoid bank conflicts (pad the tile by one column), and hold reused "
     "values in registers"},
    {"integer", "integer arithmetic",
     "compute fewer indices: hoist them out of loops, use 32-bit ones"},
    {"sfu", "special functions (sin, exp, division)",
     "use fewer, or cheaper ones where the precision allows it"},
    {"barrier", "barriers",
     "use fewer, or let each warp work on its own part (__syncwarp, shuffles)"},
    {"tensor", "matrix instructions", "nothing cheap: this is the peak"},
    {"launch", "launching", "launch less often, with more work each time"},
};

static void add(struct cost *costs, unsigned *n, const struct vgpu_launch *l)
{
    unsigned i = 0;
    while (i < *n && strcmp(costs[i].worst->kernel, l->kernel))
        i++;
    if (i == *n)
        costs[(*n)++] = (struct cost){.worst = l};
    costs[i].launches++;
    costs[i].ns += l->modelled_ns;
    if (l->modelled_ns > costs[i].worst->modelled_ns)
        costs[i].worst = l;
}

static int dearer(const void *a, const void *b)
{
    double x = ((const struct cost *)a)->ns, y = ((const struct cost *)b)->ns;
    return (x < y) - (x > y);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 100;
}

static void print_numbers(FILE *out, const struct vgpu_launch *l)
{
    const struct access_counters *a = &l->access;
    fprintf(out, "   loads use %.0f %% of the sectors they move, stores %.0f "
                 "%%\n",
            percent(a->load_bytes, 32 * a->load_sectors),
            percent(a->store_bytes, 32 * a->store_sectors));
    uint64_t conflicts = a->shared_load_conflicts + a->shared_store_conflicts;
    if (conflicts)
        fprintf(out, "   %" PRIu64 " shared-memory bank conflicts\n",
                conflicts);
    if (l->lanes_lost_to_branches)
        fprintf(out, "   %.1f of 32 lanes active an instruction (branches)\n",
                (double)l->lane_instructions / (double)l->warp_instructions);
    fprintf(out, "   %u warps an SM fit (limit: %s), %u registers a thread\n",
            l->occupancy.warps_per_sm, l->occupancy_limiter, l->regs);
}

static void print_cost(FILE *out, const struct cost *c, double all_ns)
{
    const struct vgpu_launch *l = c->worst;
    fprintf(out, "%s: %.3f ms modelled in %u launch%s, %.0f %% of all\n",
            l->kernel, c->ns / 1e6, c->launches, c->launches == 1 ? "" : "es",
            all_ns > 0 ? 100 * c->ns / all_ns : 0);
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (!strcmp(cures[i].limiter, l->limiter))
            fprintf(out, "   limited by %s: %s\n   what helps: %s\n",
                    l->limiter, cures[i].meaning, cures[i].cure);
    print_numbers(out, l);
}

void explain_launches(FILE *out, const char *gpu,
                      const struct vgpu_launch *launches, unsigned n)
{
    enum { SHOWN = 3 };
    struct cost *costs = calloc(n + 1, sizeof *costs);
    unsigned ncosts = 0;
    double all_ns = 0;
    if (!costs)
        return;
    for (unsigned i = 0; i < n; i++) {
        add(costs, &ncosts, &launches[i]);
        all_ns += launches[i].modelled_ns;
    }
    qsort(costs, ncosts, sizeof *costs, dearer);
    fprintf(out, "vgpu: times are modelled for %s\n", gpu);
    for (unsigned i = 0; i < ncosts && i < SHOWN; i++)
        print_cost(out, &costs[i], all_ns);
    if (!n)
        fprintf(out, "vgpu: the program launched no kernel\n");
    free(costs);
}
