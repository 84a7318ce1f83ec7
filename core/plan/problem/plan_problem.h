/*
 * The data that all stages of the planner read: the input in a form made for planning (graph), and
 * one class of it in units (problem).
 */
#ifndef MAAR_CORE_PLAN_PROBLEM_PLAN_PROBLEM_H
#define MAAR_CORE_PLAN_PROBLEM_PLAN_PROBLEM_H

#include "core/bits.h"
#include "core/plan/problem/plan_budget.h"
#include "core/plan/problem/plan_numbers.h"

/* The uses of a resource on one queue: the first and the last pass. */
struct maar_plan_span {
    uint32_t queue;
    uint32_t first;
    uint32_t last;
};

/* The passes and the orders between resources. */
struct maar_plan_graph {
    const MaarPlanCreateInfo* info;
    struct maar_plan_budget* budget;
    uint32_t count; /* resources */
    uint32_t pass_count;
    /* A resource lives from first to last, both included. With several queues these are positions
     * along a chain of passes (plan_passes.h): resources that overlap there may still be ordered.
     */
    uint32_t* first;
    uint32_t* last;
    /* Several queues: the odd positions in this range, at which the resource lives for certain; it
     * may be empty (first above last). NULL with one queue. */
    uint32_t* inner_first;
    uint32_t* inner_last;
    uint32_t inner_end; /* the last position */
    /* Several queues: row i of `before` has the resources that come after i in every execution.
     * NULL with one queue, with very many resources, and when time was short. */
    uint64_t* before;
    size_t before_words;
    uint32_t queue_count;
    uint32_t* queue; /* per pass: the number of its queue, below queue_count */
    uint32_t* place; /* per pass: the number of passes before it in its queue */
    /* per pass and queue: the place of the first pass that comes after it, UINT32_MAX for none;
     * NULL with very many passes and queues */
    uint32_t* clock;
    uint32_t* position; /* per pass: its place in an order that keeps queues and dependencies */
    /* per pass: along the chain of passes it is at this position or later, and at this one or
     * earlier */
    uint32_t* chain_after;
    uint32_t* chain_before;
    /* Several queues: the spans of resource i are spans[span_begin[i]] to
     * spans[span_begin[i + 1] - 1]. The others have none. */
    struct maar_plan_span* spans;
    size_t* span_begin;
    uint32_t* first_queue; /* per resource: the queue of its first uses, UINT32_MAX for several */
    uint32_t* last_queue;  /* per resource: the queue of its last uses */
    /* per resource: the place of its earliest use; sorts every chain by time */
    uint32_t* begin_rank;
};

/* The cells of one alignment. Conflicting items whose alignment is a multiple of `align` share no
 * cell of that size. */
struct maar_plan_level {
    int64_t align;       /* units */
    int64_t* duration;   /* per item: size in whole cells, units; 0 for items of other alignments */
    uint64_t most_slack; /* bytes: the largest rounding of one item */
};
enum { MAAR_PLAN_MAX_LEVELS = 3 };

/* One class: resources that can be in one VkDeviceMemory, in units. Its resources are called
 * items. */
struct maar_plan_problem {
    const struct maar_plan_graph* graph;
    uint32_t count;
    const uint32_t* resource; /* per item */
    uint32_t type_bits;
    MaarResourceKind kind; /* of all items; UNKNOWN where they differ */
    bool mixed;            /* items of different kinds may meet on a granule */
    uint64_t unit;         /* bytes: all offsets are multiples of the unit */
    uint64_t granularity;  /* bytes; 1 where all items are of one kind */
    /* bytes: the least common multiple of the alignments and the granularity */
    uint64_t alignment;
    uint64_t* bytes;     /* true size */
    int64_t* size;       /* units, rounded up */
    int64_t* align;      /* units, at least 1 */
    int64_t* fixed;      /* units, or -1 */
    uint8_t* kind_index; /* 0, 1, 2 where mixed, else 0 */
    /* Cliques: sets of items that live at the same time. With one queue the cliques are the maximal
     * sections in the order of time, and item i is in the sections from first[i] to last[i]. */
    uint32_t clique_count;
    uint32_t* first;
    uint32_t* last;
    /* Several queues: item i conflicts with the items whose bits are set in row i of `conflict`.
     * Its cliques are member[member_begin[i]] to member[member_begin[i + 1] - 1]. */
    uint32_t* member_begin;
    uint32_t* member;
    uint64_t* conflict;
    size_t conflict_words;
    /* Several queues without `conflict`: items conflict when their intervals along the chain of
     * passes overlap. That is more than needed, so the sections bound no other placement. */
    bool relaxed;
    /* Several queues with `conflict` and many items: sections along the chain of passes, for the
     * quick placements (plan_quick.h). */
    uint32_t* chain_first;
    uint32_t* chain_last;
    uint32_t chain_sections;
    struct maar_plan_level levels[MAAR_PLAN_MAX_LEVELS];
    uint32_t level_count;
    uint64_t lower_bound;  /* bytes: the heaviest clique */
    uint64_t proved_bound; /* bytes: the highest bound that is proved so far */
    uint64_t greedy_peak;  /* bytes */
    uint64_t peak;         /* bytes: the peak of the best placement so far */
};

/* Up to this many cliques, looking at all cliques of an item is quicker than a tree
 * (plan_floors.h).
 */
enum { MAAR_PLAN_FEW_CLIQUES = 128 };

/* Returns whether a pass comes after another one. Without clocks, only the order of each queue and
 * the chain of passes are known. */
static inline bool maar_plan_pass_follows(const struct maar_plan_graph* graph, uint32_t before,
                                          uint32_t after)
{
    if (graph->clock == NULL) {
        return graph->queue[before] == graph->queue[after]
                   ? graph->place[before] < graph->place[after]
                   : graph->chain_before[before] < graph->chain_after[after];
    }
    return graph->place[after] >=
           graph->clock[(size_t)before * graph->queue_count + graph->queue[after]];
}

/* Returns whether two items conflict. They may then not share bytes. */
static inline bool maar_plan_conflicts(const struct maar_plan_problem* problem, uint32_t a,
                                       uint32_t b)
{
    if (problem->conflict == NULL) {
        return problem->first[a] <= problem->last[b] && problem->first[b] <= problem->last[a];
    }
    return maar_plan_has(problem->conflict + (size_t)a * problem->conflict_words, b);
}

/* Returns the lowest multiple of `align` at or above a value. */
static inline int64_t maar_plan_align_up(int64_t value, int64_t align)
{
    MAAR_DEBUG_ASSERT(value >= 0 && align > 0);
    return (int64_t)maar_align_up((uint64_t)value, (uint64_t)align);
}

/* Returns the least offset in units for an item above an item of another kind that ends at byte
 * `end`. */
static inline int64_t maar_plan_granule_top(const struct maar_plan_problem* problem, uint64_t end)
{
    const uint64_t granule = problem->granularity;
    return (int64_t)(maar_align_up(end, granule) / problem->unit);
}

/* Returns the least offset that item b may have on top of item a. The alignment of b is ignored. */
static inline int64_t maar_plan_top(const struct maar_plan_problem* problem, uint32_t a,
                                    int64_t offset, uint32_t b)
{
    if (problem->mixed && problem->kind_index[a] != problem->kind_index[b]) {
        return maar_plan_granule_top(problem, (uint64_t)offset * problem->unit + problem->bytes[a]);
    }
    return offset + problem->size[a];
}

/* Returns the bytes from 0 to the end of an item. */
static inline uint64_t maar_plan_end(const struct maar_plan_problem* problem, uint32_t item,
                                     int64_t offset)
{
    return (uint64_t)offset * problem->unit + problem->bytes[item];
}

/* Returns the seed of the search, 0 where none is given. */
uint64_t maar_plan_seed(const MaarPlanCreateInfo* info);
/* Returns the largest end of all items, in bytes. */
uint64_t maar_plan_peak(const struct maar_plan_problem* problem, const int64_t* offsets);
/* Returns whether a placement satisfies alignments, fixed offsets and conflicts. With more than a
 * few thousand items, conflicts are not checked. */
bool maar_plan_is_sound(const struct maar_plan_problem* problem, const int64_t* offsets);

#endif
