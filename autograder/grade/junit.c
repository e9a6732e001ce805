// --junit: the result for CI systems.
//
//   testsuites > testsuite (the lab) > testcase > failure | error | skipped
//
// Partial points are a failure whose message says how many there were.
#include "grade.h"

#include <stdlib.h>

#include "tools/text.h"

// Attribute and element text. The records hold valid UTF-8 without control
// codes, but a manifest may not: cleaned here for all.
static void add_escaped(struct buf *out, const char *text)
{
    char clean[4 * GRADE_MESSAGE];
    text_clean(clean, sizeof clean, text, false);
    for (const char *p = clean; *p; p++)
        switch (*p) {
        case '&':
            buf_puts(out, "&amp;");
            break;
        case '<':
            buf_puts(out, "&lt;");
            break;
        case '>':
            buf_puts(out, "&gt;");
            break;
        case '"':
            buf_puts(out, "&quot;");
            break;
        case '\n':
            buf_puts(out, "&#10;");
            break;
        default:
            buf_add(out, p, 1);
        }
}

static void add_attribute(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, " %s=\"", name);
    add_escaped(out, value);
    buf_puts(out, "\"");
}

static void add_outcome(struct buf *out, const char *element, const char *message)
{
    buf_printf(out, "      <%s", element);
    add_attribute(out, "message", message);
    buf_puts(out, "/>\n");
}

static const char *element_of(const struct record *r)
{
    switch (r->status) {
    case TEST_PASSED:
        return NULL;
    case TEST_PARTIAL:
    case TEST_FAILED:
        return "failure";
    case TEST_SKIPPED:
        return "skipped";
    case TEST_NOT_MEASURED:
    case TEST_NOT_GRADED:
        break;
    }
    return "error";
}

static void add_test(struct buf *out, const struct grading *g,
                     const struct record *r)
{
    const char *element = element_of(r);
    char said[2 * GRADE_MESSAGE];
    buf_puts(out, "    <testcase");
    add_attribute(out, "classname", g->manifest->lab);
    add_attribute(out, "name", r->test->name);
    buf_printf(out, " time=\"%.3f\">\n", r->seconds);
    if (element)
        add_outcome(out, element, r->message);
    snprintf(said, sizeof said, "the submission %s\n%.4g of %.4g points\n%s%s%s%s",
             r->test->what, r->score, r->test->points, r->given,
             r->given[0] ? "\n" : "", r->pattern, r->pattern[0] ? "\n" : "");
    buf_puts(out, "      <system-out>");
    add_escaped(out, said);
    buf_puts(out, "</system-out>\n    </testcase>\n");
}

// A run without records is one test that could not be held.
static void add_no_records(struct buf *out, const struct grading *g)
{
    bool compiler = g->status == COMPILE_ERROR;
    buf_puts(out, "    <testcase");
    add_attribute(out, "classname", g->manifest->lab);
    add_attribute(out, "name", compiler ? "compiles" : "can_be_graded");
    buf_puts(out, " time=\"0.000\">\n");
    add_outcome(out, compiler ? "failure" : "error",
                compiler ? g->compiler ? g->compiler : "" : g->reason);
    buf_puts(out, "    </testcase>\n");
}

struct tally {
    unsigned tests, failures, errors, skipped;
    double seconds;
};

static struct tally tally_of(const struct grading *g)
{
    struct tally t = {0};
    for (unsigned i = 0; g->records && i < g->manifest->tests_count; i++) {
        const struct record *r = &g->records[i];
        t.tests++;
        t.failures += r->status == TEST_FAILED || r->status == TEST_PARTIAL;
        t.skipped += r->status == TEST_SKIPPED;
        t.errors += r->status == TEST_NOT_MEASURED || r->status == TEST_NOT_GRADED;
        t.seconds += r->seconds;
    }
    if (!g->records)
        t = (struct tally){1, g->status == COMPILE_ERROR,
                           g->status != COMPILE_ERROR, 0, 0};
    return t;
}

int junit_write(const char *path, const struct grading *g)
{
    struct buf out = {0};
    struct tally t = tally_of(g);
    char counts[160];
    snprintf(counts, sizeof counts, "tests=\"%u\" failures=\"%u\" errors=\"%u\" "
             "skipped=\"%u\" time=\"%.3f\"", t.tests, t.failures, t.errors,
             t.skipped, t.seconds);
    buf_puts(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    buf_printf(&out, "<testsuites %s>\n  <testsuite", counts);
    add_attribute(&out, "name", g->manifest->lab);
    buf_printf(&out, " %s>\n", counts);
    for (unsigned i = 0; g->records && i < g->manifest->tests_count; i++)
        add_test(&out, g, &g->records[i]);
    if (!g->records)
        add_no_records(&out, g);
    buf_puts(&out, "  </testsuite>\n</testsuites>\n");
    int failed = text_out(path, out.data);
    buf_free(&out);
    return failed;
}
