# What is built of each lab: its checks (trusted, loaded by the judge) and its
# starter, as it stands, to see that it compiles.
#
#   build/labs/NN-name/check.so     check_*.c, against autograder/grade/
#   build/labs/NN-name/starter.so   every .cu that lab.yaml's folder submits
#
# Submissions and baselines are compiled by the judge itself, in a sandbox.

CUDA_HOME ?= /usr/local/cuda
NVCC      ?= $(CUDA_HOME)/bin/nvcc
# SASS and PTX from one pass: the same binary runs on a GPU and without one.
NVCC_FLAGS ?= -O3 -lineinfo -cudart shared \
              -gencode 'arch=compute_90,code=[sm_90,compute_90]'

LABS     := $(sort $(patsubst labs/%/lab.yaml,%,$(wildcard labs/*/lab.yaml)))
CHECKS   := $(LABS:%=$(B)/labs/%/check.so)
STARTERS := $(LABS:%=$(B)/labs/%/starter.so)

PROGRAMS += $(CHECKS)

.SECONDEXPANSION:
$(CHECKS): $(B)/labs/%/check.so: $$(wildcard labs/$$*/check_*.c) \
           $$(wildcard labs/$$*/*.h) autograder/grade/check_lab.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -Iautograder/grade -Ilabs/$* \
	    -shared -o $@ $(filter %.c,$^)

.PHONY: starters
starters: $(STARTERS)
$(STARTERS): $(B)/labs/%/starter.so: labs/%/lab.yaml \
             $$(wildcard labs/$$*/*.cu labs/$$*/*.h) labs/lab.h
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -Ilabs -Ilabs/$* -shared -Xcompiler -fPIC -o $@ \
	    $$(sed -n 's/^submit: *\[\(.*\)\]/\1/p' $< | tr -d ' ' | tr , '\n' \
	       | grep '\.cu$$' | sed 's|^|labs/$*/|')
