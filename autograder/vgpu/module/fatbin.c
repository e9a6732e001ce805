// Fatbins: what nvcc packs into a program for each architecture.
//
//   region   u32 magic 0xBA55ED50; u16 1; u16 header size; u64 size
//   entry  0 u16 kind (1 PTX, 2 ELF); u16 0x0101; u32 header size
//          8 u32 payload size, padded; u32 0
//         16 u32 compressed size; u32 options; u32 version; u32 sm
//         32 u32 name offset; u32 name length
//         40 u64 flags; u64 0; u64 raw size
//          payload; the next entry follows
#include "fatbin.h"

#include <lz4.h>
#include <stdio.h>
#include <string.h>
#include <zstd.h>

#include "arena.h"

enum {
    MAGIC = 0xBA55ED50,
    REGION_HEADER = 16,
    ENTRY_HEADER = 64,
    KIND_PTX = 1,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH_SPECIFIC = 0x100000,
    LARGEST_PAYLOAD = 256 << 20,
};

struct entry {
    const uint8_t *payload;
    size_t payload_bytes, compressed_bytes, raw_bytes;
    unsigned kind, sm;
    uint64_t flags;
};

static uint64_t read_le(const uint8_t *at, unsigned nbytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < nbytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

// Reads the entry at *at and moves on; false when it is damaged.
static bool read_entry(const uint8_t **at, const uint8_t *end,
                       struct entry *out)
{
    const uint8_t *e = *at;
    if (end - e < ENTRY_HEADER)
        return false;
    uint64_t header = read_le(e + 4, 4), payload = read_le(e + 8, 8);
    uint64_t left = (uint64_t)(end - e);
    if (header < ENTRY_HEADER || header > left || payload > left - header)
        return false;
    *out = (struct entry){
        .payload = e + header,
        .payload_bytes = payload,
        .compressed_bytes = read_le(e + 16, 4),
        .raw_bytes = read_le(e + 56, 8),
        .kind = (unsigned)read_le(e, 2),
        .sm = (unsigned)read_le(e + 28, 4),
        .flags = read_le(e + 40, 8),
    };
    *at = e + header + payload;
    return true;
}

static bool arch_specific(const struct entry *entry)
{
    return entry->flags & FLAG_ARCH_SPECIFIC;
}

// PTX runs on its own capability and on later ones; an 'a' target on its own.
static bool runs_ptx(const struct entry *entry, unsigned capability,
                     bool device_specific)
{
    if (arch_specific(entry))
        return device_specific && entry->sm == capability;
    return entry->sm <= capability;
}

// Machine code runs within its major capability only.
static bool runs_cubin(const struct entry *entry, unsigned capability,
                       bool device_specific)
{
    return runs_ptx(entry, capability, device_specific) &&
           entry->sm / 10 == capability / 10;
}

static bool better(const struct entry *entry, const struct entry *best)
{
    if (!best->payload || entry->sm != best->sm)
        return !best->payload || entry->sm > best->sm;
    return arch_specific(entry) && !arch_specific(best);
}

// The entry's content with a NUL after it; NULL when damaged or too large.
static uint8_t *unpack(const struct entry *entry, struct arena *arena,
                       size_t *nbytes)
{
    bool zstd = entry->flags & FLAG_ZSTD, lz4 = entry->flags & FLAG_LZ4;
    size_t raw = zstd || lz4 ? entry->raw_bytes : entry->payload_bytes;
    size_t packed = entry->compressed_bytes;
    if (raw > LARGEST_PAYLOAD)
        return NULL;
    if ((zstd || lz4) && packed > entry->payload_bytes)
        return NULL;
    uint8_t *out = arena_alloc(arena, raw + 1);
    if (!out)
        return NULL;
    if (zstd) {
        if (ZSTD_decompress(out, raw, entry->payload, packed) != raw)
            return NULL;
    } else if (lz4) {
        int n = LZ4_decompress_safe((const char *)entry->payload, (char *)out,
                                    (int)packed, (int)raw);
        if (n < 0 || (size_t)n != raw)
            return NULL;
    } else {
        memcpy(out, entry->payload, raw);
    }
    *nbytes = raw;
    return out;
}

static enum module_status bad_image(char *message, const char *why)
{
    snprintf(message, MODULE_MESSAGE, "the device code is damaged: %s", why);
    return MODULE_BAD_IMAGE;
}

static enum module_status unpack_best(const struct entry *ptx,
                                      const struct entry *cubin,
                                      struct arena *arena, struct image *out,
                                      char *message)
{
    if (ptx->payload) {
        out->ptx = (const char *)unpack(ptx, arena, &out->ptx_bytes);
        if (!out->ptx)
            return bad_image(message, "its PTX cannot be unpacked");
        // Raw entries are padded with zeros.
        out->ptx_bytes = strnlen(out->ptx, out->ptx_bytes);
        out->capability = ptx->sm;
    }
    // Registers are a courtesy: a cubin that cannot be read is passed over.
    if (cubin->payload)
        out->cubin = unpack(cubin, arena, &out->cubin_bytes);
    return MODULE_OK;
}

// Plain text instead of a fatbin: as a just-in-time compiler takes it.
static enum module_status open_text(const char *text, size_t nbytes,
                                    struct arena *arena, struct image *out,
                                    char *message)
{
    if (nbytes > LARGEST_PAYLOAD)
        return bad_image(message, "the PTX is too large");
    char *copy = arena_alloc(arena, nbytes + 1);
    if (!copy) {
        snprintf(message, MODULE_MESSAGE, "out of memory for the PTX");
        return MODULE_NO_MEMORY;
    }
    memcpy(copy, text, nbytes);
    out->ptx = copy;
    out->ptx_bytes = strnlen(copy, nbytes);
    return MODULE_OK;
}

static bool is_text(const uint8_t *data, size_t nbytes)
{
    for (size_t i = 0; i < nbytes && i < REGION_HEADER; i++)
        if (data[i] < 9 || data[i] > 126)
            return false;
    return nbytes > 0;
}

enum module_status fatbin_open(const void *data, size_t nbytes,
                               unsigned capability, bool device_specific,
                               struct arena *arena, struct image *out,
                               char *message)
{
    const uint8_t *at = data;
    *out = (struct image){0};
    if (is_text(data, nbytes))
        return open_text(data, nbytes, arena, out, message);
    if (nbytes < REGION_HEADER || read_le(at, 4) != MAGIC)
        return bad_image(message, "it is no fatbin");
    uint64_t header = read_le(at + 6, 2), size = read_le(at + 8, 8);
    if (header < REGION_HEADER || header > nbytes || size > nbytes - header)
        return bad_image(message, "it is cut short");

    const uint8_t *end = at + header + size;
    struct entry entry, ptx = {0}, cubin = {0};
    for (at += header; at < end;) {
        if (!read_entry(&at, end, &entry))
            return bad_image(message, "an entry is cut short");
        if (entry.kind == KIND_PTX && better(&entry, &ptx) &&
            runs_ptx(&entry, capability, device_specific))
            ptx = entry;
        if (entry.kind == KIND_ELF && better(&entry, &cubin) &&
            runs_cubin(&entry, capability, device_specific))
            cubin = entry;
    }
    return unpack_best(&ptx, &cubin, arena, out, message);
}
