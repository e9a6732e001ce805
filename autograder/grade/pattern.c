// What the wrong elements of an array have in common: the sentence that tells
// a learner more than the first wrong value.
#include "running.h"

#include <stdlib.h>
#include <string.h>

size_t element_bytes(enum element kind)
{
    static const size_t bytes[] = {sizeof(float), sizeof(double),
                                   sizeof(int32_t), 1};
    return bytes[kind];
}

double element_at(enum element kind, const void *data, size_t i)
{
    switch (kind) {
    case ELEMENT_F32:
        return ((const float *)data)[i];
    case ELEMENT_F64:
        return ((const double *)data)[i];
    case ELEMENT_I32:
        return ((const int32_t *)data)[i];
    case ELEMENT_BYTE:
        break;
    }
    return ((const uint8_t *)data)[i];
}

bool element_right(double actual, double expected, struct tolerance t)
{
    if (isnan(expected))
        return isnan(actual);
    if (isinf(expected))
        return actual == expected;
    // Written so that a NaN is on the failing side.
    return isfinite(actual) &&
           fabs(actual - expected) <= t.absolute + t.relative * fabs(expected);
}

struct view {
    enum element kind;
    const void *actual, *expected;
    size_t n;
    struct tolerance tolerance;
    size_t nwrong, first, last;
};

static bool is_wrong(const struct view *v, size_t i)
{
    return !element_right(element_at(v->kind, v->actual, i),
                          element_at(v->kind, v->expected, i), v->tolerance);
}

// ---- where they are --------------------------------------------------------------

// Whether exactly the elements first, first + step, ... are wrong.
static bool every_nth(const struct view *v, size_t step)
{
    if (v->nwrong < 3 || v->nwrong != (v->n - v->first + step - 1) / step)
        return false;
    for (size_t i = v->first; i < v->n; i += step)
        if (!is_wrong(v, i))
            return false;
    return true;
}

// Whether the same stretch [lo, hi) of every `period` elements is wrong.
static bool in_every(const struct view *v, size_t period, size_t *lo, size_t *hi)
{
    size_t end = v->first;
    if (v->n < 2 * period || v->first >= period)
        return false;
    *lo = v->first;
    while (end < period && is_wrong(v, end))
        end++;
    *hi = end;
    if (*lo == 0 && *hi == period)
        return false;
    for (size_t i = 0; i < v->n; i++)
        if (is_wrong(v, i) != (i % period >= *lo && i % period < *hi))
            return false;
    return true;
}

static size_t next_wrong(const struct view *v, size_t i)
{
    while (i < v->n && !is_wrong(v, i))
        i++;
    return i;
}

static const char *ordinal(size_t n)
{
    bool teen = n % 100 >= 11 && n % 100 <= 13;
    return teen ? "th" : n % 10 == 1 ? "st" : n % 10 == 2 ? "nd"
                       : n % 10 == 3 ? "rd" : "th";
}

static void say_repeats(const struct view *v, char *out, size_t room)
{
    size_t lo, hi, step = next_wrong(v, v->first + 1) - v->first;
    if (v->nwrong > 2 && every_nth(v, step)) {
        snprintf(out, room, "every %zu%s element, from index %zu on", step,
                 ordinal(step), v->first);
        return;
    }
    for (size_t period = 2; period <= 1024; period *= 2)
        if (in_every(v, period, &lo, &hi)) {
            snprintf(out, room, "elements %zu to %zu of every %zu", lo, hi - 1,
                     period);
            return;
        }
    snprintf(out, room, "%zu of %zu elements, from index %zu to %zu", v->nwrong,
             v->n, v->first, v->last);
}

static void say_where(const struct view *v, char *out, size_t room)
{
    bool together = v->nwrong == v->last - v->first + 1;
    if (v->nwrong == v->n)
        snprintf(out, room, v->n == 1 ? "the only element" : "every element");
    else if (v->nwrong == 1 && v->first == v->n - 1)
        snprintf(out, room, "only the last element");
    else if (v->nwrong == 1)
        snprintf(out, room, "only the element at index %zu", v->first);
    else if (together && v->last == v->n - 1)
        snprintf(out, room, "every element from index %zu on", v->first);
    else if (together && v->first == 0)
        snprintf(out, room, "every element up to index %zu", v->last);
    else if (together)
        snprintf(out, room, "every element from index %zu to %zu", v->first,
                 v->last);
    else
        say_repeats(v, out, room);
}

// ---- what they hold ----------------------------------------------------------------

typedef bool trait(const struct view *, size_t i);

static bool is_poison(const struct view *v, size_t i)
{
    size_t nbytes = element_bytes(v->kind);
    const uint8_t *p = (const uint8_t *)v->actual + i * nbytes;
    for (size_t k = 0; k < nbytes; k++)
        if (p[k] != 0xff)
            return false;
    return true;
}

static bool is_zero(const struct view *v, size_t i)
{
    return element_at(v->kind, v->actual, i) == 0;
}

static bool is_not_a_number(const struct view *v, size_t i)
{
    return isnan(element_at(v->kind, v->actual, i));
}

static bool holds(const struct view *v, size_t i, size_t other)
{
    return other < v->n &&
           element_right(element_at(v->kind, v->actual, i),
                         element_at(v->kind, v->expected, other), v->tolerance);
}

// The ends have no neighbour, or one past the array: taken on trust.
static bool holds_right(const struct view *v, size_t i)
{
    return i + 1 == v->n || holds(v, i, i + 1);
}

static bool holds_left(const struct view *v, size_t i)
{
    return i == 0 || holds(v, i, i - 1);
}

static bool holds_mirror(const struct view *v, size_t i)
{
    return holds(v, i, v->n - 1 - i);
}

static bool holds_double(const struct view *v, size_t i)
{
    return element_right(element_at(v->kind, v->actual, i),
                         2 * element_at(v->kind, v->expected, i), v->tolerance);
}

static const struct {
    trait *has;
    size_t least; // wrong ones, to be no accident
    const char *says;
} traits[] = {
    {is_poison, 1, "never written"},
    {is_not_a_number, 1, "NaN"},
    {is_zero, 1, "zero: never written, or written with nothing"},
    {holds_right, 3, "off by one: holds its right neighbour's value"},
    {holds_left, 3, "off by one: holds its left neighbour's value"},
    {holds_mirror, 3, "in reverse order"},
    {holds_double, 3, "twice what it should be"},
};

static const char *what_they_hold(const struct view *v)
{
    for (size_t t = 0; t < sizeof traits / sizeof traits[0]; t++) {
        bool all = v->nwrong >= traits[t].least;
        for (size_t i = v->first; all && i < v->n; i = next_wrong(v, i + 1))
            all = traits[t].has(v, i);
        if (all)
            return traits[t].says;
    }
    return NULL;
}

void pattern_describe(enum element kind, const void *actual,
                      const void *expected, size_t n, struct tolerance tolerance,
                      char *out, size_t room)
{
    struct view v = {kind, actual, expected, n, tolerance, 0, 0, 0};
    char where[160];
    out[0] = '\0';
    for (size_t i = 0; i < n; i++)
        if (is_wrong(&v, i)) {
            v.first = v.nwrong ? v.first : i;
            v.last = i;
            v.nwrong++;
        }
    if (!v.nwrong)
        return;
    say_where(&v, where, sizeof where);
    const char *holds = what_they_hold(&v);
    snprintf(out, room, "%s%s%s", where, holds ? ": " : "", holds ? holds : "");
}
