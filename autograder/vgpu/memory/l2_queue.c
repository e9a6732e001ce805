#include "l2_queue.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WAITING = 4096 }; // traces; beyond that the order gives way

void queue_begin(struct l2_queue *q, struct l2 *l2, bool by_block)
{
    q->l2 = l2;
    q->by_block = by_block;
    q->counts = (struct l2_counts){0};
    q->next_block = 0;
}

static void feed_waiting(struct l2_queue *q)
{
    struct trace *first = q->waiting;
    q->waiting = first->next;
    q->nwaiting--;
    q->next_block = first->block + 1;
    l2_feed(q->l2, first, &q->counts);
    free(first);
}

// Keeps a copy, as long as its entries only, by block.
static bool wait_in_line(struct l2_queue *q, const struct trace *t)
{
    size_t nbytes = offsetof(struct trace, entries) + t->n * sizeof *t->entries;
    struct trace *copy = malloc(nbytes);
    if (!copy)
        return false;
    memcpy(copy, t, nbytes);
    struct trace **at = &q->waiting;
    while (*at && (*at)->block < t->block)
        at = &(*at)->next;
    copy->next = *at;
    *at = copy;
    q->nwaiting++;
    return true;
}

void queue_part(struct l2_queue *q, struct trace *t)
{
    pthread_mutex_lock(&q->lock);
    l2_feed(q->l2, t, &q->counts);
    pthread_mutex_unlock(&q->lock);
    t->n = 0;
}

void queue_block(struct l2_queue *q, struct trace *t)
{
    pthread_mutex_lock(&q->lock);
    bool waits = q->by_block && t->block > q->next_block && wait_in_line(q, t);
    if (!waits) {
        l2_feed(q->l2, t, &q->counts);
        if (t->block == q->next_block)
            q->next_block++;
    }
    while (q->waiting && (q->waiting->block <= q->next_block ||
                          q->nwaiting > MAX_WAITING))
        feed_waiting(q);
    pthread_mutex_unlock(&q->lock);
    t->n = 0;
}

struct l2_counts queue_end(struct l2_queue *q)
{
    while (q->waiting)
        feed_waiting(q);
    return q->counts;
}
