/*
 * The memory of a tier: see tier_memory.h.
 */
#include "core/residency/tier_memory.h"

#include "core/memory/allocate.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "maar/ordered.h"

enum {
    /* Blocks of a tier. With fewer, a smaller budget empties much at once; with more, fewer objects
     * find room side by side. */
    TIER_BLOCKS = 8,
    /* Objects of the largest size in a block: what is left over is below a fifth. */
    TIER_OBJECTS = 4
};

/* Sizes of blocks: whole pages of any device, and what every device can allocate. */
static const VkDeviceSize tier_block_unit = 65536;
static const VkDeviceSize largest_tier_block = (VkDeviceSize)1 << 30;

void maar_tier_memory_close(struct maar_tier_memory* memory)
{
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        maarDestroyPool(memory->allocator, memory->pools[i].pool);
    }
    memory->pool_count = 0;
}

static VkDeviceSize block_size_of(const struct maar_tier_memory* memory)
{
    const VkDeviceSize least = memory->budget / TIER_BLOCKS;
    const VkDeviceSize wanted = memory->largest <= memory->budget / TIER_OBJECTS
                                    ? memory->largest * TIER_OBJECTS
                                    : memory->budget;
    const VkDeviceSize size = least > wanted ? least : wanted;
    const VkDeviceSize count = size > 0 ? memory->budget / size : 1;
    VkDeviceSize even = memory->budget / (count > 0 ? count : 1);
    even = even < largest_tier_block ? even : largest_tier_block;
    return even < tier_block_unit ? tier_block_unit : even / tier_block_unit * tier_block_unit;
}

/* Returns the pool of a memory type, which is made when it is first needed. */
static VkResult find_pool(struct maar_tier_memory* memory, uint32_t type,
                          struct maar_tier_pool** found)
{
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        if (memory->pools[i].type == type) {
            *found = &memory->pools[i];
            return VK_SUCCESS;
        }
    }
    struct maar_tier_pool* made = &memory->pools[memory->pool_count];
    *made = (struct maar_tier_pool){.type = type, .block_size = block_size_of(memory)};
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .blockSize = made->block_size,
        .pName = memory->name,
    };
    const VkResult result = maarCreatePool(memory->allocator, &info, &made->pool);
    if (result == VK_SUCCESS) {
        ++memory->pool_count;
        *found = made;
    }
    return result;
}

static void note_peak(struct maar_tier_memory* memory)
{
    const VkDeviceSize bytes = maar_tier_memory_bytes(memory);
    memory->peak = bytes > memory->peak ? bytes : memory->peak;
}

void maar_tier_memory_count(struct maar_tier_memory* memory, VkDeviceSize size, bool comes)
{
    memory->live += comes ? size : 0;
    memory->live -= comes ? 0 : size;
    memory->paged += comes ? size : 0;
    memory->paged -= comes ? 0 : size;
    note_peak(memory);
}

static void count_bytes(struct maar_tier_memory* memory, struct maar_tier_pool* pool)
{
    MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
    if (maarGetStatistics(memory->allocator, pool->pool, &statistics) == VK_SUCCESS) {
        pool->bytes = statistics.blockBytes;
    }
    note_peak(memory);
}

VkDeviceSize maar_tier_memory_bytes(const struct maar_tier_memory* memory)
{
    VkDeviceSize bytes = memory->paged;
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        bytes += memory->pools[i].bytes;
    }
    return bytes;
}

VkDeviceSize maar_tier_memory_used(struct maar_tier_memory* memory, uint32_t heap)
{
    VkDeviceSize bytes = memory->paged;
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        struct maar_pool* pool = maar_pool_of(memory->allocator, memory->pools[i].pool);
        if (pool != NULL && pool->heap_index == heap) {
            count_bytes(memory, &memory->pools[i]);
            bytes += memory->pools[i].bytes - maar_atomic64_load(&pool->empty_bytes);
        }
    }
    return bytes;
}

bool maar_tier_memory_is_pending(const struct maar_tier_memory* memory)
{
    bool is_pending = false;
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        MaarStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_STATISTICS};
        is_pending = is_pending || (maarGetStatistics(memory->allocator, memory->pools[i].pool,
                                                      &statistics) == VK_SUCCESS &&
                                    statistics.pendingCount > 0);
    }
    return is_pending;
}

VkDeviceSize maar_tier_memory_trim(struct maar_tier_memory* memory)
{
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        (void)maarTrim(memory->allocator, memory->pools[i].pool, NULL);
        count_bytes(memory, &memory->pools[i]);
    }
    return maar_tier_memory_bytes(memory);
}

VkResult maar_tier_memory_place(struct maar_tier_memory* memory, const char* call,
                                struct maar_object object, struct maar_tier_place* place,
                                MaarAllocation* allocation)
{
    struct maar_tier_pool* pool = NULL;
    const VkDeviceSize size = place->request.requirements.size;
    VkResult result = find_pool(memory, place->type, &pool);
    if (result != VK_SUCCESS) {
        maar_discard_object(memory->allocator, object);
        return result;
    }
    /* A budget that was set lower may hold no whole block. */
    const bool is_alone = place->request.requiresDedicated == VK_TRUE || size > pool->block_size ||
                          pool->block_size > memory->budget;
    const VkDeviceSize wanted = is_alone ? size : pool->block_size;
    const VkDeviceSize held = maar_tier_memory_bytes(memory);
    const bool may_grow = held <= memory->budget && wanted <= memory->budget - held;
    if (is_alone && !may_grow) {
        maar_discard_object(memory->allocator, object);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    const MaarOrderedUseInfo ordered = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .flags = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT,
        .waitCapacity = place->wait_capacity,
        .pWaits = place->waits,
        .pWaitCount = place->wait_count,
    };
    MaarAllocationCreateFlags flags = MAAR_ALLOCATE_AS_TRIAL;
    flags |= may_grow ? 0 : (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    flags |= place->is_mapped ? (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_MAPPED_BIT : 0;
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .pNext = place->wait_count != NULL ? &ordered : NULL,
        .flags = flags,
        .dedicated = is_alone ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER,
        .pool = pool->pool,
    };
    place->request.dedicatedBuffer = object.buffer;
    place->request.dedicatedImage = object.image;
    struct maar_patience patience = maar_patience_begin();
    result = maar_place_object(memory->allocator, call, object, &place->request, &info, &patience,
                               allocation);
    if (may_grow) {
        count_bytes(memory, pool);
    }
    if (result == VK_SUCCESS) {
        memory->live += size;
    }
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && may_grow) {
        memory->is_refused = true;
    }
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? VK_ERROR_OUT_OF_POOL_MEMORY : result;
}

VkResult maar_tier_memory_remove(struct maar_tier_memory* memory, const char* call,
                                 struct maar_object object, MaarAllocation allocation,
                                 VkDeviceSize size, uint32_t point_count, const MaarPoint* points)
{
    const VkResult result = maar_destroy_object_after(memory->allocator, call, object, allocation,
                                                      point_count, points, true);
    if (result == VK_SUCCESS) {
        memory->live -= size;
    }
    return result;
}
