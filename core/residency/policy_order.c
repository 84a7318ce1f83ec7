/*
 * The orders of objects: see policy_order.h. The heap has four children a node, so that a step
 * looks at one line of the cache.
 */
#include "core/residency/policy_order.h"

#include "core/check.h"
#include "core/residency/policy_sample.h"
#include "core/residency/use_log.h"

enum {
    HEAP_CHILDREN = 4,
    /* Objects that the search for one that is not dirty looks at. */
    CLEAN_LOOKS = 32
};

void maar_order_init(struct maar_policy_order* order)
{
    *order = (struct maar_policy_order){.objects = NULL};
    for (uint32_t i = 0; i < MAAR_POLICY_CLASSES; ++i) {
        order->oldest[i] = MAAR_NO_OBJECT;
        order->newest[i] = MAAR_NO_OBJECT;
    }
}

/* ---- the heap ---- */

/* Whether one object is evicted before the other. */
static bool is_evicted_before(const struct maar_policy_order* order, uint32_t one, uint32_t other)
{
    const struct maar_policy_object* a = &order->objects[one];
    const struct maar_policy_object* b = &order->objects[other];
    return a->class != b->class ? a->class < b->class : a->expected > b->expected;
}

static void put_object(struct maar_policy_order* order, uint32_t at, uint32_t object)
{
    order->heap[at] = object;
    order->objects[object].heap_at = at;
}

static void raise_object(struct maar_policy_order* order, uint32_t at, uint32_t object)
{
    while (at > 0) {
        const uint32_t parent = (at - 1) / HEAP_CHILDREN;
        if (!is_evicted_before(order, object, order->heap[parent])) {
            break;
        }
        put_object(order, at, order->heap[parent]);
        at = parent;
    }
    put_object(order, at, object);
}

static void sink_object(struct maar_policy_order* order, uint32_t at, uint32_t object)
{
    for (;;) {
        uint64_t first = (uint64_t)at * HEAP_CHILDREN + 1;
        uint32_t best = MAAR_NO_OBJECT;
        for (uint32_t i = 0; i < HEAP_CHILDREN && first + i < order->heap_count; ++i) {
            const uint32_t child = (uint32_t)first + i;
            if (best == MAAR_NO_OBJECT ||
                is_evicted_before(order, order->heap[child], order->heap[best])) {
                best = child;
            }
        }
        if (best == MAAR_NO_OBJECT || !is_evicted_before(order, order->heap[best], object)) {
            break;
        }
        put_object(order, at, order->heap[best]);
        at = best;
    }
    put_object(order, at, object);
}

/* Moves an object of the heap to its place. */
static void settle_object(struct maar_policy_order* order, uint32_t at, uint32_t object)
{
    if (at > 0 && is_evicted_before(order, object, order->heap[(at - 1) / HEAP_CHILDREN])) {
        raise_object(order, at, object);
    } else {
        sink_object(order, at, object);
    }
}

static void remove_from_heap(struct maar_policy_order* order, uint32_t object)
{
    const uint32_t at = order->objects[object].heap_at;
    const uint32_t moved = order->heap[--order->heap_count];
    order->objects[object].heap_at = MAAR_NO_OBJECT;
    if (moved != object) {
        settle_object(order, at, moved);
    }
}

void maar_order_build_heap(struct maar_policy_order* order)
{
    order->heap_count = 0;
    for (uint32_t class = 0; class < MAAR_POLICY_CLASSES; ++class) {
        for (uint32_t object = order->oldest[class]; object != MAAR_NO_OBJECT;
             object = order->objects[object].newer) {
            put_object(order, order->heap_count++, object);
        }
    }
    for (uint32_t at = order->heap_count; at-- > 0;) {
        sink_object(order, at, order->heap[at]);
    }
    order->has_heap = true;
}

void maar_order_drop_heap(struct maar_policy_order* order)
{
    order->has_heap = false;
    order->heap_count = 0;
}

/* ---- both ---- */

/* Links an object between two neighbours, of which either may be missing. */
static void link_between(struct maar_policy_order* order, uint32_t object, uint32_t older,
                         uint32_t newer)
{
    struct maar_policy_object* added = &order->objects[object];
    added->older = older;
    added->newer = newer;
    if (older != MAAR_NO_OBJECT) {
        order->objects[older].newer = object;
    } else {
        order->oldest[added->class] = object;
    }
    if (newer != MAAR_NO_OBJECT) {
        order->objects[newer].older = object;
    } else {
        order->newest[added->class] = object;
    }
    ++order->count;
    if (order->has_heap) {
        raise_object(order, order->heap_count++, object);
    }
}

void maar_order_add(struct maar_policy_order* order, uint32_t object)
{
    link_between(order, object, order->newest[order->objects[object].class], MAAR_NO_OBJECT);
}

void maar_order_add_oldest(struct maar_policy_order* order, uint32_t object)
{
    link_between(order, object, MAAR_NO_OBJECT, order->oldest[order->objects[object].class]);
}

void maar_order_remove(struct maar_policy_order* order, uint32_t object)
{
    const struct maar_policy_object* removed = &order->objects[object];
    if (removed->older != MAAR_NO_OBJECT) {
        order->objects[removed->older].newer = removed->newer;
    } else {
        order->oldest[removed->class] = removed->newer;
    }
    if (removed->newer != MAAR_NO_OBJECT) {
        order->objects[removed->newer].older = removed->older;
    } else {
        order->newest[removed->class] = removed->older;
    }
    --order->count;
    if (order->has_heap) {
        remove_from_heap(order, object);
    }
}

uint32_t maar_order_lowest_class(const struct maar_policy_order* order)
{
    uint32_t class = 0;
    while (class < MAAR_POLICY_CLASSES && order->oldest[class] == MAAR_NO_OBJECT) {
        ++class;
    }
    return class;
}

uint32_t maar_order_latest(struct maar_policy_order* order, uint64_t now)
{
    if (!order->has_heap) {
        maar_order_build_heap(order);
    }
    const uint32_t latest = order->heap[0];
    const uint32_t oldest = order->oldest[order->objects[latest].class];
    const struct maar_policy_object* overdue = &order->objects[oldest];
    const bool is_overdue =
        overdue->last != MAAR_NEVER_USED &&
        maar_is_overdue(now, overdue->last, overdue->expected) &&
        maar_is_overdue_first(now, overdue->last, order->objects[latest].expected);
    return is_overdue ? oldest : latest;
}

/* All that is expected late enough is around the top of the heap. */
uint32_t maar_order_clean(const struct maar_policy_order* order, uint64_t least)
{
    uint32_t places[CLEAN_LOOKS] = {0};
    uint32_t count = order->heap_count > 0 ? 1 : 0;
    for (uint32_t looked = 0; looked < count; ++looked) {
        const struct maar_policy_object* object = &order->objects[order->heap[places[looked]]];
        if (!object->is_dirty) {
            return order->heap[places[looked]];
        }
        const uint64_t first = (uint64_t)places[looked] * HEAP_CHILDREN + 1;
        for (uint32_t i = 0; i < HEAP_CHILDREN && first + i < order->heap_count; ++i) {
            const uint32_t child = order->heap[first + i];
            if (count < CLEAN_LOOKS && order->objects[child].expected >= least &&
                order->objects[child].class == object->class) {
                places[count++] = (uint32_t)first + i;
            }
        }
    }
    return MAAR_NO_OBJECT;
}

/* ---- the check ---- */

static const char* check_heap(const struct maar_policy_order* order)
{
    if (order->has_heap && order->heap_count != order->count) {
        return "the heap has not the objects of the lists";
    }
    for (uint32_t at = 0; order->has_heap && at < order->heap_count; ++at) {
        if (order->objects[order->heap[at]].heap_at != at) {
            return "an object does not know its place in the heap";
        }
        if (at > 0 &&
            is_evicted_before(order, order->heap[at], order->heap[(at - 1) / HEAP_CHILDREN])) {
            return "the heap is not in order";
        }
    }
    return NULL;
}

const char* maar_order_check(const struct maar_policy_order* order, uint32_t object_count)
{
    uint32_t count = 0;
    for (uint32_t class = 0; class < MAAR_POLICY_CLASSES; ++class) {
        uint32_t older = MAAR_NO_OBJECT;
        for (uint32_t object = order->oldest[class]; object != MAAR_NO_OBJECT;
             object = order->objects[object].newer) {
            const struct maar_policy_object* listed = &order->objects[object];
            if (object >= object_count || ++count > object_count) {
                return "a list of objects has no end";
            }
            if (listed->older != older || listed->class != class) {
                return "a list of objects is not linked";
            }
            older = object;
        }
        if (order->newest[class] != older) {
            return "a list of objects has another end";
        }
    }
    if (count != order->count) {
        return "the lists have not as many objects as are counted";
    }
    return check_heap(order);
}
