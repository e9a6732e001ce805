# The course tools: starter, sync, check-course, new-lab, hint, watch.

tools_OBJECTS := $(call objects,autograder/tools)
tools_TEST_OBJECTS = $(tools_OBJECTS)
tools_TEST_LIBS = -ljansson

$(eval $(call program,starter,$(tools_OBJECTS) $(B)/obj/autograder/tools/starter_main.o,-ljansson))
$(eval $(call program,sync,$(tools_OBJECTS) $(B)/obj/autograder/tools/sync_main.o,-ljansson))
