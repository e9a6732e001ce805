# The session: its trusted side is linked into the judge; keeper and worker
# are programs of their own.
worker_OBJECTS = $(call objects,autograder/worker)
worker_LIBS = -ldl -lm
worker_inside = $(B)/obj/autograder/worker/inside

$(eval $(call program,keeper,$(worker_inside)/keeper_main.o \
    $(worker_inside)/filter.o,-lseccomp))
$(eval $(call program,worker,$(addprefix $(worker_inside)/,worker_main.o \
    call.o device.o filter.o),-lseccomp -lffi -ldl))

# Tests: plain submissions, and a stand-in for the device server.
worker_TEST_OBJECTS = $(worker_OBJECTS) \
    $(B)/obj/autograder/tests/worker/stand_in_vgpu.o
worker_TEST_LIBS = $(worker_LIBS)
$(B)/tests/worker/check_session $(B)/tests/worker/check_sandbox: \
    | $(B)/bin/keeper $(B)/bin/worker $(B)/tests/worker/plain.so
$(B)/tests/worker/plain.so: $(B)/obj/autograder/tests/worker/plain.o
	@mkdir -p $(@D)
	$(CC) -shared -pthread -o $@ $<
