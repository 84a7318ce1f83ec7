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

static VkDeviceSize to_units(VkDeviceSize size)
{
    return size / tier_block_unit * tier_block_unit;
}

/* Returns the size of blocks. */
static VkDeviceSize block_size_of(const struct maar_tier_memory* memory)
{
    const VkDeviceSize largest = memory->largest;
    const VkDeviceSize least = memory->budget / TIER_BLOCKS;
    const VkDeviceSize wanted =
        largest <= memory->budget / TIER_OBJECTS ? largest * TIER_OBJECTS : memory->budget;
    const VkDeviceSize size = least > wanted ? least : wanted;
    const VkDeviceSize count = size > 0 ? memory->budget / size : 1;
    VkDeviceSize even = memory->budget / (count > 0 ? count : 1);
    even = even < largest_tier_block ? even : largest_tier_block;
    if (even < memory->budget && largest > 0 && largest <= even) {
        /* A whole number of the largest objects; the rest has a block of its own. */
        const VkDeviceSize whole = maar_align_up(even / largest * largest, tier_block_unit);
        even = whole < even ? whole : even;
    }
    return even < tier_block_unit ? tier_block_unit : to_units(even);
}

static struct maar_tier_pool* find_pool(struct maar_tier_memory* memory, uint32_t type,
                                        bool is_rest)
{
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        if (memory->pools[i].type == type && memory->pools[i].is_rest == is_rest) {
            return &memory->pools[i];
        }
    }
    return NULL;
}

/* Returns a pool, which is made when it is first needed. While it has no blocks, it is made anew:
 * the rest with blocks of another size, and others with larger ones. For a budget that is smaller
 * than their blocks there is the rest. */
static VkResult need_pool(struct maar_tier_memory* memory, uint32_t type, bool is_rest,
                          VkDeviceSize block_size, struct maar_tier_pool** found)
{
    struct maar_tier_pool* pool = find_pool(memory, type, is_rest);
    if (pool != NULL && (pool->bytes > 0 || pool->block_size == block_size ||
                         (!is_rest && pool->block_size > block_size))) {
        *found = pool;
        return VK_SUCCESS;
    }
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = type,
        .blockSize = block_size,
        .pName = memory->name,
    };
    MaarPool made = VK_NULL_HANDLE;
    const VkResult result = maarCreatePool(memory->allocator, &info, &made);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pool != NULL) {
        maarDestroyPool(memory->allocator, pool->pool);
    } else {
        pool = &memory->pools[memory->pool_count++];
    }
    *pool = (struct maar_tier_pool){
        .pool = made, .type = type, .is_rest = is_rest, .block_size = block_size};
    *found = pool;
    return VK_SUCCESS;
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

/* Counts the bytes of all pools again. Returns whether they have become fewer: what ends after its
 * points takes its VkDeviceMemory with it later. */
static bool count_all(struct maar_tier_memory* memory)
{
    const VkDeviceSize held = maar_tier_memory_bytes(memory);
    for (uint32_t i = 0; i < memory->pool_count; ++i) {
        count_bytes(memory, &memory->pools[i]);
    }
    return maar_tier_memory_bytes(memory) < held;
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

/* Allocates from one pool, with a new block or without. */
static VkResult allocate_in(struct maar_tier_memory* memory, const char* call,
                            struct maar_tier_pool* pool, const struct maar_tier_place* place,
                            bool is_alone, bool may_grow, MaarAllocation* allocation)
{
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
        .pName = place->name,
    };
    struct maar_patience patience = maar_patience_begin();
    const VkResult result =
        maar_allocate_own(memory->allocator, call, &place->request, &info, &patience, allocation);
    if (may_grow) {
        count_bytes(memory, pool);
    }
    if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && may_grow) {
        memory->is_refused = true;
    }
    return result == VK_ERROR_OUT_OF_DEVICE_MEMORY ? VK_ERROR_OUT_OF_POOL_MEMORY : result;
}

/* Returns the bytes of the budget that no VkDeviceMemory has. */
static VkDeviceSize left_of_budget(const struct maar_tier_memory* memory)
{
    const VkDeviceSize held = maar_tier_memory_bytes(memory);
    return held < memory->budget ? memory->budget - held : 0;
}

/* Allocates in a block of the usual size, or in a VkDeviceMemory of its own. */
static VkResult allocate_in_block(struct maar_tier_memory* memory, const char* call,
                                  const struct maar_tier_place* place, MaarAllocation* allocation)
{
    const VkDeviceSize size = place->request.requirements.size;
    struct maar_tier_pool* pool = NULL;
    const VkResult result = need_pool(memory, place->type, false, block_size_of(memory), &pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    const bool is_alone =
        place->is_alone || place->request.requiresDedicated == VK_TRUE || size > pool->block_size;
    const bool may_grow = (is_alone ? size : pool->block_size) <= left_of_budget(memory);
    return is_alone && !may_grow
               ? VK_ERROR_OUT_OF_POOL_MEMORY
               : allocate_in(memory, call, pool, place, is_alone, may_grow, allocation);
}

/* Allocates in the block that has the rest of the budget. If there is such a block already, made
 * for another budget, or if the rest is less than any block, the object gets a VkDeviceMemory of
 * its own. */
static VkResult allocate_in_rest(struct maar_tier_memory* memory, const char* call,
                                 const struct maar_tier_place* place, MaarAllocation* allocation)
{
    const VkDeviceSize size = place->request.requirements.size;
    const VkDeviceSize left = left_of_budget(memory);
    struct maar_tier_pool* pool = find_pool(memory, place->type, true);
    const bool has_block = pool != NULL && pool->bytes > 0;
    VkResult result = VK_ERROR_OUT_OF_POOL_MEMORY;
    if (place->is_alone || place->request.requiresDedicated == VK_TRUE) {
        return result;
    }
    if (has_block) {
        result = allocate_in(memory, call, pool, place, false, false, allocation);
    }
    if (result != VK_ERROR_OUT_OF_POOL_MEMORY || size > left) {
        return result;
    }
    if (has_block || size > to_units(left)) {
        pool = find_pool(memory, place->type, false);
        return allocate_in(memory, call, pool, place, true, true, allocation);
    }
    result = need_pool(memory, place->type, true, to_units(left), &pool);
    return result == VK_SUCCESS ? allocate_in(memory, call, pool, place, false, true, allocation)
                                : result;
}

VkResult maar_tier_memory_place(struct maar_tier_memory* memory, const char* call,
                                struct maar_object object, struct maar_tier_place* place,
                                MaarAllocation* allocation)
{
    const uint32_t wait_count = place->wait_count != NULL ? *place->wait_count : 0;
    place->request.dedicatedBuffer = object.buffer;
    place->request.dedicatedImage = object.image;
    VkResult result = allocate_in_block(memory, call, place, allocation);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && count_all(memory)) {
        result = allocate_in_block(memory, call, place, allocation);
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        result = allocate_in_rest(memory, call, place, allocation);
    }
    if (result != VK_SUCCESS) {
        maar_discard_object(memory->allocator, object);
        return result;
    }
    result = maar_settle_own_object(memory->allocator, object, allocation);
    if (result == VK_SUCCESS) {
        memory->live += place->request.requirements.size;
    } else if (place->wait_count != NULL) {
        *place->wait_count = wait_count;
    }
    return result;
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
