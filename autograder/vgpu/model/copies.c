// How long copies and fills take: a fixed part and a rate. The fixed parts and
// what follows from them were measured on an H200 over 1 KiB to 1 GiB.
#include "model.h"

static const double H2D_US = 5.5, D2H_US = 4.2; // page-locked
static const double PAGEABLE_US = 9;
static const double D2D_US = 4.6, MEMSET_US = 3.5, P2P_US = 8;
static const double FILL_OVER_COPY = 1.086;     // rate of writes alone
static const double NVLINK_EFFICIENCY = 0.85;

static double fill_ns(const struct gpu_model *gpu, double nbytes)
{
    return MEMSET_US * 1e3 + nbytes / (FILL_OVER_COPY * gpu->copy_gbs);
}

// Reads and writes: twice the bytes. What fits L2 stays there.
static double copy_on_device_ns(const struct gpu_model *gpu, double nbytes)
{
    double moved = 2 * nbytes;
    bool fits = moved <= 0.75 * (double)gpu->l2_bytes;
    return D2D_US * 1e3 + moved / (fits ? gpu->l2_gbs : gpu->copy_gbs);
}

static double copy_to_peer_ns(const struct gpu_model *gpu, double nbytes)
{
    double gbs = gpu->nvlink_gbs > 0 ? NVLINK_EFFICIENCY * gpu->nvlink_gbs
                                     : gpu->pcie_pinned_gbs;
    return P2P_US * 1e3 + nbytes / gbs;
}

static double copy_to_host_ns(const struct gpu_model *gpu, double nbytes,
                              double pinned_us, bool pinned)
{
    if (pinned)
        return pinned_us * 1e3 + nbytes / gpu->pcie_pinned_gbs;
    return PAGEABLE_US * 1e3 + nbytes / gpu->pcie_pageable_gbs;
}

double time_of_copy_ns(const struct gpu_model *gpu, enum copy_kind kind,
                       uint64_t nbytes, bool pinned)
{
    double n = (double)nbytes;
    switch (kind) {
    case COPY_H2D:
        return copy_to_host_ns(gpu, n, H2D_US, pinned);
    case COPY_D2H:
        return copy_to_host_ns(gpu, n, D2H_US, pinned);
    case COPY_P2P:
        return copy_to_peer_ns(gpu, n);
    case COPY_MEMSET:
        return fill_ns(gpu, n);
    case COPY_D2D:
        break;
    }
    return copy_on_device_ns(gpu, n);
}
