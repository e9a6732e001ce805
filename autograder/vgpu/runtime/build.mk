# The stand-in libcudart.so.13. Files named per_thread_*.c are compiled twice,
# the second time as code compiled with --default-stream per-thread calls them.
# Every name of the real library that no file defines becomes a stub.

runtime_dir    := autograder/vgpu/runtime
runtime_real    = $(CUDA_HOME)/lib64/libcudart.so.13
runtime_twice  := $(patsubst %.c,$(B)/obj/%.ptsz.o,\
                  $(wildcard $(runtime_dir)/per_thread_*.c))
# Not CFLAGS of single files: other parts have files of the same names.
$(B)/obj/$(runtime_dir)/%.o: ALL_CFLAGS += -I$(CUDA_HOME)/include

$(B)/obj/$(runtime_dir)/%.ptsz.o: $(runtime_dir)/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -DCUDA_API_PER_THREAD_DEFAULT_STREAM -c -o $@ $<

runtime_OBJECTS = $(call objects,$(runtime_dir)) $(runtime_twice) \
                  $(B)/obj/autograder/vgpu/server/wire.o $(model_OBJECTS)

$(B)/gen/runtime_stubs.c: $(runtime_dir)/stubs.sh $(runtime_OBJECTS)
	@mkdir -p $(@D)
	$< $(runtime_real) $(runtime_OBJECTS) > $@

$(B)/obj/runtime_stubs.o: $(B)/gen/runtime_stubs.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/vgpu/lib/libcudart.so.13: $(runtime_OBJECTS) $(B)/obj/runtime_stubs.o \
                               $(runtime_dir)/exports.map
	@mkdir -p $(@D)
	$(CC) -shared -pthread -o $@ -Wl,-soname,libcudart.so.13 -Wl,-z,defs \
	    -Wl,--version-script=$(runtime_dir)/exports.map \
	    $(runtime_OBJECTS) $(B)/obj/runtime_stubs.o -lm

PROGRAMS += $(B)/vgpu/lib/libcudart.so.13

# Ordinary CUDA programs, for check_programs: one a file, or one a folder.
# Their first lines say what they print, and flags of their own.
runtime_gencode  := -gencode arch=compute_90,code=[sm_90,compute_90]
runtime_programs := $(patsubst autograder/tests/%.cu,$(B)/tests/%,\
                    $(wildcard autograder/tests/programs/*.cu)) \
                    $(B)/tests/programs/rdc/main

$(B)/tests/programs/%: autograder/tests/programs/%.cu
	@mkdir -p $(@D)
	flags=$$(sed -n 's|^// flags: ||p' $<); \
	case $$flags in *arch=*) ;; *) flags="$$flags $(runtime_gencode)" ;; esac; \
	$(NVCC) -O2 -lineinfo -cudart shared $$flags -o $@ $<

$(B)/tests/programs/rdc/main: $(wildcard autograder/tests/programs/rdc/*.cu)
	@mkdir -p $(@D)
	$(NVCC) -O2 -lineinfo -cudart shared -rdc=true $(runtime_gencode) -o $@ $^

runtime_TEST_OBJECTS =
runtime_TEST_LIBS    = -ldl -ljansson
run-tests run-gpu-check: $(runtime_programs)
