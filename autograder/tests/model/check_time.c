// Against timings of an H200 that were taken when the model was fitted (to
// every second row of a table that these rows are from).
#include "../test.h"
#include "streams.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct timing {
    const char *what;
    struct stream stream;
    double measured_ns, tolerance;
    const char *limiter;
};

enum { N = 1 << 28, FEW = 1 << 22, BLOCKS = N / 256 };

static const struct timing TIMINGS[] = {
    {"copy, one element a thread", {BLOCKS, 256, N, 1, 1, 0, false},
     788288, 0.05, "latency"},
    {"add, one element a thread", {BLOCKS, 256, N, 2, 1, 0, false},
     922411, 0.05, "latency"},
    {"fill, one element a thread", {BLOCKS, 256, N, 0, 1, 0, false},
     633760, 0.05, "blocks"},
    {"copy, blocks of 32", {N / 32, 32, N, 1, 1, 0, false},
     5053291, 0.05, "blocks"},
    {"add, blocks of 128", {N / 128, 128, N, 2, 1, 0, false},
     1269515, 0.05, "blocks"},
    {"copy, blocks of 1024", {N / 1024, 1024, N, 1, 1, 0, false},
     951819, 0.10, "latency"},
    {"copy, two elements a thread", {BLOCKS / 2, 256, N, 1, 2, 0, false},
     562891, 0.05, "dram"},
    {"copy, float4", {BLOCKS / 4, 256, N, 1, 4, 0, false}, 502955, 0.05, "dram"},
    {"copy, sixteen elements", {BLOCKS / 16, 256, N, 1, 16, 0, false},
     510251, 0.10, "dram"},
    {"add, float4", {BLOCKS / 4, 256, N, 2, 4, 0, false}, 736715, 0.05, "dram"},
    {"copy, grid-stride, a block an SM", {132, 256, N, 1, 1, 0, false},
     3201078, 0.15, "latency"},
    {"copy, grid-stride, full", {1056, 256, N, 1, 1, 0, false},
     704139, 0.05, "latency"},
    {"add, grid-stride, full", {1056, 256, N, 2, 1, 0, false},
     880075, 0.05, "dram"},
    {"copy, four blocks an SM", {BLOCKS, 256, N, 1, 1, 49152, false},
     1405376, 0.06, "latency"},
    {"copy, one block an SM", {BLOCKS, 256, N, 1, 1, 196608, false},
     4790827, 0.06, "latency"},
    {"copy of 16 MiB in L2", {FEW / 256, 256, FEW, 1, 1, 0, true},
     13120, 0.15, "blocks"},
    {"copy of 16 MiB in L2, float4", {FEW / 1024, 256, FEW, 1, 4, 0, true},
     7637, 0.20, NULL},
    {"copy of 1 KiB", {1, 256, 256, 1, 1, 0, true}, 4565, 0.20, "launch"},
};

START_TEST(test_streams_as_measured)
{
    const struct timing *row = &TIMINGS[_i];
    struct launch_work w = stream_work(&row->stream);
    struct launch_time t = time_of_launch(gpu_default(), &w);
    double error = t.ns / row->measured_ns - 1;
    ck_assert_msg(fabs(error) <= row->tolerance, "%s: %.0f ns, %+.1f %%",
                  row->what, t.ns, 100 * error);
    if (row->limiter)
        ck_assert_msg(strcmp(t.limiter, row->limiter) == 0, "%s: %s", row->what,
                      t.limiter);
}
END_TEST

// 264 blocks of 1024 threads, each with a chain of 4096 operations.
struct pipe_case {
    const char *limiter;
    struct launch_work work;
    double measured_ns;
};

#define WARPS (264 * 32)
#define OPS   (UINT64_C(4096) * WARPS)
#define WORK(...)                                                              \
    {.blocks = 264, .threads_per_block = 1024, .regs = 24,                     \
     .global_store_requests = WARPS, __VA_ARGS__}

static const struct pipe_case PIPES[] = {
    {"fp32", WORK(.issue = 8 * OPS, .fp32 = 8 * OPS), 282912},
    {"fp64", WORK(.issue = 2 * OPS, .fp64 = 2 * OPS), 144608},
    {"sfu", WORK(.issue = 4 * OPS, .fp32 = 2 * OPS, .sfu = 2 * OPS), 538368},
    {"shared", WORK(.issue = 2 * OPS, .lsu = OPS, .shared_wavefronts = OPS), 140416},
    {"shared", WORK(.issue = 2 * OPS, .lsu = OPS, .shared_wavefronts = 32 * OPS),
     4244544},
    {"barrier", WORK(.issue = OPS / 4, .other = OPS / 16), 24576},
};

START_TEST(test_pipes_as_measured)
{
    const struct pipe_case *row = &PIPES[_i];
    struct launch_time t = time_of_launch(gpu_default(), &row->work);
    double error = t.ns / row->measured_ns - 1;
    ck_assert_msg(fabs(error) <= 0.06, "%s: %+.1f %%", row->limiter, 100 * error);
    ck_assert_str_eq(t.limiter, row->limiter);
}
END_TEST

START_TEST(test_a_chain_in_one_warp_is_latency)
{
    struct launch_work w = {.blocks = 264, .threads_per_block = 32, .regs = 24,
                            .issue = 4096 * 264, .fp32 = 4096 * 264,
                            .serial_cycles = 4 * 4096,
                            .global_store_requests = 264};
    struct launch_time t = time_of_launch(gpu_default(), &w);
    ck_assert_str_eq(t.limiter, "latency");
    ck_assert_double_eq_tol(t.ns / 14752, 1, 0.15); // measured
}
END_TEST

START_TEST(test_no_work_costs_a_launch)
{
    struct launch_work none = {0};
    struct launch_work empty = {.blocks = 1, .threads_per_block = 32};
    ck_assert_double_eq(time_of_launch(gpu_default(), &none).ns, 3800);
    ck_assert_double_eq(time_of_launch(gpu_default(), &empty).ns, 3800);
    ck_assert_str_eq(time_of_launch(gpu_default(), &empty).limiter, "launch");
}
END_TEST

// What course labs rest on must come in the right order on every GPU.
START_TEST(test_variants_keep_their_order_on_every_gpu)
{
    const struct gpu_model *gpu = gpu_at((unsigned)_i);
    static const struct stream BETTER_LATER[] = {
        {4, 256, N, 2, 1, 0, false},              // a few blocks for all
        {BLOCKS, 256, N, 2, 1, 0, false},
        {BLOCKS / 4, 256, N, 2, 4, 0, false},
    };
    double before = INFINITY;
    for (unsigned i = 0; i < 3; i++) {
        struct launch_work w = stream_work(&BETTER_LATER[i]);
        double ns = time_of_launch(gpu, &w).ns;
        ck_assert_msg(ns <= before, "%s: variant %u", gpu->key, i);
        before = ns;
    }
    double moved = 12.0 * N;
    ck_assert_double_gt(moved / before, 0.85 * gpu->copy_gbs);
    ck_assert_double_le(moved / before, gpu->dram_gbs);
}
END_TEST

START_TEST(test_hostile_figures_give_finite_times)
{
    struct launch_work w;
    for (unsigned i = 0; i < sizeof w; i += 8) {
        memset(&w, 0, sizeof w);
        w.blocks = w.threads_per_block = 1;
        uint64_t most = UINT64_MAX;
        bool is_real = i >= offsetof(struct launch_work, critical_path_loads);
        double large = 1e15;
        memcpy((char *)&w + i, is_real ? (void *)&large : (void *)&most, 8);
        struct launch_time t = time_of_launch(gpu_default(), &w);
        ck_assert_msg(isfinite(t.ns) && t.ns >= 3800, "field at %u", i);
        ck_assert_ptr_nonnull(t.limiter);
    }
}
END_TEST

struct copy_case {
    enum copy_kind kind;
    uint64_t nbytes;
    bool pinned;
    double measured_ns, tolerance;
};

static const struct copy_case COPIES[] = {
    {COPY_H2D, 1024, true, 5568, 0.05},
    {COPY_H2D, 262144, true, 11872, 0.20},
    {COPY_H2D, 1073741824, true, 19366304, 0.05},
    {COPY_D2H, 4194304, true, 79872, 0.05},
    {COPY_H2D, 1024, false, 8928, 0.05},
    {COPY_D2H, 67108864, false, 7428896, 0.05},
    {COPY_D2D, 4194304, false, 7445, 0.30},
    {COPY_D2D, 1073741824, false, 504192, 0.05},
    {COPY_MEMSET, 67108864, false, 18208, 0.05},
    {COPY_MEMSET, 1073741824, false, 235349, 0.05},
};

START_TEST(test_copies_as_measured)
{
    const struct copy_case *c = &COPIES[_i];
    double ns = time_of_copy_ns(gpu_default(), c->kind, c->nbytes, c->pinned);
    double error = ns / c->measured_ns - 1;
    ck_assert_msg(fabs(error) <= c->tolerance, "row %d: %+.1f %%", _i, 100 * error);
}
END_TEST

START_TEST(test_peers_copy_over_nvlink_or_pcie)
{
    const uint64_t nbytes = UINT64_C(1) << 30;
    double fast = time_of_copy_ns(gpu_find("h200"), COPY_P2P, nbytes, false);
    double slow = time_of_copy_ns(gpu_find("l4"), COPY_P2P, nbytes, false);
    ck_assert_double_lt((double)nbytes / fast, 450);
    ck_assert_double_gt((double)nbytes / fast, 300);
    ck_assert_double_lt((double)nbytes / slow, 25);
}
END_TEST

#define COUNT(list) (sizeof(list) / sizeof *(list))

static Suite *suite(void)
{
    Suite *s = suite_create("time");
    TCase *t = tcase_create("launches");
    tcase_add_loop_test(t, test_streams_as_measured, 0, COUNT(TIMINGS));
    tcase_add_loop_test(t, test_pipes_as_measured, 0, COUNT(PIPES));
    tcase_add_test(t, test_a_chain_in_one_warp_is_latency);
    tcase_add_test(t, test_no_work_costs_a_launch);
    tcase_add_loop_test(t, test_variants_keep_their_order_on_every_gpu, 0, 6);
    tcase_add_test(t, test_hostile_figures_give_finite_times);
    suite_add_tcase(s, t);
    t = tcase_create("copies");
    tcase_add_loop_test(t, test_copies_as_measured, 0, COUNT(COPIES));
    tcase_add_test(t, test_peers_copy_over_nvlink_or_pcie);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
