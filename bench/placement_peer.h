/*
 * What the placement benchmark asks of an allocator that it measures: offsets out of one block.
 */
#ifndef MAAR_BENCH_PLACEMENT_PEER_H
#define MAAR_BENCH_PLACEMENT_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct placement_peer {
    const char* name;
    /* The peer whose times this one's are divided by; NULL: none's. */
    const char* rival;
    /* For ordered workloads only: churn makes no sense with it. */
    bool is_ordered;
    /* Places nothing: what the loop costs. */
    bool is_control;
    /* NULL when the block cannot be made. */
    void* (*create)(uint64_t capacity);
    void (*destroy)(void* block);
    /* false when nothing fits. The handle is not 0. */
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

#endif
