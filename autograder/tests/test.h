// What every Check program of this repository shares: one suite, one main().
#pragma once

#include <check.h>
#include <stdlib.h>

// Defines main(): runs the suite, prints Check's summary, fails on a failure.
// Tests run in forks of their own, so that a crash is a failed test.
#define TEST_MAIN(suite_function)                                              \
    int main(void)                                                             \
    {                                                                          \
        SRunner *runner = srunner_create(suite_function());                    \
        srunner_run_all(runner, CK_ENV);                                       \
        int failed = srunner_ntests_failed(runner);                            \
        srunner_free(runner);                                                  \
        return failed ? EXIT_FAILURE : EXIT_SUCCESS;                           \
    }
