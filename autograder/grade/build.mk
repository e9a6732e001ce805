# The judge. Lab checks are shared objects that it loads and that call back
# into it, so its symbols are exported; it links no CUDA, no database and no
# archive library.

grade_OBJECTS = $(call objects,autograder/grade)
grade_OTHERS = $(worker_OBJECTS) $(control_OBJECTS) $(model_OBJECTS) \
    $(memory_OBJECTS) $(B)/obj/autograder/tools/text.o
grade_LIBS = -rdynamic -lcheck -lsubunit -lcyaml -ljansson -lm -lrt -ldl

# Expanded late: the virtual GPU's build.mk files are read after this one.
grade_ALL = $(grade_OBJECTS) $(B)/obj/autograder/grade/grade_main.o \
    $(grade_OTHERS)
ifneq ($(and $(wildcard autograder/worker/timing.c),\
         $(wildcard autograder/vgpu/model/gpus.c)),)
PROGRAMS += $(B)/bin/grade
endif
.SECONDEXPANSION:
$(B)/bin/grade: $$(grade_ALL)
	@mkdir -p $(@D)
	$(CC) -pthread -o $@ $(grade_ALL) $(grade_LIBS)

# Tests link a double of the session, so that they need neither a device
# server nor a compiler; and load a small lab of their own.
grade_tests = $(B)/obj/autograder/tests/grade
grade_TEST_OBJECTS = $(grade_OBJECTS) $(grade_tests)/double.o \
    $(grade_tests)/fixture.o \
    $(B)/obj/autograder/tools/text.o
grade_TEST_LIBS = -rdynamic -lcyaml -ljansson -ldl
$(B)/tests/grade/check_judge $(B)/tests/grade/check_policy: \
    | $(B)/tests/grade/small_lab.so
$(B)/tests/grade/small_lab.so: autograder/tests/grade/small_lab/tests.c \
                               autograder/grade/check_lab.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Iautograder/grade -shared \
	    -o $@ $<
