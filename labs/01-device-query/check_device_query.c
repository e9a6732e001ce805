// Lab 01: query_gpu, time_work and the fast copy, as device_query.h promises.
#include "check_lab.h"
#include "device_query.h"

#include <string.h>

enum { CUDA_SUCCESS = 0, CUDA_INVALID_DEVICE = 101 };

// ---- task 1: what the GPU is -----------------------------------------------

// A report of the side in use, in the judge's own memory.
static const struct gpu_report *report_of(const char *function, int device)
{
    struct buffer *report = host_output("report", sizeof(struct gpu_report));
    call_ok(function, I32(device), PTR(report));
    return contents(report);
}

static const struct gpu_report *truth(int device)
{
    use(BASELINE);
    const struct gpu_report *r = report_of("true_report", device);
    use(SUBMISSION);
    return r;
}

static const struct gpu_report *answer(int device)
{
    given("query_gpu, device %d", device);
    return report_of("query_gpu", device);
}

START_TEST(tells_name_and_capability)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_text("name", said->name, sizeof said->name, is->name);
    expect_equal("major", said->major, is->major);
    expect_equal("minor", said->minor, is->minor);
}
END_TEST

START_TEST(counts_what_computes)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_equal("sms", said->sms, is->sms);
    expect_equal("warp_size", said->warp_size, is->warp_size);
    expect_equal("max_threads_per_block", said->max_threads_per_block,
                 is->max_threads_per_block);
    expect_equal("registers_per_sm", said->registers_per_sm,
                 is->registers_per_sm);
}
END_TEST

START_TEST(tells_shared_memory)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_equal("shared_per_block", (int64_t)said->shared_per_block,
                 (int64_t)is->shared_per_block);
    expect_equal("shared_per_block_optin",
                 (int64_t)said->shared_per_block_optin,
                 (int64_t)is->shared_per_block_optin);
    expect_equal("shared_per_sm", (int64_t)said->shared_per_sm,
                 (int64_t)is->shared_per_sm);
}
END_TEST

START_TEST(tells_caches_and_memory)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_equal("l2_bytes", (int64_t)said->l2_bytes, (int64_t)is->l2_bytes);
    expect_equal("memory_total", (int64_t)said->memory_total,
                 (int64_t)is->memory_total);
    expect(said->memory_free <= said->memory_total,
           "memory_free is %zu, more than memory_total, %zu", said->memory_free,
           said->memory_total);
}
END_TEST

// What is free is asked anew each time: here 64 MiB go between two questions.
START_TEST(follows_free_memory)
{
    const size_t taken = (size_t)64 << 20, slack = (size_t)8 << 20;
    size_t before = answer(0)->memory_free;
    device_output("64 MiB taken by somebody", taken);
    size_t after = answer(0)->memory_free;
    given("query_gpu before and after 64 MiB of the GPU were taken");
    expect(before >= after + taken - slack,
           "memory_free was %zu, then %zu: it did not follow", before, after);
}
END_TEST

START_TEST(tells_clocks)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_near("clock_mhz", said->clock_mhz, is->clock_mhz, WITHIN(1e-3));
    expect_near("memory_clock_mhz", said->memory_clock_mhz,
                is->memory_clock_mhz, WITHIN(1e-3));
    expect_equal("memory_bus_bits", said->memory_bus_bits, is->memory_bus_bits);
}
END_TEST

START_TEST(computes_bandwidth)
{
    const struct gpu_report *is = truth(0), *said = answer(0);
    expect_near("bandwidth_gbs", said->bandwidth_gbs, is->bandwidth_gbs,
                WITHIN(1e-3));
}
END_TEST

START_TEST(tells_every_gpu)
{
    if (device_count() < 2)
        skip("this machine shows one GPU");
    for (unsigned d = 0; d < device_count(); d++) {
        const struct gpu_report *is = truth((int)d), *said = answer((int)d);
        expect_equal("pci_bus", said->pci_bus, is->pci_bus);
        expect_text("name", said->name, sizeof said->name, is->name);
    }
}
END_TEST

START_TEST(tells_wrong_index)
{
    const int wrong[] = {-1, (int)device_count(), 1000};
    for (unsigned i = 0; i < 3; i++) {
        struct buffer *report = host_output("report", sizeof(struct gpu_report));
        given("query_gpu, device %d, where there are %u", wrong[i],
              device_count());
        const struct outcome *o =
            try_call_i32("query_gpu", I32(wrong[i]), PTR(report));
        expect(o->i != CUDA_SUCCESS, "it returned cudaSuccess for a GPU that is "
               "not there");
        expect(o->i == CUDA_INVALID_DEVICE, "it returned error %lld, where the "
               "runtime says cudaErrorInvalidDevice (101)", (long long)o->i);
    }
}
END_TEST

// ---- task 2: timing ------------------------------------------------------------

// Enough to take milliseconds on a GPU, and little to compute on a virtual one.
static size_t work_size(void)
{
    return on_gpu() ? 1 << 22 : 1 << 16;
}

static int work_rounds(void)
{
    return on_gpu() ? 10000 : 400;
}

static float time_told(const char *function, int rounds)
{
    struct buffer *out = device_output("out", work_size() * sizeof(float));
    struct buffer *time = host_output("time_ms", sizeof(float));
    call_ok(function, PTR(out), I64(work_size()), I32(rounds), PTR(time));
    return *(const float *)contents(time);
}

static void expect_time(int rounds)
{
    use(BASELINE);
    float is = time_told("true_time", rounds);
    use(SUBMISSION);
    given("time_work, %zu elements, %d rounds", work_size(), rounds);
    float said = time_told("time_work", rounds);
    expect(said >= 0.7f * is,
           "it says %.4g ms; the work takes %.4g ms. Was the clock read before "
           "the GPU had finished?", said, is);
    expect(said <= 1.3f * is,
           "it says %.4g ms; the work takes %.4g ms. What else lies between the "
           "two readings?", said, is);
}

START_TEST(times_the_work)
{
    expect_time(work_rounds());
}
END_TEST

START_TEST(times_longer_work)
{
    expect_time(4 * work_rounds());
}
END_TEST

// Work that was timed was also done.
START_TEST(does_the_work)
{
    size_t n = 1000;
    float *x = room_f32(n);
    for (size_t i = 0; i < n; i++) {
        x[i] = (float)i;
        for (int k = 0; k < 3; k++)
            x[i] = 0.5f * x[i] + 1;
    }
    given("time_work, %zu elements, 3 rounds", n);
    struct buffer *out = device_output("out", n * sizeof *x);
    struct buffer *time = host_output("time_ms", sizeof(float));
    call_ok("time_work", PTR(out), I64(n), I32(3), PTR(time));
    expect_f32(out, x, n, WITHIN(1e-6));
}
END_TEST

// ---- task 3: the fast copy -------------------------------------------------------

static void expect_copies(size_t n)
{
    float *x = random_f32(n, -1, 1);
    struct buffer *from = host_input("h_from", x, n * sizeof *x);
    struct buffer *to = device_output("d_to", n * sizeof *x);
    given("prepare_copy, n = %zu", n);
    call_ok("prepare_copy", PTR(from), PTR(to), I64(n));
    for (int round = 1; round <= 2; round++) {
        x = random_f32(n, -1, 1); // written after prepare_copy was there
        refill(from, x);
        given("copy_to_gpu, n = %zu, copy %d after prepare_copy", n, round);
        call_ok("copy_to_gpu", PTR(from), PTR(to), I64(n));
        expect_f32(to, x, n, EXACT);
    }
    given("finish_copy, n = %zu", n);
    call_ok("finish_copy", PTR(from), PTR(to), I64(n));
}

START_TEST(copies_what_is_there)
{
    expect_copies(1 << 16);
}
END_TEST

START_TEST(copies_any_size)
{
    expect_copies(1);
    expect_copies(100003);
}
END_TEST

// Pages that stay locked are lost to the machine, and cannot be locked again.
START_TEST(unlocks_the_pages)
{
    size_t n = 1 << 16;
    struct buffer *from = host_input("h_from", room_f32(n), n * sizeof(float));
    struct buffer *to = device_output("d_to", n * sizeof(float));
    for (int round = 1; round <= 2; round++) {
        given("prepare_copy, copy_to_gpu, finish_copy, round %d with the same "
              "memory", round);
        call_ok("prepare_copy", PTR(from), PTR(to), I64(n));
        call_ok("copy_to_gpu", PTR(from), PTR(to), I64(n));
        call_ok("finish_copy", PTR(from), PTR(to), I64(n));
    }
}
END_TEST

static double element_copied(const struct timed_call *c, size_t i)
{
    return timed_value(c, 0, i);
}

static void make_pageable(struct timed_call *c)
{
    size_t n = timed_size(c);
    timed_host_input(c, "h_from", n);
    timed_output(c, "d_to", n, element_copied, EXACT);
    timed_argument(c, I64(n));
}

static void make_fast(struct timed_call *c)
{
    make_pageable(c);
    timed_prepare(c, "prepare_copy");
}

START_TEST(copies_fast)
{
    SPEED(.what = "a copy to the GPU against cudaMemcpy from pageable memory",
          .submission = "copy_to_gpu", .make = make_fast,
          .baseline = "copy_pageable", .make_baseline = make_pageable,
          // the virtual GPU copies with the CPU, whose time counts past 5 ms
          .size = 1 << 26, .virtual_size = 1 << 18, .calls = 2);
}
END_TEST

LAB_SUITE(tells_name_and_capability, counts_what_computes, tells_shared_memory,
          tells_caches_and_memory, follows_free_memory, tells_clocks,
          computes_bandwidth, tells_every_gpu, tells_wrong_index,
          times_the_work, times_longer_work, does_the_work,
          copies_what_is_there, copies_any_size, unlocks_the_pages,
          copies_fast)
