/*
 * One class of a frame with several queues. Two items conflict when neither comes before the other.
 * So a set of items that conflict with each other is an antichain of this order, and the heaviest
 * antichain bounds the peak. By the weighted form of Dilworth's theorem, the weight of the heaviest
 * antichain is the weight of all items less a maximum flow. The edges of the flow network are:
 * source to u (capacity: the size of u), u to v (unbounded) where u comes before v, v to sink
 * (capacity: the size of v). Dinic's algorithm finds the flow.
 */
#include "core/plan/plan_antichain.h"

#include "core/plan/plan_bound.h"

#include <string.h>

/* The flow network. Nodes: 0 to n - 1 left, n to 2n - 1 right. Source and sink have no number. */
struct flow {
    const struct maar_plan_problem* problem;
    const uint64_t* before; /* row i: items after item i, within the class */
    size_t words;
    uint32_t count;
    uint64_t* from_source; /* per item: the capacity that is left */
    uint64_t* to_sink;     /* likewise */
    uint64_t* carried;     /* flow from left u to right v, at [u * n + v] */
    uint32_t* level;       /* per node, left then right; UINT32_MAX: not reached */
    uint32_t* queue;
    uint32_t* next; /* per node: the neighbour to try next */
    uint32_t* path;
    uint32_t looks;
    uint64_t steps; /* neighbours that the searches have looked at */
    bool late;      /* time is up, or the flow has taken too many steps */
};

/* The number of nodes between two readings of the clock. Each node looks at all items, so this
 * takes half a millisecond with a few thousand items. */
enum { ROWS_PER_FLOW_LOOK = 32 };

/* The most neighbours that the searches for one flow look at: about two seconds. The flow of a
 * thousand items takes a tenth of this, the flow of four thousand up to five times as much. */
enum { MAX_FLOW_STEPS = 1 << 29 };

static bool is_late(struct flow* flow)
{
    if (!flow->late && ++flow->looks % ROWS_PER_FLOW_LOOK == 0) {
        flow->late =
            flow->steps > MAX_FLOW_STEPS || maar_plan_interrupted(flow->problem->graph->budget);
    }
    return flow->late;
}

static VkResult create_flow(const struct maar_plan_problem* problem, const uint64_t* before,
                            size_t words, struct maar_host_stack* stack, struct flow* flow)
{
    const uint32_t count = problem->count;
    *flow = (struct flow){
        .problem = problem,
        .before = before,
        .words = words,
        .count = count,
        .from_source = maar_stack_grab(stack, count, sizeof *flow->from_source),
        .to_sink = maar_stack_grab(stack, count, sizeof *flow->to_sink),
        .carried = maar_stack_grab(stack, count, count * sizeof *flow->carried),
        .level = maar_stack_grab(stack, count, 2 * sizeof *flow->level),
        .queue = maar_stack_grab(stack, count, 2 * sizeof *flow->queue),
        .next = maar_stack_grab(stack, count, 2 * sizeof *flow->next),
        .path = maar_stack_grab(stack, count, 2 * sizeof *flow->path),
    };
    if (flow->from_source == NULL || flow->to_sink == NULL || flow->carried == NULL ||
        flow->level == NULL || flow->queue == NULL || flow->next == NULL || flow->path == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < count && !is_late(flow); ++i) {
        memset(flow->carried + (size_t)i * count, 0, count * sizeof *flow->carried);
    }
    for (uint32_t i = 0; i < count; ++i) {
        flow->from_source[i] = flow->problem->bytes[i];
        flow->to_sink[i] = flow->problem->bytes[i];
    }
    return VK_SUCCESS;
}

/* Returns whether the residual network has an edge from a node to a node of the other side. */
static bool has_edge(const struct flow* flow, uint32_t node, uint32_t other)
{
    const uint32_t count = flow->count;
    if (node < count) {
        return other >= count &&
               maar_plan_has(flow->before + (size_t)node * flow->words, other - count);
    }
    return other < count && flow->carried[(size_t)other * count + (node - count)] > 0;
}

/* Finds the distances from the source by breadth-first search. Returns false when the sink is out
 * of reach. */
static bool find_levels(struct flow* flow)
{
    const uint32_t count = flow->count;
    uint32_t begin = 0;
    uint32_t end = 0;
    bool reached = false;
    for (uint32_t i = 0; i < 2 * count; ++i) {
        flow->level[i] = UINT32_MAX;
        flow->next[i] = 0;
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (flow->from_source[i] > 0) {
            flow->level[i] = 0;
            flow->queue[end++] = i;
        }
    }
    while (begin < end && !is_late(flow)) {
        const uint32_t node = flow->queue[begin++];
        reached |= node >= count && flow->to_sink[node - count] > 0;
        const uint32_t base = node < count ? count : 0;
        flow->steps += count;
        for (uint32_t k = 0; k < count; ++k) {
            if (flow->level[base + k] == UINT32_MAX && has_edge(flow, node, base + k)) {
                flow->level[base + k] = flow->level[node] + 1;
                flow->queue[end++] = base + k;
            }
        }
    }
    return reached;
}

/* Sends the capacity of the path's narrowest edge along the path. */
static uint64_t push_along(struct flow* flow, uint32_t length)
{
    const uint32_t count = flow->count;
    const uint32_t* path = flow->path;
    uint64_t amount = flow->from_source[path[0]];
    const uint64_t out = flow->to_sink[path[length - 1] - count];
    amount = out < amount ? out : amount;
    for (uint32_t k = 1; k + 1 < length; k += 2) {
        const uint64_t back = flow->carried[(size_t)path[k + 1] * count + (path[k] - count)];
        amount = back < amount ? back : amount;
    }
    flow->from_source[path[0]] -= amount;
    flow->to_sink[path[length - 1] - count] -= amount;
    for (uint32_t k = 0; k + 1 < length; ++k) {
        if (path[k] < count) {
            flow->carried[(size_t)path[k] * count + (path[k + 1] - count)] += amount;
        } else {
            flow->carried[(size_t)path[k + 1] * count + (path[k] - count)] -= amount;
        }
    }
    return amount;
}

/* Finds one augmenting path from the given item along rising levels, by depth-first search. */
static uint64_t augment(struct flow* flow, uint32_t item)
{
    const uint32_t count = flow->count;
    uint32_t length = 1;
    flow->path[0] = item;
    while (length > 0 && !is_late(flow)) {
        const uint32_t node = flow->path[length - 1];
        if (node >= count && flow->to_sink[node - count] > 0) {
            return push_along(flow, length);
        }
        const uint32_t base = node < count ? count : 0;
        const uint32_t begin = flow->next[node];
        bool deeper = false;
        for (; flow->next[node] < count; ++flow->next[node]) {
            const uint32_t other = base + flow->next[node];
            if (flow->level[other] == flow->level[node] + 1 && has_edge(flow, node, other)) {
                flow->path[length++] = other;
                deeper = true;
                break;
            }
        }
        flow->steps += flow->next[node] - begin;
        if (!deeper) {
            --length;
            if (length > 0) {
                ++flow->next[flow->path[length - 1]];
            }
        }
    }
    return 0;
}

/* Finds the heaviest antichain. Writes its items to `set`, and returns its weight in bytes. Returns
 * 0 and an empty set when time has run out or the flow takes too many steps. */
static uint64_t heaviest_antichain(struct flow* flow, uint64_t* set)
{
    uint64_t weight = 0;
    memset(set, 0, flow->words * sizeof *set);
    for (uint32_t i = 0; i < flow->count; ++i) {
        weight += flow->problem->bytes[i];
    }
    while (find_levels(flow)) {
        flow->late = flow->late || maar_plan_interrupted(flow->problem->graph->budget);
        if (flow->late) {
            return 0;
        }
        for (uint32_t i = 0; i < flow->count; ++i) {
            while (flow->from_source[i] > 0) {
                const uint64_t sent = augment(flow, i);
                if (sent == 0) {
                    break;
                }
                weight -= sent;
            }
        }
    }
    if (flow->late) {
        return 0;
    }
    /* The last levels show the minimum cut. An item is in the antichain if neither of its edges is
     * cut. */
    for (uint32_t i = 0; i < flow->count; ++i) {
        if (flow->level[i] != UINT32_MAX && flow->level[flow->count + i] == UINT32_MAX) {
            maar_plan_put(set, i);
        }
    }
    return weight;
}

/* Goes through the items in the given order, and adds each item that conflicts with all items of
 * the set. */
static void make_maximal(const struct maar_plan_problem* problem, const uint32_t* order,
                         uint64_t* common, uint64_t* set)
{
    const size_t words = problem->conflict_words;
    memset(common, 0xFF, words * sizeof *common);
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (maar_plan_has(set, i)) {
            for (size_t w = 0; w < words; ++w) {
                common[w] &= problem->conflict[i * words + w];
            }
        }
    }
    for (uint32_t k = 0; k < problem->count; ++k) {
        const uint32_t item = order[k];
        if (maar_plan_has(common, item) && !maar_plan_has(set, item)) {
            maar_plan_put(set, item);
            for (size_t w = 0; w < words; ++w) {
                common[w] &= problem->conflict[item * words + w];
            }
        }
    }
}

/* Sorts items by size, the largest first. Items of equal size stay in the order of their
 * numbers. */
static void order_by_size(const struct maar_plan_problem* problem, uint32_t* order)
{
    for (uint32_t i = 0; i < problem->count; ++i) {
        uint32_t k = i;
        for (; k > 0 && problem->size[order[k - 1]] < problem->size[i]; --k) {
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
}

/* Raises the bounds to the weight of a clique. */
static void raise_bound(struct maar_plan_problem* problem, const uint64_t* set)
{
    uint64_t weight = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        weight += maar_plan_has(set, i) ? problem->bytes[i] : 0;
    }
    if (weight > problem->lower_bound) {
        problem->lower_bound = weight;
        problem->proved_bound = weight;
    }
}

/* The number of items between two readings of the clock while cliques are made. With a few thousand
 * items this takes about a millisecond. */
enum { CLIQUES_PER_LOOK = 16 };

/* The number of items between two readings of the clock while their cliques are listed. Each looks
 * at all cliques. */
enum { LISTS_PER_LOOK = 64 };

/* Counts the cliques of each item or, where member is not NULL, lists them. Returns false when time
 * is up, if the class is large. */
static bool visit_members(const struct maar_plan_problem* problem, const uint64_t* sets,
                          uint32_t* counts, uint32_t* member)
{
    const size_t words = problem->conflict_words;
    uint32_t listed = 0;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (problem->count > MAAR_PLAN_SMALL && i % LISTS_PER_LOOK == 0 &&
            maar_plan_interrupted(problem->graph->budget)) {
            return false;
        }
        const uint32_t before = listed;
        for (uint32_t k = 0; k < problem->clique_count; ++k) {
            if (maar_plan_has(sets + k * words, i)) {
                if (member != NULL) {
                    member[listed] = k;
                }
                ++listed;
            }
        }
        if (counts != NULL) {
            counts[i + 1] = counts[i] + (listed - before);
        }
    }
    return true;
}

/* Lists for each item the cliques that it is in. */
static bool list_members(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                         const uint64_t* sets)
{
    problem->member_begin =
        maar_stack_grab_zeroed(stack, (size_t)problem->count + 1, sizeof *problem->member_begin);
    if (problem->member_begin == NULL ||
        !visit_members(problem, sets, problem->member_begin, NULL)) {
        return false;
    }
    problem->member =
        maar_stack_grab(stack, problem->member_begin[problem->count], sizeof *problem->member);
    return problem->member != NULL && visit_members(problem, sets, NULL, problem->member);
}

/* Collects the heaviest antichain and a maximal antichain around each item, each set once. When
 * time is up, each remaining item of a small class makes a set of its own, and a large class ends
 * without cliques. Returns whether the cliques are there. */
static bool collect_cliques(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                            const uint64_t* heaviest)
{
    const uint32_t count = problem->count;
    const size_t words = problem->conflict_words;
    uint64_t* sets = maar_stack_grab_zeroed(stack, (size_t)count + 1, words * sizeof *sets);
    uint32_t* order = maar_stack_grab(stack, count, sizeof *order);
    uint64_t* common = maar_stack_grab(stack, words, sizeof *common);
    if (sets == NULL || order == NULL || common == NULL) {
        return false;
    }
    order_by_size(problem, order);
    memcpy(sets, heaviest, words * sizeof *sets);
    make_maximal(problem, order, common, sets);
    uint32_t set_count = 1;
    raise_bound(problem, sets);
    bool late = false;
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t* set = sets + set_count * words;
        memset(set, 0, words * sizeof *set);
        maar_plan_put(set, i);
        late = late || (i % CLIQUES_PER_LOOK == 0 && maar_plan_interrupted(problem->graph->budget));
        if (late && count > MAAR_PLAN_SMALL) {
            return false;
        }
        if (late) {
            ++set_count;
            continue;
        }
        make_maximal(problem, order, common, set);
        bool known = false;
        for (uint32_t k = 0; k < set_count && !known; ++k) {
            known = memcmp(sets + k * words, set, words * sizeof *set) == 0;
        }
        set_count += !known;
        raise_bound(problem, set);
    }
    problem->clique_count = set_count;
    return list_members(problem, stack, sets);
}

/* Fills in which items of the class come before each other, and which conflict. Returns false when
 * time was too short. */
static bool fill_conflicts(struct maar_plan_problem* problem, uint64_t* before, uint64_t* conflict)
{
    const struct maar_plan_graph* graph = problem->graph;
    const size_t words = problem->conflict_words;
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (problem->count > MAAR_PLAN_SMALL && i % ROWS_PER_FLOW_LOOK == 0 &&
            maar_plan_interrupted(graph->budget)) {
            return false;
        }
        const uint64_t* after_i = graph->before + problem->resource[i] * graph->before_words;
        for (uint32_t k = 0; k < problem->count; ++k) {
            const uint64_t* after_k = graph->before + problem->resource[k] * graph->before_words;
            if (maar_plan_has(after_i, problem->resource[k])) {
                maar_plan_put(before + i * words, k);
            } else if (i != k && !maar_plan_has(after_k, problem->resource[i])) {
                maar_plan_put(conflict + i * words, k);
            }
        }
    }
    return true;
}

/* Finds the heaviest antichain. Without memory or time for the flow, the heaviest of the cliques
 * and of the fronts (plan_bound.h) serves as the bound. */
static void find_heaviest(struct maar_plan_problem* problem, struct maar_host_stack* stack,
                          const uint64_t* before, uint64_t* heaviest)
{
    struct maar_plan_budget* budget = problem->graph->budget;
    const struct maar_stack_mark mark = maar_stack_place(stack);
    const size_t words = problem->conflict_words;
    struct flow flow = {.steps = 0};
    memset(heaviest, 0, words * sizeof *heaviest);
    problem->lower_bound = 0;
    if (!maar_plan_interrupted(budget) &&
        create_flow(problem, before, words, stack, &flow) == VK_SUCCESS) {
        problem->lower_bound = heaviest_antichain(&flow, heaviest);
    }
    /* The limit of steps is the same each time. Time and memory are not. */
    budget->cut_short |= problem->lower_bound == 0 && flow.steps <= MAX_FLOW_STEPS;
    problem->proved_bound = problem->lower_bound;
    maar_stack_return(stack, mark);
}

bool maar_plan_build_antichains(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const uint32_t count = problem->count;
    const size_t words = maar_plan_words(count);
    uint64_t* before = maar_stack_grab_zeroed(stack, count, words * sizeof *before);
    uint64_t* conflict = maar_stack_grab_zeroed(stack, count, words * sizeof *conflict);
    uint64_t* heaviest = maar_stack_grab(stack, words, sizeof *heaviest);
    problem->conflict_words = words;
    bool complete = before != NULL && conflict != NULL && heaviest != NULL &&
                    fill_conflicts(problem, before, conflict);
    if (complete) {
        problem->conflict = conflict;
        find_heaviest(problem, stack, before, heaviest);
        complete =
            (problem->lower_bound != 0 || maar_plan_bound_fronts(problem, stack) == VK_SUCCESS) &&
            collect_cliques(problem, stack, heaviest);
    }
    if (!complete) {
        problem->conflict = NULL;
        problem->lower_bound = 0;
        problem->proved_bound = 0;
        problem->graph->budget->cut_short = true;
    }
    return complete;
}
