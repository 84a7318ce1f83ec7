/*
 * Creates the shared buffer; see particle_share.h. The lesson of the sample begins here:
 * MaarExportInfo alone makes memory shareable.
 */
#include "particle_share.h"

#include <string.h>

static VkDeviceSize size_of(const struct particle_share* share)
{
    return (VkDeviceSize)share->count * sizeof(struct particle);
}

static bool can_be_shared(const struct particle_share* share)
{
    const MaarSharingQuery query = {.sType = MAAR_STRUCTURE_TYPE_SHARING_QUERY,
                                    .pBufferInfo = &share->info,
                                    .handleType = PARTICLE_HANDLE_TYPE};
    MaarSharingSupport support = {.sType = MAAR_STRUCTURE_TYPE_SHARING_SUPPORT};
    return maarGetSharingSupport(share->device->allocator, &query, &support) == VK_SUCCESS &&
           support.exportable == VK_TRUE;
}

int particle_share_create(struct particle_share* share, const struct sample_device* device,
                          uint32_t count)
{
    memset(share, 0, sizeof(*share));
    share->device = device;
    share->count = count;
    share->info = (VkBufferCreateInfo){
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size_of(share),
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_VERTEX_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT};
    if (!can_be_shared(share)) {
        sample_complain("%s cannot share a buffer by file descriptor",
                        device->properties.deviceName);
        return SAMPLE_EXIT_SKIPPED;
    }
    const MaarExportInfo export_info = {.sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
                                        .handleTypes = PARTICLE_HANDLE_TYPE};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &export_info,
                                          .usage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
                                          .pName = "particles"};
    if (!sample_succeeded(maarCreateBuffer(device->allocator, &share->info, &how, &share->buffer,
                                           &share->allocation),
                          "maarCreateBuffer")) {
        return SAMPLE_EXIT_FAILED;
    }
    MaarExportedMemory exported = {.sType = MAAR_STRUCTURE_TYPE_EXPORTED_MEMORY};
    if (!sample_succeeded(
            maarExportMemory(device->allocator, share->allocation, PARTICLE_HANDLE_TYPE, &exported),
            "maarExportMemory")) {
        return SAMPLE_EXIT_FAILED;
    }
    share->block_size = exported.blockSize;
    maarDestroyExternalHandle(device->allocator, exported.handle);
    return SAMPLE_EXIT_OK;
}

void particle_share_destroy(struct particle_share* share)
{
    if (share->device != NULL) {
        maarDestroyBuffer(share->device->allocator, share->buffer, share->allocation);
    }
    memset(share, 0, sizeof(*share));
}

MaarHandoffResource particle_share_resource(const struct particle_share* share)
{
    return (MaarHandoffResource){
        .buffer = share->buffer,
        .stages = VK_PIPELINE_STAGE_VERTEX_INPUT_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT,
        .access = VK_ACCESS_VERTEX_ATTRIBUTE_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT |
                  VK_ACCESS_TRANSFER_WRITE_BIT};
}

/* ---- the host's copies ---- */

static void record_copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to, VkDeviceSize size)
{
    const VkBufferCopy region = {.size = size};
    const VkMemoryBarrier2 barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER_2,
        .srcStageMask = VK_PIPELINE_STAGE_2_COPY_BIT,
        .srcAccessMask = VK_ACCESS_2_TRANSFER_WRITE_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_2_HOST_BIT | VK_PIPELINE_STAGE_2_VERTEX_INPUT_BIT,
        .dstAccessMask = VK_ACCESS_2_HOST_READ_BIT | VK_ACCESS_2_VERTEX_ATTRIBUTE_READ_BIT};
    const VkDependencyInfo dependency = {.sType = VK_STRUCTURE_TYPE_DEPENDENCY_INFO,
                                         .memoryBarrierCount = 1,
                                         .pMemoryBarriers = &barrier};
    vkCmdCopyBuffer(commands, from, to, 1, &region);
    vkCmdPipelineBarrier2(commands, &dependency);
}

static bool create_staging(struct particle_share* share, MaarMemoryUsage usage, VkBuffer* buffer,
                           MaarAllocation* allocation)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = size_of(share),
                                     .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                                              VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT,
                                          .usage = usage,
                                          .pName = "staging"};
    return sample_succeeded(
        maarCreateBuffer(share->device->allocator, &info, &how, buffer, allocation),
        "maarCreateBuffer");
}

static bool run_copy(struct sample_work* work, VkBuffer from, VkBuffer to, VkDeviceSize size)
{
    const VkCommandBuffer commands = sample_work_begin(work);
    if (commands == NULL) {
        return false;
    }
    record_copy(commands, from, to, size);
    return sample_work_submit(work, NULL, NULL) && sample_work_wait(work);
}

bool particle_share_fill(struct particle_share* share, struct sample_work* work,
                         const struct particle* particles)
{
    const MaarAllocator allocator = share->device->allocator;
    VkBuffer staging = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    bool done =
        create_staging(share, MAAR_MEMORY_USAGE_UPLOAD, &staging, &memory) &&
        sample_succeeded(maarCopyToAllocation(allocator, memory, 0, size_of(share), particles),
                         "maarCopyToAllocation") &&
        run_copy(work, staging, share->buffer, size_of(share));
    maarDestroyBuffer(allocator, staging, memory);
    return done;
}

bool particle_share_read(struct particle_share* share, struct sample_work* work,
                         struct particle* particles)
{
    const MaarAllocator allocator = share->device->allocator;
    VkBuffer staging = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    bool done =
        create_staging(share, MAAR_MEMORY_USAGE_READBACK, &staging, &memory) &&
        run_copy(work, share->buffer, staging, size_of(share)) &&
        sample_succeeded(maarCopyFromAllocation(allocator, memory, 0, size_of(share), particles),
                         "maarCopyFromAllocation");
    maarDestroyBuffer(allocator, staging, memory);
    return done;
}
