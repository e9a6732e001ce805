// One submission, run on one target, from the trusted side.
//
//   probe.c           which isolation works here: namespaces, user, none
//   sandbox.c         runs a command (a compiler) in a sandbox
//   session.c         starts the worker, speaks its protocol, keeps deadlines
//   buffer.c          the judge's buffers, whatever holds them
//   target_virtual.c  buffers as sealed memfds, a device server, modelled time
//   target_gpu.c      buffers as CUDA IPC handles, measured time (dlopens
//                     build/lib/gpu_target.so, the only part that links CUDA)
//   timing.c          interleaved batches, medians, intervals
//   inside/           the untrusted side: loads submission.so, calls functions
//
// What the worker says is data, never a verdict. A session survives anything
// a submission does: it reports it. Everything a session or sandbox_run starts
// dies with it, and with the thread that opened it.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../vgpu/server/control.h"

// ---- isolation ---------------------------------------------------------

enum isolation { ISOLATION_NONE, ISOLATION_USER, ISOLATION_NAMESPACES };
const char *isolation_name(enum isolation); // "namespaces", "user", "none"
// The strongest level that works here; found by trying it, once a process.
enum isolation isolation_probe(void);

// Runs a command in a sandbox: compilers, mostly. Only `readable` paths exist
// in it, `scratch` is the one writable folder and the working directory.
struct sandbox_run {
    enum isolation isolation;
    const char *const *argv;      // NULL-terminated
    const char *const *env;       // NULL-terminated "A=b"; nothing else is set
    const char *const *readable;  // NULL-terminated absolute paths
    const char *scratch;
    double wall_s, cpu_s;
    uint64_t memory_bytes, scratch_bytes;
    unsigned max_processes;
};
struct sandbox_result {
    enum { RAN_EXIT, RAN_SIGNAL, RAN_TIMEOUT, RAN_NOT_STARTED } how;
    int code;             // exit status, or signal number
    double wall_s;
    char *output;         // stdout and stderr, head and tail, 64 KiB at most
    size_t output_bytes;  // before cutting
};
void sandbox_run(const struct sandbox_run *, struct sandbox_result *);
void sandbox_result_free(struct sandbox_result *);

// ---- a session -----------------------------------------------------------

enum target_kind { TARGET_VIRTUAL, TARGET_GPU };

struct session_options {
    enum target_kind target;
    const char *gpu;              // virtual: model key; GPU: index or NULL
    unsigned ndevices;            // virtual
    enum isolation isolation;
    const char *submission;       // path of submission.so
    unsigned watch;               // virtual: enum watch_flags
    enum schedule schedule;
    uint64_t seed;
    uint64_t memory_bytes;        // host memory of the worker; 0: 4 GiB
    unsigned max_processes;       // threads of the worker; 0: 128. It may
                                  // start no process
    bool allow_copy_mode;
};

struct session;
struct buffer; // owned by the judge, lent to the submission

// 0; or -1 with message (512 bytes): the fault of the machine, not of the
// submission, whose own faults show in the outcome of the first call.
int session_open(const struct session_options *, struct session **, char *message);
void session_close(struct session *);
const char *session_gpu_name(const struct session *); // "NVIDIA H200"
bool session_is_modelled(const struct session *);
// Copy mode: this GPU lends no memory between processes, so that buffers are
// copied. Known once a device buffer was made. Results say so.
bool session_copies(const struct session *);
// NULL on a GPU; valid until session_restart or session_close.
struct vgpu *session_vgpu(struct session *);
// Starts worker and device server again (after a crash), buffers kept.
int session_restart(struct session *, char *message);
// Ends the worker alone, so that the device server tells what it leaked;
// calls fail until session_restart.
void session_end_worker(struct session *);

// ---- buffers -------------------------------------------------------------

// Device memory, at an offset into a slab so that base misalignment can be
// chosen by the caller: `skew` bytes past a 256-byte boundary.
struct buffer *buffer_device(struct session *, size_t nbytes, size_t skew,
                             const char *label);
// Host memory shared with the worker (pageable as far as CUDA knows).
struct buffer *buffer_host(struct session *, size_t nbytes, const char *label);
void buffer_free(struct buffer *);
size_t buffer_bytes(const struct buffer *);
// 0, or -1 when the device fails (a machine fault).
int buffer_write(struct buffer *, size_t offset, const void *, size_t nbytes);
int buffer_read(struct buffer *, size_t offset, void *, size_t nbytes);
int buffer_fill(struct buffer *, int byte); // poison: counts as unwritten
// Floats in [-1, 1), element i being random_at(seed, i), made where the buffer
// lies: on a GPU by a kernel of the judge's.
int buffer_random(struct buffer *, uint64_t seed);
static inline float random_at(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + i * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 32) * UINT64_C(0xd6e8feb86659fd93);
    z ^= z >> 32;
    return (float)(int32_t)(z & 0xffffff) * 0x1p-23f - 1.0f;
}
// Virtual: who wrote it since the last write or fill; false on a GPU.
bool buffer_writers(struct buffer *, struct writers *);
// Host buffers: the judge's own mapping. NULL for device buffers.
void *buffer_map(struct buffer *);

// ---- calls ---------------------------------------------------------------

enum arg_kind { ARG_I32, ARG_U32, ARG_I64, ARG_U64, ARG_F32, ARG_F64,
                ARG_BUFFER, ARG_NULL };
struct arg {
    enum arg_kind kind;
    union { int64_t i; uint64_t u; double f; struct buffer *buffer; };
    size_t offset;          // ARG_BUFFER: bytes into it
};
enum return_kind { RETURN_VOID, RETURN_I32, RETURN_I64, RETURN_F32, RETURN_F64 };

enum { CALL_MAX_ARGS = 16, OUTCOME_TEXT = 1024 };
struct call {
    const char *symbol;     // C name
    enum return_kind returns;
    unsigned nargs;
    struct arg args[CALL_MAX_ARGS];
    double deadline_s;      // 0: 10 s
};

enum call_status {
    CALL_RETURNED,
    CALL_NOT_LOADED,        // submission.so does not load: text says why
    CALL_NO_SYMBOL,
    CALL_SIGNAL,            // killed by signal `code`
    CALL_EXITED,            // the submission ended the process, status `code`
    CALL_TIMEOUT,
    CALL_MACHINE,           // not the submission's fault: text says what
};

struct outcome {
    enum call_status status;
    int code;
    int64_t i;              // returned value, by its kind
    double f;
    int cuda_error;         // after cudaDeviceSynchronize and GetLastError
    char cuda_error_name[64];
    double worker_cpu_s;    // CPU time the worker spent in the call
    double device_ns;       // virtual: modelled device time of the call
    char text[OUTCOME_TEXT];// for a person, valid UTF-8, no control codes
    char output[OUTCOME_TEXT]; // tail of what the submission printed
};
void session_call(struct session *, const struct call *, struct outcome *);

// ---- timing ----------------------------------------------------------------

// Elements gathered from one output after a batch, at random places.
struct sample {
    unsigned output;              // index into `outputs`
    unsigned n;
    const uint64_t *index;        // which elements
    const void *elements;         // n of element_bytes
};

// A thing to time: `ncalls` calls, each with its own buffers. The outputs are
// poisoned before every batch.
struct timed {
    struct session *session;
    unsigned ncalls;
    const struct call *calls;     // ncalls
    struct buffer *const *outputs;// noutputs; output i is written by call i
    unsigned noutputs;            // at most ncalls
    unsigned element_bytes;       // of the outputs: 1, 2, 4 or 8
    double least_bytes;           // a call must move through DRAM; 0: unknown
    double alone_ns;              // of a baseline: time_alone, or 0
    // New inputs for the first n calls, before every batch, so that no earlier
    // answer is right again (buffer_random is quick). false: the device
    // failed. NULL: none.
    bool (*refresh)(void *self, unsigned n);
    // Judges sampled elements; false: the answer was wrong. NULL: not judged.
    bool (*verify)(void *self, const struct sample *, unsigned nsamples);
    // Compares outputs 0..n-1 in full, when the worker is gone. NULL: not.
    bool (*verify_all)(void *self, unsigned n);
    void *self;
};
struct ratio {
    enum { RATIO_OK, RATIO_WRONG, RATIO_COULD_NOT_MEASURE, RATIO_IMPOSSIBLE } status;
    double median, lo, hi;        // baseline time over submission time
    double baseline_ns, submission_ns; // a call, medians
    unsigned pairs;
    bool modelled;
    char text[OUTCOME_TEXT];
};
// How many calls a batch should have, if each moves call_bytes of device memory
// and takes memory_bytes of it for its own buffers: a batch's length at the
// GPU's peak rate, as far as the memory that is free allows. 1 on the virtual
// target.
unsigned time_calls(struct session *, double call_bytes, double memory_bytes);
// The baseline's time a call, ns, before there is a submission's worker that
// could slow it: for timed.alone_ns. 0: it failed, or time is modelled.
double time_alone(const struct timed *baseline);
// How much faster the submission is than the baseline (a session of its own,
// running trusted code), by interleaved batches; on the virtual target one
// launch each, plus worker CPU time beyond the allowance of 5 ms. Batches are
// shortened to 15 ms where there are more calls than that needs.
// thresholds, at most three: pass, full, stretch; measured more while one is
// straddled.
// Ends the submission's worker: session_restart to call it again. On a GPU
// "could not measure" may be worth another try, after a restart.
void time_ratio(const struct timed *baseline, const struct timed *submission,
                const double *thresholds, unsigned nthresholds, struct ratio *);
