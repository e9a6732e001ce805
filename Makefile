# CUDA from the Warp Up. `make` alone lists what there is to do.
#
# Each part of the autograder says in its own build.mk what it is made of;
# the verbs a person types are below. Everything made lands in build/.

B := build

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

# $(call objects,FOLDER): its .c files, less the ones that hold a main().
objects = $(patsubst %.c,$(B)/obj/%.o,\
          $(filter-out %main.c,$(sort $(wildcard $(1)/*.c))))
# $(call program,NAME,OBJECTS,LIBRARIES)
define program
PROGRAMS += $(B)/bin/$(1)
$(B)/bin/$(1): $(2)
	@mkdir -p $$(@D)
	$$(CC) -pthread -o $$@ $(2) $(3)
endef

$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $($(basename $(notdir $<))_CFLAGS) -c -o $@ $<

include $(sort $(wildcard autograder/*/build.mk autograder/vgpu/*/build.mk))
include $(sort $(wildcard labs/*.mk docs/*.mk docker/*.mk))
include autograder/tests/tests.mk

-include $(shell find $(B)/obj -name '*.d' 2>/dev/null)

.PHONY: help programs clean
help: ## list the verbs
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n",$$1,$$2}' \
	    $(MAKEFILE_LIST)
programs: $(PROGRAMS)
clean: ## remove build/
	rm -rf $(B)
