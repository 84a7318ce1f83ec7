/*
 * Commands that copy, fill and clear. Each records what it uses and, for execution, itself.
 */
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_record.h"

#include <string.h>

static VKAPI_ATTR void VKAPI_CALL sim_cmd_fill_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                      VkDeviceSize size, uint32_t data)
{
    sim_command(commandBuffer, SIM_FN_vkCmdFillBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdFillBuffer, dstBuffer, dstOffset, size);
    struct sim_op_fill* op =
        sim_record(commandBuffer, SIM_OP_FILL, SIM_FN_vkCmdFillBuffer, sizeof(*op));
    if (op != NULL) {
        op->buffer = SIM_HANDLE(dstBuffer);
        op->at = dstOffset;
        op->size = size;
        op->word = data;
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_update_buffer(VkCommandBuffer commandBuffer,
                                                        VkBuffer dstBuffer, VkDeviceSize dstOffset,
                                                        VkDeviceSize dataSize, const void* pData)
{
    sim_command(commandBuffer, SIM_FN_vkCmdUpdateBuffer);
    sim_command_use_buffer(commandBuffer, SIM_FN_vkCmdUpdateBuffer, dstBuffer, dstOffset, dataSize);
    struct sim_op_update* op = sim_record(commandBuffer, SIM_OP_UPDATE, SIM_FN_vkCmdUpdateBuffer,
                                          sizeof(*op) + (size_t)dataSize);
    if (op != NULL) {
        op->buffer = SIM_HANDLE(dstBuffer);
        op->at = dstOffset;
        op->size = dataSize;
        memcpy(op->bytes, pData, (size_t)dataSize);
    }
}

static void sim_copy_buffers(VkCommandBuffer commandBuffer, enum sim_function function,
                             VkBuffer from, VkBuffer to, uint32_t count,
                             const VkBufferCopy* regions)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_command_use_buffer(commandBuffer, function, from, regions[i].srcOffset,
                               regions[i].size);
        sim_command_use_buffer(commandBuffer, function, to, regions[i].dstOffset, regions[i].size);
    }
    struct sim_op_copy_buffer* op = sim_record(commandBuffer, SIM_OP_COPY_BUFFER, function,
                                               sizeof(*op) + count * sizeof(*regions));
    if (op != NULL) {
        op->from = SIM_HANDLE(from);
        op->to = SIM_HANDLE(to);
        op->count = count;
        memcpy(op->regions, regions, count * sizeof(*regions));
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer(VkCommandBuffer commandBuffer,
                                                      VkBuffer srcBuffer, VkBuffer dstBuffer,
                                                      uint32_t regionCount,
                                                      const VkBufferCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBuffer);
    sim_copy_buffers(commandBuffer, SIM_FN_vkCmdCopyBuffer, srcBuffer, dstBuffer, regionCount,
                     pRegions);
}

/* The regions of the functions that end in 2 are copied one by one, as commands of their own: the
 * regions of one command must not overlap, so their order does not matter. */
static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer2(VkCommandBuffer commandBuffer,
                                                       const VkCopyBufferInfo2* pInfo)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBuffer2);
    for (uint32_t i = 0; i < pInfo->regionCount; i++) {
        const VkBufferCopy2* r = &pInfo->pRegions[i];
        const VkBufferCopy region = {r->srcOffset, r->dstOffset, r->size};
        sim_copy_buffers(commandBuffer, SIM_FN_vkCmdCopyBuffer2, pInfo->srcBuffer, pInfo->dstBuffer,
                         1, &region);
    }
}

/* An image and its layout. */
struct sim_side {
    VkImage image;
    VkImageLayout layout;
};

static void sim_copy_images(VkCommandBuffer commandBuffer, enum sim_function function,
                            const struct sim_side* from, const struct sim_side* to, uint32_t count,
                            const VkImageCopy* regions)
{
    for (uint32_t i = 0; i < count; i++) {
        const VkImageCopy* r = &regions[i];
        sim_command_use_texels(commandBuffer, function, from->image, &r->srcSubresource,
                               &r->srcOffset, &r->extent);
        sim_command_use_texels(commandBuffer, function, to->image, &r->dstSubresource,
                               &r->dstOffset, &r->extent);
    }
    struct sim_op_copy_image* op = sim_record(commandBuffer, SIM_OP_COPY_IMAGE, function,
                                              sizeof(*op) + count * sizeof(*regions));
    if (op != NULL) {
        op->from = SIM_HANDLE(from->image);
        op->to = SIM_HANDLE(to->image);
        op->from_layout = from->layout;
        op->to_layout = to->layout;
        op->count = count;
        memcpy(op->regions, regions, count * sizeof(*regions));
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image(VkCommandBuffer commandBuffer,
                                                     VkImage srcImage, VkImageLayout srcLayout,
                                                     VkImage dstImage, VkImageLayout dstLayout,
                                                     uint32_t regionCount,
                                                     const VkImageCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImage);
    sim_copy_images(commandBuffer, SIM_FN_vkCmdCopyImage, &(struct sim_side){srcImage, srcLayout},
                    &(struct sim_side){dstImage, dstLayout}, regionCount, pRegions);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image2(VkCommandBuffer commandBuffer,
                                                      const VkCopyImageInfo2* pInfo)
{
    const struct sim_side from = {pInfo->srcImage, pInfo->srcImageLayout};
    const struct sim_side to = {pInfo->dstImage, pInfo->dstImageLayout};
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImage2);
    for (uint32_t i = 0; i < pInfo->regionCount; i++) {
        const VkImageCopy2* r = &pInfo->pRegions[i];
        const VkImageCopy region = {r->srcSubresource, r->srcOffset, r->dstSubresource,
                                    r->dstOffset, r->extent};
        sim_copy_images(commandBuffer, SIM_FN_vkCmdCopyImage2, &from, &to, 1, &region);
    }
}

static void sim_copy_buffer_image(VkCommandBuffer commandBuffer, enum sim_function function,
                                  VkBuffer buffer, const struct sim_side* image, bool to_image,
                                  uint32_t count, const VkBufferImageCopy* regions)
{
    for (uint32_t i = 0; i < count; i++) {
        sim_command_use_buffer(commandBuffer, function, buffer, regions[i].bufferOffset,
                               SIM_ALL_BYTES);
        sim_command_use_texels(commandBuffer, function, image->image, &regions[i].imageSubresource,
                               &regions[i].imageOffset, &regions[i].imageExtent);
    }
    struct sim_op_copy_buffer_image* op = sim_record(
        commandBuffer, SIM_OP_COPY_BUFFER_IMAGE, function, sizeof(*op) + count * sizeof(*regions));
    if (op != NULL) {
        op->buffer = SIM_HANDLE(buffer);
        op->image = SIM_HANDLE(image->image);
        op->layout = image->layout;
        op->to_image = to_image;
        op->count = count;
        memcpy(op->regions, regions, count * sizeof(*regions));
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_buffer_to_image(VkCommandBuffer commandBuffer,
                                                               VkBuffer srcBuffer, VkImage dstImage,
                                                               VkImageLayout dstLayout,
                                                               uint32_t regionCount,
                                                               const VkBufferImageCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyBufferToImage);
    sim_copy_buffer_image(commandBuffer, SIM_FN_vkCmdCopyBufferToImage, srcBuffer,
                          &(struct sim_side){dstImage, dstLayout}, true, regionCount, pRegions);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_copy_image_to_buffer(
    VkCommandBuffer commandBuffer, VkImage srcImage, VkImageLayout srcLayout, VkBuffer dstBuffer,
    uint32_t regionCount, const VkBufferImageCopy* pRegions)
{
    sim_command(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer);
    sim_copy_buffer_image(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer, dstBuffer,
                          &(struct sim_side){srcImage, srcLayout}, false, regionCount, pRegions);
}

static void sim_copy_buffer_image2(VkCommandBuffer commandBuffer, enum sim_function function,
                                   VkBuffer buffer, const struct sim_side* image, bool to_image,
                                   uint32_t count, const VkBufferImageCopy2* regions)
{
    sim_command(commandBuffer, function);
    for (uint32_t i = 0; i < count; i++) {
        const VkBufferImageCopy2* r = &regions[i];
        const VkBufferImageCopy region = {r->bufferOffset,      r->bufferRowLength,
                                          r->bufferImageHeight, r->imageSubresource,
                                          r->imageOffset,       r->imageExtent};
        sim_copy_buffer_image(commandBuffer, function, buffer, image, to_image, 1, &region);
    }
}

static VKAPI_ATTR void VKAPI_CALL
sim_cmd_copy_buffer_to_image2(VkCommandBuffer commandBuffer, const VkCopyBufferToImageInfo2* pInfo)
{
    sim_copy_buffer_image2(commandBuffer, SIM_FN_vkCmdCopyBufferToImage2, pInfo->srcBuffer,
                           &(struct sim_side){pInfo->dstImage, pInfo->dstImageLayout}, true,
                           pInfo->regionCount, pInfo->pRegions);
}

static VKAPI_ATTR void VKAPI_CALL
sim_cmd_copy_image_to_buffer2(VkCommandBuffer commandBuffer, const VkCopyImageToBufferInfo2* pInfo)
{
    sim_copy_buffer_image2(commandBuffer, SIM_FN_vkCmdCopyImageToBuffer2, pInfo->dstBuffer,
                           &(struct sim_side){pInfo->srcImage, pInfo->srcImageLayout}, false,
                           pInfo->regionCount, pInfo->pRegions);
}

static void sim_clear(VkCommandBuffer commandBuffer, enum sim_function function,
                      const struct sim_side* image, const void* value, size_t value_size,
                      uint32_t count, const VkImageSubresourceRange* ranges)
{
    sim_command(commandBuffer, function);
    sim_command_use_image(commandBuffer, function, image->image);
    struct sim_op_clear* op =
        sim_record(commandBuffer, SIM_OP_CLEAR, function, sizeof(*op) + count * sizeof(*ranges));
    if (op != NULL) {
        op->image = SIM_HANDLE(image->image);
        op->layout = image->layout;
        memcpy(&op->value, value, value_size);
        op->count = count;
        memcpy(op->ranges, ranges, count * sizeof(*ranges));
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_color_image(VkCommandBuffer commandBuffer,
                                                            VkImage image, VkImageLayout layout,
                                                            const VkClearColorValue* pColor,
                                                            uint32_t rangeCount,
                                                            const VkImageSubresourceRange* pRanges)
{
    sim_clear(commandBuffer, SIM_FN_vkCmdClearColorImage, &(struct sim_side){image, layout}, pColor,
              sizeof(*pColor), rangeCount, pRanges);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_clear_depth_stencil_image(
    VkCommandBuffer commandBuffer, VkImage image, VkImageLayout layout,
    const VkClearDepthStencilValue* pDepthStencil, uint32_t rangeCount,
    const VkImageSubresourceRange* pRanges)
{
    sim_clear(commandBuffer, SIM_FN_vkCmdClearDepthStencilImage, &(struct sim_side){image, layout},
              pDepthStencil, sizeof(*pDepthStencil), rangeCount, pRanges);
}

const struct sim_entry sim_copy_entries[] = {
    SIM_ENTRY(vkCmdFillBuffer, sim_cmd_fill_buffer),
    SIM_ENTRY(vkCmdUpdateBuffer, sim_cmd_update_buffer),
    SIM_ENTRY(vkCmdCopyBuffer, sim_cmd_copy_buffer),
    SIM_ENTRY(vkCmdCopyBuffer2, sim_cmd_copy_buffer2),
    SIM_ENTRY(vkCmdCopyImage, sim_cmd_copy_image),
    SIM_ENTRY(vkCmdCopyImage2, sim_cmd_copy_image2),
    SIM_ENTRY(vkCmdCopyBufferToImage, sim_cmd_copy_buffer_to_image),
    SIM_ENTRY(vkCmdCopyBufferToImage2, sim_cmd_copy_buffer_to_image2),
    SIM_ENTRY(vkCmdCopyImageToBuffer, sim_cmd_copy_image_to_buffer),
    SIM_ENTRY(vkCmdCopyImageToBuffer2, sim_cmd_copy_image_to_buffer2),
    SIM_ENTRY(vkCmdClearColorImage, sim_cmd_clear_color_image),
    SIM_ENTRY(vkCmdClearDepthStencilImage, sim_cmd_clear_depth_stencil_image),
    {SIM_FN_COUNT, NULL},
};
