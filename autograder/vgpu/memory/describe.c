// Findings in one sentence for a person:
//
//   thread 33 of block 0 read 4 bytes at a[1056], 128 bytes past the end of
//   the 4096-byte allocation #3 (a)
#include "watch_state.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- text ------------------------------------------------------------------

static void add(struct finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct finding *f, const char *format, ...)
{
    size_t used = strlen(f->message);
    va_list list;
    va_start(list, format);
    vsnprintf(f->message + used, sizeof f->message - used, format, list);
    va_end(list);
}

// "7", or "(7, 0, 2)" where there is more than one dimension.
static void add_index(struct finding *f, const uint32_t index[3],
                      const uint32_t size[3])
{
    if (size[1] <= 1 && size[2] <= 1)
        add(f, "%" PRIu32, index[0]);
    else
        add(f, "(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", index[0], index[1],
            index[2]);
}

static void add_who(struct finding *f, const struct launch *launch)
{
    add(f, "thread ");
    add_index(f, f->thread, launch->block);
    add(f, " of block ");
    add_index(f, f->block, launch->grid);
}

static void add_did(struct finding *f, const struct mem_access *a)
{
    static const char *const VERBS[] = {
        [ACCESS_LOAD] = "read", [ACCESS_STORE] = "wrote",
        [ACCESS_ATOMIC] = "atomically updated"};
    add(f, " %s %" PRIu32 " byte%s", VERBS[a->kind], a->nbytes,
        a->nbytes == 1 ? "" : "s");
}

static void add_allocation(struct finding *f, const struct allocation *a)
{
    add(f, "the %" PRIu64 "-byte allocation #%" PRIu64, a->nbytes, a->serial);
    if (a->label)
        add(f, " (%s)", a->label);
}

// Size of one element of the access: "ld.global.v4.f32" of 16 bytes has 4.
static uint32_t element_bytes(const struct mem_access *a)
{
    uint32_t n = a->nbytes;
    const char *opcode = a->inst ? a->inst->opcode : "";
    if (strstr(opcode, ".v2") && n % 2 == 0)
        return n / 2;
    if (strstr(opcode, ".v4") && n % 4 == 0)
        return n / 4;
    return n;
}

// " at a[1056]", or nothing where the allocation has no name.
static void add_element(struct finding *f, const struct mem_access *m,
                        const struct allocation *a)
{
    int64_t offset = (int64_t)(f->addr - a->base);
    int64_t size = element_bytes(m);
    if (!a->label)
        return;
    if (offset % size == 0)
        add(f, " at %s[%" PRId64 "]", a->label, offset / size);
    else
        add(f, " at byte %" PRId64 " of %s", offset, a->label);
}

// "128 bytes past the end of "; distance as in struct finding.
static void add_distance(struct finding *f, int64_t distance, bool across)
{
    if (across)
        add(f, "across the end of ");
    else if (distance == 0)
        add(f, "just past the end of ");
    else if (distance > 0)
        add(f, "%" PRId64 " byte%s past the end of ", distance,
            distance == 1 ? "" : "s");
    else
        add(f, "%" PRId64 " byte%s before the start of ", -distance,
            distance == -1 ? "" : "s");
}

// ---- one kind each -----------------------------------------------------------

static void bounds_global(struct finding *f, const struct mem_access *m,
                          const struct allocation *a)
{
    if (f->addr < 0x10000) {
        add(f, " through a null pointer (address 0x%" PRIx64 ")", f->addr);
    } else if (!a) {
        add(f, " at 0x%" PRIx64 ", where nothing is allocated", f->addr);
    } else {
        bool across = f->addr >= a->base && f->addr < a->base + a->nbytes;
        add_element(f, m, a);
        add(f, a->label ? ", " : " ");
        add_distance(f, f->distance, across);
        add_allocation(f, a);
    }
}

static void bounds_shared(struct finding *f, const struct block_view *block)
{
    bool across = f->addr < block->shared_bytes;
    add(f, " at offset %" PRIu64 " of shared memory, ", f->addr);
    add_distance(f, f->distance, across);
    add(f, "the block's %" PRIu32 " bytes", block->shared_bytes);
}

static void wrong_space(struct finding *f, const struct allocation *a, int device)
{
    if (!a)
        add(f, " at 0x%" PRIx64 ", a pointer to host memory: device code "
               "reaches only memory that CUDA allocated", f->addr);
    else
        add(f, " at 0x%" PRIx64 ", memory of device %d, which device %d may not "
               "reach: call cudaDeviceEnablePeerAccess first",
            f->addr, a->device, device);
}

static void inside(struct finding *f, const struct mem_access *m,
                   const struct allocation *a, const char *but)
{
    if (!a)
        return;
    add_element(f, m, a);
    if (!a->label)
        add(f, " at byte %" PRIu64, f->addr - a->base);
    add(f, " of ");
    add_allocation(f, a);
    add(f, ", %s", but);
}

static void uninitialized(struct finding *f, const struct mem_access *m,
                          const struct allocation *a)
{
    if (m->space == SPACE_SHARED)
        add(f, " at offset %" PRIu64 " of shared memory, which no thread of "
               "the block has written", f->addr);
    else
        inside(f, m, a, "which nobody has written");
}

void describe(struct finding *f, const struct event *e, struct what what,
              const struct allocation *a)
{
    const struct mem_access *m = e->access;
    add_who(f, e->watch->launch);
    add_did(f, m);
    switch (what.kind) {
    case FINDING_OUT_OF_BOUNDS:
        if (m->space == SPACE_SHARED)
            bounds_shared(f, e->warp->block);
        else
            bounds_global(f, m, a);
        break;
    case FINDING_MISALIGNED:
        add(f, " at %s0x%" PRIx64 ", which is not a multiple of %" PRIu32,
            m->space == SPACE_SHARED ? "shared " : "", f->addr, m->align);
        break;
    case FINDING_USE_AFTER_FREE:
        inside(f, m, a, "which was freed before");
        break;
    case FINDING_READ_ONLY:
        inside(f, m, a, "which is constant");
        break;
    case FINDING_WRONG_SPACE:
        wrong_space(f, a, e->watch->launch->device);
        break;
    case FINDING_UNINITIALIZED:
        uninitialized(f, m, a);
        break;
    default:
        break;
    }
}

// ---- races -------------------------------------------------------------------

static void add_thread(struct finding *f, const struct launch *launch,
                       uint32_t thread)
{
    const uint32_t *size = launch->block;
    uint32_t index[3] = {thread % size[0], thread / size[0] % size[1],
                         thread / size[0] / size[1]};
    add(f, "thread ");
    add_index(f, index, size);
}

static void add_other(struct finding *f, const struct launch *launch,
                      const struct race *race, const char *place)
{
    static const char *const VERBS[] = {
        [ACCESS_LOAD] = "read", [ACCESS_STORE] = "wrote",
        [ACCESS_ATOMIC] = "updated"};
    const struct race_side *other = &race->earlier;
    const uint32_t *size = launch->grid;
    uint32_t block = (uint32_t)other->block;
    uint32_t index[3] = {block % size[0], block / size[0] % size[1],
                         block / size[0] / size[1]};
    add(f, " that ");
    add_thread(f, launch, other->thread);
    if (other->block != race->later.block) {
        add(f, " of block ");
        add_index(f, index, size);
    }
    add(f, " %s", VERBS[other->kind]);
    if (*place)
        add(f, " at %s", place);
}

// What would have ordered the two.
static const char *missing(const struct race *race)
{
    const struct race_side *a = &race->later, *b = &race->earlier;
    if (a->block != b->block)
        return "and nothing orders the two blocks";
    return a->thread / LANES == b->thread / LANES
               ? "with no __syncwarp() or barrier between"
               : "with no barrier between";
}

void describe_race(struct finding *f, const struct watch *w,
                   const struct race *race, const char *other)
{
    struct mem_access access = {.kind = race->later.kind,
                                .nbytes = race->later.nbytes,
                                .inst = race->later.inst};
    add_who(f, w->launch);
    add_did(f, &access);
    const struct allocation *a =
        race->shared ? NULL : memory_find(w->memory, race->addr);
    if (race->shared)
        add(f, " of shared memory");
    else if (a && a->label)
        add_element(f, &access, a);
    else
        add(f, " of device memory");
    add_other(f, w->launch, race, other);
    add(f, ", %s", missing(race));
}

void describe_leak(struct finding *f, const struct allocation *a)
{
    add_allocation(f, a);
    if (a->device >= 0)
        add(f, " on device %d", a->device);
    add(f, " was never freed");
}
