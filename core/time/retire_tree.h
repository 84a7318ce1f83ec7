/*
 * The order of what is pending: a tree of groups. The items of a group wait for the same point and
 * form a ring, whose first item stands in the tree. Adding, removing and finding take O(log groups)
 * and no host memory, since each item brings its links.
 *
 * Not synchronized: the lock of the retire queue guards the tree.
 */
#ifndef MAAR_CORE_TIME_RETIRE_TREE_H
#define MAAR_CORE_TIME_RETIRE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_retire_item;

/* What items are ordered by. */
struct maar_retire_key {
    uint32_t order;        /* of the timeline; see retire.c */
    VkSemaphore semaphore; /* distinguishes timelines of equal order */
    uint64_t value;
};

/* Adds an item at the point that it waits for. */
void maar_retire_tree_add(struct maar_retire_item** root, struct maar_retire_item* item);
/* Makes an item the last one of the group that begins with `first`. */
void maar_retire_tree_join(struct maar_retire_item* first, struct maar_retire_item* item);
/* Begins a group, in O(1), behind the group of the highest value of the item's timeline. */
void maar_retire_tree_add_last(struct maar_retire_item** root, struct maar_retire_item* first,
                               struct maar_retire_item* item);
/* Removes a run of items that follow one another in a ring. If the run contains the first item of
 * the ring, it begins with that item; the item behind the run then takes its place. */
void maar_retire_tree_remove(struct maar_retire_item** root, struct maar_retire_item* first,
                             struct maar_retire_item* last);
/* Returns the first item whose key is at least the given one, or, with `after`, above it; NULL when
 * none is. */
struct maar_retire_item* maar_retire_tree_find(struct maar_retire_item* root,
                                               const struct maar_retire_key* key, bool after);
/* Returns the item that comes next, or NULL. The given one is the first or last of its group. */
struct maar_retire_item* maar_retire_tree_next(const struct maar_retire_item* item);
/* Returns a sentence about the first broken invariant, or NULL. Walks and counts all items. */
const char* maar_retire_tree_check(struct maar_retire_item* root, uint64_t* item_count);

#endif
