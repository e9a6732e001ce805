# The module loader: fatbins and PTX.
module_OBJECTS := $(call objects,autograder/vgpu/module)
module_LIBS    := -lzstd -llz4

module_TEST_OBJECTS = $(module_OBJECTS)
module_TEST_LIBS    = $(module_LIBS)
