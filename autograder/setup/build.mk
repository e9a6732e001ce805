# What shows and judges the machine itself.
setup_OBJECTS := $(call objects,autograder/setup)
$(eval $(call program,gpus,$(setup_OBJECTS) $(B)/obj/autograder/setup/gpus_main.o \
    $(call objects,autograder/vgpu/model),-ldl -lm))

setup_TEST_OBJECTS = $(setup_OBJECTS)
setup_TEST_LIBS = -ldl
