// Runs one command in a sandbox and keeps what it printed.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cage.h"

enum { MAX_BINDS = 48, MAX_ENVIRONMENT = 64 };

static unsigned list_binds(const struct sandbox_run *r, struct bind *binds)
{
    unsigned n = 0;
    for (const char *const *p = r->readable; p && *p && n + 1 < MAX_BINDS; p++)
        binds[n++] = (struct bind){*p, *p, false};
    if (r->scratch) // last, so that it stays writable inside a readable one
        binds[n++] = (struct bind){r->scratch, r->scratch, true};
    return n;
}

// Without namespaces there is no /tmp of its own: temporary files go to scratch.
static void list_environment(const struct sandbox_run *r, const char **env,
                             const char *temporary)
{
    unsigned n = 0;
    for (const char *const *e = r->env; e && *e && n + 2 < MAX_ENVIRONMENT; e++)
        env[n++] = *e;
    if (r->isolation != ISOLATION_NAMESPACES && r->scratch)
        env[n++] = temporary;
    env[n] = NULL;
}

static void explain(const struct cage *c, struct sandbox_result *out)
{
    if (c->state == CAGE_OVER_LIMIT) {
        out->how = RAN_SIGNAL;
        out->code = 9;
    } else if (c->state == CAGE_BROKEN) {
        out->how = RAN_NOT_STARTED;
    } else if (WIFSIGNALED(c->status)) {
        out->how = RAN_SIGNAL;
        out->code = WTERMSIG(c->status);
    } else {
        out->how = RAN_EXIT;
        out->code = WEXITSTATUS(c->status);
    }
}

// Says in the output which limit ended it.
static void note_limit(struct cage *c)
{
    static const char before[] = "\nended by the limit on ";
    if (c->state != CAGE_OVER_LIMIT)
        return;
    capture_add(&c->output, before, sizeof before - 1);
    capture_add(&c->output, c->limit, strlen(c->limit));
    capture_add(&c->output, "\n", 1);
}

void sandbox_run(const struct sandbox_run *r, struct sandbox_result *out)
{
    struct bind binds[MAX_BINDS];
    const char *env[MAX_ENVIRONMENT];
    char message[512], temporary[PATH_MAX + 8];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s",
             r->scratch ? r->scratch : "");
    list_environment(r, env, temporary);
    isolation_probe(); // finds out what this bubblewrap can do, once
    if (r->isolation == ISOLATION_USER && r->scratch)
        chmod(r->scratch, 0777); // the fresh user's, too
    struct cage_options o = {
        .isolation = r->isolation,
        .argv = r->argv,
        .env = env,
        .binds = binds,
        .nbinds = list_binds(r, binds),
        .directory = r->scratch,
        .tools = true,
        .tmp_bytes = r->scratch_bytes,
        .cpu_s = r->cpu_s,
        .memory_bytes = r->memory_bytes,
        .file_bytes = r->scratch_bytes,
        .max_tasks = r->max_processes,
    };
    double start = now_s(), end = start + (r->wall_s > 0 ? r->wall_s : 60);
    memset(out, 0, sizeof *out);
    out->how = RAN_NOT_STARTED;
    struct cage *c = cage_start(&o, message);
    if (!c) {
        out->output = strdup(message);
        out->output_bytes = strlen(message);
        return;
    }
    c->scratch = r->scratch_bytes ? r->scratch : NULL;
    c->scratch_bytes = r->scratch_bytes;
    cage_wait(c, -1, end);
    if (c->state == CAGE_RUNNING) {
        cage_stop(c);
        out->how = RAN_TIMEOUT;
    } else {
        explain(c, out);
        note_limit(c);
    }
    out->wall_s = now_s() - start;
    out->output = capture_text(&c->output);
    out->output_bytes = c->output.nbytes;
    cage_free(c);
}

void sandbox_result_free(struct sandbox_result *r)
{
    free(r->output);
    r->output = NULL;
}
