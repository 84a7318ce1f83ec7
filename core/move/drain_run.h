/*
 * Runs that empty blocks. A run chooses blocks by their sums, makes them drain
 * (core/memory/draining.h), and empties one after another: it lists the allocations of a block,
 * takes a twin for each of them, the largest first, and hands the moves out in batches. If an
 * allocation cannot move, or has no room elsewhere, all twins of the block end and the block takes
 * allocations again. So no byte moves in vain.
 *
 * The caller synchronizes the calls on one run. The list lock of the allocator guards the list of
 * runs. Each step holds an arena's lock only for a few ranges at a time.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_RUN_H
#define MAAR_CORE_MOVE_DRAIN_RUN_H

#include "core/memory/block_index.h"
#include "core/move/move_state.h"

enum {
    /* The classes of sizes by which allocations are sorted. */
    MAAR_DRAIN_CLASSES = 1409,
    MAAR_DRAIN_NONE = -1 /* no entry */
};

/* A block that a run empties. */
struct maar_drain_block {
    uint64_t id;
    VkDeviceSize size;
    VkDeviceSize live;
    VkDeviceSize free;
    VkDeviceSize room; /* at least the largest free range, when the block was chosen */
    struct maar_pool* pool;
    uint32_t pool_number; /* in the list of the run's pools, while blocks are chosen */
};

/* An allocation of the present block. */
struct maar_drain_entry {
    uint64_t handle;
    VkDeviceSize size;
    VkDeviceSize alignment;
    void* user_data;
    int32_t next; /* of the same class */
};

/* Where the search for allocations in a block is. */
struct maar_drain_cursor {
    uint32_t node; /* MAAR_PLACEMENT_NO_NODE at the begin */
    uint32_t generation;
    uint32_t restarts;
};

enum maar_drain_phase { MAAR_DRAIN_NEXT, MAAR_DRAIN_SCAN, MAAR_DRAIN_RESERVE, MAAR_DRAIN_HAND_OUT };

struct maar_drain_run {
    struct maar_drain_run* next; /* under the list lock */
    struct maar_drain_run* previous;
    MaarAllocator allocator;
    uint64_t handle;
    struct maar_pool* pool; /* the custom pool, or NULL for default pools */
    bool is_dry;
    PFN_maarMayMove may_move;
    void* user_data;
    MaarDefragmentationInfo sums; /* without the releases */
    uint32_t released_before;     /* counts of the pools when the run began */
    uint64_t released_bytes_before;
    uint32_t type_bits;

    struct maar_drain_block* blocks; /* those to empty, in their order */
    uint32_t block_count;
    uint32_t at; /* the present one */
    enum maar_drain_phase phase;
    struct maar_drain_cursor cursor;
    struct maar_drain_entry* entries;
    uint32_t entry_count;
    uint32_t entry_capacity;
    int32_t heads[MAAR_DRAIN_CLASSES]; /* entries by class */
    uint32_t top;                      /* no entry has a higher class */
    struct maar_move* moves;           /* of the present block, and with is_dry of all blocks */
    uint32_t move_count;
    uint32_t move_capacity;
    uint32_t handed_count;      /* moves that were handed out */
    uint32_t first_move;        /* of the present block */
    VkDeviceSize block_bytes;   /* of the moves of the present block */
    VkDeviceSize unplaced_size; /* of the allocation that has found no room */
};

/* Ends the runs of a custom pool, or all runs if pool is NULL, before the pool or the allocator
 * ends. */
void maar_drain_end_runs(MaarAllocator allocator, const struct maar_pool* pool);

#endif
