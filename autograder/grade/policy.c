// Forbidden libraries: seen in what was included and in what the object
// needs, not by looking for words in the source.
//
// The object was made from hostile source, so every offset in it is checked.
#include "grade.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/text.h"

struct elf {
    const unsigned char *bytes;
    size_t n;
};

// A piece of the file, or NULL when it does not lie within.
static const void *piece(const struct elf *e, uint64_t at, uint64_t nbytes)
{
    return at <= e->n && nbytes <= e->n - at ? e->bytes + at : NULL;
}

static int section(const struct elf *e, unsigned index, Elf64_Shdr *out)
{
    Elf64_Ehdr head;
    const void *p = piece(e, 0, sizeof head);
    if (!p)
        return -1;
    memcpy(&head, p, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shentsize != sizeof *out ||
        index >= head.e_shnum)
        return -1;
    p = piece(e, head.e_shoff + (uint64_t)index * sizeof *out, sizeof *out);
    if (head.e_shoff > e->n || !p)
        return -1;
    memcpy(out, p, sizeof *out);
    return 0;
}

// A NUL-terminated string of a string table; NULL when it is none.
static const char *string_at(const struct elf *e, const Elf64_Shdr *table,
                             uint64_t at)
{
    const char *p = piece(e, table->sh_offset, table->sh_size);
    if (!p || at >= table->sh_size || !memchr(p + at, 0, table->sh_size - at))
        return NULL;
    return p + at;
}

static const char *undefined_symbol(const struct elf *e, const Elf64_Shdr *s,
                                    const Elf64_Shdr *strings, const char *name)
{
    for (uint64_t i = 0; i < s->sh_size / sizeof(Elf64_Sym); i++) {
        Elf64_Sym symbol;
        const void *p = piece(e, s->sh_offset + i * sizeof symbol, sizeof symbol);
        if (!p)
            return NULL;
        memcpy(&symbol, p, sizeof symbol);
        const char *text = string_at(e, strings, symbol.st_name);
        if (text && symbol.st_shndx == SHN_UNDEF && !strncmp(text, name, strlen(name)))
            return text;
    }
    return NULL;
}

static const char *needed_library(const struct elf *e, const Elf64_Shdr *s,
                                  const Elf64_Shdr *strings, const char *name)
{
    for (uint64_t i = 0; i < s->sh_size / sizeof(Elf64_Dyn); i++) {
        Elf64_Dyn d;
        const void *p = piece(e, s->sh_offset + i * sizeof d, sizeof d);
        if (!p)
            return NULL;
        memcpy(&d, p, sizeof d);
        const char *text = d.d_tag == DT_NEEDED
                               ? string_at(e, strings, d.d_un.d_val) : NULL;
        if (text && !strncmp(text, "lib", 3) &&
            !strncmp(text + 3, name, strlen(name)))
            return text;
    }
    return NULL;
}

// What of the forbidden library the object refers to; NULL if nothing.
static const char *object_uses(const struct elf *e, const char *name)
{
    Elf64_Shdr s, strings;
    const char *found = NULL;
    for (unsigned i = 0; !found && !section(e, i, &s); i++) {
        if ((s.sh_type != SHT_DYNSYM && s.sh_type != SHT_DYNAMIC) ||
            section(e, s.sh_link, &strings))
            continue;
        found = s.sh_type == SHT_DYNSYM
                    ? undefined_symbol(e, &s, &strings, name)
                    : needed_library(e, &s, &strings, name);
    }
    return found;
}

// A path in Make's dependency list one of whose parts begins with the name.
static bool includes(const char *dependencies, const char *name, char *out,
                     size_t room)
{
    size_t length = strlen(name);
    for (const char *p = dependencies; *p;) {
        size_t n = strcspn(p, " \\\n\t");
        for (size_t i = 0; i + length <= n; i++)
            if ((i == 0 || p[i - 1] == '/') && !strncmp(p + i, name, length)) {
                snprintf(out, room, "%.*s", (int)(n - i), p + i);
                return true;
            }
        p += n;
        p += strspn(p, " \\\n\t");
    }
    return false;
}

static struct elf map_object(const char *path)
{
    struct elf e = {NULL, 0};
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p != MAP_FAILED)
            e = (struct elf){p, (size_t)st.st_size};
    }
    if (fd >= 0)
        close(fd);
    return e;
}

void policy_check(const struct manifest *m, const char *dependencies,
                  const char *object, char *message)
{
    struct elf e = map_object(object);
    char *list = text_read(dependencies);
    message[0] = '\0';
    for (unsigned i = 0; i < m->policy.forbid_libraries_count && !message[0]; i++) {
        const char *name = m->policy.forbid_libraries[i];
        char header[256], symbol[256];
        const char *used = object_uses(&e, name);
        if (list && includes(list, name, header, sizeof header)) {
            text_clean(symbol, sizeof symbol, header, true);
            snprintf(message, GRADE_MESSAGE,
                     "includes %s, but this lab is to be done without %s",
                     symbol, name);
        } else if (used) {
            text_clean(symbol, sizeof symbol, used, true);
            snprintf(message, GRADE_MESSAGE,
                     "uses %s, but this lab is to be done without %s", symbol,
                     name);
        }
    }
    free(list);
    if (e.bytes)
        munmap((void *)e.bytes, e.n);
}
