// Calls of the submission and of the baseline: sessions, launches, and what a
// call must not do.
#include "running.h"

#include <stdlib.h>
#include <string.h>

#include "vgpu/model/model.h"

enum { NOT_SUPPORTED = 801 }; // cudaErrorNotSupported

// ---- sessions -----------------------------------------------------------------

bool on_gpu(void)
{
    return running.options->target->kind == TARGET_GPU &&
           (running.purpose == FOR_VALUES || running.purpose == FOR_SPEED);
}

unsigned device_count(void)
{
    return on_gpu() ? 1 : running.options->manifest->devices;
}

const char *gpu_name(void)
{
    return session_gpu_name(session_of(running.side));
}

void use(enum side side)
{
    running.side = side;
}

unsigned watch_of(enum purpose purpose)
{
    static const unsigned watch[PURPOSES] = {
        [FOR_VALUES] = 0,
        [FOR_CHECKS] = WATCH_CHECK | WATCH_COUNT | WATCH_WRITERS,
        [FOR_COUNTERS] = WATCH_COUNT | WATCH_WRITERS,
        [FOR_SPEED] = WATCH_COUNT, // the time model needs the sectors
    };
    return watch[purpose];
}

struct session *session_of(enum side side)
{
    const struct judge_options *o = running.options;
    const struct chosen_target *target = o->target;
    struct session **session = &running.sessions[running.purpose][side];
    char message[512];
    if (*session)
        return *session;
    if (side == BASELINE && !o->baseline[0])
        machine_failed("this lab has no baseline.cu");
    struct session_options options = {
        .target = on_gpu() ? TARGET_GPU : TARGET_VIRTUAL,
        // Checks of a run on a GPU take the default model.
        .gpu = on_gpu() == (target->kind == TARGET_GPU) && target->gpu[0]
                   ? target->gpu
                   : NULL,
        .ndevices = o->manifest->devices,
        .isolation = o->isolation,
        .submission = side == SUBMISSION ? o->submission : o->baseline,
        .watch = watch_of(running.purpose),
        .memory_bytes = (uint64_t)o->manifest->policy.memory_mib << 20,
        .max_processes = o->manifest->policy.processes,
        .allow_copy_mode = true};
    if (session_open(&options, session, message)) {
        *session = NULL;
        machine_failed("%s", message);
    }
    if (on_gpu() == (target->kind == TARGET_GPU))
        snprintf(running.gpu_name, sizeof running.gpu_name, "%s",
                 session_gpu_name(*session));
    return *session;
}

void sessions_close(enum purpose purpose)
{
    for (int side = SUBMISSION; side <= BASELINE; side++) {
        if (!running.sessions[purpose][side])
            continue;
        running.copies |= session_copies(running.sessions[purpose][side]);
        session_close(running.sessions[purpose][side]);
        running.sessions[purpose][side] = NULL;
    }
}

// ---- calling ---------------------------------------------------------------------

struct arg lab_pointer(struct buffer *buffer, size_t offset)
{
    if (!buffer)
        return NULL_PTR;
    if (held_of(buffer)->side != running.side)
        machine_failed("the lab's check passes %s to the wrong side",
                       held_of(buffer)->name);
    return (struct arg){.kind = ARG_BUFFER, .buffer = buffer, .offset = offset};
}

// The finding that explains why a call ended in a device fault.
static void keep_fault(struct vgpu *vgpu)
{
    struct finding *found = NULL;
    unsigned n = 0;
    if (!vgpu || vgpu_findings(vgpu, &found, &n))
        return;
    for (unsigned i = 0; i < n; i++)
        if (found[i].fatal)
            running.finding = found[i];
    if (n && running.purpose == FOR_CHECKS &&
        running.finding.kind != FINDING_UNSUPPORTED)
        running.finding = found[0];
    free(found);
}

static bool says_not_supported(const struct call *call, const struct outcome *o)
{
    return o->cuda_error == NOT_SUPPORTED ||
           (call->returns == RETURN_I32 && o->i == NOT_SUPPORTED);
}

// Appends n items of `each` bytes to a growing array.
static void append(void *array, unsigned *have, const void *items, unsigned n,
                   size_t each)
{
    void **at = array;
    char *grown = n ? realloc(*at, (*have + n) * each) : NULL;
    if (!grown)
        return;
    memcpy(grown + *have * each, items, n * each);
    *at = grown;
    *have += n;
}

void advise_findings(struct vgpu *vgpu)
{
    struct advice *a = running.advice;
    struct finding *found = NULL;
    unsigned n = 0;
    if (vgpu && !vgpu_findings(vgpu, &found, &n))
        append(&a->findings, &a->nfindings, found, n, sizeof *found);
    free(found);
}

static void advise(struct vgpu *vgpu)
{
    struct advice *a = running.advice;
    append(&a->launches, &a->nlaunches, running.launches, running.nlaunches,
           sizeof *running.launches);
    advise_findings(vgpu);
}

static void keep_launches(struct vgpu *vgpu)
{
    free(running.launches);
    running.launches = NULL;
    running.nlaunches = 0;
    if (vgpu && running.purpose != FOR_VALUES &&
        vgpu_launches(vgpu, &running.launches, &running.nlaunches))
        running.nlaunches = 0;
}

// In check tests the judge reads all findings after the body; before that
// only where what the virtual GPU lacks must be told from a mistake.
static void explain(const struct call *call, const struct outcome *o, bool sound)
{
    bool lacks = says_not_supported(call, o);
    if (!lacks && (sound || running.purpose == FOR_CHECKS))
        return;
    keep_fault(session_vgpu(session_of(running.side)));
    if (running.purpose == FOR_CHECKS && running.finding.message[0] &&
        running.finding.kind != FINDING_UNSUPPORTED)
        failed_by_finding(&running.finding);
}

const struct outcome *perform(const struct call *call)
{
    struct session *session = session_of(running.side);
    struct outcome *outcome = &running.outcome;
    keep_launches(session_vgpu(session)); // drops those of earlier calls
    memset(outcome, 0, sizeof *outcome);
    running.finding = (struct finding){0};
    session_call(session, call, outcome);
    bool sound = outcome->status == CALL_RETURNED && !outcome->cuda_error;
    keep_launches(session_vgpu(session));
    if (running.advice && running.side == SUBMISSION)
        advise(session_vgpu(session));
    running.broken |= !sound;
    if (!running.advice)
        explain(call, outcome, sound);
    return outcome;
}

// The last line that a submission printed: CUDA_CHECK speaks there.
static const char *last_words(char out[256])
{
    char text[OUTCOME_TEXT];
    snprintf(text, sizeof text, "%s", running.outcome.output);
    size_t n = strlen(text);
    while (n && (text[n - 1] == '\n' || text[n - 1] == ' '))
        text[--n] = '\0';
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    snprintf(out, 256, "%s%.240s", *line ? ": " : "", line);
    return out;
}

static void demand_return(const char *symbol)
{
    const struct outcome *o = &running.outcome;
    char words[256];
    switch (o->status) {
    case CALL_RETURNED:
        return;
    case CALL_NOT_LOADED:
        failed("the submission could not be loaded: %.700s", o->text);
    case CALL_NO_SYMBOL:
        failed("there is no function %s in the submission (extern \"C\"?)",
               symbol);
    case CALL_SIGNAL:
        failed("%s did not return: %s%s", symbol,
               o->text[0] ? o->text : strsignal(o->code), last_words(words));
    case CALL_EXITED:
        failed("%s ended the program with status %d instead of returning%s",
               symbol, o->code, last_words(words));
    case CALL_TIMEOUT:
        failed("%s did not return within %g s", symbol,
               running.options->manifest->policy.run_s);
    case CALL_MACHINE:
        machine_failed("%.900s", o->text);
    }
}

// What the virtual GPU lacks is no mistake of the submission's. Its device
// server says so, which no submission can; an error that the submission tells
// may be made up.
static void demand_supported(const char *symbol)
{
    if (running.finding.kind == FINDING_UNSUPPORTED &&
        running.finding.message[0])
        machine_failed("%s: %s", symbol, running.finding.message);
}

void demand_sound(const char *symbol, bool may_leave_error)
{
    const struct outcome *o = &running.outcome;
    if (running.side == BASELINE &&
        (o->status != CALL_RETURNED || (o->cuda_error && !may_leave_error)))
        machine_failed("the lab's own %s failed: %.400s %.60s", symbol, o->text,
                       o->cuda_error ? o->cuda_error_name : "");
    demand_return(symbol);
    if (!o->cuda_error || may_leave_error)
        return;
    demand_supported(symbol);
    if (running.finding.message[0] && running.finding.kernel[0])
        failed_by_finding(&running.finding);
    failed("%s left the CUDA error %s%s%.600s", symbol, o->cuda_error_name,
           o->text[0] ? ": " : "", o->text);
}

const struct outcome *lab_call(const char *symbol, enum return_kind returns,
                               unsigned flags, unsigned nargs,
                               const struct arg *args)
{
    struct call call = {.symbol = symbol, .returns = returns, .nargs = nargs,
                        .deadline_s = running.options->manifest->policy.run_s};
    if (nargs > CALL_MAX_ARGS)
        machine_failed("the lab's check passes more than %d arguments",
                       CALL_MAX_ARGS);
    memcpy(call.args, args, nargs * sizeof *args);
    perform(&call);
    demand_sound(symbol, flags & LAB_MAY_LEAVE_ERROR);
    return &running.outcome;
}

// The errors that learners meet; the judge links no CUDA to ask for others.
static const char *error_name(int32_t error)
{
    static const struct {
        int32_t error;
        const char *name;
    } names[] = {{1, "cudaErrorInvalidValue"},
                 {2, "cudaErrorMemoryAllocation"},
                 {9, "cudaErrorInvalidConfiguration"},
                 {11, "cudaErrorInvalidPitchValue"},
                 {17, "cudaErrorInvalidDevicePointer"},
                 {21, "cudaErrorInvalidMemcpyDirection"},
                 {98, "cudaErrorInvalidDeviceFunction"},
                 {101, "cudaErrorInvalidDevice"},
                 {209, "cudaErrorNoKernelImageForDevice"},
                 {400, "cudaErrorInvalidResourceHandle"},
                 {700, "cudaErrorIllegalAddress"},
                 {701, "cudaErrorLaunchOutOfResources"},
                 {716, "cudaErrorMisalignedAddress"},
                 {719, "cudaErrorLaunchFailure"},
                 {801, "cudaErrorNotSupported"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].error == error)
            return names[i].name;
    return "a CUDA error";
}

void lab_expect_success(const char *symbol, int32_t error)
{
    char words[256];
    if (!error)
        return;
    demand_supported(symbol);
    failed("%s returned %s (%d)%s", symbol, error_name(error), error,
           last_words(words));
}
