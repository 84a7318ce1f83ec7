/*
 * The host's access: map, flush, invalidate, copy. The driver receives only ranges of whole atoms
 * that stay inside the block. Coherent types need no flush.
 *
 * The map lock guards the mapping of one block. It is held across vkMapMemory, since a memory
 * object may be mapped only once and Vulkan requires external synchronization of its mapping.
 */
#include "core/memory/mapping.h"

#include <stdio.h>
#include <string.h>

#include "core/bound_check.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/allocator_state.h"
#include "core/memory/captured_driver.h"
#include "core/memory/margin_size.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"

/* The number of ranges passed to the driver in one call. */
enum { RANGE_BATCH = 16 };

/* After this number of calls of vkMapMemory a block stays mapped. A program that maps and unmaps in
 * every frame thus calls the driver twice only. */
enum { STICKY_MAP_CALLS = 2 };

static bool is_visible(MaarAllocator allocator, const struct maar_block* block)
{
    return (maar_type_flags(allocator, block->pool->type_index) &
            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
}

/* Under the map lock: maps a block that is not mapped. */
static VkResult map_block(MaarAllocator allocator, struct maar_block* block)
{
    const struct maar_device* device = &allocator->device;
    VkResult result =
        device->vkMapMemory(device->handle, block->memory, 0, VK_WHOLE_SIZE, 0, &block->mapped);
    if (result == VK_SUCCESS) {
        ++block->map_calls;
        if (maar_may_capture(allocator)) {
            maar_capture_mapping(allocator, block, true);
        }
    } else {
        block->mapped = NULL;
    }
    return result;
}

/* Under the map lock: counts a mapping of a block, and maps it for the first one. */
static VkResult count_mapping(MaarAllocator allocator, struct maar_block* block)
{
    const VkResult result = block->mapped == NULL ? map_block(allocator, block) : VK_SUCCESS;
    if (result == VK_SUCCESS) {
        maar_atomic32_store(&block->map_count, maar_atomic32_load(&block->map_count) + 1u);
    }
    return result;
}

/* Under the map lock: takes a mapping of a block back, and unmaps it after the last one. */
static void uncount_mapping(MaarAllocator allocator, struct maar_block* block)
{
    const struct maar_device* device = &allocator->device;
    const uint32_t left = maar_atomic32_load(&block->map_count) - 1u;
    maar_atomic32_store(&block->map_count, left);
    if (left == 0 && block->map_calls < STICKY_MAP_CALLS) {
        if (maar_may_capture(allocator)) {
            maar_capture_mapping(allocator, block, false);
        }
        device->vkUnmapMemory(device->handle, block->memory);
        block->mapped = NULL;
    }
}

VkResult maar_block_map(MaarAllocator allocator, struct maar_block* block, char** mapped)
{
    maar_lock_rank_expect_none();
    maar_mutex_lock(&block->map_lock);
    const VkResult result = count_mapping(allocator, block);
    *mapped = block->mapped;
    maar_mutex_unlock(&block->map_lock);
    return result;
}

void maar_block_unmap(MaarAllocator allocator, struct maar_block* block)
{
    maar_mutex_lock(&block->map_lock);
    uncount_mapping(allocator, block);
    maar_mutex_unlock(&block->map_lock);
}

/* Copies the name of an allocation for a message. */
static struct maar_quoted quote_slot(MaarAllocator allocator, const struct maar_slot* slot)
{
    const struct maar_block* block = maar_slot_enter(allocator, slot);
    const uint32_t index = maar_slots_index_of(&allocator->slots, slot);
    const struct maar_quoted name = maar_quote(maar_slot_name(slot, index));
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    return name;
}

/* Reports that an allocation is in a type that the host does not see, and what would help. */
static void report_invisible(MaarAllocator allocator, const char* call,
                             const struct maar_slot* slot, const struct maar_pool* pool)
{
    char remedy[240] = "usages whose memory always is: UPLOAD, READBACK, DEVICE_UPLOAD";
    if (pool->custom) {
        (void)snprintf(remedy, sizeof remedy,
                       "pool %s has this type alone, whatever the usage; give it a type chosen for "
                       "UPLOAD, READBACK or DEVICE_UPLOAD",
                       maar_quote(pool->name).text);
    }
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_MAPPABLE, call,
                "allocation %s of %s cannot be mapped: memory type %u is not "
                "HOST_VISIBLE; %s",
                quote_slot(allocator, slot).text,
                maar_show_bytes(maar_slot_find_bytes(allocator, slot).size).text, pool->type_index,
                remedy);
}

/* Reports why an allocation is not mapped. */
static void report_unmappable(MaarAllocator allocator, const char* call, bool is_too_often,
                              const struct maar_slot* slot, const struct maar_block* block,
                              VkResult result)
{
    const uint32_t type = block->pool->type_index;
    if (!is_visible(allocator, block)) {
        report_invisible(allocator, call, slot, block->pool);
    } else if (is_too_often) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_MAPPED_TOO_OFTEN, NULL,
                    "an allocation is mapped %u times already; are unmappings missing?",
                    (unsigned)UINT16_MAX);
    } else {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_MAP_FAILED, NULL,
                    "the driver does not map block %llu of memory type %u (%s); a block is "
                    "mapped as a whole, %s of address space: smaller ones "
                    "(preferredBlockSize) may do",
                    (unsigned long long)block->id, type, maarGetResultName(result),
                    maar_show_bytes(block->size).text);
    }
}

/* Maps the block for a slot, or counts one more mapping. Sets *mapped to the address of the block.
 * A slot that is mapped does not move. */
static VkResult map_slot(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                         char** mapped)
{
    VkResult result = VK_SUCCESS;
    maar_lock_rank_expect_none();
    struct maar_block* block = maar_slot_enter_mapping(allocator, slot);
    const bool is_too_often = slot->map_count == UINT16_MAX;
    if (is_too_often || !is_visible(allocator, block)) {
        result = VK_ERROR_MEMORY_MAP_FAILED;
    } else {
        result = count_mapping(allocator, block);
    }
    if (result == VK_SUCCESS) {
        ++slot->map_count;
        *mapped = block->mapped;
    }
    maar_mutex_unlock(&block->map_lock);
    if (result != VK_SUCCESS) {
        report_unmappable(allocator, call, is_too_often, slot, block, result);
    }
    return result;
}

VkResult maar_slot_map(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                       void** data)
{
    char* mapped = NULL;
    const VkResult result = map_slot(allocator, call, slot, &mapped);
    if (result == VK_SUCCESS) {
        *data = mapped + maar_slot_find_bytes(allocator, slot).offset;
    }
    return result;
}

VkResult maar_slot_map_own(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                           void** data)
{
    char* mapped = NULL;
    const VkResult result = map_slot(allocator, call, slot, &mapped);
    if (result == VK_SUCCESS) {
        *data = mapped + maar_slot_span(allocator, slot).offset;
    }
    return result;
}

VkResult maar_slot_map_for_life(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                                void** data)
{
    slot->mapped_for_life = true;
    return maar_slot_map_own(allocator, call, slot, data);
}

bool maar_slot_unmap(MaarAllocator allocator, struct maar_slot* slot, uint32_t keep)
{
    maar_lock_rank_expect_none();
    struct maar_block* block = maar_slot_enter_mapping(allocator, slot);
    bool was_mapped = slot->map_count > keep;
    if (was_mapped) {
        --slot->map_count;
        uncount_mapping(allocator, block);
    }
    maar_mutex_unlock(&block->map_lock);
    return was_mapped;
}

/* Returns the address of a slot's block, or NULL while the slot is not mapped. */
static char* mapped_block(MaarAllocator allocator, const struct maar_slot* slot)
{
    struct maar_block* block = maar_slot_enter_mapping(allocator, slot);
    char* mapped = slot->map_count > 0 ? block->mapped : NULL;
    maar_mutex_unlock(&block->map_lock);
    return mapped;
}

bool maar_slot_is_mapped(MaarAllocator allocator, const struct maar_slot* slot, uint64_t handle)
{
    for (;;) {
        struct maar_block* block = maar_slot_enter(allocator, slot);
        const bool is_live = maar_key_read(&slot->key) == handle >> 32;
        const bool can_look = is_live && maar_mutex_try_lock(&block->map_lock);
        const bool is_mapped = can_look && slot->map_count > 0;
        if (can_look) {
            maar_mutex_unlock(&block->map_lock);
        }
        maar_mutex_unlock(&maar_block_arena(block)->lock);
        if (can_look || !is_live) {
            return is_mapped;
        }
        /* Another thread may be in the driver with that lock: waits without the arena. */
        maar_mutex_unlock(&maar_slot_enter_mapping(allocator, slot)->map_lock);
    }
}

void* maar_slot_address(MaarAllocator allocator, const struct maar_slot* slot)
{
    char* mapped = mapped_block(allocator, slot);
    return mapped != NULL ? mapped + maar_slot_find_bytes(allocator, slot).offset : NULL;
}

typedef VkResult (*sync_function)(const struct maar_device* device, uint32_t count,
                                  const VkMappedMemoryRange* ranges);

static VkResult call_flush(const struct maar_device* device, uint32_t count,
                           const VkMappedMemoryRange* ranges)
{
    return device->vkFlushMappedMemoryRanges(device->handle, count, ranges);
}

static VkResult call_invalidate(const struct maar_device* device, uint32_t count,
                                const VkMappedMemoryRange* ranges)
{
    return device->vkInvalidateMappedMemoryRanges(device->handle, count, ranges);
}

static bool is_inside(struct maar_span span, VkDeviceSize offset, VkDeviceSize size)
{
    return offset <= span.size && (size == VK_WHOLE_SIZE || size <= span.size - offset);
}

/* Widens a range of a mapped slot, whose bytes are `span`, to whole atoms of its block. */
static VkMappedMemoryRange range_of(MaarAllocator allocator, const struct maar_block* block,
                                    struct maar_span span, VkDeviceSize offset, VkDeviceSize size)
{
    const VkDeviceSize atom = allocator->device.facts.atom;
    const VkDeviceSize length = size == VK_WHOLE_SIZE ? span.size - offset : size;
    const VkDeviceSize begin = (span.offset + offset) / atom * atom;
    const VkDeviceSize end = maar_align_up(span.offset + offset + length, atom);
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
        .memory = block->memory,
        .offset = begin,
        .size = (end < block->size ? end : block->size) - begin,
    };
}

/* Fills the range of a mapped slot, whose bytes are `span`; its size is 0 where the driver need not
 * be called. Reports a range outside the allocation, and an allocation that is not mapped. */
static VkResult find_synced_range(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                                  struct maar_span span, VkDeviceSize offset, VkDeviceSize size,
                                  VkMappedMemoryRange* range)
{
    if (!is_inside(span, offset, size)) {
        return maar_refuse_range(allocator, call, "offset and size", offset, size, "the allocation",
                                 span.size);
    }
    if (mapped_block(allocator, slot) == NULL) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_MAPPED, call,
                    "allocation %s of %s is not mapped: call maarMapMemory first, or create "
                    "it with MAAR_ALLOCATION_CREATE_MAPPED_BIT",
                    quote_slot(allocator, slot).text, maar_show_bytes(span.size).text);
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_block* block = maar_slot_block(allocator, slot);
    *range = range_of(allocator, block, span, offset, size);
    const uint32_t type = block->pool->type_index;
    if (size == 0 || !maar_type_is_noncoherent(allocator, type)) {
        range->size = 0;
    }
    return VK_SUCCESS;
}

static VkResult sync_slot(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                          struct maar_span span, VkDeviceSize offset, VkDeviceSize size,
                          sync_function sync)
{
    VkMappedMemoryRange range;
    maar_lock_rank_expect_none();
    const VkResult result = find_synced_range(allocator, call, slot, span, offset, size, &range);
    return result == VK_SUCCESS && range.size != 0 ? sync(&allocator->device, 1, &range) : result;
}

VkResult maar_slot_flush(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                         VkDeviceSize offset, VkDeviceSize size)
{
    return sync_slot(allocator, call, slot, maar_slot_find_bytes(allocator, slot), offset, size,
                     call_flush);
}

VkResult maar_slot_invalidate(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                              VkDeviceSize offset, VkDeviceSize size)
{
    return sync_slot(allocator, call, slot, maar_slot_find_bytes(allocator, slot), offset, size,
                     call_invalidate);
}

VkResult maar_slot_sync_own(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                            VkDeviceSize offset, VkDeviceSize size, bool flushes)
{
    return sync_slot(allocator, call, slot, maar_slot_bytes(allocator, slot), offset, size,
                     flushes ? call_flush : call_invalidate);
}

static VkResult sync_all(MaarAllocator allocator, const char* call, uint32_t count,
                         const MaarAllocation* allocations, const VkDeviceSize* offsets,
                         const VkDeviceSize* sizes, sync_function sync)
{
    VkMappedMemoryRange ranges[RANGE_BATCH];
    uint32_t pending = 0;
    VkResult result = VK_SUCCESS;
    maar_lock_rank_expect_none();
    for (uint32_t i = 0; i < count && result == VK_SUCCESS; ++i) {
        struct maar_slot* slot = maar_resolve(allocator, call, allocations[i], NULL);
        if (slot == NULL) {
            return VK_ERROR_VALIDATION_FAILED_EXT;
        }
        const VkDeviceSize offset = offsets != NULL ? offsets[i] : 0;
        const VkDeviceSize size = sizes != NULL ? sizes[i] : VK_WHOLE_SIZE;
        result = find_synced_range(allocator, call, slot, maar_slot_find_bytes(allocator, slot),
                                   offset, size, &ranges[pending]);
        if (result != VK_SUCCESS) {
            return result;
        }
        pending += ranges[pending].size != 0 ? 1u : 0u;
        if (pending == RANGE_BATCH) {
            result = sync(&allocator->device, pending, ranges);
            pending = 0;
        }
    }
    if (result == VK_SUCCESS && pending > 0) {
        result = sync(&allocator->device, pending, ranges);
    }
    return result;
}

static VkResult sync_public(MaarAllocator allocator, const char* call, uint32_t count,
                            const MaarAllocation* allocations, const VkDeviceSize* offsets,
                            const VkDeviceSize* sizes, sync_function sync)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || count == 0) {
        return result;
    }
    if (allocations == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, call, "pAllocations is NULL");
    }
    return sync_all(allocator, call, count, allocations, offsets, sizes, sync);
}

VKAPI_ATTR VkResult VKAPI_CALL maarFlushAllocation(MaarAllocator allocator,
                                                   MaarAllocation allocation, VkDeviceSize offset,
                                                   VkDeviceSize size)
{
    return sync_public(allocator, __func__, 1, &allocation, &offset, &size, call_flush);
}

VKAPI_ATTR VkResult VKAPI_CALL maarInvalidateAllocation(MaarAllocator allocator,
                                                        MaarAllocation allocation,
                                                        VkDeviceSize offset, VkDeviceSize size)
{
    return sync_public(allocator, __func__, 1, &allocation, &offset, &size, call_invalidate);
}

VKAPI_ATTR VkResult VKAPI_CALL maarFlushAllocations(MaarAllocator allocator,
                                                    uint32_t allocationCount,
                                                    const MaarAllocation* pAllocations,
                                                    const VkDeviceSize* pOffsets,
                                                    const VkDeviceSize* pSizes)
{
    return sync_public(allocator, __func__, allocationCount, pAllocations, pOffsets, pSizes,
                       call_flush);
}

VKAPI_ATTR VkResult VKAPI_CALL maarInvalidateAllocations(MaarAllocator allocator,
                                                         uint32_t allocationCount,
                                                         const MaarAllocation* pAllocations,
                                                         const VkDeviceSize* pOffsets,
                                                         const VkDeviceSize* pSizes)
{
    return sync_public(allocator, __func__, allocationCount, pAllocations, pOffsets, pSizes,
                       call_invalidate);
}

/* Maps a slot, or reports why that cannot be done. */
static VkResult map_any_slot(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                             void** data)
{
    if (slot->stitched) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NOT_MAPPABLE, call,
                           "allocation is made of pages, which cannot be mapped");
    }
    return maar_slot_map(allocator, call, slot, data);
}

VKAPI_ATTR VkResult VKAPI_CALL maarMapMemory(MaarAllocator allocator, MaarAllocation allocation,
                                             void** ppData)
{
    if (ppData != NULL) {
        *ppData = NULL;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (ppData == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "ppData is NULL");
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    return slot != NULL ? map_any_slot(allocator, __func__, slot, ppData)
                        : VK_ERROR_VALIDATION_FAILED_EXT;
}

VKAPI_ATTR void VKAPI_CALL maarUnmapMemory(MaarAllocator allocator, MaarAllocation allocation)
{
    if (maar_enter(allocator) != VK_SUCCESS) {
        return;
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    if (slot == NULL) {
        return;
    }
    uint32_t own = slot->mapped_for_life ? 1 : 0;
    if (!maar_slot_unmap(allocator, slot, own)) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR, MAAR_MESSAGE_ID_NOT_MAPPED, __func__,
                    "allocation %s of %s is not mapped by maarMapMemory",
                    quote_slot(allocator, slot).text,
                    maar_show_bytes(maar_slot_find_bytes(allocator, slot).size).text);
    }
}

/* Maps the slot, so that both copies work on any HOST_VISIBLE allocation. */
static VkResult begin_copy(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                           VkDeviceSize offset, VkDeviceSize size, void** data)
{
    const struct maar_span span = maar_slot_find_bytes(allocator, slot);
    if (size > SIZE_MAX || size == VK_WHOLE_SIZE || !is_inside(span, offset, size)) {
        return maar_refuse_range(allocator, call, "offset and size", offset, size, "the allocation",
                                 span.size);
    }
    return map_any_slot(allocator, call, slot, data);
}

VkResult maar_slot_copy_to(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                           VkDeviceSize offset, VkDeviceSize size, const void* source)
{
    void* data = NULL;
    VkResult result = begin_copy(allocator, call, slot, offset, size, &data);
    if (result != VK_SUCCESS) {
        return result;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): a mapping that works sets data. */
    memcpy((char*)data + offset, source, (size_t)size);
    result = maar_slot_flush(allocator, call, slot, offset, size);
    (void)maar_slot_unmap(allocator, slot, 0);
    return result;
}

VkResult maar_slot_copy_from(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                             VkDeviceSize offset, VkDeviceSize size, void* destination)
{
    void* data = NULL;
    VkResult result = begin_copy(allocator, call, slot, offset, size, &data);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = maar_slot_invalidate(allocator, call, slot, offset, size);
    if (result == VK_SUCCESS) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): as above. */
        memcpy(destination, (const char*)data + offset, (size_t)size);
    }
    (void)maar_slot_unmap(allocator, slot, 0);
    return result;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCopyToAllocation(MaarAllocator allocator,
                                                    MaarAllocation allocation, VkDeviceSize offset,
                                                    VkDeviceSize size, const void* pSource)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pSource == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pSource is NULL");
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    return slot != NULL ? maar_slot_copy_to(allocator, __func__, slot, offset, size, pSource)
                        : VK_ERROR_VALIDATION_FAILED_EXT;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCopyFromAllocation(MaarAllocator allocator,
                                                      MaarAllocation allocation,
                                                      VkDeviceSize offset, VkDeviceSize size,
                                                      void* pDestination)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pDestination == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__,
                           "pDestination is NULL");
    }
    struct maar_slot* slot = maar_resolve(allocator, __func__, allocation, NULL);
    return slot != NULL ? maar_slot_copy_from(allocator, __func__, slot, offset, size, pDestination)
                        : VK_ERROR_VALIDATION_FAILED_EXT;
}
