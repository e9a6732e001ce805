memory_OBJECTS = $(call objects,autograder/vgpu/memory)

memory_TEST_OBJECTS = $(memory_OBJECTS)
memory_TEST_LIBS =
