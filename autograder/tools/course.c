// The tree of chapters, labs and solutions: what there is, what is amiss.
#include "tools.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STARTER_LINES_MOST = 120 };

// ---- small helpers ---------------------------------------------------------

bool slug_stem(const char *slug, char stem[64])
{
    if (fnmatch("[0-9][0-9]-[a-z0-9]*", slug, 0) != 0 || strlen(slug) >= 64)
        return false;
    strcpy(stem, slug + 3);
    for (char *at = stem; *at; at++) {
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) &&
            *at != '-')
            return false;
        if (*at == '-')
            *at = '_';
    }
    return true;
}

void course_fault(struct course *c, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_printf(&c->faults, "%s\n", line);
    c->nfaults++;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

// Calls `each` for every entry of a folder, sorted; a missing one has none.
static void for_each_entry(const char *folder, void *self,
                           void (*each)(void *self, const char *folder,
                                        const char *name))
{
    struct dirent **entries;
    int n = scandir(folder, &entries, visible, alphasort);
    for (int i = 0; i < n; i++) {
        each(self, folder, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

// The text of a file that must be there; NULL, and a fault, when it is not.
static char *must_read(struct course *c, const char *path)
{
    char *text = text_read(path);
    if (!text)
        course_fault(c, "%s: %s", path, strerror(errno));
    return text;
}

static bool has_slug(const struct course *c, const char *slug)
{
    for (size_t i = 0; i < c->nslugs; i++)
        if (strcmp(c->slugs[i], slug) == 0)
            return true;
    return false;
}

static struct sample *add_sample(struct course *c, const char *slug,
                                 enum expectation expect, const char *path)
{
    c->samples = realloc(c->samples, (c->nsamples + 1) * sizeof *c->samples);
    if (!c->samples)
        abort();
    struct sample *s = &c->samples[c->nsamples++];
    *s = (struct sample){.expect = expect};
    snprintf(s->slug, sizeof s->slug, "%s", slug);
    snprintf(s->path, sizeof s->path, "%s", path);
    return s;
}

// ---- the tree ----------------------------------------------------------------

static void each_lab(void *self, const char *folder, const char *name)
{
    struct course *c = self;
    char stem[64];
    if (slug_stem(name, stem)) {
        c->slugs = realloc(c->slugs, (c->nslugs + 1) * sizeof *c->slugs);
        if (!c->slugs)
            abort();
        strcpy(c->slugs[c->nslugs++], name);
    } else if (strcmp(name, "lab.h") != 0 && strcmp(name, "lab.mk") != 0) {
        course_fault(c, "%s/%s: neither a lab (NN-name) nor lab.h or lab.mk",
                     folder, name);
    }
}

static void each_solution(void *self, const char *folder, const char *name)
{
    if (!has_slug(self, name))
        course_fault(self, "%s/%s: there is no lab of that name", folder, name);
}

static void each_chapter(void *self, const char *folder, const char *name)
{
    char slug[64] = "";
    const char *dot = strrchr(name, '.');
    if (!dot)
        return; // figures/, examples/, ko/
    snprintf(slug, sizeof slug, "%.*s", (int)(dot - name), name);
    if (strcmp(dot, ".md") != 0 || !has_slug(self, slug))
        course_fault(self, "%s/%s: not the chapter of a lab", folder, name);
}

static void each_example(void *self, const char *folder, const char *name)
{
    char slug[64] = "";
    const char *dot = strrchr(name, '.');
    snprintf(slug, sizeof slug, "%.*s", (int)(dot ? dot - name : 0), name);
    if (!dot || strcmp(dot, ".cu") != 0 || !has_slug(self, slug))
        course_fault(self, "%s/%s: not the example of a chapter", folder, name);
}

// ---- one lab -------------------------------------------------------------------

struct lab {
    struct course *course;
    const char *slug, *expected; // "|a.cu|b.md|": the names a folder may hold
    char stem[64];
    struct manifest manifest;
    int ntasks;
    unsigned empty;              // bit n: a wrong/ file leaves task n empty
};

static void each_file(void *self, const char *folder, const char *name)
{
    struct lab *lab = self;
    char quoted[300];
    snprintf(quoted, sizeof quoted, "|%.256s|", name);
    if (!strstr(lab->expected, quoted))
        course_fault(lab->course, "%s/%s: a stray file", folder, name);
}

// The folder holds these names and no others, but `rungs` may be missing: a
// lab without a speed test has none. names: "|a|b|".
static void check_folder(struct lab *lab, const char *folder, const char *names)
{
    lab->expected = names;
    for_each_entry(folder, lab, each_file);
    for (const char *at = names + 1; *at;) {
        size_t n = strcspn(at, "|");
        char path[512];
        struct stat st;
        snprintf(path, sizeof path, "%s/%.*s", folder, (int)n, at);
        if (strncmp(at, "rungs", n) != 0 && stat(path, &st) != 0)
            course_fault(lab->course, "%s: missing", path);
        at += n + 1;
    }
}

static void check_files(struct lab *lab)
{
    char folder[128], names[512];
    const char *stem = lab->stem;
    snprintf(folder, sizeof folder, "labs/%s", lab->slug);
    snprintf(names, sizeof names,
             "|README.md|%s.cu|%s.h|check_%s.c|baseline.cu|bug_hunt.cu|hints.md|"
             "lab.yaml|",
             stem, stem, stem);
    check_folder(lab, folder, names);
    snprintf(folder, sizeof folder, "solutions/%s", lab->slug);
    snprintf(names, sizeof names, "|README.md|%s.cu|rungs|right|wrong|", stem);
    check_folder(lab, folder, names);
}

static int count_lines(const char *text)
{
    int n = 0;
    for (; *text; text = line_next(text))
        n++;
    return n;
}

static int count_tasks(const char *solution)
{
    int most = 0;
    for (const char *at = solution; *at; at = line_next(at)) {
        struct task_mark mark = task_mark(at);
        if (mark.kind == MARK_BEGIN && mark.task > most)
            most = mark.task;
    }
    return most;
}

// The starter is the solution with holes, and short enough to be read.
static void check_starter(struct lab *lab, const char *solution,
                          const char *solution_path)
{
    char path[256], message[TOOL_MESSAGE];
    struct buf made = {0};
    snprintf(path, sizeof path, "labs/%s/%s.cu", lab->slug, lab->stem);
    char *is = must_read(lab->course, path);
    if (starter_make(solution_path, solution, &made, message) < 0)
        course_fault(lab->course, "%s", message);
    else if (is && strcmp(is, made.data) != 0)
        course_fault(lab->course, "%s: not the starter of %s; run `make starters`",
                     path, solution_path);
    if (made.data && count_lines(made.data) > STARTER_LINES_MOST)
        course_fault(lab->course, "%s: %d lines; a learner edits %d at most", path,
                     count_lines(made.data), STARTER_LINES_MOST);
    buf_free(&made);
    free(is);
}

// Whether a line of the chapter is the heading `## title`.
static bool has_heading(const char *chapter, const char *title)
{
    size_t n = strlen(title);
    for (const char *at = chapter; *at; at = line_next(at))
        if (strncmp(at, "## ", 3) == 0 && line_length(at) == n + 3 &&
            strncmp(at + 3, title, n) == 0)
            return true;
    return false;
}

// The chapter has the sections that tasks name, and no code of the tasks.
static void check_chapter(struct lab *lab, const char *solution)
{
    char path[128];
    snprintf(path, sizeof path, "chapters/%s.md", lab->slug);
    char *chapter = must_read(lab->course, path);
    int line = chapter ? leaks_find(solution, chapter) : 0;
    if (line)
        course_fault(lab->course, "%s:%d: code of a task of the lab", path, line);
    for (size_t i = 0; chapter && i < lab->manifest.sections.n; i++)
        if (!has_heading(chapter, lab->manifest.sections.name[i]))
            course_fault(lab->course, "%s: no section `%s`, which labs/%s/lab.yaml "
                         "names", path, lab->manifest.sections.name[i], lab->slug);
    free(chapter);
}

// ---- corpora -------------------------------------------------------------------

// Takes `// fails: a b` and, below it, `// empty: n` off a wrong answer.
static void read_wrong(struct lab *lab, const char *path, struct sample *s)
{
    char *text = must_read(lab->course, path);
    if (!text)
        return;
    if (sscanf(text, "// fails: %1023[^\n]", s->fails) != 1)
        course_fault(lab->course, "%s:1: write `// fails: test_a test_b`", path);
    if (sscanf(line_next(text), "// empty: %d", &s->empty_task) == 1 &&
        s->empty_task > 0 && s->empty_task <= TASK_MAX)
        lab->empty |= 1u << s->empty_task;
    free(text);
    char copy[1024], *save = NULL;
    snprintf(copy, sizeof copy, "%s", s->fails);
    for (char *word = strtok_r(copy, " ", &save); word;
         word = strtok_r(NULL, " ", &save)) {
        word[strcspn(word, "@")] = '\0';
        if (!names_hold(&lab->manifest.tests, word))
            course_fault(lab->course, "%s:1: the lab has no test `%s`", path,
                         word);
    }
}

static bool is_cu(struct lab *lab, const char *folder, const char *name)
{
    bool ok = fnmatch("*.cu", name, 0) == 0;
    if (!ok)
        course_fault(lab->course, "%s/%s: a stray file", folder, name);
    return ok;
}

static void each_right(void *self, const char *folder, const char *name)
{
    struct lab *lab = self;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (is_cu(lab, folder, name))
        add_sample(lab->course, lab->slug, EXPECT_FULL, path);
}

static void each_wrong(void *self, const char *folder, const char *name)
{
    struct lab *lab = self;
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (is_cu(lab, folder, name))
        read_wrong(lab, path,
                   add_sample(lab->course, lab->slug, EXPECT_FAILS, path));
}

// A rung file that lab.yaml does not class is a stray one.
static void each_rung(void *self, const char *folder, const char *name)
{
    struct lab *lab = self;
    for (size_t i = 0; i < lab->manifest.nrungs; i++)
        if (strcmp(lab->manifest.rungs[i].file, name) == 0)
            return;
    course_fault(lab->course, "%s/%s: lab.yaml does not class this rung", folder,
                 name);
}

static void add_rungs(struct lab *lab)
{
    const struct manifest *m = &lab->manifest;
    for (size_t i = 0; i < m->nrungs; i++) {
        char path[512];
        snprintf(path, sizeof path, "solutions/%s/rungs/%s", lab->slug,
                 m->rungs[i].file);
        struct sample *s = add_sample(lab->course, lab->slug, EXPECT_RUNG, path);
        s->rung = m->rungs[i];
        for (size_t k = 0; k < m->nthresholds && !s->full; k++) {
            const struct threshold *t = &m->thresholds[k];
            if (strcmp(t->test, s->rung.test) == 0 &&
                strcmp(t->target, "virtual") == 0) {
                s->pass = t->pass;
                s->full = t->full;
            }
        }
        if (!s->full)
            course_fault(lab->course, "labs/%s/lab.yaml: rung %s has no thresholds "
                         "on the virtual target", lab->slug, s->rung.file);
    }
}

static void check_corpora(struct lab *lab)
{
    char folder[128];
    size_t before = lab->course->nsamples;
    snprintf(folder, sizeof folder, "solutions/%s/right", lab->slug);
    for_each_entry(folder, lab, each_right);
    if (lab->course->nsamples - before < 2)
        course_fault(lab->course, "%s: fewer than two other right answers", folder);
    snprintf(folder, sizeof folder, "solutions/%s/wrong", lab->slug);
    for_each_entry(folder, lab, each_wrong);
    for (int task = 1; task <= lab->ntasks; task++)
        if (!(lab->empty & 1u << task))
            course_fault(lab->course, "%s: none leaves task %d empty "
                         "(`// empty: %d` in its second line)", folder, task, task);
    snprintf(folder, sizeof folder, "solutions/%s/rungs", lab->slug);
    for_each_entry(folder, lab, each_rung);
    add_rungs(lab);
}

// Everything about one lab; `known` gathers what was introduced so far.
static void check_lab(struct course *c, const char *slug, struct names *known,
                      bool chosen)
{
    struct lab lab = {.course = c, .slug = slug};
    char path[256], message[TOOL_MESSAGE];
    slug_stem(slug, lab.stem);
    snprintf(path, sizeof path, "labs/%s/lab.yaml", slug);
    if (manifest_read(path, &lab.manifest, message) < 0)
        course_fault(c, "%s", message);
    for (size_t i = 0; i < lab.manifest.introduces.n && known->n < MANIFEST_MOST;
         i++)
        strcpy(known->name[known->n++], lab.manifest.introduces.name[i]);
    if (!chosen)
        return;
    for (size_t i = 0; i < lab.manifest.needs.n; i++)
        if (!names_hold(known, lab.manifest.needs.name[i]))
            course_fault(c, "%s: needs `%s`, which no chapter up to it introduces",
                         path, lab.manifest.needs.name[i]);
    check_files(&lab);
    snprintf(path, sizeof path, "labs/%s", slug);
    add_sample(c, slug, EXPECT_NOTHING, path);
    snprintf(path, sizeof path, "solutions/%s", slug);
    add_sample(c, slug, EXPECT_FULL, path);
    snprintf(path, sizeof path, "solutions/%s/%s.cu", slug, lab.stem);
    char *solution = text_read(path); // its absence is told by check_files
    if (solution) {
        lab.ntasks = count_tasks(solution);
        check_starter(&lab, solution, path);
        check_chapter(&lab, solution);
    }
    free(solution);
    check_corpora(&lab);
}

void course_read(struct course *c, const char *only)
{
    *c = (struct course){0};
    struct names *known = calloc(1, sizeof *known);
    bool any = false;
    if (!known)
        abort();
    for_each_entry("labs", c, each_lab);
    for_each_entry("solutions", c, each_solution);
    for_each_entry("chapters", c, each_chapter);
    for_each_entry("chapters/examples", c, each_example);
    for (size_t i = 0; i < c->nslugs; i++) {
        bool chosen = !only || strcmp(only, c->slugs[i]) == 0 ||
                      (strlen(only) == 2 && strncmp(only, c->slugs[i], 2) == 0);
        any |= chosen;
        check_lab(c, c->slugs[i], known, chosen);
    }
    if (!any)
        course_fault(c, only ? "there is no lab %s" : "labs: no lab there",
                     only ? only : "");
    free(known);
}

void course_free(struct course *c)
{
    free(c->slugs);
    free(c->samples);
    buf_free(&c->faults);
}
