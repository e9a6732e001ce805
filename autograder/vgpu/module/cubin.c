// Registers a thread, out of a cubin.
//
// A cubin is an ELF64 file. Its section .nv.info is a list of attributes:
//
//   u8 format; u8 attribute; u16 n     format 4: n bytes follow, else n is
//                                      the value
//
// Attribute 0x2f (register count) holds u32 symbol index; u32 registers.
#include <elf.h>
#include <string.h>

#include "fatbin.h"

enum { FORMAT_SIZED = 4, ATTRIBUTE_REGCOUNT = 0x2f };

struct span {
    const uint8_t *at;
    size_t nbytes;
};

// A copy of element `index` of `size` bytes; false past the end.
static bool element(struct span span, size_t index, size_t size, void *out)
{
    if (index >= span.nbytes / size)
        return false;
    memcpy(out, span.at + index * size, size);
    return true;
}

static struct span slice(struct span span, uint64_t offset, uint64_t nbytes)
{
    if (offset > span.nbytes || nbytes > span.nbytes - offset)
        return (struct span){0};
    return (struct span){span.at + offset, nbytes};
}

// The string at `offset`, or NULL where it does not end.
static const char *string_at(struct span strings, uint64_t offset)
{
    if (offset >= strings.nbytes)
        return NULL;
    const uint8_t *at = strings.at + offset;
    return memchr(at, 0, strings.nbytes - offset) ? (const char *)at : NULL;
}

struct cubin {
    struct span file, headers, names;
    struct span symbols, symbol_names, info;
};

static struct span section(const struct cubin *cubin, const Elf64_Shdr *header)
{
    if (header->sh_type == SHT_NOBITS)
        return (struct span){0};
    return slice(cubin->file, header->sh_offset, header->sh_size);
}

static bool open_headers(struct cubin *cubin)
{
    Elf64_Ehdr elf;
    Elf64_Shdr names;
    if (!element(cubin->file, 0, sizeof elf, &elf) ||
        memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
        elf.e_ident[EI_CLASS] != ELFCLASS64 ||
        elf.e_shentsize != sizeof(Elf64_Shdr))
        return false;
    cubin->headers = slice(cubin->file, elf.e_shoff,
                           elf.e_shnum * (uint64_t)sizeof(Elf64_Shdr));
    if (!element(cubin->headers, elf.e_shstrndx, sizeof names, &names))
        return false;
    cubin->names = section(cubin, &names);
    return true;
}

static void open_sections(struct cubin *cubin)
{
    Elf64_Shdr header, strings;
    for (size_t i = 0; element(cubin->headers, i, sizeof header, &header);
         i++) {
        const char *name = string_at(cubin->names, header.sh_name);
        if (header.sh_type == SHT_SYMTAB &&
            element(cubin->headers, header.sh_link, sizeof strings, &strings)) {
            cubin->symbols = section(cubin, &header);
            cubin->symbol_names = section(cubin, &strings);
        } else if (name && !strcmp(name, ".nv.info")) {
            cubin->info = section(cubin, &header);
        }
    }
}

void cubin_registers(const uint8_t *data, size_t nbytes,
                     void (*found)(void *, const char *, uint32_t), void *self)
{
    struct cubin cubin = {.file = {data, nbytes}};
    if (!open_headers(&cubin))
        return;
    open_sections(&cubin);

    size_t at = 0;
    while (cubin.info.nbytes - at >= 4) {
        const uint8_t *entry = cubin.info.at + at;
        size_t n = entry[0] == FORMAT_SIZED ? entry[2] | entry[3] << 8 : 0;
        at += 4;
        if (n > cubin.info.nbytes - at)
            return;
        uint32_t pair[2];
        Elf64_Sym symbol;
        if (entry[1] == ATTRIBUTE_REGCOUNT && n == sizeof pair) {
            memcpy(pair, entry + 4, sizeof pair);
            const char *name = NULL;
            if (element(cubin.symbols, pair[0], sizeof symbol, &symbol))
                name = string_at(cubin.symbol_names, symbol.st_name);
            if (name)
                found(self, name, pair[1]);
        }
        at += n;
    }
}
