// Speed tests: the arrays of timed calls, and points by the ratio.
//
// The values of timed arrays are made from their index by a hash, so that
// the judge can say what any sampled element must be without keeping arrays
// as large as the device's.
#include "running.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ARRAYS = 8, MAX_CALLS = 64, DEFAULT_CALLS = 8, CHUNK = 1 << 18 };

struct array {
    struct buffer *buffer;
    uint64_t seed;
    size_t n;
};

struct timed_call {
    enum side side;
    size_t size;
    unsigned index;
    struct call call;
    struct array arrays[MAX_ARRAYS];
    unsigned narrays;
    struct array *output;
    timed_element *element;
    struct tolerance tolerance;
    double device_bytes;
    const char *prepare;
};

// ---- describing a call --------------------------------------------------------------

float timed_value(const struct timed_call *c, unsigned k, size_t i)
{
    // Asked while a measurement runs, so never by a jump: NaN is never right.
    return k < c->narrays && i < c->arrays[k].n ? random_at(c->arrays[k].seed, i)
                                                : NAN;
}

size_t timed_size(const struct timed_call *c)
{
    return c->size;
}

unsigned timed_index(const struct timed_call *c)
{
    return c->index;
}

void timed_argument(struct timed_call *c, struct arg arg)
{
    if (c->call.nargs == CALL_MAX_ARGS)
        machine_failed("a timed call has more than %d arguments", CALL_MAX_ARGS);
    c->call.args[c->call.nargs++] = arg;
}

void timed_prepare(struct timed_call *c, const char *symbol)
{
    c->prepare = symbol;
}

static struct array *add_array(struct timed_call *c, const char *name, size_t n,
                               bool host)
{
    size_t nbytes = n * sizeof(float);
    if (c->narrays == MAX_ARRAYS)
        machine_failed("a timed call has more than %d arrays", MAX_ARRAYS);
    struct array *a = &c->arrays[c->narrays++];
    *a = (struct array){.n = n};
    a->buffer = host ? host_output(name, nbytes) : device_output(name, nbytes);
    c->device_bytes += host ? 0 : (double)nbytes;
    timed_argument(c, PTR(a->buffer));
    return a;
}

void timed_input(struct timed_call *c, const char *name, size_t n)
{
    add_array(c, name, n, false);
}

void timed_host_input(struct timed_call *c, const char *name, size_t n)
{
    add_array(c, name, n, true);
}

static void add_output(struct timed_call *c, const char *name, size_t n,
                       timed_element *element, struct tolerance t, bool host)
{
    if (c->output)
        machine_failed("a timed call has more than one output");
    c->output = add_array(c, name, n, host);
    c->element = element;
    c->tolerance = t;
}

void timed_output(struct timed_call *c, const char *name, size_t n,
                  timed_element *element, struct tolerance t)
{
    add_output(c, name, n, element, t, false);
}

void timed_host_output(struct timed_call *c, const char *name, size_t n,
                       timed_element *element, struct tolerance t)
{
    add_output(c, name, n, element, t, true);
}

// ---- a side ----------------------------------------------------------------------------

struct timed_side {
    struct timed_call *timed;   // n
    unsigned n;
    float *chunk;               // CHUNK
    struct call calls[MAX_CALLS];
    struct buffer *outputs[MAX_CALLS];
};

static bool right(const struct timed_call *c, size_t i, float actual)
{
    return element_right(actual, c->element(c, i), c->tolerance);
}

// New values in all inputs before every batch, so that no earlier answer is
// right again.
static bool refresh(void *self)
{
    const struct timed_side *side = self;
    for (unsigned k = 0; k < side->n; k++)
        for (unsigned i = 0; i < side->timed[k].narrays; i++) {
            struct array *a = &side->timed[k].arrays[i];
            if (a == side->timed[k].output)
                continue;
            a->seed = random_bits();
            if (buffer_random(a->buffer, a->seed))
                return false;
        }
    return true;
}

static bool verify(void *self, const struct sample *samples, unsigned nsamples)
{
    const struct timed_side *side = self;
    for (unsigned s = 0; s < nsamples; s++) {
        const struct timed_call *c = &side->timed[samples[s].output];
        const float *elements = samples[s].elements;
        for (unsigned i = 0; i < samples[s].n; i++)
            if (samples[s].index[i] < c->output->n &&
                !right(c, samples[s].index[i], elements[i]))
                return false;
    }
    return true;
}

static bool verify_all(void *self, unsigned n)
{
    const struct timed_side *side = self;
    float *chunk = side->chunk;
    for (unsigned k = 0; k < n && k < side->n; k++) {
        const struct timed_call *c = &side->timed[k];
        for (size_t at = 0; at < c->output->n; at += CHUNK) {
            size_t m = c->output->n - at < CHUNK ? c->output->n - at : CHUNK;
            if (buffer_read(c->output->buffer, at * sizeof *chunk, chunk,
                            m * sizeof *chunk)) {
                running.machine = true; // told when the measurement is over
                return true;
            }
            for (size_t i = 0; i < m; i++)
                if (!right(c, at + i, chunk[i]))
                    return false;
        }
    }
    return true;
}

static void make_side(struct timed_side *out, enum side side, const char *symbol,
                      timed_maker *make, size_t size, unsigned ncalls)
{
    use(side);
    out->n = ncalls;
    out->timed = room(ncalls * sizeof *out->timed);
    out->chunk = room(CHUNK * sizeof *out->chunk);
    for (unsigned i = 0; i < ncalls; i++) {
        struct timed_call *c = &out->timed[i];
        c->side = side;
        c->size = size;
        c->index = i;
        c->call = (struct call){
            .symbol = symbol, .returns = RETURN_VOID,
            .deadline_s = running.options->manifest->policy.run_s};
        make(c);
        if (!c->output)
            machine_failed("a timed call has no output");
        out->calls[i] = c->call;
        out->outputs[i] = c->output->buffer;
        if (c->prepare) {
            struct call prepare = c->call;
            prepare.symbol = c->prepare;
            perform(&prepare);
            demand_sound(c->prepare, false);
        }
    }
}

static struct timed timed_of(struct timed_side *side, struct session *session,
                             bool judged)
{
    // What is larger than any L2 must come from memory: a limit to believe.
    double bytes = side->timed[0].device_bytes;
    return (struct timed){.session = session, .ncalls = side->n,
                          .calls = side->calls, .outputs = side->outputs,
                          .noutputs = side->n, .element_bytes = sizeof(float),
                          .least_bytes = bytes > (256 << 20) ? bytes : 0,
                          .refresh = refresh,
                          .verify = judged ? verify : NULL,
                          .verify_all = judged ? verify_all : NULL,
                          .self = side};
}

// ---- the verdict --------------------------------------------------------------------------

static void judge_ratio(const struct speed_case *s, const struct ratio *ratio,
                        const struct manifest_class *marks, double scale)
{
    struct record *r = running.record;
    r->has_ratio = true;
    r->modelled = ratio->modelled;
    r->ratio = ratio->median * scale;
    r->lo = ratio->lo * scale;
    r->hi = ratio->hi * scale;
    show("%s: %.3g us against %.3g us a call", s->what,
         ratio->submission_ns / 1e3, ratio->baseline_ns / 1e3);
    if (!marks)
        skip("%s: %.2f, shown only: no marks for sm_%u", s->what, r->ratio,
             running.capability);
    r->pass = marks->pass;
    r->full = marks->full;
    r->stretch = marks->stretch;
    award(speed_share(r->ratio, r->lo, r->hi, marks->pass, marks->full),
          "%s: %.2f (points from %.2f on, all of them at %.2f)", s->what,
          r->ratio, marks->pass, marks->full);
}

void speed(const struct speed_case *s)
{
    double scale = s->scale > 0 ? s->scale : 1;
    size_t size = !on_gpu() && s->virtual_size ? s->virtual_size : s->size;
    unsigned calls = !on_gpu() ? 1 : s->calls ? s->calls : DEFAULT_CALLS;
    const struct manifest_class *marks = manifest_thresholds(
        running.options->manifest, running.test->name,
        on_gpu() ? TARGET_GPU : TARGET_VIRTUAL, running.capability);
    struct timed_side *sides = room(2 * sizeof *sides);
    struct ratio ratio = {0};
    double thresholds[3];
    unsigned n = 0;

    calls = calls < MAX_CALLS ? calls : MAX_CALLS;
    make_side(&sides[0], BASELINE, s->baseline,
              s->make_baseline ? s->make_baseline : s->make, size, calls);
    make_side(&sides[1], SUBMISSION, s->submission, s->make, size, calls);
    if (marks) {
        thresholds[n++] = marks->pass / scale;
        thresholds[n++] = marks->full / scale;
        if (marks->stretch > 0)
            thresholds[n++] = marks->stretch / scale;
    }
    struct timed baseline = timed_of(&sides[0], session_of(BASELINE), false);
    struct timed submission = timed_of(&sides[1], session_of(SUBMISSION), true);
    running.broken = true; // time_ratio ends the workers
    time_ratio(&baseline, &submission, thresholds, n, &ratio);

    if (running.machine)
        machine_failed("a timed output could not be read: the device failed");
    if (ratio.status == RATIO_WRONG)
        failed("%s: a timed run gave wrong answers%s%.600s", s->what,
               ratio.text[0] ? ": " : "", ratio.text);
    if (ratio.status == RATIO_IMPOSSIBLE)
        failed("%s: faster than this device can be, so not believed%s%.600s",
               s->what, ratio.text[0] ? ": " : "", ratio.text);
    if (ratio.status == RATIO_COULD_NOT_MEASURE)
        machine_failed("%s could not be measured%s%.600s", s->what,
                       ratio.text[0] ? ": " : "", ratio.text);
    judge_ratio(s, &ratio, marks, scale);
}
