// How much faster than its baseline a submission is.
//
// On a GPU batches of both run in turns on one clock, the judge's:
//
//   B B B B B | B S B S B S ... B | last outputs compared | B B B B B
//     alone     '-' 1 or 2 pairs,     submission's worker
//               not counted           is gone
//
// A batch lasts from "go" until sampled elements of every output lie with the
// judge, so work that ends after "done" is either in the time or missing from
// the samples. It is some 15 ms long where there are calls enough: then what
// the host takes, and the GPU to change between processes, is small beside
// it. What an empty "go" to the baseline's worker costs, with the same
// gathering, is taken off: a submission has no hand in it. The ratio of one
// pair is that of a submission's batch to the mean of its neighbours.
// Baselines that disagree by more than 3 %, before the submission was there,
// between its batches or once it is gone, mean that something else ran; or
// that the host is unsteady, where the baseline is the host's work. The ratio
// to the fastest of them, which no submission can have slowed, then counts if
// it earns the same points, and else none.
//
// On the virtual target time is modelled: one call each, plus what CPU time
// the worker took beyond an allowance.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling.h"

enum {
    FIRST_SLOT = 1,        // slot 0 is session_call's
    PAIRS_AT_LEAST = 5,
    PAIRS_AT_MOST = 25,
    ATTEMPTS = 3,
    WITHOUT = 5,           // baseline batches without the submission
    WARM_UP = 2,           // batches of each side before any is counted
    OVERHEAD_RUNS = 21,
};
static const double batch_ns = 15e6, drift = 0.03, cpu_allowance_s = 5e-3;
// A side's part of the memory that is free; two sides take half of it.
static const double memory_share = 0.3;
static const double impossible = 1.02; // of the peak rate: clocks are not exact

// One side of the measurement.
struct runner {
    const struct timed *t;
    struct sampler sampler;
    unsigned n;            // calls a batch
    double overhead_ns;
    double deadline_s;
    struct ratio *out;     // where a failure is told
};

static bool fail(struct ratio *out, int status, const char *text)
{
    out->status = status;
    snprintf(out->text, sizeof out->text, "%s", text);
    return false;
}

// A session that died during its own batch.
static bool fail_dead(struct runner *r, bool trusted)
{
    return fail(r->out, trusted ? RATIO_COULD_NOT_MEASURE : RATIO_WRONG,
                r->t->session->last.text);
}

// ---- batches -----------------------------------------------------------------

static unsigned outputs_of(const struct runner *r)
{
    return r->n < r->t->noutputs ? r->n : r->t->noutputs;
}

static bool poison_and_refresh(struct runner *r)
{
    const struct timed *t = r->t;
    if (t->refresh && !t->refresh(t->self, r->n))
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "inputs not written");
    for (unsigned k = 0; k < outputs_of(r); k++)
        if (buffer_fill(t->outputs[k], 0xff) != 0)
            return fail(r->out, RATIO_COULD_NOT_MEASURE, "outputs not written");
    return true;
}

static void shuffle(uint16_t *slots, unsigned n)
{
    for (unsigned i = n; i > 1; i--) {
        unsigned j = (unsigned)(entropy_u64() % i);
        uint16_t t = slots[i - 1];
        slots[i - 1] = slots[j], slots[j] = t;
    }
}

// From "go" to samples in hand; < 0: the session died, or the device failed.
static double go(struct runner *r, struct session *session,
                 const uint16_t *slots, unsigned n)
{
    struct reply reply;
    double start = now_s();
    if (!session_go(session, slots, n, &reply, r->deadline_s) ||
        sampler_fetch(&r->sampler, r->t, outputs_of(r)) != 0)
        return -1;
    return 1e9 * (now_s() - start);
}

// One batch; its time a call into *ns.
static bool run_batch(struct runner *r, bool trusted, double *ns)
{
    const struct timed *t = r->t;
    uint16_t slots[PROTOCOL_CALLS];
    for (unsigned i = 0; i < r->n; i++)
        slots[i] = (uint16_t)(FIRST_SLOT + i);
    shuffle(slots, r->n);
    if (!poison_and_refresh(r))
        return false;
    if (sampler_plan(&r->sampler, t, outputs_of(r)) != 0 ||
        gpu_flush_l2(t->session) != 0)
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "the device failed");
    go(r, t->session, slots, 0); // wakes both sides
    double took = go(r, t->session, slots, r->n);
    if (took < 0)
        return fail_dead(r, trusted);
    took -= r->overhead_ns;
    *ns = (took > 1 ? took : 1) / r->n;
    if (t->verify && !t->verify(t->self, r->sampler.samples, outputs_of(r)))
        return fail(r->out, RATIO_WRONG, "sampled elements are wrong");
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, unsigned n)
{
    double v[PAIRS_AT_MOST + OVERHEAD_RUNS + 8];
    memcpy(v, values, n * sizeof *v);
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

// ---- one side made ready --------------------------------------------------------

static bool prepare_calls(struct runner *r, bool trusted)
{
    struct reply reply = {0};
    const struct timed *t = r->t;
    r->n = t->ncalls < PROTOCOL_CALLS - FIRST_SLOT
               ? t->ncalls
               : PROTOCOL_CALLS - FIRST_SLOT;
    r->deadline_s = 10;
    for (unsigned i = 0; i < r->n; i++) {
        if (t->calls[i].deadline_s > r->deadline_s)
            r->deadline_s = t->calls[i].deadline_s;
        if (!session_prepare(t->session, FIRST_SLOT + i, &t->calls[i],
                             &reply)) {
            struct outcome o = {0};
            session_explain(t->session, &reply, &o);
            return fail(r->out, trusted ? RATIO_COULD_NOT_MEASURE : RATIO_WRONG,
                        o.text);
        }
    }
    return r->n > 0;
}

// Of an empty "go" to the trusted baseline, with this side's gathering.
static bool measure_overhead(struct runner *r, struct session *baseline)
{
    double v[OVERHEAD_RUNS];
    if (sampler_plan(&r->sampler, r->t, outputs_of(r)) != 0)
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "the device failed");
    for (unsigned i = 0; i < OVERHEAD_RUNS; i++)
        if ((v[i] = go(r, baseline, (uint16_t[]){0}, 0)) < 0)
            return fail(r->out, RATIO_COULD_NOT_MEASURE, "the device failed");
    r->overhead_ns = median(v, OVERHEAD_RUNS);
    return true;
}

// Calls; batches that warm up, the last of which tells how many calls make
// one long enough; overhead.
static bool make_ready(struct runner *r, struct session *baseline)
{
    bool trusted = r->t->session == baseline;
    double ns = 1;
    if (!sampler_open(&r->sampler, r->t))
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "out of memory");
    if (!prepare_calls(r, trusted))
        return false;
    for (unsigned i = 0; i < WARM_UP; i++)
        if (!run_batch(r, trusted, &ns))
            return false;
    if (r->n * ns > batch_ns)
        r->n = (unsigned)ceil(batch_ns / ns);
    return measure_overhead(r, baseline);
}

// ---- pairs -----------------------------------------------------------------------

struct pairs {
    unsigned n;
    double baseline[PAIRS_AT_MOST + 1], submission[PAIRS_AT_MOST];
    double ratio[PAIRS_AT_MOST];
};

static bool add_pair(struct runner *b, struct runner *s, struct pairs *p)
{
    unsigned n = p->n;
    if (!run_batch(s, false, &p->submission[n]) ||
        !run_batch(b, true, &p->baseline[n + 1]))
        return false;
    p->ratio[n] = (p->baseline[n] + p->baseline[n + 1]) / 2 / p->submission[n];
    p->n++;
    return true;
}

// The interval in which the median lies with some 95 %, whatever the
// distribution: order statistics.
static void set_interval(const struct pairs *p, struct ratio *out)
{
    double v[PAIRS_AT_MOST];
    memcpy(v, p->ratio, p->n * sizeof *v);
    qsort(v, p->n, sizeof *v, ascending);
    double cut = (p->n - 1.96 * sqrt(p->n)) / 2;
    unsigned k = cut > 1 ? (unsigned)cut : 0;
    out->median = median(p->ratio, p->n);
    out->lo = v[k];
    out->hi = v[p->n - 1 - k];
    out->baseline_ns = median(p->baseline, p->n + 1);
    out->submission_ns = median(p->submission, p->n);
    out->pairs = p->n;
}

static bool straddles(const struct ratio *r, const double *thresholds,
                      unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (r->lo < thresholds[i] && thresholds[i] < r->hi)
            return true;
    return false;
}

static bool agree(double a, double b)
{
    return fabs(a - b) <= drift * (a < b ? a : b);
}

// Whether all of the interval earns full points, or none of it any, also by
// the lower ratio.
static bool earns_the_same(const struct ratio *r, double factor,
                           const double *thresholds, unsigned n)
{
    double full = n > 1 ? thresholds[1] : n ? thresholds[0] : 0;
    return r->lo * factor >= full || (n && r->hi < thresholds[0]);
}

// The baseline took another time, too, than that of the ratio: lowers the
// ratio if that was shorter. false: points hang on it.
static bool weigh(struct ratio *r, double other_ns, const char *when,
                  const double *thresholds, unsigned n)
{
    double factor = other_ns < r->baseline_ns ? other_ns / r->baseline_ns : 1;
    if (!earns_the_same(r, factor, thresholds, n)) {
        r->status = RATIO_COULD_NOT_MEASURE;
        snprintf(r->text, sizeof r->text, "the baseline takes %.4g us a call "
                 "beside the submission, %.4g us %s: the machine is busy, cold "
                 "or hot", r->baseline_ns / 1e3, other_ns / 1e3, when);
        return false;
    }
    r->baseline_ns *= factor;
    r->median *= factor, r->lo *= factor, r->hi *= factor;
    return true;
}

// The first half of the baseline's batches against the second.
static bool is_steady(const struct pairs *p, double *faster_ns)
{
    unsigned half = (p->n + 1) / 2;
    double first = median(p->baseline, half);
    double second = median(p->baseline + p->n + 1 - half, half);
    *faster_ns = first < second ? first : second;
    return agree(first, second);
}

static bool measure_pairs(struct runner *b, struct runner *s,
                          const double *thresholds, unsigned nthresholds,
                          struct pairs *p, struct ratio *out)
{
    double faster_ns = 0;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        unsigned unheeded = 1 + (unsigned)(entropy_u64() % 2);
        for (unsigned i = 0; i < unheeded; i++) {
            p->n = 0;
            if (!run_batch(b, true, &p->baseline[0]) || !add_pair(b, s, p))
                return false;
        }
        p->baseline[0] = p->baseline[1];
        p->n = 0;
        do {
            if (!add_pair(b, s, p))
                return false;
            set_interval(p, out);
        } while (p->n < PAIRS_AT_LEAST ||
                 (p->n < PAIRS_AT_MOST &&
                  straddles(out, thresholds, nthresholds)));
        if (is_steady(p, &faster_ns))
            return true;
    }
    return weigh(out, faster_ns, "in half of its batches", thresholds,
                 nthresholds);
}

// ---- on a GPU ------------------------------------------------------------------------

// Compares the last batch in full, when nothing can change it any more. In
// copy mode only the worker has it: compared before it ends.
static bool finish_submission(struct runner *s)
{
    const struct timed *t = s->t;
    bool copies = session_copies(t->session), right = true;
    if (copies && t->verify_all)
        right = t->verify_all(t->self, outputs_of(s));
    session_kill(t->session, CALL_MACHINE, "ended after its measurement");
    if (!copies && t->verify_all)
        right = t->verify_all(t->self, outputs_of(s));
    return right || fail(s->out, RATIO_WRONG,
                         "the last batch, compared in full, is wrong");
}

// The baseline's time while no submission is there.
static bool measure_alone(struct runner *b, double *ns)
{
    double v[WITHOUT];
    for (unsigned i = 0; i < WITHOUT; i++)
        if (!run_batch(b, true, &v[i]))
            return false;
    *ns = median(v, WITHOUT);
    return true;
}

// Before the submission was there, and now that it is gone.
static bool is_undisturbed(struct runner *b, const double *thresholds,
                           unsigned n)
{
    struct ratio *r = b->out;
    double before = b->t->alone_ns, after = 0;
    if (before > 0 && !agree(before, r->baseline_ns) &&
        !weigh(r, before, "before the submission was there", thresholds, n))
        return false;
    return measure_alone(b, &after) &&
           (agree(after, r->baseline_ns) ||
            weigh(r, after, "once it was gone", thresholds, n));
}

static bool is_possible(const struct timed *t, struct ratio *out)
{
    double peak = gpu_peak_gbs(t->session); // GB/s is bytes a ns
    double rate = t->least_bytes / out->submission_ns;
    if (peak <= 0 || t->least_bytes <= 0 || rate <= impossible * peak)
        return true;
    out->status = RATIO_IMPOSSIBLE;
    snprintf(out->text, sizeof out->text,
             "%.0f GB/s, and this GPU's memory gives %.0f at most", rate, peak);
    return false;
}

static bool is_idle(const struct timed *t, struct ratio *out)
{
    char message[512] = "";
    return gpu_busy(t->session, message) == 0 ||
           fail(out, RATIO_COULD_NOT_MEASURE, message);
}

static void time_gpu(struct runner *b, struct runner *s,
                     const double *thresholds, unsigned nthresholds,
                     struct ratio *out)
{
    struct pairs pairs = {0};
    struct session *trusted = b->t->session;
    if (!is_idle(s->t, out) || !make_ready(b, trusted) ||
        !make_ready(s, trusted) ||
        !measure_pairs(b, s, thresholds, nthresholds, &pairs, out) ||
        !finish_submission(s) || !is_possible(s->t, out) ||
        !is_undisturbed(b, thresholds, nthresholds) || !is_idle(s->t, out))
        return;
    out->status = RATIO_OK;
    if (session_copies(s->t->session))
        snprintf(out->text, sizeof out->text, "copy mode");
}

// ---- on the virtual target --------------------------------------------------------------

static bool make_fresh(void *runner)
{
    return poison_and_refresh(runner);
}

static bool time_modelled(struct runner *r, bool trusted, double *ns)
{
    const struct timed *t = r->t;
    struct outcome o;
    r->n = 1;
    if (!sampler_open(&r->sampler, t))
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "out of memory");
    session_call_fresh(t->session, &t->calls[0], make_fresh, r, &o);
    if (o.status != CALL_RETURNED)
        return fail(r->out, trusted || o.status == CALL_MACHINE
                                ? RATIO_COULD_NOT_MEASURE
                                : RATIO_WRONG, o.text);
    if (o.cuda_error)
        return fail(r->out, trusted ? RATIO_COULD_NOT_MEASURE : RATIO_WRONG,
                    o.cuda_error_name);
    double beyond = o.worker_cpu_s - cpu_allowance_s;
    *ns = o.device_ns + (beyond > 0 && !trusted ? 1e9 * beyond : 0);
    if (*ns < 1)
        *ns = 1;
    if (sampler_plan(&r->sampler, t, outputs_of(r)) != 0 ||
        sampler_fetch(&r->sampler, t, outputs_of(r)) != 0)
        return fail(r->out, RATIO_COULD_NOT_MEASURE, "outputs not read");
    return !t->verify ||
           t->verify(t->self, r->sampler.samples, outputs_of(r)) ||
           fail(r->out, RATIO_WRONG, "sampled elements are wrong");
}

static void time_virtual(struct runner *b, struct runner *s, struct ratio *out)
{
    if (!time_modelled(b, true, &out->baseline_ns) ||
        !time_modelled(s, false, &out->submission_ns) || !finish_submission(s))
        return;
    out->status = RATIO_OK;
    out->pairs = 1;
    out->median = out->lo = out->hi = out->baseline_ns / out->submission_ns;
}

unsigned time_calls(struct session *s, double call_bytes, double memory_bytes)
{
    double peak = session_is_modelled(s) ? 0 : gpu_peak_gbs(s);
    if (peak <= 0 || call_bytes <= 0 || memory_bytes <= 0)
        return 1;
    double wanted = ceil(batch_ns * peak / call_bytes); // GB/s is bytes a ns
    double room = memory_share * (double)gpu_free_bytes(s) / memory_bytes;
    double n = wanted < room ? wanted : room;
    return n < 1 ? 1 : n < PROTOCOL_CALLS - FIRST_SLOT
                           ? (unsigned)n
                           : PROTOCOL_CALLS - FIRST_SLOT;
}

double time_alone(const struct timed *baseline)
{
    struct ratio unused = {0};
    struct runner b = {.t = baseline, .out = &unused};
    double ns = 0;
    if (session_is_modelled(baseline->session))
        return 0;
    if (!make_ready(&b, baseline->session) || !measure_alone(&b, &ns))
        ns = 0;
    sampler_close(&b.sampler);
    return ns;
}

void time_ratio(const struct timed *baseline, const struct timed *submission,
                const double *thresholds, unsigned nthresholds,
                struct ratio *out)
{
    struct runner b = {.t = baseline, .out = out};
    struct runner s = {.t = submission, .out = out};
    memset(out, 0, sizeof *out);
    out->status = RATIO_COULD_NOT_MEASURE;
    out->modelled = session_is_modelled(submission->session);
    if (out->modelled)
        time_virtual(&b, &s, out);
    else
        time_gpu(&b, &s, thresholds, nthresholds, out);
    sampler_close(&b.sampler);
    sampler_close(&s.sampler);
    if (!submission->session->dead)
        session_kill(submission->session, CALL_MACHINE,
                     "ended after its measurement");
}
