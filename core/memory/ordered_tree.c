/*
 * The trees of ordered ranges: see ordered_range.h. Each is a treap: a search tree by key and a
 * heap by priority, the hash of the range's serial. So the expected depth is logarithmic for every
 * order of additions, and the same calls give the same tree.
 */
#include "core/memory/ordered_range.h"

#include <stddef.h>

static uint64_t priority_of_range(const struct maar_ordered_range* range)
{
    uint64_t hash = (range->serial + 1) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

struct maar_ordered_place maar_ordered_place_of(const struct maar_ordered_range* range)
{
    return (struct maar_ordered_place){
        .pool = range->pool,
        .kind = range->kind,
        .number = range->points.numbers[0],
        .size = range->size,
        .value = range->points.values[0],
        .serial = range->serial,
    };
}

static int compare_numbers(uint64_t one, uint64_t other)
{
    return one < other ? -1 : one > other;
}

/* Compares two places by pool, kind and timeline alone. */
static int compare_groups(const struct maar_ordered_place* one,
                          const struct maar_ordered_place* other)
{
    int order = compare_numbers((uintptr_t)one->pool, (uintptr_t)other->pool);
    order = order != 0 ? order : compare_numbers(one->kind, other->kind);
    return order != 0 ? order : compare_numbers(one->number, other->number);
}

static int compare_places(const struct maar_ordered_place* one,
                          const struct maar_ordered_place* other)
{
    int order = compare_groups(one, other);
    order = order != 0 ? order : compare_numbers(one->size, other->size);
    order = order != 0 ? order : compare_numbers(one->value, other->value);
    return order != 0 ? order : compare_numbers(one->serial, other->serial);
}

static int compare_ranges(const struct maar_ordered_range* one,
                          const struct maar_ordered_range* other, enum maar_ordered_order order)
{
    if (order == MAAR_ORDERED_BY_SLOT) {
        return compare_numbers(one->slot, other->slot);
    }
    const struct maar_ordered_place place = maar_ordered_place_of(one);
    const struct maar_ordered_place other_place = maar_ordered_place_of(other);
    return compare_places(&place, &other_place);
}

static uint64_t least_value_of(const struct maar_ordered_range* range)
{
    return range != NULL ? range->least : UINT64_MAX;
}

/* Sets the lowest value of a subtree from those of its parts. */
static void pull(struct maar_ordered_range* range, enum maar_ordered_order order)
{
    if (order == MAAR_ORDERED_BY_PLACE) {
        const struct maar_ordered_links* links = &range->links[order];
        const uint64_t left = least_value_of(links->left);
        const uint64_t right = least_value_of(links->right);
        const uint64_t below = left < right ? left : right;
        range->least = range->points.values[0] < below ? range->points.values[0] : below;
    }
}

/* Returns the pointer in the tree that points to a range. */
static struct maar_ordered_range** holder_of_range(struct maar_ordered_range** root,
                                                   const struct maar_ordered_range* range,
                                                   enum maar_ordered_order order)
{
    struct maar_ordered_range* parent = range->links[order].parent;
    if (parent == NULL) {
        return root;
    }
    struct maar_ordered_links* links = &parent->links[order];
    return links->left == range ? &links->left : &links->right;
}

static void set_range_parent(struct maar_ordered_range* range, struct maar_ordered_range* parent,
                             enum maar_ordered_order order)
{
    if (range != NULL) {
        range->links[order].parent = parent;
    }
}

/* Moves a range above its parent, by one rotation. */
static void lift(struct maar_ordered_range** root, struct maar_ordered_range* range,
                 enum maar_ordered_order order)
{
    struct maar_ordered_range* parent = range->links[order].parent;
    struct maar_ordered_links* up = &parent->links[order];
    struct maar_ordered_links* own = &range->links[order];
    *holder_of_range(root, parent, order) = range;
    own->parent = up->parent;
    up->parent = range;
    if (up->left == range) {
        up->left = own->right;
        set_range_parent(up->left, parent, order);
        own->right = parent;
    } else {
        up->right = own->left;
        set_range_parent(up->right, parent, order);
        own->left = parent;
    }
    pull(parent, order);
    pull(range, order);
}

static void pull_path(struct maar_ordered_range* range, enum maar_ordered_order order)
{
    for (; range != NULL; range = range->links[order].parent) {
        pull(range, order);
    }
}

void maar_ordered_tree_add(struct maar_ordered_range** root, struct maar_ordered_range* range,
                           enum maar_ordered_order order)
{
    struct maar_ordered_range** holder = root;
    struct maar_ordered_range* parent = NULL;
    while (*holder != NULL) {
        parent = *holder;
        struct maar_ordered_links* links = &parent->links[order];
        holder = compare_ranges(range, parent, order) < 0 ? &links->left : &links->right;
    }
    struct maar_ordered_links* own = &range->links[order];
    *own = (struct maar_ordered_links){.parent = parent};
    *holder = range;
    pull_path(range, order);
    while (own->parent != NULL && priority_of_range(range) < priority_of_range(own->parent)) {
        lift(root, range, order);
    }
}

void maar_ordered_tree_remove(struct maar_ordered_range** root, struct maar_ordered_range* range,
                              enum maar_ordered_order order)
{
    struct maar_ordered_links* own = &range->links[order];
    while (own->left != NULL && own->right != NULL) {
        const bool left = priority_of_range(own->left) < priority_of_range(own->right);
        lift(root, left ? own->left : own->right, order);
    }
    struct maar_ordered_range* child = own->left != NULL ? own->left : own->right;
    *holder_of_range(root, range, order) = child;
    set_range_parent(child, own->parent, order);
    pull_path(own->parent, order);
}

struct maar_ordered_range* maar_ordered_tree_find(struct maar_ordered_range* root, uint32_t slot)
{
    while (root != NULL && root->slot != slot) {
        const struct maar_ordered_links* links = &root->links[MAAR_ORDERED_BY_SLOT];
        root = slot < root->slot ? links->left : links->right;
    }
    return root;
}

/* Returns the first range of a subtree whose first value is at most `limit`. There is one. */
static struct maar_ordered_range* first_below(struct maar_ordered_range* range, uint64_t limit)
{
    for (;;) {
        const struct maar_ordered_links* links = &range->links[MAAR_ORDERED_BY_PLACE];
        if (least_value_of(links->left) <= limit) {
            range = links->left;
        } else if (range->points.values[0] <= limit) {
            return range;
        } else {
            range = links->right;
        }
    }
}

/* On the way down to `from`, the last range that is not before it and that is good, or has a good
 * one on its right, precedes all others of that sort. */
struct maar_ordered_range* maar_ordered_tree_first(struct maar_ordered_range* root,
                                                   const struct maar_ordered_place* from,
                                                   uint64_t limit)
{
    struct maar_ordered_range* best = NULL;
    for (struct maar_ordered_range* range = root; range != NULL;) {
        const struct maar_ordered_links* links = &range->links[MAAR_ORDERED_BY_PLACE];
        const struct maar_ordered_place place = maar_ordered_place_of(range);
        if (compare_places(&place, from) < 0) {
            range = links->right;
        } else {
            if (range->points.values[0] <= limit || least_value_of(links->right) <= limit) {
                best = range;
            }
            range = links->left;
        }
    }
    if (best != NULL && best->points.values[0] > limit) {
        best = first_below(best->links[MAAR_ORDERED_BY_PLACE].right, limit);
    }
    if (best != NULL) {
        const struct maar_ordered_place place = maar_ordered_place_of(best);
        best = compare_groups(&place, from) == 0 ? best : NULL;
    }
    return best;
}

struct maar_ordered_range* maar_ordered_tree_least(struct maar_ordered_range* root,
                                                   enum maar_ordered_order order)
{
    while (root != NULL && root->links[order].left != NULL) {
        root = root->links[order].left;
    }
    return root;
}

struct maar_ordered_range* maar_ordered_tree_next(const struct maar_ordered_range* range,
                                                  enum maar_ordered_order order)
{
    struct maar_ordered_range* next = range->links[order].right;
    if (next != NULL) {
        while (next->links[order].left != NULL) {
            next = next->links[order].left;
        }
        return next;
    }
    for (next = range->links[order].parent; next != NULL && next->links[order].right == range;
         next = next->links[order].parent) {
        range = next;
    }
    return next;
}

const char* maar_ordered_tree_check(struct maar_ordered_range* root, enum maar_ordered_order order,
                                    uint64_t* count)
{
    struct maar_ordered_range* range = maar_ordered_tree_least(root, order);
    *count = 0;
    while (range != NULL) {
        struct maar_ordered_range* next = maar_ordered_tree_next(range, order);
        const struct maar_ordered_range* parent = range->links[order].parent;
        const uint64_t least = range->least;
        if (*holder_of_range(&root, range, order) != range ||
            (parent != NULL && priority_of_range(range) < priority_of_range(parent))) {
            return "a tree of ordered ranges is out of balance";
        }
        if (next != NULL && compare_ranges(range, next, order) >= 0) {
            return "a tree of ordered ranges is out of order";
        }
        pull(range, order);
        if (range->least != least) {
            return "a subtree of ordered ranges does not know its lowest value";
        }
        ++*count;
        range = next;
    }
    return NULL;
}
