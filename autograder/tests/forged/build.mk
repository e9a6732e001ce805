# Submissions with right answers in forged time, and the test that grades them.

forged_TEST_LIBS = -ljansson
