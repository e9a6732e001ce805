// Expectations: comparisons that NaN, zeros and stale answers fail.
#include "running.h"

#include <string.h>

// A value as a person writes it: no "-nan".
static const char *value_text(double value, char out[32])
{
    if (isnan(value))
        snprintf(out, 32, "NaN");
    else
        snprintf(out, 32, "%.9g", value);
    return out;
}

// ---- arrays ------------------------------------------------------------------------

static void say_first_wrong(const struct held *h, enum element kind,
                            const void *actual, const void *expected, size_t n,
                            size_t base, struct tolerance t)
{
    for (size_t i = 0; i < n; i++) {
        double got = element_at(kind, actual, i);
        double want = element_at(kind, expected, i);
        char has[32], wants[32];
        if (element_right(got, want, t))
            continue;
        pattern_describe(kind, actual, expected, n, t, running.record->pattern,
                         sizeof running.record->pattern);
        failed("%s[%zu] is %s, expected %s", h->name, base + i,
               value_text(got, has), value_text(want, wants));
    }
}

// Behind the last element lies 0xFF, as the judge left it.
static void demand_guard(const struct held *h)
{
    uint8_t guard[GUARD_BYTES];
    if (!h->guard)
        return;
    if (buffer_read(h->buffer, h->nbytes, guard, h->guard))
        machine_failed("%s could not be read: the device failed", h->name);
    for (size_t i = 0; i < h->guard; i++)
        if (guard[i] != 0xff)
            failed("something was written %zu bytes past the end of %s", i,
                   h->name);
}

static void expect_elements(struct buffer *buffer, enum element kind,
                            const void *expected, size_t first, size_t n,
                            struct tolerance t)
{
    size_t each = element_bytes(kind);
    if (!n)
        return;
    struct held *h = held_of(buffer);
    if (n > h->nbytes / each || first > h->nbytes / each - n)
        machine_failed("the lab's check expects more of %s than it holds",
                       h->name);
    void *actual = room(n * each);
    if (buffer_read(buffer, first * each, actual, n * each))
        machine_failed("%s could not be read: the device failed", h->name);
    say_first_wrong(h, kind, actual, expected, n, first, t);
    demand_guard(h);
}

void expect_f32(struct buffer *b, const float *expected, size_t n,
                struct tolerance t)
{
    expect_elements(b, ELEMENT_F32, expected, 0, n, t);
}

void expect_f64(struct buffer *b, const double *expected, size_t n,
                struct tolerance t)
{
    expect_elements(b, ELEMENT_F64, expected, 0, n, t);
}

void expect_i32(struct buffer *b, const int32_t *expected, size_t n)
{
    expect_elements(b, ELEMENT_I32, expected, 0, n, EXACT);
}

void expect_bytes(struct buffer *b, const void *expected, size_t nbytes)
{
    expect_elements(b, ELEMENT_BYTE, expected, 0, nbytes, EXACT);
}

void expect_f32_range(struct buffer *b, const float *expected, size_t first,
                      size_t count, struct tolerance t)
{
    expect_elements(b, ELEMENT_F32, expected, first, count, t);
}

void expect_unchanged(struct buffer *buffer)
{
    if (!buffer)
        return;
    struct held *h = held_of(buffer);
    if (!h->original)
        machine_failed("the lab's check gave %s no contents to keep", h->name);
    const uint8_t *now = contents(buffer), *then = h->original;
    for (size_t i = 0; i < h->nbytes; i++)
        if (now[i] != then[i])
            failed("the input %s was changed, first at byte %zu", h->name, i);
    demand_guard(h);
}

// ---- single values --------------------------------------------------------------------

void expect_near(const char *what, double actual, double expected,
                 struct tolerance t)
{
    char has[32], wants[32];
    if (!element_right(actual, expected, t))
        failed("%s is %s, expected %s", what, value_text(actual, has),
               value_text(expected, wants));
}

void expect_equal(const char *what, int64_t actual, int64_t expected)
{
    if (actual != expected)
        failed("%s is %lld, expected %lld", what, (long long)actual,
               (long long)expected);
}

void expect_text(const char *what, const char *actual, size_t capacity,
                 const char *expected)
{
    size_t n = strnlen(actual, capacity);
    if (n == capacity)
        failed("%s is not terminated within its %zu bytes", what, capacity);
    if (strcmp(actual, expected))
        failed("%s is \"%s\", expected \"%s\"", what, actual, expected);
}
