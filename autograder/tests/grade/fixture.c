#include "fixture.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

struct grading *fixture_grading(void)
{
    static struct submission submission;
    static struct grading g;
    char message[GRADE_MESSAGE];
    struct manifest *m = manifest_load(SMALL_LAB, "99-small", message);
    ck_assert_msg(m != NULL, "%s", message);
    submission = (struct submission){.shown = "labs/99-small"};
    g = (struct grading){.manifest = m, .submission = &submission,
                         .isolation = ISOLATION_NAMESPACES, .status = GRADED};
    ck_assert_int_eq(target_choose("virtual", NULL, &g.target, message), 0);
    g.records = calloc(m->tests_count, sizeof *g.records);
    for (unsigned i = 0; i < m->tests_count; i++) {
        g.records[i].test = &m->tests[i];
        g.records[i].status = TEST_PASSED;
        g.records[i].share = 1;
    }
    return &g;
}

struct record *fixture_record(struct grading *g, const char *test)
{
    for (unsigned i = 0; i < g->manifest->tests_count; i++)
        if (!strcmp(g->manifest->tests[i].name, test))
            return &g->records[i];
    ck_abort_msg("no test %s", test);
    return NULL;
}

void fixture_fail(struct grading *g, const char *test, const char *message)
{
    struct record *r = fixture_record(g, test);
    r->status = TEST_FAILED;
    r->share = 0;
    r->waits = false;
    snprintf(r->message, sizeof r->message, "%s", message);
}

char *fixture_print(void (*print)(FILE *, const struct style *,
                                  const struct grading *),
                    const struct grading *g, bool plain)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    struct style style = {.plain = plain, .width = 80};
    print(out, &style, g);
    fclose(out);
    return text;
}
