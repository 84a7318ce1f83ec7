/*
 * A range of bytes that was freed after points and that an ordered allocation can have, or has, and
 * the two trees that find such ranges: by place, that is by pool, kind, timeline and size, and by
 * slot. Each step takes logarithmic time.
 *
 * A range is held by the items of the retire queue that wait for its points: those of its former
 * owners, and that of its last owner after a free. Its bytes are free when it has no owner and no
 * item holds it any more.
 *
 * Not synchronized: the lock of maar_ordered guards all this. A range that was taken belongs to one
 * thread, which reads it without the lock.
 */
#ifndef MAAR_CORE_MEMORY_ORDERED_RANGE_H
#define MAAR_CORE_MEMORY_ORDERED_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/time/ordered_clock.h"
#include "maar/allocator.h"

struct maar_pool;
struct maar_retire_item;

/* The most points of a range that an ordered allocation can have. Most frees wait for one point. */
enum { MAAR_ORDERED_POINTS = 8 };

/* Points by the numbers of their timelines: one for each timeline. */
struct maar_ordered_points {
    uint32_t count;
    uint8_t numbers[MAAR_ORDERED_POINTS];
    uint64_t values[MAAR_ORDERED_POINTS];
};

enum maar_ordered_state {
    MAAR_ORDERED_LIVE,    /* an allocation has it */
    MAAR_ORDERED_PENDING, /* it has no owner; in the tree by place if it is offered */
    MAAR_ORDERED_TAKEN,   /* a thread is about to give it an owner, or to give it back */
    MAAR_ORDERED_MERGED   /* its bytes belong to another range, which it holds; in no tree */
};

enum maar_ordered_order { MAAR_ORDERED_BY_PLACE, MAAR_ORDERED_BY_SLOT, MAAR_ORDERED_ORDERS };

struct maar_ordered_range;

struct maar_ordered_links {
    struct maar_ordered_range* parent;
    struct maar_ordered_range* left;
    struct maar_ordered_range* right;
};

struct maar_ordered_range {
    struct maar_ordered_links links[MAAR_ORDERED_ORDERS];
    uint64_t least; /* in the tree by place: the lowest first value of the subtree */
    struct maar_pool* pool;
    VkDeviceSize offset; /* in its block */
    VkDeviceSize size;
    uint64_t serial; /* distinguishes ranges whose keys are equal otherwise */
    /* Of a range that was merged: the other one. Else, until the call that has divided the range
     * returns: its rest, by slot and serial, and its size before. */
    struct maar_ordered_range* into;
    uint32_t rest_slot;
    struct maar_retire_item* item; /* of a rest: its first one, while that is in the queue */
    uint64_t rest_serial;
    VkDeviceSize whole_size;
    uint32_t slot;
    uint32_t kind; /* for the placement */
    uint32_t hold_count;
    bool is_offered; /* in the tree by place */
    uint8_t state;   /* enum maar_ordered_state */
    /* The points for which the items wait; some may have passed. 0: too many, or one of them has no
     * number; then the range is never offered. */
    struct maar_ordered_points points;
};

/* A place in the tree by place. */
struct maar_ordered_place {
    const struct maar_pool* pool;
    uint32_t kind;
    uint32_t number; /* of the timeline of the first point */
    VkDeviceSize size;
    uint64_t value; /* of the first point */
    uint64_t serial;
};

void maar_ordered_tree_add(struct maar_ordered_range** root, struct maar_ordered_range* range,
                           enum maar_ordered_order order);
void maar_ordered_tree_remove(struct maar_ordered_range** root, struct maar_ordered_range* range,
                              enum maar_ordered_order order);
/* Returns the range of a slot, or NULL. */
struct maar_ordered_range* maar_ordered_tree_find(struct maar_ordered_range* root, uint32_t slot);
/* Returns the first range in the order of places that has the pool, the kind and the timeline of
 * `from`, is not before `from`, and whose first value is at most `limit`. Returns NULL if there is
 * none. */
struct maar_ordered_range* maar_ordered_tree_first(struct maar_ordered_range* root,
                                                   const struct maar_ordered_place* from,
                                                   uint64_t limit);
/* Returns the place of a range. */
struct maar_ordered_place maar_ordered_place_of(const struct maar_ordered_range* range);
/* Return the first range of a tree, or NULL, and the one that follows. */
struct maar_ordered_range* maar_ordered_tree_least(struct maar_ordered_range* root,
                                                   enum maar_ordered_order order);
struct maar_ordered_range* maar_ordered_tree_next(const struct maar_ordered_range* range,
                                                  enum maar_ordered_order order);
/* Returns the first broken invariant, or NULL, and sets *count to the number of ranges. */
const char* maar_ordered_tree_check(struct maar_ordered_range* root, enum maar_ordered_order order,
                                    uint64_t* count);

#endif
