// What launches did, as JSON: Nsight Compute's metric names where its
// definition is the same as ours, names of our own elsewhere.
#include <jansson.h>
#include <stdlib.h>

#include "control.h"

static void count(json_t *metrics, const char *name, uint64_t n)
{
    json_object_set_new(metrics, name, json_integer((json_int_t)n));
}

static void ratio(json_t *metrics, const char *name, double part, double whole)
{
    if (whole > 0)
        json_object_set_new(metrics, name, json_real(part / whole));
}

static json_t *metrics_of(const struct vgpu_launch *l)
{
    const struct access_counters *a = &l->access;
    json_t *m = json_object();
    count(m, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
          a->load_requests);
    count(m, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
          a->store_requests);
    count(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          a->load_sectors);
    count(m, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
          a->store_sectors);
    count(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
          a->shared_load_wavefronts);
    count(m, "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
          a->shared_store_wavefronts);
    count(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
          a->shared_load_conflicts);
    count(m, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
          a->shared_store_conflicts);
    count(m, "global_load_bytes", a->load_bytes);
    count(m, "global_store_bytes", a->store_bytes);
    ratio(m, "global_load_efficiency", (double)a->load_bytes,
          32.0 * (double)a->load_sectors);
    ratio(m, "global_store_efficiency", (double)a->store_bytes,
          32.0 * (double)a->store_sectors);
    count(m, "atomics", a->atomics);
    count(m, "l1_hit_sectors", a->l1_hit_sectors);
    count(m, "l2_hit_sectors", a->l2_hit_sectors);
    count(m, "dram_read_bytes", a->dram_read_bytes);
    count(m, "dram_write_bytes", a->dram_write_bytes);
    count(m, "ptx_warp_instructions", l->warp_instructions);
    count(m, "ptx_lane_instructions", l->lane_instructions);
    ratio(m, "active_lanes_per_ptx_instruction", (double)l->lane_instructions,
          (double)l->warp_instructions);
    count(m, "branches", l->branches);
    count(m, "divergent_branches", l->divergent_branches);
    count(m, "lanes_lost_to_branches", l->lanes_lost_to_branches);
    count(m, "registers_per_thread", l->regs);
    count(m, "shared_bytes_per_block", l->shared_bytes);
    count(m, "theoretical_warps_per_sm", l->occupancy.warps_per_sm);
    return m;
}

static json_t *triple(const uint32_t v[3])
{
    return json_pack("[I,I,I]", (json_int_t)v[0], (json_int_t)v[1],
                     (json_int_t)v[2]);
}

// A kernel's name comes out of a hostile binary: JSON wants UTF-8.
static json_t *text(const char *s)
{
    json_t *string = json_string(s);
    return string ? string : json_string("?");
}

char *vgpu_counters_json(const char *gpu, const struct vgpu_launch *launches,
                         unsigned n)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < n; i++) {
        const struct vgpu_launch *l = &launches[i];
        json_t *o = json_object();
        json_object_set_new(o, "kernel", text(l->kernel));
        json_object_set_new(o, "grid", triple(l->grid));
        json_object_set_new(o, "block", triple(l->block));
        json_object_set_new(o, "metrics", metrics_of(l));
        json_object_set_new(o, "modelled_ns", json_real(l->modelled_ns));
        json_object_set_new(o, "limiter", text(l->limiter));
        json_object_set_new(o, "occupancy_limiter", text(l->occupancy_limiter));
        json_array_append_new(list, o);
    }
    json_t *all = json_object();
    json_object_set_new(all, "gpu", text(gpu));
    json_object_set_new(all, "launches", list);
    char *out = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    json_decref(all);
    return out;
}
