/*
 * Blocks: a VkDeviceMemory with a placement and one counted mapping.
 *
 * The map lock guards the mapping of one block and is held across vkMapMemory, since a memory
 * object may be mapped once only and its mapping is externally synchronized by Vulkan's rules.
 */
#include "core/memory/attachment.h"

/* After so many calls of vkMapMemory a block stays mapped: a program that maps and unmaps every
 * frame pays for it twice, not for ever. */
enum { STICKY_MAP_CALLS = 2 };

VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block)
{
    struct maar_pool* pool = arena->pool;
    MaarAllocator allocator = pool->allocator;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct maar_block* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return result;
    }
    made->pool = pool;
    made->arena = arena;
    made->size = info->size;
    made->dedicated_slot = MAAR_SLOT_NONE;
    made->named =
        info->dedicated_buffer != VK_NULL_HANDLE || info->dedicated_image != VK_NULL_HANDLE;
    made->shared_types = info->export_types | info->import_types;
    made->imported = info->import_types != 0;
    if (!dedicated) {
        const struct maar_placement_info placement = {
            .strategy = pool->strategy,
            .size = info->size,
            .granularity = pool->granularity,
        };
        result = maar_placement_create(&placement, allocator->callbacks, &made->placement);
        if (result != VK_SUCCESS) {
            goto free_block;
        }
    }
    if (!maar_mutex_init(&made->map_lock, MAAR_LOCK_MAP, maar_is_synchronized(allocator))) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
        goto free_placement;
    }
    result = maar_device_memory_allocate(allocator, info, &made->memory);
    if (result != VK_SUCCESS) {
        goto free_lock;
    }
    made->id = maar_atomic64_add(&allocator->next_block_id, 1);
    *block = made;
    return VK_SUCCESS;

free_lock:
    maar_mutex_destroy(&made->map_lock);
free_placement:
    if (made->placement != NULL) {
        maar_placement_destroy(made->placement, allocator->callbacks);
    }
free_block:
    maar_host_free(allocator->callbacks, made);
    return result;
}

void maar_block_destroy(struct maar_block* block)
{
    if (block->table != NULL) {
        maar_stitched_destroy(block);
        return;
    }
    if (maar_block_is_paged(block)) {
        maar_block_note_pages(block, 0, 0);
    }
    if (block->shared_types != 0) {
        maar_attachments_end_block(block);
    }
    MaarAllocator allocator = block->pool->allocator;
    const struct maar_device* device = &allocator->device;
    if (block->mapped != NULL) {
        device->vkUnmapMemory(device->handle, block->memory);
    }
    maar_device_memory_free(allocator, block->pool->type_index, block->size, block->memory);
    maar_mutex_destroy(&block->map_lock);
    if (block->placement != NULL) {
        maar_placement_destroy(block->placement, allocator->callbacks);
    }
    maar_host_free(allocator->callbacks, block);
}

VkResult maar_block_map(struct maar_block* block, struct maar_slot* slot, void** data)
{
    MaarAllocator allocator = block->pool->allocator;
    const struct maar_device* device = &allocator->device;
    VkResult result = VK_SUCCESS;
    maar_lock_rank_expect_none();
    maar_mutex_lock(&block->map_lock);
    const bool is_too_often = slot->map_count == UINT16_MAX;
    if (is_too_often) {
        result = VK_ERROR_MEMORY_MAP_FAILED;
    } else if (block->mapped == NULL) {
        result =
            device->vkMapMemory(device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &block->mapped);
        if (result == VK_SUCCESS) {
            ++block->map_calls;
        } else {
            block->mapped = NULL;
        }
    }
    if (result == VK_SUCCESS) {
        maar_atomic32_store(&block->map_count, maar_atomic32_load(&block->map_count) + 1u);
        ++slot->map_count;
        *data = (char*)block->mapped + maar_slot_offset(slot);
    }
    maar_mutex_unlock(&block->map_lock);
    if (is_too_often) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_UNSORTED, NULL,
                    "an allocation is mapped %u times already; are unmappings missing?",
                    (unsigned)UINT16_MAX);
    } else if (result != VK_SUCCESS) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_UNSORTED, NULL,
                    "the driver does not map block %llu of memory type %u (error %d); a block is "
                    "mapped as a whole, %llu bytes of address space: smaller ones "
                    "(preferredBlockSize) may do",
                    (unsigned long long)block->id, block->pool->type_index, (int)result,
                    (unsigned long long)block->size);
    }
    return result;
}

bool maar_block_unmap(struct maar_block* block, struct maar_slot* slot, uint32_t keep)
{
    const struct maar_device* device = &block->pool->allocator->device;
    maar_lock_rank_expect_none();
    maar_mutex_lock(&block->map_lock);
    bool was_mapped = slot->map_count > keep;
    if (was_mapped) {
        --slot->map_count;
        uint32_t left = maar_atomic32_load(&block->map_count) - 1u;
        maar_atomic32_store(&block->map_count, left);
        if (left == 0 && block->map_calls < STICKY_MAP_CALLS) {
            device->vkUnmapMemory(device->handle, block->memory);
            block->mapped = NULL;
        }
    }
    maar_mutex_unlock(&block->map_lock);
    return was_mapped;
}

void* maar_slot_address(struct maar_slot* slot)
{
    struct maar_block* block = slot->block;
    maar_mutex_lock(&block->map_lock);
    char* base = slot->map_count > 0 ? block->mapped : NULL;
    maar_mutex_unlock(&block->map_lock);
    return base != NULL ? base + maar_slot_offset(slot) : NULL;
}
