#include "sampling.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

uint64_t entropy_u64(void)
{
    uint64_t v = 0;
    while (getrandom(&v, sizeof v, 0) != sizeof v)
        ;
    return v;
}

// xorshift64*: enough to choose places that nobody can foresee.
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static bool on_gpu(const struct buffer *b)
{
    return b->map == NULL;
}

bool sampler_open(struct sampler *s, const struct timed *t)
{
    size_t n = (size_t)t->noutputs * SAMPLES_AN_OUTPUT + 1;
    memset(s, 0, sizeof *s);
    s->noutputs = t->noutputs, s->element_bytes = t->element_bytes;
    if (t->element_bytes != 1 && t->element_bytes != 2 &&
        t->element_bytes != 4 && t->element_bytes != 8)
        return t->noutputs == 0;
    s->samples = calloc(t->noutputs + 1, sizeof *s->samples);
    s->index = calloc(n, sizeof *s->index);
    s->address = calloc(n, sizeof *s->address);
    s->elements = calloc(n, t->element_bytes);
    s->gathered = calloc(n, t->element_bytes);
    return s->samples && s->index && s->address && s->elements && s->gathered;
}

void sampler_close(struct sampler *s)
{
    free(s->samples);
    free(s->index);
    free(s->address);
    free(s->elements);
    free(s->gathered);
}

int sampler_plan(struct sampler *s, const struct timed *t, unsigned n)
{
    uint64_t state = entropy_u64() | 1;
    s->naddresses = 0;
    for (unsigned k = 0; k < n; k++) {
        const struct buffer *b = t->outputs[k];
        uint64_t count = b->nbytes / s->element_bytes;
        uint64_t *index = s->index + (size_t)k * SAMPLES_AN_OUTPUT;
        struct sample *sample = &s->samples[k];
        sample->output = k;
        sample->n = count ? SAMPLES_AN_OUTPUT : 0;
        sample->index = index;
        sample->elements =
            s->elements + (size_t)k * SAMPLES_AN_OUTPUT * s->element_bytes;
        for (unsigned i = 0; i < sample->n; i++) {
            index[i] = next(&state) % count;
            if (on_gpu(b))
                s->address[s->naddresses++] =
                    b->address + b->skew + index[i] * s->element_bytes;
        }
    }
    if (s->naddresses == 0)
        return 0;
    return gpu_plan_gather(t->session, s->address, s->naddresses,
                           s->element_bytes);
}

// From memory that the judge maps: host buffers, the virtual target's, and
// copy mode's.
static int fetch_mapped(const struct sampler *s, struct buffer *b,
                        const struct sample *sample, char *to)
{
    if (!b->host && session_copies(b->session) && gpu_update_map(b) != 0)
        return -1;
    for (unsigned i = 0; i < sample->n; i++)
        memcpy(to + (size_t)i * s->element_bytes,
               b->map + b->skew + sample->index[i] * s->element_bytes,
               s->element_bytes);
    return 0;
}

int sampler_fetch(struct sampler *s, const struct timed *t, unsigned n)
{
    const char *from = s->gathered;
    if (s->naddresses > 0 && gpu_gather(t->session, s->gathered) != 0)
        return -1;
    for (unsigned k = 0; k < n; k++) {
        const struct sample *sample = &s->samples[k];
        size_t nbytes = (size_t)sample->n * s->element_bytes;
        char *to =
            s->elements + (size_t)k * SAMPLES_AN_OUTPUT * s->element_bytes;
        if (on_gpu(t->outputs[k])) {
            memcpy(to, from, nbytes);
            from += nbytes;
        } else if (fetch_mapped(s, t->outputs[k], sample, to) != 0) {
            return -1;
        }
    }
    return 0;
}
