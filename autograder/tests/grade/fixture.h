// What tests of scores and reports share: a grading of the small lab.
#pragma once

#include "grade/grade.h"

#define SMALL_LAB "autograder/tests/grade/small_lab/lab.yaml"

// A grading of the small lab, all tests passed, on the modelled H200.
struct grading *fixture_grading(void);
struct record *fixture_record(struct grading *, const char *test);
// The record fails with a message.
void fixture_fail(struct grading *, const char *test, const char *message);
// What a writer prints, as a string to free.
char *fixture_print(void (*)(FILE *, const struct style *, const struct grading *),
                    const struct grading *, bool plain);
