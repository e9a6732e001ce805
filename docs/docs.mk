# The book: chapters, lab sheets and docs as a plain static site and a PDF.

BOOK_CHAPTERS := $(sort $(wildcard chapters/[0-9][0-9]-*.md))
BOOK_LABS     := $(sort $(wildcard labs/[0-9][0-9]-*/README.md))
BOOK_BEFORE   := $(wildcard docs/before-you-start.md)
BOOK_MANUALS  := $(wildcard $(addprefix docs/,student.md instructor.md \
                   virtual-gpu.md grading.md troubleshooting.md \
                   adding-a-lab.md architecture.md licences.md))
BOOK_OTHERS   := $(filter-out $(BOOK_BEFORE) $(BOOK_MANUALS),\
                   $(sort $(wildcard docs/*.md)))
# In reading order.
BOOK_PAGES    := README.md $(BOOK_BEFORE) $(BOOK_CHAPTERS) $(BOOK_LABS) \
                 $(BOOK_MANUALS) $(BOOK_OTHERS)
BOOK_FIGURES  := $(wildcard chapters/figures/*.svg docs/figures/*.svg)

SITE := $(B)/docs
page_of = $(patsubst %.md,$(SITE)/%.html,$(patsubst %README.md,%index.md,$(1)))
SITE_FILES := $(call page_of,$(BOOK_PAGES)) $(SITE)/style.css \
              $(addprefix $(SITE)/,$(BOOK_FIGURES))

# The list of pages, written when it has changed: links depend on it.
$(SITE)/pages: always
	@mkdir -p $(@D)
	@echo '$(BOOK_PAGES)' | cmp -s - $@ || echo '$(BOOK_PAGES)' >$@
.PHONY: always

define page_rule
$(call page_of,$(1)): $(1) docs/site/page.html docs/site/page.lua \
                      docs/site/page.sh $(SITE)/pages
	@docs/site/page.sh $$< $$@ '$$(BOOK_PAGES)'
endef
$(foreach page,$(BOOK_PAGES),$(eval $(call page_rule,$(page))))

$(SITE)/%.svg: %.svg
	@mkdir -p $(@D)
	@cp $< $@
$(SITE)/style.css: docs/site/style.css
	@mkdir -p $(@D)
	@cp $< $@
$(SITE)/book.pdf: $(BOOK_PAGES) $(BOOK_FIGURES) $(wildcard docs/site/*) \
                  $(SITE)/pages
	@mkdir -p $(@D)
	@docs/site/book.sh $@ '$(BOOK_PAGES)'

.PHONY: docs site
site: $(SITE_FILES) $(SITE)/book.pdf
docs: ## build the book: build/docs/index.html and build/docs/book.pdf
	@$(SETUP) book
	$(AGAIN) site
	@echo 'The book is in $(SITE)/index.html and $(SITE)/book.pdf'
