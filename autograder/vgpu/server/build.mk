# The device server, its client for owners, and vgpu-run.

server_dir := autograder/vgpu/server
# What owners link: the judge, vgpu-run.
control_OBJECTS = $(addprefix $(B)/obj/$(server_dir)/,control.o counters.o \
                  wire.o)
vgpu_run_OBJECTS = $(addprefix $(B)/obj/$(server_dir)/,vgpu_run_main.o \
                   report.o explain.o)
server_OBJECTS = $(filter-out $(control_OBJECTS) $(vgpu_run_OBJECTS),\
                 $(call objects,$(server_dir))) $(B)/obj/$(server_dir)/wire.o
# All that executes kernels.
vgpu_OBJECTS = $(server_OBJECTS) $(exec_OBJECTS) $(memory_OBJECTS) \
               $(module_OBJECTS) $(model_OBJECTS)
vgpu_LIBS = -lzstd -llz4 -lstdc++ -lm

control_LIBS = -ljansson


$(eval $(call program,vgpu-server,$(B)/obj/$(server_dir)/vgpu_server_main.o \
    $$(vgpu_OBJECTS),$$(vgpu_LIBS)))
$(eval $(call program,vgpu-run,$$(vgpu_run_OBJECTS) $$(control_OBJECTS) \
    $$(model_OBJECTS) $$(memory_OBJECTS),$$(control_LIBS) -lm))

server_TEST_OBJECTS = $(control_OBJECTS) \
                      $(B)/obj/$(server_dir)/timeline.o
server_TEST_LIBS    = $(control_LIBS)
