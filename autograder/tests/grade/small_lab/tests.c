// The checks of the small lab that the judge is tested with: double every
// element, and add one to it.
#include "check_lab.h"

static void expect_doubled(size_t n)
{
    float *a = random_f32(n, 1, 2), *twice = room_f32(n);
    for (size_t i = 0; i < n; i++)
        twice[i] = 2 * a[i];
    given("n = %zu", n);
    struct buffer *d_a = device_input("a", a, n * sizeof *a);
    struct buffer *d_b = device_output("b", n * sizeof *a);
    call("twice", PTR(d_a), PTR(d_b), I64(n));
    expect_f32(d_b, twice, n, EXACT);
    if (n > 10)
        expect_f32_range(d_b, twice + 10, 10, n - 10, EXACT);
    expect_unchanged(d_a);
}

START_TEST(doubles)
{
    expect_doubled(512);
}
END_TEST

START_TEST(doubles_nothing)
{
    expect_doubled(0);
}
END_TEST

START_TEST(doubles_too_much)
{
    struct buffer *d_a = device_output("a", (size_t)2 << 30);
    call("twice", PTR(d_a), PTR(d_a), I64(0));
}
END_TEST

START_TEST(stays_inside)
{
    expect_doubled(300);
}
END_TEST

START_TEST(uses_sectors)
{
    expect_doubled(256);
    award_between("efficiency", global_efficiency(), 0.5, 1);
}
END_TEST

static double element_twice(const struct timed_call *c, size_t i)
{
    return 2 * timed_value(c, 0, i);
}

static void make_twice(struct timed_call *c)
{
    timed_input(c, "a", timed_size(c));
    timed_output(c, "b", timed_size(c), element_twice, EXACT);
    timed_argument(c, I64(timed_size(c)));
}

START_TEST(is_fast)
{
    SPEED(.what = "twice against itself", .submission = "twice",
          .make = make_twice, .baseline = "twice", .size = 1000);
}
END_TEST

START_TEST(adds_one)
{
    int32_t got = call_i32("plus_one", I32(41));
    ck_assert_int_eq(got, 42); // a plain assertion of Check's
}
END_TEST

START_TEST(tells_errors)
{
    const struct outcome *o = try_call_i32("plus_one", I32(-1));
    expect_equal("the error", o->cuda_error, 1);
}
END_TEST

START_TEST(on_gpus)
{
    skip("has no GPU in the judge's tests");
}
END_TEST

LAB_SUITE(on_gpus, doubles, doubles_nothing, doubles_too_much, stays_inside,
          uses_sectors, is_fast, adds_one, tells_errors)
