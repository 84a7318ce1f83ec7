/*
 * The places of all resources: the plan of a graph, the classes of resources that share memory, and
 * the edges between resources that share bytes. A resource for which the driver requires dedicated
 * memory is left out of the plan and is a class of its own.
 */
#include "core/transient/transient_plan.h"

#include "core/memory/allocator_state.h"
#include "core/transient/transient_check.h"

/* ---- the plan ---- */

/* The input of a plan. */
struct plan_input {
    MaarPlanResource* resources;
    uint32_t* uses;
    uint32_t* queues;
    MaarPlanDependency* dependencies;
    uint32_t* previous;
    uint32_t count;
};

static void fill_resource(const struct maar_transient_heap* heap,
                          const struct maar_transient_resource* resource, uint32_t* uses,
                          MaarPlanResource* planned)
{
    const bool alone = resource->keep || resource->no_aliasing ||
                       (heap->flags & MAAR_TRANSIENT_HEAP_CREATE_NO_ALIASING_BIT) != 0;
    *planned = (MaarPlanResource){
        .size = resource->requirements.size,
        .alignment = resource->requirements.alignment,
        .memoryTypeBits = resource->best_type_bits,
        .kind = resource->kind,
        .flags = alone ? MAAR_PLAN_RESOURCE_NO_ALIASING_BIT : 0,
        .useCount = resource->use_count,
        .pUses = uses,
    };
    for (uint32_t i = 0; i < resource->use_count; ++i) {
        uses[i] = resource->uses[i].pass;
    }
}

static bool fill_input(const struct maar_transient_heap* heap, const uint32_t* previous,
                       struct maar_host_stack* stack, struct maar_transient_state* state,
                       struct plan_input* input)
{
    const struct maar_transient_graph* graph = &state->graph;
    uint32_t total = 0;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        total += graph->resources[i].use_count;
    }
    *input = (struct plan_input){
        .resources = maar_stack_take(stack, graph->resource_count, sizeof *input->resources),
        .uses = maar_stack_take(stack, total, sizeof *input->uses),
        .queues = maar_stack_take(stack, graph->pass_count, sizeof *input->queues),
        .dependencies = maar_stack_take(stack, graph->wait_count, sizeof *input->dependencies),
        .previous = maar_stack_take(stack, graph->resource_count, sizeof *input->previous),
    };
    if (stack->failed) {
        return false;
    }
    uint32_t* uses = input->uses;
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        state->plan_indices[i] = MAAR_TRANSIENT_NONE;
        if (graph->resources[i].needs_dedicated) {
            continue;
        }
        fill_resource(heap, &graph->resources[i], uses, &input->resources[input->count]);
        input->previous[input->count] = previous != NULL && previous[i] != MAAR_TRANSIENT_NONE
                                            ? heap->state->plan_indices[previous[i]]
                                            : MAAR_TRANSIENT_NONE;
        state->plan_indices[i] = input->count++;
        uses += graph->resources[i].use_count;
    }
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        const struct maar_transient_pass* pass = &graph->passes[i];
        input->queues[i] = pass->queue;
        for (uint32_t k = pass->first_wait; k < pass->first_wait + pass->wait_count; ++k) {
            input->dependencies[k] =
                (MaarPlanDependency){.before = graph->waits[k].pass, .after = i};
        }
    }
    return true;
}

static VkResult make_plan(const struct maar_transient_heap* heap, const uint32_t* previous,
                          struct maar_host_stack* stack, struct maar_transient_state* state)
{
    struct plan_input input;
    if (!fill_input(heap, previous, stack, state, &input)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const MaarPlan before = previous != NULL ? heap->state->plan : VK_NULL_HANDLE;
    const MaarPlanCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_PLAN_CREATE_INFO,
        .resourceCount = input.count,
        .pResources = input.resources,
        .passCount = state->graph.pass_count,
        .pPassQueues = input.queues,
        .dependencyCount = state->graph.wait_count,
        .pDependencies = input.dependencies,
        .flags = (heap->flags & MAAR_TRANSIENT_HEAP_CREATE_KEEP_EDGES_BIT) != 0
                     ? MAAR_PLAN_CREATE_KEEP_EDGES_BIT
                     : 0,
        .granularity = heap->allocator->device.facts.granularity,
        .nodeLimit = heap->node_limit,
        .timeLimit_ns = heap->time_limit_ns,
        .previous = before,
        .previousIndexCount = before != VK_NULL_HANDLE ? input.count : 0,
        .pPreviousIndices = before != VK_NULL_HANDLE ? input.previous : NULL,
        .cache = heap->cache,
        .pAllocationCallbacks = heap->allocator->callbacks,
        .pfnMessage = heap->allocator->reporter.message,
        .pMessageUserData = heap->allocator->reporter.user_data,
    };
    maar_lock_rank_expect_none();
    return maarCreatePlan(&info, &state->plan);
}

/* ---- classes ---- */

static VkResult refuse_class(const struct maar_transient_heap* heap, const char* call,
                             const struct maar_transient_state* state, uint32_t class_index)
{
    const struct maar_transient_resource* resources = state->graph.resources;
    uint32_t largest = MAAR_TRANSIENT_NONE;
    for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
        if (resources[i].class_index == class_index &&
            (largest == MAAR_TRANSIENT_NONE ||
             resources[i].requirements.size > resources[largest].requirements.size)) {
            largest = i;
        }
    }
    return maar_fail(heap->allocator, VK_ERROR_OUT_OF_DEVICE_MEMORY,
                     MAAR_MESSAGE_ID_TRANSIENTS_TOO_LARGE, call,
                     "transients that share memory take %s (the largest, %s, takes %s); the "
                     "device allocates at most %s in one piece (maxMemoryAllocationSize)",
                     maar_show_bytes(state->classes[class_index].size).text,
                     maar_transient_label_resource(largest, resources[largest].name).text,
                     maar_show_bytes(resources[largest].requirements.size).text,
                     maar_show_bytes(heap->allocator->device.facts.max_allocation_size).text);
}

/* Gathers the members of each class: the memory types that all of them allow, and whether they are
 * lazily allocated. */
static void gather_members(struct maar_transient_state* state, const MaarPlanPlacement* placements)
{
    uint32_t alone = state->plan_info.classCount;
    for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
        struct maar_transient_resource* resource = &state->graph.resources[i];
        struct maar_transient_class* class = NULL;
        if (state->plan_indices[i] == MAAR_TRANSIENT_NONE) {
            resource->class_index = alone++;
            class = &state->classes[resource->class_index];
            *class = (struct maar_transient_class){
                .type_bits = UINT32_MAX,
                .size = resource->requirements.size,
                .alignment = resource->requirements.alignment,
                .kind = resource->kind,
                .dedicated = i,
            };
        } else {
            const MaarPlanPlacement* placement = &placements[state->plan_indices[i]];
            resource->class_index = placement->classIndex;
            resource->offset = placement->offset;
            class = &state->classes[resource->class_index];
        }
        class->type_bits &= resource->type_bits;
        class->lazy |= resource->lazy;
    }
}

static VkResult make_classes(const struct maar_transient_heap* heap, const char* call,
                             struct maar_host_stack* stack, struct maar_transient_state* state)
{
    uint32_t class_count = state->plan_info.classCount;
    uint32_t placement_count = state->plan_info.resourceCount;
    MaarPlanClass* classes = maar_stack_take(stack, class_count, sizeof *classes);
    MaarPlanPlacement* placements = maar_stack_take(stack, placement_count, sizeof *placements);
    state->class_count = class_count + state->graph.resource_count - placement_count;
    state->classes = maar_stack_take(&state->stack, state->class_count, sizeof *state->classes);
    if (stack->failed || state->stack.failed) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = maarGetPlanClasses(state->plan, &class_count, classes);
    if (result == VK_SUCCESS) {
        result = maarGetPlanPlacements(state->plan, &placement_count, placements);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    for (uint32_t i = 0; i < class_count; ++i) {
        state->classes[i] = (struct maar_transient_class){
            .type_bits = UINT32_MAX,
            .size = classes[i].size,
            .alignment = classes[i].alignment,
            .kind = classes[i].kind,
            .dedicated = MAAR_TRANSIENT_NONE,
        };
    }
    gather_members(state, placements);
    for (uint32_t i = 0; i < state->class_count; ++i) {
        if (state->classes[i].size > heap->allocator->device.facts.max_allocation_size) {
            return refuse_class(heap, call, state, i);
        }
    }
    return VK_SUCCESS;
}

/* ---- edges ---- */

/* Groups the plan's edges by the resource that comes after, and translates the plan's indices of
 * resources into those of the graph. wrap: the edges lead from one frame to the next. */
static VkResult slice_edges(struct maar_transient_state* state, const uint32_t* graph_indices,
                            const MaarPlanEdge* edges, uint32_t edge_count, bool wrap,
                            struct maar_transient_edges* sorted)
{
    const uint32_t count = state->graph.resource_count;
    uint32_t extra = 0;
    sorted->first = maar_stack_take(&state->stack, (size_t)count + 1, sizeof *sorted->first);
    for (uint32_t i = 0; i < count && wrap; ++i) {
        extra += state->graph.resources[i].keep ? 0 : 1;
    }
    sorted->before =
        maar_stack_take(&state->stack, (size_t)edge_count + extra, sizeof *sorted->before);
    if (state->stack.failed) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    uint32_t at = 0;
    uint32_t edge = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const struct maar_transient_resource* resource = &state->graph.resources[i];
        sorted->first[i] = at;
        bool self = !wrap || resource->keep;
        for (; edge < edge_count && graph_indices[edges[edge].after] == i; ++edge) {
            sorted->before[at] = graph_indices[edges[edge].before];
            self |= sorted->before[at++] == i;
        }
        /* A resource that must not share its bytes follows its own uses in the frame before. The
         * plan has no edge for that. */
        if (!self && sorted->first[i] == at) {
            sorted->before[at++] = i;
        }
    }
    sorted->first[count] = at;
    return VK_SUCCESS;
}

static VkResult fetch_edges(struct maar_transient_state* state, struct maar_host_stack* stack)
{
    uint32_t count = state->plan_info.edgeCount;
    uint32_t wrap_count = state->plan_info.wrapEdgeCount;
    MaarPlanEdge* edges = maar_stack_take(stack, count, sizeof *edges);
    MaarPlanEdge* wraps = maar_stack_take(stack, wrap_count, sizeof *wraps);
    uint32_t* graph_indices =
        maar_stack_take(stack, state->plan_info.resourceCount, sizeof *graph_indices);
    if (stack->failed) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < state->graph.resource_count; ++i) {
        if (state->plan_indices[i] != MAAR_TRANSIENT_NONE) {
            graph_indices[state->plan_indices[i]] = i;
        }
    }
    VkResult result = maarGetPlanEdges(state->plan, &count, edges);
    if (result == VK_SUCCESS) {
        result = maarGetPlanWrapEdges(state->plan, &wrap_count, wraps);
    }
    if (result == VK_SUCCESS) {
        result = slice_edges(state, graph_indices, edges, count, false, &state->edges);
    }
    if (result == VK_SUCCESS) {
        result = slice_edges(state, graph_indices, wraps, wrap_count, true, &state->wrap_edges);
    }
    return result;
}

VkResult maar_transient_place(const struct maar_transient_heap* heap, const char* call,
                              const uint32_t* previous, struct maar_transient_state* state)
{
    struct maar_host_stack scratch = {.callbacks = heap->allocator->callbacks};
    state->plan_indices =
        maar_stack_take(&state->stack, state->graph.resource_count, sizeof *state->plan_indices);
    state->plan_info.sType = MAAR_STRUCTURE_TYPE_PLAN_INFO;
    VkResult result = state->plan_indices == NULL ? VK_ERROR_OUT_OF_HOST_MEMORY
                                                  : make_plan(heap, previous, &scratch, state);
    if (result == VK_SUCCESS) {
        result = maarGetPlanInfo(state->plan, &state->plan_info);
    }
    if (result == VK_SUCCESS) {
        result = make_classes(heap, call, &scratch, state);
    }
    if (result == VK_SUCCESS) {
        result = fetch_edges(state, &scratch);
    }
    maar_stack_reset(&scratch);
    return result;
}
