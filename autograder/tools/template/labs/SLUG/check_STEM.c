// Lab @NUMBER@: what @STEM@.h promises, test by test.
#include "check_lab.h"

static void expect_twice(size_t n)
{
    float *in = random_f32(n, -1, 1), *out = room_f32(n);
    for (size_t i = 0; i < n; i++)
        out[i] = 2 * in[i];
    given("twice, n = %zu", n);
    struct buffer *d_in = device_input("in", in, n * sizeof *in);
    struct buffer *d_out = device_output("out", n * sizeof *out);
    call_ok("twice", PTR(d_in), PTR(d_out), I64(n));
    expect_f32(d_out, out, n, EXACT);
    expect_unchanged(d_in);
}

START_TEST(doubles_whole_blocks)
{
    expect_twice(1024);
}
END_TEST

START_TEST(doubles_any_size)
{
    expect_twice(1);
    expect_twice(1000);
    expect_twice(0);
}
END_TEST

START_TEST(stays_in_bounds)
{
    expect_twice(1003);
}
END_TEST

START_TEST(reverses)
{
    size_t n = 1000;
    float *in = random_f32(n, -1, 1), *out = room_f32(n);
    for (size_t i = 0; i < n; i++)
        out[i] = in[n - 1 - i];
    given("reversed, n = %zu", n);
    struct buffer *d_in = device_input("in", in, n * sizeof *in);
    struct buffer *d_out = device_output("out", n * sizeof *out);
    call_ok("reversed", PTR(d_in), PTR(d_out), I64(n));
    expect_f32(d_out, out, n, EXACT);
}
END_TEST

LAB_SUITE(doubles_whole_blocks, doubles_any_size, stays_in_bounds, reverses)
