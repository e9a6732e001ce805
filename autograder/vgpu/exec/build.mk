# The executor. The handlers and the table that names them are compiled twice,
# plain and for AVX2 with FMA; code_new takes what the CPU can run.

exec_dir      := autograder/vgpu/exec
exec_handlers := $(wildcard $(addprefix $(exec_dir)/,arith_*.c convert.c \
                 compare.c move.c ops.c))
exec_CFLAGS   := -O3 -fno-strict-aliasing -fno-math-errno -fno-trapping-math
exec_avx2     :=
ifneq ($(filter x86_64%,$(shell $(CC) -dumpmachine)),)
exec_avx2     := $(patsubst $(exec_dir)/%.c,$(B)/obj/$(exec_dir)/avx2/%.o,\
                 $(exec_handlers))
endif

$(foreach f,$(wildcard $(exec_dir)/*.c),\
  $(eval $(basename $(notdir $(f)))_CFLAGS := $(exec_CFLAGS)))

$(B)/obj/$(exec_dir)/avx2/%.o: $(exec_dir)/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(exec_CFLAGS) -mavx2 -mfma -mf16c -DEXEC_AVX2 \
	    -c -o $@ $<

exec_OBJECTS = $(call objects,$(exec_dir)) $(exec_avx2)
