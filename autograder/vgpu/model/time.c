// How long a launch takes: each pipe, L2 and DRAM is a server with a rate, and
// blocks are what keeps them busy.
//
// A block occupies its place on an SM for
//
//   life = start + its warps' start + rounds of loads x latency + arithmetic
//
// and an SM holds as many as occupancy allows, so that blocks end at the rate
// resident / life (Little's law). The latency of DRAM grows as DRAM fills up,
//
//   latency = idle + queue x load / (1 - load)
//
// and the load follows from the time that is looked for: the two are solved
// together. No server can be faster than its rate, and blocks are started at
// 0.85 a cycle for the whole GPU.
//
// The constants were fitted to every second row of 317 timings of 12 kernels on
// an H200; the error on the other rows is 3 % in the mean where a launch moves
// 128 MiB and more (at most 13 %), and 6 % over all (launches of a few
// microseconds scatter by 20 % on the GPU itself). Not fitted but set by hand
// from such timings: the barrier's rate, and how much of L2 a kernel can use.
#include "model.h"

#include <stddef.h>

static const double BLOCKS_PER_CYCLE = 0.8525;  // started, whole GPU
static const double WARP_START_CYCLES = 11;     // further, each warp of a block
static const double IDLE_OVER_CHASE = 1.266;    // a load's wait over the latency
                                                // of a lone pointer chase
static const double QUEUE_OVER_CHASE = 0.294;
static const double PEAK_OVER_COPY = 1.064;     // what the copy's rate tends to
static const double LINE_CYCLES = 50;           // each further 128 bytes that a
                                                // warp waits for in one round
static const double L2_QUEUE_NS = 40;
static const double PIPE_EFFICIENCY = 0.95;     // reached by chains of FMAs
static const double GAP_US = 1.42;              // between launches, at least
static const double DRAIN_US = 2.9;             // more after one that used memory
static const double BARRIER_CYCLES = 2.45;      // an SM's, each warp that arrives
static const double TENSOR_FLOP = 4096;         // taken for one instruction:
                                                // 16x8x16, two a product

// ---- what does not depend on the time --------------------------------------

struct setting {
    const struct gpu_model *gpu;
    const struct launch_work *work;
    double cycle_ns;
    double warps;         // a block
    double waves;         // blocks that follow one another in one place
    double busiest;       // blocks on the SM that gets most
    double dram_bytes, l2_bytes;
    double rounds, lines; // a warp: loads one after another; lines in each
    double from_l1, from_dram; // shares of loaded sectors
};

static double at_most_1(double x)
{
    return x < 1 ? x : 1;
}

static void divide_blocks(struct setting *s)
{
    const struct launch_work *w = s->work;
    struct occupancy o = occupancy_of(s->gpu, (unsigned)w->threads_per_block,
                                      w->regs, w->shared_bytes);
    double blocks = (double)w->blocks, sms = s->gpu->sms;
    double held = o.blocks_per_sm ? o.blocks_per_sm : 1;
    s->warps = (double)((w->threads_per_block + 31) / 32);
    s->waves = blocks > held * sms ? blocks / (held * sms) : 1;
    s->busiest = blocks / sms;
    if (s->busiest < 2 * held) // few enough that an uneven rest shows
        s->busiest = (double)((w->blocks + s->gpu->sms - 1) / s->gpu->sms);
}

static void divide_traffic(struct setting *s)
{
    const struct launch_work *w = s->work;
    double loads = (double)w->global_load_sectors;
    double stores = (double)w->global_store_sectors;
    double asked = w->l2_sectors ? (double)w->l2_sectors : loads + stores;
    double past_l1 = asked - stores;
    s->dram_bytes = (double)w->dram_read_bytes + (double)w->dram_write_bytes;
    s->l2_bytes = 32.0 * asked;
    if (loads > 0) {
        s->from_l1 = past_l1 < loads ? 1 - (past_l1 > 0 ? past_l1 : 0) / loads : 0;
        s->from_dram = at_most_1((double)w->dram_read_bytes / 32 / loads);
        if (s->from_l1 + s->from_dram > 1)
            s->from_l1 = 1 - s->from_dram;
    }
    s->rounds = w->critical_path_loads;
    if (s->rounds == 0 && loads > 0)
        s->rounds = 1;
    s->lines = w->bytes_in_flight_per_warp / 128;
}

static struct setting setting_of(const struct gpu_model *gpu,
                                 const struct launch_work *work)
{
    struct setting s = {.gpu = gpu, .work = work,
                        .cycle_ns = 1e3 / gpu->boost_mhz};
    divide_blocks(&s);
    divide_traffic(&s);
    return s;
}

// ---- how long a block lives --------------------------------------------------

static double queue(double load)
{
    return load < 0.9999 ? load / (1 - load) : 1e4;
}

static double dram_peak(const struct gpu_model *gpu)
{
    return PEAK_OVER_COPY * gpu->copy_gbs;
}

// Of one round of loads, when DRAM and L2 are busy for these shares of time.
static double load_ns(const struct setting *s, double dram_load, double l2_load)
{
    const struct gpu_model *gpu = s->gpu;
    double chase = gpu->latency_dram * s->cycle_ns;
    double dram = chase * (IDLE_OVER_CHASE + QUEUE_OVER_CHASE * queue(dram_load));
    double l2 = gpu->latency_l2 * s->cycle_ns + L2_QUEUE_NS * queue(l2_load);
    double l1 = gpu->latency_l1 * s->cycle_ns;
    double more = s->lines > 1 ? (s->lines - 1) * LINE_CYCLES * s->cycle_ns : 0;
    double from_l2 = 1 - s->from_l1 - s->from_dram;
    return s->from_dram * (dram + more) + from_l2 * (l2 + more) + s->from_l1 * l1;
}

static double life_ns(const struct setting *s, double dram_load, double l2_load)
{
    double arithmetic = s->work->serial_cycles * s->cycle_ns;
    double start = s->gpu->block_start_ns +
                   s->warps * WARP_START_CYCLES * s->cycle_ns;
    return start + s->rounds * load_ns(s, dram_load, l2_load) + arithmetic;
}

// Time of all blocks if the whole took t.
static double blocks_ns(const struct setting *s, double t)
{
    double dram_load = s->dram_bytes / (t * dram_peak(s->gpu));
    double l2_load = s->l2_bytes / (t * s->gpu->l2_gbs);
    return s->waves * life_ns(s, dram_load, l2_load);
}

// The t at which they agree: blocks_ns falls as t grows.
static double latency_ns(const struct setting *s)
{
    double low = 0, high = 1 + 2 * blocks_ns(s, 1e18);
    while (blocks_ns(s, high) > high && high < 1e17)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (middle > 0 && blocks_ns(s, middle) <= middle)
            high = middle;
        else
            low = middle;
    }
    return high;
}

// ---- servers -------------------------------------------------------------------

// Time of the busiest SM for a pipe that takes `lanes` lanes a cycle.
static double pipe_ns(const struct setting *s, uint64_t instructions,
                      double lanes)
{
    double on_sm = (double)instructions / (double)s->work->blocks * s->busiest;
    return on_sm * 32 / lanes * s->cycle_ns;
}

static void slower(struct launch_time *t, double ns, const char *name)
{
    if (ns >= t->ns)
        *t = (struct launch_time){ns, name};
}

static void add_pipes(struct launch_time *t, const struct setting *s)
{
    const struct gpu_model *gpu = s->gpu;
    const struct launch_work *w = s->work;
    double reached = PIPE_EFFICIENCY;
    slower(t, pipe_ns(s, w->issue, 4 * 32 * reached), "issue");
    slower(t, pipe_ns(s, w->integer, gpu->int_lanes * reached), "integer");
    slower(t, pipe_ns(s, w->fp32, gpu->fp32_lanes * reached), "fp32");
    slower(t, pipe_ns(s, w->fp64, gpu->fp64_lanes * reached), "fp64");
    slower(t, pipe_ns(s, w->sfu, gpu->sfu_lanes * reached), "sfu");
    slower(t, pipe_ns(s, w->shared_wavefronts, 32), "shared");
    slower(t, pipe_ns(s, w->other, 32 / BARRIER_CYCLES), "barrier");
    // FLOP a cycle and SM, as lanes of TENSOR_FLOP / 32 each.
    double flop = gpu->tensor_tflops * 1e3 * s->cycle_ns / gpu->sms;
    slower(t, pipe_ns(s, w->tensor, flop * 32 / TENSOR_FLOP), "tensor");
}

static struct launch_time busy_time(const struct setting *s)
{
    double latency = latency_ns(s);
    double dram_load = s->dram_bytes / (latency * dram_peak(s->gpu));
    struct launch_time t = {latency, dram_load > 0.8 ? "dram" : "latency"};
    double starts = (double)s->work->blocks * s->cycle_ns / BLOCKS_PER_CYCLE;
    double life = life_ns(s, 0, 0);
    slower(&t, starts + life, starts > life ? "blocks" : "latency");
    slower(&t, s->l2_bytes / s->gpu->l2_gbs, "l2");
    slower(&t, s->dram_bytes / dram_peak(s->gpu), "dram");
    add_pipes(&t, s);
    return t;
}

struct launch_time time_of_launch(const struct gpu_model *gpu,
                                  const struct launch_work *work)
{
    if (work->blocks == 0 || work->threads_per_block == 0)
        return (struct launch_time){gpu->launch_us * 1e3, "launch"};
    struct setting s = setting_of(gpu, work);
    struct launch_time t = busy_time(&s);
    bool memory = work->global_load_requests + work->global_store_requests +
                      work->atomics > 0;
    double around = (GAP_US + (memory ? DRAIN_US : 0)) * 1e3;
    if (t.ns < around)
        t.limiter = "launch";
    t.ns += around;
    if (t.ns < gpu->launch_us * 1e3)
        t.ns = gpu->launch_us * 1e3;
    return t;
}
