// The table of what a lab grades: points live in lab.yaml and nowhere else.
#include "tools.h"

#include <stdio.h>
#include <stdlib.h>

static const char *where(const struct lab_test *t)
{
    return t->gpu_only ? " (with a GPU only)" : "";
}

int points_table(const char *slug, struct buf *out, char message[TOOL_MESSAGE])
{
    char path[128], stem[64];
    struct manifest *m = malloc(sizeof *m);
    int status = -1;
    if (!m)
        abort();
    snprintf(path, sizeof path, "labs/%.64s/lab.yaml", slug);
    if (!slug_stem(slug, stem)) {
        snprintf(message, TOOL_MESSAGE, "`%.64s` is not the name of a lab", slug);
    } else if (manifest_read(path, m, message) == 0) {
        buf_puts(out, "| test | task | kind | points | the submission |\n"
                      "|---|---|---|---|---|\n");
        for (size_t i = 0; i < m->tests.n; i++) {
            const struct lab_test *t = &m->test[i];
            buf_printf(out, "| `%s` | %d | %s | %g | %s%s |\n", m->tests.name[i],
                       t->task, t->kind, t->points, t->what, where(t));
        }
        status = 0;
    }
    free(m);
    return status;
}
