// Copies and fills. What the server can address it copies by itself; host
// memory that it cannot see passes through the staging area, in pieces.
#include "runtime.h"

#include <string.h>

// ---- what goes where -------------------------------------------------------

static bool is_server(const void *p)
{
    return rt_is_server_address((uintptr_t)p);
}

// Whether the direction that the program names fits the addresses. Unified
// addressing would let a wrong one pass, but for host and device mixed up.
static cudaError_t check_kind(const struct rt_rows *rows)
{
    if ((unsigned)rows->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (rows->height > 1 &&
        (rows->width > rows->dst_pitch || rows->width > rows->src_pitch))
        return cudaErrorInvalidPitchValue;
    bool needs_dst = rows->kind == cudaMemcpyHostToDevice ||
                     rows->kind == cudaMemcpyDeviceToDevice;
    bool needs_src = rows->kind == cudaMemcpyDeviceToHost ||
                     rows->kind == cudaMemcpyDeviceToDevice;
    if ((needs_dst && !is_server(rows->dst)) ||
        (needs_src && !is_server(rows->src)))
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

// Several rows that lie without gaps are one.
static struct rt_rows flattened(const struct rt_rows *rows)
{
    struct rt_rows flat = *rows;
    size_t all;
    if (rows->height > 1 && rows->width == rows->dst_pitch &&
        rows->width == rows->src_pitch &&
        !__builtin_mul_overflow(rows->width, rows->height, &all)) {
        flat.width = all;
        flat.height = 1;
    }
    return flat;
}

// ---- both sides at the server ----------------------------------------------

static cudaError_t copy_direct(const struct rt_rows *rows, uint32_t stream)
{
    uint64_t dst = (uintptr_t)rows->dst, src = (uintptr_t)rows->src;
    // A copy that cannot go wrong need not be answered.
    bool post = !rows->wait && rows->height == 1 &&
                rt_is_known(dst, rows->width) && rt_is_known(src, rows->width);
    bool pinned = rt_is_registered(rows->dst, rows->width) ||
                  rt_is_registered(rows->src, rows->width);
    struct wire_copy body = {
        .dst = dst, .src = src, .dst_pitch = rows->dst_pitch,
        .src_pitch = rows->src_pitch, .width = rows->width,
        .height = rows->height, .stream = stream, .kind = WIRE_COPY_DIRECT,
        .flags = (post ? WIRE_POSTED : rows->wait ? WIRE_WAIT : 0) |
                 (pinned ? WIRE_PINNED : 0),
    };
    return post ? rt_post(WIRE_COPY, &body, sizeof body, NULL, 0)
                : rt_ask(WIRE_COPY, &body, sizeof body, NULL, 0);
}

// ---- through the staging area ----------------------------------------------

// The part of a copy that fits: rows first..first+height, from byte `at` of
// each, when a single row is longer than the area.
struct piece {
    size_t first, height, at, width;
};

static void gather(char *staging, const struct rt_rows *rows,
                   const struct piece *piece)
{
    for (size_t i = 0; i < piece->height; i++)
        memcpy(staging + i * piece->width,
               (const char *)rows->src +
                   (piece->first + i) * rows->src_pitch + piece->at,
               piece->width);
}

static void scatter(const struct rt_rows *rows, const struct piece *piece,
                    const char *staging)
{
    for (size_t i = 0; i < piece->height; i++)
        memcpy((char *)rows->dst + (piece->first + i) * rows->dst_pitch +
                   piece->at,
               staging + i * piece->width, piece->width);
}

static cudaError_t move_piece(const struct rt_rows *rows,
                              const struct piece *piece, bool in,
                              uint32_t stream, uint32_t flags)
{
    struct wire_copy body = {
        .width = piece->width, .height = piece->height, .stream = stream,
        .flags = flags,
    };
    if (in) {
        body.kind = WIRE_COPY_IN;
        body.dst = (uintptr_t)rows->dst + piece->first * rows->dst_pitch +
                   piece->at;
        body.dst_pitch = rows->dst_pitch;
        body.src_pitch = piece->width;
    } else {
        body.kind = WIRE_COPY_OUT;
        body.src = (uintptr_t)rows->src + piece->first * rows->src_pitch +
                   piece->at;
        body.src_pitch = rows->src_pitch;
        body.dst_pitch = piece->width;
    }
    struct exchange x = {.op = WIRE_COPY, .body = &body, .nbody = sizeof body,
                         .fd = -1};
    char *staging = rt_lock_staging();
    if (in)
        gather(staging, rows, piece);
    rt_forgive_time();
    cudaError_t error = rt_exchange_locked(&x);
    if (!error && !in)
        scatter(rows, piece, staging);
    rt_unlock_staging();
    return error;
}

// The piece after `last`; false when that was the end.
static bool next_piece(const struct rt_rows *rows, struct piece *piece)
{
    if (rows->width > WIRE_STAGING) { // a row in several pieces
        piece->at += piece->width;
        if (piece->at == rows->width) {
            piece->at = 0;
            piece->first++;
        }
        size_t left = rows->width - piece->at;
        piece->width = left < WIRE_STAGING ? left : WIRE_STAGING;
        piece->height = 1;
    } else {
        piece->first += piece->height;
        size_t fit = WIRE_STAGING / rows->width;
        size_t left = rows->height - piece->first;
        piece->width = rows->width;
        piece->height = left < fit ? left : fit;
    }
    return piece->first < rows->height;
}

static cudaError_t copy_staged(const struct rt_rows *rows, bool in,
                               uint32_t stream)
{
    const void *host = in ? rows->src : rows->dst;
    size_t pitch = in ? rows->src_pitch : rows->dst_pitch;
    bool pinned = rt_is_registered(host, (rows->height - 1) * pitch +
                                             rows->width);
    uint32_t flags = pinned ? WIRE_PINNED : 0;
    // As CUDA: only a copy of pinned memory can go on after the call.
    if (rows->wait || (!in && !pinned))
        flags |= WIRE_WAIT;
    struct piece piece = {0};
    while (next_piece(rows, &piece)) {
        cudaError_t error = move_piece(rows, &piece, in, stream, flags);
        if (error)
            return error;
        flags |= WIRE_CONTINUES;
    }
    return cudaSuccess;
}

// ---- entry -----------------------------------------------------------------

cudaError_t rt_copy(const struct rt_rows *given, cudaStream_t handle,
                    cudaStream_t zero)
{
    uint32_t stream;
    int device;
    struct rt_rows rows = flattened(given);
    cudaError_t error = rt_connect();
    if (error || (error = rt_stream(handle, zero, &stream, &device)) ||
        (error = check_kind(&rows)))
        return error;
    if (!rows.width || !rows.height)
        return cudaSuccess;
    if (!rows.dst || !rows.src)
        return cudaErrorInvalidValue;
    rt_trace("mem", "copy %zu x %zu bytes from %p to %p, stream %u",
             rows.height, rows.width, rows.src, rows.dst, stream);
    bool dst_there = is_server(rows.dst), src_there = is_server(rows.src);
    if (dst_there && src_there)
        error = copy_direct(&rows, stream);
    else if (dst_there || src_there)
        error = copy_staged(&rows, dst_there, stream);
    else
        for (size_t i = 0; i < rows.height; i++)
            memmove((char *)rows.dst + i * rows.dst_pitch,
                    (const char *)rows.src + i * rows.src_pitch, rows.width);
    if (rows.wait)
        rt_write_output();
    return error;
}

cudaError_t rt_fill(void *dst, size_t pitch, int byte, size_t width,
                    size_t height, bool wait, cudaStream_t handle,
                    cudaStream_t zero)
{
    uint32_t stream;
    int device;
    cudaError_t error = rt_connect();
    if (error || (error = rt_stream(handle, zero, &stream, &device)))
        return error;
    if (!width || !height)
        return cudaSuccess;
    if (height > 1 && pitch < width)
        return cudaErrorInvalidValue;
    rt_trace("mem", "fill %zu x %zu bytes at %p", height, width, dst);
    // As a copy: what cannot go wrong is not answered.
    bool post = !wait && height == 1 && rt_is_known((uintptr_t)dst, width);
    struct wire_fill body = {
        .dst = (uintptr_t)dst, .pitch = pitch, .width = width,
        .height = height, .stream = stream, .byte = (unsigned char)byte,
        .flags = post ? WIRE_POSTED : wait ? WIRE_WAIT : 0,
    };
    return post ? rt_post(WIRE_FILL, &body, sizeof body, NULL, 0)
                : rt_ask(WIRE_FILL, &body, sizeof body, NULL, 0);
}
