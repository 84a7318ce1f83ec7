/*
 * The interface of the allocators in the placement benchmark: offsets in one block.
 */
#ifndef MAAR_BENCH_PLACEMENT_PEER_H
#define MAAR_BENCH_PLACEMENT_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct placement_peer {
    const char* name;
    /* The peer by whose times this peer's times are divided; may be NULL. */
    const char* rival;
    /* For ordered workloads only, since the peer cannot churn. */
    bool is_ordered;
    /* The peer places nothing, which shows the cost of the loop. */
    bool is_control;
    /* The peer takes part only where it is named. */
    bool on_request;
    /* Creates the block. Returns NULL on failure. */
    void* (*create)(uint64_t capacity);
    void (*destroy)(void* block);
    /* Places a range. Returns false when the range does not fit. The handle is not 0. */
    bool (*allocate)(void* block, uint64_t size, uint64_t alignment, uint64_t* handle,
                     uint64_t* offset);
    void (*free)(void* block, uint64_t handle);
    void (*reset)(void* block);
};

extern const struct placement_peer placement_peer_tlsf;
extern const struct placement_peer placement_peer_buddy;
extern const struct placement_peer placement_peer_linear;
#if MAAR_BENCH_VMA
extern const struct placement_peer placement_peer_vma;
extern const struct placement_peer placement_peer_vma_min_time;
extern const struct placement_peer placement_peer_vma_min_memory;
extern const struct placement_peer placement_peer_vma_linear;
#endif
#if MAAR_BENCH_MAAR_VMA
/* The same file, on maar::vma. */
extern const struct placement_peer placement_peer_maar_vma;
extern const struct placement_peer placement_peer_maar_vma_linear;
#endif

#endif
