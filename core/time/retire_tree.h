/*
 * The order of the retire queue: a tree of groups. The items of a group wait for the same point and
 * form a ring. The first item of the ring stands in the tree. Each item contains its own links. So
 * adding, removing and finding an item take an expected time of O(log groups) and no host memory.
 *
 * The lock of the retire queue guards the tree.
 */
#ifndef MAAR_CORE_TIME_RETIRE_TREE_H
#define MAAR_CORE_TIME_RETIRE_TREE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

struct maar_retire_item;

/* The key by which items are ordered. */
struct maar_retire_key {
    uint32_t order;        /* number of the timeline; see retire_order.c */
    VkSemaphore semaphore; /* distinguishes timelines of the same number */
    uint64_t value;
};

/* Adds an item at the point that the item waits for. */
void maar_retire_tree_add(struct maar_retire_item** root, struct maar_retire_item* item);
/* Appends an item to the group that begins with `first`. */
void maar_retire_tree_join(struct maar_retire_item* first, struct maar_retire_item* item);
/* Begins a group in an expected time of O(1). `first` is the first item of the group with the
 * highest value of the item's timeline. The new group stands directly behind that group. */
void maar_retire_tree_add_last(struct maar_retire_item** root, struct maar_retire_item* first,
                               struct maar_retire_item* item);
/* Removes a run of consecutive items from their ring. A run that contains the first item of the
 * ring begins with that item; the item behind the run then becomes the first one. */
void maar_retire_tree_remove(struct maar_retire_item** root, struct maar_retire_item* first,
                             struct maar_retire_item* last);
/* Returns the first item whose key is at or above the given key or, if `after` is true, strictly
 * above that key. Returns NULL when there is no such item. */
struct maar_retire_item* maar_retire_tree_find(struct maar_retire_item* root,
                                               const struct maar_retire_key* key, bool after);
/* Returns the next item of the group or, after the last item of a group, the first item of the next
 * group. Returns NULL when there is no next item. */
struct maar_retire_item* maar_retire_tree_next(const struct maar_retire_item* item);
/* Returns the first broken invariant as a sentence, or NULL. Walks the tree and sets *item_count to
 * the number of items. */
const char* maar_retire_tree_check(struct maar_retire_item* root, uint64_t* item_count);

#endif
