// The record of the test that runs: verdicts, points, messages.
//
// A verdict is written into the record first and then ends the test through
// Check, which in NOFORK mode jumps back to its runner.
#include "running.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct running running;

void running_begin(const struct manifest_test *test, struct record *record)
{
    running.test = test;
    running.record = record;
    running.side = SUBMISSION;
    running.broken = false;
    running.machine = false;
    running.given[0] = '\0';
    running.finding = (struct finding){0};
    record->test = test;
    record->status = TEST_NOT_GRADED;
    record->share = 1;
}

void running_end(void)
{
    for (unsigned i = 0; i < running.nheld; i++) {
        buffer_free(running.held[i].buffer);
        free(running.held[i].original);
    }
    for (size_t i = 0; i < running.nrooms; i++)
        free(running.rooms[i]);
    free(running.rooms);
    free(running.launches);
    running.rooms = NULL;
    running.launches = NULL;
    running.nheld = running.nlaunches = 0;
    running.nrooms = 0;
    if (running.broken)
        sessions_close(running.purpose);
    running.broken = false;
}

// ---- writing verdicts --------------------------------------------------------

static void keep(char *out, size_t room, const char *format, va_list args)
{
    char text[GRADE_MESSAGE];
    vsnprintf(text, sizeof text, format, args);
    text_clean(out, room, text, true);
}

static void verdict(enum test_status status, double share, const char *format,
                    va_list args)
{
    struct record *r = running.record;
    r->status = status;
    r->share = share;
    keep(r->message, sizeof r->message, format, args);
    snprintf(r->given, sizeof r->given, "%s%s%s",
             running.schedule ? running.schedule : "",
             running.schedule && running.given[0] ? ", " : "", running.given);
}

static void end_test(void) __attribute__((noreturn));
static void end_test(void)
{
    ck_abort_msg("%s", running.record->message);
    abort(); // ck_abort_msg does not return
}

void given(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    keep(running.given, sizeof running.given, format, args);
    va_end(args);
}

void failed(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict(TEST_FAILED, 0, format, args);
    va_end(args);
    end_test();
}

void skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict(TEST_SKIPPED, 0, format, args);
    va_end(args);
    end_test();
}

void machine_failed(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    verdict(TEST_NOT_MEASURED, 0, format, args);
    va_end(args);
    running.broken = running.machine = true;
    end_test();
}

void award(double share, const char *format, ...)
{
    va_list args;
    share = share > 0 ? share < 1 ? share : 1 : 0; // NaN: nothing
    if (share > running.record->share ||
        (share == 1 && running.record->message[0]))
        return;
    va_start(args, format);
    verdict(share >= 1 ? TEST_PASSED : share > 0 ? TEST_PARTIAL : TEST_FAILED,
            share, format, args);
    va_end(args);
}

void award_between(const char *what, double value, double none, double full)
{
    double share = (value - none) / (full - none);
    award(share, "%s: %.4g; points from %.4g on, all of them at %.4g", what,
          value, none, full);
}

void show(const char *format, ...)
{
    struct record *r = running.record;
    size_t n = strlen(r->shown);
    va_list args;
    if (n + 3 >= sizeof r->shown)
        return;
    if (n)
        n += (size_t)snprintf(r->shown + n, sizeof r->shown - n, "; ");
    va_start(args, format);
    keep(r->shown + n, sizeof r->shown - n, format, args);
    va_end(args);
}

// ---- findings -----------------------------------------------------------------

void record_finding(struct record *r, const struct finding *f)
{
    char file[sizeof r->file];
    const char *slash;
    text_clean(file, sizeof file, f->file, true);
    slash = strrchr(file, '/');
    snprintf(r->file, sizeof r->file, "%s", slash ? slash + 1 : file);
    r->line = f->line;
    r->status = TEST_FAILED;
    r->share = 0;
    text_clean(r->message, sizeof r->message, f->message, true);
    snprintf(r->given, sizeof r->given, "%s", running.given);
}

void failed_by_finding(const struct finding *f)
{
    record_finding(running.record, f);
    end_test();
}
