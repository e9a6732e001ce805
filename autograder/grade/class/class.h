// A class graded: one submission after another, into a gradebook.
//
//   submissions.c  what a folder of submissions holds, a student each
//   unpack.c       archives, taken apart in a process of its own
//   gradebook.c    the SQLite file: runs and attempts, every change at once
//   child.c        `grade lab --json` as a child process with a deadline
//   run.c          the loop: claim, grade, record
//   report.c       CSV and JSON, cells that no spreadsheet takes for formulas
//   text.c         names of any script, made safe to print
//
// The programs are grade-class, grade-export and grade-show (NAME_main.c).
// Nothing here loads or reads student code: `grade lab` does, in its sandbox.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum { CLASS_MESSAGE = 512 };

// ---- text.c ----------------------------------------------------------------

// A copy that is valid UTF-8 without control characters: bytes that are not
// are written as %XX. The caller frees. Two different names stay different
// unless one spells the other's escape.
char *text_clean(const char *bytes);
// Prints a clean text and blanks up to `width` columns of a terminal.
void text_padded(FILE *out, const char *text, unsigned width);
// The last `limit` bytes of a file, cleaned but for newlines; "" when it
// cannot be read. The caller frees.
char *text_tail(const char *path, size_t limit);
// Now, in UTC: "2026-01-31T12:00:00Z".
void text_now(char out[32]);
// snprintf that allocates; never NULL (ends the process without memory).
char *text_format(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

// ---- submissions.c ---------------------------------------------------------

struct submission {
    char *student;  // clean text; unique in the list
    char *path;     // as found: a folder, a source file or an archive
    char *problem;  // why it cannot be taken; NULL when it can
};
struct submissions {
    struct submission *list; // by student
    size_t n;
    char *folder;            // absolute, clean text
};
// What `folder` holds, one entry a student: a folder, NAME.cu, or an archive
// NAME.zip, .tar, .tar.gz, .tgz. Hidden entries are passed over; anything
// else (links, devices, two entries of one student) becomes an entry with a
// problem. 0; or -1 with errno, when the folder cannot be read.
int submissions_find(const char *folder, struct submissions *);
void submissions_free(struct submissions *);

// ---- unpack.c --------------------------------------------------------------

// Unpacks an archive into `folder`, which exists and is empty. Files and
// folders only, at most 1000 entries and 16 MiB, nothing outside `folder`.
// 0; or -1 with a message for a person.
int unpack(const char *archive, const char *folder,
           char message[CLASS_MESSAGE]);
// The folder that holds the files: `folder`, or the one folder in it when
// there is nothing else. The caller frees.
char *unpacked_root(const char *folder);
// Removes a folder and all below it, following no links.
void remove_tree(const char *folder);

// ---- gradebook.c -----------------------------------------------------------

struct gradebook;

// What `grade lab` said of one submission.
struct grade {
    bool graded;          // false: not graded, for `reason`
    double score, max_score;
    const char *status;   // "graded", "compile_error", "not_graded"
    const char *target, *gpu, *isolation;
    bool modelled;
    const char *reason;   // for a person; NULL when graded
    const char *result;   // the whole JSON, or NULL
};

// An attempt to grade: what the gradebook holds for one submission of a run.
struct attempt {
    int64_t id;
    char *student, *path; // owned
};

// Opens or makes the file and locks it against a second grading process when
// `exclusive`. NULL with a message otherwise.
struct gradebook *gradebook_open(const char *path, bool exclusive,
                                 char message[CLASS_MESSAGE]);
void gradebook_close(struct gradebook *);
// The message of the last call that failed.
const char *gradebook_error(struct gradebook *);

// A new run with an attempt queued for every submission (those with a problem
// are failed at once). Its id, or -1.
int64_t gradebook_begin(struct gradebook *, const char *lab,
                        const char *folder, const struct submissions *);
// The newest run of this lab and folder, with what was being graded when it
// was interrupted queued again, and submissions that are new added. Its id; 0
// when there is none; -1 on failure.
int64_t gradebook_resume(struct gradebook *, const char *lab,
                         const char *folder, const struct submissions *);
// The next queued attempt, from now on "grading". 1 taken, 0 none, -1 failed.
int gradebook_claim(struct gradebook *, int64_t run, struct attempt *);
void attempt_free(struct attempt *);
// The outcome of an attempt that was claimed. 0 or -1.
int gradebook_record(struct gradebook *, int64_t attempt,
                     const struct grade *);
int gradebook_finish(struct gradebook *, int64_t run);

struct tally {
    unsigned queued, grading, graded, failed;
};
int gradebook_tally(struct gradebook *, int64_t run, struct tally *);

// One row of what counts: the newest graded attempt of a student and lab, or
// the newest failed one when none was ever graded. Valid within the call.
struct row {
    const char *student, *lab, *status, *target, *gpu, *isolation, *when;
    const char *reason, *result; // NULL when there is none
    bool graded, modelled;
    double score, max_score;
    unsigned attempts;
};
typedef int (*row_function)(void *self, const struct row *);
// Calls `each` for every student, by lab and name; of one lab or one student
// unless they are NULL. 0, or -1 on failure, or what `each` returned if not 0.
int gradebook_rows(struct gradebook *, const char *lab, const char *student,
                   row_function each, void *self);
// The same for every attempt, oldest first.
int gradebook_history(struct gradebook *, const char *lab, const char *student,
                      row_function each, void *self);

// ---- child.c ---------------------------------------------------------------

struct child {
    pid_t pid;            // 0: free
    struct attempt attempt;
    double deadline;      // CLOCK_MONOTONIC, seconds
    bool late;            // killed for it
    char *scratch;        // result.json, log and unpacked/ of this child
};
// argv[0] of the grader, the lab and the options to pass on.
struct grader {
    const char *program, *lab, *target, *gpu;
    double deadline_s;
    bool allow_no_isolation;
};
double clock_seconds(void);
// Starts `grade lab` on a claimed attempt; takes over the attempt. 0, or -1
// with a message: this submission cannot be graded, and why.
int child_start(struct child *, const struct grader *, struct attempt *,
                const char *scratch, char message[CLASS_MESSAGE]);
// Ends a child that is past its deadline, with all that it started.
void child_check_deadline(struct child *, double now);
// What a child that has ended (wait status) found. The strings live until
// child_finish.
struct verdict {
    struct grade grade;
    char reason[CLASS_MESSAGE + 4096];
    char *result;         // text
    void *json;           // what the grade's strings point into
};
void child_read(struct child *, const struct grader *, int wait_status,
                struct verdict *);
void child_finish(struct child *, struct verdict *);

// ---- run.c -----------------------------------------------------------------

#define NO_ISOLATION                                                           \
    "this machine gives no isolation, and a class's code is not to be "        \
    "trusted (make doctor says why)"

// Grades what is queued in a run, `jobs` at a time, a line each on `out`.
// 0; or -1 with a message: the gradebook failed, or no submission can be
// graded here.
int run_class(struct gradebook *, int64_t run, const struct grader *,
              unsigned jobs, const char *scratch, FILE *out,
              char message[CLASS_MESSAGE]);

// ---- report.c --------------------------------------------------------------

// A cell by RFC 4180; a text that a spreadsheet would take for a formula is
// led by an apostrophe.
void csv_cell(FILE *out, const char *text);
int report_csv(struct gradebook *, const char *lab, FILE *out);
int report_json(struct gradebook *, const char *lab, FILE *out);
