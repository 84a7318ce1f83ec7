/*
 * The order of a frame. The passes get an order that agrees with all queues and dependencies. Where
 * two uses of a resource need an order that the program has not given, a wait is added.
 *
 * A clock shows, for each queue, how many of its passes have ended when a pass begins. Passes of
 * one queue are in order. Semaphores order the others. A pass that waits for a semaphore comes
 * after everything that the signalling queue did before.
 */
#include <string.h>

#include "core/report.h"
#include "core/transient/transient_order.h"

/* The state of the sorting. */
struct sorting {
    MaarAllocator allocator;
    const char* call;
    const MaarTransientGraph* info;
    struct maar_host_stack* stack;
    struct maar_transient_graph* graph;
    uint32_t*
        first_dependency; /* slices of `dependents`, by one of the two passes of a dependency */
    uint32_t* dependents;
    uint32_t* open; /* how many passes a pass still waits for */
    uint32_t* heap; /* passes that wait for no other, the lowest index on top */
    uint32_t heap_count;
};

/* ---- passes ---- */

static void push_ready(struct sorting* s, uint32_t pass)
{
    uint32_t at = s->heap_count++;
    for (; at > 0 && s->heap[(at - 1) / 2] > pass; at = (at - 1) / 2) {
        s->heap[at] = s->heap[(at - 1) / 2];
    }
    s->heap[at] = pass;
}

static uint32_t pop_ready(struct sorting* s)
{
    const uint32_t top = s->heap[0];
    const uint32_t moved = s->heap[--s->heap_count];
    uint32_t at = 0;
    for (uint32_t child = 1; child < s->heap_count; child = at * 2 + 1) {
        child += child + 1 < s->heap_count && s->heap[child + 1] < s->heap[child] ? 1 : 0;
        if (s->heap[child] >= moved) {
            break;
        }
        s->heap[at] = s->heap[child];
        at = child;
    }
    s->heap[at] = moved;
    return top;
}

/* Turns counts into the beginnings of slices. `first` has one element more than `count`. */
static void sum_up(uint32_t* first, uint32_t count)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= count; ++i) {
        const uint32_t size = first[i];
        first[i] = sum;
        sum += size;
    }
}

/* Lists the dependencies by the pass before, or by the pass after. */
static void list_dependencies(struct sorting* s, bool by_before)
{
    const MaarTransientGraph* info = s->info;
    memset(s->first_dependency, 0, ((size_t)info->passCount + 1) * sizeof *s->first_dependency);
    memset(s->heap, 0, info->passCount * sizeof *s->heap);
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarTransientDependency* d = &info->pDependencies[i];
        ++s->first_dependency[by_before ? d->before : d->after];
    }
    sum_up(s->first_dependency, info->passCount);
    for (uint32_t i = 0; i < info->dependencyCount; ++i) {
        const MaarTransientDependency* d = &info->pDependencies[i];
        const uint32_t key = by_before ? d->before : d->after;
        s->dependents[s->first_dependency[key] + s->heap[key]++] = by_before ? d->after : d->before;
    }
}

static VkResult find_pass_order(struct sorting* s)
{
    struct maar_transient_graph* graph = s->graph;
    uint32_t next_on_queue[MAAR_TRANSIENT_MAX_QUEUES];
    uint32_t done = 0;
    list_dependencies(s, true);
    for (uint32_t i = 0; i < s->info->dependencyCount; ++i) {
        ++s->open[s->info->pDependencies[i].after];
    }
    uint32_t* following = maar_stack_take(s->stack, graph->pass_count, sizeof *following);
    if (following == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < graph->queue_count; ++i) {
        next_on_queue[i] = MAAR_TRANSIENT_NONE;
    }
    for (uint32_t pass = graph->pass_count; pass-- > 0;) {
        following[pass] = next_on_queue[graph->passes[pass].queue];
        next_on_queue[graph->passes[pass].queue] = pass;
        s->open[pass] += graph->passes[pass].position > 0 ? 1 : 0;
    }
    for (uint32_t pass = 0; pass < graph->pass_count; ++pass) {
        if (s->open[pass] == 0) {
            push_ready(s, pass);
        }
    }
    while (s->heap_count > 0) {
        const uint32_t pass = pop_ready(s);
        graph->order[done++] = pass;
        if (following[pass] != MAAR_TRANSIENT_NONE && --s->open[following[pass]] == 0) {
            push_ready(s, following[pass]);
        }
        for (uint32_t i = s->first_dependency[pass]; i < s->first_dependency[pass + 1]; ++i) {
            if (--s->open[s->dependents[i]] == 0) {
                push_ready(s, s->dependents[i]);
            }
        }
    }
    return done == graph->pass_count
               ? VK_SUCCESS
               : maar_misuse(s->allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, s->call,
                             "pGraph->pDependencies and the order of the queues make a circle");
}

/* ---- what has no order yet ---- */

/* What a pass waits for on each queue: a pass, and its position plus one. A position of 0 stands
 * for no pass. */
struct needs {
    uint32_t position[MAAR_TRANSIENT_MAX_QUEUES];
    uint32_t pass[MAAR_TRANSIENT_MAX_QUEUES];
};

static void need_group(const struct maar_transient_graph* graph,
                       const struct maar_transient_resource* resource,
                       const struct maar_transient_group* group, const uint32_t* clock,
                       struct needs* needs)
{
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        const uint32_t pass = resource->uses[i].pass;
        const uint32_t queue = graph->passes[pass].queue;
        const uint32_t position = graph->passes[pass].position + 1;
        if (position > clock[queue] && position > needs->position[queue]) {
            needs->position[queue] = position;
            needs->pass[queue] = pass;
        }
    }
}

/* Finds the passes that must have ended before one use begins in its frame. Passes of its own queue
 * are in order already. */
static void need_for_use(const struct maar_transient_graph* graph,
                         const struct maar_transient_pass_use* entry, const uint32_t* clock,
                         struct needs* needs)
{
    const struct maar_transient_resource* resource = &graph->resources[entry->resource];
    const struct maar_transient_use* use = &resource->uses[entry->use];
    const struct maar_transient_group* group = &resource->groups[use->group];
    const bool leader = entry->use == group->first;
    if (use->group > 0 && use->first_on_queue && (leader || !group->led)) {
        need_group(graph, resource, group - 1, clock, needs);
    }
    if (group->led && !leader && use->first_on_queue) {
        const struct maar_transient_group first = {.first = group->first, .count = 1};
        need_group(graph, resource, &first, clock, needs);
    }
    if (group->released && entry->use == group->first + group->count - 1) {
        const struct maar_transient_group others = {.first = group->first,
                                                    .count = group->count - 1};
        need_group(graph, resource, &others, clock, needs);
    }
}

static uint32_t* clock_of(const struct maar_transient_graph* graph, uint32_t pass)
{
    return &graph->clocks[(size_t)pass * graph->queue_count];
}

static void advance(const struct maar_transient_graph* graph, uint32_t* clock, uint32_t before)
{
    const uint32_t* other = clock_of(graph, before);
    for (uint32_t i = 0; i < graph->queue_count; ++i) {
        clock[i] = other[i] > clock[i] ? other[i] : clock[i];
    }
    const struct maar_transient_pass* pass = &graph->passes[before];
    if (pass->position + 1 > clock[pass->queue]) {
        clock[pass->queue] = pass->position + 1;
    }
}

static void add_wait(struct maar_transient_graph* graph, struct maar_transient_pass* pass,
                     uint32_t before, bool derived)
{
    graph->waits[graph->wait_count++] =
        (struct maar_transient_order){.pass = before, .derived = derived};
    ++pass->wait_count;
}

/* Adds the waits that do not follow from other waits. */
static void derive_waits(struct maar_transient_graph* graph, uint32_t pass, uint32_t* clock,
                         const struct needs* needs)
{
    for (uint32_t queue = 0; queue < graph->queue_count; ++queue) {
        bool implied = needs->position[queue] == 0;
        for (uint32_t i = 0; i < graph->queue_count && !implied; ++i) {
            implied = i != queue && needs->position[i] != 0 &&
                      clock_of(graph, needs->pass[i])[queue] >= needs->position[queue];
        }
        if (!implied) {
            add_wait(graph, &graph->passes[pass], needs->pass[queue], true);
        }
    }
    for (uint32_t queue = 0; queue < graph->queue_count; ++queue) {
        if (needs->position[queue] != 0) {
            advance(graph, clock, needs->pass[queue]);
        }
    }
}

/* Walks the passes in their order and makes the waits, and the clocks that follow from them. */
static void run_clocks(struct sorting* s)
{
    struct maar_transient_graph* graph = s->graph;
    uint32_t last[MAAR_TRANSIENT_MAX_QUEUES];
    for (uint32_t i = 0; i < graph->queue_count; ++i) {
        last[i] = MAAR_TRANSIENT_NONE;
    }
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        const uint32_t index = graph->order[i];
        struct maar_transient_pass* pass = &graph->passes[index];
        uint32_t* clock = clock_of(graph, index);
        struct needs needs = {.position = {0}};
        pass->first_wait = graph->wait_count;
        if (last[pass->queue] != MAAR_TRANSIENT_NONE) {
            advance(graph, clock, last[pass->queue]);
        }
        for (uint32_t k = s->first_dependency[index]; k < s->first_dependency[index + 1]; ++k) {
            const uint32_t before = s->dependents[k];
            if (graph->passes[before].queue != pass->queue) {
                add_wait(graph, pass, before, false);
                advance(graph, clock, before);
            }
        }
        clock[pass->queue] = pass->position;
        for (uint32_t k = 0; k < pass->use_count; ++k) {
            need_for_use(graph, &graph->pass_uses[pass->first_use + k], clock, &needs);
        }
        derive_waits(graph, index, clock, &needs);
        last[pass->queue] = index;
    }
}

VkResult maar_transient_sort(MaarAllocator allocator, const char* call,
                             const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph)
{
    const size_t passes = graph->pass_count;
    struct sorting s = {
        .allocator = allocator,
        .call = call,
        .info = info,
        .stack = stack,
        .graph = graph,
        .first_dependency = maar_stack_take(stack, passes + 1, sizeof *s.first_dependency),
        .dependents = maar_stack_take(stack, info->dependencyCount, sizeof *s.dependents),
        .open = maar_stack_take(stack, passes, sizeof *s.open),
        .heap = maar_stack_take(stack, passes, sizeof *s.heap),
    };
    graph->order = maar_stack_take(stack, passes, sizeof *graph->order);
    graph->clocks = maar_stack_take(stack, passes * graph->queue_count, sizeof *graph->clocks);
    graph->waits = maar_stack_take(stack, info->dependencyCount + passes * (graph->queue_count - 1),
                                   sizeof *graph->waits);
    if (stack->failed) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = find_pass_order(&s);
    if (result == VK_SUCCESS) {
        result = maar_transient_group_uses(allocator, call, info, stack, graph);
    }
    if (result != VK_SUCCESS) {
        return result;
    }
    list_dependencies(&s, false);
    run_clocks(&s);
    return VK_SUCCESS;
}
