// Whole files, growing buffers, lines.
#include "tools.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_MOST = 4 << 20 };

static void buf_reserve(struct buf *b, size_t more)
{
    if (b->n + more + 1 <= b->room)
        return;
    size_t room = b->room ? b->room : 256;
    while (room < b->n + more + 1)
        room *= 2;
    char *data = realloc(b->data, room);
    if (!data) {
        fputs("out of memory\n", stderr);
        abort();
    }
    b->data = data;
    b->room = room;
}

void buf_add(struct buf *b, const char *data, size_t n)
{
    buf_reserve(b, n);
    if (n)
        memcpy(b->data + b->n, data, n);
    b->n += n;
    b->data[b->n] = '\0';
}

void buf_puts(struct buf *b, const char *text)
{
    buf_add(b, text, strlen(text));
}

void buf_printf(struct buf *b, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n > 0) {
        buf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->n, (size_t)n + 1, format, again);
        b->n += (size_t)n;
    }
    va_end(again);
}

void buf_free(struct buf *b)
{
    free(b->data);
    *b = (struct buf){0};
}

char *text_read(const char *path)
{
    struct buf text = {0};
    int why = 0;
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char piece[65536];
    size_t got;
    buf_puts(&text, "");
    while (!why && (got = fread(piece, 1, sizeof piece, file)) > 0) {
        if (memchr(piece, '\0', got))
            why = EINVAL;
        else if (text.n + got > TEXT_MOST)
            why = EFBIG;
        else
            buf_add(&text, piece, got);
    }
    if (!why && ferror(file))
        why = errno ? errno : EIO;
    fclose(file);
    if (why) {
        buf_free(&text);
        errno = why;
        return NULL;
    }
    return text.data;
}

// The mode that a new content of `path` should have.
static mode_t mode_for(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode & 0777 : 0644;
}

// A terminal, a pipe, /dev/null: written to as they are, never replaced.
static int write_into(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!file) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    bool ok = fputs(text, file) >= 0;
    return fclose(file) == 0 && ok ? 1 : -1;
}

// Beside the file and renamed over it, so that no reader sees half of it.
static int replace_file(const char *path, const char *text)
{
    char *old = text_read(path);
    bool same = old && strcmp(old, text) == 0;
    free(old);
    if (same)
        return 0;
    struct buf temporary = {0};
    buf_printf(&temporary, "%s.new", path);
    int result = -1;
    FILE *file = fopen(temporary.data, "wbe");
    if (!file)
        goto out;
    bool ok = fputs(text, file) >= 0;
    ok = fflush(file) == 0 && fsync(fileno(file)) == 0 && ok;
    ok = fclose(file) == 0 && ok;
    if (ok && chmod(temporary.data, mode_for(path)) == 0 &&
        rename(temporary.data, path) == 0)
        result = 1;
    else
        unlink(temporary.data);
out:
    buf_free(&temporary);
    return result;
}

int text_write(const char *path, const char *text)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return replace_file(path, text);
    if (!S_ISREG(st.st_mode))
        return write_into(path, text);
    char *real = realpath(path, NULL); // a link stays one
    int result = real ? replace_file(real, text) : -1;
    free(real);
    return result;
}

size_t line_length(const char *at)
{
    return strcspn(at, "\n");
}

const char *line_next(const char *at)
{
    at += line_length(at);
    return *at ? at + 1 : at;
}

int line_number(const char *text, const char *at)
{
    int number = 1;
    for (; text < at; text++)
        number += *text == '\n';
    return number;
}
