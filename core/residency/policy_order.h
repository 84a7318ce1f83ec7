/*
 * The objects that may be evicted, in two orders: for each priority class a list from the oldest
 * use to the newest, and over all classes a heap with the lowest class first, and in it what is
 * expected latest. The heap is built when it is asked for, and dropped when nobody has asked for
 * long: while all fits, a use costs a place in a list.
 */
#ifndef MAAR_CORE_RESIDENCY_POLICY_ORDER_H
#define MAAR_CORE_RESIDENCY_POLICY_ORDER_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan_core.h>

#include "core/residency/policy.h"

enum { MAAR_POLICY_CLASSES = 8 };

struct maar_policy_object {
    uint64_t last;     /* time of the last use, or MAAR_NEVER_USED */
    uint64_t expected; /* time of the next use, as far as it is known */
    VkDeviceSize size;
    uint32_t older;     /* in the list of its class */
    uint32_t newer;     /* in a free object: the next free one */
    uint32_t heap_at;   /* in the heap, or MAAR_NO_OBJECT */
    uint32_t sample_at; /* in the sample, or UINT32_MAX */
    uint32_t pin_count;
    uint32_t round; /* of hints, in which the program has said that */
    uint8_t class;
    bool exists;
    bool is_resident;
    bool is_dirty;
    bool is_announced; /* the program has said when it is used next */
};

struct maar_policy_order {
    struct maar_policy_object* objects; /* of the policy */
    uint32_t* heap;
    uint32_t heap_count;
    bool has_heap;
    uint32_t oldest[MAAR_POLICY_CLASSES];
    uint32_t newest[MAAR_POLICY_CLASSES];
    uint32_t count;
};

void maar_order_init(struct maar_policy_order* order);
/* Adds an object as the newest or the oldest of its class, or removes it. */
void maar_order_add(struct maar_policy_order* order, uint32_t object);
void maar_order_add_oldest(struct maar_policy_order* order, uint32_t object);
void maar_order_remove(struct maar_policy_order* order, uint32_t object);
/* Builds the heap, in a time that grows with the number of objects; drops it. */
void maar_order_build_heap(struct maar_policy_order* order);
void maar_order_drop_heap(struct maar_policy_order* order);
/* Returns the lowest class that has an object; MAAR_POLICY_CLASSES: none has. */
uint32_t maar_order_lowest_class(const struct maar_policy_order* order);
/* Returns what is used latest of the lowest class, or has not been used for so long, and is
 * overdue, that it will not be soon. There is an object. Builds the heap. */
uint32_t maar_order_latest(struct maar_policy_order* order, uint64_t now);
/* Returns an object of the same class as the first one of the heap that is not dirty, and whose
 * next use is not expected before `least`; MAAR_NO_OBJECT if none is among the few that it looks
 * at. */
uint32_t maar_order_clean(const struct maar_policy_order* order, uint64_t least);
/* Returns the first broken invariant, or NULL. */
const char* maar_order_check(const struct maar_policy_order* order, uint32_t object_count);

#endif
