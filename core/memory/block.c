/*
 * Makes and destroys blocks. A block is a VkDeviceMemory with its placement.
 */
#include "core/memory/block.h"

#include "core/memory/allocator_state.h"
#include "core/memory/attachment.h"
#include "core/memory/pool.h"
#include "core/memory/recycled.h"
#include "maar/capture_file.h"

static struct maar_block_origin origin_of(MaarAllocator allocator,
                                          const struct maar_device_memory_info* info)
{
    const struct maar_device_facts* facts = &allocator->device.facts;
    struct maar_block_origin origin = {.object = MAAR_TO_BITS(info->dedicated_buffer)};
    uint32_t flags = origin.object != 0 ? MAAR_CAPTURE_MEMORY_DEDICATED_BUFFER_BIT : 0;
    if (info->dedicated_image != VK_NULL_HANDLE) {
        origin.object = MAAR_TO_BITS(info->dedicated_image);
        flags = MAAR_CAPTURE_MEMORY_DEDICATED_IMAGE_BIT;
    } else if (facts->buffer_device_address) {
        flags |= MAAR_CAPTURE_MEMORY_ADDRESS_BIT;
    }
    flags |= info->export_types != 0 ? (uint32_t)MAAR_CAPTURE_MEMORY_EXPORT_BIT : 0;
    flags |= info->import_types != 0 ? (uint32_t)MAAR_CAPTURE_MEMORY_IMPORT_BIT : 0;
    if (facts->memory_priority) {
        flags |= MAAR_CAPTURE_MEMORY_PRIORITY_BIT;
        origin.priority = info->priority;
    }
    origin.flags = flags;
    return origin;
}

VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block)
{
    struct maar_pool* pool = arena->pool;
    MaarAllocator allocator = pool->allocator;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    struct maar_block* made = maar_block_header_take(arena);
    if (made == NULL) {
        return result;
    }
    made->size = info->size;
    made->least_bound = MAAR_SHAPE_ANY_SIZE;
    made->named =
        info->dedicated_buffer != VK_NULL_HANDLE || info->dedicated_image != VK_NULL_HANDLE;
    made->shared_types = info->export_types | info->import_types;
    made->imported = info->import_types != 0;
    made->origin = origin_of(allocator, info);
    if (!dedicated) {
        const struct maar_placement_info placement = {
            .strategy = pool->strategy,
            .size = info->size,
            .granularity = pool->granularity,
        };
        result = maar_placement_create(&placement, allocator->callbacks, &made->placement);
        if (result != VK_SUCCESS) {
            goto keep_header;
        }
    }
    result =
        maar_block_ids_grow(&allocator->block_ids, allocator->callbacks)
            ? maar_device_memory_allocate(allocator, info, &made->memory, &made->origin.duration_ns)
            : VK_ERROR_OUT_OF_HOST_MEMORY;
    if (result != VK_SUCCESS) {
        goto free_placement;
    }
    made->id = maar_atomic64_add(&allocator->next_block_id, 1);
    *block = made;
    return VK_SUCCESS;

free_placement:
    if (made->placement != NULL) {
        maar_placement_destroy(made->placement, allocator->callbacks);
    }
keep_header:
    maar_block_header_keep(made);
    return result;
}

void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending)
{
    MaarAllocator allocator = block->pool->allocator;
    const VkDeviceSize before = maar_atomic64_load(&block->paged_live);
    maar_atomic64_store(&block->paged_live, live);
    maar_atomic64_store(&block->paged_pending, pending);
    /* If there are fewer bytes than before, the difference wraps around, and the sum is right. */
    (void)maar_atomic64_add(&allocator->paged_bytes, live - before);
}

void maar_stand_in_free(struct maar_block* block)
{
    MaarAllocator allocator = block->pool->allocator;
    if (block->ending != NULL) {
        maar_retire_discard(&allocator->retire, block->ending);
    }
    maar_block_header_keep(block);
}

/* Destroys the stand-in block of a stitched allocation together with its pages. */
static void destroy_stand_in(struct maar_block* block)
{
    MaarAllocator allocator = block->pool->allocator;
    const VkDeviceSize size = block->size;
    allocator->paging.release_pages(allocator, block);
    (void)maar_atomic64_sub(&allocator->stitched_bytes, size);
    maar_stand_in_free(block);
}

void maar_block_destroy(struct maar_block* block)
{
    if (block->table != NULL) {
        destroy_stand_in(block);
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
    maar_leaving_end(&allocator->leaving, &block->leaving);
    if (block->placement != NULL) {
        maar_placement_destroy(block->placement, allocator->callbacks);
    }
    maar_block_header_keep(block);
}
