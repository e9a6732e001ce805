// One judge at a time measures on a GPU.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Takes the lock on the GPU of this PCI bus id, a file that any user can
// lock; waits for it, and then says on stderr how many are ahead. Returns its
// descriptor, which gives the lock back when closed; -1 with a message.
int gpu_lock_take(const char *bus_id, char *message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
