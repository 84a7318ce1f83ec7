/*
 * Transient heaps: a program declares the passes of a frame and the resources that they use. The
 * heap places the resources so that they share bytes, creates them, and answers which barriers and
 * semaphore waits each pass needs. This file creates, updates and destroys heaps.
 *
 * make_state is the way through the room:
 *
 * - transient_check.c rejects graphs that break a rule; transient_graph.c copies the graph.
 * - transient_pass_order.c orders the passes and finds what must wait for what;
 *   transient_use_groups.c groups the uses of each resource.
 * - transient_requirements.c asks the driver for sizes and memory types; transient_plan.c calls the
 *   planner.
 * - transient_barrier_frames.c walks through frames; transient_waits.c, transient_sources.c and
 *   transient_barriers.c find the waits and barriers of each pass.
 * - transient_objects.c creates memory, buffers, images and views.
 *
 * An update makes all of this for the new graph beside the old state. It replaces the old state
 * once nothing can fail any more; transient_retire.c ends what the new state does not keep.
 * transient_queries.c answers the program. A heap is externally synchronized.
 */
#include <stdio.h>
#include <string.h>

#include "core/bound_check.h"
#include "core/memory/allocation_check.h"
#include "core/memory/export_types.h"
#include "core/memory/object_handle.h"
#include "core/transient/transient_barriers.h"
#include "core/transient/transient_check.h"
#include "core/transient/transient_objects.h"
#include "core/transient/transient_order.h"
#include "core/transient/transient_plan.h"
#include "core/transient/transient_reuse.h"

#define KNOWN_HEAP_FLAGS                                                                           \
    ((MaarTransientHeapCreateFlags)MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT |                    \
     (MaarTransientHeapCreateFlags)MAAR_TRANSIENT_HEAP_CREATE_ALIASING_BARRIERS_ONLY_BIT |         \
     (MaarTransientHeapCreateFlags)MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT |                      \
     (MaarTransientHeapCreateFlags)MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT)

/* ---- states ---- */

static void destroy_state(MaarAllocator allocator, struct maar_transient_state* state)
{
    if (state != NULL) {
        maarDestroyPlan(state->plan);
        maar_stack_reset(&state->stack);
        maar_host_free(allocator->callbacks, state);
    }
}

static void sum_sizes(struct maar_transient_state* state)
{
    struct maar_transient_sizes* sizes = &state->sizes;
    for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
        sizes->resources += state->graph.resources[i].requirements.size;
    }
    for (uint32_t i = 0; i < state->class_count; ++i) {
        const struct maar_transient_class* class = &state->classes[i];
        sizes->classes += class->size;
        sizes->lazy += class->lazy ? class->size : 0;
        sizes->dedicated += class->dedicated != MAAR_TRANSIENT_NONE ? class->size : 0;
    }
}

/* Makes all parts of a state for one graph. previous: the index of each resource in the heap's
 * present graph, or NULL if there is none. */
static VkResult make_state(const struct maar_transient_heap* heap, const char* call,
                           const MaarTransientGraph* info, const uint32_t* previous,
                           struct maar_transient_state* state)
{
    VkResult result = maar_transient_copy(info, &state->stack, &state->graph);
    if (result == VK_SUCCESS) {
        result = maar_transient_sort(heap->allocator, call, info, &state->stack, &state->graph);
    }
    if (result == VK_SUCCESS) {
        maar_transient_warn(heap->allocator, call, info, &state->graph);
        result = maar_transient_require(heap, info, previous, state);
    }
    if (result == VK_SUCCESS) {
        result = maar_transient_place(heap, call, previous, state);
    }
    if (result == VK_SUCCESS) {
        result = maar_transient_record(heap, state);
    }
    if (result == VK_SUCCESS) {
        sum_sizes(state);
        state->object_reuse_size = maar_transient_reuse(&state->stack, &state->graph);
        result = maar_transient_make_objects(heap, call, info, previous, state);
    }
    return result;
}

static VkResult create_state(const struct maar_transient_heap* heap, const char* call,
                             const MaarTransientGraph* info, const uint32_t* previous,
                             struct maar_transient_state** made)
{
    *made = NULL;
    struct maar_transient_state* state =
        maar_host_calloc(heap->allocator->callbacks, 1, sizeof *state);
    if (state == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    state->stack.callbacks = heap->allocator->callbacks;
    state->copy_count = heap->copy_count;
    VkResult result = make_state(heap, call, info, previous, state);
    if (result != VK_SUCCESS) {
        destroy_state(heap->allocator, state);
        return result;
    }
    *made = state;
    return VK_SUCCESS;
}

/* ---- creation ---- */

static VkResult check_create_info(MaarAllocator allocator, const char* call,
                                  const MaarTransientHeapCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const MaarAllocationCreateInfo* how = info->pAllocationInfo;
    if (how != NULL) {
        result = maar_check_structure(allocator, call, "pCreateInfo->pAllocationInfo", how,
                                      MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO);
        if (result == VK_SUCCESS) {
            result = maar_pool_require_own(allocator, call, "pCreateInfo->pAllocationInfo->pool",
                                           how->pool);
        }
        if (result != VK_SUCCESS) {
            return result;
        }
    } else {
        how = &maar_default_create_info;
    }
    const struct maar_rule rules[] = {
        {maar_export_types(allocator, how) != 0, MAAR_MESSAGE_ID_NOT_EXPORTABLE,
         "pCreateInfo->pAllocationInfo asks for memory that can be exported; transients are never "
         "exported"},
        {0},
    };
    const MaarTransientHeapCreateFlags unknown = info->flags & ~KNOWN_HEAP_FLAGS;
    const struct maar_bound bounds[] = {
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pCreateInfo->flags has bits that are no MaarTransientHeapCreateFlagBits",
         MAAR_SHOW_BITS(unknown)},
        {(uint32_t)how->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->pAllocationInfo->usage is not a MaarMemoryUsage",
         MAAR_SHOW_NUMBER((uint32_t)how->usage)},
        {info->copyCount > MAAR_TRANSIENT_MAX_COPIES, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->copyCount is above MAAR_TRANSIENT_MAX_COPIES",
         MAAR_SHOW_LIMIT(info->copyCount, MAAR_TRANSIENT_MAX_COPIES)},
        {0},
    };
    result = maar_check_rules_and_bounds(allocator, call, rules, bounds);
    if (result != VK_SUCCESS) {
        return result;
    }
    return maar_transient_check(allocator, call, info->pGraph);
}

static VkResult open_heap(struct maar_transient_heap* heap, const MaarTransientHeapCreateInfo* info)
{
    const VkAllocationCallbacks* callbacks = heap->allocator->callbacks;
    heap->flags = info->flags;
    heap->copy_count = info->copyCount == 0 ? 1 : info->copyCount;
    heap->node_limit =
        info->planNodeLimit != 0 ? info->planNodeLimit : MAAR_TRANSIENT_DEFAULT_NODE_LIMIT;
    heap->time_limit_ns = info->planTimeLimit_ns;
    heap->cache = info->planCache;
    heap->how = info->pAllocationInfo != NULL ? *info->pAllocationInfo : maar_default_create_info;
    heap->how.pNext = NULL; /* after the call the chain belongs to the caller again */
    if (heap->how.pName != NULL) {
        heap->name = maar_copy_string(callbacks, heap->how.pName);
        heap->how.pName = heap->name;
        if (heap->name == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
    } else {
        heap->how.pName = "transients";
    }
    if (heap->cache != VK_NULL_HANDLE) {
        return VK_SUCCESS;
    }
    const MaarPlanCacheCreateInfo cache_info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CACHE_CREATE_INFO,
        .pAllocationCallbacks = callbacks,
    };
    VkResult result = maarCreatePlanCache(&cache_info, &heap->cache);
    heap->own_cache = result == VK_SUCCESS;
    return result;
}

static void close_heap(struct maar_transient_heap* heap)
{
    MaarAllocator allocator = heap->allocator;
    (void)maar_object_close(allocator, heap->handle);
    destroy_state(allocator, heap->state);
    if (heap->own_cache) {
        maarDestroyPlanCache(heap->cache);
    }
    maar_host_free(allocator->callbacks, heap->name);
    maar_host_free(allocator->callbacks, heap);
}

VKAPI_ATTR VkResult VKAPI_CALL
maarCreateTransientHeap(MaarAllocator allocator, const MaarTransientHeapCreateInfo* pCreateInfo,
                        MaarTransientHeap* pHeap)
{
    const struct maar_output outputs[] = {
        {"pHeap", pHeap, sizeof *pHeap},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_create_info(allocator, __func__, pCreateInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_transient_heap* heap = maar_host_calloc(allocator->callbacks, 1, sizeof *heap);
    if (heap == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    heap->allocator = allocator;
    result = open_heap(heap, pCreateInfo);
    if (result == VK_SUCCESS) {
        result = maar_object_open(allocator, MAAR_OBJECT_TRANSIENT_HEAP, heap, &heap->handle);
    }
    if (result == VK_SUCCESS) {
        result = create_state(heap, __func__, pCreateInfo->pGraph, NULL, &heap->state);
    }
    if (result != VK_SUCCESS) {
        close_heap(heap);
        return result;
    }
    heap->generation = 1;
    *pHeap = MAAR_FROM_BITS(MaarTransientHeap, heap->handle);
    return VK_SUCCESS;
}

/* ---- the end ---- */

static VkResult end_heap(MaarAllocator allocator, const char* call, MaarTransientHeap heap,
                         uint32_t point_count, const MaarPoint* points)
{
    struct maar_transient_heap* it = NULL;
    VkResult result = maar_transient_enter(allocator, call, heap, &it);
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, call, point_count, points);
    }
    const uint64_t handle = MAAR_TO_BITS(heap);
    if (result == VK_SUCCESS) {
        result = maar_object_begin_claim(allocator, call, "heap", handle);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_transient_retire(allocator, it->state, NULL, point_count, points);
    if (result == VK_SUCCESS) {
        it->handle = 0;
        maar_object_end_claim(allocator, handle);
        close_heap(it);
    } else {
        maar_object_unclaim(allocator, handle);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroyTransientHeap(MaarAllocator allocator, MaarTransientHeap heap)
{
    if (maar_enter(allocator) == VK_SUCCESS && heap != VK_NULL_HANDLE) {
        (void)end_heap(allocator, __func__, heap, 0, NULL);
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroyTransientHeapAfter(MaarAllocator allocator,
                                                             MaarTransientHeap heap,
                                                             uint32_t pointCount,
                                                             const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || heap == VK_NULL_HANDLE) {
        return result;
    }
    return end_heap(allocator, __func__, heap, pointCount, pPoints);
}

/* ---- updates ---- */

static VkResult refuse_previous(const struct maar_transient_heap* heap, const char* call,
                                const MaarTransientGraph* graph, uint32_t index, bool unknown)
{
    char text[256];
    (void)snprintf(text, sizeof text, "pGraph->pPreviousIndices names %s, for %s",
                   unknown ? "a resource that the graph before did not have" : "a resource twice",
                   maar_transient_label_resource(index, graph->pResources[index].pName).text);
    return maar_misuse(heap->allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, call, text);
}

/* Finds the index of each resource in the heap's graph, and checks the indices that the program
 * passes. */
static VkResult find_previous(const struct maar_transient_heap* heap, const char* call,
                              const MaarTransientGraph* graph, struct maar_host_stack* stack,
                              uint32_t** found)
{
    const uint32_t count = heap->state->graph.resource_count;
    uint32_t* previous = maar_stack_take(stack, graph->resourceCount, sizeof *previous);
    bool* taken = maar_stack_take(stack, count, sizeof *taken);
    if (previous == NULL || taken == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *found = previous;
    for (uint32_t i = 0; i < graph->resourceCount; ++i) {
        const uint32_t same = i < count ? i : MAAR_TRANSIENT_NONE;
        previous[i] = graph->pPreviousIndices != NULL ? graph->pPreviousIndices[i] : same;
        if (previous[i] == MAAR_TRANSIENT_NONE) {
            continue;
        }
        if (previous[i] >= count || taken[previous[i]]) {
            return refuse_previous(heap, call, graph, i, previous[i] >= count);
        }
        taken[previous[i]] = true;
    }
    return VK_SUCCESS;
}

/* Compares a graph with the one that the heap has. If they are the same, an update has nothing to
 * do. */
static VkResult compare_graph(const struct maar_transient_heap* heap,
                              const MaarTransientGraph* graph, const uint32_t* previous,
                              struct maar_host_stack* stack, bool* same)
{
    const struct maar_transient_graph* own = &heap->state->graph;
    struct maar_transient_graph other = {.resource_count = graph->resourceCount};
    *same = false;
    if (graph->resourceCount != own->resource_count || own->opaque) {
        return VK_SUCCESS;
    }
    for (uint32_t i = 0; i < graph->resourceCount; ++i) {
        if (previous[i] != i) {
            return VK_SUCCESS;
        }
    }
    other.resources = maar_stack_take(stack, graph->resourceCount, sizeof *other.resources);
    if (other.resources != NULL) {
        maar_transient_make_keys(stack, graph, &other);
    }
    if (stack->failed || other.key == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *same = !other.opaque && other.key_size == own->key_size &&
            memcmp(other.key, own->key, own->key_size) == 0;
    return VK_SUCCESS;
}

/* Notes an update that changes nothing: it keeps all objects. */
static void keep_state(const struct maar_transient_heap* heap)
{
    const bool plan_only = (heap->flags & MAAR_TRANSIENT_HEAP_CREATE_PLAN_ONLY_BIT) != 0;
    heap->state->created_count = 0;
    heap->state->kept_count = plan_only ? 0 : heap->state->graph.resource_count * heap->copy_count;
}

static VkResult replace_state(struct maar_transient_heap* heap, const char* call,
                              const MaarTransientGraph* graph, const uint32_t* previous,
                              uint32_t point_count, const MaarPoint* points)
{
    struct maar_transient_state* state = NULL;
    VkResult result = create_state(heap, call, graph, previous, &state);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_transient_retire(heap->allocator, heap->state, state, point_count, points);
    if (result != VK_SUCCESS) {
        maar_transient_undo_objects(heap->allocator, state);
        destroy_state(heap->allocator, state);
        return result;
    }
    destroy_state(heap->allocator, heap->state);
    heap->state = state;
    heap->generation += state->created_count > 0 ? 1 : 0;
    heap->updated = true;
    heap->counting = false;
    heap->copies_used = 0;
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarUpdateTransientHeap(MaarAllocator allocator,
                                                       MaarTransientHeap heap,
                                                       const MaarTransientGraph* pGraph,
                                                       uint32_t pointCount,
                                                       const MaarPoint* pPoints)
{
    struct maar_transient_heap* it = NULL;
    VkResult result = maar_transient_enter(allocator, __func__, heap, &it);
    if (result == VK_SUCCESS) {
        result = maar_transient_check(allocator, __func__, pGraph);
    }
    if (result == VK_SUCCESS) {
        result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_host_stack scratch = {.callbacks = allocator->callbacks};
    uint32_t* previous = NULL;
    bool same = false;
    result = find_previous(it, __func__, pGraph, &scratch, &previous);
    if (result == VK_SUCCESS) {
        result = compare_graph(it, pGraph, previous, &scratch, &same);
    }
    if (result == VK_SUCCESS && same) {
        keep_state(it);
    } else if (result == VK_SUCCESS) {
        result = replace_state(it, __func__, pGraph, previous, pointCount, pPoints);
    }
    maar_stack_reset(&scratch);
    return result;
}
