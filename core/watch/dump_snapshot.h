/*
 * A copy of an allocator's contents, taken for a dump: the totals, blocks and ranges of each pool.
 * Each arena of a pool is copied at one moment, under the arena's lock. Different arenas are copied
 * at different moments.
 *
 * Host memory is allocated while no lock is held. A first walk over a pool measures the pool;
 * without details, this walk suffices. Then memory is allocated, and a second walk copies the pool.
 * If the pool no longer fits into that memory, the walk is repeated with more memory.
 */
#ifndef MAAR_CORE_WATCH_DUMP_SNAPSHOT_H
#define MAAR_CORE_WATCH_DUMP_SNAPSHOT_H

#include <stdbool.h>

#include "core/memory/budget.h"

/* A set of ranges: their number, the sum of their bytes, and the smallest and the largest size (0
 * if there is no range). */
struct maar_dump_spread {
    uint64_t count;
    VkDeviceSize bytes;
    VkDeviceSize smallest;
    VkDeviceSize largest;
};

/* The sums over a block, a pool, or several pools. */
struct maar_dump_totals {
    uint32_t block_count; /* all blocks, including dedicated blocks */
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
    uint64_t handle;  /* of a live allocation, else 0 */
    uint64_t usage;   /* what the program says of that allocation */
    const char* name; /* lies in the pool's record; NULL for none */
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
    struct maar_dump_range* ranges;
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
    struct maar_dump_block* blocks; /* shared and dedicated blocks, in the order of their ids */
    uint32_t block_count;           /* 0 unless the snapshot is detailed */
};

/* The whole copy. */
struct maar_dump_snapshot {
    MaarAllocator allocator;
    bool detailed;
    struct maar_budget budgets[VK_MAX_MEMORY_HEAPS];
    MaarStatistics counters;      /* the statistics of the whole allocator */
    struct maar_dump_pool* pools; /* in the order of their creation */
};

/* Reads budgets, from the driver where possible, and copies every pool. If `detailed` is true,
 * copies blocks and ranges too. Returns VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. No lock may be
 * held. */
VkResult maar_dump_snapshot_take(MaarAllocator allocator, bool detailed,
                                 struct maar_dump_snapshot* snapshot);
/* Asks the program for the usage of each allocation. No lock may be held. */
void maar_dump_snapshot_ask(struct maar_dump_snapshot* snapshot, const MaarDumpUsageInfo* info);
/* Frees a snapshot. */
void maar_dump_snapshot_release(struct maar_dump_snapshot* snapshot);

/* Adds one set of ranges to another. */
void maar_dump_spread_merge(struct maar_dump_spread* into, const struct maar_dump_spread* from);
/* Return the totals of all pools, of the pools in one heap, and of the pools in one memory type. */
struct maar_dump_totals maar_dump_total(const struct maar_dump_snapshot* snapshot);
struct maar_dump_totals maar_dump_heap_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t heap);
struct maar_dump_totals maar_dump_type_total(const struct maar_dump_snapshot* snapshot,
                                             uint32_t type);

#endif
