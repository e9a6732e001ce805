// Hands the traces of blocks to L2, lowest block first.
#pragma once

#include "watch_state.h"

// l2: NULL when the launch counts nothing.
void queue_begin(struct l2_queue *, struct l2 *, bool by_block);
// A part of a block that goes on: fed at once.
void queue_part(struct l2_queue *, struct trace *);
// A block has ended: its trace is fed in its turn, and emptied.
void queue_block(struct l2_queue *, struct trace *);
struct l2_counts queue_end(struct l2_queue *);
