# CUDA from the Warp Up. `make` alone lists what there is to do.
#
# Each part of the autograder says in its own build.mk what it is made of;
# the verbs a person types are below. Everything made lands in build/.

B := build

# Where the CUDA toolkit is: written by `make setup`, or given.
-include $(B)/toolkit.mk
CUDA_HOME ?= /usr/local/cuda
NVCC      ?= $(CUDA_HOME)/bin/nvcc
export CUDA_HOME NVCC

# What a person gives reaches commands through the environment, as it was
# typed: a path may hold quotes and dollars.
GIVEN := LAB SUBMISSION TARGET GPU NAME TASK
$(foreach v,$(GIVEN),$(eval override $v := $$(value $v)))
export $(GIVEN)

CC     ?= cc
CSTD   := -std=c11 -D_GNU_SOURCE
WARN   := -Wall -Wextra -Wno-unused-parameter
CFLAGS ?= -O2 -g
ALL_CFLAGS = $(CSTD) $(WARN) $(CFLAGS) -ffp-contract=off -fPIC -pthread \
             -Iautograder -MMD -MP

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.SECONDEXPANSION:

# $(call objects,FOLDER): its .c files, less the ones that hold a main().
objects = $(patsubst %.c,$(B)/obj/%.o,\
          $(filter-out %main.c,$(sort $(wildcard $(1)/*.c))))
# $(call program,NAME,OBJECTS,LIBRARIES). Lists that a later build.mk defines
# are passed as $$(name) and expanded once all have been read.
define program
PROGRAMS += $(B)/bin/$(1)
$(B)/bin/$(1): $(subst $$,$$$$,$(2))
	@mkdir -p $$(@D)
	$$(CC) -pthread -o $$@ $(2) $(3)
endef

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $($(basename $(notdir $<))_CFLAGS) -c -o $@ $<

include $(sort $(wildcard autograder/*/build.mk autograder/*/*/build.mk))
include $(sort $(wildcard labs/*.mk docs/*.mk docker/*.mk))
include autograder/tests/tests.mk

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

# ---- verbs -----------------------------------------------------------------
# A verb first has the machine made ready, which may write build/toolkit.mk or
# install headers, and then starts make again, which sees them.

SETUP := autograder/setup/setup.sh
AGAIN  = @$(MAKE) --no-print-directory
# On all cores, unless -j was given.
JOBS   = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))

.PHONY: help setup programs clean
help: ## list the verbs
	@awk -f autograder/setup/help.awk $(MAKEFILE_LIST)

FOR ?= grade sandbox class toolkit test book
setup: ## install what is missing, after asking: FOR="grade toolkit test book"
	@$(SETUP) $(FOR)

programs: $(PROGRAMS)

clean: ## remove build/, less a toolkit that was fetched and files of yours
	@find $(B) -mindepth 1 -maxdepth 1 ! -name 'toolkit*' ! -name kept \
	    ! -name handin \
	    -exec rm -rf {} + 2>/dev/null || :

.PHONY: grade check counters explain build-grade
GRADE_FLAGS = $(if $(SUBMISSION),--submission "$$SUBMISSION") \
              $(if $(TARGET),--target "$$TARGET") $(if $(GPU),--gpu "$$GPU") \
              $(ARGS)
# What grading one lab needs: all programs but those of class runs, of the
# course's authors and of tests.
OTHERS := check-course sync bench_exec session-selftest goldens-on-gpu \
          compare-counters compare-verdicts
build-grade: $(filter-out $(CLASS_PROGRAMS) $(OTHERS:%=$(B)/bin/%),$(PROGRAMS)) \
             $(CHECKS)
# $(call grade,VERB,COMMAND): a score below full is no failure of make.
define grade
@autograder/setup/lab.sh $(1) "$$LAB"
@$(SETUP) grade sandbox toolkit
@[ -x $(B)/bin/grade ] || echo 'Building the grader, once: a minute or two.'
$(AGAIN) $(JOBS) -s build-grade
@$(B)/bin/grade $(2) "$$LAB" $(GRADE_FLAGS) || { s=$$?; [ $$s -eq 1 ] || exit $$s; }
endef
grade: ## grade a lab: LAB=02 [TARGET=gpu|virtual] [SUBMISSION=path]
	$(call grade,$@,lab)
check: ## the checker alone: bounds, races, unwritten memory, leaks: LAB=02
	$(call grade,$@,check)
counters: ## what the kernels asked of the memory: LAB=02
	$(call grade,$@,counters)
explain: ## the three things that cost most, and the cure: LAB=02
	$(call grade,$@,explain)

.PHONY: demo-class build-class
build-class: build-grade $(CLASS_PROGRAMS)
demo-class: ## grade ten made-up submissions into a CSV
	@$(SETUP) grade sandbox class toolkit
	$(AGAIN) $(JOBS) -s build-class
	@autograder/grade/class/demo.sh

.PHONY: gpus doctor
gpus: ## show the GPUs of this machine and what they do
	@$(SETUP) grade
	$(AGAIN) -s $(B)/bin/gpus
	@$(B)/bin/gpus $(ARGS)
doctor: ## say what is wrong with this machine, and the cure
	@autograder/setup/doctor.sh

.PHONY: test
test: ## prove everything that needs no GPU
	@$(SETUP) grade sandbox class toolkit test book
	$(AGAIN) $(JOBS) tests programs
	$(AGAIN) sync-check check-course
	$(AGAIN) run-tests
