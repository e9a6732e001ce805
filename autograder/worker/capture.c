#include "capture.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void capture_add(struct capture *c, const char *data, size_t n)
{
    if (c->nbytes < CAPTURE_HEAD) {
        size_t room = CAPTURE_HEAD - c->nbytes;
        size_t take = n < room ? n : room;
        memcpy(c->head + c->nbytes, data, take);
        c->nbytes += take, data += take, n -= take;
    }
    if (n > CAPTURE_TAIL) { // only the last of it can stay
        c->nbytes += n - CAPTURE_TAIL;
        data += n - CAPTURE_TAIL;
        n = CAPTURE_TAIL;
    }
    while (n > 0) {
        size_t at = (c->nbytes - CAPTURE_HEAD) % CAPTURE_TAIL;
        size_t room = CAPTURE_TAIL - at, take = n < room ? n : room;
        memcpy(c->tail + at, data, take);
        c->nbytes += take, data += take, n -= take;
    }
}

bool capture_drain(struct capture *c, int fd)
{
    char chunk[64 << 10];
    // Bounded, so that a flood cannot keep us from looking at the clock.
    for (int i = 0; i < 16; i++) {
        ssize_t n = read(fd, chunk, sizeof chunk);
        if (n == 0)
            return false;
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        capture_add(c, chunk, (size_t)n);
    }
    return true;
}

// Copies the ring's content in order; returns its length.
static size_t unroll(const struct capture *c, char *out)
{
    if (c->nbytes <= CAPTURE_HEAD)
        return 0;
    size_t n = c->nbytes - CAPTURE_HEAD;
    if (n <= CAPTURE_TAIL) {
        memcpy(out, c->tail, n);
        return n;
    }
    size_t at = n % CAPTURE_TAIL;
    memcpy(out, c->tail + at, CAPTURE_TAIL - at);
    memcpy(out + CAPTURE_TAIL - at, c->tail, at);
    return CAPTURE_TAIL;
}

char *capture_text(const struct capture *c)
{
    char *text = malloc(CAPTURE_HEAD + CAPTURE_TAIL + 80);
    if (!text)
        return NULL;
    size_t n = c->nbytes < CAPTURE_HEAD ? c->nbytes : CAPTURE_HEAD;
    memcpy(text, c->head, n);
    if (c->nbytes > CAPTURE_HEAD + CAPTURE_TAIL)
        n += (size_t)sprintf(text + n, "\n[... %zu bytes left out ...]\n",
                             c->nbytes - CAPTURE_HEAD - CAPTURE_TAIL);
    n += unroll(c, text + n);
    text[n] = '\0';
    return text;
}

void capture_last(const struct capture *c, char *out, size_t out_bytes)
{
    char *text = capture_text(c);
    size_t n = text ? strlen(text) : 0;
    // A NUL in the output ends what is shown; so does a missing buffer.
    size_t from = n > out_bytes - 1 ? n - (out_bytes - 1) : 0;
    while (from < n && ((unsigned char)text[from] & 0xc0) == 0x80)
        from++;
    printable(text ? text + from : "", n - from, out, out_bytes);
    free(text);
}

// Length of the valid UTF-8 sequence at s, 0 when it is none.
static size_t utf8_length(const unsigned char *s, size_t n)
{
    size_t len = s[0] < 0x80                   ? 1
                 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                 : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                               : 0;
    if (len == 0 || len > n)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return len;
}

// U+0080..U+009F control a terminal; U+202A..U+202E and U+2066..U+2069 turn
// the direction of what follows.
static bool is_control(const unsigned char *s, size_t len)
{
    if (len == 1)
        return (s[0] < 0x20 && s[0] != '\n' && s[0] != '\t') || s[0] == 0x7f;
    if (len == 2)
        return s[0] == 0xc2 && s[1] < 0xa0;
    return len == 3 && s[0] == 0xe2 &&
           ((s[1] == 0x80 && s[2] >= 0xaa && s[2] <= 0xae) ||
            (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9));
}

void printable(const char *in, size_t n, char *out, size_t out_bytes)
{
    const unsigned char *s = (const unsigned char *)in;
    size_t used = 0;
    for (size_t i = 0; i < n;) {
        size_t len = utf8_length(s + i, n - i);
        bool keep = len > 0 && !is_control(s + i, len);
        size_t need = keep ? len : 1;
        if (used + need >= out_bytes)
            break;
        if (keep)
            memcpy(out + used, s + i, len);
        else
            out[used] = '?';
        used += need;
        i += len ? len : 1;
    }
    out[used] = '\0';
}
