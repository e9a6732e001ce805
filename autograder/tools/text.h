// Whole text files, growing buffers, lines: what tools and judge share.
#pragma once

#include <stddef.h>

struct buf {
    char *data; // NUL-terminated once anything was added
    size_t n, room;
};
void buf_add(struct buf *, const char *data, size_t n);
void buf_puts(struct buf *, const char *text);
void buf_printf(struct buf *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void buf_free(struct buf *);

// The whole file, NUL-terminated; NULL with errno set. A file that holds a
// NUL byte or is over 4 MiB is no text: EINVAL, EFBIG. The caller frees.
char *text_read(const char *path);
// Writes through a temporary file, and only when the content differs.
// 1 written, 0 it was the same, -1 with errno set.
int text_write(const char *path, const char *text);
// The line that begins at `at`: its length without the newline.
size_t line_length(const char *at);
// The start of the next line, or the terminating NUL.
const char *line_next(const char *at);
// 1-based number of the line that holds `at`.
int line_number(const char *text, const char *at);
