// session-selftest: tries on this machine all that a grade needs of a session,
// and prints what it found. Exit status 0 when all went as it must.
//
//     session-selftest [virtual|gpu] [INDEX or MODEL]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cage.h"
#include "session.h"

enum { CALLS = 128, MIB = 1 << 20 };
enum { COMPARED = 8 }; // outputs compared in full: quick enough on one core

struct side {
    struct session *session;
    size_t n;
    unsigned ncalls;
    struct buffer *a[CALLS], *b[CALLS], *c[CALLS];
    uint64_t seed[CALLS];
    struct call calls[CALLS];
    bool adds; // or copies
};

static enum target_kind target;
static const char *gpu;
static unsigned failures;

static void report(bool good, const char *what, const char *detail)
{
    printf("%-6s %s%s%s\n", good ? "ok" : "FAILED", what, *detail ? ": " : "",
           detail);
    fflush(stdout);
    failures += !good;
}

// ---- sides ---------------------------------------------------------------------

static bool refresh(void *self, unsigned n)
{
    struct side *s = self;
    static uint64_t seed = 1;
    for (unsigned k = 0; k < n; k++) {
        s->seed[k] = seed++;
        if (buffer_random(s->a[k], s->seed[k]) != 0 ||
            (s->adds && buffer_random(s->b[k], ~s->seed[k]) != 0))
            return false;
    }
    return true;
}

static float expected(const struct side *s, unsigned k, uint64_t i)
{
    float a = random_at(s->seed[k], i);
    return s->adds ? a + random_at(~s->seed[k], i) : a;
}

static bool verify(void *self, const struct sample *samples, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        for (unsigned i = 0; i < samples[k].n; i++)
            if (!(((const float *)samples[k].elements)[i] ==
                  expected(self, samples[k].output, samples[k].index[i])))
                return false;
    return true;
}

static bool verify_all(void *self, unsigned n)
{
    const struct side *s = self;
    enum { PIECE = 1 << 16 };
    static float values[PIECE];
    for (unsigned k = 0; k < n && k < COMPARED; k++)
        for (size_t at = 0; at < s->n; at += PIECE) {
            size_t count = s->n - at < PIECE ? s->n - at : PIECE;
            if (buffer_read(s->c[k], at * 4, values, count * 4) != 0)
                return false;
            for (size_t i = 0; i < count; i++)
                if (!(values[i] == expected(s, k, at + i)))
                    return false;
        }
    return true;
}

static struct call call_of(const struct side *s, unsigned k)
{
    struct call c = {.symbol = s->adds ? "add" : "copy",
                     .returns = RETURN_I32, .deadline_s = 30};
    c.args[c.nargs++] = (struct arg){.kind = ARG_BUFFER, .buffer = s->a[k]};
    if (s->adds)
        c.args[c.nargs++] = (struct arg){.kind = ARG_BUFFER, .buffer = s->b[k]};
    c.args[c.nargs++] = (struct arg){.kind = ARG_BUFFER, .buffer = s->c[k]};
    c.args[c.nargs++] = (struct arg){.kind = ARG_U64, .u = s->n};
    return c;
}

static bool open_side(struct side *s, bool adds, size_t n)
{
    char message[512];
    char *submission = build_path("lib/selftest_submission.so");
    struct session_options o = {
        .target = target, .gpu = gpu, .isolation = isolation_probe(),
        .submission = submission, .watch = WATCH_COUNT | WATCH_WRITERS,
        .allow_copy_mode = true};
    memset(s, 0, sizeof *s);
    s->adds = adds, s->n = n;
    int rc = session_open(&o, &s->session, message);
    free(submission);
    report(rc == 0, "session opened", rc ? message : "");
    if (rc != 0)
        return false;
    double nbytes = (adds ? 12 : 8) * (double)n;
    unsigned ncalls = time_calls(s->session, nbytes, nbytes);
    s->ncalls = ncalls < CALLS ? ncalls : CALLS;
    for (unsigned k = 0; k < s->ncalls; k++) {
        s->a[k] = buffer_device(s->session, n * 4, 0, "a");
        s->b[k] = adds ? buffer_device(s->session, n * 4, 0, "b") : NULL;
        s->c[k] = buffer_device(s->session, n * 4, 0, "c");
        if (!s->a[k] || (adds && !s->b[k]) || !s->c[k]) {
            report(false, "buffers", "no device memory");
            return false;
        }
        s->calls[k] = call_of(s, k);
    }
    return true;
}

// ---- what is tried ---------------------------------------------------------------

static void try_call(struct side *s)
{
    struct outcome o;
    char text[2 * OUTCOME_TEXT + 256];
    bool ready = refresh(s, s->ncalls) && buffer_fill(s->c[0], 0xff) == 0;
    session_call(s->session, &s->calls[0], &o);
    snprintf(text, sizeof text, "status %d, returned %lld, %s, CPU %.2f ms, "
             "modelled %.1f us %s%s", o.status, (long long)o.i,
             o.cuda_error_name, 1e3 * o.worker_cpu_s, 1e-3 * o.device_ns,
             o.text, o.output);
    report(ready && o.status == CALL_RETURNED && o.i == 0 && o.cuda_error == 0,
           "call returns", text);
    report(verify_all(s, 1), "every element is right", "");
}

static void try_ending(struct side *s, const char *symbol,
                       enum call_status status, bool error)
{
    struct outcome o;
    char text[OUTCOME_TEXT + 128], message[512];
    struct call c = {.symbol = symbol, .returns = RETURN_I32, .nargs = 1,
                     .deadline_s = 2,
                     .args = {{.kind = ARG_BUFFER, .buffer = s->c[0]}}};
    double start = now_s();
    session_call(s->session, &c, &o);
    snprintf(text, sizeof text, "status %d, %s, %s, after %.2f s", o.status,
             o.cuda_error_name, o.text, now_s() - start);
    report(o.status == status && (!error || o.cuda_error), symbol, text);
    start = now_s();
    int rc = session_restart(s->session, message);
    snprintf(text, sizeof text, "%s %.2f s", rc ? message : "took",
             now_s() - start);
    report(rc == 0, "restart", text);
    if (rc == 0)
        try_call(s);
}

static struct timed timed_of(struct side *s)
{
    return (struct timed){
        .session = s->session, .ncalls = s->ncalls, .calls = s->calls,
        .outputs = s->c, .noutputs = s->ncalls, .element_bytes = 4,
        .least_bytes = (s->adds ? 12.0 : 8.0) * (double)s->n,
        .refresh = refresh, .verify = verify, .verify_all = verify_all,
        .self = s};
}

static void try_timing(struct side *baseline, double alone_ns,
                       struct side *submission)
{
    struct timed b = timed_of(baseline), s = timed_of(submission);
    struct ratio r;
    char text[OUTCOME_TEXT + 400];
    const double thresholds[] = {0.7, 0.95};
    double start = now_s();
    b.alone_ns = alone_ns;
    time_ratio(&b, &s, thresholds, 2, &r);
    snprintf(text, sizeof text,
             "status %d, ratio %.4f [%.4f, %.4f], %u pairs, baseline %.1f us "
             "(%.1f alone), submission %.1f us, %u and %u calls, bandwidth "
             "%.0f and %.0f GB/s (%s), took %.1f s %s",
             r.status, r.median, r.lo, r.hi, r.pairs, r.baseline_ns / 1e3,
             alone_ns / 1e3, r.submission_ns / 1e3, baseline->ncalls,
             submission->ncalls,
             8.0 * (double)baseline->n / r.baseline_ns,
             12.0 * (double)submission->n / r.submission_ns,
             r.modelled ? "modelled" : "measured", now_s() - start, r.text);
    report(r.status == RATIO_OK, "time against a device-to-device copy", text);
}

static void try_target(void)
{
    bool virtual = target == TARGET_VIRTUAL;
    size_t n = (size_t)(virtual ? 1 : 64) * MIB;
    static struct side baseline, submission;
    double alone_ns = 0;
    bool ready = open_side(&baseline, false, n);
    if (ready) {
        struct timed t = timed_of(&baseline);
        alone_ns = time_alone(&t);
    }
    if (open_side(&submission, true, n)) {
        report(true, "GPU", session_gpu_name(submission.session));
        report(true, "buffers are", session_copies(submission.session)
                                        ? "copied" : "lent");
        try_call(&submission);
        try_ending(&submission, "touch_device_memory", CALL_SIGNAL, false);
        try_ending(&submission, "out_of_bounds", CALL_RETURNED, true);
        try_ending(&submission, "spin", CALL_TIMEOUT, false);
        if (ready)
            try_timing(&baseline, alone_ns, &submission);
    }
    session_close(submission.session);
    session_close(baseline.session);
}

int main(int argc, char **argv)
{
    gpu = argc > 2 ? argv[2] : NULL;
    printf("isolation: %s\n", isolation_name(isolation_probe()));
    for (int i = 0; i < 2; i++) {
        target = i == 0 ? TARGET_VIRTUAL : TARGET_GPU;
        const char *name = i == 0 ? "virtual" : "gpu";
        if (argc > 1 ? strcmp(argv[1], name) != 0 : i == 1)
            continue;
        printf("target: %s\n", name);
        try_target();
    }
    printf("%u failed\n", failures);
    return failures > 0;
}
