// What stands behind cudaStream_t and cudaEvent_t.
#pragma once

#include "runtime.h"

struct CUstream_st {
    bool live;
    uint32_t id;       // the server's
    int device, priority;
    unsigned flags;
    unsigned long long serial; // cudaStreamGetId
};

struct CUevent_st {
    bool live, recorded;
    uint32_t id;
    int device;
    unsigned flags;
};

// A free one, marked live; NULL when all are taken.
struct CUstream_st *rt_new_stream(void);
struct CUevent_st *rt_new_event(void);
// NULL unless the handle is of a live one.
struct CUstream_st *rt_find_stream(cudaStream_t);
struct CUevent_st *rt_find_event(cudaEvent_t);
