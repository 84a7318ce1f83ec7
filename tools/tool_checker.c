/*
 * Interval bookkeeping; see tool_checker.h. The intervals form a treap keyed by memory, offset and
 * node number. Its nodes are an array with a slot for each allocation of the trace. A new interval
 * is compared only with its nearest neighbours: the intervals of the tree are disjoint, so that an
 * interval which overlaps any of them overlaps a neighbour.
 */
#include "tool_checker.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#define NO_NODE UINT32_MAX

/* The most faults that one run prints. Further faults are only counted. */
#define MAX_PRINTED_FAULTS 10u

struct checker_node {
    struct tool_place place;
    uint64_t label;
    uint32_t left, right;
    uint32_t rank; /* heap order of the treap; odd, so never zero */
};

struct tool_checker {
    pthread_mutex_t mutex; /* guards all fields below; no other lock is taken under it */
    struct checker_node* nodes;
    uint32_t node_count; /* nodes of the trace's allocations, then those of page runs */
    uint32_t node_capacity;
    uint32_t free_node; /* first unused node of a page run; linked by `left` */
    uint32_t root;
    uint32_t random;
    uint32_t faults;
    VkDeviceSize granularity;
};

struct tool_checker* tool_checker_create(uint32_t node_count, VkDeviceSize granularity)
{
    struct tool_checker* const checker = calloc(1, sizeof(*checker));
    if (checker == NULL) {
        return NULL;
    }
    checker->nodes = calloc((size_t)node_count + 1, sizeof(*checker->nodes));
    if (checker->nodes == NULL) {
        free(checker);
        return NULL;
    }
    pthread_mutex_init(&checker->mutex, NULL);
    checker->node_count = node_count;
    checker->node_capacity = node_count + 1;
    checker->free_node = NO_NODE;
    checker->root = NO_NODE;
    checker->random = 0x6D616172;
    checker->granularity = granularity;
    return checker;
}

void tool_checker_destroy(struct tool_checker* checker)
{
    if (checker != NULL) {
        pthread_mutex_destroy(&checker->mutex);
        free(checker->nodes);
        free(checker);
    }
}

uint32_t tool_checker_faults(const struct tool_checker* checker)
{
    return checker->faults;
}

/* Takes a node for a page run. The caller holds the mutex. */
static bool take_node(struct tool_checker* checker, uint32_t* node)
{
    if (checker->free_node != NO_NODE) {
        *node = checker->free_node;
        checker->free_node = checker->nodes[*node].left;
        return true;
    }
    if (checker->node_count == checker->node_capacity) {
        const uint32_t capacity = checker->node_capacity * 2;
        struct checker_node* const grown =
            realloc(checker->nodes, (size_t)capacity * sizeof(*grown));
        if (grown == NULL) {
            return false;
        }
        checker->nodes = grown;
        checker->node_capacity = capacity;
    }
    *node = checker->node_count++;
    return true;
}

bool tool_checker_take_nodes(struct tool_checker* checker, uint32_t count, uint32_t* nodes)
{
    uint32_t taken = 0;
    pthread_mutex_lock(&checker->mutex);
    while (taken < count && take_node(checker, &nodes[taken])) {
        ++taken;
    }
    pthread_mutex_unlock(&checker->mutex);
    if (taken < count) {
        tool_checker_return_nodes(checker, taken, nodes);
    }
    return taken == count;
}

void tool_checker_return_nodes(struct tool_checker* checker, uint32_t count, const uint32_t* nodes)
{
    pthread_mutex_lock(&checker->mutex);
    for (uint32_t i = 0; i < count; ++i) {
        checker->nodes[nodes[i]].left = checker->free_node;
        checker->free_node = nodes[i];
    }
    pthread_mutex_unlock(&checker->mutex);
}

bool tool_checker_complain(struct tool_checker* checker, uint64_t label, const char* what)
{
    pthread_mutex_lock(&checker->mutex);
    if (checker->faults++ < MAX_PRINTED_FAULTS) {
        tool_complain("mismatch: id %" PRIu64 " %s", label, what);
    }
    pthread_mutex_unlock(&checker->mutex);
    return false;
}

static bool node_before(const struct tool_checker* checker, uint32_t a, uint32_t b)
{
    const struct tool_place* const x = &checker->nodes[a].place;
    const struct tool_place* const y = &checker->nodes[b].place;
    if (x->memory != y->memory) {
        return x->memory < y->memory;
    }
    if (x->offset != y->offset) {
        return x->offset < y->offset;
    }
    return a < b;
}

/* Splits a tree into the nodes before and the nodes after `node`, which is not in the tree. */
static void split_tree(struct tool_checker* checker, uint32_t tree, uint32_t node, uint32_t* before,
                       uint32_t* after)
{
    while (tree != NO_NODE) {
        if (node_before(checker, tree, node)) {
            *before = tree;
            before = &checker->nodes[tree].right;
            tree = *before;
        } else {
            *after = tree;
            after = &checker->nodes[tree].left;
            tree = *after;
        }
    }
    *before = NO_NODE;
    *after = NO_NODE;
}

static uint32_t join_trees(struct tool_checker* checker, uint32_t before, uint32_t after)
{
    uint32_t joined = NO_NODE;
    uint32_t* link = &joined;
    while (before != NO_NODE && after != NO_NODE) {
        if (checker->nodes[before].rank > checker->nodes[after].rank) {
            *link = before;
            link = &checker->nodes[before].right;
            before = *link;
        } else {
            *link = after;
            link = &checker->nodes[after].left;
            after = *link;
        }
    }
    *link = before != NO_NODE ? before : after;
    return joined;
}

static uint32_t* find_link(struct tool_checker* checker, uint32_t node, uint32_t rank)
{
    uint32_t* link = &checker->root;
    while (*link != NO_NODE && *link != node && checker->nodes[*link].rank > rank) {
        link = node_before(checker, node, *link) ? &checker->nodes[*link].left
                                                 : &checker->nodes[*link].right;
    }
    return link;
}

static void find_neighbours(const struct tool_checker* checker, uint32_t node, uint32_t* before,
                            uint32_t* after)
{
    *before = NO_NODE;
    *after = NO_NODE;
    uint32_t at = checker->root;
    while (at != NO_NODE) {
        if (node_before(checker, node, at)) {
            *after = at;
            at = checker->nodes[at].left;
        } else {
            *before = at;
            at = checker->nodes[at].right;
        }
    }
}

static bool fault(struct tool_checker* checker, uint32_t node, const char* what, uint32_t other)
{
    const struct tool_place* const place = &checker->nodes[node].place;
    if (checker->faults++ < MAX_PRINTED_FAULTS) {
        char suffix[96] = "";
        if (other != NO_NODE) {
            snprintf(suffix, sizeof(suffix), " id %" PRIu64 " at %" PRIu64 "+%" PRIu64,
                     checker->nodes[other].label, checker->nodes[other].place.offset,
                     checker->nodes[other].place.size);
        }
        tool_complain("mismatch: id %" PRIu64 " at %" PRIu64 "+%" PRIu64 " of a block of %" PRIu64
                      " bytes %s%s",
                      checker->nodes[node].label, place->offset, place->size, place->block_size,
                      what, suffix);
    }
    return false;
}

/* `first` lies before `second`. */
static bool check_pair(struct tool_checker* checker, uint32_t node, uint32_t first, uint32_t second)
{
    if (first == NO_NODE || second == NO_NODE) {
        return true;
    }
    const struct tool_place* const a = &checker->nodes[first].place;
    const struct tool_place* const b = &checker->nodes[second].place;
    const uint32_t other = node == first ? second : first;
    if (a->memory != b->memory) {
        return true;
    }
    const VkDeviceSize end = a->offset + a->size;
    if (end > b->offset) {
        return fault(checker, node, "overlaps", other);
    }
    const VkDeviceSize page = checker->granularity;
    if (page > 1 && a->kind != b->kind && (end - 1) / page == b->offset / page) {
        return fault(checker, node, "shares a granularity page with", other);
    }
    return true;
}

bool tool_checker_insert(struct tool_checker* checker, uint32_t node, uint64_t label,
                         const struct tool_place* place, VkDeviceSize alignment)
{
    bool good = true;
    pthread_mutex_lock(&checker->mutex);
    struct checker_node* const entry = &checker->nodes[node];
    checker->random = checker->random * 1664525u + 1013904223u;
    *entry = (struct checker_node){.place = *place,
                                   .label = label,
                                   .left = NO_NODE,
                                   .right = NO_NODE,
                                   .rank = (checker->random ^ (checker->random >> 16)) | 1u};
    if (place->size == 0 || place->size > place->block_size ||
        place->offset > place->block_size - place->size) {
        good = fault(checker, node, "lies outside it", NO_NODE);
    } else if (alignment > 1 && place->offset % alignment != 0) {
        good = fault(checker, node, "is misaligned", NO_NODE);
    }
    uint32_t before = NO_NODE;
    uint32_t after = NO_NODE;
    find_neighbours(checker, node, &before, &after);
    good = check_pair(checker, node, before, node) && good;
    good = check_pair(checker, node, node, after) && good;
    uint32_t* const link = find_link(checker, node, entry->rank);
    split_tree(checker, *link, node, &entry->left, &entry->right);
    *link = node;
    pthread_mutex_unlock(&checker->mutex);
    return good;
}

bool tool_checker_remove(struct tool_checker* checker, uint32_t node,
                         const struct tool_place* place)
{
    bool good = true;
    pthread_mutex_lock(&checker->mutex);
    struct checker_node* const entry = &checker->nodes[node];
    uint32_t* const link = find_link(checker, node, 0);
    if (*link != node) {
        good = fault(checker, node, "is not in the book", NO_NODE);
    } else {
        *link = join_trees(checker, entry->left, entry->right);
    }
    if (entry->place.memory != place->memory || entry->place.offset != place->offset ||
        entry->place.size != place->size) {
        good = fault(checker, node, "lies elsewhere when it is freed", NO_NODE);
    }
    pthread_mutex_unlock(&checker->mutex);
    return good;
}
