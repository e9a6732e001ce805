// Against the calculator that comes with the CUDA toolkit, over every shape of
// launch, on every modelled GPU.
#include "../test.h"
#include "vgpu/model/model.h"

#include <cuda_occupancy.h>

static cudaOccDeviceProp properties_of(const struct gpu_model *gpu)
{
    cudaOccDeviceProp p = {0};
    p.computeMajor = (int)gpu->capability / 10;
    p.computeMinor = (int)gpu->capability % 10;
    p.maxThreadsPerBlock = 1024;
    p.maxThreadsPerMultiprocessor = (int)gpu->warps_per_sm * 32;
    p.regsPerBlock = p.regsPerMultiprocessor = (int)gpu->regs_per_sm;
    p.warpSize = 32;
    p.sharedMemPerBlock = gpu->shared_per_block;
    p.sharedMemPerMultiprocessor = gpu->shared_per_sm;
    p.sharedMemPerBlockOptin = gpu->shared_optin;
    p.reservedSharedMemPerBlock = gpu->shared_reserved;
    p.numSms = (int)gpu->sms;
    return p;
}

static unsigned expected_blocks(const struct gpu_model *gpu, unsigned threads,
                                unsigned regs, unsigned shared)
{
    cudaOccDeviceProp p = properties_of(gpu);
    cudaOccFuncAttributes a = {0};
    cudaOccDeviceState state = {0};
    cudaOccResult result = {0};
    a.maxThreadsPerBlock = 1024;
    a.numRegs = (int)regs;
    a.partitionedGCConfig = PARTITIONED_GC_OFF;
    a.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    a.maxDynamicSharedSizeBytes = gpu->shared_optin;
    state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;
    int status = cudaOccMaxActiveBlocksPerMultiprocessor(
        &result, &p, &a, &state, (int)threads, shared);
    ck_assert_int_eq(status, CUDA_OCC_SUCCESS);
    return (unsigned)result.activeBlocksPerMultiprocessor;
}

static void compare(const struct gpu_model *gpu, unsigned threads, unsigned regs,
                    unsigned shared)
{
    struct occupancy o = occupancy_of(gpu, threads, regs, shared);
    unsigned expected = expected_blocks(gpu, threads, regs, shared);
    ck_assert_msg(o.blocks_per_sm == expected,
                  "%s, %u threads, %u registers, %u bytes: %u, not %u", gpu->key,
                  threads, regs, shared, o.blocks_per_sm, expected);
    ck_assert_uint_eq(o.warps_per_sm, expected * ((threads + 31) / 32));
}

START_TEST(test_equals_cudas_calculator)
{
    const struct gpu_model *gpu = gpu_at((unsigned)_i);
    for (unsigned threads = 1; threads <= 1024; threads += threads < 64 ? 9 : 31)
        for (unsigned regs = 8; regs <= 255; regs += 3)
            compare(gpu, threads, regs, 0);
    for (unsigned threads = 32; threads <= 1024; threads += 32)
        for (unsigned shared = 0; shared <= gpu->shared_optin; shared += 1000)
            compare(gpu, threads, 16, shared);
}
END_TEST

START_TEST(test_names_what_limits)
{
    const struct gpu_model *h200 = gpu_default();
    ck_assert_str_eq(occupancy_of(h200, 256, 16, 0).limiter, "warps");
    ck_assert_str_eq(occupancy_of(h200, 32, 16, 0).limiter, "blocks");
    ck_assert_str_eq(occupancy_of(h200, 256, 64, 0).limiter, "registers");
    ck_assert_str_eq(occupancy_of(h200, 256, 16, 65536).limiter, "shared");
}
END_TEST

START_TEST(test_impossible_launches_hold_no_block)
{
    const struct gpu_model *h200 = gpu_default();
    ck_assert_uint_eq(occupancy_of(h200, 0, 16, 0).blocks_per_sm, 0);
    ck_assert_uint_eq(occupancy_of(h200, 1025, 16, 0).blocks_per_sm, 0);
    ck_assert_uint_eq(occupancy_of(h200, 32, 256, 0).blocks_per_sm, 0);
    ck_assert_uint_eq(occupancy_of(h200, 32, UINT32_MAX, 0).blocks_per_sm, 0);
    ck_assert_uint_eq(occupancy_of(h200, 32, 16, UINT32_MAX).blocks_per_sm, 0);
    ck_assert_uint_eq(occupancy_of(h200, 1024, 128, 0).blocks_per_sm, 0);
}
END_TEST

START_TEST(test_gpus_are_found_by_key)
{
    unsigned n = 0;
    for (; gpu_at(n); n++)
        ck_assert_ptr_eq(gpu_find(gpu_at(n)->key), gpu_at(n));
    ck_assert_uint_eq(n, 6);
    ck_assert_ptr_eq(gpu_find("H200"), gpu_default());
    ck_assert_ptr_null(gpu_find("h2000"));
    ck_assert_ptr_null(gpu_find(NULL));
}
END_TEST

// Two figures that belong together: clock and bus give the bandwidth.
START_TEST(test_bandwidth_follows_from_clock_and_bus)
{
    const struct gpu_model *gpu = gpu_at((unsigned)_i);
    double gbs = 2e-3 * gpu->memory_mhz * gpu->bus_bits / 8;
    ck_assert_double_eq_tol(gbs / gpu->dram_gbs, 1, 0.01);
    ck_assert_double_lt(gpu->copy_gbs, gpu->dram_gbs);
    ck_assert_double_gt(gpu->l2_gbs, gpu->dram_gbs);
}
END_TEST

static Suite *suite(void)
{
    Suite *s = suite_create("occupancy");
    TCase *t = tcase_create("occupancy");
    tcase_add_loop_test(t, test_equals_cudas_calculator, 0, 6);
    tcase_add_test(t, test_names_what_limits);
    tcase_add_test(t, test_impossible_launches_hold_no_block);
    suite_add_tcase(s, t);
    t = tcase_create("gpus");
    tcase_add_test(t, test_gpus_are_found_by_key);
    tcase_add_loop_test(t, test_bandwidth_follows_from_clock_and_bus, 0, 6);
    suite_add_tcase(s, t);
    return s;
}

TEST_MAIN(suite)
