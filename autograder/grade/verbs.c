// grade check, counters, explain: what the virtual GPU saw, for people.
#include "grade.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

void advice_free(struct advice *a)
{
    free(a->findings);
    free(a->launches);
    *a = (struct advice){0};
}

// ---- check ---------------------------------------------------------------------

static void print_finding(FILE *out, const struct style *s,
                          const struct grading *g, const struct finding *f)
{
    char message[sizeof f->message], file[sizeof f->file], kernel[sizeof f->kernel];
    text_clean(message, sizeof message, f->message, true);
    text_clean(file, sizeof file, f->file, true);
    text_clean(kernel, sizeof kernel, f->kernel, true);
    fprintf(out, "%s%s%s%s\n", paint(s, RED), s->plain ? "FINDING " : "✗ ",
            finding_name(f->kind), paint(s, PLAIN));
    print_wrapped(out, s, "    ", message);
    if (kernel[0])
        fprintf(out, "    kernel %s, block (%u, %u, %u), thread (%u, %u, %u)\n",
                kernel, f->block[0], f->block[1], f->block[2], f->thread[0],
                f->thread[1], f->thread[2]);
    if (file[0] && f->line) {
        const char *slash = strrchr(file, '/');
        fprintf(out, "    at ");
        print_place(out, g, slash ? slash + 1 : file, f->line);
        fputc('\n', out);
    }
    if (f->count > 1)
        fprintf(out, "    %llu accesses like it\n", (unsigned long long)f->count);
    fputc('\n', out);
}

// The same fault of the same line, seen in an earlier call.
static bool seen_before(const struct advice *a, unsigned i)
{
    const struct finding *f = &a->findings[i];
    for (unsigned k = 0; k < i; k++) {
        const struct finding *e = &a->findings[k];
        if (e->kind == f->kind && e->line == f->line && f->line &&
            !strcmp(e->kernel, f->kernel) && !strcmp(e->file, f->file))
            return true;
    }
    return false;
}

void print_findings(FILE *out, const struct style *s, const struct grading *g,
                    const struct advice *a)
{
    unsigned shown = 0;
    for (unsigned i = 0; i < a->nfindings; i++)
        if (!seen_before(a, i)) {
            print_finding(out, s, g, &a->findings[i]);
            shown++;
        }
    if (!shown)
        fprintf(out, "%sThe checker found nothing wrong in %u launches.%s\n",
                paint(s, GREEN), a->nlaunches, paint(s, PLAIN));
    else
        fprintf(out, "%u finding%s.\n", shown, shown == 1 ? "" : "s");
}

// ---- counters ------------------------------------------------------------------------

static uint64_t threads_of(const struct vgpu_launch *l)
{
    return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] * l->block[0] *
           l->block[1] * l->block[2];
}

// The largest launch of each kernel, in order of first launch.
static unsigned largest_launches(const struct advice *a,
                                 const struct vgpu_launch **out, unsigned room)
{
    unsigned n = 0;
    for (unsigned i = 0; i < a->nlaunches; i++) {
        const struct vgpu_launch *l = &a->launches[i];
        unsigned k = 0;
        while (k < n && strcmp(out[k]->kernel, l->kernel))
            k++;
        if (k == n && n == room)
            continue;
        if (k == n)
            out[n++] = l;
        else if (threads_of(l) > threads_of(out[k]))
            out[k] = l;
    }
    return n;
}

static void print_efficiency(FILE *out, const char *what, uint64_t requests,
                             uint64_t sectors, uint64_t bytes)
{
    if (requests)
        fprintf(out, "    %-24s %12llu requests, %llu sectors, %.1f %% of their "
                "bytes asked for\n", what, (unsigned long long)requests,
                (unsigned long long)sectors,
                sectors ? 100.0 * (double)bytes / (32.0 * (double)sectors) : 0.0);
}

static void print_launch(FILE *out, const struct style *s,
                         const struct grading *g, const struct vgpu_launch *l)
{
    const struct access_counters *c = &l->access;
    char kernel[sizeof l->kernel];
    text_clean(kernel, sizeof kernel, l->kernel, true);
    fprintf(out, "%s%s%s, grid %ux%ux%u, block %ux%ux%u\n", paint(s, BOLD),
            kernel, paint(s, PLAIN), l->grid[0], l->grid[1], l->grid[2],
            l->block[0], l->block[1], l->block[2]);
    print_efficiency(out, "global loads", c->load_requests, c->load_sectors,
                     c->load_bytes);
    print_efficiency(out, "global stores", c->store_requests, c->store_sectors,
                     c->store_bytes);
    if (c->shared_load_wavefronts || c->shared_store_wavefronts)
        fprintf(out, "    %-24s %12llu wavefronts, %llu of them conflicts\n",
                "shared memory",
                (unsigned long long)(c->shared_load_wavefronts +
                                     c->shared_store_wavefronts),
                (unsigned long long)(c->shared_load_conflicts +
                                     c->shared_store_conflicts));
    fprintf(out, "    %-24s %12llu of %llu branches divergent, %llu lanes lost\n",
            "branches", (unsigned long long)l->divergent_branches,
            (unsigned long long)l->branches,
            (unsigned long long)l->lanes_lost_to_branches);
    fprintf(out, "    %-24s %12u warps an SM, limited by %s\n", "occupancy",
            l->occupancy.warps_per_sm,
            l->occupancy_limiter[0] ? l->occupancy_limiter : "nothing known");
    fprintf(out, "    %-24s %12.2f us modelled for %s, limited by %s\n\n", "time",
            l->modelled_ns / 1e3, g->target.name, l->limiter);
}

void print_counters(FILE *out, const struct style *s, const struct grading *g,
                    const struct advice *a)
{
    const struct vgpu_launch *largest[32];
    unsigned n = largest_launches(a, largest, 32);
    for (unsigned i = 0; i < n; i++)
        print_launch(out, s, g, largest[i]);
    fprintf(out, n ? "The largest launch of each of %u kernel%s, of %u launches "
                     "in all.\n"
                   : "No kernel was launched.\n",
            n, n == 1 ? "" : "s", a->nlaunches);
}

// ---- explain: what costs most -----------------------------------------------------------

struct cost {
    double share;             // of the kernel's work that is wasted, 0..1
    const struct vgpu_launch *launch;
    char number[160];
    const char *cure;
};

static void add_cost(struct cost *costs, unsigned *n, unsigned room,
                     const struct vgpu_launch *l, double share,
                     const char *cure, const char *format, ...)
{
    if (!(share > 0.02) || *n == room)
        return;
    struct cost *c = &costs[(*n)++];
    *c = (struct cost){.share = share, .launch = l, .cure = cure};
    va_list args;
    va_start(args, format);
    vsnprintf(c->number, sizeof c->number, format, args);
    va_end(args);
}

static void costs_of(const struct vgpu_launch *l, struct cost *costs, unsigned *n,
                     unsigned room)
{
    const struct access_counters *c = &l->access;
    double sectors = (double)(c->load_sectors + c->store_sectors);
    double needed = (double)(c->load_bytes + c->store_bytes) / 32;
    double wavefronts = (double)(c->shared_load_wavefronts +
                                 c->shared_store_wavefronts);
    double conflicts = (double)(c->shared_load_conflicts +
                                c->shared_store_conflicts);
    double lanes = 32.0 * (double)l->warp_instructions;
    double lost = (double)l->lanes_lost_to_branches;
    double threads = l->block[0] * l->block[1] * l->block[2];
    double partial = threads > 0 ? 1 - threads / (32 * ceil(threads / 32)) : 0;

    add_cost(costs, n, room, l, sectors > 0 ? 1 - needed / sectors : 0,
             "let neighbouring threads touch neighbouring elements",
             "%.0f sectors moved where %.0f hold what was asked for", sectors,
             needed);
    add_cost(costs, n, room, l, wavefronts > 0 ? conflicts / wavefronts : 0,
             "pad the shared array by one column, or change who reads what",
             "%.0f of %.0f shared-memory wavefronts are bank conflicts",
             conflicts, wavefronts);
    add_cost(costs, n, room, l, lanes > 0 ? lost / lanes : 0,
             "let whole warps take the same side of a branch",
             "%.0f of %.0f lanes idle behind a branch", lost, lanes);
    add_cost(costs, n, room, l, partial, "make blocks a multiple of 32 threads",
             "blocks of %.0f threads leave lanes of their last warp empty",
             threads);
}

static int by_share(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    double dx = x->share * x->launch->modelled_ns;
    double dy = y->share * y->launch->modelled_ns;
    return (dx < dy) - (dx > dy);
}

// The line of the submission on which a kernel of this name is defined.
static bool find_kernel(const struct grading *g, const char *kernel,
                        const char **file, unsigned *line)
{
    char name[128];
    size_t length = strcspn(kernel, "(<");
    snprintf(name, sizeof name, "%.*s", (int)length, kernel);
    for (unsigned i = 0; i < g->manifest->submit_count; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", g->submission->folder,
                 g->manifest->submit[i]);
        char *source = text_read(path);
        const char *at = source ? strstr(source, "__global__") : NULL;
        while (at) {
            const char *found = strstr(at, name);
            size_t body = strcspn(at, "{;");
            if (found && (size_t)(found - at) < body) {
                *file = g->manifest->submit[i];
                *line = (unsigned)line_number(source, found);
                free(source);
                return true;
            }
            at = strstr(at + 1, "__global__");
        }
        free(source);
    }
    return false;
}

static void print_cost(FILE *out, const struct style *s, const struct grading *g,
                       unsigned rank, const struct cost *c)
{
    char kernel[sizeof c->launch->kernel];
    const char *file;
    unsigned line;
    text_clean(kernel, sizeof kernel, c->launch->kernel, true);
    fprintf(out, "%s%u. %s%s", paint(s, BOLD), rank, kernel, paint(s, PLAIN));
    if (find_kernel(g, c->launch->kernel, &file, &line)) {
        fputs("  ", out);
        print_place(out, g, file, line);
    }
    fputc('\n', out);
    print_wrapped(out, s, "   ", c->number);
    fprintf(out, "   cure: %s\n\n", c->cure);
}

void print_explanation(FILE *out, const struct style *s, const struct grading *g,
                       const struct advice *a)
{
    const struct vgpu_launch *largest[32];
    struct cost costs[128];
    unsigned n = 0, kernels = largest_launches(a, largest, 32);
    for (unsigned i = 0; i < kernels; i++)
        costs_of(largest[i], costs, &n, 128);
    qsort(costs, n, sizeof costs[0], by_share);
    for (unsigned i = 0; i < n && i < 3; i++)
        print_cost(out, s, g, i + 1, &costs[i]);
    if (!n)
        fprintf(out, "Nothing stands out: no sectors, banks or lanes are "
                "wasted.\n\n");
    for (unsigned i = 0; i < kernels; i++) {
        char kernel[256];
        text_clean(kernel, sizeof kernel, largest[i]->kernel, true);
        fprintf(out, "%s: %.2f us modelled for %s, limited by %s\n", kernel,
                largest[i]->modelled_ns / 1e3, g->target.name,
                largest[i]->limiter);
    }
}
