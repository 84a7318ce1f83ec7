/*
 * A copy of an allocator's contents, taken for a dump: each pool's totals, blocks and ranges at one
 * moment under that pool's lock. Different pools may be a moment apart.
 *
 * Host memory is allocated while no lock is held. A pool is measured first. Then memory is
 * allocated. The copy is made if it still fits; otherwise the pool is measured again.
 */
#ifndef MAAR_CORE_WATCH_DUMP_SNAPSHOT_H
#define MAAR_CORE_WATCH_DUMP_SNAPSHOT_H

#include <stdbool.h>

#include "core/memory/budget.h"

/* A set of ranges: their number, their bytes, the smallest and the largest size (0 for none). */
struct maar_dump_spread {
    uint64_t count;
    VkDeviceSize bytes;
    VkDeviceSize smallest;
    VkDeviceSize largest;
};

/* The sums of a block, of a pool, or of more. */
struct maar_dump_totals {
    uint32_t block_count; /* blocks, with dedicated ones */
    uint32_t dedicated_count;
    VkDeviceSize block_bytes;
    VkDeviceSize dedicated_bytes;
    VkDeviceSize padding_bytes;
    struct maar_dump_spread live;
    struct maar_dump_spread pending;
    struct maar_dump_spread free;
    struct maar_dump_spread holes; /* runs of free ranges and padding between allocations */
};

/* One range of a block. */
struct maar_dump_range {
    VkDeviceSize offset;
    VkDeviceSize size;
    uint64_t user_data;
    const char* name; /* in the pool's record; NULL for none */
    MaarBlockRangeState state;
    MaarResourceKind kind;
    bool internal; /* Maar's own allocation */
};

/* One block. */
struct maar_dump_block {
    uint64_t id;
    VkDeviceSize size;
    uint64_t memory; /* the VkDeviceMemory's bits */
    bool dedicated;
    bool imported;
    uint32_t shared_types; /* VkExternalMemoryHandleTypeFlags */
    uint32_t map_count;
    struct maar_dump_totals totals;
    const struct maar_dump_range* ranges;
    uint32_t range_count;
};

/* One pool. */
struct maar_dump_pool {
    struct maar_dump_pool* next;
    bool custom;
    uint32_t type_index;
    MaarPlacementStrategy strategy;
    VkDeviceSize fixed_size;
    VkDeviceSize preferred_size;
    float priority;
    const char* name; /* NULL for none */
    struct maar_dump_totals totals;
    struct maar_dump_block*
        blocks;           /* those with several allocations, then the dedicated ones, by id */
    uint32_t block_count; /* 0 unless the snapshot is detailed */
};

/* The whole copy. */
struct maar_dump_snapshot {
    MaarAllocator allocator;
    bool detailed;
    struct maar_budget budgets[VK_MAX_MEMORY_HEAPS];
    MaarStatistics counters;      /* the numbers that are counted for the whole allocator */
    struct maar_dump_pool* pools; /* in the order of their creation */
};

/* Reads budgets, from the driver where possible, and copies every pool. detailed: copies blocks and
 * ranges too. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. No lock may be held. */
VkResult maar_dump_snapshot_take(MaarAllocator allocator, bool detailed,
                                 struct maar_dump_snapshot* snapshot);
/* Frees a snapshot. */
void maar_dump_snapshot_release(struct maar_dump_snapshot* snapshot);

/* Add one set of ranges, or one sum, to another. */
void maar_dump_spread_merge(struct maar_dump_spread* into, const struct maar_dump_spread* from);
/* Return the totals of all pools, of those in a heap, and of those in a memory type. */
struct maar_dump_totals maar_dump_total(const struct maar_dump_snapshot* snapshot);
struct maar_dump_totals maar_dump_heap_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t heap);
struct maar_dump_totals maar_dump_type_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t type);

#endif
