/*
 * The bytes that the same frame would take with whole objects. Each object is reused for resources
 * of the same create info once all uses of the last one have ended. A program that keeps its render
 * targets in a cache works in this way.
 */
#include "core/transient/transient_reuse.h"

#include "core/transient/transient_order.h"

/* Whether every use of one resource has ended before each use of another one. */
static bool is_over(const struct maar_transient_graph* graph,
                    const struct maar_transient_resource* before,
                    const struct maar_transient_resource* after)
{
    for (uint32_t i = 0; i < after->use_count; ++i) {
        for (uint32_t k = 0; k < before->use_count; ++k) {
            if (!maar_transient_precedes(graph, before->uses[k].pass, after->uses[i].pass)) {
                return false;
            }
        }
    }
    return true;
}

static bool can_take_over(const struct maar_transient_graph* graph,
                          const struct maar_transient_resource* before,
                          const struct maar_transient_resource* after)
{
    return !before->keep && !after->keep && !before->no_aliasing && !after->no_aliasing &&
           maar_transient_same_key(before, after) && is_over(graph, before, after);
}

VkDeviceSize maar_transient_reuse(struct maar_host_stack* stack,
                                  const struct maar_transient_graph* graph)
{
    /* The resource that each object has now. */
    uint32_t* holders = maar_stack_take(stack, graph->resource_count, sizeof *holders);
    uint32_t count = 0;
    VkDeviceSize size = 0;
    for (uint32_t i = 0; holders != NULL && i < graph->pass_count; ++i) {
        const struct maar_transient_pass* pass = &graph->passes[graph->order[i]];
        for (uint32_t k = pass->first_use; k < pass->first_use + pass->use_count; ++k) {
            const uint32_t index = graph->pass_uses[k].resource;
            const struct maar_transient_resource* resource = &graph->resources[index];
            uint32_t object = 0;
            if (graph->pass_uses[k].use != 0) {
                continue;
            }
            while (object < count &&
                   !can_take_over(graph, &graph->resources[holders[object]], resource)) {
                ++object;
            }
            size += object == count ? resource->requirements.size : 0;
            count += object == count ? 1 : 0;
            holders[object] = index;
        }
    }
    return size;
}
