/*
 * The uses of each resource in the order of the passes, and their groups: uses that need no order
 * among each other.
 */
#include <stdio.h>

#include "core/report.h"
#include "core/transient/transient_check.h"
#include "core/transient/transient_order.h"

/* ---- uses ---- */

static VkResult refuse_double_use(MaarAllocator allocator, const char* call,
                                  const MaarTransientGraph* info, uint32_t resource, uint32_t pass)
{
    char text[256];
    (void)snprintf(text, sizeof text, "%s.pUses names %s twice",
                   maar_transient_label_resource(resource, info->pResources[resource].pName).text,
                   maar_transient_label_pass(pass, info->pPasses[pass].pName).text);
    return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_GRAPH, call, text);
}

/* Lists the uses of all resources by pass, in the order of their resources. */
static bool list_by_pass(struct maar_host_stack* stack, struct maar_transient_graph* graph)
{
    uint32_t total = 0;
    uint32_t* counts = maar_stack_take(stack, graph->pass_count, sizeof *counts);
    for (uint32_t i = 0; counts != NULL && i < graph->resource_count; ++i) {
        for (uint32_t k = 0; k < graph->resources[i].use_count; ++k) {
            ++counts[graph->resources[i].uses[k].pass];
            ++total;
        }
    }
    graph->pass_uses = maar_stack_take(stack, total, sizeof *graph->pass_uses);
    if (stack->failed) {
        return false;
    }
    uint32_t first = 0;
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        graph->passes[i].first_use = first;
        first += counts[i];
    }
    for (uint32_t i = 0; i < graph->resource_count; ++i) {
        for (uint32_t k = 0; k < graph->resources[i].use_count; ++k) {
            struct maar_transient_pass* pass = &graph->passes[graph->resources[i].uses[k].pass];
            graph->pass_uses[pass->first_use + pass->use_count++] =
                (struct maar_transient_pass_use){.resource = i, .use = k};
        }
    }
    return true;
}

/* Puts the uses of each resource into the order of the passes. filled: zero for each resource. */
static VkResult sort_uses(MaarAllocator allocator, const char* call, const MaarTransientGraph* info,
                          struct maar_transient_graph* graph, uint32_t* filled)
{
    for (uint32_t i = 0; i < graph->pass_count; ++i) {
        const struct maar_transient_pass* pass = &graph->passes[graph->order[i]];
        for (uint32_t k = 0; k < pass->use_count; ++k) {
            struct maar_transient_pass_use* entry = &graph->pass_uses[pass->first_use + k];
            struct maar_transient_resource* resource = &graph->resources[entry->resource];
            const MaarTransientUse* use = &info->pResources[entry->resource].pUses[entry->use];
            const uint32_t at = filled[entry->resource]++;
            if (at > 0 && resource->uses[at - 1].pass == use->pass) {
                return refuse_double_use(allocator, call, info, entry->resource, use->pass);
            }
            resource->uses[at] = (struct maar_transient_use){
                .pass = use->pass,
                .layout = resource->is_image ? use->layout : VK_IMAGE_LAYOUT_UNDEFINED,
                .stages = use->stages,
                .access = use->access,
                .writes = maar_transient_writes(use->access),
            };
            entry->use = at;
        }
    }
    return VK_SUCCESS;
}

/* ---- groups ---- */

static bool joins(const struct maar_transient_resource* resource,
                  const struct maar_transient_group* group, const struct maar_transient_use* use,
                  uint32_t family)
{
    return !group->write && use->writes == 0 && group->layout == use->layout &&
           (!resource->exclusive || group->family == family);
}

/* Unites the uses of a group on one queue: the first of them stands for all. */
static void unite_queues(const struct maar_transient_graph* graph,
                         struct maar_transient_resource* resource,
                         const struct maar_transient_group* group)
{
    struct maar_transient_use* firsts[MAAR_TRANSIENT_MAX_QUEUES] = {NULL};
    for (uint32_t i = group->first; i < group->first + group->count; ++i) {
        struct maar_transient_use* use = &resource->uses[i];
        struct maar_transient_use** first = &firsts[graph->passes[use->pass].queue];
        if (*first == NULL) {
            *first = use;
            use->first_on_queue = true;
        }
        (*first)->queue_stages |= use->stages;
        (*first)->queue_access |= use->access;
    }
}

static void make_groups(const struct maar_transient_graph* graph,
                        struct maar_transient_resource* resource)
{
    struct maar_transient_group* group = NULL;
    for (uint32_t i = 0; i < resource->use_count; ++i) {
        struct maar_transient_use* use = &resource->uses[i];
        const uint32_t family = maar_transient_family(graph, use->pass);
        if (group == NULL || !joins(resource, group, use, family)) {
            group = &resource->groups[resource->group_count++];
            *group = (struct maar_transient_group){
                .first = i, .family = family, .layout = use->layout, .write = use->writes != 0};
        }
        ++group->count;
        use->group = resource->group_count - 1;
    }
    for (uint32_t i = 0; i < resource->group_count; ++i) {
        struct maar_transient_group* g = &resource->groups[i];
        struct maar_transient_group* previous =
            i > 0 ? g - 1 : &resource->groups[resource->group_count - 1];
        const bool follows = i > 0 || resource->keep;
        g->acquired = follows && resource->exclusive && g->family != previous->family;
        previous->released |= g->acquired;
        g->led = g->acquired || (resource->is_image && (i == 0 || g->layout != previous->layout));
        unite_queues(graph, resource, g);
    }
}

VkResult maar_transient_group_uses(MaarAllocator allocator, const char* call,
                                   const MaarTransientGraph* info, struct maar_host_stack* stack,
                                   struct maar_transient_graph* graph)
{
    uint32_t* filled = maar_stack_take(stack, graph->resource_count, sizeof *filled);
    if (!list_by_pass(stack, graph)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = sort_uses(allocator, call, info, graph, filled);
    for (uint32_t i = 0; result == VK_SUCCESS && i < graph->resource_count; ++i) {
        make_groups(graph, &graph->resources[i]);
    }
    return result;
}
