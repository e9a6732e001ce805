// Lab 02: vector_add, vector_add_host, saxpy, as vector_add.h promises them.
#include "check_lab.h"

enum { CUDA_SUCCESS = 0, CUDA_OUT_OF_MEMORY = 2 };

// A size that no block size divides, large enough for many blocks.
enum { MILLION = 1000003 };

static float *sum_of(const float *a, const float *b, size_t n)
{
    float *sum = room_f32(n);
    for (size_t i = 0; i < n; i++)
        sum[i] = a[i] + b[i];
    return sum;
}

// ---- task 1: the kernel and its launch -------------------------------------

// Adds n random elements that begin `skew` bytes past alignment.
static void expect_sum(size_t n, size_t skew)
{
    float *a = random_f32(n, -1, 1), *b = random_f32(n, -1, 1);
    given("vector_add, n = %zu%s", n,
          skew ? ", pointers 4 bytes past a multiple of 16" : "");
    struct buffer *d_a = device_input_at("a", a, n * sizeof *a, skew);
    struct buffer *d_b = device_input_at("b", b, n * sizeof *b, skew);
    struct buffer *d_c = device_output_at("c", n * sizeof *a, skew);
    call_ok("vector_add", PTR(d_a), PTR(d_b), PTR(d_c), I64(n));
    expect_f32(d_c, sum_of(a, b, n), n, EXACT);
    expect_unchanged(d_a);
    expect_unchanged(d_b);
}

START_TEST(adds_whole_blocks)
{
    expect_sum(256, 0);
    expect_sum(1024, 0);
}
END_TEST

START_TEST(adds_ragged_ends)
{
    static const size_t sizes[] = {1, 3, 31, 255, 257, 1000};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_sum(sizes[i], 0);
}
END_TEST

START_TEST(adds_a_million)
{
    expect_sum(MILLION, 0);
}
END_TEST

START_TEST(adds_misaligned)
{
    expect_sum(1024, 4);
}
END_TEST

// n = 0 is the one launch that goes wrong by itself: a grid of no blocks.
START_TEST(adds_nothing)
{
    given("vector_add, n = 0: there is nothing to do, and that is no error");
    struct buffer *d_a = device_input("a", "", 0);
    struct buffer *d_c = device_output("c", 0);
    call_ok("vector_add", PTR(d_a), PTR(d_a), PTR(d_c), I64(0));
}
END_TEST

START_TEST(adds_in_place)
{
    size_t n = 102400;
    float *a = random_f32(n, -1, 1), *b = random_f32(n, -1, 1);
    float *sum = sum_of(a, b, n);

    given("vector_add, n = %zu, c is a", n);
    struct buffer *d_a = device_input("a and c", a, n * sizeof *a);
    struct buffer *d_b = device_input("b", b, n * sizeof *b);
    call_ok("vector_add", PTR(d_a), PTR(d_b), PTR(d_a), I64(n));
    expect_f32(d_a, sum, n, EXACT);

    given("vector_add, n = %zu, c is b", n);
    refill(d_a, a);
    call_ok("vector_add", PTR(d_a), PTR(d_b), PTR(d_b), I64(n));
    expect_f32(d_b, sum, n, EXACT);
}
END_TEST

// Here the old answer still lies in c when the second call comes.
START_TEST(adds_again)
{
    size_t n = 1280;
    struct buffer *d_a = device_input("a", random_f32(n, -1, 1), n * 4);
    struct buffer *d_b = device_input("b", random_f32(n, -1, 1), n * 4);
    struct buffer *d_c = device_output("c", n * 4);
    for (int round = 1; round <= 3; round++) {
        float *a = random_f32(n, -1, 1), *b = random_f32(n, -1, 1);
        given("vector_add, call %d with the same pointers and new values", round);
        refill(d_a, a);
        refill(d_b, b);
        call_ok("vector_add", PTR(d_a), PTR(d_b), PTR(d_c), I64(n));
        expect_f32(d_c, sum_of(a, b, n), n, EXACT);
    }
}
END_TEST

START_TEST(adds_on_the_gpu)
{
    size_t n = 1024;
    struct buffer *d_a = device_input("a", random_f32(n, -1, 1), n * 4);
    struct buffer *d_b = device_input("b", random_f32(n, -1, 1), n * 4);
    struct buffer *d_c = device_output("c", n * 4);
    given("vector_add, n = %zu", n);
    call_ok("vector_add", PTR(d_a), PTR(d_b), PTR(d_c), I64(n));
    expect_written_by_kernel(d_c, n * 4);
}
END_TEST

START_TEST(stays_in_bounds)
{
    expect_sum(1, 0);
    expect_sum(1003, 0);
    expect_sum(1003, 4);
}
END_TEST

// ---- task 2: the whole trip ------------------------------------------------

static void expect_trip(size_t n)
{
    float *a = random_f32(n, -1, 1), *b = random_f32(n, -1, 1);
    given("vector_add_host, n = %zu", n);
    struct buffer *h_a = host_input("a", a, n * sizeof *a);
    struct buffer *h_b = host_input("b", b, n * sizeof *b);
    struct buffer *h_c = host_output("c", n * sizeof *a);
    call_ok("vector_add_host", PTR(h_a), PTR(h_b), PTR(h_c), I64(n));
    expect_f32(h_c, sum_of(a, b, n), n, EXACT);
    expect_unchanged(h_a);
    expect_unchanged(h_b);
}

START_TEST(makes_the_trip)
{
    expect_trip(256);
    expect_trip(1024);
}
END_TEST

START_TEST(trips_of_any_size)
{
    expect_trip(1);
    expect_trip(10007);
}
END_TEST

START_TEST(trip_of_nothing)
{
    given("vector_add_host, n = 0");
    struct buffer *h_a = host_input("a", "", 0);
    struct buffer *h_c = host_output("c", 0);
    call_ok("vector_add_host", PTR(h_a), PTR(h_a), PTR(h_c), I64(0));
}
END_TEST

// More than any GPU has. The second term keeps `int nbytes` from being 0.
START_TEST(trip_tells_errors)
{
    int64_t n = (INT64_C(1) << 40) + (1 << 29);
    float one = 1;
    given("vector_add_host, n = %lld: 4 TiB a vector, which no GPU holds",
          (long long)n);
    struct buffer *h_a = host_input("a", &one, sizeof one);
    struct buffer *h_c = host_output("c", sizeof one);
    const struct outcome *o = try_call_i32("vector_add_host", PTR(h_a), PTR(h_a),
                                           PTR(h_c), I64(n));
    expect(o->i != CUDA_SUCCESS,
           "it returned cudaSuccess, although cudaMalloc had failed");
    expect(o->i == CUDA_OUT_OF_MEMORY,
           "it returned error %lld, but the first thing to fail was cudaMalloc, "
           "with cudaErrorMemoryAllocation (2)", (long long)o->i);
}
END_TEST

START_TEST(trip_runs_on_the_gpu)
{
    size_t n = 1024;
    unsigned launched = 0;
    struct buffer *h_a = host_input("a", random_f32(n, -1, 1), n * 4);
    struct buffer *h_c = host_output("c", n * 4);
    given("vector_add_host, n = %zu", n);
    call_ok("vector_add_host", PTR(h_a), PTR(h_a), PTR(h_c), I64(n));
    launches(&launched);
    expect(launched > 0 && accesses().store_bytes >= n * 4,
           "%u kernels ran and stored %llu bytes; the %zu bytes of the result "
           "are to come from a kernel", launched,
           (unsigned long long)accesses().store_bytes, n * 4);
}
END_TEST

START_TEST(trip_cleans_up)
{
    expect_trip(1024);
    expect_no_leaks();
}
END_TEST

// Half a GiB of elements and three: one past 2^31 bytes, and no multiple of 4.
START_TEST(trip_past_2_gib)
{
    size_t n = ((size_t)1 << 29) + 3, near = 1 << 20, period = 1000003;
    float *some = random_f32(period, -1, 1), *a = room_f32(n);
    for (size_t i = 0; i < n; i++)
        a[i] = some[i % period];
    given("vector_add_host, n = %zu: %zu bytes a vector", n, n * 4);
    struct buffer *h_a = host_input("a and b", a, n * sizeof *a);
    struct buffer *h_c = host_output("c", n * sizeof *a);
    call_ok("vector_add_host", PTR(h_a), PTR(h_a), PTR(h_c), I64(n));
    for (size_t i = 0; i < n; i++)
        a[i] += a[i];
    expect_f32_range(h_c, a, 0, near, EXACT);
    expect_f32_range(h_c, a + n - near, n - near, near, EXACT);
}
END_TEST

// ---- task 3: saxpy -----------------------------------------------------------

// Where each vector of a call begins, in bytes past a multiple of 16.
struct skews {
    size_t x, y, z;
};

static void expect_saxpy(size_t n, struct skews skew)
{
    float alpha = -1.75f;
    float *x = random_f32(n, -1, 1), *y = random_f32(n, -1, 1);
    float *result = room_f32(n);
    for (size_t i = 0; i < n; i++)
        result[i] = alpha * x[i] + y[i];
    given("saxpy, n = %zu, x %zu, y %zu, z %zu bytes past a multiple of 16", n,
          skew.x, skew.y, skew.z);
    struct buffer *d_x = device_input_at("x", x, n * sizeof *x, skew.x);
    struct buffer *d_y = device_input_at("y", y, n * sizeof *y, skew.y);
    struct buffer *d_z = device_output_at("z", n * sizeof *x, skew.z);
    call_ok("saxpy", F32(alpha), PTR(d_x), PTR(d_y), PTR(d_z), I64(n));
    // with or without a fused multiply-add: one rounding of alpha * x apart
    expect_f32(d_z, result, n, WITHIN_ABS(2.4e-7, 2.4e-7));
    expect_unchanged(d_x);
    expect_unchanged(d_y);
}

static const struct skews ALIGNED = {0, 0, 0};

START_TEST(computes_saxpy)
{
    expect_saxpy(256, ALIGNED);
    expect_saxpy(4096, ALIGNED);
}
END_TEST

START_TEST(saxpy_keeps_the_tail)
{
    static const size_t sizes[] = {1, 2, 3, 5, 255, 257, 1023, MILLION};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
        expect_saxpy(sizes[i], ALIGNED);
}
END_TEST

START_TEST(saxpy_of_nothing)
{
    given("saxpy, n = 0");
    struct buffer *d_x = device_input("x", "", 0);
    struct buffer *d_z = device_output("z", 0);
    call_ok("saxpy", F32(2), PTR(d_x), PTR(d_x), PTR(d_z), I64(0));
}
END_TEST

START_TEST(saxpy_misaligned)
{
    expect_saxpy(1024, (struct skews){4, 4, 4});
    expect_saxpy(1024, (struct skews){0, 8, 0});
    expect_saxpy(1003, (struct skews){0, 0, 4});
}
END_TEST

START_TEST(saxpy_stays_in_bounds)
{
    expect_saxpy(1003, ALIGNED);
    expect_saxpy(2, ALIGNED);
}
END_TEST

// ---- speed -------------------------------------------------------------------
//
// Bandwidth: vector_add and saxpy move three floats an element, a copy two.

static double element_sum(const struct timed_call *c, size_t i)
{
    return (double)(timed_value(c, 0, i) + timed_value(c, 1, i));
}

static void make_add(struct timed_call *c)
{
    size_t n = timed_size(c);
    timed_input(c, "a", n);
    timed_input(c, "b", n);
    timed_output(c, "c", n, element_sum, EXACT);
    timed_argument(c, I64(n));
}

static double element_saxpy(const struct timed_call *c, size_t i)
{
    return 1.5 * timed_value(c, 0, i) + timed_value(c, 1, i);
}

static void make_saxpy(struct timed_call *c)
{
    size_t n = timed_size(c);
    timed_argument(c, F32(1.5));
    timed_input(c, "x", n);
    timed_input(c, "y", n);
    timed_output(c, "z", n, element_saxpy, WITHIN_ABS(2.4e-7, 2.4e-7));
    timed_argument(c, I64(n));
}

static double element_copy(const struct timed_call *c, size_t i)
{
    return timed_value(c, 0, i);
}

static void make_copy(struct timed_call *c)
{
    size_t n = timed_size(c);
    timed_input(c, "from", n);
    timed_output(c, "to", n, element_copy, EXACT);
    timed_argument(c, I64(n));
}

START_TEST(add_near_copy_speed)
{
    SPEED(.what = "bandwidth of vector_add against a device-to-device copy",
          .submission = "vector_add", .make = make_add,
          .baseline = "copy", .make_baseline = make_copy,
          .size = 1 << 26, .virtual_size = 1 << 24, .scale = 1.5);
}
END_TEST

START_TEST(saxpy_near_copy_speed)
{
    SPEED(.what = "bandwidth of saxpy against a device-to-device copy",
          .submission = "saxpy", .make = make_saxpy,
          .baseline = "copy", .make_baseline = make_copy,
          .size = 1 << 26, .virtual_size = 1 << 24, .scale = 1.5);
}
END_TEST

LAB_SUITE(adds_whole_blocks, adds_ragged_ends, adds_a_million, adds_misaligned,
          adds_nothing, adds_in_place, adds_again, adds_on_the_gpu,
          stays_in_bounds, add_near_copy_speed, makes_the_trip,
          trips_of_any_size, trip_of_nothing, trip_tells_errors,
          trip_past_2_gib, trip_runs_on_the_gpu, trip_cleans_up,
          computes_saxpy, saxpy_keeps_the_tail, saxpy_of_nothing,
          saxpy_misaligned, saxpy_stays_in_bounds, saxpy_near_copy_speed)
