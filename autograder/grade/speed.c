// Speed tests: the arrays of timed calls, and points by the ratio.
//
// The values of timed arrays are made from their index by a hash, so that
// the judge can say what any sampled element must be without keeping arrays
// as large as the device's.
#include "running.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_ARRAYS = 8, MAX_CALLS = 128, CHUNK = 1 << 18, MAX_THREADS = 8 };
enum { MAX_BUFFERS = 500 };  // a session holds no more device buffers
enum { GRANULE = 2 << 20 };  // of the memory of one of them

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
    double device_bytes, memory_bytes;
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
    c->memory_bytes += host ? 0 : (double)nbytes + GRANULE;
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
    float *chunks;              // CHUNK for each of MAX_THREADS
    struct call calls[MAX_CALLS];
    struct buffer *outputs[MAX_CALLS];
};

static bool right(const struct timed_call *c, size_t i, float actual)
{
    return element_right(actual, c->element(c, i), c->tolerance);
}

// New values in all inputs before every batch, so that no earlier answer is
// right again.
static bool refresh(void *self, unsigned n)
{
    const struct timed_side *side = self;
    for (unsigned k = 0; k < n && k < side->n; k++)
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

// ---- all elements of all outputs, by several threads ------------------------

struct comparison {
    const struct timed_side *side;
    unsigned n;                 // outputs
    pthread_mutex_t lock;       // for all below, and for reading
    unsigned next;              // output to compare
    unsigned nthreads;
    bool wrong, unreadable;
};

static bool chunk_right(struct comparison *c, const struct timed_call *call,
                        size_t at, float *chunk)
{
    size_t n = call->output->n - at < CHUNK ? call->output->n - at : CHUNK;
    pthread_mutex_lock(&c->lock);
    bool read = !c->unreadable && !c->wrong &&
                buffer_read(call->output->buffer, at * sizeof *chunk, chunk,
                            n * sizeof *chunk) == 0;
    c->unreadable |= !read && !c->wrong;
    pthread_mutex_unlock(&c->lock);
    for (size_t i = 0; read && i < n; i++)
        if (!right(call, at + i, chunk[i]))
            return false;
    return true;
}

static void *compare_outputs(void *self)
{
    struct comparison *c = self;
    bool all_right = true;
    pthread_mutex_lock(&c->lock);
    float *chunk = c->side->chunks + (size_t)c->nthreads++ * CHUNK;
    while (c->next < c->n && !c->wrong) {
        const struct timed_call *call = &c->side->timed[c->next++];
        pthread_mutex_unlock(&c->lock);
        for (size_t at = 0; at < call->output->n && all_right; at += CHUNK)
            all_right = chunk_right(c, call, at, chunk);
        pthread_mutex_lock(&c->lock);
        c->wrong |= !all_right;
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static bool verify_all(void *self, unsigned n)
{
    const struct timed_side *side = self;
    struct comparison c = {.side = side, .n = n < side->n ? n : side->n,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_t threads[MAX_THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned more = 0;
    while (more + 1 < MAX_THREADS && more + 1 < processors && more + 1 < c.n &&
           pthread_create(&threads[more], NULL, compare_outputs, &c) == 0)
        more++;
    compare_outputs(&c);
    for (unsigned i = 0; i < more; i++)
        pthread_join(threads[i], NULL);
    running.machine |= c.unreadable; // told when the measurement is over
    return !c.wrong;
}

// ---- the calls of a side ------------------------------------------------------

static void make_call(struct timed_side *out, unsigned i, enum side side,
                      const char *symbol, timed_maker *make, size_t size)
{
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

// What the lab says; else as many as its first one shows to be needed.
static unsigned calls_wanted(const struct timed_side *side, unsigned ncalls,
                             enum side which)
{
    const struct timed_call *first = &side->timed[0];
    unsigned most = MAX_BUFFERS / first->narrays;
    if (!on_gpu())
        return 1;
    if (!ncalls)
        ncalls = time_calls(session_of(which), first->device_bytes,
                            first->memory_bytes);
    most = most < MAX_CALLS ? most : MAX_CALLS;
    return ncalls < most ? ncalls : most;
}

// ncalls: 0 leaves it to their size.
static void make_side(struct timed_side *out, enum side side, const char *symbol,
                      timed_maker *make, size_t size, unsigned ncalls)
{
    use(side);
    out->timed = room(MAX_CALLS * sizeof *out->timed);
    out->chunks = room((size_t)MAX_THREADS * CHUNK * sizeof *out->chunks);
    make_call(out, 0, side, symbol, make, size);
    out->n = calls_wanted(out, ncalls, side);
    for (unsigned i = 1; i < out->n; i++)
        make_call(out, i, side, symbol, make, size);
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
    const struct manifest_class *marks = manifest_thresholds(
        running.options->manifest, running.test->name,
        on_gpu() ? TARGET_GPU : TARGET_VIRTUAL, running.capability);
    struct timed_side *sides = room(2 * sizeof *sides);
    struct ratio ratio = {0};
    double thresholds[3];
    unsigned n = 0;

    // No worker of the submission's while the baseline is timed alone.
    if (on_gpu())
        sessions_close(FOR_VALUES);
    make_side(&sides[0], BASELINE, s->baseline,
              s->make_baseline ? s->make_baseline : s->make, size, s->calls);
    struct timed baseline = timed_of(&sides[0], session_of(BASELINE), false);
    baseline.alone_ns = on_gpu() ? time_alone(&baseline) : 0;
    make_side(&sides[1], SUBMISSION, s->submission, s->make, size, s->calls);
    if (marks) {
        thresholds[n++] = marks->pass / scale;
        thresholds[n++] = marks->full / scale;
        if (marks->stretch > 0)
            thresholds[n++] = marks->stretch / scale;
    }
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
