// --json: the result for programs, written whole or not at all.
#include "grade.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

static const char *grading_status(const struct grading *g)
{
    return g->status == GRADED          ? "graded"
           : g->status == COMPILE_ERROR ? "compile_error"
                                        : "not_graded";
}

// A test without a record is told as one that was not measured.
static const char *test_status(const struct record *r)
{
    return status_name(r->status == TEST_NOT_GRADED ? TEST_NOT_MEASURED
                                                    : r->status);
}

// JSON has no NaN: null.
static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *text_or_null(const char *text)
{
    json_t *s = text && text[0] ? json_string(text) : NULL;
    return s ? s : json_null();
}

static json_t *test_json(const struct record *r)
{
    json_t *interval = r->has_ratio ? json_pack("[oo]", number(r->lo), number(r->hi))
                                    : json_null();
    return json_pack(
        "{s:s, s:s, s:i, s:s, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o,"
        " s:o, s:o, s:o}",
        "name", r->test->name, "kind", kind_name(r->test->kind), "task",
        (int)r->test->task, "status", test_status(r), "score", number(r->score),
        "max_score", number(r->test->points), "counts", r->counts, "waits",
        r->waits, "message", text_or_null(r->message), "given",
        text_or_null(r->given), "pattern", text_or_null(r->pattern), "shown",
        text_or_null(r->shown), "file", text_or_null(r->file), "line",
        r->line ? json_integer(r->line) : json_null(), "ratio",
        r->has_ratio ? number(r->ratio) : json_null(), "interval", interval,
        "seconds", number(r->seconds));
}

static json_t *tests_json(const struct grading *g)
{
    json_t *tests = json_array();
    for (unsigned i = 0; g->records && i < g->manifest->tests_count; i++)
        json_array_append_new(tests, test_json(&g->records[i]));
    return tests;
}

static json_t *grading_json(const struct grading *g)
{
    const char *gpu = g->target.name;
    if (!strncmp(gpu, "NVIDIA ", 7))
        gpu += 7;
    return json_pack(
        "{s:s, s:s, s:o, s:b, s:b, s:s, s:o, s:o, s:s, s:o, s:o, s:i, s:o}", "lab",
        g->manifest->lab, "target",
        g->target.kind == TARGET_GPU ? "gpu" : "virtual", "gpu",
        text_or_null(gpu), "modelled", g->target.kind == TARGET_VIRTUAL,
        "copy_mode", g->copies,
        "isolation", isolation_name(g->isolation), "score", number(g->score),
        "max_score", number(100), "status", grading_status(g), "reason",
        text_or_null(g->status == NOT_GRADED ? g->reason : NULL), "compiler",
        text_or_null(g->compiler), "not_measured", (int)g->nnot_measured, "tests",
        tests_json(g));
}

int text_out(const char *path, const char *text)
{
    if (strcmp(path, "-"))
        return text_write(path, text) < 0 ? -1 : 0;
    return fputs(text, stdout) == EOF || fflush(stdout) ? -1 : 0;
}

int json_write(const char *path, const struct grading *g)
{
    json_t *result = grading_json(g);
    char *text = result ? json_dumps(result, JSON_INDENT(2) | JSON_REAL_PRECISION(12))
                        : NULL;
    struct buf whole = {0};
    int failed = -1;
    if (text) {
        buf_printf(&whole, "%s\n", text);
        failed = text_out(path, whole.data);
    } else {
        errno = ENOMEM;
    }
    buf_free(&whole);
    free(text);
    json_decref(result);
    return failed;
}
