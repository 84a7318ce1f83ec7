/*
 * What the files of the planner share: the input in a form made for planning (graph), one class of
 * it in units (problem), and the steps from one to the next. docs/design/planner.md says which file
 * takes which step.
 */
#ifndef MAAR_CORE_PLAN_PLAN_INTERNAL_H
#define MAAR_CORE_PLAN_PLAN_INTERNAL_H

#include "core/bits.h"
#include "core/host_stack.h"
#include "maar/plan.h"

#include <stdbool.h>

/* Bits of one word of a set. */
enum { MAAR_PLAN_WORD_BITS = 64 };

static inline size_t maar_plan_words(size_t bits)
{
    return (bits + MAAR_PLAN_WORD_BITS - 1) / MAAR_PLAN_WORD_BITS;
}

static inline bool maar_plan_has(const uint64_t* set, uint32_t bit)
{
    return (set[bit / 64] >> (bit % 64) & 1) != 0;
}

static inline void maar_plan_put(uint64_t* set, uint32_t bit)
{
    set[bit / 64] |= (uint64_t)1 << (bit % 64);
}

/* 31 random bits by xorshift64* (Vigna, 2014); the state is never 0. */
static inline uint64_t maar_plan_draw(uint64_t* state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545F4914F6CDD1Du) >> 33;
}

static inline uint64_t maar_plan_add_saturated(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* What the whole plan may still spend. */
struct maar_plan_budget {
    uint64_t nodes_left;
    uint64_t nodes_used;
    uint64_t deadline_ns; /* UINT64_MAX for none */
    PFN_maarPlanCancel cancel;
    void* cancel_user_data;
    MaarPlanStop stop; /* MAAR_PLAN_STOP_DONE while nothing has run out */
    /* What only improves was left out: for want of time or memory, or cancelled. Not repeatable. */
    bool cut_short;
};

/* True, and `stop` says why, when the clock or the caller ends the search. */
bool maar_plan_interrupted(struct maar_plan_budget* budget);

/* The passes and the orders between resources. */
struct maar_plan_graph {
    const MaarPlanCreateInfo* info;
    struct maar_plan_budget* budget;
    uint32_t count; /* resources */
    uint32_t pass_count;
    /* One queue: a resource lives from first to last, both included; NULL with several. */
    uint32_t* first;
    uint32_t* last;
    /* Several queues: row i of `before` has the resources that come after i whatever happens. */
    uint64_t* before;
    size_t before_words;
    uint64_t* reach;      /* row p: the passes that come after pass p */
    size_t reach_words;   /* words of one row */
    uint32_t* position;   /* per pass: its place in an order that keeps all others */
    uint32_t* begin_rank; /* per resource: the place of its earliest use; orders any chain */
};

/* Items whose alignment is a multiple of `align` have cells of that size for themselves. */
struct maar_plan_level {
    int64_t align;       /* units */
    int64_t* duration;   /* per item: size in whole cells, units; 0 for those of other alignments */
    uint64_t most_slack; /* bytes: the most that one of them is rounded up by */
};
enum { MAAR_PLAN_MAX_LEVELS = 3 };

/* One class: what can live in one VkDeviceMemory, in units. Items are its resources. */
struct maar_plan_problem {
    const struct maar_plan_graph* graph;
    uint32_t count;
    const uint32_t* resource; /* per item */
    uint32_t type_bits;
    MaarResourceKind kind; /* of all of them; UNKNOWN where they differ */
    bool mixed;            /* kinds may meet on a granule */
    uint64_t unit;         /* bytes: every offset that matters is a multiple of it */
    uint64_t granularity;  /* bytes; 1 where all are of one kind */
    uint64_t alignment;    /* bytes: least common multiple */
    uint64_t* bytes;       /* true size */
    int64_t* size;         /* units, rounded up */
    int64_t* align;        /* units, at least 1 */
    int64_t* fixed;        /* units, or -1 */
    uint8_t* kind_index;   /* 0, 1, 2 where mixed, else 0 */
    /* Cliques: sets of items that live at the same time. With one queue they are the maximal
     * sections in the order of time, and item i is in those from first[i] to last[i]. */
    uint32_t clique_count;
    uint32_t* first;
    uint32_t* last;
    /* Several queues: item i is in clique[member_begin[i]] to clique[member_begin[i + 1] - 1], and
     * conflicts with the set bits of row i. */
    uint32_t* member_begin;
    uint32_t* member;
    uint64_t* conflict;
    size_t conflict_words;
    struct maar_plan_level levels[MAAR_PLAN_MAX_LEVELS];
    uint32_t level_count;
    uint64_t lower_bound;  /* bytes: the heaviest clique */
    uint64_t proved_bound; /* bytes: what rounding adds to it included */
    uint64_t greedy_peak;  /* bytes */
    uint64_t peak;         /* bytes: of the best placement so far */
};

static inline bool maar_plan_conflicts(const struct maar_plan_problem* problem, uint32_t a,
                                       uint32_t b)
{
    if (problem->conflict == NULL) {
        return problem->first[a] <= problem->last[b] && problem->first[b] <= problem->last[a];
    }
    return maar_plan_has(problem->conflict + (size_t)a * problem->conflict_words, b);
}

static inline int64_t maar_plan_align_up(int64_t value, int64_t align)
{
    return (int64_t)maar_align_up((uint64_t)value, (uint64_t)align);
}

/* The least offset in units above an item that ends at byte `end`, for one of another kind. */
static inline int64_t maar_plan_granule_top(const struct maar_plan_problem* problem, uint64_t end)
{
    const uint64_t granule = problem->granularity;
    return (int64_t)(maar_align_up(end, granule) / problem->unit);
}

/* The least offset that item b may have on top of item a, its alignment aside. */
static inline int64_t maar_plan_top(const struct maar_plan_problem* problem, uint32_t a,
                                    int64_t offset, uint32_t b)
{
    if (problem->mixed && problem->kind_index[a] != problem->kind_index[b]) {
        return maar_plan_granule_top(problem, (uint64_t)offset * problem->unit + problem->bytes[a]);
    }
    return offset + problem->size[a];
}

/* Bytes from 0 to the end of an item. */
static inline uint64_t maar_plan_end(const struct maar_plan_problem* problem, uint32_t item,
                                     int64_t offset)
{
    return (uint64_t)offset * problem->unit + problem->bytes[item];
}

/* The largest end of all items, bytes. */
uint64_t maar_plan_peak(const struct maar_plan_problem* problem, const int64_t* offsets);

/* --- steps. Each returns VK_SUCCESS or VK_ERROR_OUT_OF_HOST_MEMORY unless it says otherwise. ---
 */

/* VK_ERROR_VALIDATION_FAILED_EXT, having told why. */
VkResult maar_plan_check_input(const MaarPlanCreateInfo* info);
/* Also refuses cycles. */
VkResult maar_plan_build_graph(const MaarPlanCreateInfo* info, struct maar_plan_budget* budget,
                               struct maar_host_stack* stack, struct maar_plan_graph* graph);
/* Tells the caller's message function. Returns VK_ERROR_VALIDATION_FAILED_EXT. */
VkResult maar_plan_refuse(const MaarPlanCreateInfo* info, const char* format, ...);

/* Assigns each resource a class; class_bits receives the types of each. */
void maar_plan_classify(const struct maar_plan_graph* graph, uint32_t* class_of,
                        uint32_t* class_bits, uint32_t* class_count);
/* Most classes: each has a memory type that no earlier one has. */
enum { MAAR_PLAN_MAX_CLASSES = 33 };

VkResult maar_plan_build_problem(const struct maar_plan_graph* graph, struct maar_host_stack* stack,
                                 const uint32_t* resources, uint32_t count, uint32_t type_bits,
                                 struct maar_plan_problem* problem);
/* Cliques, conflicts and bounds where there are several queues. */
VkResult maar_plan_build_chains(struct maar_plan_problem* problem, struct maar_host_stack* stack);

/* Bounds where alignments differ. */
VkResult maar_plan_build_levels(struct maar_plan_problem* problem, struct maar_host_stack* stack);

/*
 * Writes the best of the quick placements; returns its peak in bytes, or UINT64_MAX where fixed
 * offsets let none of them succeed. Stops as soon as the peak is at most `enough`, or after one
 * order when time is up.
 */
VkResult maar_plan_greedy(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                          uint64_t enough, struct maar_plan_budget* budget, int64_t* offsets,
                          uint64_t* peak);
/* One placement: every item in the given order at its lowest place, or in the smallest gap that
 * holds it; fixed ones first. `scratch` has room for all items. */
void maar_plan_fit_in_order(const struct maar_plan_problem* problem, const uint32_t* order,
                            bool tightest, int64_t* offsets, uint32_t* scratch);

enum maar_plan_answer { MAAR_PLAN_ANSWER_YES, MAAR_PLAN_ANSWER_NO, MAAR_PLAN_ANSWER_UNKNOWN };

/* Whether the items fit into so many bytes. With NO, no placement does; with UNKNOWN, the nodes or
 * the budget ran out. Offsets are written with YES alone. */
struct maar_plan_search;
VkResult maar_plan_search_create(const struct maar_plan_problem* problem,
                                 struct maar_host_stack* stack, struct maar_plan_search** search);
enum maar_plan_answer maar_plan_search_run(struct maar_plan_search* search, uint64_t capacity,
                                           uint64_t node_limit, struct maar_plan_budget* budget,
                                           int64_t* offsets);

/* Places a class by the best greedy order: peak and greedy_peak of the problem. Stops at `enough`
 * bytes. */
VkResult maar_plan_begin(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                         uint64_t enough, int64_t* offsets);
/*
 * Searches for a smaller peak, or, with a capacity other than UINT64_MAX, for one that it allows;
 * sets peak and proved_bound. The budget's stop says why it ended.
 */
void maar_plan_improve(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                       uint64_t capacity, struct maar_plan_budget* budget, int64_t* offsets);

/* Where a resource lay in the previous plan, if it did and its alignment allows that. */
bool maar_plan_previous_offset(const MaarPlanCreateInfo* info, uint32_t resource, uint64_t* offset);

/* A list of edges that grows in an stack. */
struct maar_plan_edges {
    MaarPlanEdge* list;
    uint32_t count;
    uint32_t room;
    uint32_t cross_count;
};

/* Edges within a frame (wrap false) or from one to the next, appended in resources' numbers. */
VkResult maar_plan_find_edges(const struct maar_plan_problem* problem, const int64_t* offsets,
                              bool wrap, struct maar_host_stack* stack,
                              struct maar_plan_edges* edges);
/* Whether a last use of one resource and a first use of the other are on different queues. */
bool maar_plan_crosses_queues(const struct maar_plan_graph* graph, uint32_t before, uint32_t after);
/* Moves items within the peak so that there are fewer edges. Items whose bit is set in `held` stay.
 * False when there was no memory for it: everything is as before. */
bool maar_plan_fewer_edges(const struct maar_plan_problem* problem, const uint64_t* held,
                           uint64_t peak, struct maar_host_stack* stack, int64_t* offsets);

#endif
