/*
 * The fast path of an allocation, and the steps before and after the slow path. maar_allocate
 * serves nearly all requests at once: those that resemble an earlier one by a few inline steps
 * (arena_fast.h), other plain ones by a search for their pool. It checks any other request in full
 * and passes it to allocate_slow.c. After the slow path, the memory is mapped if the request asks
 * for that, and failures are counted.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_failure.h"

#include <string.h>

#include "core/memory/allocation_check.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/arena_fast.h"
#include "core/memory/captured_slot.h"
#include "core/memory/default_pool.h"
#include "core/memory/mapping.h"
#include "core/memory/margin.h"
#include "core/memory/margin_size.h"
#include "core/memory/ordered_use.h"
#include "core/memory/slot_home.h"

/* Whether a pool can place a request unchanged, because shape_for_pool (allocate_slow.c) would
 * change nothing. */
static inline bool has_shape_for_pool(const struct maar_place_request* general,
                                      const struct maar_pool* pool)
{
    return pool->plain && (general->kind != MAAR_RESOURCE_KIND_UNKNOWN ||
                           (general->alignment & (pool->granularity - 1)) == 0);
}

MAAR_NOINLINE void report_deviation(MaarAllocator allocator, const char* call,
                                    const struct maar_made* made,
                                    const struct maar_deviation* deviation)
{
    const struct maar_slot* slot = made->slot;
    const VkDeviceSize size = maar_slot_bytes(allocator, slot).size;
    const uint32_t type = maar_slot_block(allocator, slot)->pool->type_index;
    const char* name = maar_slot_name(slot, made->index);
    if (deviation->fallback) {
        const struct maar_fallback fallback = {
            .call = call,
            .name = name,
            .size = size,
            .type = type,
            .preferred = deviation->best_type,
        };
        maar_report_fallback(allocator, &fallback);
    }
    if (deviation->exceeded) {
        maar_report_over_budget(allocator, call, name, maar_type_heap(allocator, type), size);
    }
}

/* Fills in what the request needs in any memory type. Returns false when the size or the alignment
 * is out of bounds. */
static inline bool shape(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                         bool internal, struct maar_place_request* place)
{
    const bool can_alias = (info->flags & MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT) != 0;
    place->size = request->requirements.size;
    place->alignment = maar_common_multiple(request->requirements.alignment, info->minAlignment,
                                            MAAR_RANGE_MAX_SIZE);
    place->shown_kind = request->kind;
    /* Memory that may be aliased may hold resources of any kind. */
    place->kind = can_alias ? MAAR_RESOURCE_KIND_UNKNOWN : request->kind;
    place->upper = (info->flags & MAAR_ALLOCATION_CREATE_UPPER_BIT) != 0;
    place->lowest = (info->flags & MAAR_ALLOCATION_CREATE_LOWEST_BIT) != 0;
    place->tightly = place->lowest || (info->flags & MAAR_ALLOCATION_CREATE_TIGHTEST_BIT) != 0;
    place->apart = false;
    place->can_alias = can_alias;
    place->internal = internal;
    place->user_data = info->pUserData;
    place->name = NULL;
    return place->alignment != 0 && place->size < MAAR_RANGE_MAX_SIZE;
}

/* Whether a new allocation is mapped until it ends. */
static bool is_to_be_mapped(MaarAllocator allocator, const MaarAllocationCreateInfo* info,
                            const struct maar_made* made)
{
    const uint32_t type = maar_slot_block(allocator, made->slot)->pool->type_index;
    const bool visible =
        (maar_type_flags(allocator, type) & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0;
    return (info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0 ||
           ((info->flags & MAAR_ALLOCATION_CREATE_MAPPED_IF_VISIBLE_BIT) != 0 && visible);
}

/* Maps the memory of a new allocation until it ends, if that is wanted, and fills its margin. On
 * failure undoes the allocation; the caller counts the failure. */
MAAR_NOINLINE VkResult prepare_memory(MaarAllocator allocator, const MaarAllocationCreateInfo* info,
                                      const struct maar_made* made)
{
    void* data = NULL;
    VkResult result = VK_SUCCESS;
    if (is_to_be_mapped(allocator, info, made)) {
        result = maar_slot_map_for_life(allocator, NULL, made->slot, &data);
    }
    if (result == VK_SUCCESS && allocator->compares_margins) {
        result = maar_margin_fill(allocator, made);
    }
    if (result != VK_SUCCESS) {
        maar_undo_slot(allocator, made->slot, made->index);
    }
    return result;
}

/* Allocates with every check and option that allocate_fast leaves out. own: not NULL if the
 * allocation is Maar's own; see maar_allocate_own. */
MAAR_NOINLINE VkResult allocate_with_checks(MaarAllocator allocator, const char* call,
                                            const MaarMemoryRequest* request,
                                            const MaarAllocationCreateInfo* info,
                                            struct maar_patience* own, MaarAllocation* allocation)
{
    const bool internal = own != NULL;
    struct maar_patience patience = maar_patience_begin();
    struct maar_place_request general;
    struct maar_made made;
    struct maar_deviation deviation = {.fallback = false};
    VkResult result = maar_check_allocation(allocator, call, request, info, internal);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (!shape(request, info, internal, &general)) {
        const VkDeviceSize alignment = request->requirements.alignment > info->minAlignment
                                           ? request->requirements.alignment
                                           : info->minAlignment;
        result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        maar_report(maar_is_without_report(info) ? NULL : allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                    MAAR_MESSAGE_ID_TOO_LARGE_FOR_DEVICE, call,
                    "no memory for %s aligned to %llu: no device has that much memory",
                    maar_show_bytes(request->requirements.size).text,
                    (unsigned long long)alignment);
    } else if (info->pName != NULL) {
        general.name = maar_copy_string(allocator->callbacks, info->pName);
        result = general.name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const uint32_t wait_count = maar_ordered_count_waits(info);
    if (result == VK_SUCCESS) {
        result = maar_allocate_slowly(allocator, call, request, info, &general,
                                      internal ? own : &patience, &made, &deviation);
        if (result != VK_SUCCESS) {
            maar_host_free(allocator->callbacks, general.name);
        }
    }
    if (result == VK_SUCCESS) {
        result = prepare_memory(allocator, info, &made);
    }
    if (result != VK_SUCCESS) {
        maar_ordered_restore_waits(info, wait_count);
        (void)maar_atomic64_add(&allocator->failures, maar_counts_failure(info) ? 1 : 0);
        return result;
    }
    struct maar_slot* slot = made.slot;
    if (deviation.fallback || deviation.exceeded) {
        slot->fallback = deviation.fallback;
        slot->exceeded = deviation.exceeded;
        report_deviation(allocator, call, &made, &deviation);
    }
    *allocation = maar_made_publish(&made);
    return VK_SUCCESS;
}

/* Whether a request needs no dedicated memory, and its create info, unless that is NULL, sets
 * nothing but usage, required flags and user data. To save branches, the members that must be 0 are
 * combined with OR and tested together. Usage and kind may still be no value of their type. */
MAAR_INLINE bool is_plain(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info)
{
    uint32_t words = request->prefersDedicated | request->requiresDedicated;
    uint64_t longs = 0;
    if (info != NULL) {
        uint32_t priority = 0; /* the bits of the float: 0 stands for 0.0 */
        memcpy(&priority, &info->priority, sizeof priority);
        words |= info->flags | (uint32_t)info->dedicated | info->preferredFlags |
                 info->memoryTypeBits | priority;
        longs = info->minAlignment | (uint64_t)(uintptr_t)info->pool |
                (uint64_t)(uintptr_t)info->pName | (uint64_t)(uintptr_t)info->pNext;
    }
    return (words | longs) == 0 && request->dedicatedImage == VK_NULL_HANDLE;
}

/*
 * Serves a plain request that is valid and small, if a block in the default pool of the preferred
 * type has room for it. Keeps the choice of the pool for the next request. Returns false if a check
 * or the placement fails; allocate_with_checks then starts from the beginning.
 */
MAAR_NOINLINE bool allocate_plain(MaarAllocator allocator, const MaarMemoryRequest* request,
                                  const MaarAllocationCreateInfo* info, MaarAllocation* allocation)
{
    const VkDeviceSize size = request->requirements.size;
    const VkDeviceSize alignment = request->requirements.alignment;
    if ((uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY ||
        (uint32_t)request->kind > MAAR_RESOURCE_KIND_OPTIMAL) {
        return false;
    }
    /* Only a power of two passes the last test: for any other x, (x ^ (x - 1)) is below x. */
    if (size == 0 || alignment - 1 >= MAAR_RANGE_MAX_SIZE ||
        (alignment ^ (alignment - 1)) < alignment) {
        return false;
    }
    const struct maar_ranking* ranking =
        maar_ranking_find(&allocator->rankings, &allocator->device.facts, info);
    const uint32_t type = ranking != NULL
                              ? maar_ranking_first(ranking, request->requirements.memoryTypeBits)
                              : VK_MAX_MEMORY_TYPES;
    if (type == VK_MAX_MEMORY_TYPES) {
        return false;
    }
    const struct maar_place_request place = {
        .size = size,
        .alignment = alignment,
        .kind = request->kind,
        .shown_kind = request->kind,
        .user_data = info->pUserData,
    };
    const uint32_t number = maar_default_pool_number(allocator, request->kind);
    struct maar_pool* pool = maar_atomic_pointer_load(&allocator->default_pools[type][number]);
    struct maar_made made;
    if (allocator->has_default_exports || pool == NULL || size >= pool->preferred_size / 2 ||
        !has_shape_for_pool(&place, pool) ||
        maar_pool_place(pool, &place, false, &made) != MAAR_POOL_PLACED) {
        return false;
    }
    maar_fast_choice_keep(allocator->fast_choices, request, info, pool);
    *allocation = maar_made_publish(&made);
    return true;
}

/* Does what is left of an allocation when the fast path has not served it. spot: NULL if the caller
 * binds no object. */
MAAR_NOINLINE VkResult allocate_otherwise(MaarAllocator allocator, const char* call,
                                          const MaarMemoryRequest* request,
                                          const MaarAllocationCreateInfo* info,
                                          MaarAllocation* allocation, struct maar_spot* spot)
{
    *allocation = VK_NULL_HANDLE;
    const bool has_types = request != NULL &&
                           request->sType == MAAR_STRUCTURE_TYPE_MEMORY_REQUEST &&
                           info->sType == MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO;
    const VkResult result =
        has_types && is_plain(request, info) && allocate_plain(allocator, request, info, allocation)
            ? VK_SUCCESS
            : allocate_with_checks(allocator, call, request, info, NULL, allocation);
    if (result == VK_SUCCESS && spot != NULL) {
        *spot = maar_slot_spot(allocator, maar_slot_of_own(allocator, *allocation));
    }
    return result;
}

/* Records an allocation. Returns VK_SUCCESS, so that the fast path ends with this call. */
MAAR_NOINLINE VkResult capture_made(MaarAllocator allocator, const MaarMemoryRequest* request,
                                    const MaarAllocation* allocation)
{
    maar_capture_allocation(allocator, *allocation, &request->requirements);
    return VK_SUCCESS;
}

/* Whether the fast path serves a request. */
MAAR_INLINE bool allocate_at_once(MaarAllocator allocator, const MaarMemoryRequest* request,
                                  const MaarAllocationCreateInfo* info, MaarAllocation* allocation,
                                  struct maar_spot* spot)
{
    if (request == NULL || request->sType != MAAR_STRUCTURE_TYPE_MEMORY_REQUEST) {
        return false;
    }
    if (info != NULL && info->sType != MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO) {
        return false;
    }
    if (!is_plain(request, info)) {
        return false;
    }
    info = info != NULL ? info : &maar_default_create_info;
    return maar_allocate_from_known_pool(allocator, request, info, allocation, spot);
}

VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, MaarAllocation* allocation)
{
    if (!allocate_at_once(allocator, request, info, allocation, NULL)) {
        info = info != NULL ? info : &maar_default_create_info;
        const VkResult result =
            allocate_otherwise(allocator, call, request, info, allocation, NULL);
        if (result != VK_SUCCESS) {
            return result;
        }
    }
    return maar_may_capture(allocator) ? capture_made(allocator, request, allocation) : VK_SUCCESS;
}

VkResult maar_allocate_for_object(MaarAllocator allocator, const char* call,
                                  const MaarMemoryRequest* request,
                                  const MaarAllocationCreateInfo* info, MaarAllocation* allocation,
                                  struct maar_spot* spot)
{
    if (allocate_at_once(allocator, request, info, allocation, spot)) {
        return VK_SUCCESS;
    }
    info = info != NULL ? info : &maar_default_create_info;
    return allocate_otherwise(allocator, call, request, info, allocation, spot);
}

VkResult maar_allocate_own(MaarAllocator allocator, const char* call,
                           const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                           struct maar_patience* patience, MaarAllocation* allocation)
{
    *allocation = VK_NULL_HANDLE;
    return allocate_with_checks(allocator, call, request, info, patience, allocation);
}
