# The course tools, and the verbs that they serve.

tools_OBJECTS := $(call objects,autograder/tools)
tools_LIBS := -ljansson -lyaml
tools_TEST_OBJECTS = $(tools_OBJECTS)
tools_TEST_LIBS = $(tools_LIBS)

$(eval $(call program,starter,$(tools_OBJECTS) $(B)/obj/autograder/tools/starter_main.o,$(tools_LIBS)))
$(eval $(call program,sync,$(tools_OBJECTS) $(B)/obj/autograder/tools/sync_main.o,$(tools_LIBS)))
$(eval $(call program,check-course,$(tools_OBJECTS) $(B)/obj/autograder/tools/check_course_main.o,$(tools_LIBS)))

# ---- verbs -----------------------------------------------------------------

LAB_SLUGS = $(sort $(patsubst labs/%/lab.yaml,%,$(wildcard labs/*/lab.yaml)))
# Every Markdown file that may hold generated blocks.
PAGES = $(wildcard README.md chapters/*.md docs/*.md labs/*/*.md solutions/*/*.md)
EXAMPLES = $(patsubst chapters/examples/%.cu,$(B)/examples/%,\
             $(wildcard chapters/examples/*.cu))
BUG_HUNTS = $(LAB_SLUGS:%=$(B)/labs/%/bug_hunt)

# The worked examples of the chapters, and the bug hunts: ordinary programs.
$(B)/examples/%: chapters/examples/%.cu labs/lab.h
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -Ilabs -o $@ $<
$(B)/labs/%/bug_hunt: labs/%/bug_hunt.cu labs/lab.h
	@mkdir -p $(@D)
	$(NVCC) $(NVCC_FLAGS) -Ilabs -o $@ $<

# Figures are drawn by awk and committed: GitHub shows them as they are.
FIGURES = $(patsubst %.awk,%.svg,$(wildcard chapters/figures/[0-9]*.awk))
chapters/figures/%.svg: chapters/figures/%.awk chapters/figures/svg.awk
	awk -f chapters/figures/svg.awk -f $< >$@

.PHONY: examples bug-hunts write-starters figures sync sync-check check-course
figures: $(FIGURES)
examples: $(EXAMPLES)
bug-hunts: $(BUG_HUNTS)

# Starters are only written on demand: a learner's work lies in the same file.
# What differs is kept in build/kept first (see reset.sh).
starters: write-starters
write-starters: $(B)/bin/starter
	@for lab in $(LAB_SLUGS); do autograder/tools/reset.sh $$lab || exit; done \
	    | { grep -v 'is the starter already' || :; }

sync: programs examples bug-hunts figures write-starters ## make starters, code, tables and transcripts anew
	@$(B)/bin/sync $(PAGES)
sync-check: programs examples bug-hunts
	@$(B)/bin/sync --check $(PAGES)

check-course: ## prove that labs, solutions and chapters agree: [LAB=02] [TARGET=gpu]
	@$(if $(LAB),autograder/setup/lab.sh $@ "$$LAB")
	@$(SETUP) grade sandbox toolkit
	$(AGAIN) -s programs bug-hunts examples
	@autograder/tools/bug_hunts.sh $(if $(LAB),"$$LAB",$(LAB_SLUGS))
	@$(B)/bin/sync --check --no-run $(PAGES)
	@$(B)/bin/check-course $(if $(TARGET),--target "$$TARGET") $(ARGS) \
	    $(if $(LAB),"$$LAB")

.PHONY: new-lab reset hint handin watch
new-lab: $(B)/bin/starter ## scaffold a lab: NAME=histogram
	@autograder/tools/new-lab.sh "$$NAME"
reset: $(B)/bin/starter ## the starter back, your file kept: LAB=02
	@autograder/tools/reset.sh "$$LAB"
hint: ## open the next hint, free: LAB=02 [TASK=1]
	@autograder/tools/hint.sh "$$LAB" "$$TASK"
handin: ## one archive to hand in: LAB=02
	@autograder/tools/handin.sh "$$LAB"
watch: ## grade again on every save: LAB=02
	@autograder/tools/watch.sh "$$LAB" $(MAKE) --no-print-directory grade \
	    LAB="$$LAB" $(if $(TARGET),TARGET="$$TARGET")
