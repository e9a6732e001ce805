// The judge: what a lab asks for, one submission, a verdict.
//
//   manifest.c    lab.yaml -> struct manifest, errors with file and line
//   clean.c       text from outside, made fit to print
//   folder.c      a working folder for one submission
//   marks.c       TASK_NOT_DONE(n) in a submission's source
//   intake.c      takes the files under submit: into a folder of our own
//   build.c       nvcc in its sandbox -> submission.so, baseline.so (cached)
//   policy.c      forbidden libraries, in dependencies and in the object
//   gpus.c        which target to take, on which GPU
//   judge.c       runs the tests of check.so, each with the session it needs
//   score.c       which tests count, what they earn
//   command.c     the command line
//   report.c      the screen          points.c  its table of points
//   json.c        --json              junit.c   --junit
//   verbs.c       check, counters, explain: the virtual GPU's advice alone
//
// and check_lab.h, with its own list of files: what lab checks are written
// with. The judge is trusted: it never loads a submission, and whatever a
// submission does ends as a line of its report.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "worker/session.h"

enum { GRADE_MESSAGE = 1024 }; // no message is longer

// Valid UTF-8 without control codes, cut at room - 1 bytes; one_line: newlines
// become blanks.
void text_clean(char *out, size_t room, const char *text, bool one_line);

// A new folder under build/work, by absolute path; 0 or -1 with errno.
int work_folder(char *path, size_t room);
void work_folder_remove(const char *path);

// ---- manifest.c ------------------------------------------------------------

enum test_kind { KIND_VALUE, KIND_CHECK, KIND_COUNTER, KIND_SPEED };
const char *kind_name(enum test_kind);

enum { ON_GPU = 1, ON_VIRTUAL = 2 };

struct manifest_task {
    unsigned task;
    char *title;
    char *section;     // of the chapter
    char *main;        // name of its main value test
};

struct manifest_test {
    char *name;
    enum test_kind kind;
    unsigned task;
    double points;
    char *what;        // "the submission ..."
    enum target_kind *targets;
    unsigned targets_count;
    unsigned on;       // ON_GPU | ON_VIRTUAL
};

struct manifest_class {
    enum target_kind target;
    unsigned capability;
    double pass, full;
    double stretch;    // 0: no such mark
    char *source;
};

struct manifest_speed {
    char *test;
    struct manifest_class *classes;
    unsigned classes_count;
};

enum rung_class { RUNG_MISTAKE, RUNG_PLAIN, RUNG_METHOD };

struct manifest_rung {
    char *file, *test;
    enum rung_class class;
};

struct manifest_policy {
    char **forbid_libraries;
    unsigned forbid_libraries_count;
    double compile_s, run_s;
    unsigned memory_mib, processes;
};

struct manifest {
    char *lab, *title;
    char **submit, **needs, **introduces;
    unsigned submit_count, needs_count, introduces_count;
    unsigned devices;
    struct manifest_task *tasks;
    struct manifest_test *tests;
    struct manifest_speed *speed;
    struct manifest_rung *rungs;
    unsigned tasks_count, tests_count, speed_count, rungs_count;
    struct manifest_policy policy;
};

// Reads labs/NN-name/lab.yaml. NULL with "path:line: what is wrong" in
// message (GRADE_MESSAGE bytes); `lab` is the folder's name, which lab.yaml
// must repeat.
struct manifest *manifest_load(const char *path, const char *lab, char *message);
void manifest_free(struct manifest *);
// NULL when there is none.
const struct manifest_task *manifest_task(const struct manifest *, unsigned task);
const struct manifest_class *manifest_thresholds(const struct manifest *,
                                                 const char *test,
                                                 enum target_kind,
                                                 unsigned capability);

// ---- marks.c ----------------------------------------------------------------

struct mark {
    unsigned task;
    unsigned file;     // index into submit:
    unsigned line;     // 1-based
    bool hole;         // TASK_NOT_DONE(n), else the comment `// TASK n: ...`
};
// The marks in C source: calls outside comments and literals, and comments.
// Returns how many were written to `out`.
unsigned marks_find(const char *source, struct mark *out, unsigned room);

// ---- records ----------------------------------------------------------------

enum test_status {
    TEST_NOT_GRADED,   // no record: told, never lost
    TEST_PASSED, TEST_PARTIAL, TEST_FAILED,
    TEST_SKIPPED,      // waits for another test, or cannot run here
    TEST_NOT_MEASURED, // not the submission's fault
};
const char *status_name(enum test_status);

// What one test came to. Texts are valid UTF-8 without control codes.
struct record {
    const struct manifest_test *test;
    enum test_status status;
    bool counts;             // its points are part of the total here
    bool waits;              // skipped because its task's main test failed
    double share;            // of its points, 0..1
    double score;            // points, after score.c
    char message[GRADE_MESSAGE];
    char given[384];         // what the failing part was about
    char pattern[256];       // of the wrong elements
    char shown[512];         // figures without points
    char file[256];          // in the submission; "" unknown
    unsigned line;
    bool has_ratio;
    double ratio, lo, hi;
    double pass, full, stretch; // the marks it was judged by; 0: none
    bool modelled;
    double seconds;
};

// ---- intake.c, build.c, policy.c ----------------------------------------------

enum { MAX_MARKS = 32 };

struct submission {
    char shown[512];         // as the user would type it: "labs/02-vector-add"
    bool single;             // one file, not a folder
    char folder[512];        // ours: the files taken, and the lab's headers
    char object[512];        // submission.so, when it was built
    struct mark marks[MAX_MARKS];
    unsigned nmarks;
};

// Copies the files under submit: of `path` (a folder, or the one file) into
// the new folder `into`, with the headers of the lab beside them. Symbolic
// links, anything but regular files, and files over 1 MiB are refused by
// name. 0; or -1 with message.
int intake(const struct manifest *, const char *lab_folder, const char *path,
           const char *into, struct submission *, char *message);

struct build_options {
    const char *cuda_home;
    enum isolation isolation;
    unsigned capability;     // of the GPU that is there or modelled
    double wall_s;
    uint64_t memory_bytes;
};
enum build_status { BUILD_OK, BUILD_FAILED, BUILD_IMPOSSIBLE };
// nvcc of the .cu files among `files` in `folder` -> `object` there.
// BUILD_FAILED: the compiler's or the policy's words in *text (the caller
// frees), with paths relative to the lab. BUILD_IMPOSSIBLE: the machine's
// fault.
enum build_status build_object(const struct build_options *, const char *folder,
                               char *const *files, unsigned nfiles,
                               const char *object, char **text);
// The lab's baseline.cu, built once per content under build/baseline/.
// BUILD_OK with "" when the lab has none.
enum build_status build_baseline(const struct build_options *,
                                 const char *lab_folder, char *object,
                                 size_t room, char **text);
// Whether the object or its dependencies use a forbidden library: "" if not,
// else the sentence to say.
void policy_check(const struct manifest *, const char *dependencies,
                  const char *object, char *message);

// ---- gpus.c ------------------------------------------------------------------

struct chosen_target {
    enum target_kind kind;
    char gpu[64];            // model key, or GPU index; "" lets the session pick
    char name[64];           // "NVIDIA H200"; "" until a session told
    unsigned capability;
    char why[256];           // "no NVIDIA driver on this machine"
};
// asked: "gpu", "virtual" or NULL; model: --gpu or NULL. 0; or -1 with
// message, when what was asked for is not there.
int target_choose(const char *asked, const char *model, struct chosen_target *,
                  char *message);

// ---- judge.c -------------------------------------------------------------------

struct judge_options {
    const struct manifest *manifest;
    const struct chosen_target *target;
    enum isolation isolation;
    const char *submission;  // .so
    const char *baseline;    // .so, or ""
    const char *checks;      // check.so
    uint64_t seed;           // 0: from the machine's entropy
    // Called when a test begins, for a progress line; may be NULL.
    void (*progress)(void *, const struct manifest_test *);
    void *self;
};

struct grading {
    const struct manifest *manifest;
    const struct submission *submission;
    struct chosen_target target;
    bool copies;             // a GPU that lends no memory: copy mode
    enum isolation isolation;
    enum { GRADED, COMPILE_ERROR, NOT_GRADED } status;
    char *compiler;          // COMPILE_ERROR: what nvcc said, or why refused
    bool refused;            // COMPILE_ERROR: not taken in, or against policy
    char reason[GRADE_MESSAGE]; // NOT_GRADED
    struct record *records;  // manifest->tests_count; NULL unless GRADED
    double score, max_score; // of 100
    unsigned nnot_measured;
};

// Fills the records. 0; or -1 with the reason why nothing could be graded.
int judge(const struct judge_options *, struct grading *);

// What the virtual GPU says of the submission's calls in all value, check and
// counter tests, whatever they score.
struct advice {
    struct finding *findings;
    struct vgpu_launch *launches;
    unsigned nfindings, nlaunches;
};
int judge_advice(const struct judge_options *, struct grading *, struct advice *);
void advice_free(struct advice *);

// ---- score.c --------------------------------------------------------------------

// Whether test `index` may run, by the rules between tests; if not, its
// record says why.
bool score_may_run(const struct grading *, unsigned index, struct record *);
// Applies the rules between tests and adds up, scaled to 100 over the tests
// that count here.
void score(struct grading *);
// The TASK_NOT_DONE for which a failed main test means "not started"; else
// NULL. It changes how the failure is told, never its points.
const struct mark *record_hole(const struct grading *, const struct record *);
// The speed line: 0 at pass, 1 at full; an interval that straddles a mark is
// read to the learner's benefit.
double speed_share(double ratio, double lo, double hi, double pass, double full);

// ---- reports ---------------------------------------------------------------------

struct style {
    bool plain;              // no boxes, verdict word first
    bool colour;
    bool quiet;              // the score alone
    unsigned width;
};
// Colour to a terminal, unless NO_COLOR or --plain.
struct style style_for(FILE *, bool plain, bool quiet);

void report(FILE *, const struct style *, const struct grading *);
// Points as the table at the end of the report.
void report_points(FILE *, const struct style *, const struct grading *);
// Where a line of the submission is: "labs/02-vector-add/vector_add.cu:17".
void print_place(FILE *, const struct grading *, const char *file, unsigned line);
// Columns that UTF-8 text takes on a terminal, one a code point.
size_t text_columns(const char *);
// Wraps text to the width, each line after `indent`.
void print_wrapped(FILE *, const struct style *, const char *indent,
                   const char *text);
// Escape codes when there is colour, else "".
enum colour { PLAIN, RED, GREEN, YELLOW, BOLD, DIM };
const char *paint(const struct style *, enum colour);
// Whole or not at all; path "-" is standard output. 0; or -1 with errno.
// Text to a file, through a temporary one, or to standard output.
int text_out(const char *path, const char *text);
int json_write(const char *path, const struct grading *);
int junit_write(const char *path, const struct grading *);

// ---- verbs.c ----------------------------------------------------------------

void print_findings(FILE *, const struct style *, const struct grading *,
                    const struct advice *);
void print_counters(FILE *, const struct style *, const struct grading *,
                    const struct advice *);
void print_explanation(FILE *, const struct style *, const struct grading *,
                       const struct advice *);
