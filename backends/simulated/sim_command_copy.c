/*
 * Commands that copy, fill and clear.
 */
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_entries.h"

static VKAPI_ATTR void VKAPI_CALL sim_cmd_fill_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                      VkDeviceSize size, uint32_t data)
{
    (void)data;
    sim_command(commandBuffer, SIM_FN_vkCmdFillBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdFillBuffer, dstBuffer, dstOffset, size);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_update_buffer(VkCommandBuffer commandBuffer,
                                                        VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                        VkDeviceSize dataSize, const void* pData)
{
    (void)pData;
    sim_command(commandBuffer, SIM_FN_vkCmdUpdateBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdUpdateBuffer, dstBuffer, dstOffset, dataSize);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer srcBuffer, VkBuffer dstBuffer,
                                                      uint32_t regionCount,
                                                      const VkBufferCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBuffer);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBuffer, srcBuffer,
                               pRegions[i].srcOffset, pRegions[i].size);
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBuffer, dstBuffer,
                               pRegions[i].dstOffset, pRegions[i].size);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image(VkCommandBuffer commandBuffer,
                                                     VkImage srcImage, VkImageLayout srcLayout,
                                                     VkImage dstImage, VkImageLayout dstLayout,
                                                     uint32_t regionCount,
                                                     const VkImageCopy* pRegions)
{
    (void)srcLayout, (void)dstLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImage);
    for (uint32_t i = 0; i < regionCount; i++) {
        const VkImageCopy* r = &pRegions[i];
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImage, srcImage, &r->srcSubresource,
                               &r->srcOffset, &r->extent);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImage, dstImage, &r->dstSubresource,
                               &r->dstOffset, &r->extent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer_to_image(VkCommandBuffer commandBuffer,
                                                               VkBuffer srcBuffer, VkImage dstImage,
                                                               VkImageLayout dstLayout,
                                                               uint32_t regionCount,
                                                               const VkBufferImageCopy* pRegions)
{
    (void)dstLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBufferToImage);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyBufferToImage, srcBuffer,
                               pRegions[i].bufferOffset, SIM_ALL_BYTES);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyBufferToImage, dstImage,
                               &pRegions[i].imageSubresource, &pRegions[i].imageOffset,
                               &pRegions[i].imageExtent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image_to_buffer(
    VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcLayout, VkBuffer dstBuffer,
    uint32_t regionCount, const VkBufferImageCopy* pRegions)
{
    (void)srcLayout;
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer);
    for (uint32_t i = 0; i < regionCount; i++) {
        sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer, dstBuffer,
                               pRegions[i].bufferOffset, SIM_ALL_BYTES);
        sim_command_use_texels(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer, srcImage,
                               &pRegions[i].imageSubresource, &pRegions[i].imageOffset,
                               &pRegions[i].imageExtent);
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_color_image(VkCommandBuffer commandBuffer,
                                                            VkImage image, VkImageLayout layout,
                                                            const VkClearColorValue* pColor,
                                                            uint32_t rangeCount,
                                                            const VkImageSubresourceRange* pRanges)
{
    (void)layout, (void)pColor, (void)rangeCount, (void)pRanges;
    sim_command(commandBuffer, SIM_FN_vkCmdClearColorImage);
    sim_command_use_image(commandBuffer, SIM_FN_vkCmdClearColorImage, image);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_depth_stencil_image(
    VkCommandBuffer commandBuffer, VkImage image, VkImageLayout layout,
    const VkClearDepthStencilValue* pDepthStencil, uint32_t rangeCount,
    const VkImageSubresourceRange* pRanges)
{
    (void)layout, (void)pDepthStencil, (void)rangeCount, (void)pRanges;
    sim_command(commandBuffer, SIM_FN_vkCmdClearDepthStencilImage);
    sim_command_use_image(commandBuffer, SIM_FN_vkCmdClearDepthStencilImage, image);
}

const struct sim_entry sim_copy_entries[] = {
    SIM_ENTRY(vkCmdFillBuffer, sim_cmd_fill_buffer),
    SIM_ENTRY(vkCmdUpdateBuffer, sim_cmd_update_buffer),
    SIM_ENTRY(vkCmdCopyBuffer, sim_cmd_copy_buffer),
    SIM_ENTRY(vkCmdCopyImage, sim_cmd_copy_image),
    SIM_ENTRY(vkCmdCopyBufferToImage, sim_cmd_copy_buffer_to_image),
    SIM_ENTRY(vkCmdCopyImageToBuffer, sim_cmd_copy_image_to_buffer),
    SIM_ENTRY(vkCmdClearColorImage, sim_cmd_clear_color_image),
    SIM_ENTRY(vkCmdClearDepthStencilImage, sim_cmd_clear_depth_stencil_image),
    {SIM_FN_COUNT, NULL},
};
