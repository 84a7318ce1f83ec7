/*
 * The lower bound: see residency_bound in residency_rule.h.
 */
#include "residency_rule.h"

#include "bench_common.h"

#include <stdlib.h>

/* That an object is needed again. */
struct need {
    uint32_t submission;
    uint32_t object;
};

/* What is kept. The heap has the latest need first; needs that have passed stay in it, below. */
struct kept {
    struct need* heap;
    uint32_t heap_count;
    uint64_t* bytes; /* of each object that the submission does not use */
    uint64_t sum;
};

static void heap_push(struct kept* kept, struct need need)
{
    uint32_t at = kept->heap_count++;
    for (; at != 0 && kept->heap[(at - 1) / 2].submission < need.submission; at = (at - 1) / 2) {
        kept->heap[at] = kept->heap[(at - 1) / 2];
    }
    kept->heap[at] = need;
}

static void heap_pop(struct kept* kept)
{
    const struct need last = kept->heap[--kept->heap_count];
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child + 1 < kept->heap_count &&
            kept->heap[child + 1].submission > kept->heap[child].submission) {
            ++child;
        }
        if (child >= kept->heap_count || kept->heap[child].submission <= last.submission) {
            break;
        }
        kept->heap[at] = kept->heap[child];
        at = child;
    }
    kept->heap[at] = last;
}

/* Evicts bytes, those that are needed latest first. */
static void evict(struct kept* kept, uint64_t bytes)
{
    while (bytes != 0) {
        if (kept->heap_count == 0) {
            bench_die(BENCH_EXIT_FAILED, "a submission does not fit");
        }
        uint64_t* have = &kept->bytes[kept->heap[0].object];
        const uint64_t part = *have < bytes ? *have : bytes;
        *have -= part;
        kept->sum -= part;
        bytes -= part;
        if (*have == 0) {
            heap_pop(kept);
        }
    }
}

/* Returns for each use the submission that needs the contents next, or UINT32_MAX: there is none,
 * or the next one needs none from before. */
static uint32_t* find_needs(const struct residency_workload* workload)
{
    const uint32_t count = workload->begins[workload->submission_count];
    uint32_t* needs = bench_allocate(count + 1, sizeof(uint32_t));
    uint32_t* next = bench_allocate(workload->object_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < workload->object_count; ++i) {
        next[i] = UINT32_MAX;
    }
    for (uint32_t submission = workload->submission_count; submission-- > 0;) {
        for (uint32_t i = workload->begins[submission]; i < workload->begins[submission + 1]; ++i) {
            const bool is_fresh = (workload->accesses[i] & RESIDENCY_FRESH) != 0;
            needs[i] = next[workload->uses[i]];
            next[workload->uses[i]] = is_fresh ? UINT32_MAX : submission;
        }
    }
    free(next);
    return needs;
}

uint64_t residency_bound(const struct residency_workload* workload, uint64_t capacity)
{
    const uint32_t count = workload->begins[workload->submission_count];
    uint32_t* needs = find_needs(workload);
    struct kept kept = {.heap = bench_allocate(count + 1, sizeof(struct need)),
                        .bytes = bench_allocate(workload->object_count, sizeof(uint64_t))};
    uint64_t restored = 0;
    for (uint32_t submission = 0; submission < workload->submission_count; ++submission) {
        const uint32_t begin = workload->begins[submission];
        const uint32_t end = workload->begins[submission + 1];
        uint64_t used = 0;
        for (uint32_t i = begin; i < end; ++i) {
            const uint32_t object = workload->uses[i];
            const uint64_t size = workload->objects[object].size;
            const bool is_fresh = (workload->accesses[i] & RESIDENCY_FRESH) != 0;
            restored += is_fresh ? 0 : size - kept.bytes[object];
            kept.sum -= kept.bytes[object];
            kept.bytes[object] = 0;
            used += size;
        }
        const uint64_t all = used + kept.sum;
        evict(&kept, all > capacity ? all - capacity : 0);
        for (uint32_t i = begin; i < end; ++i) {
            if (needs[i] != UINT32_MAX) {
                const uint32_t object = workload->uses[i];
                kept.bytes[object] = workload->objects[object].size;
                kept.sum += kept.bytes[object];
                heap_push(&kept, (struct need){.submission = needs[i], .object = object});
            }
        }
    }
    free(kept.heap);
    free(kept.bytes);
    free(needs);
    return restored;
}
