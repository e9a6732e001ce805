// The gradebook: one SQLite file in WAL mode, written through to the disk.
//
//   run      one call of grade-class on a lab and a folder
//   attempt  one submission in a run:
//
//       queued --claim--> grading --record--> graded | failed
//          ^                 |
//          +-----resume------+     after the grader was killed
//
// History is never deleted. What counts is worked out when it is asked for:
// the newest graded attempt, so that a failed regrade takes nothing away.
#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "class.h"

struct gradebook {
    sqlite3 *db;
    int lock; // fd of the lock file, or -1
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS run ("
    " id INTEGER PRIMARY KEY, lab TEXT NOT NULL, folder TEXT NOT NULL,"
    " started TEXT NOT NULL, finished TEXT);"
    "CREATE TABLE IF NOT EXISTS attempt ("
    " id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run(id),"
    " lab TEXT NOT NULL, student TEXT NOT NULL, path BLOB NOT NULL,"
    " state TEXT NOT NULL DEFAULT 'queued'"
    "  CHECK (state IN ('queued', 'grading', 'graded', 'failed')),"
    " started TEXT, finished TEXT, status TEXT, score REAL, max_score REAL,"
    " target TEXT, gpu TEXT, modelled INTEGER, isolation TEXT,"
    " reason TEXT, result TEXT, UNIQUE (run, student));"
    "CREATE INDEX IF NOT EXISTS attempt_of ON attempt (lab, student, state);"
    "CREATE VIEW IF NOT EXISTS counting AS"
    " SELECT *, count(*) OVER who AS attempts,"
    "  row_number() OVER (PARTITION BY lab, student"
    "   ORDER BY state = 'graded' DESC, id DESC) AS place"
    " FROM attempt WHERE state IN ('graded', 'failed')"
    " WINDOW who AS (PARTITION BY lab, student);"
    "PRAGMA user_version = 1;";

// ---- SQLite, a little shorter ----------------------------------------------

static int run_sql(struct gradebook *book, const char *sql)
{
    return sqlite3_exec(book->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static sqlite3_stmt *prepare(struct gradebook *book, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(book->db, sql, -1, &statement, NULL);
    return statement;
}

static void bind_text(sqlite3_stmt *statement, int index, const char *text)
{
    sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

// Steps a statement that returns no row and frees it. 0 or -1.
static int finish(sqlite3_stmt *statement)
{
    if (!statement)
        return -1;
    int status = sqlite3_step(statement);
    sqlite3_finalize(statement);
    return status == SQLITE_DONE ? 0 : -1;
}

const char *gradebook_error(struct gradebook *book)
{
    return sqlite3_errmsg(book->db);
}

// ---- opening ---------------------------------------------------------------

static int take_lock(const char *path, char *message)
{
    char *lock_path = text_format("%s.lock", path);
    int fd = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0)
        snprintf(message, CLASS_MESSAGE, "%s: %s", lock_path, strerror(errno));
    free(lock_path);
    if (fd < 0)
        return -1;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        snprintf(message, CLASS_MESSAGE,
                 "%s: another grade-class is at work on this gradebook", path);
        close(fd);
        return -1;
    }
    return fd;
}

static int set_up(struct gradebook *book)
{
    sqlite3_busy_timeout(book->db, 10000);
    sqlite3_db_config(book->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    return run_sql(book, "PRAGMA journal_mode = WAL;"
                         "PRAGMA synchronous = FULL;"
                         "PRAGMA foreign_keys = ON;") == 0 &&
                   run_sql(book, schema) == 0
               ? 0
               : -1;
}

struct gradebook *gradebook_open(const char *path, bool exclusive,
                                 char message[CLASS_MESSAGE])
{
    struct gradebook *book = calloc(1, sizeof *book);

    if (!book)
        abort();
    book->lock = exclusive ? take_lock(path, message) : -1;
    if (exclusive && book->lock < 0) {
        free(book);
        return NULL;
    }
    int flags = SQLITE_OPEN_READWRITE | (exclusive ? SQLITE_OPEN_CREATE : 0);
    if (sqlite3_open_v2(path, &book->db, flags, NULL) != SQLITE_OK ||
        set_up(book) != 0) {
        snprintf(message, CLASS_MESSAGE, "%s: %s", path,
                 sqlite3_errmsg(book->db));
        gradebook_close(book);
        return NULL;
    }
    return book;
}

void gradebook_close(struct gradebook *book)
{
    if (!book)
        return;
    sqlite3_close(book->db);
    if (book->lock >= 0)
        close(book->lock);
    free(book);
}

// ---- a run -----------------------------------------------------------------

static int add_attempt(struct gradebook *book, int64_t run, const char *lab,
                       const struct submission *one)
{
    char now[32];
    sqlite3_stmt *s = prepare(
        book, "INSERT INTO attempt (run, lab, student, path, state, status,"
              " reason, finished) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
              " ON CONFLICT (run, student) DO NOTHING");

    text_now(now);
    sqlite3_bind_int64(s, 1, run);
    bind_text(s, 2, lab);
    bind_text(s, 3, one->student);
    sqlite3_bind_blob(s, 4, one->path, (int)strlen(one->path),
                      SQLITE_TRANSIENT);
    bind_text(s, 5, one->problem ? "failed" : "queued");
    if (one->problem) {
        bind_text(s, 6, "not_graded");
        bind_text(s, 7, one->problem);
        bind_text(s, 8, now);
    }
    return finish(s);
}

static int add_attempts(struct gradebook *book, int64_t run, const char *lab,
                        const struct submissions *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (add_attempt(book, run, lab, &all->list[i]) != 0)
            return -1;
    return 0;
}

// Ends a transaction: kept when `status` is 0. 0, or -1 and all as before.
static int end(struct gradebook *book, int status)
{
    if (status == 0 && run_sql(book, "COMMIT") == 0)
        return 0;
    run_sql(book, "ROLLBACK");
    return -1;
}

int64_t gradebook_begin(struct gradebook *book, const char *lab,
                        const char *folder, const struct submissions *all)
{
    char now[32];

    if (run_sql(book, "BEGIN IMMEDIATE") != 0)
        return -1;
    text_now(now);
    sqlite3_stmt *s = prepare(
        book, "INSERT INTO run (lab, folder, started) VALUES (?, ?, ?)");
    bind_text(s, 1, lab);
    bind_text(s, 2, folder);
    bind_text(s, 3, now);
    int status = finish(s);
    int64_t run = sqlite3_last_insert_rowid(book->db);
    if (status == 0)
        status = add_attempts(book, run, lab, all);
    return end(book, status) == 0 ? run : -1;
}

// The newest run of a lab and folder; 0 none, -1 failed.
static int64_t newest_run(struct gradebook *book, const char *lab,
                          const char *folder)
{
    int64_t run = -1;
    sqlite3_stmt *s =
        prepare(book, "SELECT max(id) FROM run WHERE lab = ? AND folder = ?");

    bind_text(s, 1, lab);
    bind_text(s, 2, folder);
    if (sqlite3_step(s) == SQLITE_ROW)
        run = sqlite3_column_int64(s, 0); // NULL reads as 0
    sqlite3_finalize(s);
    return run;
}

int64_t gradebook_resume(struct gradebook *book, const char *lab,
                         const char *folder, const struct submissions *all)
{
    if (run_sql(book, "BEGIN IMMEDIATE") != 0)
        return -1;
    int64_t run = newest_run(book, lab, folder);
    int status = run < 0 ? -1 : 0;
    if (run > 0) {
        sqlite3_stmt *s =
            prepare(book, "UPDATE attempt SET state = 'queued', started = NULL"
                          " WHERE run = ? AND state = 'grading'");
        sqlite3_bind_int64(s, 1, run);
        status = finish(s) == 0 ? add_attempts(book, run, lab, all) : -1;
    }
    return end(book, status) == 0 ? run : -1;
}

// ---- an attempt ------------------------------------------------------------

int gradebook_claim(struct gradebook *book, int64_t run,
                    struct attempt *attempt)
{
    char now[32];
    sqlite3_stmt *s = prepare(
        book, "UPDATE attempt SET state = 'grading', started = ? WHERE id ="
              " (SELECT id FROM attempt WHERE run = ? AND state = 'queued'"
              "  ORDER BY id LIMIT 1) RETURNING id, student, path");

    text_now(now);
    bind_text(s, 1, now);
    sqlite3_bind_int64(s, 2, run);
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        attempt->id = sqlite3_column_int64(s, 0);
        attempt->student = strdup((const char *)sqlite3_column_text(s, 1));
        attempt->path = strndup(sqlite3_column_blob(s, 2),
                                (size_t)sqlite3_column_bytes(s, 2));
        if (!attempt->student || !attempt->path)
            abort();
        // The change is made when the statement has run to its end.
        if (sqlite3_step(s) == SQLITE_DONE) {
            sqlite3_finalize(s);
            return 1;
        }
        attempt_free(attempt);
    }
    sqlite3_finalize(s);
    return status == SQLITE_DONE ? 0 : -1;
}

void attempt_free(struct attempt *attempt)
{
    free(attempt->student);
    free(attempt->path);
    attempt->student = attempt->path = NULL;
}

int gradebook_record(struct gradebook *book, int64_t attempt,
                     const struct grade *grade)
{
    char now[32];
    sqlite3_stmt *s = prepare(
        book,
        "UPDATE attempt SET state = ?, finished = ?, status = ?, score = ?,"
        " max_score = ?, target = ?, gpu = ?, modelled = ?, isolation = ?,"
        " reason = ?, result = ? WHERE id = ? AND state = 'grading'");

    text_now(now);
    bind_text(s, 1, grade->graded ? "graded" : "failed");
    bind_text(s, 2, now);
    bind_text(s, 3, grade->status);
    if (grade->graded) {
        sqlite3_bind_double(s, 4, grade->score);
        sqlite3_bind_double(s, 5, grade->max_score);
    }
    bind_text(s, 6, grade->target);
    bind_text(s, 7, grade->gpu);
    sqlite3_bind_int(s, 8, grade->modelled);
    bind_text(s, 9, grade->isolation);
    bind_text(s, 10, grade->reason);
    bind_text(s, 11, grade->result);
    sqlite3_bind_int64(s, 12, attempt);
    return finish(s);
}

int gradebook_finish(struct gradebook *book, int64_t run)
{
    char now[32];
    sqlite3_stmt *s =
        prepare(book, "UPDATE run SET finished = ? WHERE id = ?");

    text_now(now);
    bind_text(s, 1, now);
    sqlite3_bind_int64(s, 2, run);
    return finish(s);
}

int gradebook_tally(struct gradebook *book, int64_t run, struct tally *tally)
{
    sqlite3_stmt *s = prepare(
        book, "SELECT count(*) FILTER (WHERE state = 'queued'),"
              " count(*) FILTER (WHERE state = 'grading'),"
              " count(*) FILTER (WHERE state = 'graded'),"
              " count(*) FILTER (WHERE state = 'failed')"
              " FROM attempt WHERE run = ?");

    sqlite3_bind_int64(s, 1, run);
    int status = sqlite3_step(s);
    if (status == SQLITE_ROW) {
        tally->queued = (unsigned)sqlite3_column_int(s, 0);
        tally->grading = (unsigned)sqlite3_column_int(s, 1);
        tally->graded = (unsigned)sqlite3_column_int(s, 2);
        tally->failed = (unsigned)sqlite3_column_int(s, 3);
    }
    sqlite3_finalize(s);
    return status == SQLITE_ROW ? 0 : -1;
}

// ---- reading ---------------------------------------------------------------

#define ROW_COLUMNS                                                            \
    "student, lab, status, target, gpu, isolation, finished, reason, result,"  \
    " state = 'graded', modelled, score, max_score"
#define ROW_FILTER                                                             \
    " AND (?1 IS NULL OR lab = ?1) AND (?2 IS NULL OR student = ?2)"

static int each_row(sqlite3_stmt *s, const char *lab, const char *student,
                    row_function each, void *self)
{
    int status, stop = 0;

    bind_text(s, 1, lab);
    bind_text(s, 2, student);
    while ((status = sqlite3_step(s)) == SQLITE_ROW && stop == 0) {
        const char *text[9];
        for (int i = 0; i < 9; i++)
            text[i] = (const char *)sqlite3_column_text(s, i);
        struct row row = {
            text[0], text[1], text[2], text[3], text[4], text[5], text[6],
            text[7], text[8],
            .graded = sqlite3_column_int(s, 9),
            .modelled = sqlite3_column_int(s, 10),
            .score = sqlite3_column_double(s, 11),
            .max_score = sqlite3_column_double(s, 12),
            .attempts = (unsigned)sqlite3_column_int(s, 13),
        };
        stop = each(self, &row);
    }
    sqlite3_finalize(s);
    if (stop)
        return stop;
    return status == SQLITE_DONE ? 0 : -1;
}

int gradebook_rows(struct gradebook *book, const char *lab,
                   const char *student, row_function each, void *self)
{
    return each_row(prepare(book, "SELECT " ROW_COLUMNS ", attempts"
                                  " FROM counting WHERE place = 1" ROW_FILTER
                                  " ORDER BY lab, student"),
                    lab, student, each, self);
}

int gradebook_history(struct gradebook *book, const char *lab,
                      const char *student, row_function each, void *self)
{
    return each_row(prepare(book, "SELECT " ROW_COLUMNS ", 1 FROM attempt"
                                  " WHERE state IN ('graded', 'failed')"
                                  ROW_FILTER " ORDER BY id"),
                    lab, student, each, self);
}
