// The judge's side of a real GPU: build/lib/gpu_target.so, which is the only
// part that links CUDA, and is loaded only where a GPU is asked for.
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gpu_device; // one GPU and the lock on it, shared by a process's sessions

struct gpu_facts {
    char name[128];     // "NVIDIA H200"
    char uuid[64];      // "GPU-...", as CUDA_VISIBLE_DEVICES takes it
    double peak_gbs;    // DRAM, 10^9 bytes a second; 0: unknown
    uint64_t l2_bytes, free_bytes;
};

enum { GPU_HANDLE_BYTES = 64, GPU_MESSAGE = 512 };

// All return 0, or -1 with the CUDA error in gpu_api.error().
struct gpu_api {
    // which: an index as CUDA counts, or NULL for the idlest. Waits for the
    // lock on it. message: GPU_MESSAGE bytes.
    int (*open)(const char *which, struct gpu_device **, char *message);
    void (*close)(struct gpu_device *);
    int (*facts)(struct gpu_device *, struct gpu_facts *);
    const char *(*error)(struct gpu_device *);
    // nbytes: whole 2 MiB granules, zeroed; nothing else lies in them.
    int (*alloc)(struct gpu_device *, size_t nbytes, void **out);
    void (*release)(struct gpu_device *, void *, size_t nbytes); // scrubs it
    int (*handle)(struct gpu_device *, void *, uint8_t *handle);
    int (*write)(struct gpu_device *, void *to, const void *from, size_t n);
    int (*read)(struct gpu_device *, void *to, const void *from, size_t n);
    int (*fill)(struct gpu_device *, void *to, int byte, size_t n);
    // n floats, random_at(seed, i).
    int (*randomize)(struct gpu_device *, void *to, uint64_t seed, size_t n);
    // Where to gather from, told ahead: n addresses of element_bytes each.
    int (*plan_gather)(struct gpu_device *, const uint64_t *address, unsigned n,
                       unsigned element_bytes);
    // The elements, to `out`: one launch and one copy.
    int (*gather)(struct gpu_device *, void *out);
    // Evicts L2, and takes persisting lines back.
    int (*flush_l2)(struct gpu_device *);
    // 0: fit to measure; else why not, in message: others compute on it.
    int (*busy)(struct gpu_device *, char *message);
    // Overwrites all memory that is free, so that the next one finds nothing.
    int (*scrub)(struct gpu_device *);
};

extern const struct gpu_api gpu_target_api;

#ifdef __cplusplus
}
#endif
