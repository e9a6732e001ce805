// Names come from students: any script, any bytes. What is kept and printed
// is valid UTF-8 without control characters.
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "class.h"

// The length of the UTF-8 sequence at `s` and its code point; 0 when the bytes
// are none: overlong, a surrogate, past U+10FFFF, or cut off.
static unsigned decode(const unsigned char *s, uint32_t *point)
{
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = s[0] < 0x80   ? 1
                 : s[0] < 0xC2 ? 0
                 : s[0] < 0xE0 ? 2
                 : s[0] < 0xF0 ? 3
                 : s[0] < 0xF5 ? 4
                               : 0;
    if (n == 0)
        return 0;
    *point = n == 1 ? s[0] : s[0] & (0x7Fu >> n);
    for (unsigned i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 0;
        *point = *point << 6 | (s[i] & 0x3F);
    }
    if (*point < least[n] || *point > 0x10FFFF ||
        (*point >= 0xD800 && *point < 0xE000))
        return 0;
    return n;
}

// C0, DEL, C1, and the marks that reverse or hide text on a terminal.
static bool is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7F && point < 0xA0) ||
           point == 0x2028 || point == 0x2029 ||
           (point >= 0x202A && point <= 0x202E) ||
           (point >= 0x2066 && point <= 0x2069);
}

static char *clean(const char *bytes, const char *allowed)
{
    const unsigned char *in = (const unsigned char *)bytes;
    char *out = malloc(3 * strlen(bytes) + 1), *at = out;

    if (!out)
        abort();
    while (*in) {
        uint32_t point = 0;
        unsigned n = decode(in, &point);
        if (n && (!is_control(point) || strchr(allowed, (int)point))) {
            memcpy(at, in, n);
            at += n;
        } else {
            n = n ? n : 1;
            for (unsigned i = 0; i < n; i++)
                at += sprintf(at, "%%%02X", in[i]);
        }
        in += n;
    }
    *at = '\0';
    return out;
}

char *text_clean(const char *bytes)
{
    return clean(bytes, "");
}

// Columns that a clean text takes on a terminal.
static unsigned columns_of(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned columns = 0;

    while (*s) {
        uint32_t point = 0;
        unsigned n = decode(s, &point);
        int width = n ? wcwidth((wchar_t)point) : 1;
        columns += width > 0 ? (unsigned)width : 0;
        s += n ? n : 1;
    }
    return columns;
}

void text_padded(FILE *out, const char *text, unsigned width)
{
    unsigned columns = columns_of(text);

    fprintf(out, "%s%*s", text, columns < width ? (int)(width - columns) : 0,
            "");
}

char *text_tail(const char *path, size_t limit)
{
    FILE *file = fopen(path, "rb");
    char *bytes = calloc(1, limit + 1);

    if (!bytes)
        abort();
    if (file) {
        if (fseek(file, -(long)limit, SEEK_END) != 0)
            rewind(file);
        size_t n = fread(bytes, 1, limit, file);
        for (size_t i = 0; i < n; i++)
            if (bytes[i] == '\0')
                bytes[i] = ' ';
        fclose(file);
    }
    char *text = clean(bytes, "\n");
    free(bytes);
    return text;
}

void text_now(char out[32])
{
    time_t now = time(NULL);
    struct tm utc;

    gmtime_r(&now, &utc);
    strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

char *text_format(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    int n = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (n < 0)
        abort();
    return text;
}
