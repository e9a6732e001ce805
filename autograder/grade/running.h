// The state behind check_lab.h: the one test that runs, and what it holds.
#pragma once

#include "check_lab.h"
#include "grade.h"

// What a session is for: one stays open for each, as long as it is healthy.
enum purpose { FOR_VALUES, FOR_CHECKS, FOR_COUNTERS, FOR_SPEED, PURPOSES };

// A buffer as the judge knows it.
struct held {
    struct buffer *buffer;
    enum side side;
    char name[48];
    size_t nbytes, guard;
    void *original;           // of an input: what it was given
};

enum { GUARD_BYTES = 256, MAX_HELD = 1024 };

struct running {
    const struct judge_options *options;
    const struct manifest_test *test;
    struct record *record;
    unsigned capability;      // of the chosen GPU
    enum purpose purpose;
    enum side side;
    const char *schedule;     // check tests: "blocks descending", else NULL
    struct session *sessions[PURPOSES][2];
    char gpu_name[64];        // of the chosen target, once a session told
    bool copies;              // a session was in copy mode
    bool broken;              // the submission's session cannot go on
    bool machine;             // not the submission's fault
    char given[256];

    struct held held[MAX_HELD];
    unsigned nheld;
    void **rooms;             // freed after the test
    size_t nrooms;

    struct outcome outcome;   // of the last call
    struct vgpu_launch *launches;
    unsigned nlaunches;
    struct finding finding;   // that ended the last call; kernel "" if none
    uint64_t random;
    struct advice *advice;    // collects what all calls did; NULL when graded
};
extern struct running running;

// ---- recorder.c
// Begins and ends a test: fresh record; frees what the test made.
void running_begin(const struct manifest_test *, struct record *);
void running_end(void);
// Ends the test as not measured: the machine's fault.
void machine_failed(const char *format, ...)
    __attribute__((format(printf, 1, 2), noreturn));
// Writes a finding of the checker into the record and fails the test.
void failed_by_finding(const struct finding *) __attribute__((noreturn));
// The same without ending the test, for the judge after the body has run.
void record_finding(struct record *, const struct finding *);

// ---- calls.c
// The session of a side, opened when first needed.
struct session *session_of(enum side);
void sessions_close(enum purpose);
unsigned watch_of(enum purpose);
// Adds the findings since the last call to the advice.
void advise_findings(struct vgpu *);
// Performs the call; fills running.outcome, launches and finding.
const struct outcome *perform(const struct call *);
// Fails the test on what no call may do; `may_leave_error`: CUDA errors pass.
void demand_sound(const char *symbol, bool may_leave_error);

// ---- arrays.c
uint64_t random_bits(void);
struct held *held_of(struct buffer *);

// ---- pattern.c
enum element { ELEMENT_F32, ELEMENT_F64, ELEMENT_I32, ELEMENT_BYTE };
size_t element_bytes(enum element);
double element_at(enum element, const void *data, size_t i);
bool element_right(double actual, double expected, struct tolerance);
// Says what the wrong ones of n elements have in common, "" if nothing.
void pattern_describe(enum element, const void *actual, const void *expected,
                      size_t n, struct tolerance, char *out, size_t room);
