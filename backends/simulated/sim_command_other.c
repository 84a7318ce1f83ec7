/*
 * Barriers, secondary command buffers, and the commands that the driver checks and does not
 * execute.
 */
#include "backends/simulated/sim_check.h"
#include "backends/simulated/sim_command.h"
#include "backends/simulated/sim_entries.h"
#include "backends/simulated/sim_record.h"

/* Checks a queue family that a barrier names: a family of the device, the ignored family, or an
 * external family if its extension is enabled. Lock held. */
static void sim_check_family(struct sim_device* device, enum sim_function function, uint32_t family)
{
    const bool external = family == VK_QUEUE_FAMILY_EXTERNAL;
    const bool foreign = family == VK_QUEUE_FAMILY_FOREIGN_EXT;
    const enum sim_extension extension = foreign ? SIM_EXT_QUEUE_FOREIGN : SIM_EXT_EXTERNAL_MEMORY;
    if (external || foreign) {
        if ((foreign || device->api_minor == 0) && (device->extensions >> extension & 1u) == 0) {
            sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_FEATURE,
                        "a queue family outside the device needs %s",
                        sim_extension_name(extension));
        }
    } else if (family != VK_QUEUE_FAMILY_IGNORED &&
               family >= device->gpu->profile.queueFamilyCount) {
        sim_violate(device->gpu, function, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                    "there is no queue family %u", family);
    }
}

static void sim_check_families(struct sim_device* device, enum sim_function function, uint32_t src,
                               uint32_t dst)
{
    sim_check_family(device, function, src);
    sim_check_family(device, function, dst);
}

/* Makes a global barrier. */
static struct sim_barrier sim_barrier_between(VkFlags64 from_stages, VkFlags64 from_accesses,
                                              VkFlags64 to_stages, VkFlags64 to_accesses)
{
    return (struct sim_barrier){
        .from_stages = from_stages,
        .from_accesses = from_accesses,
        .to_stages = to_stages,
        .to_accesses = to_accesses,
    };
}

static void sim_barrier_of_buffer(struct sim_barrier* barrier, VkBuffer buffer, VkDeviceSize at,
                                  VkDeviceSize size)
{
    barrier->resource = SIM_HANDLE(buffer);
    barrier->at = at;
    barrier->size = size;
}

static void sim_barrier_of_image(struct sim_barrier* barrier, VkImage image,
                                 const VkImageSubresourceRange* range, VkImageLayout from,
                                 VkImageLayout to)
{
    barrier->resource = SIM_HANDLE(image);
    barrier->image = true;
    barrier->range = *range;
    barrier->from_layout = from;
    barrier->to_layout = to;
}

static struct sim_op_barriers* sim_record_barriers(VkCommandBuffer commandBuffer,
                                                   enum sim_function function, uint32_t count)
{
    struct sim_op_barriers* op = sim_record(commandBuffer, SIM_OP_BARRIERS, function,
                                            sizeof(*op) + count * sizeof(struct sim_barrier));
    if (op != NULL) {
        op->count = count;
    }
    return op;
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_pipeline_barrier(
    VkCommandBuffer commandBuffer, VkPipelineStageFlags srcStageMask,
    VkPipelineStageFlags dstStageMask, VkDependencyFlags dependencyFlags,
    uint32_t memoryBarrierCount, const VkMemoryBarrier* pMemoryBarriers,
    uint32_t bufferMemoryBarrierCount, const VkBufferMemoryBarrier* pBufferMemoryBarriers,
    uint32_t imageMemoryBarrierCount, const VkImageMemoryBarrier* pImageMemoryBarriers)
{
    const enum sim_function function = SIM_FN_vkCmdPipelineBarrier;
    struct sim_device* d = ((struct sim_command_buffer*)(void*)commandBuffer)->object.device;
    (void)dependencyFlags;
    sim_command(commandBuffer, function);
    sim_lock_gpu(d->gpu);
    for (uint32_t i = 0; i < bufferMemoryBarrierCount; i++) {
        sim_check_families(d, function, pBufferMemoryBarriers[i].srcQueueFamilyIndex,
                           pBufferMemoryBarriers[i].dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < imageMemoryBarrierCount; i++) {
        sim_check_families(d, function, pImageMemoryBarriers[i].srcQueueFamilyIndex,
                           pImageMemoryBarriers[i].dstQueueFamilyIndex);
    }
    sim_unlock_gpu(d->gpu);
    /* The execution dependency holds even without a memory barrier. */
    struct sim_op_barriers* op = sim_record_barriers(
        commandBuffer, function,
        1 + memoryBarrierCount + bufferMemoryBarrierCount + imageMemoryBarrierCount);
    if (op == NULL) {
        return;
    }
    struct sim_barrier* barrier = op->barriers;
    for (uint32_t i = 0; i < op->count; i++) {
        barrier[i] = sim_barrier_between(srcStageMask, 0, dstStageMask, 0);
    }
    barrier++;
    for (uint32_t i = 0; i < memoryBarrierCount; i++, barrier++) {
        barrier->from_accesses = pMemoryBarriers[i].srcAccessMask;
        barrier->to_accesses = pMemoryBarriers[i].dstAccessMask;
    }
    for (uint32_t i = 0; i < bufferMemoryBarrierCount; i++, barrier++) {
        const VkBufferMemoryBarrier* b = &pBufferMemoryBarriers[i];
        barrier->from_accesses = b->srcAccessMask;
        barrier->to_accesses = b->dstAccessMask;
        sim_barrier_of_buffer(barrier, b->buffer, b->offset, b->size);
        barrier->from_family = b->srcQueueFamilyIndex;
        barrier->to_family = b->dstQueueFamilyIndex;
    }
    for (uint32_t i = 0; i < imageMemoryBarrierCount; i++, barrier++) {
        const VkImageMemoryBarrier* b = &pImageMemoryBarriers[i];
        barrier->from_accesses = b->srcAccessMask;
        barrier->to_accesses = b->dstAccessMask;
        sim_barrier_of_image(barrier, b->image, &b->subresourceRange, b->oldLayout, b->newLayout);
        barrier->from_family = b->srcQueueFamilyIndex;
        barrier->to_family = b->dstQueueFamilyIndex;
    }
}

static void sim_record_dependency(VkCommandBuffer commandBuffer, const VkDependencyInfo* info)
{
    struct sim_op_barriers* op = sim_record_barriers(
        commandBuffer, SIM_FN_vkCmdPipelineBarrier2,
        info->memoryBarrierCount + info->bufferMemoryBarrierCount + info->imageMemoryBarrierCount);
    struct sim_barrier* barrier = op != NULL ? op->barriers : NULL;
    for (uint32_t i = 0; barrier != NULL && i < info->memoryBarrierCount; i++, barrier++) {
        const VkMemoryBarrier2* b = &info->pMemoryBarriers[i];
        *barrier = sim_barrier_between(b->srcStageMask, b->srcAccessMask, b->dstStageMask,
                                       b->dstAccessMask);
    }
    for (uint32_t i = 0; barrier != NULL && i < info->bufferMemoryBarrierCount; i++, barrier++) {
        const VkBufferMemoryBarrier2* b = &info->pBufferMemoryBarriers[i];
        *barrier = sim_barrier_between(b->srcStageMask, b->srcAccessMask, b->dstStageMask,
                                       b->dstAccessMask);
        sim_barrier_of_buffer(barrier, b->buffer, b->offset, b->size);
        barrier->from_family = b->srcQueueFamilyIndex;
        barrier->to_family = b->dstQueueFamilyIndex;
    }
    for (uint32_t i = 0; barrier != NULL && i < info->imageMemoryBarrierCount; i++, barrier++) {
        const VkImageMemoryBarrier2* b = &info->pImageMemoryBarriers[i];
        *barrier = sim_barrier_between(b->srcStageMask, b->srcAccessMask, b->dstStageMask,
                                       b->dstAccessMask);
        sim_barrier_of_image(barrier, b->image, &b->subresourceRange, b->oldLayout, b->newLayout);
        barrier->from_family = b->srcQueueFamilyIndex;
        barrier->to_family = b->dstQueueFamilyIndex;
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_pipeline_barrier2(VkCommandBuffer commandBuffer,
                                                            const VkDependencyInfo* pDependencyInfo)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    const enum sim_function function = SIM_FN_vkCmdPipelineBarrier2;
    sim_command(commandBuffer, function);
    sim_lock_gpu(d->gpu);
    sim_need_feature(d, function, SIM_FEATURE_SYNCHRONIZATION2, "synchronization2");
    for (uint32_t i = 0; i < pDependencyInfo->bufferMemoryBarrierCount; i++) {
        const VkBufferMemoryBarrier2* barrier = &pDependencyInfo->pBufferMemoryBarriers[i];
        sim_check_families(d, function, barrier->srcQueueFamilyIndex, barrier->dstQueueFamilyIndex);
    }
    for (uint32_t i = 0; i < pDependencyInfo->imageMemoryBarrierCount; i++) {
        const VkImageMemoryBarrier2* barrier = &pDependencyInfo->pImageMemoryBarriers[i];
        sim_check_families(d, function, barrier->srcQueueFamilyIndex, barrier->dstQueueFamilyIndex);
    }
    sim_unlock_gpu(d->gpu);
    sim_record_dependency(commandBuffer, pDependencyInfo);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_execute_commands(VkCommandBuffer commandBuffer,
                                                           uint32_t count,
                                                           const VkCommandBuffer* pCommandBuffers)
{
    struct sim_command_buffer* self = (struct sim_command_buffer*)(void*)commandBuffer;
    struct sim_device* d = self->object.device;
    sim_command(commandBuffer, SIM_FN_vkCmdExecuteCommands);
    for (uint32_t i = 0; i < count; i++) {
        const struct sim_command_buffer* from =
            (const struct sim_command_buffer*)(const void*)pCommandBuffers[i];
        const bool good = from->secondary && from->state == SIM_COMMAND_EXECUTABLE;
        sim_lock_gpu(d->gpu);
        if (!good) {
            sim_violate(d->gpu, SIM_FN_vkCmdExecuteCommands, MAAR_SIMULATED_VIOLATION_ARGUMENT,
                        "a command buffer is %s", from->secondary ? "not ended" : "primary");
        }
        sim_unlock_gpu(d->gpu);
        if (good) {
            sim_command_take_uses(self, from);
            sim_record_secondary(self, from->recording);
        }
    }
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_bind_pipeline(VkCommandBuffer commandBuffer,
                                                        VkPipelineBindPoint bindPoint,
                                                        VkPipeline pipeline)
{
    (void)bindPoint, (void)pipeline;
    sim_command(commandBuffer, SIM_FN_vkCmdBindPipeline);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_bind_descriptor_sets(
    VkCommandBuffer commandBuffer, VkPipelineBindPoint bindPoint, VkPipelineLayout layout,
    uint32_t firstSet, uint32_t setCount, const VkDescriptorSet* pSets, uint32_t offsetCount,
    const uint32_t* pOffsets)
{
    (void)bindPoint, (void)layout, (void)firstSet, (void)setCount, (void)pSets;
    (void)offsetCount, (void)pOffsets;
    sim_command(commandBuffer, SIM_FN_vkCmdBindDescriptorSets);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_push_constants(VkCommandBuffer commandBuffer,
                                                         VkPipelineLayout layout,
                                                         VkShaderStageFlags stageFlags,
                                                         uint32_t offset, uint32_t size,
                                                         const void* pValues)
{
    (void)layout, (void)stageFlags, (void)offset, (void)size, (void)pValues;
    sim_command(commandBuffer, SIM_FN_vkCmdPushConstants);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_dispatch(VkCommandBuffer commandBuffer, uint32_t x,
                                                   uint32_t y, uint32_t z)
{
    (void)x, (void)y, (void)z;
    sim_command(commandBuffer, SIM_FN_vkCmdDispatch);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_reset_query_pool(VkCommandBuffer commandBuffer,
                                                           VkQueryPool queryPool,
                                                           uint32_t firstQuery, uint32_t queryCount)
{
    (void)queryPool, (void)firstQuery, (void)queryCount;
    sim_command(commandBuffer, SIM_FN_vkCmdResetQueryPool);
}

static VKAPI_ATTR void VKAPI_CALL sim_cmd_write_timestamp(VkCommandBuffer commandBuffer,
                                                          VkPipelineStageFlagBits stage,
                                                          VkQueryPool queryPool, uint32_t query)
{
    (void)stage;
    sim_command(commandBuffer, SIM_FN_vkCmdWriteTimestamp);
    struct sim_op_timestamp* op =
        sim_record(commandBuffer, SIM_OP_TIMESTAMP, SIM_FN_vkCmdWriteTimestamp, sizeof(*op));
    if (op != NULL) {
        op->pool = SIM_HANDLE(queryPool);
        op->query = query;
    }
}

const struct sim_entry sim_barrier_entries[] = {
    SIM_ENTRY(vkCmdPipelineBarrier, sim_cmd_pipeline_barrier),
    SIM_ENTRY(vkCmdPipelineBarrier2, sim_cmd_pipeline_barrier2),
    SIM_ENTRY(vkCmdExecuteCommands, sim_cmd_execute_commands),
    SIM_ENTRY(vkCmdBindPipeline, sim_cmd_bind_pipeline),
    SIM_ENTRY(vkCmdBindDescriptorSets, sim_cmd_bind_descriptor_sets),
    SIM_ENTRY(vkCmdPushConstants, sim_cmd_push_constants),
    SIM_ENTRY(vkCmdDispatch, sim_cmd_dispatch),
    SIM_ENTRY(vkCmdResetQueryPool, sim_cmd_reset_query_pool),
    SIM_ENTRY(vkCmdWriteTimestamp, sim_cmd_write_timestamp),
    {SIM_FN_COUNT, NULL},
};
