model_OBJECTS = $(call objects,autograder/vgpu/model)

# Tests of overlap.c read PTX.
model_TEST_OBJECTS = $(model_OBJECTS) $(module_OBJECTS)
model_TEST_LIBS = $(module_LIBS)
check_occupancy_CFLAGS = -I$(CUDA_HOME)/include
