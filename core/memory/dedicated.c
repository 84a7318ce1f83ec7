/*
 * Chooses and makes dedicated allocations: see dedicated.h.
 */
#include "core/memory/dedicated.h"

#include "core/chain.h"
#include "core/memory/allocator_state.h"
#include "core/memory/device_memory.h"
#include "core/memory/pool_check.h"

/* A pool that stitches makes large objects of pages. In such a pool, a request of at least this
 * number of bytes that cannot be made of pages gets dedicated memory. */
#define LARGE_BESIDE_PAGES ((VkDeviceSize)1 << 20)

bool maar_wants_dedicated(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                          const struct maar_pool* pool)
{
    MaarDedicated mode = info->dedicated;
    if (request->requiresDedicated == VK_TRUE || mode == MAAR_DEDICATED_ALWAYS) {
        return true;
    }
    /* The blocks of a pool that stitches are small. A block for a large request would have no room
     * for another request. */
    const bool preferred =
        mode == MAAR_DEDICATED_PREFERRED ||
        (pool->stitches && request->requirements.size >= LARGE_BESIDE_PAGES) ||
        (!pool->custom && (request->prefersDedicated == VK_TRUE ||
                           request->requirements.size >= pool->preferred_size / 2));
    return preferred && mode != MAAR_DEDICATED_NEVER &&
           (info->flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0 &&
           !maar_object_count_is_high(pool->allocator);
}

enum maar_pool_outcome maar_pool_place_dedicated(struct maar_pool* pool,
                                                 const struct maar_place_request* request,
                                                 const struct maar_device_memory_info* info,
                                                 struct maar_made* made)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    maar_mutex_unlock(&arena->lock);
    struct maar_block* block = NULL;
    VkResult result = maar_block_create(arena, info, true, &block);
    if (result != VK_SUCCESS) {
        return maar_made_fail(made, result);
    }
    const struct maar_placement_range range = {
        .offset = 0,
        .size = request->size,
        .node = MAAR_PLACEMENT_NO_NODE,
    };
    maar_mutex_lock(&arena->lock);
    result = maar_slots_refill(&pool->allocator->slots, &arena->lock, &arena->slots);
    if (result == VK_SUCCESS) {
        maar_arena_link_dedicated(arena, block);
        maar_arena_fill_slot(arena, block, request, &range, made);
        block->dedicated_slot = made->index;
    } else {
        maar_leaving_enter(&pool->allocator->leaving, &block->leaving, pool->heap_index);
    }
    maar_mutex_unlock(&arena->lock);
    if (result != VK_SUCCESS) {
        maar_block_destroy(block);
    }
    maar_check_if_asked(pool);
    return result == VK_SUCCESS ? MAAR_POOL_PLACED : MAAR_POOL_NO_HOST_MEMORY;
}

/* Allocates exactly the size of the request, as Vulkan requires for memory that is dedicated to a
 * resource. The size is not rounded up to nonCoherentAtomSize, because no other allocation shares
 * the last atom. */
VkResult maar_allocate_dedicated(struct maar_pool* pool, const MaarMemoryRequest* request,
                                 const MaarAllocationCreateInfo* info,
                                 const struct maar_place_request* place,
                                 struct maar_budget_use* use, struct maar_made* made)
{
    const MaarAllocationCreateFlags untying =
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_UNTIED_BIT;
    bool untied = (info->flags & untying) != 0 && request->requiresDedicated != VK_TRUE;
    const MaarMemoryAllocateNextInfo* own =
        maar_chain_find(info->pNext, MAAR_STRUCTURE_TYPE_MEMORY_ALLOCATE_NEXT_INFO);
    struct maar_device_memory_info memory = {
        .type_index = pool->type_index,
        .size = place->size,
        .priority = info->priority != 0.0F ? info->priority : 0.5F,
        .dedicated_buffer = untied ? VK_NULL_HANDLE : request->dedicatedBuffer,
        .dedicated_image = untied ? VK_NULL_HANDLE : request->dedicatedImage,
        .next = own != NULL ? own->pMemoryAllocateNext : pool->allocate_next,
        .export_types = pool->export_types,
    };
    if (!maar_budget_admits(pool->allocator, pool->heap_index, place->size, use, &memory.cap)) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    memory.over_cap = &use->refused;
    return maar_pool_result(maar_pool_place_dedicated(pool, place, &memory, made), made);
}
