// Streams, events and synchronization, and device output on its way.
//
// Everything that a program asked for has been executed by the time that its
// next request is looked at, so nothing here ever waits: it keeps the books
// of modelled time.
#include "server.h"

#include <stdlib.h>
#include <string.h>

// ---- streams ---------------------------------------------------------------

int serve_STREAM_NEW(struct request *r)
{
    const struct wire_stream *body = r->body;
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    int id = timeline_add(&r->program->timeline, device, body->blocking != 0);
    if (id < 0)
        return CUDA_OUT_OF_MEMORY;
    ((struct wire_id *)r->reply)->id = (uint32_t)id;
    return CUDA_OK;
}

int serve_STREAM_FREE(struct request *r)
{
    const struct wire_id *body = r->body;
    struct timeline *t = &r->program->timeline;
    struct stream *stream = timeline_stream(t, body->id);
    if (!stream || body->id < WIRE_FIRST_STREAM)
        return CUDA_INVALID_HANDLE;
    // Its work goes on: whoever waits for the device waits for that, too.
    struct stream *legacy = timeline_stream(t, (uint32_t)stream->device);
    if (stream->end > legacy->end)
        legacy->end = stream->end;
    stream->live = false;
    return CUDA_OK;
}

int serve_SYNC(struct request *r)
{
    const struct wire_sync *body = r->body;
    struct timeline *t = &r->program->timeline;
    if (body->stream == WIRE_ALL_STREAMS) {
        int device = request_device(r, body->device);
        if (device < 0)
            return CUDA_INVALID_DEVICE;
        timeline_wait(t, device, NULL);
        return CUDA_OK;
    }
    const struct stream *stream = timeline_stream(t, (uint32_t)body->stream);
    if (!stream)
        return CUDA_INVALID_HANDLE;
    timeline_wait(t, request_device(r, stream->device), stream);
    return CUDA_OK;
}

int serve_RESET(struct request *r)
{
    const struct wire_device *body = r->body;
    struct program *p = r->program;
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    timeline_wait(&p->timeline, device, NULL);
    // What else the device holds for the program goes with it: modules make
    // their variables anew when they are used again.
    for (unsigned m = 0; m < p->nmodules; m++) {
        free(p->modules[m].var_addr[device]);
        p->modules[m].var_addr[device] = NULL;
    }
    struct memory *memory = p->server->memory;
    for (size_t i = p->nowned; i-- > 0;) {
        const struct allocation *a = memory_find(memory, p->owned[i].addr);
        if (a && a->device == device)
            release_owned(p, i);
    }
    // As an H200 behaves: a reset succeeds after a fault, but the process can
    // not use the device again.
    if (p->sticky[device])
        p->sticky[device] = CUDA_UNAVAILABLE;
    return CUDA_OK;
}

// ---- events ----------------------------------------------------------------

static struct event *event_at(const struct program *p, uint32_t id)
{
    return id < p->nevents && p->events[id].live ? &p->events[id] : NULL;
}

int serve_EVENT_NEW(struct request *r)
{
    const struct wire_device *body = r->body;
    struct program *p = r->program;
    int device = request_device(r, body->device);
    if (device < 0)
        return CUDA_INVALID_DEVICE;
    unsigned id = 0;
    while (id < p->nevents && p->events[id].live)
        id++;
    if (id == p->nevents) {
        unsigned room = p->nevents ? 2 * p->nevents : 64;
        if (room > MAX_EVENTS)
            return CUDA_OUT_OF_MEMORY;
        void *more = realloc(p->events, room * sizeof *p->events);
        if (!more)
            return CUDA_OUT_OF_MEMORY;
        p->events = more;
        memset(p->events + p->nevents, 0,
               (room - p->nevents) * sizeof *p->events);
        p->nevents = room;
    }
    p->events[id] = (struct event){.live = true, .device = device};
    ((struct wire_id *)r->reply)->id = id;
    return CUDA_OK;
}

int serve_EVENT_FREE(struct request *r)
{
    const struct wire_id *body = r->body;
    struct event *event = event_at(r->program, body->id);
    if (!event)
        return CUDA_INVALID_HANDLE;
    event->live = false;
    return CUDA_OK;
}

int serve_EVENT_RECORD(struct request *r)
{
    const struct wire_event *body = r->body;
    struct program *p = r->program;
    struct event *event = event_at(p, body->event);
    struct stream *stream = timeline_stream(&p->timeline, body->stream);
    if (!event || !stream)
        return CUDA_INVALID_HANDLE;
    request_device(r, stream->device);
    event->recorded = true;
    event->ns = timeline_ready(&p->timeline, stream);
    return CUDA_OK;
}

int serve_EVENT_WAIT(struct request *r)
{
    const struct wire_event *body = r->body;
    struct program *p = r->program;
    const struct event *event = event_at(p, body->event);
    struct stream *stream = timeline_stream(&p->timeline, body->stream);
    if (!event || !stream)
        return CUDA_INVALID_HANDLE;
    if (event->recorded && event->ns > stream->end)
        stream->end = event->ns;
    return CUDA_OK;
}

int serve_EVENT_SYNC(struct request *r)
{
    const struct wire_id *body = r->body;
    struct program *p = r->program;
    const struct event *event = event_at(p, body->id);
    if (!event)
        return CUDA_INVALID_HANDLE;
    request_device(r, event->device);
    if (event->recorded && event->ns > p->timeline.host)
        p->timeline.host = event->ns;
    return CUDA_OK;
}

int serve_EVENT_TIME(struct request *r)
{
    const struct wire_event_pair *body = r->body;
    const struct event *start = event_at(r->program, body->start);
    const struct event *end = event_at(r->program, body->end);
    if (!start || !end || !start->recorded || !end->recorded)
        return CUDA_INVALID_HANDLE;
    request_device(r, end->device);
    // The host has not waited so long: on a GPU the event is yet to come.
    double host = r->program->timeline.host;
    if (start->ns > host || end->ns > host)
        return CUDA_NOT_READY;
    ((struct wire_elapsed *)r->reply)->ns = end->ns - start->ns;
    return CUDA_OK;
}

// ---- device output ---------------------------------------------------------

void print_keep(struct program *p, const char *text, size_t n)
{
    if (!p->print && !(p->print = malloc(PRINT_BYTES)))
        return;
    if (n > PRINT_BYTES) {
        text += n - PRINT_BYTES;
        n = PRINT_BYTES;
    }
    for (size_t done = 0; done < n;) {
        size_t at = (p->print_first + p->print_bytes + done) % PRINT_BYTES;
        size_t part = n - done < PRINT_BYTES - at ? n - done : PRINT_BYTES - at;
        memcpy(p->print + at, text + done, part);
        done += part;
    }
    p->print_bytes += n;
    if (p->print_bytes > PRINT_BYTES) { // the oldest was overwritten
        p->print_first += p->print_bytes - PRINT_BYTES;
        p->print_first %= PRINT_BYTES;
        p->print_bytes = PRINT_BYTES;
    }
}

// Hands a stretch of it over in the staging area.
int serve_TAKE_PRINT(struct request *r)
{
    struct program *p = r->program;
    size_t n = PRINT_BYTES - p->print_first;
    n = n < p->print_bytes ? n : p->print_bytes;
    n = n < WIRE_STAGING ? n : WIRE_STAGING;
    if (n)
        memcpy(p->staging, p->print + p->print_first, n);
    p->print_first = (p->print_first + n) % PRINT_BYTES;
    p->print_bytes -= n;
    ((struct wire_id *)r->reply)->id = (uint32_t)n;
    return CUDA_OK;
}
