// The course tools: they keep chapters, labs and solutions saying one thing.
//
//   text.c      whole files, growing buffers, lines
//   tasks.c     TASK marks: a solution -> its starter
//   snippet.c   one function, struct or macro out of a source file
//   blocks.c    <!-- code ... --> blocks of a Markdown file, made anew
//   points.c    the table of a lab's tests
//   jobs.c      commands, a few at a time, with deadlines
//   manifest.c  what the tools want of a lab.yaml
//   course.c    which labs there are, and what their corpora hold
//   leaks.c     code of the tasks that stands in a chapter
//   verdicts.c  what `grade lab --json` said against what was expected
//
// The programs are starter, sync and check-course (NAME_main.c); new-lab,
// hint and watch are shell scripts beside them.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "text.h"

enum { TOOL_MESSAGE = 512 };

// ---- tasks.c ---------------------------------------------------------------

enum { TASK_MAX = 9 };

struct task_mark {
    enum { MARK_NONE, MARK_BEGIN, MARK_END, MARK_BAD } kind;
    int task;     // 1..TASK_MAX
    int indent;   // columns before the mark
};
// Whether this line is `// TASK n: text` or `// END TASK n`. A line that
// looks like one but is not is MARK_BAD.
struct task_mark task_mark(const char *line);

// Appends to `out` the solution `text` with every TASK region made a hole.
// Inside a function the hole holds TASK_NOT_DONE(n);, at the left margin,
// where the learner is to write a function, it is empty. Tasks are numbered
// from 1 without a gap. 0, or -1 with "name:line: what" in message.
int starter_make(const char *name, const char *text, struct buf *out,
                 char message[TOOL_MESSAGE]);

// ---- snippet.c -------------------------------------------------------------

// Appends the definition of `symbol` (a function, a struct or a macro) with
// the comment right above it. `*` gives the whole text.
// 0, or -1 when there is none.
int snippet_find(const char *text, const char *symbol, struct buf *out);

// ---- blocks.c --------------------------------------------------------------

// Appends `text`, a Markdown file, with its blocks made anew:
//
//   <!-- code FILE SYMBOL... -->    definitions out of a compiled source
//   <!-- table FILE [COLUMN...] --> a CSV file as a table
//   <!-- points LAB -->             the tests of a lab and what they earn
//   <!-- run [STATUS] COMMAND -->   a transcript; STATUS (0) is demanded
//   <!-- end -->
//
// Files are relative to the working directory, the repository's root, and
// may not leave it. `run` blocks are kept as they are unless `with_runs`.
// 0, or -1 with "name:line: what" in message.
int blocks_sync(const char *name, const char *text, bool with_runs,
                struct buf *out, char message[TOOL_MESSAGE]);

// ---- points.c --------------------------------------------------------------

// Appends the table of what labs/`slug` grades, out of its lab.yaml.
// 0, or -1 with what is wrong in message.
int points_table(const char *slug, struct buf *out, char message[TOOL_MESSAGE]);

// ---- jobs.c ----------------------------------------------------------------

struct job {
    char **argv;        // NULL-terminated, the job's own
    char *output_path;  // stdout and stderr go here
    double deadline_s;
    int status;         // exit status, 128 + signal, or -1: out of time
    double wall_s;
    void *tag;          // the caller's
};
// Runs all, at most `width` at a time, each in a process group of its own
// that is killed at the deadline. done: called as each one ends, or NULL.
void jobs_run(struct job *jobs, size_t n, unsigned width,
              void (*done)(struct job *, void *self), void *self);

// ---- manifest.c ------------------------------------------------------------
//
// What the tools want of a lab.yaml. The judge reads it strictly, and says
// what is wrong with it; here what is not there is an empty list.

enum { MANIFEST_MOST = 96 };

struct names {
    char name[MANIFEST_MOST][96];
    size_t n;
};
struct rung {
    char file[96], test[96], class[16];
};
struct threshold {
    char test[96], target[16];
    int capability;
    double pass, full;
};
struct lab_test {
    char kind[16], what[160];
    int task;
    double points;
    bool gpu_only;
};
struct manifest {
    struct names needs, introduces, tests;
    struct names sections; // of the chapter, one a task
    struct lab_test test[MANIFEST_MOST]; // test[i] is tests.name[i]
    struct rung rungs[MANIFEST_MOST];
    size_t nrungs;
    struct threshold thresholds[MANIFEST_MOST];
    size_t nthresholds;
};
// 0, or -1 with "path:line: what" in message.
int manifest_read(const char *path, struct manifest *,
                  char message[TOOL_MESSAGE]);
bool names_hold(const struct names *, const char *name);

// ---- course.c --------------------------------------------------------------

enum expectation { EXPECT_NOTHING, EXPECT_FULL, EXPECT_FAILS, EXPECT_RUNG };

// One submission that a lab keeps, and what it must earn.
struct sample {
    char slug[64];
    char path[256];        // a folder or a .cu file
    enum expectation expect;
    char fails[1024];      // EXPECT_FAILS: test names between single spaces
    int empty_task;        // EXPECT_FAILS: `// empty: n`, else 0
    struct rung rung;      // EXPECT_RUNG
    double pass, full;     // EXPECT_RUNG: the thresholds of its class of GPU
};

struct course {
    char (*slugs)[64];     // sorted
    size_t nslugs;
    struct sample *samples;
    size_t nsamples;
    struct buf faults;     // "path: what", a line each
    unsigned nfaults;
};
// Reads the tree at the working directory and checks what needs no grading:
// names, stray files, starters, TASK lines in chapters, first lines of wrong/,
// needs and introduces. `only`: a slug or its number, or NULL for all labs.
void course_read(struct course *, const char *only);
void course_free(struct course *);
void course_fault(struct course *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
// "02-vector-add" -> "vector_add"; false when it is no slug.
bool slug_stem(const char *slug, char stem[64]);

// ---- leaks.c -----------------------------------------------------------------

// Looks for a TASK region of `solution` in `chapter`: two lines of code in a
// row, or all of a region that has one. Returns the line in the chapter, or 0.
int leaks_find(const char *solution, const char *chapter);

// ---- verdicts.c --------------------------------------------------------------

// Whether the JSON of `grade lab` is what the sample must earn on `target`.
// true; or false with one line that says what differs.
bool verdict_agrees(const struct sample *, const char *json,
                    const char *target, char message[TOOL_MESSAGE]);
