/*
 * The planner: gives each transient of a frame an offset, so that transients whose lifetimes do not
 * overlap share bytes, and the peak is as low as possible. One call of maarCreatePlan takes these
 * steps:
 *
 *   input    plan_input.c    checks; plan_cache.c returns the plan of an unchanged input
 *   graph    plan_graph.c    which resources may share bytes
 *   classes  plan_class.c    resources that can be in one memory type, as a problem in units
 *   greedy   plan_greedy.c   fourteen quick orders
 *   exact    exact/exact.h   a search, only where greedy does not meet the lower bound
 *   keep     plan_keep.c     offsets of a previous plan
 *   edges    plan_edge.c     which resource takes over bytes of which other
 *   fewer    plan_fewer.c    fewer edges at the same peak
 *   result   plan_result.c   one immutable plan
 *
 * The planner has no state of its own. It takes no lock except that of the caller's cache. The
 * folder problem/ has what all steps share.
 */
#include "core/check.h"
#include "core/plan/exact/exact.h"
#include "core/plan/plan_cache.h"
#include "core/plan/plan_class.h"
#include "core/plan/plan_edge.h"
#include "core/plan/plan_fewer.h"
#include "core/plan/plan_graph.h"
#include "core/plan/plan_greedy.h"
#include "core/plan/plan_input.h"
#include "core/plan/plan_keep.h"
#include "core/plan/plan_result.h"
#include "core/plan/problem/plan_rank.h"
#include "core/port_time.h"

#include <string.h>

static const size_t default_host_limit = (size_t)1 << 30;

/* One call of maarCreatePlan. */
struct planning {
    const MaarPlanCreateInfo* info;
    struct maar_host_stack stack;
    struct maar_plan_budget budget;
    struct maar_plan_graph graph;
    uint32_t* class_of;
    uint32_t class_bits[MAAR_PLAN_MAX_CLASSES];
    uint32_t class_count;
    struct maar_plan_problem* problems; /* per class */
    int64_t** offsets;                  /* per class, per item */
    uint64_t** held;                    /* per class: items that kept their offset */
    MaarPlanInfo result;
    struct maar_plan_edges edges;
    struct maar_plan_edges wrap_edges;
};

static VkResult split_classes(struct planning* planning)
{
    struct maar_host_stack* stack = &planning->stack;
    const struct maar_plan_graph* graph = &planning->graph;
    planning->class_of = maar_stack_grab(stack, graph->count, sizeof *planning->class_of);
    if (planning->class_of == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_plan_classify(graph, planning->class_of, planning->class_bits, &planning->class_count);
    const uint32_t class_count = planning->class_count;
    planning->problems = maar_stack_grab(stack, class_count, sizeof *planning->problems);
    planning->offsets = maar_stack_grab(stack, class_count, sizeof *planning->offsets);
    planning->held = maar_stack_grab(stack, class_count, sizeof *planning->held);
    if (planning->problems == NULL || planning->offsets == NULL || planning->held == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t c = 0; c < class_count && result == VK_SUCCESS; ++c) {
        uint32_t* members = maar_stack_grab(stack, graph->count, sizeof *members);
        if (members == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        uint32_t count = 0;
        for (uint32_t i = 0; i < graph->count; ++i) {
            if (planning->class_of[i] == c) {
                members[count++] = i;
            }
        }
        planning->offsets[c] = maar_stack_grab(stack, count, sizeof(int64_t));
        planning->held[c] = maar_stack_grab_zeroed(stack, maar_plan_words(count), sizeof(uint64_t));
        if (planning->offsets[c] == NULL || planning->held[c] == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        result = maar_plan_build_problem(graph, stack, members, count, planning->class_bits[c],
                                         &planning->problems[c]);
    }
    return result;
}

/* Adds up the peaks and the proved bounds of all classes. */
static void sum_bounds(const struct planning* planning, uint64_t* peak, uint64_t* proved)
{
    *peak = 0;
    *proved = 0;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        *peak = maar_plan_add_saturated(*peak, planning->problems[c].peak);
        *proved = maar_plan_add_saturated(*proved, planning->problems[c].proved_bound);
    }
}

/* Returns whether the peak is proved to be the least, or the plan is proved to fit or not to fit
 * into the capacity. */
static bool is_decided(const struct planning* planning)
{
    uint64_t peak = 0;
    uint64_t proved = 0;
    sum_bounds(planning, &peak, &proved);
    const uint64_t capacity = planning->info->capacity;
    return proved == peak || (capacity != 0 && (peak <= capacity || proved > capacity));
}

/* Returns the class with the fewest items whose peak is not proved to be the least and that was not
 * tried yet, or UINT32_MAX. A relaxed class is not searched: the search keeps apart what may share
 * bytes, so it would prove nothing. */
static uint32_t next_class(const struct planning* planning, uint64_t tried)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        const struct maar_plan_problem* problem = &planning->problems[c];
        if ((tried >> c & 1) == 0 && !problem->relaxed && problem->proved_bound < problem->peak &&
            (best == UINT32_MAX || problem->count < planning->problems[best].count)) {
            best = c;
        }
    }
    return best;
}

/*
 * Searches one class after another, those with the fewest items first. Each class may spend an
 * equal share of the nodes that are left. With several classes the sum of their peaks counts, so
 * each peak is made as small as possible.
 */
static MaarPlanStop search_classes(struct planning* planning)
{
    struct maar_plan_budget* whole = &planning->budget;
    MaarPlanStop stop = MAAR_PLAN_STOP_GREEDY; /* of relaxed classes */
    uint64_t tried = 0;
    uint32_t left = planning->class_count;
    for (; left > 0 && !is_decided(planning); --left) {
        const uint32_t c = next_class(planning, tried);
        if (c == UINT32_MAX) {
            break;
        }
        tried |= (uint64_t)1 << c;
        struct maar_plan_budget share = *whole;
        share.nodes_left = whole->nodes_left / left;
        const bool decides = planning->class_count == 1 && planning->info->capacity != 0;
        maar_exact_improve(&planning->problems[c], &planning->stack,
                           decides ? planning->info->capacity : UINT64_MAX, &share,
                           planning->offsets[c]);
        maar_plan_budget_rejoin(whole, &share);
        stop = share.stop != MAAR_PLAN_STOP_DONE ? share.stop : stop;
        whole->cut_short |= share.cut_short || share.stop == MAAR_PLAN_STOP_HOST_MEMORY;
        if (whole->halted != MAAR_PLAN_STOP_DONE) {
            break;
        }
    }
    return is_decided(planning) ? MAAR_PLAN_STOP_DONE : stop;
}

/* First stage: places every class as low as possible, then moves items back to previous offsets. */
static VkResult place_classes(struct planning* planning)
{
    const MaarPlanCreateInfo* info = planning->info;
    MaarPlanInfo* sums = &planning->result;
    const uint64_t enough = planning->class_count == 1 ? info->capacity : 0;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        struct maar_plan_problem* problem = &planning->problems[c];
        const VkResult result =
            maar_plan_greedy(problem, &planning->stack,
                             enough > problem->proved_bound ? enough : problem->proved_bound,
                             &planning->budget, planning->offsets[c], &problem->peak);
        if (result != VK_SUCCESS) {
            return result;
        }
        problem->greedy_peak = problem->peak;
        sums->lowerBound = maar_plan_add_saturated(sums->lowerBound, problem->lower_bound);
        sums->greedySize = maar_plan_add_saturated(sums->greedySize, problem->greedy_peak);
        for (uint32_t i = 0; i < problem->count; ++i) {
            sums->totalSize += problem->bytes[i];
        }
    }
    sums->stop = planning->budget.stop;
    if (!is_decided(planning) && sums->stop == MAAR_PLAN_STOP_DONE) {
        sums->stop = (info->flags & MAAR_PLAN_CREATE_GREEDY_BIT) != 0 ? MAAR_PLAN_STOP_GREEDY
                                                                      : search_classes(planning);
    }
    sums->stop = is_decided(planning) ? MAAR_PLAN_STOP_DONE : sums->stop;
    for (uint32_t c = 0; c < planning->class_count && info->previous != VK_NULL_HANDLE; ++c) {
        struct maar_plan_problem* problem = &planning->problems[c];
        planning->budget.cut_short |=
            !maar_plan_keep(problem, info, &planning->budget, &planning->stack,
                            planning->offsets[c], planning->held[c]);
        for (uint32_t i = 0; i < problem->count; ++i) {
            sums->keptCount += maar_plan_has(planning->held[c], i);
        }
    }
    sums->nodeCount = planning->budget.nodes_used;
    return VK_SUCCESS;
}

/* Finds the edges of all classes. Either list may be NULL. */
static VkResult find_all_edges(struct planning* planning, struct maar_plan_edges* edges,
                               struct maar_plan_edges* wrap_edges)
{
    VkResult result = VK_SUCCESS;
    if (edges != NULL) {
        edges->count = 0;
        edges->cross_count = 0;
    }
    for (uint32_t c = 0; c < planning->class_count && result == VK_SUCCESS; ++c) {
        result = maar_plan_find_edges(&planning->problems[c], planning->offsets[c],
                                      &planning->stack, edges, wrap_edges);
    }
    return result;
}

/* Sorts edges by `after`, then `before`. Those of one class are sorted already. */
static VkResult sort_edges(struct planning* planning, struct maar_plan_edges* edges)
{
    if (planning->class_count <= 1) {
        return VK_SUCCESS;
    }
    struct maar_plan_key* keys = maar_stack_grab(&planning->stack, edges->count, sizeof *keys);
    struct maar_plan_key* other = maar_stack_grab(&planning->stack, edges->count, sizeof *other);
    MaarPlanEdge* sorted = maar_stack_grab(&planning->stack, edges->count, sizeof *sorted);
    if (keys == NULL || other == NULL || sorted == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < edges->count; ++i) {
        keys[i] = (struct maar_plan_key){.first = UINT32_MAX - edges->list[i].after,
                                         .second = UINT32_MAX - edges->list[i].before,
                                         .item = i};
    }
    maar_plan_sort_keys(keys, other, edges->count);
    for (uint32_t i = 0; i < edges->count; ++i) {
        sorted[i] = edges->list[keys[i].item];
    }
    edges->list = sorted;
    edges->room = edges->count;
    return VK_SUCCESS;
}

/* Removes edges where possible. Returns whether any item has moved. */
static bool move_for_edges(struct planning* planning)
{
    bool moved = false;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        const struct maar_plan_problem* problem = &planning->problems[c];
        const uint64_t peak = maar_plan_peak(problem, planning->offsets[c]);
        planning->budget.cut_short |= !maar_plan_fewer_edges(
            problem, planning->held[c], peak, &planning->stack, planning->offsets[c], &moved);
    }
    return moved;
}

/* The second stage: removes edges where possible, then lists the edges of the result. */
static VkResult finish_edges(struct planning* planning)
{
    struct maar_plan_edges* edges = &planning->edges;
    struct maar_plan_edges* wrap_edges = &planning->wrap_edges;
    bool may_move = false;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        may_move = may_move || maar_plan_may_move(&planning->problems[c]);
    }
    may_move = may_move && (planning->info->flags & MAAR_PLAN_CREATE_KEEP_EDGES_BIT) == 0;
    VkResult result = find_all_edges(planning, edges, may_move ? NULL : wrap_edges);
    if (result != VK_SUCCESS) {
        return result;
    }
    planning->result.firstStageEdgeCount = edges->count;
    if (may_move) {
        const bool moved = edges->count > 0 && move_for_edges(planning);
        result = find_all_edges(planning, moved ? edges : NULL, wrap_edges);
    }
    if (result == VK_SUCCESS) {
        result = sort_edges(planning, edges);
    }
    return result == VK_SUCCESS ? sort_edges(planning, wrap_edges) : result;
}

static MaarPlanFit judge_fit(const struct planning* planning)
{
    const uint64_t capacity = planning->info->capacity;
    if (capacity == 0) {
        return MAAR_PLAN_FIT_NOT_ASKED;
    }
    if (planning->result.peakSize <= capacity) {
        return MAAR_PLAN_FIT_YES;
    }
    return planning->result.provedBound > capacity ? MAAR_PLAN_FIT_NO : MAAR_PLAN_FIT_UNDECIDED;
}

/* Sums up the final placements. The later stages may have lowered a peak as a side effect. */
static void total_result(struct planning* planning)
{
    MaarPlanInfo* sums = &planning->result;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        planning->problems[c].peak = maar_plan_peak(&planning->problems[c], planning->offsets[c]);
    }
    sum_bounds(planning, &sums->peakSize, &sums->provedBound);
    sums->provedOptimal = sums->peakSize == sums->provedBound ? VK_TRUE : VK_FALSE;
    sums->fit = judge_fit(planning);
    sums->resourceCount = planning->info->resourceCount;
    sums->classCount = planning->class_count;
    sums->edgeCount = planning->edges.count;
    sums->crossQueueEdgeCount = planning->edges.cross_count;
    sums->wrapEdgeCount = planning->wrap_edges.count;
}

static void fill_class(const struct maar_plan_problem* problem, const int64_t* offsets,
                       MaarPlanClass* class)
{
    const uint64_t peak = maar_plan_peak(problem, offsets);
    *class = (MaarPlanClass){
        .memoryTypeBits = problem->type_bits,
        .resourceCount = problem->count,
        .size = peak,
        .alignment = problem->alignment,
        .lowerBound = problem->lower_bound,
        .provedOptimal = problem->proved_bound == peak,
        .kind = problem->kind,
    };
}

/* Copies everything that is needed after the call into one plan. */
static VkResult pack_plan(const struct planning* planning, MaarPlan* packed)
{
    const MaarPlanCreateInfo* info = planning->info;
    if (maar_plan_allocation_size(&planning->result) >
        planning->stack.limit - planning->stack.held) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    MaarPlan plan = maar_plan_allocate(info->pAllocationCallbacks, &planning->result);
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        const struct maar_plan_problem* problem = &planning->problems[c];
        MAAR_HEAVY_ASSERT(maar_plan_is_sound(problem, planning->offsets[c]));
        fill_class(problem, planning->offsets[c], &plan->classes[c]);
        for (uint32_t i = 0; i < problem->count; ++i) {
            plan->placements[problem->resource[i]] = (MaarPlanPlacement){
                .classIndex = c,
                .kept = maar_plan_has(planning->held[c], i) ? VK_TRUE : VK_FALSE,
                .offset = (uint64_t)planning->offsets[c][i] * problem->unit,
            };
        }
    }
    if (planning->edges.count > 0) {
        memcpy(plan->edges, planning->edges.list, planning->edges.count * sizeof *plan->edges);
    }
    if (planning->wrap_edges.count > 0) {
        memcpy(plan->wrap_edges, planning->wrap_edges.list,
               planning->wrap_edges.count * sizeof *plan->edges);
    }
    *packed = plan;
    return VK_SUCCESS;
}

static VkResult plan_all(struct planning* planning, uint64_t began_ns, MaarPlan* packed)
{
    const MaarPlanCreateInfo* info = planning->info;
    VkResult result =
        maar_plan_build_graph(info, &planning->budget, &planning->stack, &planning->graph);
    if (result == VK_SUCCESS) {
        result = split_classes(planning);
    }
    if (result == VK_SUCCESS) {
        result = place_classes(planning);
    }
    const uint64_t placed_ns = maar_now_ns();
    if (result == VK_SUCCESS) {
        result = finish_edges(planning);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    total_result(planning);
    planning->result.placeTime_ns = placed_ns - began_ns;
    planning->result.edgeTime_ns = maar_now_ns() - placed_ns;
    return pack_plan(planning, packed);
}

/* Returns whether another run gives the same plan. A plan that time, cancellation or short memory
 * has changed is not kept in a cache. */
static bool is_repeatable(const struct planning* planning)
{
    const MaarPlanStop stop = planning->result.stop;
    return !planning->budget.cut_short && planning->budget.stop == MAAR_PLAN_STOP_DONE &&
           planning->budget.halted == MAAR_PLAN_STOP_DONE &&
           (stop == MAAR_PLAN_STOP_DONE || stop == MAAR_PLAN_STOP_NODE_LIMIT ||
            stop == MAAR_PLAN_STOP_GREEDY);
}

/* Returns the most nodes where the caller sets no limit. A node takes more time with many items. So
 * above MANY_RESOURCES the nodes are fewer in proportion, and the searches take half a second. */
enum { MANY_RESOURCES = 4096 };
static uint64_t default_node_limit(const MaarPlanCreateInfo* info)
{
    const uint64_t count =
        info->resourceCount > MANY_RESOURCES ? info->resourceCount : MANY_RESOURCES;
    return (uint64_t)MAAR_PLAN_DEFAULT_NODE_LIMIT * MANY_RESOURCES / count;
}

static void start_planning(struct planning* planning, const MaarPlanCreateInfo* info)
{
    *planning = (struct planning){.info = info};
    planning->stack = (struct maar_host_stack){
        .callbacks = info->pAllocationCallbacks,
        .limit = info->hostMemoryLimit != 0 ? info->hostMemoryLimit : default_host_limit};
    planning->budget = (struct maar_plan_budget){
        .nodes_left = info->nodeLimit != 0 ? info->nodeLimit : default_node_limit(info),
        .deadline_ns = info->timeLimit_ns != 0 ? maar_deadline_ns(info->timeLimit_ns) : UINT64_MAX,
        .cancel = info->pfnCancel,
        .cancel_user_data = info->pCancelUserData,
    };
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreatePlan(const MaarPlanCreateInfo* pCreateInfo,
                                              MaarPlan* pPlan)
{
    if (pPlan != NULL) {
        *pPlan = VK_NULL_HANDLE;
    }
    if (pCreateInfo == NULL || pPlan == NULL ||
        pCreateInfo->sType != MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const uint64_t began_ns = maar_now_ns();
    VkResult result = maar_plan_check_input(pCreateInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct planning planning;
    start_planning(&planning, pCreateInfo);
    const MaarPlanCache cache = pCreateInfo->cache;
    struct maar_plan_key_bytes key = {0};
    MaarPlan known = VK_NULL_HANDLE;
    if (cache != VK_NULL_HANDLE) {
        result = maar_plan_write_key(pCreateInfo, &planning.stack, &key);
        known = result == VK_SUCCESS ? maar_plan_cache_find(cache, &key) : VK_NULL_HANDLE;
    }
    if (known != VK_NULL_HANDLE) {
        *pPlan = maar_plan_copy(known, pCreateInfo->pAllocationCallbacks);
        maar_plan_release(known);
        result = *pPlan != VK_NULL_HANDLE ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
        if (result == VK_SUCCESS) {
            (*pPlan)->info.cached = VK_TRUE;
        }
    } else if (result == VK_SUCCESS) {
        result = plan_all(&planning, began_ns, pPlan);
        if (result == VK_SUCCESS && cache != VK_NULL_HANDLE && is_repeatable(&planning)) {
            maar_plan_cache_keep(cache, &key, *pPlan);
        }
    }
    maar_stack_reset(&planning.stack);
    return result;
}
