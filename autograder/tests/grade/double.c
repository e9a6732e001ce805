#include "double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vgpu/model/model.h"

const struct double_function *double_submission, *double_baseline;
struct ratio double_ratio;
struct finding double_finding;
unsigned double_nfindings, double_schedules, double_opened;
struct vgpu_launch double_launch;
int double_open_fails;

struct vgpu {
    int unused;
};
struct session {
    struct session_options options;
    const struct double_function *functions;
    struct vgpu vgpu;
};
struct buffer {
    size_t nbytes;
    char *bytes;
    bool written;
};

// ---- sessions ------------------------------------------------------------------

const char *isolation_name(enum isolation i)
{
    static const char *const names[] = {"none", "user", "namespaces"};
    return names[i];
}

int session_open(const struct session_options *o, struct session **out,
                 char *message)
{
    if (double_open_fails) {
        snprintf(message, 512, "the double was told to fail");
        return -1;
    }
    *out = calloc(1, sizeof **out);
    (*out)->options = *o;
    (*out)->functions = strcmp(o->submission, "baseline") ? double_submission
                                                          : double_baseline;
    double_opened++;
    return 0;
}

void session_close(struct session *s)
{
    free(s);
}

const char *session_gpu_name(const struct session *s)
{
    return "NVIDIA Double";
}

bool session_copies(const struct session *s)
{
    return false;
}

void session_end_worker(struct session *s)
{
    s->functions = NULL;
}

struct vgpu *session_vgpu(struct session *s)
{
    return s->options.target == TARGET_VIRTUAL ? &s->vgpu : NULL;
}

// ---- buffers --------------------------------------------------------------------

struct buffer *buffer_device(struct session *s, size_t nbytes, size_t skew,
                             const char *label)
{
    if (nbytes > (1u << 30)) // as a device would that has 1 GiB
        return NULL;
    struct buffer *b = calloc(1, sizeof *b);
    b->nbytes = nbytes;
    b->bytes = malloc(nbytes);
    return b;
}

struct buffer *buffer_host(struct session *s, size_t nbytes, const char *label)
{
    return buffer_device(s, nbytes, 0, label);
}

void buffer_free(struct buffer *b)
{
    free(b->bytes);
    free(b);
}

int buffer_write(struct buffer *b, size_t at, const void *data, size_t n)
{
    memcpy(b->bytes + at, data, n);
    return 0;
}

int buffer_read(struct buffer *b, size_t at, void *data, size_t n)
{
    memcpy(data, b->bytes + at, n);
    return 0;
}

int buffer_fill(struct buffer *b, int byte)
{
    memset(b->bytes, byte, b->nbytes);
    return 0;
}

int buffer_random(struct buffer *b, uint64_t seed)
{
    float *to = (float *)b->bytes;
    for (size_t i = 0; i < b->nbytes / sizeof *to; i++)
        to[i] = random_at(seed, i);
    return 0;
}

bool buffer_writers(struct buffer *b, struct writers *w)
{
    *w = (struct writers){.kernel = b->written ? b->nbytes : 0};
    return true;
}

// ---- calls ------------------------------------------------------------------------

void *double_pointer(struct arg a)
{
    if (a.kind != ARG_BUFFER)
        return NULL;
    a.buffer->written = true;
    return a.buffer->bytes + a.offset;
}

void session_call(struct session *s, const struct call *call, struct outcome *o)
{
    for (const struct double_function *f = s->functions; f && f->symbol; f++)
        if (!strcmp(f->symbol, call->symbol)) {
            f->run(call, o);
            return;
        }
    o->status = CALL_NO_SYMBOL;
}

static bool sound(const struct timed *t)
{
    if (t->refresh && !t->refresh(t->self, t->ncalls))
        return false;
    for (unsigned i = 0; i < t->ncalls; i++) {
        struct outcome o = {0};
        uint64_t index = 3;
        float element;
        buffer_fill(t->outputs[i], 0xff);
        session_call(t->session, &t->calls[i], &o);
        buffer_read(t->outputs[i], index * sizeof element, &element,
                    sizeof element);
        struct sample sample = {i, 1, &index, &element};
        if (t->verify && !t->verify(t->self, &sample, 1))
            return false;
    }
    return !t->verify_all || t->verify_all(t->self, t->ncalls);
}

unsigned time_calls(struct session *s, double call_bytes, double memory_bytes)
{
    return 3;
}

double time_alone(const struct timed *baseline)
{
    return 0;
}

void time_ratio(const struct timed *baseline, const struct timed *submission,
                const double *thresholds, unsigned n, struct ratio *out)
{
    *out = double_ratio;
    if (!sound(baseline) || !sound(submission))
        out->status = RATIO_WRONG;
}

// ---- the device server --------------------------------------------------------------

int vgpu_set_schedule(struct vgpu *v, enum schedule schedule, uint64_t seed)
{
    double_schedules++;
    return 0;
}

int vgpu_wait_idle(struct vgpu *v)
{
    return 0;
}

int vgpu_findings(struct vgpu *v, struct finding **out, unsigned *n)
{
    *n = double_nfindings;
    *out = calloc(*n + 1, sizeof **out);
    for (unsigned i = 0; i < *n; i++)
        (*out)[i] = double_finding;
    double_nfindings = 0;
    return 0;
}

int vgpu_launches(struct vgpu *v, struct vgpu_launch **out, unsigned *n)
{
    *n = double_launch.kernel[0] != '\0';
    *out = calloc(1, sizeof **out);
    **out = double_launch;
    return 0;
}

const char *finding_name(enum finding_kind kind)
{
    return "out-of-bounds";
}

// ---- models and the compile sandbox, which these tests do not use ------------------------

static const struct gpu_model model = {.key = "h200", .name = "NVIDIA H200",
                                       .capability = 90};

const struct gpu_model *gpu_default(void)
{
    return &model;
}

const struct gpu_model *gpu_find(const char *key)
{
    return strcmp(key, model.key) ? NULL : &model;
}

const struct gpu_model *gpu_at(unsigned i)
{
    return i ? NULL : &model;
}

void sandbox_run(const struct sandbox_run *run, struct sandbox_result *result)
{
    result->how = RAN_NOT_STARTED;
}

void sandbox_result_free(struct sandbox_result *result)
{
}
