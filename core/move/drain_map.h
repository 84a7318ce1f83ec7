/*
 * The map of a pool: a picture of its blocks on which a run plans moves before it begins any. The
 * cells of a block are its allocations (*items*) and its free ranges (*gaps*), in the order of
 * their offsets. Gaps are found by their size. Every change is logged, so a plan that fails is
 * undone.
 *
 * A staying item lies where it was found. A planned one has a place where it will lie. It moves at
 * a *level*: what moves at level 0 needs only gaps that are there already, and what moves at level
 * n may use the old ranges of what moved at lower levels.
 *
 * A map is integers alone and knows no locks. Only maar_map_reserve allocates host memory.
 */
#ifndef MAAR_CORE_MOVE_DRAIN_MAP_H
#define MAAR_CORE_MOVE_DRAIN_MAP_H

#include <vulkan/vulkan_core.h>

#include "core/move/drain_list.h"

enum {
    MAAR_MAP_NONE = 0x7FFFFFFF,
    /* The classes of sizes of gaps: those of maar_size_class. */
    MAAR_MAP_CLASSES = 1409,
    MAAR_MAP_WORDS = (MAAR_MAP_CLASSES + 63) / 64,
    /* An item that stays where it is. */
    MAAR_MAP_STAYS = -1
};
/* The bit of a cell that is a gap. */
#define MAAR_MAP_GAP 0x80000000u

struct maar_map_item {
    uint64_t handle; /* 0: it cannot move */
    VkDeviceSize origin_offset;
    VkDeviceSize offset; /* where it lies or will lie */
    VkDeviceSize size;   /* that it needs elsewhere, with rounding */
    VkDeviceSize extent; /* that it has where it was found */
    uint32_t alignment;
    uint32_t node; /* in the placement of its block, where it was found */
    uint32_t generation;
    uint32_t origin; /* block */
    uint32_t block;
    uint32_t previous; /* cells */
    uint32_t next;
    uint32_t next_leaver; /* item */
    int32_t level;        /* at which it moves, or MAAR_MAP_STAYS */
    uint8_t kind;         /* for the placement */
    bool is_leaver;       /* makes way in a block that stays */
};

struct maar_map_gap {
    VkDeviceSize offset;
    VkDeviceSize size;
    uint32_t block;
    uint32_t previous; /* cells: items, since two gaps are never neighbours */
    uint32_t next;
    uint32_t bin_previous; /* gaps */
    uint32_t bin_next;
};

struct maar_map_block {
    VkDeviceSize size;
    VkDeviceSize stay; /* bytes of the items that stay */
    VkDeviceSize largest;
    uint32_t first_item; /* the items that were found in it, in the order of their offsets */
    uint32_t item_count;
    uint32_t first_cell;
    uint32_t leaver; /* the last item that makes way */
    bool is_source;  /* it is emptied: its gaps are not used */
    bool is_stuck;   /* it cannot be emptied */
};

/* A change of an item. */
struct maar_map_change {
    VkDeviceSize offset;
    uint32_t item;
    uint32_t block;
    uint32_t before; /* the item before it */
    int32_t level;
    bool is_leaver;
    bool is_taken; /* it was taken out; otherwise it was put in */
};

struct maar_map {
    const VkAllocationCallbacks* callbacks;
    VkDeviceSize granularity; /* of kinds; 0 or 1: kinds do not matter */
    struct maar_drain_list items;
    struct maar_drain_list gaps;
    struct maar_drain_list blocks;
    struct maar_drain_list changes;
    uint32_t free_gap; /* a list by bin_next */
    uint32_t heads[MAAR_MAP_CLASSES];
    uint64_t words[MAAR_MAP_WORDS];
};

/* Where an item could lie. */
struct maar_map_place {
    VkDeviceSize offset;
    uint32_t gap;
};

static inline struct maar_map_item* maar_map_item(const struct maar_map* map, uint32_t at)
{
    return maar_drain_list_at(&map->items, at, sizeof(struct maar_map_item));
}
static inline struct maar_map_gap* maar_map_gap(const struct maar_map* map, uint32_t at)
{
    return maar_drain_list_at(&map->gaps, at & ~MAAR_MAP_GAP, sizeof(struct maar_map_gap));
}
static inline struct maar_map_block* maar_map_block(const struct maar_map* map, uint32_t at)
{
    return maar_drain_list_at(&map->blocks, at, sizeof(struct maar_map_block));
}
static inline uint32_t maar_map_next(const struct maar_map* map, uint32_t cell)
{
    return (cell & MAAR_MAP_GAP) != 0 ? maar_map_gap(map, cell)->next
                                      : maar_map_item(map, cell)->next;
}

/* Where the bytes of an item end. */
static inline VkDeviceSize maar_map_item_end(const struct maar_map_item* item)
{
    const bool is_found = item->block == item->origin && item->offset == item->origin_offset;
    return item->offset + (is_found ? item->extent : item->size);
}

/* Begins with an empty map. */
void maar_map_begin(struct maar_map* map, const VkAllocationCallbacks* callbacks);
void maar_map_destroy(struct maar_map* map);
/* Begins with the gaps of another pool. The items and blocks stay known, their cells do not. */
void maar_map_begin_pool(struct maar_map* map, VkDeviceSize granularity);
/* Ensures that so many items can be listed or changed. Returns false if there is no host memory. */
bool maar_map_reserve(struct maar_map* map, uint32_t count);

/* Adds a gap, or an item whose members are set, behind the last cell of a block, which is listed.
 * Returns the cell. */
uint32_t maar_map_add_gap(struct maar_map* map, uint32_t block, uint32_t last, VkDeviceSize offset,
                          VkDeviceSize size);
uint32_t maar_map_add_item(struct maar_map* map, uint32_t last, const struct maar_map_item* item);
/* Forgets the cells of a block, to list it again. */
void maar_map_forget(struct maar_map* map, uint32_t block);
/* Lets a gap be found, or not. */
void maar_map_show_gap(struct maar_map* map, uint32_t cell, bool shown);

/* Returns the next item behind a cell, or MAAR_MAP_NONE. */
uint32_t maar_map_item_from(const struct maar_map* map, uint32_t cell);
/* Returns the item before an item, or MAAR_MAP_NONE. */
uint32_t maar_map_item_before(const struct maar_map* map, uint32_t item);
/* Whether two kinds may not share a granule. */
static inline bool maar_map_kinds_conflict(const struct maar_map* map, uint8_t one, uint8_t other)
{
    return map->granularity > 1 && one != other && one != 0 && other != 0;
}

/* Takes an item out of its block. Returns the gap. */
uint32_t maar_map_take(struct maar_map* map, uint32_t item);
/* Puts an item that was taken into a gap. */
void maar_map_put(struct maar_map* map, uint32_t item, uint32_t gap, VkDeviceSize offset);
/* Sets the level of an item that was taken and not yet put. */
void maar_map_plan(struct maar_map* map, uint32_t item, int32_t level, bool is_leaver);
/* Looks for the gap that an item fits most tightly, of those that are free at a level. */
bool maar_map_fit(const struct maar_map* map, uint32_t item, int32_t level,
                  struct maar_map_place* place);
/* Undoes some changes, the last ones first, until so many are left. Returns whether that is so. */
bool maar_map_undo(struct maar_map* map, uint32_t left, uint32_t most);

#endif
