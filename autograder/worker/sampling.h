// Random elements of the outputs of a batch.
#pragma once

#include "session_impl.h"

enum { SAMPLES_AN_OUTPUT = 4096 };

struct sampler {
    unsigned noutputs, element_bytes;
    struct sample *samples;   // noutputs
    uint64_t *index;          // SAMPLES_AN_OUTPUT each
    uint64_t *address;        // of elements that lie on a GPU
    unsigned naddresses;
    char *elements;
    char *gathered;           // as the GPU gives them, one after another
};

// A generator seeded by the operating system; never two values alike.
uint64_t entropy_u64(void);

// false: out of memory, or outputs that cannot be sampled.
bool sampler_open(struct sampler *, const struct timed *);
void sampler_close(struct sampler *);
// Chooses the elements of the first n outputs for one batch; 0 or -1.
int sampler_plan(struct sampler *, const struct timed *, unsigned n);
// Fetches them. What the judge times ends with this.
int sampler_fetch(struct sampler *, const struct timed *, unsigned n);
