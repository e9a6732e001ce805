// Counters of the last call, and who wrote its outputs.
#include "running.h"

#include <stdlib.h>

static void demand_counters(void)
{
    if (running.purpose != FOR_COUNTERS && running.purpose != FOR_CHECKS)
        machine_failed("counters are read in check and counter tests only");
}

const struct vgpu_launch *launches(unsigned *n)
{
    demand_counters();
    *n = running.nlaunches;
    return running.launches;
}

struct access_counters accesses(void)
{
    struct access_counters sum = {0};
    demand_counters();
    for (unsigned i = 0; i < running.nlaunches; i++) {
        const struct access_counters *a = &running.launches[i].access;
        sum.load_requests += a->load_requests;
        sum.load_sectors += a->load_sectors;
        sum.load_bytes += a->load_bytes;
        sum.store_requests += a->store_requests;
        sum.store_sectors += a->store_sectors;
        sum.store_bytes += a->store_bytes;
        sum.atomics += a->atomics;
        sum.shared_load_wavefronts += a->shared_load_wavefronts;
        sum.shared_store_wavefronts += a->shared_store_wavefronts;
        sum.shared_load_conflicts += a->shared_load_conflicts;
        sum.shared_store_conflicts += a->shared_store_conflicts;
        sum.l2_hit_sectors += a->l2_hit_sectors;
        sum.dram_read_bytes += a->dram_read_bytes;
        sum.dram_write_bytes += a->dram_write_bytes;
    }
    return sum;
}

uint64_t lanes_lost_to_branches(void)
{
    uint64_t sum = 0;
    demand_counters();
    for (unsigned i = 0; i < running.nlaunches; i++)
        sum += running.launches[i].lanes_lost_to_branches;
    return sum;
}

double global_efficiency(void)
{
    struct access_counters a = accesses();
    uint64_t sectors = a.load_sectors + a.store_sectors;
    return sectors ? (double)(a.load_bytes + a.store_bytes) / (32.0 * (double)sectors)
                   : 0;
}

void expect_launches(unsigned at_least)
{
    demand_counters();
    if (running.nlaunches < at_least)
        failed("%u kernels were launched; %u or more are needed",
               running.nlaunches, at_least);
}

void expect_written_by_kernel(struct buffer *buffer, size_t nbytes)
{
    struct writers w;
    if (!buffer || !nbytes)
        return;
    if (!buffer_writers(buffer, &w))
        machine_failed("who wrote a buffer is known on the virtual GPU only");
    if (w.kernel < nbytes)
        failed("a kernel stored %llu of the %zu bytes of %s%s",
               (unsigned long long)w.kernel, nbytes, held_of(buffer)->name,
               w.host ? "; the rest was copied there by the host" : "");
}

void expect_no_leaks(void)
{
    struct vgpu *vgpu = session_vgpu(session_of(SUBMISSION));
    struct finding *found = NULL, first;
    unsigned n = 0;
    if (!vgpu || running.purpose != FOR_CHECKS)
        machine_failed("leaks are looked for in check tests only");
    session_end_worker(session_of(SUBMISSION));
    running.broken = true;
    if (vgpu_wait_idle(vgpu) == 0 && running.advice) {
        advise_findings(vgpu);
        return;
    }
    if (vgpu_findings(vgpu, &found, &n))
        machine_failed("the virtual GPU does not answer");
    if (n)
        first = found[0];
    free(found);
    if (n)
        failed_by_finding(&first);
}
