/*
 * The tree is a treap: a search tree by key and a heap by priority. The priority of an item is the
 * hash of its point. So the expected depth of the tree is logarithmic for every order of additions.
 * Callers do not know the priorities.
 */
#include "core/time/retire_tree.h"

#include "core/time/retire.h"

/* All items of a group have the same priority. Consecutive values have unrelated priorities. */
static uint64_t priority_of(const struct maar_retire_item* item)
{
    const MaarPoint* point = &item->points[item->at];
    uint64_t hash = ((uint64_t)point->semaphore + point->value) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

/* Compares a key with the key of an item. Returns a negative number when the given key is lower, 0
 * when both are equal, and otherwise a positive number. */
static inline int compare_key(const struct maar_retire_key* key,
                              const struct maar_retire_item* item)
{
    const MaarPoint* point = &item->points[item->at];
    if (key->order != item->order) {
        return key->order < item->order ? -1 : 1;
    }
    if (key->semaphore != point->semaphore) {
        return (uint64_t)key->semaphore < (uint64_t)point->semaphore ? -1 : 1;
    }
    return key->value < point->value ? -1 : key->value > point->value;
}

static inline struct maar_retire_key tree_key_of(const struct maar_retire_item* item)
{
    const MaarPoint* point = &item->points[item->at];
    return (struct maar_retire_key){item->order, point->semaphore, point->value};
}

/* Returns the pointer in the tree that points to an item. */
static struct maar_retire_item** holder_of(struct maar_retire_item** root,
                                           const struct maar_retire_item* item)
{
    struct maar_retire_item* parent = item->parent;
    if (parent == NULL) {
        return root;
    }
    return parent->left == item ? &parent->left : &parent->right;
}

static void set_parent(struct maar_retire_item* item, struct maar_retire_item* parent)
{
    if (item != NULL) {
        item->parent = parent;
    }
}

/* Moves an item above its parent, by one rotation. */
static void rotate_up(struct maar_retire_item** root, struct maar_retire_item* item)
{
    struct maar_retire_item* parent = item->parent;
    *holder_of(root, parent) = item;
    item->parent = parent->parent;
    parent->parent = item;
    if (parent->left == item) {
        parent->left = item->right;
        set_parent(parent->left, parent);
        item->right = parent;
    } else {
        parent->right = item->left;
        set_parent(parent->right, parent);
        item->left = parent;
    }
}

void maar_retire_tree_join(struct maar_retire_item* first, struct maar_retire_item* item)
{
    struct maar_retire_item* last = first->previous;
    item->is_first = false;
    item->next = first;
    item->previous = last;
    last->next = item;
    first->previous = item;
}

/* Begins a group at an empty place of the tree. */
static void attach(struct maar_retire_item** root, struct maar_retire_item* parent,
                   struct maar_retire_item** holder, struct maar_retire_item* item)
{
    item->parent = parent;
    item->left = NULL;
    item->right = NULL;
    item->next = item;
    item->previous = item;
    item->is_first = true;
    *holder = item;
    while (item->parent != NULL && priority_of(item) < priority_of(item->parent)) {
        rotate_up(root, item);
    }
}

void maar_retire_tree_add(struct maar_retire_item** root, struct maar_retire_item* item)
{
    const struct maar_retire_key key = tree_key_of(item);
    struct maar_retire_item** holder = root;
    struct maar_retire_item* parent = NULL;
    while (*holder != NULL) {
        parent = *holder;
        const int order = compare_key(&key, parent);
        if (order == 0) {
            maar_retire_tree_join(parent, item);
            return;
        }
        holder = order < 0 ? &parent->left : &parent->right;
    }
    attach(root, parent, holder, item);
}

void maar_retire_tree_add_last(struct maar_retire_item** root, struct maar_retire_item* first,
                               struct maar_retire_item* item)
{
    struct maar_retire_item* parent = first;
    struct maar_retire_item** holder = &first->right;
    while (*holder != NULL) {
        parent = *holder;
        holder = &parent->left;
    }
    attach(root, parent, holder, item);
}

/* Replaces the first item of a ring in the tree by another item of the ring. */
static void replace_first(struct maar_retire_item** root, const struct maar_retire_item* first,
                          struct maar_retire_item* next)
{
    *holder_of(root, first) = next;
    next->is_first = true;
    next->parent = first->parent;
    next->left = first->left;
    next->right = first->right;
    set_parent(next->left, next);
    set_parent(next->right, next);
}

/* Removes a group from the tree. `item` is the first item of the group. */
static void detach(struct maar_retire_item** root, struct maar_retire_item* item)
{
    while (item->left != NULL && item->right != NULL) {
        const bool left = priority_of(item->left) < priority_of(item->right);
        rotate_up(root, left ? item->left : item->right);
    }
    struct maar_retire_item* child = item->left != NULL ? item->left : item->right;
    *holder_of(root, item) = child;
    set_parent(child, item->parent);
}

void maar_retire_tree_remove(struct maar_retire_item** root, struct maar_retire_item* first,
                             struct maar_retire_item* last)
{
    struct maar_retire_item* next = last->next;
    if (next == first) {
        detach(root, first);
        return;
    }
    first->previous->next = next;
    next->previous = first->previous;
    if (first->is_first) {
        replace_first(root, first, next);
    }
}

struct maar_retire_item* maar_retire_tree_find(struct maar_retire_item* root,
                                               const struct maar_retire_key* key, bool after)
{
    struct maar_retire_item* found = NULL;
    for (struct maar_retire_item* item = root; item != NULL;) {
        const int order = compare_key(key, item);
        if (order < 0 || (order == 0 && !after)) {
            found = item;
            item = item->left;
        } else {
            item = item->right;
        }
    }
    return found;
}

struct maar_retire_item* maar_retire_tree_next(const struct maar_retire_item* item)
{
    if (!item->next->is_first) {
        return item->next;
    }
    const struct maar_retire_item* child = item->next;
    struct maar_retire_item* next = child->right;
    if (next != NULL) {
        while (next->left != NULL) {
            next = next->left;
        }
        return next;
    }
    for (next = child->parent; next != NULL && next->right == child; next = child->parent) {
        child = next;
    }
    return next;
}

const char* maar_retire_tree_check(struct maar_retire_item* root, uint64_t* item_count)
{
    const struct maar_retire_key least = {.order = 0};
    const struct maar_retire_item* item = maar_retire_tree_find(root, &least, false);
    *item_count = 0;
    while (item != NULL) {
        const struct maar_retire_item* next = maar_retire_tree_next(item);
        const struct maar_retire_key key = tree_key_of(item);
        if (item->next->previous != item) {
            return "a ring of pending items is broken";
        }
        if (item->is_first && *holder_of(&root, item) != item) {
            return "a pending item is not where its parent in the tree says";
        }
        if (item->is_first && item->parent != NULL &&
            priority_of(item) < priority_of(item->parent)) {
            return "the tree of pending items is out of balance";
        }
        if (next != NULL &&
            (compare_key(&key, next) > 0 || (compare_key(&key, next) == 0) == next->is_first)) {
            return "the tree of pending items is out of order";
        }
        ++*item_count;
        item = next;
    }
    return NULL;
}
