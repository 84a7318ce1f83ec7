/*
 * The state of one exact search, which walk, bounds and restarts share.
 */
#ifndef MAAR_CORE_PLAN_EXACT_EXACT_SEARCH_H
#define MAAR_CORE_PLAN_EXACT_EXACT_SEARCH_H

#include "core/plan/exact/exact.h"
#include "core/plan/problem/plan_rank.h"

/* The number of steps that count as one more node; they take about 10 us. A step adds one job to
 * one clique, or compares two items in maar_exact_lift. */
enum { MAAR_EXACT_NODE_STEPS = 16384 };

/* An item that is not placed yet. Items are numbered by rank within a search. */
struct maar_exact_entry {
    int64_t least; /* units: the least offset on top of the placed items */
    /* Units: in every solution below this node the item lies at this offset or higher. In a node
     * further down, the value may be lower where the item is not skipped any more. */
    int64_t release;
    uint32_t item;
    bool skipped; /* the item does not lie at `least`: another item has to lift it */
};

/* A range of sections; empty if low is above high. */
struct maar_exact_range {
    uint32_t low, high;
};

/* A node of the tree: the items of some cliques that are not placed yet, sorted by release, then by
 * rank. */
struct maar_exact_node {
    size_t begin; /* its first entry */
    size_t free;  /* entries from here on are free for its children */
    uint32_t count;
    uint32_t low, high; /* the range of its cliques: all, or a part of time */
    uint32_t trail;     /* number of items that were placed before its candidate */
    /* index of the entry that was placed; of a split node: number of parts entered */
    uint32_t candidate;
    uint32_t part, part_end; /* the range of its parts; empty unless the node is split */
    /* One queue: sections in which releases differ from those of the node above. */
    struct maar_exact_range changed;
    /* Of a split node: the sections that were out of date when it was split. */
    struct maar_exact_range stale;
    bool forced; /* the candidate raised no other item, so there is no alternative to try */
    bool is_split;
};

/* A part of time whose items are searched alone. */
struct maar_exact_part {
    size_t begin;
    uint32_t count;
    uint32_t low, high;
};

/* The state of a search. */
struct maar_exact_search {
    const struct maar_plan_problem* problem;
    const struct maar_plan_measure* measures;
    uint32_t count;
    uint64_t* steps; /* per item of the problem: how long it lives */
    bool plain;      /* no alignment beyond the unit, no mixed kinds, no fixed offsets */
    /* The items by rank. */
    uint32_t* item; /* number in the problem */
    int64_t* size;
    uint32_t* first; /* one queue: first section by rank; else NULL */
    uint32_t* last;
    int64_t* highest; /* the highest offset within the capacity */
    uint32_t* twin;   /* an equal item that must be placed before, or UINT32_MAX */
    bool* placed;
    int64_t* offset;
    /* The cliques. */
    uint32_t* crossing; /* number of items not placed that are in this section and the next */
    int64_t* load;      /* of the last bounded node: the least end of the items that are left */
    int64_t* floor;     /* likewise: the least release of these items; INT64_MAX for none */
    uint32_t* lowest;   /* likewise: how many of these items can be the lowest one */
    int64_t* limit;     /* the highest offset of the lowest item that is left */
    /* One queue: the sections in which load, floor and lowest are out of date for the present
     * node. */
    struct maar_exact_range stale;
    uint64_t* failures; /* how often the clique's items could not fit */
    /* a hash of the items, independent of their order and of the direction of time */
    uint64_t* signature;
    /* The walk. */
    struct maar_exact_entry* entries;
    struct maar_exact_node* nodes;
    uint32_t depth; /* the present node, an index of `nodes` */
    struct maar_exact_part* parts;
    uint32_t* trail;
    uint32_t trail_count;
    struct maar_exact_entry* raised;
    int64_t* lifted;
    struct maar_plan_key* keys;
    struct maar_plan_key* other_keys;
    uint64_t work;                               /* steps that have not counted as a node yet */
    int64_t capacity;                            /* units: no clique's load may be above it */
    int64_t* cell_load;                          /* like load, in the cells of one level */
    int64_t* duration[MAAR_PLAN_MAX_LEVELS];     /* by rank; NULL for a level not in use */
    int64_t cell_capacity[MAAR_PLAN_MAX_LEVELS]; /* units: the most load at each level */
    /* The weights of maar_exact_choose. */
    uint32_t slack_weight; /* 1024ths */
    int64_t distance_weight;
    uint32_t shift;
    bool weighs_failures;
    bool weighs_lowest;
    uint32_t walks; /* number of walks so far, of all capacities */
    uint64_t random;
};

static const struct maar_exact_range maar_exact_no_range = {UINT32_MAX, 0};

/* Returns whether two items conflict. Takes their ranks. */
static inline bool maar_exact_ranks_conflict(const struct maar_exact_search* search, uint32_t a,
                                             uint32_t b)
{
    if (search->first != NULL) {
        return search->first[a] <= search->last[b] && search->first[b] <= search->last[a];
    }
    return maar_plan_conflicts(search->problem, search->item[a], search->item[b]);
}

/* Adds the sections of another range to a range, and those between them. */
static inline void maar_exact_widen(struct maar_exact_range* range, struct maar_exact_range other)
{
    if (other.low <= other.high) {
        range->low = range->low < other.low ? range->low : other.low;
        range->high = range->high > other.high ? range->high : other.high;
    }
}

/* Adds the sections of an item to a range. */
static inline void maar_exact_widen_by(const struct maar_exact_search* search,
                                       struct maar_exact_range* range, uint32_t rank)
{
    if (search->first != NULL) {
        maar_exact_widen(range, (struct maar_exact_range){search->first[rank], search->last[rank]});
    }
}

/* Returns the least offset of item b on top of item a at `offset`. */
static inline int64_t maar_exact_rank_top(const struct maar_exact_search* search, uint32_t a,
                                          int64_t offset, uint32_t b)
{
    if (search->plain) {
        return offset + search->size[a];
    }
    const struct maar_plan_problem* problem = search->problem;
    return maar_plan_align_up(maar_plan_top(problem, search->item[a], offset, search->item[b]),
                              problem->align[search->item[b]]);
}

/* Returns whether an item has a fixed offset. */
static inline bool maar_exact_is_fixed(const struct maar_exact_search* search, uint32_t rank)
{
    return !search->plain && search->problem->fixed[search->item[rank]] >= 0;
}

/* Returns whether an entry comes before another one: by release, then by rank. */
static inline bool maar_exact_entry_less(const struct maar_exact_entry* a,
                                         const struct maar_exact_entry* b)
{
    return a->release < b->release || (a->release == b->release && a->item < b->item);
}

#endif
