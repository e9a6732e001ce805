# The corpus of faulty and of right kernels that check_faults runs.

fault_programs := $(patsubst autograder/tests/faults/%.cu,$(B)/faults/%,\
                  $(sort $(wildcard autograder/tests/faults/*.cu)))

$(B)/faults/%: autograder/tests/faults/%.cu autograder/tests/faults/cases.h
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo -cudart shared \
	    -gencode arch=compute_90,code=[sm_90,compute_90] -o $@ $<

run-tests: $(fault_programs)
