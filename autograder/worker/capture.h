// The head and tail of an output of any length: 64 KiB at most are kept.
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { CAPTURE_HEAD = 32 << 10, CAPTURE_TAIL = 32 << 10 };

struct capture {
    size_t nbytes; // of all that came
    char head[CAPTURE_HEAD];
    char tail[CAPTURE_TAIL]; // a ring; the newest byte before `nbytes`
};

void capture_add(struct capture *, const char *data, size_t n);
// Reads a non-blocking descriptor until it is empty. false: it has ended.
bool capture_drain(struct capture *, int fd);
// Head, a line that says what was cut, tail; NUL-terminated, the caller's.
char *capture_text(const struct capture *);
// The newest bytes as text for a person: valid UTF-8 without control codes
// but line feed and tab, NUL-terminated in out.
void capture_last(const struct capture *, char *out, size_t out_bytes);
// Makes any bytes fit to print, as above, in out.
void printable(const char *in, size_t n, char *out, size_t out_bytes);
