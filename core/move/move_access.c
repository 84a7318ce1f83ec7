/*
 * The host's access to the new ranges of allocations that move. A twin is mapped as an allocation
 * is, by its block. The end of a batch ends what is left of these mappings.
 */
#include "core/memory/allocator_state.h"
#include "core/memory/mapping.h"
#include "core/memory/pool.h"
#include "core/move/move_batch.h"
#include "core/move/move_index.h"

/* Finds the twin of an allocation in a batch. */
static VkResult find_twin(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                          MaarAllocation allocation, struct maar_slot** twin)
{
    struct maar_move_batch* own = NULL;
    const VkResult result = maar_move_batch_enter(allocator, call, batch, &own);
    if (result != VK_SUCCESS) {
        return result;
    }
    const uint32_t at = maar_move_index_find(own, allocation);
    if (at == own->count) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, call,
                           "allocation is not an allocation of the batch");
    }
    *twin = maar_move_twin(allocator, &own->moves[at]);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarMapMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                  MaarAllocation allocation, void** ppData)
{
    struct maar_slot* twin = NULL;
    const VkResult result = find_twin(allocator, __func__, batch, allocation, &twin);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (ppData == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "ppData is NULL");
    }
    *ppData = NULL;
    const uint32_t type = maar_slot_block(allocator, twin)->pool->type_index;
    if ((maar_type_flags(allocator, type) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_MAPPABLE, __func__,
                    "the new range of allocation is in memory type %u, which is not HOST_VISIBLE",
                    (unsigned)type);
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    return maar_slot_map_own(allocator, __func__, twin, ppData);
}

VKAPI_ATTR void VKAPI_CALL maarUnmapMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                MaarAllocation allocation)
{
    struct maar_slot* twin = NULL;
    if (find_twin(allocator, __func__, batch, allocation, &twin) == VK_SUCCESS &&
        !maar_slot_unmap(allocator, twin, 0)) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_MAPPED, __func__,
                          "the new range of allocation is not mapped");
    }
}

static VkResult sync_moved(MaarAllocator allocator, const char* call, MaarMoveBatch batch,
                           MaarAllocation allocation, VkDeviceSize offset, VkDeviceSize size,
                           bool flushes)
{
    struct maar_slot* twin = NULL;
    const VkResult result = find_twin(allocator, call, batch, allocation, &twin);
    return result == VK_SUCCESS ? maar_slot_sync_own(allocator, call, twin, offset, size, flushes)
                                : result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarFlushMovedMemory(MaarAllocator allocator, MaarMoveBatch batch,
                                                    MaarAllocation allocation, VkDeviceSize offset,
                                                    VkDeviceSize size)
{
    return sync_moved(allocator, __func__, batch, allocation, offset, size, true);
}

VKAPI_ATTR VkResult VKAPI_CALL maarInvalidateMovedMemory(MaarAllocator allocator,
                                                         MaarMoveBatch batch,
                                                         MaarAllocation allocation,
                                                         VkDeviceSize offset, VkDeviceSize size)
{
    return sync_moved(allocator, __func__, batch, allocation, offset, size, false);
}
