# What a machine with a GPU proves: `make gpu-check` (see gpu-check).

GPU_TEST_PROGRAMS := $(patsubst autograder/tests/gpu/%.cu,$(B)/gpu/%,\
                     $(sort $(wildcard autograder/tests/gpu/*.cu)))

$(B)/gpu/%: autograder/tests/gpu/%.cu
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo -cudart shared \
	    -gencode arch=compute_90,code=[sm_90,compute_90] -o $@ $<

$(eval $(call program,compare-counters,\
    $(B)/obj/autograder/tests/gpu/compare_counters_main.o,-ljansson))
$(eval $(call program,compare-verdicts,\
    $(B)/obj/autograder/tests/gpu/compare_verdicts_main.o,-ljansson))

.PHONY: gpu-check run-gpu-check
gpu-check: ## prove what needs a GPU: [ONLY="labs timing"]; writes docs/results
	@$(SETUP) grade sandbox toolkit
	$(AGAIN) run-gpu-check
run-gpu-check: programs $(GPU_TEST_PROGRAMS)
	@autograder/tests/gpu/gpu-check $(ONLY)
