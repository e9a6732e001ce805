// What `grade lab --json` said, against what a sample must earn.
#include "tools.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Whether `list` (names between single spaces) holds the name, where it
// stands plainly or as name@target.
static bool expects(const char *list, const char *name, const char *target)
{
    char copy[1024], *save = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        char *where = strchr(word, '@');
        if (where)
            *where++ = '\0';
        if (strcmp(word, name) == 0)
            return !where || strcmp(where, target) == 0;
    }
    return false;
}

static const char *string_of(const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));
    return s ? s : "";
}

static bool failed(const json_t *test)
{
    const char *status = string_of(test, "status");
    return strcmp(status, "failed") == 0 || strcmp(status, "partial") == 0;
}

static bool agrees_on_fails(const struct sample *s, const json_t *tests,
                            const char *target, char *message)
{
    struct buf lost = {0}, kept = {0};
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        const char *name = string_of(test, "name");
        bool expected = expects(s->fails, name, target);
        if (failed(test) && !expected)
            buf_printf(&lost, " %s", name);
        if (!failed(test) && expected)
            buf_printf(&kept, " %s", name);
    }
    bool ok = !lost.n && !kept.n;
    if (!ok)
        snprintf(message, TOOL_MESSAGE, "%s%.200s%s%s%.200s",
                 lost.n ? "also loses" : "", lost.n ? lost.data : "",
                 lost.n && kept.n ? "; " : "", kept.n ? "does not lose" : "",
                 kept.n ? kept.data : "");
    buf_free(&lost);
    buf_free(&kept);
    return ok;
}

// A rung must keep a distance from the thresholds (see course design).
static bool agrees_on_rung(const struct sample *s, const json_t *tests,
                           char *message)
{
    double ratio = NAN;
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        if (strcmp(string_of(test, "name"), s->rung.test) == 0)
            ratio = json_number_value(json_object_get(test, "ratio"));
    }
    const char *class = s->rung.class;
    double least = 0, most = INFINITY;
    if (strcmp(class, "mistake") == 0)
        most = 0.9 * s->pass;
    else if (strcmp(class, "plain") == 0)
        most = 0.95 * s->full;
    else if (strcmp(class, "method") == 0)
        least = 1.05 * s->full;
    bool ok = ratio > 0 && ratio >= least && ratio <= most;
    snprintf(message, TOOL_MESSAGE, "%s of %s: ratio %.3f, wanted %s %.3f", class,
             s->rung.test, ratio, least > 0 ? "at least" : "at most",
             least > 0 ? least : most);
    return ok;
}

static bool agrees_on_score(const struct sample *s, const json_t *tests,
                            double score, double most, char *message)
{
    const char *first = "";
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
    {
        if (!*first && failed(test))
            first = string_of(test, "name");
    }
    double wanted = s->expect == EXPECT_FULL ? most : 0;
    snprintf(message, TOOL_MESSAGE, "%g of %g points, wanted %g%s%s", score, most,
             wanted, *first && wanted > 0 ? "; first lost: " : "",
             wanted > 0 ? first : "");
    return fabs(score - wanted) < 1e-6;
}

bool verdict_agrees(const struct sample *s, const char *json,
                    const char *target, char message[TOOL_MESSAGE])
{
    json_error_t error;
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &error);
    const json_t *tests = json_object_get(root, "tests");
    double score = json_number_value(json_object_get(root, "score"));
    double most = json_number_value(json_object_get(root, "max_score"));
    const char *status = string_of(root, "status");
    bool ok = false;
    *message = '\0';
    if (!root)
        snprintf(message, TOOL_MESSAGE, "no JSON: %.200s", error.text);
    else if (strcmp(status, "graded") != 0)
        snprintf(message, TOOL_MESSAGE, "not graded: %.100s", status);
    else if (strcmp(string_of(root, "target"), target) != 0)
        snprintf(message, TOOL_MESSAGE, "graded on target %.50s",
                 string_of(root, "target"));
    else if (!json_array_size(tests) || !(most > 0))
        snprintf(message, TOOL_MESSAGE, "no tests in the result");
    else if (s->expect == EXPECT_FAILS)
        ok = agrees_on_fails(s, tests, target, message);
    else if (s->expect == EXPECT_RUNG)
        ok = agrees_on_rung(s, tests, message);
    else
        ok = agrees_on_score(s, tests, score, most, message);
    json_decref(root);
    return ok;
}
