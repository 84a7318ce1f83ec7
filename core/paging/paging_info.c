/*
 * Finds what paging can do on a device, by the features of the device and the queues of the
 * program.
 */
#include "core/paging/paging_info.h"

#include "core/memory/allocator_state.h"

static VkQueueFlags queue_flags(MaarAllocator allocator, uint32_t index)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t family = allocator->queues[index].familyIndex;
    return family < facts->queue_family_count ? facts->queue_flags[family] : 0;
}

/* Returns the first such queue that only Maar uses (it has no lock), else the first one. */
static uint32_t pick_queue(MaarAllocator allocator, VkQueueFlags any_of)
{
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < allocator->queue_count; ++i) {
        if ((queue_flags(allocator, i) & any_of) == 0) {
            continue;
        }
        if (allocator->queues[i].pfnLock == NULL) {
            return i;
        }
        found = found == UINT32_MAX ? i : found;
    }
    return found;
}

uint32_t maar_pick_bind_queue(MaarAllocator allocator)
{
    return allocator->device.facts.sparse_binding
               ? pick_queue(allocator, VK_QUEUE_SPARSE_BINDING_BIT)
               : UINT32_MAX;
}

uint32_t maar_pick_copy_queue(MaarAllocator allocator)
{
    return pick_queue(allocator,
                      VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT);
}

static VkBool32 as_bool32(bool value)
{
    return value ? VK_TRUE : VK_FALSE;
}

void maar_paging_capabilities(MaarAllocator allocator, MaarPagingInfo* info)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    const uint32_t bind_queue = maar_pick_bind_queue(allocator);
    const uint32_t copy_queue = maar_pick_copy_queue(allocator);
    const bool binds = facts->timeline_semaphore && bind_queue != UINT32_MAX;
    const bool copies = facts->timeline_semaphore && copy_queue != UINT32_MAX;
    const VkDeviceSize space = facts->properties.limits.sparseAddressSpaceSize;
    *info = (MaarPagingInfo){
        .sType = info->sType,
        .pNext = info->pNext,
        .stitching = as_bool32(binds),
        .sparseReservations = as_bool32(binds && facts->sparse_buffers),
        .reservations = as_bool32((binds && facts->sparse_buffers) || copies),
        .aliasing = as_bool32(binds && facts->sparse_buffers && facts->sparse_aliased),
        .sparseImages2D = as_bool32(binds && facts->sparse_images_2d),
        .sparseImages3D = as_bool32(binds && facts->sparse_images_3d),
        .nonResidentStrict = facts->properties.sparseProperties.residencyNonResidentStrict,
        .queueIndex = binds ? bind_queue : (copies ? copy_queue : UINT32_MAX),
        .addressSpaceSize = binds ? space : 0,
        .maxBufferSize =
            facts->max_buffer_size != UINT64_MAX || space == 0 ? facts->max_buffer_size : space,
    };
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetPagingInfo(MaarAllocator allocator, MaarPagingInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, __func__, "pInfo", pInfo,
                                      MAAR_STRUCTURE_TYPE_PAGING_INFO);
    }
    if (result == VK_SUCCESS) {
        maar_paging_capabilities(allocator, pInfo);
    }
    return result;
}
