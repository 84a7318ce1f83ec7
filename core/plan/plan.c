/*
 * The public planner: input to classes, each class to its placement, placements to edges, and all
 * of it to one immutable result.
 *
 * Stateless but for what the caller gives: no locks here.
 */
#include "core/host_memory.h"
#include "core/plan/plan_rank.h"
#include "core/plan/plan_result.h"
#include "core/port_time.h"

#include <string.h>

static const size_t default_host_limit = (size_t)1 << 30;

void maar_plan_result_retain(struct maar_plan_result* result)
{
    (void)maar_atomic32_add(&result->references, 1);
}

void maar_plan_result_release(struct maar_plan_result* result)
{
    if (maar_atomic32_drop(&result->references) == 0) {
        const VkAllocationCallbacks callbacks = result->callbacks;
        maar_host_free(result->has_callbacks ? &callbacks : NULL, result);
    }
}

/* One call of maarCreatePlan. */
struct planning {
    const MaarPlanCreateInfo* info;
    struct maar_plan_arena arena;
    struct maar_plan_budget budget;
    struct maar_plan_graph graph;
    uint32_t* class_of;
    uint32_t class_bits[MAAR_PLAN_MAX_CLASSES];
    uint32_t class_count;
    struct maar_plan_problem* problems; /* per class */
    int64_t** offsets;                  /* per class, per item */
    uint64_t** held;                    /* per class: items that kept their offset */
    enum maar_plan_answer only_class;   /* to the capacity, where there is one class */
    MaarPlanInfo result;
    struct maar_plan_edges edges;
    struct maar_plan_edges wrap_edges;
};

static VkResult split_classes(struct planning* planning)
{
    struct maar_plan_arena* arena = &planning->arena;
    const struct maar_plan_graph* graph = &planning->graph;
    planning->class_of = maar_plan_take(arena, graph->count, sizeof *planning->class_of);
    if (planning->class_of == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_plan_classify(graph, planning->class_of, planning->class_bits, &planning->class_count);
    const uint32_t class_count = planning->class_count;
    planning->problems = maar_plan_take(arena, class_count, sizeof *planning->problems);
    planning->offsets = maar_plan_take(arena, class_count, sizeof *planning->offsets);
    planning->held = maar_plan_take(arena, class_count, sizeof *planning->held);
    if (planning->problems == NULL || planning->offsets == NULL || planning->held == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = VK_SUCCESS;
    for (uint32_t c = 0; c < class_count && result == VK_SUCCESS; ++c) {
        uint32_t* members = maar_plan_take(arena, graph->count, sizeof *members);
        if (members == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        uint32_t count = 0;
        for (uint32_t i = 0; i < graph->count; ++i) {
            if (planning->class_of[i] == c) {
                members[count++] = i;
            }
        }
        planning->offsets[c] = maar_plan_take(arena, count, sizeof(int64_t));
        planning->held[c] = maar_plan_take_zeroed(arena, maar_plan_words(count), sizeof(uint64_t));
        if (planning->offsets[c] == NULL || planning->held[c] == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        result = maar_plan_build_problem(graph, arena, members, count, planning->class_bits[c],
                                         &planning->problems[c]);
    }
    return result;
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
    if (planning->result.provedBound > capacity || planning->only_class == MAAR_PLAN_ANSWER_NO) {
        return MAAR_PLAN_FIT_NO;
    }
    return MAAR_PLAN_FIT_UNDECIDED;
}

/* First stage: every class at its best. */
static VkResult place_classes(struct planning* planning)
{
    const MaarPlanCreateInfo* info = planning->info;
    MaarPlanInfo* sums = &planning->result;
    planning->only_class = MAAR_PLAN_ANSWER_UNKNOWN;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        struct maar_plan_problem* problem = &planning->problems[c];
        /* Of several classes the sum counts: each is made as small as can be. */
        const bool decide = info->capacity != 0 && planning->class_count == 1;
        struct maar_plan_outcome outcome = {0};
        VkResult result =
            maar_plan_solve(problem, &planning->arena, decide ? info->capacity : UINT64_MAX,
                            (info->flags & MAAR_PLAN_CREATE_GREEDY_BIT) != 0, &planning->budget,
                            planning->offsets[c], &outcome);
        if (result == VK_SUCCESS && info->previous != NULL) {
            result = maar_plan_keep(problem, info, outcome.peak, &planning->budget,
                                    &planning->arena, planning->offsets[c], planning->held[c]);
        }
        if (result != VK_SUCCESS) {
            return result;
        }
        planning->only_class = decide ? outcome.fits : MAAR_PLAN_ANSWER_UNKNOWN;
        sums->lowerBound += problem->lower_bound;
        sums->provedBound += problem->proved_bound;
        sums->greedySize += problem->greedy_peak;
        for (uint32_t i = 0; i < problem->count; ++i) {
            sums->totalSize += problem->bytes[i];
            sums->keptCount += maar_plan_has(planning->held[c], i);
        }
    }
    sums->stop = planning->budget.stop;
    sums->nodeCount = planning->budget.nodes_used;
    return VK_SUCCESS;
}

static VkResult find_all_edges(struct planning* planning, bool wrap, struct maar_plan_edges* edges)
{
    edges->count = 0;
    edges->cross_count = 0;
    VkResult result = VK_SUCCESS;
    for (uint32_t c = 0; c < planning->class_count && result == VK_SUCCESS; ++c) {
        result = maar_plan_find_edges(&planning->problems[c], planning->offsets[c], wrap,
                                      &planning->arena, edges);
    }
    return result;
}

/* By `after`, then `before`. */
static VkResult sort_edges(struct planning* planning, struct maar_plan_edges* edges)
{
    struct maar_plan_key* keys = maar_plan_take(&planning->arena, edges->count, sizeof *keys);
    struct maar_plan_key* other = maar_plan_take(&planning->arena, edges->count, sizeof *other);
    MaarPlanEdge* sorted = maar_plan_take(&planning->arena, edges->count, sizeof *sorted);
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

/* Second stage, and the edges of the outcome. */
static VkResult settle_edges(struct planning* planning)
{
    VkResult result = find_all_edges(planning, false, &planning->edges);
    if (result != VK_SUCCESS) {
        return result;
    }
    planning->result.firstStageEdgeCount = planning->edges.count;
    const bool keep_edges = (planning->info->flags & MAAR_PLAN_CREATE_KEEP_EDGES_BIT) != 0;
    if (!keep_edges && planning->edges.count > 0) {
        for (uint32_t c = 0; c < planning->class_count && result == VK_SUCCESS; ++c) {
            const uint64_t peak = maar_plan_peak(&planning->problems[c], planning->offsets[c]);
            result = maar_plan_fewer_edges(&planning->problems[c], planning->held[c], peak,
                                           &planning->arena, planning->offsets[c]);
        }
        if (result == VK_SUCCESS) {
            result = find_all_edges(planning, false, &planning->edges);
        }
    }
    if (result == VK_SUCCESS) {
        result = find_all_edges(planning, true, &planning->wrap_edges);
    }
    if (result == VK_SUCCESS) {
        result = sort_edges(planning, &planning->edges);
    }
    return result == VK_SUCCESS ? sort_edges(planning, &planning->wrap_edges) : result;
}

/* What the placements come to in the end: the second stage may have lowered one by the way. */
static void total_result(struct planning* planning)
{
    MaarPlanInfo* sums = &planning->result;
    sums->provedOptimal = VK_TRUE;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        const uint64_t peak = maar_plan_peak(&planning->problems[c], planning->offsets[c]);
        sums->peakSize += peak;
        sums->provedOptimal &= planning->problems[c].proved_bound == peak;
    }
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

/* Everything that outlives the call, in one allocation. */
static VkResult pack_result(const struct planning* planning, struct maar_plan_result** packed)
{
    const MaarPlanCreateInfo* info = planning->info;
    const size_t head = (sizeof(struct maar_plan_result) + 15) & ~(size_t)15;
    const size_t placements = info->resourceCount * sizeof(MaarPlanPlacement);
    const size_t classes = planning->class_count * sizeof(MaarPlanClass);
    const size_t edges = planning->edges.count * sizeof(MaarPlanEdge);
    const size_t wrap_edges = planning->wrap_edges.count * sizeof(MaarPlanEdge);
    const size_t size = head + placements + classes + edges + wrap_edges;
    if (size > planning->arena.limit - planning->arena.held) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    unsigned char* memory = maar_host_alloc(info->pAllocationCallbacks, size);
    if (memory == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    struct maar_plan_result* result = (struct maar_plan_result*)(void*)memory;
    memset(result, 0, sizeof *result);
    maar_atomic32_store(&result->references, 1);
    result->has_callbacks = info->pAllocationCallbacks != NULL;
    if (result->has_callbacks) {
        result->callbacks = *info->pAllocationCallbacks;
    }
    result->info = planning->result;
    result->placements = (MaarPlanPlacement*)(void*)(memory + head);
    result->classes = (MaarPlanClass*)(void*)(memory + head + placements);
    result->edges = (MaarPlanEdge*)(void*)(memory + head + placements + classes);
    result->wrap_edges = result->edges + planning->edges.count;
    for (uint32_t c = 0; c < planning->class_count; ++c) {
        const struct maar_plan_problem* problem = &planning->problems[c];
        fill_class(problem, planning->offsets[c], &result->classes[c]);
        for (uint32_t i = 0; i < problem->count; ++i) {
            result->placements[problem->resource[i]] = (MaarPlanPlacement){
                .classIndex = c,
                .kept = maar_plan_has(planning->held[c], i) ? VK_TRUE : VK_FALSE,
                .offset = (uint64_t)planning->offsets[c][i] * problem->unit,
            };
        }
    }
    if (edges > 0) {
        memcpy(result->edges, planning->edges.list, edges);
    }
    if (wrap_edges > 0) {
        memcpy(result->wrap_edges, planning->wrap_edges.list, wrap_edges);
    }
    *packed = result;
    return VK_SUCCESS;
}

static VkResult make_result(struct planning* planning, uint64_t began_ns,
                            struct maar_plan_result** packed)
{
    const MaarPlanCreateInfo* info = planning->info;
    VkResult result = maar_plan_build_graph(info, &planning->arena, &planning->graph);
    if (result == VK_SUCCESS) {
        result = split_classes(planning);
    }
    if (result == VK_SUCCESS) {
        result = place_classes(planning);
    }
    const uint64_t placed_ns = maar_now_ns();
    if (result == VK_SUCCESS) {
        result = settle_edges(planning);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    total_result(planning);
    planning->result.placeTime_ns = placed_ns - began_ns;
    planning->result.edgeTime_ns = maar_now_ns() - placed_ns;
    return pack_result(planning, packed);
}

/* A handle on a result, which it takes over. */
static VkResult wrap_result(const MaarPlanCreateInfo* info, struct maar_plan_result* result,
                            bool cached, MaarPlan* pPlan)
{
    MaarPlan plan = maar_host_calloc(info->pAllocationCallbacks, 1, sizeof *plan);
    if (plan == NULL) {
        maar_plan_result_release(result);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    plan->result = result;
    plan->cached = cached;
    plan->has_callbacks = info->pAllocationCallbacks != NULL;
    if (plan->has_callbacks) {
        plan->callbacks = *info->pAllocationCallbacks;
    }
    *pPlan = plan;
    return VK_SUCCESS;
}

/* Plans cut short by what differs from run to run are not worth keeping. */
static bool is_repeatable(MaarPlanStop stop)
{
    return stop == MAAR_PLAN_STOP_DONE || stop == MAAR_PLAN_STOP_NODE_LIMIT ||
           stop == MAAR_PLAN_STOP_GREEDY;
}

static void start_planning(struct planning* planning, const MaarPlanCreateInfo* info)
{
    *planning = (struct planning){.info = info};
    maar_plan_arena_init(&planning->arena, info->pAllocationCallbacks,
                         info->hostMemoryLimit != 0 ? info->hostMemoryLimit : default_host_limit);
    planning->budget = (struct maar_plan_budget){
        .nodes_left = info->nodeLimit != 0 ? info->nodeLimit : MAAR_PLAN_DEFAULT_NODE_LIMIT,
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
    struct maar_plan_key_bytes key = {0};
    struct maar_plan_result* packed = NULL;
    bool cached = false;
    if (pCreateInfo->cache != VK_NULL_HANDLE) {
        result = maar_plan_write_key(pCreateInfo, &planning.arena, &key);
        if (result != VK_SUCCESS) {
            goto finish;
        }
        packed = maar_plan_cache_find(pCreateInfo->cache, &key);
        cached = packed != NULL;
    }
    if (packed == NULL) {
        result = make_result(&planning, began_ns, &packed);
        if (result != VK_SUCCESS) {
            goto finish;
        }
        if (pCreateInfo->cache != VK_NULL_HANDLE && is_repeatable(packed->info.stop)) {
            maar_plan_cache_keep(pCreateInfo->cache, &key, packed);
        }
    }
    result = wrap_result(pCreateInfo, packed, cached, pPlan);

finish:
    maar_plan_arena_finish(&planning.arena);
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyPlan(MaarPlan plan)
{
    if (plan != VK_NULL_HANDLE) {
        const VkAllocationCallbacks callbacks = plan->callbacks;
        const bool has_callbacks = plan->has_callbacks;
        maar_plan_result_release(plan->result);
        maar_host_free(has_callbacks ? &callbacks : NULL, plan);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanInfo(MaarPlan plan, MaarPlanInfo* pInfo)
{
    if (plan == VK_NULL_HANDLE || pInfo == NULL || pInfo->sType != MAAR_STRUCTURE_TYPE_PLAN_INFO) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    void* next = pInfo->pNext;
    *pInfo = plan->result->info;
    pInfo->sType = MAAR_STRUCTURE_TYPE_PLAN_INFO;
    pInfo->pNext = next;
    pInfo->cached = plan->cached ? VK_TRUE : VK_FALSE;
    return VK_SUCCESS;
}

/* The two-call idiom: how many there are, or as many as there is room for. */
static VkResult copy_list(const void* list, uint32_t count, size_t size, uint32_t* pCount,
                          void* pList)
{
    if (pCount == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pList == NULL) {
        *pCount = count;
        return VK_SUCCESS;
    }
    const uint32_t copied = *pCount < count ? *pCount : count;
    if (copied > 0) {
        memcpy(pList, list, copied * size);
    }
    *pCount = copied;
    return copied < count ? VK_INCOMPLETE : VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanClasses(MaarPlan plan, uint32_t* pClassCount,
                                                  MaarPlanClass* pClasses)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->result->classes, plan->result->info.classCount, sizeof *pClasses,
                     pClassCount, pClasses);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanPlacements(MaarPlan plan, uint32_t* pPlacementCount,
                                                     MaarPlanPlacement* pPlacements)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->result->placements, plan->result->info.resourceCount,
                     sizeof *pPlacements, pPlacementCount, pPlacements);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                                MaarPlanEdge* pEdges)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->result->edges, plan->result->info.edgeCount, sizeof *pEdges, pEdgeCount,
                     pEdges);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPlanWrapEdges(MaarPlan plan, uint32_t* pEdgeCount,
                                                    MaarPlanEdge* pEdges)
{
    if (plan == VK_NULL_HANDLE) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return copy_list(plan->result->wrap_edges, plan->result->info.wrapEdgeCount, sizeof *pEdges,
                     pEdgeCount, pEdges);
}
