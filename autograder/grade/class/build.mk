# Grading classes: the only programs that need SQLite and libarchive.
class_OBJECTS := $(call objects,autograder/grade/class)
class_LIBS    := -lsqlite3 -larchive -ljansson -lm
# Of the session's objects only those that find out which isolation works.
class_probe   := $(B)/obj/autograder/grade/class/probe.a
class_main_of  = $(B)/obj/autograder/grade/class/$(1)_main.o

$(eval $(call program,grade-class,$(class_OBJECTS) $(call class_main_of,class) $(class_probe),$(class_LIBS)))
$(eval $(call program,grade-export,$(class_OBJECTS) $(call class_main_of,export) $(B)/obj/autograder/tools/text.o,$(class_LIBS)))
$(eval $(call program,grade-show,$(class_OBJECTS) $(call class_main_of,show),$(class_LIBS)))
CLASS_PROGRAMS := $(addprefix $(B)/bin/,grade-class grade-export grade-show)

class_TEST_OBJECTS = $(class_OBJECTS)
class_TEST_LIBS = $(class_LIBS)

$(class_probe): $(call objects,autograder/worker)
	@mkdir -p $(@D)
	$(AR) rcs $@ $^
