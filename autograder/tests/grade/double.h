// A session without processes: "submissions" are tables of C functions in the
// test, buffers are plain memory. For the judge's own tests.
#pragma once

#include "vgpu/server/control.h"
#include "worker/session.h"

struct double_function {
    const char *symbol;
    // Does the call; may set any field of the outcome.
    void (*run)(const struct call *, struct outcome *);
};

// What the next sessions run; ends with a NULL symbol.
extern const struct double_function *double_submission, *double_baseline;
// What time_ratio answers, after it made each call once and verified it.
extern struct ratio double_ratio;
// A finding that each vgpu_findings tells so many times in all.
extern struct finding double_finding;
extern unsigned double_nfindings;
// A launch told after each call, when it has a kernel name.
extern struct vgpu_launch double_launch;
// What was asked of it.
extern unsigned double_schedules, double_opened;
extern int double_open_fails;

void *double_pointer(struct arg);
