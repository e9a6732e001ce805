// From a dotted opcode to its row in the table: base and modifiers must be
// what the row asks for, anything else what it allows.
#include <string.h>

#include "control.h"

enum { MAX_MODIFIERS = 16, MAX_MODIFIER = 40 };

struct dotted {
    char word[MAX_MODIFIERS + 1][MAX_MODIFIER]; // [0]: the base
    unsigned n;
};

static bool split(const char *opcode, struct dotted *out)
{
    out->n = 0;
    for (const char *p = opcode;; p++) {
        size_t n = strcspn(p, ".");
        if (n >= MAX_MODIFIER || out->n > MAX_MODIFIERS)
            return false;
        memcpy(out->word[out->n], p, n);
        out->word[out->n++][n] = 0;
        p += n;
        if (*p == 0)
            return true;
    }
}

// Whether `word` is one of the words of list, which `separators` part.
static bool listed(const char *list, const char *word, size_t nlist,
                   const char *separators)
{
    size_t n = strlen(word);
    for (const char *p = list, *end = list + nlist; p < end;) {
        size_t len = strcspn(p, separators);
        if (len > (size_t)(end - p))
            len = (size_t)(end - p);
        if (len == n && memcmp(p, word, n) == 0)
            return true;
        p += len + 1;
    }
    return false;
}

struct option_class {
    const char *name, *words;
};
static const struct option_class classes[] = {
    {"@space", "global shared shared::cta shared::cluster local const param "
               "param::entry param::func"},
    {"@mem", "global shared shared::cta shared::cluster local const param "
             "param::entry param::func weak relaxed acquire release acq_rel "
             "sc volatile mmio cta cluster gpu sys ca cg cs lu cv wb wt nc "
             "L1 L2 unified"},
    {"@order", "weak relaxed acquire release acq_rel sc"},
    {"@scope", "cta cluster gpu sys"},
    {"@integer", "eq ne lt le gt ge lo ls hi hs and or xor"},
    {"@float", "eq ne lt le gt ge equ neu ltu leu gtu geu num nan and or xor"},
};

static bool in_class(const char *name, size_t n, const char *word)
{
    for (size_t k = 0; k < sizeof classes / sizeof *classes; k++) {
        if (strlen(classes[k].name) != n || memcmp(classes[k].name, name, n))
            continue;
        if (strcmp(classes[k].name, "@mem") == 0 &&
            (strncmp(word, "L1::", 4) == 0 || strncmp(word, "L2::", 4) == 0))
            return true; // L1::evict_last, L2::128B: hints
        return listed(classes[k].words, word, strlen(classes[k].words), " ");
    }
    return false;
}

static bool allowed(const char *options, const char *word)
{
    for (const char *p = options; *p;) {
        size_t n = strcspn(p, " ");
        if (*p == '@' ? in_class(p, n, word)
                      : strlen(word) == n && memcmp(p, word, n) == 0)
            return true;
        p += n + (p[n] == ' ');
    }
    return false;
}

static bool matches(const struct op *op, const struct dotted *d)
{
    const char *want = op->pattern;
    size_t n = strcspn(want, ".");
    if (!listed(want, d->word[0], n, "|."))
        return false;
    want += n + (want[n] == '.');
    for (unsigned k = 1; k < d->n; k++) {
        n = strcspn(want, ".");
        if (n > 0 && listed(want, d->word[k], n, "|."))
            want += n + (want[n] == '.');
        else if (!allowed(op->options, d->word[k]))
            return false;
    }
    return *want == 0;
}

struct flag_word {
    const char *word;
    uint16_t flag;
};
static const struct flag_word flag_words[] = {
    {"ftz", F_FTZ},
    {"sat", F_SAT},
    {"rn", ROUND_RN << 2},
    {"rz", ROUND_RZ << 2},
    {"rm", ROUND_RM << 2},
    {"rp", ROUND_RP << 2},
    {"rna", ROUND_RNA << 2},
    {"rni", ROUND_RN << 2 | F_INTEGRAL},
    {"rzi", ROUND_RZ << 2 | F_INTEGRAL},
    {"rmi", ROUND_RM << 2 | F_INTEGRAL},
    {"rpi", ROUND_RP << 2 | F_INTEGRAL},
    {"relu", F_RELU},
    {"NaN", F_NAN},
    {"xorsign", F_XORSIGN},
    {"satfinite", F_SATFINITE},
    {"approx", F_APPROX},
    {"abs", F_ABS},
};

int opcode_find(const char *opcode, int from, uint16_t *flags)
{
    struct dotted d;
    if (!split(opcode, &d))
        return -1;
    *flags = 0;
    for (unsigned k = 1; k < d.n; k++)
        for (size_t f = 0; f < sizeof flag_words / sizeof *flag_words; f++)
            if (strcmp(d.word[k], flag_words[f].word) == 0)
                *flags |= flag_words[f].flag;
    for (int row = from; ops_base[row].pattern; row++)
        if (matches(&ops_base[row], &d))
            return row;
    return -1;
}

bool opcode_has(const char *opcode, const char *modifiers)
{
    size_t n = strlen(modifiers);
    for (const char *p = strchr(opcode, '.'); p; p = strchr(p, '.')) {
        p++;
        if (strncmp(p, modifiers, n) == 0 && (p[n] == 0 || p[n] == '.'))
            return true;
    }
    return false;
}
