// How many blocks an SM holds, as CUDA's occupancy calculator has it.
//
// Warps, blocks, registers and shared memory each allow so many; the least
// counts. Registers are given out by warp in units of 256 and belong to one of
// four parts of the SM, so that a part holds a whole number of warps.
#include "model.h"

enum { SM_PARTS = 4, MAX_REGS = 255, MAX_THREADS = 1024 };

static unsigned round_up(unsigned n, unsigned unit)
{
    return (n + unit - 1) / unit * unit;
}

static unsigned blocks_by_regs(const struct gpu_model *gpu, unsigned warps,
                               unsigned regs)
{
    unsigned a_warp = round_up(regs * 32, gpu->reg_unit);
    if (a_warp == 0)
        return gpu->blocks_per_sm;
    // A block's own registers must fit, with its warps dealt to the parts.
    if (a_warp * round_up(warps, SM_PARTS) > gpu->regs_per_sm)
        return 0;
    unsigned warps_a_part = gpu->regs_per_sm / SM_PARTS / a_warp;
    return warps_a_part * SM_PARTS / warps;
}

static unsigned blocks_by_shared(const struct gpu_model *gpu, unsigned nbytes)
{
    if (nbytes > gpu->shared_optin)
        return 0;
    unsigned a_block = round_up(nbytes + gpu->shared_reserved, gpu->shared_unit);
    return a_block ? gpu->shared_per_sm / a_block : gpu->blocks_per_sm;
}

struct occupancy occupancy_of(const struct gpu_model *gpu, unsigned threads,
                              unsigned regs, unsigned shared_bytes)
{
    struct occupancy none = {0, 0, "threads"};
    if (threads == 0 || threads > MAX_THREADS)
        return none;
    unsigned warps = round_up(threads, 32) / 32;
    struct {
        const char *name;
        unsigned blocks;
    } limits[] = {
        {"warps", gpu->warps_per_sm / warps},
        {"registers", regs > MAX_REGS ? 0 : blocks_by_regs(gpu, warps, regs)},
        {"shared", blocks_by_shared(gpu, shared_bytes)},
        {"blocks", gpu->blocks_per_sm},
    };
    struct occupancy least = {limits[0].blocks, 0, limits[0].name};
    for (unsigned i = 1; i < sizeof limits / sizeof *limits; i++) {
        if (limits[i].blocks < least.blocks_per_sm) {
            least.blocks_per_sm = limits[i].blocks;
            least.limiter = limits[i].name;
        }
    }
    least.warps_per_sm = least.blocks_per_sm * warps;
    return least;
}
