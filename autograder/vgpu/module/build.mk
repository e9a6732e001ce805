# The module loader: fatbins and PTX.
module_OBJECTS := $(call objects,autograder/vgpu/module)
module_LIBS    := -lzstd -llz4

# Tests load what nvcc makes: one program in every compression, and another
# of two sources.
module_TEST_OBJECTS = $(module_OBJECTS)
module_TEST_LIBS    = $(module_LIBS)

module_fixtures := $(addprefix $(B)/tests/module/,none.fatbin speed.fatbin \
                   default.fatbin size.fatbin one.fatbin two.fatbin)
module_gencode  := -gencode arch=compute_90,code=[sm_90,compute_90] \
                   -gencode arch=compute_75,code=compute_75

$(B)/tests/module/check_fatbin $(B)/tests/module/check_link: \
    | $(module_fixtures)
$(B)/tests/module/none.fatbin: module_flags = --compress-mode=none
$(B)/tests/module/speed.fatbin: module_flags = --compress-mode=speed
$(B)/tests/module/size.fatbin: module_flags = --compress-mode=size
$(B)/tests/module/one.fatbin $(B)/tests/module/two.fatbin: \
    module_flags = -rdc=true -DOTHER_SOURCE
$(B)/tests/module/two.fatbin: autograder/tests/module/fixtures/two.cu
$(filter-out %/two.fatbin,$(module_fixtures)): \
    autograder/tests/module/fixtures/one.cu
$(module_fixtures):
	@mkdir -p $(@D)
	$(NVCC) -O3 -lineinfo $(module_gencode) $(module_flags) -fatbin \
	    -o $@ $<
