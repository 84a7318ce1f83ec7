/*
 * The lower bound of many items on several queues. A front says for each queue how many of its
 * passes have begun. An item lives at a front if one of its uses has begun, and no pass has begun
 * that comes after all its uses. Two items that live at one front conflict: a use of the first one
 * has begun, so it does not come after all uses of the second one, and the other way round. So the
 * sizes of all items that live at a front add up to a lower bound of the peak.
 *
 * The first fronts are those between the passes in an order that keeps queues and dependencies. The
 * heaviest of them is improved: for one queue after another, the best number of passes takes the
 * place of the present one.
 */
#include "core/plan/plan_bound.h"

#include "core/plan/plan_spans.h"

#include <string.h>

enum {
    MAX_IMPROVEMENTS = 16,
    /* The steps up to which the clock is not read, those between two readings, and the most steps:
     * some milliseconds, a millisecond, a quarter of a second. */
    FIRST_LOOK = 1 << 22,
    STEPS_PER_LOOK = 1 << 20,
    MOST_STEPS = 1 << 28,
};

struct front {
    const struct maar_plan_problem* problem;
    uint32_t* begun;  /* per queue: the number of passes that have begun */
    uint32_t* length; /* per queue: the number of passes */
    uint64_t* change; /* bytes that begin and end, by position or by number of passes */
    uint32_t* begins; /* per queue, of one item: see plan_graph.h */
    uint32_t* ends;
    uint64_t steady; /* bytes of items that live at every front */
    uint64_t weight; /* bytes that live at the front */
    uint64_t steps;  /* numbers of queues that were looked at */
    uint64_t look;   /* the steps at which the clock is read next */
    bool stopped;    /* time is up, or there were too many steps */
};

/* Counts the steps for one item. Returns false when the bound has to end. */
static bool count_steps(struct front* front, uint32_t item)
{
    const struct maar_plan_graph* graph = front->problem->graph;
    const uint32_t resource = front->problem->resource[item];
    const size_t spans = graph->span_begin[resource + 1] - graph->span_begin[resource];
    front->steps += (spans + 1) * graph->queue_count;
    if (front->steps >= front->look && !front->stopped) {
        const bool interrupted = maar_plan_interrupted(graph->budget);
        graph->budget->cut_short |= interrupted;
        front->stopped = interrupted || front->steps > MOST_STEPS;
        front->look = front->steps + STEPS_PER_LOOK;
    }
    return !front->stopped;
}

static bool open_front(const struct maar_plan_problem* problem, struct maar_host_stack* stack,
                       struct front* front)
{
    const struct maar_plan_graph* graph = problem->graph;
    const uint32_t queues = graph->queue_count;
    *front = (struct front){
        .problem = problem,
        .look = FIRST_LOOK,
        .begun = maar_stack_grab_zeroed(stack, queues, sizeof *front->begun),
        .length = maar_stack_grab_zeroed(stack, queues, sizeof *front->length),
        .change = maar_stack_grab(stack, (size_t)graph->pass_count + 2, sizeof *front->change),
        .begins = maar_stack_grab(stack, queues, sizeof *front->begins),
        .ends = maar_stack_grab(stack, queues, sizeof *front->ends),
    };
    if (front->begun == NULL || front->length == NULL || front->change == NULL ||
        front->begins == NULL || front->ends == NULL) {
        return false;
    }
    for (uint32_t p = 0; p < graph->pass_count; ++p) {
        ++front->length[graph->queue[p]];
    }
    return true;
}

static bool lives_always(const struct maar_plan_problem* problem, uint32_t item)
{
    const MaarPlanResource* resource = &problem->graph->info->pResources[problem->resource[item]];
    return (resource->flags & MAAR_PLAN_RESOURCE_NO_ALIASING_BIT) != 0;
}

static void list_item(struct front* front, uint32_t item)
{
    const struct maar_plan_problem* problem = front->problem;
    maar_plan_list_begins(problem->graph, problem->resource[item], front->begins);
    maar_plan_list_ends(problem->graph, problem->resource[item], front->ends);
}

/* Lists the positions of the passes of each queue. */
static void list_positions(const struct maar_plan_graph* graph, const uint32_t* queue_begin,
                           uint32_t* positions)
{
    for (uint32_t p = 0; p < graph->pass_count; ++p) {
        positions[queue_begin[graph->queue[p]] + graph->place[p]] = graph->position[p];
    }
}

/* Finds the heaviest of the fronts between the passes in the order of their positions. Returns
 * false when host memory is short. */
static bool find_position(struct front* front, struct maar_host_stack* stack)
{
    const struct maar_plan_problem* problem = front->problem;
    const struct maar_plan_graph* graph = problem->graph;
    uint32_t* positions = maar_stack_grab(stack, graph->pass_count, sizeof *positions);
    uint32_t* queue_begin = maar_stack_grab(stack, graph->queue_count, sizeof *queue_begin);
    if (positions == NULL || queue_begin == NULL) {
        return false;
    }
    uint32_t begin = 0;
    for (uint32_t q = 0; q < graph->queue_count; ++q) {
        queue_begin[q] = begin;
        begin += front->length[q];
    }
    list_positions(graph, queue_begin, positions);
    memset(front->change, 0, ((size_t)graph->pass_count + 2) * sizeof *front->change);
    for (uint32_t i = 0; i < problem->count; ++i) {
        if (lives_always(problem, i)) {
            front->steady += problem->bytes[i];
            continue;
        }
        if (!count_steps(front, i)) {
            return true;
        }
        uint32_t over = graph->pass_count;
        maar_plan_list_ends(graph, problem->resource[i], front->ends);
        for (uint32_t q = 0; q < graph->queue_count; ++q) {
            const uint32_t end = front->ends[q];
            const bool ends = end < front->length[q] && positions[queue_begin[q] + end] < over;
            over = ends ? positions[queue_begin[q] + end] : over;
        }
        front->change[graph->begin_rank[problem->resource[i]]] += problem->bytes[i];
        front->change[over] -= problem->bytes[i];
    }
    uint64_t live = front->steady;
    uint32_t best = 0;
    front->weight = live;
    for (uint32_t k = 0; k < graph->pass_count; ++k) {
        live += front->change[k];
        best = live > front->weight ? k + 1 : best;
        front->weight = live > front->weight ? live : front->weight;
    }
    for (uint32_t p = 0; p < graph->pass_count; ++p) {
        front->begun[graph->queue[p]] += graph->position[p] < best;
    }
    return true;
}

/* Finds the numbers of passes of one queue at which the listed item lives, if the other queues stay
 * as they are: from *low to *high. Returns false when there are none. */
static bool find_span(const struct front* front, uint32_t queue, uint32_t* low, uint32_t* high)
{
    const uint32_t queue_count = front->problem->graph->queue_count;
    bool has_begun = false;
    for (uint32_t q = 0; q < queue_count; ++q) {
        if (q != queue && front->ends[q] < front->begun[q]) {
            return false;
        }
        has_begun = has_begun || (q != queue && front->begins[q] < front->begun[q]);
    }
    const uint32_t length = front->length[queue];
    const uint32_t begin = front->begins[queue] < length ? front->begins[queue] + 1 : length + 1;
    *low = has_begun ? 0 : begin;
    *high = front->ends[queue] < length ? front->ends[queue] : length;
    return *low <= *high;
}

/* Gives one queue its best number of passes. Returns whether the front became heavier. */
static bool improve_queue(struct front* front, uint32_t queue)
{
    const struct maar_plan_problem* problem = front->problem;
    const uint32_t length = front->length[queue];
    const uint64_t weight = front->weight;
    uint64_t live = front->steady;
    memset(front->change, 0, ((size_t)length + 2) * sizeof *front->change);
    for (uint32_t i = 0; i < problem->count; ++i) {
        uint32_t low = 0;
        uint32_t high = 0;
        if (lives_always(problem, i)) {
            continue;
        }
        if (!count_steps(front, i)) {
            return false;
        }
        list_item(front, i);
        if (find_span(front, queue, &low, &high)) {
            front->change[low] += problem->bytes[i];
            front->change[high + 1] -= problem->bytes[i];
        }
    }
    for (uint32_t k = 0; k <= length; ++k) {
        live += front->change[k];
        if (live > front->weight) {
            front->weight = live;
            front->begun[queue] = k;
        }
    }
    return front->weight > weight;
}

VkResult maar_plan_bound_fronts(struct maar_plan_problem* problem, struct maar_host_stack* stack)
{
    const struct maar_plan_graph* graph = problem->graph;
    const struct maar_stack_mark mark = maar_stack_place(stack);
    struct front front;
    const bool made = open_front(problem, stack, &front) && find_position(&front, stack);
    uint32_t idle = 0;
    for (uint32_t k = 0; made && k < MAX_IMPROVEMENTS && idle < graph->queue_count; ++k) {
        if (front.stopped || maar_plan_interrupted(graph->budget)) {
            break;
        }
        idle = improve_queue(&front, k % graph->queue_count) ? 1 : idle + 1;
    }
    maar_stack_return(stack, mark);
    if (!made) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    problem->lower_bound =
        front.weight > problem->lower_bound ? front.weight : problem->lower_bound;
    problem->proved_bound =
        front.weight > problem->proved_bound ? front.weight : problem->proved_bound;
    return VK_SUCCESS;
}
