# The session: its trusted side is linked into the judge; keeper and worker
# are programs of their own.
worker_OBJECTS = $(call objects,autograder/worker)
worker_LIBS = -ldl -lm
worker_inside = $(B)/obj/autograder/worker/inside

$(eval $(call program,keeper,$(addprefix $(worker_inside)/,keeper_main.o \
    filter.o landlock.o),-lseccomp))
$(eval $(call program,worker,$(addprefix $(worker_inside)/,worker_main.o \
    call.o device.o filter.o),-lseccomp -lffi -ldl))

# Tests: plain submissions, a stand-in for the device server, and what sessions
# find beside the test before they find the real ones: a runtime and a GPU.
worker_TEST_OBJECTS = $(worker_OBJECTS) \
    $(B)/obj/autograder/tests/worker/stand_in_vgpu.o \
    $(call objects,autograder/worker/gpu)
worker_TEST_LIBS = $(worker_LIBS)
worker_test = $(B)/tests/worker
$(worker_test)/check_session $(worker_test)/check_sandbox \
$(worker_test)/check_timing: | $(B)/bin/keeper $(B)/bin/worker \
    $(worker_test)/plain.so $(worker_test)/vgpu/lib/libcudart.so.13
$(worker_test)/check_timing: | $(worker_test)/lib/gpu_target.so \
    $(worker_test)/toolkit/lib64/libcudart.so.13
$(worker_test)/plain.so: $(B)/obj/autograder/tests/worker/plain.o
$(worker_test)/lib/gpu_target.so: $(B)/obj/autograder/tests/worker/fake_gpu.o
worker_fake_cudart = $(worker_test)/toolkit/lib64/libcudart.so.13 \
    $(worker_test)/vgpu/lib/libcudart.so.13
$(worker_fake_cudart): $(B)/obj/autograder/tests/worker/fake_cudart.o
$(worker_test)/plain.so $(worker_test)/lib/gpu_target.so $(worker_fake_cudart):
	@mkdir -p $(@D)
	$(CC) -shared -pthread -Wl,-soname,$(@F) -o $@ $^

# The judge's side of a real GPU, where there is a toolkit to build it with.
# The runtime is linked in, so that it is never the virtual one's.
CUDA_HOME ?= /usr/local/cuda
worker_gpu := autograder/worker/gpu
worker_gpu_OBJECTS = $(call objects,$(worker_gpu))
ifneq ($(wildcard $(CUDA_HOME)/bin/nvcc),)
PROGRAMS += $(B)/lib/gpu_target.so
endif
$(B)/lib/gpu_target.so: $(worker_gpu)/gpu_target.cu \
    autograder/worker/gpu_target.h $(worker_gpu_OBJECTS)
	@mkdir -p $(@D)
	$(CUDA_HOME)/bin/nvcc -O3 -std=c++17 -cudart static -shared \
	    -Xcompiler -fPIC,-Wall \
	    -gencode arch=compute_90,code=sm_90 \
	    -gencode arch=compute_75,code=compute_75 \
	    -o $@ $< $(worker_gpu_OBJECTS) -ldl

# All that a session needs, tried on this machine.
ifneq ($(wildcard autograder/vgpu/model/gpus.c),)
$(eval $(call program,session-selftest,\
    $(B)/obj/autograder/worker/selftest_main.o $$(worker_OBJECTS) \
    $$(control_OBJECTS) $$(model_OBJECTS),$$(worker_LIBS) -ljansson))
endif
ifneq ($(wildcard $(CUDA_HOME)/bin/nvcc),)
PROGRAMS += $(B)/lib/selftest_submission.so
endif
worker_GENCODE = -gencode 'arch=compute_90,code=[sm_90,compute_90]'
$(B)/lib/selftest_submission.so: autograder/worker/selftest/submission.cu
	@mkdir -p $(@D)
	$(CUDA_HOME)/bin/nvcc -O3 -lineinfo -cudart shared -shared \
	    -Xcompiler -fPIC $(worker_GENCODE) -o $@ $<

# The hostile corpus: what compiles is compiled ahead, what attacks the
# compiler by the test itself.
hostile_TEST_OBJECTS = $(worker_OBJECTS) $(control_OBJECTS) $(model_OBJECTS)
hostile_TEST_LIBS = $(worker_LIBS) $(control_LIBS)
hostile_folder := autograder/tests/hostile
hostile_SUBMISSIONS := $(patsubst %.cu,$(B)/tests/hostile/%.so,$(notdir \
    $(shell grep -L '^// verdict: not compiled' $(hostile_folder)/*.cu)))
$(B)/tests/hostile/check_hostile: | $(hostile_SUBMISSIONS) $(B)/bin/keeper \
    $(B)/bin/worker $(B)/bin/vgpu-server $(B)/vgpu/lib/libcudart.so.13
$(B)/tests/hostile/%.so: $(hostile_folder)/%.cu labs/02-vector-add/vector_add.h
	@mkdir -p $(@D)
	$(CUDA_HOME)/bin/nvcc -O1 -cudart shared $(worker_GENCODE) \
	    -Ilabs/02-vector-add -shared -Xcompiler -fPIC -o $@ $<
