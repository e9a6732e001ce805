// When work would have started and ended on a GPU.
#include "timeline.h"

#include <stdlib.h>

enum { FIRST_ROOM = 16 };

static double later(double a, double b) { return a > b ? a : b; }

bool timeline_init(struct timeline *t, unsigned ndevices, double now)
{
    t->host = now;
    t->ndevices = ndevices;
    // The wire keeps eight numbers for the default streams, used or not.
    t->nstreams = TIMELINE_MAX_DEVICES;
    t->streams = calloc(FIRST_ROOM, sizeof *t->streams);
    if (!t->streams)
        return false;
    for (unsigned d = 0; d < ndevices; d++)
        t->streams[d] = (struct stream){.live = true, .blocking = true,
                                        .device = (int)d, .end = now};
    return true;
}

void timeline_free(struct timeline *t)
{
    free(t->streams);
    t->streams = NULL;
    t->nstreams = 0;
}

static int free_slot(const struct timeline *t)
{
    for (unsigned i = TIMELINE_MAX_DEVICES; i < t->nstreams; i++)
        if (!t->streams[i].live)
            return (int)i;
    return -1;
}

int timeline_add(struct timeline *t, int device, bool blocking)
{
    int id = free_slot(t);
    if (id < 0) {
        if (t->nstreams >= TIMELINE_MAX_STREAMS)
            return -1;
        // Room doubles each time that the count reaches a power of two.
        if (t->nstreams >= FIRST_ROOM && !(t->nstreams & (t->nstreams - 1))) {
            void *more = realloc(t->streams,
                                 2 * t->nstreams * sizeof *t->streams);
            if (!more)
                return -1;
            t->streams = more;
        }
        id = (int)t->nstreams++;
    }
    t->streams[id] = (struct stream){.live = true, .blocking = blocking,
                                     .device = device, .end = t->host};
    return id;
}

struct stream *timeline_stream(const struct timeline *t, uint32_t id)
{
    return id < t->nstreams && t->streams[id].live ? &t->streams[id] : NULL;
}

// The end of all blocking streams of a device, or of all its streams.
static double device_end(const struct timeline *t, int device, bool all)
{
    double end = 0;
    for (unsigned i = 0; i < t->nstreams; i++) {
        const struct stream *s = &t->streams[i];
        if (s->live && s->device == device && (all || s->blocking))
            end = later(end, s->end);
    }
    return end;
}

double timeline_ready(const struct timeline *t, const struct stream *s)
{
    double ready = later(t->host, s->end);
    const struct stream *legacy = &t->streams[s->device];
    if (s == legacy)
        return later(ready, device_end(t, s->device, false));
    return s->blocking ? later(ready, legacy->end) : ready;
}

void timeline_kernel(struct timeline *t, struct stream *s, struct engines *e,
                     double ns, double share)
{
    double start = later(timeline_ready(t, s), e->compute);
    s->end = start + ns;
    // A kernel that leaves room lets the next one start before it ends.
    e->compute = start + ns * share;
}

void timeline_copy(struct timeline *t, struct stream *s, struct engines *e,
                   enum copy_kind kind, double ns)
{
    double start = later(timeline_ready(t, s), e->copy[kind]);
    s->end = start + ns;
    e->copy[kind] = s->end;
}

void timeline_wait(struct timeline *t, int device, const struct stream *s)
{
    t->host = later(t->host, s ? timeline_ready(t, s)
                               : device_end(t, device, true));
}

double timeline_end(const struct timeline *t)
{
    double end = t->host;
    for (unsigned i = 0; i < t->nstreams; i++)
        if (t->streams[i].live)
            end = later(end, t->streams[i].end);
    return end;
}
