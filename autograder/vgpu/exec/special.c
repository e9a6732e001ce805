// Special registers (PTX ISA 10).
#include <string.h>
#include <time.h>

#include "control.h"

struct special_name {
    const char *name;
    enum special special;
};
static const struct special_name names[] = {
    {"%tid.x", SPECIAL_TID_X},
    {"%tid.y", SPECIAL_TID_Y},
    {"%tid.z", SPECIAL_TID_Z},
    {"%ntid.x", SPECIAL_NTID_X},
    {"%ntid.y", SPECIAL_NTID_Y},
    {"%ntid.z", SPECIAL_NTID_Z},
    {"%ctaid.x", SPECIAL_CTAID_X},
    {"%ctaid.y", SPECIAL_CTAID_Y},
    {"%ctaid.z", SPECIAL_CTAID_Z},
    {"%nctaid.x", SPECIAL_NCTAID_X},
    {"%nctaid.y", SPECIAL_NCTAID_Y},
    {"%nctaid.z", SPECIAL_NCTAID_Z},
    // A grid without clusters: each block is a cluster of its own.
    {"%clusterid.x", SPECIAL_CTAID_X},
    {"%clusterid.y", SPECIAL_CTAID_Y},
    {"%clusterid.z", SPECIAL_CTAID_Z},
    {"%nclusterid.x", SPECIAL_NCTAID_X},
    {"%nclusterid.y", SPECIAL_NCTAID_Y},
    {"%nclusterid.z", SPECIAL_NCTAID_Z},
    {"%cluster_ctaid.x", SPECIAL_ZERO},
    {"%cluster_ctaid.y", SPECIAL_ZERO},
    {"%cluster_ctaid.z", SPECIAL_ZERO},
    {"%cluster_nctaid.x", SPECIAL_ONE},
    {"%cluster_nctaid.y", SPECIAL_ONE},
    {"%cluster_nctaid.z", SPECIAL_ONE},
    {"%cluster_ctarank", SPECIAL_ZERO},
    {"%cluster_nctarank", SPECIAL_ONE},
    {"%laneid", SPECIAL_LANEID},
    {"%warpid", SPECIAL_WARPID},
    {"%nwarpid", SPECIAL_NWARPID},
    {"%smid", SPECIAL_SMID},
    {"%nsmid", SPECIAL_NSMID},
    {"%gridid", SPECIAL_GRIDID},
    {"WARP_SZ", SPECIAL_WARP_SZ},
    {"%lanemask_eq", SPECIAL_LANEMASK_EQ},
    {"%lanemask_lt", SPECIAL_LANEMASK_LT},
    {"%lanemask_le", SPECIAL_LANEMASK_LE},
    {"%lanemask_gt", SPECIAL_LANEMASK_GT},
    {"%lanemask_ge", SPECIAL_LANEMASK_GE},
    {"%total_smem_size", SPECIAL_TOTAL_SHARED},
    {"%aggr_smem_size", SPECIAL_TOTAL_SHARED},
    {"%dynamic_smem_size", SPECIAL_DYNAMIC_SHARED},
    {"%envreg1", SPECIAL_ENVREG1},
    {"%envreg2", SPECIAL_ENVREG2},
    {"%clock", SPECIAL_CLOCK},
    {"%clock_hi", SPECIAL_CLOCK_HI},
    {"%clock64", SPECIAL_CLOCK64},
    {"%globaltimer", SPECIAL_GLOBALTIMER},
    {"%globaltimer_lo", SPECIAL_GLOBALTIMER_LO},
    {"%globaltimer_hi", SPECIAL_GLOBALTIMER_HI},
};

bool special_find(const char *text, enum special *out)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        if (strcmp(names[k].name, text) == 0) {
            *out = names[k].special;
            return true;
        }
    }
    if (strncmp(text, "%envreg", 7) == 0) {
        *out = SPECIAL_ZERO;
        return true;
    }
    return false;
}

bool special_is_wide(enum special s)
{
    return s == SPECIAL_CLOCK64 || s == SPECIAL_GLOBALTIMER ||
           s == SPECIAL_GRIDID;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

// The clock of a worker ticks once an instruction.
static uint64_t instructions_so_far(const struct worker *w)
{
    return w->clock + w->clock_run - w->clock_left;
}

// A value that all lanes share.
static uint64_t uniform_value(const struct warp *w, enum special s)
{
    const struct block *b = w->block;
    const struct launch_state *state = b->worker->state;
    const struct launch *l = state->launch;
    switch (s) {
    case SPECIAL_NTID_X: case SPECIAL_NTID_Y: case SPECIAL_NTID_Z:
        return l->block[s - SPECIAL_NTID_X];
    case SPECIAL_CTAID_X: case SPECIAL_CTAID_Y: case SPECIAL_CTAID_Z:
        return b->view.idx[s - SPECIAL_CTAID_X];
    case SPECIAL_NCTAID_X: case SPECIAL_NCTAID_Y: case SPECIAL_NCTAID_Z:
        return l->grid[s - SPECIAL_NCTAID_X];
    case SPECIAL_ONE:
        return 1;
    case SPECIAL_WARPID:
        return w->index;
    case SPECIAL_NWARPID:
        return l->gpu->warps_per_sm;
    case SPECIAL_SMID:
        return b->smid;
    case SPECIAL_NSMID:
        return l->gpu->sms;
    case SPECIAL_WARP_SZ:
        return WARP_LANES;
    case SPECIAL_TOTAL_SHARED:
        return w->shared_bytes;
    case SPECIAL_DYNAMIC_SHARED:
        return l->dynamic_shared;
    case SPECIAL_ENVREG1: // the high half: see grid.sync in launch.c
        return state->workspace >> 32;
    case SPECIAL_ENVREG2:
        return (uint32_t)state->workspace;
    case SPECIAL_CLOCK: case SPECIAL_CLOCK64:
        return instructions_so_far(b->worker);
    case SPECIAL_CLOCK_HI:
        return instructions_so_far(b->worker) >> 32;
    case SPECIAL_GLOBALTIMER: case SPECIAL_GLOBALTIMER_LO:
        return now_ns();
    case SPECIAL_GLOBALTIMER_HI:
        return now_ns() >> 32;
    default:
        return 0;
    }
}

static uint32_t lane_value(const struct warp *w, enum special s, unsigned lane)
{
    const uint32_t *block = w->block->worker->state->launch->block;
    uint32_t linear = w->index * WARP_LANES + lane, bit = 1u << lane;
    switch (s) {
    case SPECIAL_TID_X:
        return linear % block[0];
    case SPECIAL_TID_Y:
        return linear / block[0] % block[1];
    case SPECIAL_TID_Z:
        return linear / block[0] / block[1];
    case SPECIAL_LANEID:
        return lane;
    case SPECIAL_LANEMASK_EQ:
        return bit;
    case SPECIAL_LANEMASK_LT:
        return bit - 1;
    case SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    default: // SPECIAL_LANEMASK_GE
        return ~(bit - 1);
    }
}

static bool differs_by_lane(enum special s)
{
    return s <= SPECIAL_TID_Z || s == SPECIAL_LANEID ||
           (s >= SPECIAL_LANEMASK_EQ && s <= SPECIAL_LANEMASK_GE);
}

void special_fill(const struct warp *w, enum special s, void *row)
{
    uint32_t *words = row;
    uint64_t *wides = row;
    if (differs_by_lane(s)) {
        for (unsigned l = 0; l < WARP_LANES; l++)
            words[l] = lane_value(w, s, l);
        return;
    }
    uint64_t value = uniform_value(w, s);
    bool wide = special_is_wide(s);
    for (unsigned l = 0; wide && l < WARP_LANES; l++)
        wides[l] = value;
    for (unsigned l = 0; !wide && l < WARP_LANES; l++)
        words[l] = (uint32_t)value;
}
