/*
 * Copies a graph into a host stack.
 */
#include "core/transient/transient_graph.h"

#include <string.h>

#include "core/objects/image_planes.h"

/* Accesses that only read. Every unknown bit counts as a write. */
#define READING_ACCESS                                                                             \
    ((VkAccessFlags2)(VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT |         \
                      VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT |       \
                      VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT |        \
                      VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT |                                      \
                      VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |                              \
                      VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_HOST_READ_BIT |                  \
                      VK_ACCESS_2_MEMORY_READ_BIT | VK_ACCESS_2_SHADER_SAMPLED_READ_BIT |          \
                      VK_ACCESS_2_SHADER_STORAGE_READ_BIT |                                        \
                      VK_ACCESS_2_TRANSFORM_FEEDBACK_COUNTER_READ_BIT_EXT |                        \
                      VK_ACCESS_2_CONDITIONAL_RENDERING_READ_BIT_EXT |                             \
                      VK_ACCESS_2_COMMAND_PREPROCESS_READ_BIT_NV |                                 \
                      VK_ACCESS_2_FRAGMENT_SHADING_RATE_ATTACHMENT_READ_BIT_KHR |                  \
                      VK_ACCESS_2_ACCELERATION_STRUCTURE_READ_BIT_KHR |                            \
                      VK_ACCESS_2_FRAGMENT_DENSITY_MAP_READ_BIT_EXT |                              \
                      VK_ACCESS_2_COLOR_ATTACHMENT_READ_NONCOHERENT_BIT_EXT |                      \
                      VK_ACCESS_2_VIDEO_DECODE_READ_BIT_KHR |                                      \
                      VK_ACCESS_2_SHADER_BINDING_TABLE_READ_BIT_KHR |                              \
                      VK_ACCESS_2_DESCRIPTOR_BUFFER_READ_BIT_EXT |                                 \
                      VK_ACCESS_2_INVOCATION_MASK_READ_BIT_HUAWEI |                                \
                      VK_ACCESS_2_MICROMAP_READ_BIT_EXT | VK_ACCESS_2_OPTICAL_FLOW_READ_BIT_NV))

VkAccessFlags2 maar_transient_writes(VkAccessFlags2 access)
{
    return access & ~READING_ACCESS;
}

static void copy_resource(struct maar_host_stack* stack, const MaarTransientResource* info,
                          struct maar_transient_resource* resource)
{
    const VkImageCreateInfo* image = info->pImageInfo;
    const VkSharingMode sharing =
        image != NULL ? image->sharingMode : info->pBufferInfo->sharingMode;
    *resource = (struct maar_transient_resource){
        .is_image = image != NULL,
        .exclusive = sharing == VK_SHARING_MODE_EXCLUSIVE,
        .keep = (info->flags & MAAR_TRANSIENT_RESOURCE_KEEP_CONTENTS_BIT) != 0,
        .no_aliasing = (info->flags & MAAR_TRANSIENT_RESOURCE_NO_ALIASING_BIT) != 0,
        .transient_attachment =
            image != NULL && (image->usage & VK_IMAGE_USAGE_TRANSIENT_ATTACHMENT_BIT) != 0,
        .aspects = image != NULL ? maar_image_aspects(image->format) : 0,
        .view_count = info->viewCount,
        .use_count = info->useCount,
        .uses = maar_stack_take(stack, info->useCount, sizeof *resource->uses),
        .groups = maar_stack_take(stack, info->useCount, sizeof *resource->groups),
        .name = "",
    };
    if (info->pName != NULL) {
        const char* name = maar_stack_copy(stack, info->pName, strlen(info->pName) + 1, 1);
        resource->name = name != NULL ? name : "";
    }
    for (uint32_t i = 0; !stack->failed && i < info->useCount; ++i) {
        resource->uses[i].pass = info->pUses[i].pass;
    }
}

VkResult maar_transient_copy(const MaarTransientGraph* info, struct maar_host_stack* stack,
                             struct maar_transient_graph* graph)
{
    *graph = (struct maar_transient_graph){
        .queue_count = info->queueCount,
        .families = maar_stack_take(stack, info->queueCount, sizeof *graph->families),
        .queue_passes = maar_stack_take(stack, info->queueCount, sizeof *graph->queue_passes),
        .pass_count = info->passCount,
        .passes = maar_stack_take(stack, info->passCount, sizeof *graph->passes),
        .resource_count = info->resourceCount,
        .resources = maar_stack_take(stack, info->resourceCount, sizeof *graph->resources),
    };
    if (stack->failed) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (uint32_t i = 0; i < info->queueCount; ++i) {
        graph->families[i] = info->pQueues[i].familyIndex;
    }
    for (uint32_t i = 0; i < info->passCount; ++i) {
        graph->passes[i].queue = info->pPasses[i].queueIndex;
        graph->passes[i].position = graph->queue_passes[info->pPasses[i].queueIndex]++;
    }
    for (uint32_t i = 0; i < info->resourceCount; ++i) {
        copy_resource(stack, &info->pResources[i], &graph->resources[i]);
    }
    maar_transient_make_keys(stack, info, graph);
    return stack->failed ? VK_ERROR_OUT_OF_HOST_MEMORY : VK_SUCCESS;
}
