/*
 * The barrier around copies: what comes before it in a queue is finished and visible to what comes
 * after it.
 */
#ifndef MAAR_CORE_MEMORY_ORDER_H
#define MAAR_CORE_MEMORY_ORDER_H

#include "core/device.h"

/* Records a barrier for all memory between the commands of two stages. */
static inline void maar_order_commands(const struct maar_device* device, VkCommandBuffer commands,
                                       VkPipelineStageFlags before, VkPipelineStageFlags after)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask =
            (VkAccessFlags)VK_ACCESS_MEMORY_READ_BIT | (VkAccessFlags)VK_ACCESS_MEMORY_WRITE_BIT,
    };
    device->vkCmdPipelineBarrier(commands, before, after, 0, 1, &barrier, 0, NULL, 0, NULL);
}

#endif
