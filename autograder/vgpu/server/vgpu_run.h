// Inside of vgpu-run: what it prints when the program has ended.
//
//   report.c    findings, the way a compiler prints its errors
//   explain.c   where the modelled time went, and what to do about it
#pragma once

#include <stdio.h>

#include "control.h"

// Prints each finding with its source line; returns how many are faults.
unsigned report_findings(FILE *, const struct finding *, unsigned n);
// Prints the three kernels that cost most, with the limit, and a cure.
void explain_launches(FILE *, const char *gpu, const struct vgpu_launch *,
                      unsigned n);
