memory_OBJECTS = $(call objects,autograder/vgpu/memory)

# Loops over the 32 lanes and the 16 ways of a set are made of vectors.
shape_CFLAGS := -O3
cache_CFLAGS := -O3

memory_TEST_OBJECTS = $(memory_OBJECTS)
memory_TEST_LIBS =
