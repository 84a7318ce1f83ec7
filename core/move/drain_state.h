/*
 * The state of runs of defragmentation. A run that gives blocks back looks at the sums of all
 * blocks, chooses some, makes them drain (core/memory/draining.h), and empties one after another:
 * it lists the allocations of a block, takes a twin for each of them, the largest first, and hands
 * the moves out in batches. If an allocation cannot move, or has no room elsewhere, all twins of
 * the block end and the block takes allocations again. So no byte moves in vain. room.h says how a
 * run makes room for one request.
 *
 * All work consists of short parts, between which a step may end. A part holds an arena's lock only
 * for a few ranges. The caller synchronizes the calls on one run. The list lock of the allocator
 * guards the list of runs.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_STATE_H
#define MAAR_CORE_MOVE_DRAIN_STATE_H

#include "core/memory/block_index.h"
#include "core/move/drain_list.h"
#include "core/move/move_state.h"

struct maar_page_run;
struct maar_room;
struct maar_drain_plan;

enum {
    /* The classes of sizes by which allocations are sorted. */
    MAAR_DRAIN_CLASSES = 1409,
    MAAR_DRAIN_NONE = -1 /* no entry */
};

/* A block that a run has seen. */
struct maar_drain_block {
    uint64_t id;
    VkDeviceSize rank; /* the run chooses those of low rank first */
    VkDeviceSize size;
    VkDeviceSize live;
    VkDeviceSize free;
    VkDeviceSize room; /* at least the largest free range, when the block was seen */
    struct maar_pool* pool;
    uint32_t pool_number; /* in the list of the run's pools */
    uint32_t map;         /* in the plan's list of blocks; MAAR_MAP_NONE if it has no plan */
    bool drains;          /* the run has made it drain */
};

/* What a pool has for the allocations of the blocks that are emptied. */
struct maar_drain_pool {
    VkDeviceSize free; /* in the blocks that stay */
    VkDeviceSize live; /* in those that are emptied */
};

/* Where the search for blocks is. The pool is held. */
struct maar_drain_collector {
    struct maar_pool* pool;
    uint32_t arena_number;
    uint32_t from;
};

/* An allocation that shall move. */
struct maar_drain_entry {
    uint64_t handle;
    VkDeviceSize size;
    VkDeviceSize alignment;
    void* user_data;
    int32_t next;  /* of the same class */
    uint32_t item; /* in the plan's map, or MAAR_MAP_NONE */
    bool is_asked; /* the program has agreed to its move */
};

/* Where the search for allocations in a block is. */
struct maar_drain_cursor {
    uint32_t node; /* MAAR_PLACEMENT_NO_NODE at the begin */
    uint32_t generation;
    uint32_t restarts;
};

enum maar_drain_phase {
    MAAR_DRAIN_COLLECT,
    MAAR_DRAIN_CHOOSE,
    MAAR_DRAIN_PLAN, /* see drain_plan.h */
    MAAR_DRAIN_NEXT,
    MAAR_DRAIN_SCAN,
    MAAR_DRAIN_ASK,      /* above level 0: whether all may move */
    MAAR_DRAIN_MAKE_WAY, /* takes twins for those that make way in other blocks */
    MAAR_DRAIN_RESERVE,
    MAAR_DRAIN_HAND_OUT,
    MAAR_DRAIN_TAKE_BACK, /* the present block is given up */
    MAAR_DRAIN_TAKE_REST, /* the same after some of its moves were handed out */
    MAAR_DRAIN_GIVE_UP,   /* the run is given up */
    MAAR_DRAIN_SHRINK,    /* frees host memory */
    MAAR_DRAIN_DONE
};

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
    uint32_t most_blocks;

    enum maar_drain_phase phase;
    bool gives_up;
    bool takes_planned;   /* what is taken back was counted in the sums */
    uint32_t first_given; /* of a run that is given up: the first block to take allocations again */
    struct maar_drain_collector collector;
    struct maar_drain_list pools;  /* struct maar_drain_pool */
    struct maar_drain_list seen;   /* struct maar_drain_block: a heap, the lowest rank first */
    struct maar_drain_list blocks; /* struct maar_drain_block: those to empty, in their order */
    uint32_t at;                   /* the present one */
    struct maar_drain_cursor cursor;
    struct maar_drain_list entries;    /* struct maar_drain_entry, of the present block */
    int32_t heads[MAAR_DRAIN_CLASSES]; /* entries by class */
    uint32_t top;                      /* no entry has a higher class */
    struct maar_drain_list moves;      /* struct maar_move: of the present block, and with is_dry of
                                        * all blocks */
    uint32_t handed_count;             /* moves that were handed out */
    uint32_t first_move;               /* of the present block */
    VkDeviceSize block_bytes;          /* of the moves of the present block */
    VkDeviceSize unplaced_size;        /* of the allocation that has found no room */
    struct maar_room* room;            /* of a run that makes room, or NULL */
    struct maar_page_run* pages;       /* of a run that empties page blocks, or NULL */

    struct maar_drain_plan* plan; /* of a run that empties blocks, or NULL */
    uint32_t chosen_count;        /* blocks that drain by the sums */
    uint32_t item_at;             /* in the map: the next item of the present block */
    uint32_t item_end;
    uint32_t leaver_at;            /* of those that make way for the present block */
    uint32_t asked_at;             /* of its entries */
    uint32_t agreed_count;         /* moves of which a dry run has asked */
    bool opens;                    /* the moves make way */
    struct maar_drain_list closed; /* uint64_t: blocks where allocations make way */
};

static inline struct maar_drain_block* maar_drain_block_at(const struct maar_drain_list* blocks,
                                                           uint32_t at)
{
    return maar_drain_list_at(blocks, at, sizeof(struct maar_drain_block));
}
static inline struct maar_drain_entry* maar_drain_entry_at(const struct maar_drain_run* run,
                                                           uint32_t at)
{
    return maar_drain_list_at(&run->entries, at, sizeof(struct maar_drain_entry));
}
static inline struct maar_move* maar_drain_move_at(const struct maar_drain_run* run, uint32_t at)
{
    return maar_drain_list_at(&run->moves, at, sizeof(struct maar_move));
}

#endif
