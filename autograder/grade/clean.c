// Text from outside made fit for a terminal, JSON and XML.
#include "grade.h"

// Length of the UTF-8 sequence at p (1..4), 0 when it is not one: stray
// bytes, overlong forms, surrogates, past U+10FFFF.
static unsigned utf8_length(const unsigned char *p)
{
    static const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned n = p[0] < 0x80 ? 1
                 : p[0] >> 5 == 6 ? 2
                 : p[0] >> 4 == 14 ? 3
                 : p[0] >> 3 == 30 ? 4 : 0;
    unsigned code = n < 2 ? p[0] : p[0] & (0x7fu >> n);
    for (unsigned i = 1; i < n; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    // C1 controls (U+0080..9F) can drive a terminal as escapes do.
    bool control = (code < 0x20 && code != '\n') || (code >= 0x7f && code < 0xa0);
    bool noncharacter = (code & 0xfffe) == 0xfffe;
    return !n || control || code < least[n] || surrogate || noncharacter ||
                   code > 0x10ffff
               ? 0
               : n;
}

void text_clean(char *out, size_t room, const char *text, bool one_line)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = 0;
    while (*p && room) {
        unsigned length = utf8_length(p);
        bool blank = *p == '\t' || (*p == '\n' && one_line);
        if (n + (length ? length : 1) + 1 > room)
            break;
        for (unsigned i = 0; i < length && !blank; i++)
            out[n++] = (char)p[i];
        if (blank)
            out[n++] = ' ';
        else if (!length && *p != '\r')
            out[n++] = '?';
        p += length ? length : 1;
    }
    if (room)
        out[n] = '\0';
}
