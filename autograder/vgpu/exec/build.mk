# The executor. The handlers and the table that names them are compiled twice,
# plain and for AVX2 with FMA; code_new takes what the CPU can run.

exec_dir      := autograder/vgpu/exec
exec_obj      := $(B)/obj/$(exec_dir)
exec_handlers := $(wildcard $(addprefix $(exec_dir)/,arith_*.c convert.c \
                 compare.c move.c access.c ops.c))
exec_CFLAGS   := -O3 -fno-strict-aliasing -fno-math-errno -fno-trapping-math
exec_avx2     :=
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
exec_avx2     := $(exec_handlers:$(exec_dir)/%.c=$(exec_obj)/avx2/%.o)
endif

$(exec_obj)/%.o: $(exec_dir)/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(exec_CFLAGS) -c -o $@ $<

$(exec_obj)/avx2/%.o: $(exec_dir)/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(exec_CFLAGS) -mavx2 -mfma -mf16c -DEXEC_AVX2 \
	    -c -o $@ $<

exec_OBJECTS = $(call objects,$(exec_dir)) $(exec_avx2)

# Tests and the benchmark run PTX from its text to its result.
exec_TEST_OBJECTS = $(exec_OBJECTS) $(module_OBJECTS) $(memory_OBJECTS) \
                    $(call objects,autograder/tests/exec/support)
exec_TEST_LIBS    = $(module_LIBS) -lm

# Goldens, of PTX: autograder/tests/ptx.
ptx_dir          := autograder/tests/ptx
ptx_TEST_OBJECTS  = $(exec_TEST_OBJECTS) $(B)/obj/$(ptx_dir)/golden.o
ptx_TEST_LIBS     = $(exec_TEST_LIBS)
$(eval $(call program,goldens-on-gpu,\
    $(B)/obj/$(ptx_dir)/goldens_on_gpu_main.o $(B)/obj/$(ptx_dir)/golden.o,-ldl))

bench_dir := autograder/tests/bench
$(B)/obj/$(bench_dir)/bench_plain.o: ALL_CFLAGS += -O3 -fno-strict-aliasing
$(eval $(call program,bench_exec,$$(call objects,$(bench_dir)) \
    $$(exec_OBJECTS) $$(module_OBJECTS) $$(memory_OBJECTS) $$(model_OBJECTS),\
    $$(module_LIBS) -lm))
