# Tests: every autograder/tests/<part>/check_<file>.c is a Check program of
# its own, linked with what <part>'s build.mk names in <part>_TEST_OBJECTS and
# <part>_TEST_LIBS. autograder/tests/run runs them all and adds up.

test_sources  := $(sort $(wildcard autograder/tests/*/check_*.c))
test_programs := $(patsubst autograder/tests/%.c,$(B)/tests/%,$(test_sources))

part_of = $(firstword $(subst /, ,$(patsubst $(B)/tests/%,%,$(1))))

.SECONDEXPANSION:
$(B)/tests/%: $(B)/obj/autograder/tests/%.o $$($$(call part_of,$$@)_TEST_OBJECTS)
	@mkdir -p $(@D)
	$(CC) -pthread -o $@ $^ $($(call part_of,$@)_TEST_LIBS) \
	    -lcheck -lsubunit -lm -lrt

.PHONY: tests run-tests
tests: $(test_programs)
# The verb `test` has the machine made ready before.
run-tests: tests programs
	@autograder/tests/run $(test_programs)
