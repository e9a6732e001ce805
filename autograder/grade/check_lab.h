// What a lab's check file is written with: labs/NN-name/check_*.c.
//
//   recorder.c   the record of the test that runs: verdicts, points, messages
//   arrays.c     host arrays, buffers with guards, random input
//   calls.c      calls of the submission, on one target or in every schedule
//   compare.c    comparisons that NaN fails, and patterns of wrong elements
//   counters.c   launches of the last call, what they moved, who wrote
//   speed.c      speed tests against the trusted baseline
//
// A check file is a list of Check tests and reads like the lab's
// specification. Its names are the names in lab.yaml, which gives each its
// kind, task and points; the judge opens the session that the kind asks for
// before a test and frees all that the test made after it, so a test body
// holds only: the input, the call, what is expected.
//
//     START_TEST(adds_the_ragged_end)
//     {
//         size_t n = 257;
//         float *a = random_f32(n, -1, 1), *b = random_f32(n, -1, 1);
//         float *sum = room_f32(n);
//         for (size_t i = 0; i < n; i++)
//             sum[i] = a[i] + b[i];
//         given("n = %zu", n);
//         struct buffer *d_a = device_input("a", a, n * sizeof *a);
//         struct buffer *d_b = device_input("b", b, n * sizeof *b);
//         struct buffer *d_c = device_output("c", n * sizeof *sum);
//         call("vector_add", PTR(d_a), PTR(d_b), PTR(d_c), I64(n));
//         expect_f32(d_c, sum, n, EXACT);
//     }
//     END_TEST
//     LAB_SUITE(adds_the_ragged_end)
//
// A failed expectation ends the test. The judge is one process with one test
// at a time, so that the test need not be handed around.
#pragma once

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/session.h"

// ---- the suite -----------------------------------------------------------

enum { LAB_MAX_TESTS = 64 };

// Names every test of the file, once, at its end.
#define LAB_SUITE(...)                                                         \
    unsigned lab_tests(const TTest **out)                                      \
    {                                                                          \
        const TTest *tests[] = {__VA_ARGS__};                                  \
        unsigned n = sizeof tests / sizeof tests[0];                           \
        for (unsigned i = 0; i < n && i < LAB_MAX_TESTS; i++)                  \
            out[i] = tests[i];                                                 \
        return n;                                                              \
    }
unsigned lab_tests(const TTest **out); // out: LAB_MAX_TESTS

// ---- where a test runs -----------------------------------------------------

bool on_gpu(void);          // false: virtual, times are modelled
unsigned device_count(void);// devices that the submission sees
const char *gpu_name(void); // "NVIDIA H200"

// What is to be called: the submission, or the trusted baseline.cu of the
// lab in a session of its own on the same target. Buffers belong to the side
// that was chosen when they were made. A test begins with the submission.
enum side { SUBMISSION, BASELINE };
void use(enum side);

// ---- verdicts --------------------------------------------------------------

// Says what the lines that follow are about; printed before a failure:
// given("n = %zu, 4 bytes past alignment", n).
void given(const char *format, ...) __attribute__((format(printf, 1, 2)));
// Ends the test: failed. Cut at 1 KiB.
void failed(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
// Ends the test: skipped, no points lost ("needs 9 GiB of device memory").
void skip(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
// Gives a share of the points, 0..1, and says what for. Several awards of
// one test: the least counts. A test that awards nothing gives all.
void award(double share, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// Awards on a straight line: nothing up to `none`, all from `full` on
// (full < none: less is better). The message tells value and both marks.
void award_between(const char *what, double value, double none, double full);
// A figure to show beside the test, without points ("end to end, against one
// CPU thread: 0.4x").
void show(const char *format, ...) __attribute__((format(printf, 1, 2)));

// ---- host arrays: freed by the judge ---------------------------------------

void *room(size_t nbytes); // zeroed
float *room_f32(size_t n);
double *room_f64(size_t n);
int32_t *room_i32(size_t n);
// Fresh on every run, from the judge's entropy; evenly in [lo, hi).
float *random_f32(size_t n, double lo, double hi);
int32_t *random_i32(size_t n, int32_t lo, int32_t hi);
uint64_t random_below(uint64_t n);

// ---- buffers ---------------------------------------------------------------

// Device memory. Inputs are remembered, for expect_unchanged(); outputs are
// poisoned with 0xFF. In value and speed tests a guard of 256 bytes lies
// behind each, which expect_*() demands to be untouched; in check and counter
// tests the allocation is exact, so that the checker sees an overrun.
// nbytes 0 passes NULL, as cudaMalloc(0) would give. Too large for the
// device: the test is skipped by name.
struct buffer *device_input(const char *name, const void *data, size_t nbytes);
struct buffer *device_output(const char *name, size_t nbytes);
// The same, `skew` bytes past a 256-byte boundary.
struct buffer *device_input_at(const char *name, const void *data,
                               size_t nbytes, size_t skew);
struct buffer *device_output_at(const char *name, size_t nbytes, size_t skew);
// Pageable host memory, shared with the worker.
struct buffer *host_input(const char *name, const void *data, size_t nbytes);
struct buffer *host_output(const char *name, size_t nbytes);
// New contents for an existing buffer (as input); poison (as output).
void refill(struct buffer *, const void *data);
void poison(struct buffer *);
// A copy of what it holds now, freed by the judge: compare this, never the
// mapping that the submission can still write.
const void *contents(struct buffer *);

// ---- calls -----------------------------------------------------------------

#define I32(x) ((struct arg){.kind = ARG_I32, .i = (int32_t)(x)})
#define U32(x) ((struct arg){.kind = ARG_U32, .u = (uint32_t)(x)})
#define I64(x) ((struct arg){.kind = ARG_I64, .i = (int64_t)(x)})
#define U64(x) ((struct arg){.kind = ARG_U64, .u = (uint64_t)(x)})
#define F32(x) ((struct arg){.kind = ARG_F32, .f = (float)(x)})
#define F64(x) ((struct arg){.kind = ARG_F64, .f = (double)(x)})
#define PTR(b) lab_pointer((b), 0)
#define PTR_AT(b, nbytes) lab_pointer((b), (nbytes)) // bytes into it
#define NULL_PTR ((struct arg){.kind = ARG_NULL})

// Calls a C function of the side in use and waits for the device. A crash, a
// time-out, a missing function, a device fault or a CUDA error left behind
// fails the test and says so.
#define call(symbol, ...) ((void)LAB_CALL(symbol, RETURN_VOID, 0, __VA_ARGS__))
#define call_i32(symbol, ...)                                                  \
    ((int32_t)LAB_CALL(symbol, RETURN_I32, 0, __VA_ARGS__)->i)
#define call_i64(symbol, ...) (LAB_CALL(symbol, RETURN_I64, 0, __VA_ARGS__)->i)
#define call_f32(symbol, ...) (LAB_CALL(symbol, RETURN_F32, 0, __VA_ARGS__)->f)
#define call_f64(symbol, ...) (LAB_CALL(symbol, RETURN_F64, 0, __VA_ARGS__)->f)
// For functions that return a cudaError_t: fails unless it is cudaSuccess.
#define call_ok(symbol, ...)                                                   \
    lab_expect_success(symbol, call_i32(symbol, __VA_ARGS__))
// A CUDA error after the call is for the test to judge (outcome->cuda_error,
// outcome->i): for tests that provoke one. Crashes still fail.
#define try_call_i32(symbol, ...)                                              \
    LAB_CALL(symbol, RETURN_I32, LAB_MAY_LEAVE_ERROR, __VA_ARGS__)
#define try_call(symbol, ...)                                                  \
    LAB_CALL(symbol, RETURN_VOID, LAB_MAY_LEAVE_ERROR, __VA_ARGS__)

enum { LAB_MAY_LEAVE_ERROR = 1 };
#define LAB_CALL(symbol, returns, flags, ...)                                  \
    lab_call(symbol, returns, flags,                                           \
             sizeof((struct arg[]){__VA_ARGS__}) / sizeof(struct arg),         \
             (struct arg[]){__VA_ARGS__})
struct arg lab_pointer(struct buffer *, size_t offset);
const struct outcome *lab_call(const char *symbol, enum return_kind,
                               unsigned flags, unsigned nargs,
                               const struct arg *);
void lab_expect_success(const char *symbol, int32_t error);

// ---- expectations ------------------------------------------------------------

// Passes only where error <= absolute + relative * |expected|, so that NaN
// fails; anything not finite where a finite value is expected fails; an
// expected NaN wants a NaN, an expected infinity that infinity.
struct tolerance {
    double absolute, relative;
};
#define EXACT           ((struct tolerance){0, 0})
#define WITHIN(rel)     ((struct tolerance){0, (rel)})
#define WITHIN_ABS(abs_, rel) ((struct tolerance){(abs_), (rel)})
// For sums of k float products: sqrt(k) roundings, of a typical size `scale`.
#define SUM_OF(k, scale)                                                       \
    ((struct tolerance){4 * sqrt((double)(k)) * 5.97e-8 * (scale), 1e-6})

// The first n elements of a buffer; the first wrong one is told, and the
// pattern of all of them ("every element from index 256 on").
void expect_f32(struct buffer *, const float *expected, size_t n,
                struct tolerance);
void expect_f64(struct buffer *, const double *expected, size_t n,
                struct tolerance);
void expect_i32(struct buffer *, const int32_t *expected, size_t n);
void expect_bytes(struct buffer *, const void *expected, size_t nbytes);
// Only elements [first, first + count) of a large buffer are read; expected[0]
// is what element `first` must hold.
void expect_f32_range(struct buffer *, const float *expected, size_t first,
                      size_t count, struct tolerance);
// Still holds what the test put there.
void expect_unchanged(struct buffer *);

// One value, by name: expect_near("memory bandwidth in GB/s", got, want, ...).
void expect_near(const char *what, double actual, double expected,
                 struct tolerance);
void expect_equal(const char *what, int64_t actual, int64_t expected);
void expect_text(const char *what, const char *actual, size_t capacity,
                 const char *expected);
#define expect(condition, ...)                                                 \
    do {                                                                       \
        if (!(condition))                                                      \
            failed(__VA_ARGS__);                                               \
    } while (0)

// ---- check tests -------------------------------------------------------------
//
// The body of a check test runs once a schedule (blocks and warps ascending,
// descending, two seeded random orders), on the virtual GPU with its checker
// on; after each the judge fails the test on the checker's first finding. The
// body only makes calls and expects right values: nothing else is needed.

// Fails when device memory that the submission allocated was not freed. The
// last line of a body: it ends the submission's program.
void expect_no_leaks(void);

// ---- counter tests, and check tests: always on the virtual GPU ----------------

// Launches of the last call, in order. Valid until the next call.
const struct vgpu_launch *launches(unsigned *n);
// Sums over the launches of the last call.
struct access_counters accesses(void);
uint64_t lanes_lost_to_branches(void);
double global_efficiency(void); // requested bytes / (32 x sectors), 0..1
// Fails unless every byte of the first nbytes was stored by a kernel (check
// and counter tests): a CPU that computes and copies does not pass.
void expect_written_by_kernel(struct buffer *, size_t nbytes);
void expect_launches(unsigned at_least);

// ---- speed tests ---------------------------------------------------------------
//
// A speed test says how to make one call of each side; the judge makes as
// many as a batch needs, runs batches of both in turns, verifies sampled
// elements after each, refreshes inputs, and gives points by the thresholds of
// lab.yaml for this class of GPU.

struct timed_call;  // one call of a batch, being described

// The value that out[i] must hold after the call. Asked by several threads.
typedef double timed_element(const struct timed_call *, size_t i);

// In the order of the function's arguments, one output a call. The output is
// poisoned before every batch, so a timed function reads its inputs from
// elsewhere: out = a x + y, not y += a x.
void timed_input(struct timed_call *, const char *name, size_t n);
void timed_output(struct timed_call *, const char *name, size_t n,
                  timed_element *, struct tolerance);
// The same in pageable host memory.
void timed_host_input(struct timed_call *, const char *name, size_t n);
void timed_host_output(struct timed_call *, const char *name, size_t n,
                       timed_element *, struct tolerance);
void timed_argument(struct timed_call *, struct arg);
// What array number k (in the order made, from 0) holds at i, in [-1, 1).
// Only inputs hold anything.
float timed_value(const struct timed_call *, unsigned k, size_t i);
size_t timed_size(const struct timed_call *);
unsigned timed_index(const struct timed_call *); // which call of the batch
// Calls `symbol` once with the same arguments, not timed, before the first
// batch: for labs that prepare (pin memory, make streams).
void timed_prepare(struct timed_call *, const char *symbol);

typedef void timed_maker(struct timed_call *);

struct speed_case {
    const char *what;           // "saxpy against a device-to-device copy"
    const char *submission;     // function of the submission
    timed_maker *make;          // its arguments
    const char *baseline;       // function of baseline.cu
    timed_maker *make_baseline; // NULL: as make
    size_t size, virtual_size;  // timed_size(); virtual_size 0: as size
    unsigned calls;             // a batch on a GPU; 0: as many as the memory
                                // that they move needs, or can hold
    double scale;               // ratio is multiplied by it; 0: 1 (for sides
                                // that move different numbers of bytes)
};
// Measures, records ratio and interval, awards. Ends the test.
void speed(const struct speed_case *);
#define SPEED(...) speed(&(struct speed_case){__VA_ARGS__})
