/*
 * Barriers on buffers and images.
 *
 * A change from an undefined layout discards. Any other barrier announces a use, and keeps the
 * contents: it counts as that use (soft flags) unless a later command of the batch replaces all
 * contents.
 */
#include "layer/layer_use_internal.h"

#define READ_ACCESS                                                                                \
    (VK_ACCESS_2_INDIRECT_COMMAND_READ_BIT | VK_ACCESS_2_INDEX_READ_BIT |                          \
     VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_2_UNIFORM_READ_BIT |                        \
     VK_ACCESS_2_INPUT_ATTACHMENT_READ_BIT | VK_ACCESS_2_SHADER_READ_BIT |                         \
     VK_ACCESS_2_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_READ_BIT |       \
     VK_ACCESS_2_TRANSFER_READ_BIT | VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_MEMORY_READ_BIT |     \
     VK_ACCESS_2_SHADER_SAMPLED_READ_BIT | VK_ACCESS_2_SHADER_STORAGE_READ_BIT)
#define WRITE_ACCESS                                                                               \
    (VK_ACCESS_2_SHADER_WRITE_BIT | VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT |                       \
     VK_ACCESS_2_DEPTH_STENCIL_ATTACHMENT_WRITE_BIT | VK_ACCESS_2_TRANSFER_WRITE_BIT |             \
     VK_ACCESS_2_HOST_WRITE_BIT | VK_ACCESS_2_MEMORY_WRITE_BIT |                                   \
     VK_ACCESS_2_SHADER_STORAGE_WRITE_BIT)

/* What the barrier announces. Accesses of extensions count as both. */
static uint8_t announced(uint64_t access)
{
    const bool other = (access & ~(uint64_t)(READ_ACCESS | WRITE_ACCESS)) != 0;
    const int reads = other || (access & READ_ACCESS) != 0 ? USE_READ : 0;
    const int writes = other || (access & WRITE_ACCESS) != 0 ? USE_WRITE : 0;
    return (uint8_t)(reads | writes);
}

static void note_buffer(const struct layer_use_call* call, VkBuffer buffer, uint64_t access,
                        bool is_transfer)
{
    const struct layer_use use = {.object = MAAR_TO_BITS(buffer),
                                  .parts = 1,
                                  .kind = LAYER_USE_BUFFER,
                                  .soft_flags =
                                      is_transfer ? (uint8_t)USE_BOTH : announced(access)};
    if (call->list != NULL) {
        maar_layer_use_list_add(call->list, &use);
    }
}

struct image_barrier {
    VkImage image;
    VkImageLayout before, after;
    bool is_transfer; /* between queue families */
    uint64_t access;
    const VkImageSubresourceRange* range;
};

static void note_image(const struct layer_use_call* call, const struct image_barrier* barrier)
{
    struct layer_use_image found;
    (void)maar_layer_use_find_image(call, barrier->image, &found);
    const bool changes = barrier->before != barrier->after;
    if (changes && barrier->before == VK_IMAGE_LAYOUT_UNDEFINED) {
        maar_layer_use_image(call, &found, barrier->range, USE_WRITE, true);
        return;
    }
    struct layer_use use = {.object = MAAR_TO_BITS(barrier->image), .kind = LAYER_USE_IMAGE};
    use.parts = maar_layer_use_parts(&found);
    use.soft_flags =
        changes || barrier->is_transfer ? (uint8_t)USE_BOTH : announced(barrier->access);
    if (call->list != NULL) {
        maar_layer_use_list_add(call->list, &use);
    }
}

static void note_barriers(const struct layer_use_call* call, uint32_t buffer_count,
                          const VkBufferMemoryBarrier* buffers, uint32_t image_count,
                          const VkImageMemoryBarrier* images)
{
    for (uint32_t i = 0; i < buffer_count; ++i) {
        note_buffer(call, buffers[i].buffer, buffers[i].dstAccessMask,
                    buffers[i].srcQueueFamilyIndex != buffers[i].dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < image_count; ++i) {
        const VkImageMemoryBarrier* const from = &images[i];
        note_image(call,
                   &(struct image_barrier){from->image, from->oldLayout, from->newLayout,
                                           from->srcQueueFamilyIndex != from->dstQueueFamilyIndex,
                                           from->dstAccessMask, &from->subresourceRange});
    }
}

static void note_dependency(const struct layer_use_call* call, const VkDependencyInfo* info)
{
    for (uint32_t i = 0; i < info->bufferMemoryBarrierCount; ++i) {
        const VkBufferMemoryBarrier2* const from = &info->pBufferMemoryBarriers[i];
        note_buffer(call, from->buffer, from->dstAccessMask,
                    from->srcQueueFamilyIndex != from->dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < info->imageMemoryBarrierCount; ++i) {
        const VkImageMemoryBarrier2* const from = &info->pImageMemoryBarriers[i];
        note_image(call,
                   &(struct image_barrier){from->image, from->oldLayout, from->newLayout,
                                           from->srcQueueFamilyIndex != from->dstQueueFamilyIndex,
                                           from->dstAccessMask, &from->subresourceRange});
    }
}

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                          VkPipelineStageFlags after, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier* memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier* buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier* images)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    note_barriers(&call, buffer_count, buffers, image_count, images);
    call.next->CmdPipelineBarrier(commands, before, after, flags, memory_count, memory,
                                  buffer_count, buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL wait_events(VkCommandBuffer commands, uint32_t count,
                                              const VkEvent* events, VkPipelineStageFlags before,
                                              VkPipelineStageFlags after, uint32_t memory_count,
                                              const VkMemoryBarrier* memory, uint32_t buffer_count,
                                              const VkBufferMemoryBarrier* buffers,
                                              uint32_t image_count,
                                              const VkImageMemoryBarrier* images)
{
    const struct layer_use_call call = maar_layer_use_call(commands);
    note_barriers(&call, buffer_count, buffers, image_count, images);
    call.next->CmdWaitEvents(commands, count, events, before, after, memory_count, memory,
                             buffer_count, buffers, image_count, images);
}

/* One function for each name, since each calls the next layer's function of its name. */
#define BARRIER2(function, name)                                                                   \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands,                           \
                                               const VkDependencyInfo* info)                       \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        note_dependency(&call, info);                                                              \
        call.next->name(commands, info);                                                           \
    }

BARRIER2(barrier2, CmdPipelineBarrier2)
BARRIER2(barrier2_khr, CmdPipelineBarrier2KHR)

/* The wait for an event has the same barriers as the event, so the event itself needs no hook. */
#define WAIT_EVENTS2(function, name)                                                               \
    static VKAPI_ATTR void VKAPI_CALL function(VkCommandBuffer commands, uint32_t count,           \
                                               const VkEvent* events,                              \
                                               const VkDependencyInfo* infos)                      \
    {                                                                                              \
        const struct layer_use_call call = maar_layer_use_call(commands);                          \
        for (uint32_t i = 0; i < count; ++i) {                                                     \
            note_dependency(&call, &infos[i]);                                                     \
        }                                                                                          \
        call.next->name(commands, count, events, infos);                                           \
    }

WAIT_EVENTS2(wait_events2, CmdWaitEvents2)
WAIT_EVENTS2(wait_events2_khr, CmdWaitEvents2KHR)

const struct layer_hook maar_layer_use_barrier_hooks[] = {
    LAYER_HOOK(CmdPipelineBarrier, barrier),
    LAYER_HOOK(CmdPipelineBarrier2, barrier2),
    LAYER_HOOK(CmdPipelineBarrier2KHR, barrier2_khr),
    LAYER_HOOK(CmdWaitEvents, wait_events),
    LAYER_HOOK(CmdWaitEvents2, wait_events2),
    LAYER_HOOK(CmdWaitEvents2KHR, wait_events2_khr),
    {NULL, NULL},
};
