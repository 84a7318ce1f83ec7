/*
 * One way in and out for every allocation: arguments are looked at, what is plain is placed at
 * once, the rest goes through allocate_rounds.c; then mapping, names and counts; and all of it
 * backwards.
 */
#include "core/memory/memory_internal.h"

#include <stdio.h>
#include <string.h>

/* All of MaarAllocationCreateFlagBits. */
#define KNOWN_ALLOCATION_FLAGS ((MaarAllocationCreateFlags)0x7F)

const MaarAllocationCreateInfo maar_default_create_info = {
    .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
};

/* Whether a request fits a pool as it is: shape_for_pool (allocate_rounds.c) would change nothing.
 */
static inline bool has_shape_for_pool(const struct maar_place_request* general,
                                      const struct maar_pool* pool)
{
    return pool->plain && (general->kind != MAAR_RESOURCE_KIND_UNKNOWN ||
                           (general->alignment & (pool->granularity - 1)) == 0);
}

/* Takes back the mapping and the bytes, then the name. */
static void undress_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                         enum maar_slot_end end)
{
    while (slot->map_count > 0 && maar_block_unmap(slot->block, slot, 0)) {
    }
    maar_host_free(allocator->callbacks, maar_pool_free_slot(slot, index, end));
}

void maar_release_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (slot->map_count > 0) {
        undress_slot(allocator, slot, index, MAAR_SLOT_END_LIVE);
        return;
    }
    char* name = maar_pool_free_live(slot, index);
    if (name != NULL) {
        maar_host_free(allocator->callbacks, name);
    }
}

void maar_release_pending(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    struct maar_pool* pool = slot->block->pool;
    /* Another thread may be waiting for this very allocation to end before it destroys the pool. */
    maar_pool_hold(allocator, pool);
    undress_slot(allocator, slot, index, MAAR_SLOT_END_PENDING);
    maar_pool_leave(allocator, pool);
}

/* Takes back an allocation that came to nothing, and what it decided for its pool. */
static void undo_slot(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    if (!slot->stitched) {
        maar_pool_disclaim_kind(slot->block->pool, (MaarResourceKind)slot->kind);
    }
    undress_slot(allocator, slot, index, MAAR_SLOT_END_UNDONE);
}

void maar_undo_allocation(MaarAllocator allocator, MaarAllocation allocation)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, allocation, &index);
    if (slot != NULL && maar_slot_claim(slot, allocation)) {
        (void)maar_atomic64_sub(&allocator->fallbacks, slot->fallback ? 1 : 0);
        (void)maar_atomic64_sub(&allocator->over_budget, slot->exceeded ? 1 : 0);
        (void)maar_atomic64_add(&allocator->failures, 1);
        undo_slot(allocator, slot, index);
    }
}

void maar_note_fallback(MaarAllocator allocator, MaarAllocation allocation)
{
    uint32_t index = 0;
    struct maar_slot* slot = maar_slot_resolve(&allocator->slots, allocation, &index);
    if (slot == NULL) {
        return;
    }
    struct maar_arena* arena = slot->block->arena;
    maar_mutex_lock(&arena->lock);
    const bool noted = slot->fallback;
    slot->fallback = true;
    maar_mutex_unlock(&arena->lock);
    (void)maar_atomic64_add(&allocator->fallbacks, noted ? 0 : 1);
}

/* What is wrong with a create info whatever it is for. Sentences begin with "pCreateInfo". */
static inline const char* find_create_info_fault(const MaarAllocationCreateInfo* info,
                                                 MaarAllocationCreateFlags known)
{
    if ((info->flags & ~known) != 0) {
        return "pCreateInfo->flags has bits that are no MaarAllocationCreateFlagBits";
    }
    if ((uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY) {
        return "pCreateInfo->usage is not a MaarMemoryUsage";
    }
    if ((uint32_t)info->dedicated > MAAR_DEDICATED_PREFERRED) {
        return "pCreateInfo->dedicated is not a MaarDedicated";
    }
    return info->priority >= 0.0F && info->priority <= 1.0F
               ? NULL
               : "pCreateInfo->priority is not within 0 and 1";
}

VkResult maar_check_create_info(MaarAllocator allocator, const char* call, const char* argument,
                                const MaarAllocationCreateInfo* info)
{
    char text[128];
    const char* fault = find_create_info_fault(info, KNOWN_ALLOCATION_FLAGS);
    if (fault == NULL) {
        return VK_SUCCESS;
    }
    (void)snprintf(text, sizeof text, "%s%s", argument, fault + strlen("pCreateInfo"));
    return maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_ARGUMENT, call, text);
}

static const char* find_request_fault(const MaarMemoryRequest* request,
                                      const MaarAllocationCreateInfo* info, bool internal)
{
    if (request->requirements.size == 0) {
        return "pRequest->requirements.size is 0";
    }
    if ((uint32_t)request->kind > MAAR_RESOURCE_KIND_OPTIMAL) {
        return "pRequest->kind is not a MaarResourceKind";
    }
    if (request->dedicatedBuffer != VK_NULL_HANDLE && request->dedicatedImage != VK_NULL_HANDLE) {
        return "pRequest names both a dedicatedBuffer and a dedicatedImage";
    }
    const MaarAllocationCreateFlags known =
        internal ? KNOWN_ALLOCATION_FLAGS | MAAR_ALLOCATE_AS_TRIAL | MAAR_ALLOCATE_WITHOUT_REPORT
                 : KNOWN_ALLOCATION_FLAGS;
    const char* fault = find_create_info_fault(info, known);
    if (fault != NULL) {
        return fault;
    }
    const MaarExportInfo* export = maar_export_find(info->pNext);
    if (export != NULL && export->handleTypes == 0) {
        return "MaarExportInfo::handleTypes is 0";
    }
    if (request->requiresDedicated == VK_TRUE && info->dedicated == MAAR_DEDICATED_NEVER) {
        return "pCreateInfo->dedicated is NEVER, but the driver requires a dedicated allocation";
    }
    return NULL;
}

MAAR_NOINLINE void report_deviation(MaarAllocator allocator, const struct maar_slot* slot,
                                    const struct maar_deviation* deviation)
{
    const uint32_t type = slot->block->pool->type_index;
    if (deviation->fallback) {
        (void)maar_atomic64_add(&allocator->fallbacks, 1);
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_UNSORTED, NULL,
                    "%llu bytes went to memory type %u, since type %u of heap %u has no room",
                    (unsigned long long)maar_slot_size(slot), type, deviation->best_type,
                    maar_type_heap(allocator, deviation->best_type));
    }
    if (deviation->exceeded) {
        maar_report_over_budget(allocator, maar_type_heap(allocator, type), maar_slot_size(slot));
    }
}

/* What is wrong with the arguments, told. */
MAAR_NOINLINE VkResult refuse_arguments(MaarAllocator allocator, const char* call,
                                        const MaarMemoryRequest* request,
                                        const MaarAllocationCreateInfo* info, bool internal)
{
    VkResult result = maar_check_structure(allocator, call, "pRequest", request,
                                           MAAR_STRUCTURE_TYPE_MEMORY_REQUEST);
    if (result == VK_SUCCESS) {
        result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                      MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO);
    }
    return result == VK_SUCCESS ? maar_misuse(allocator, MAAR_MESSAGE_ID_INVALID_ARGUMENT, call,
                                              find_request_fault(request, info, internal))
                                : result;
}

static inline bool are_arguments_fine(const MaarMemoryRequest* request,
                                      const MaarAllocationCreateInfo* info, bool internal)
{
    return request != NULL && request->sType == MAAR_STRUCTURE_TYPE_MEMORY_REQUEST &&
           info->sType == MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO &&
           find_request_fault(request, info, internal) == NULL;
}

/* What the request wants of any memory type; false when it leaves all bounds. */
static inline bool shape(const MaarMemoryRequest* request, const MaarAllocationCreateInfo* info,
                         bool internal, struct maar_place_request* place)
{
    const bool can_alias = (info->flags & MAAR_ALLOCATION_CREATE_CAN_ALIAS_BIT) != 0;
    place->size = request->requirements.size;
    place->alignment = maar_common_multiple(request->requirements.alignment, info->minAlignment,
                                            MAAR_RANGE_MAX_SIZE);
    place->shown_kind = request->kind;
    /* What may be aliased may become anything. */
    place->kind = can_alias ? MAAR_RESOURCE_KIND_UNKNOWN : request->kind;
    place->upper = (info->flags & MAAR_ALLOCATION_CREATE_UPPER_BIT) != 0;
    place->can_alias = can_alias;
    place->internal = internal;
    place->user_data = info->pUserData;
    place->name = NULL;
    return place->alignment != 0 && place->size < MAAR_RANGE_MAX_SIZE;
}

/* The type of a ranking that is liked best for a request; VK_MAX_MEMORY_TYPES if none serves. */
static inline uint32_t first_type(const struct maar_ranking* ranking,
                                  const MaarMemoryRequest* request)
{
    const uint32_t bits = request->requirements.memoryTypeBits;
    for (uint32_t i = 0; i < ranking->count; ++i) {
        if ((bits & (1u << ranking->types[i])) != 0) {
            return ranking->types[i];
        }
    }
    return VK_MAX_MEMORY_TYPES;
}

/* The rare last step: maps for life. On failure everything is undone but the counting. */
MAAR_NOINLINE VkResult map_for_life(MaarAllocator allocator, const struct maar_made* made)
{
    void* data = NULL;
    made->slot->mapped_for_life = true;
    VkResult result = maar_block_map(made->slot->block, made->slot, &data);
    if (result != VK_SUCCESS) {
        undo_slot(allocator, made->slot, made->index);
    }
    return result;
}

/* Anything but what allocate_plain does. */
MAAR_NOINLINE VkResult allocate_any(MaarAllocator allocator, const char* call,
                                    const MaarMemoryRequest* request,
                                    const MaarAllocationCreateInfo* info, bool internal,
                                    MaarAllocation* allocation)
{
    if (!are_arguments_fine(request, info, internal)) {
        return refuse_arguments(allocator, call, request, info, internal);
    }
    struct maar_place_request general;
    struct maar_made made;
    struct maar_deviation deviation = {.fallback = false};
    VkResult result = VK_SUCCESS;
    if (!shape(request, info, internal, &general)) {
        result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        maar_report(maar_is_without_report(info) ? NULL : allocator, MAAR_MESSAGE_SEVERITY_WARNING,
                    MAAR_MESSAGE_ID_UNSORTED, call,
                    "no memory for %llu bytes aligned to %llu: no device has so much",
                    (unsigned long long)request->requirements.size,
                    (unsigned long long)request->requirements.alignment);
    } else if (info->pName != NULL) {
        general.name = maar_copy_string(allocator->callbacks, info->pName);
        result = general.name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        result =
            maar_allocate_in_rounds(allocator, call, request, info, &general, &made, &deviation);
        if (result != VK_SUCCESS) {
            maar_host_free(allocator->callbacks, general.name);
        }
    }
    if (result == VK_SUCCESS && (info->flags & MAAR_ALLOCATION_CREATE_MAPPED_BIT) != 0) {
        result = map_for_life(allocator, &made);
    }
    if (result != VK_SUCCESS) {
        (void)maar_atomic64_add(&allocator->failures, maar_is_trial(info) ? 0 : 1);
        return result;
    }
    struct maar_slot* slot = made.slot;
    if (deviation.fallback || deviation.exceeded) {
        slot->fallback = deviation.fallback;
        slot->exceeded = deviation.exceeded;
        report_deviation(allocator, slot, &deviation);
    }
    *allocation = maar_made_publish(&made);
    return VK_SUCCESS;
}

/*
 * Nearly all requests: a create info that says nothing but usage, required flags and user data, a
 * request that is in order, and a block with room in the pool of the type liked best. A few sums of
 * bits tell that all of it is so; for whatever is not, or does not work out, allocate_any starts
 * anew.
 */
static inline bool allocate_plain(MaarAllocator allocator, const MaarMemoryRequest* request,
                                  const MaarAllocationCreateInfo* info, bool internal,
                                  MaarAllocation* allocation)
{
    const VkDeviceSize size = request->requirements.size;
    const VkDeviceSize alignment = request->requirements.alignment;
    uint32_t priority = 0; /* its bits: those of 0 are 0 */
    memcpy(&priority, &info->priority, sizeof priority);
    const uint32_t words = info->flags | (uint32_t)info->dedicated | info->preferredFlags |
                           info->memoryTypeBits | priority | request->prefersDedicated |
                           request->requiresDedicated;
    const uint64_t longs = info->minAlignment | (uint64_t)(uintptr_t)info->pool |
                           (uint64_t)(uintptr_t)info->pName | (uint64_t)(uintptr_t)info->pNext;
    if ((words | longs) != 0 || request->dedicatedImage != VK_NULL_HANDLE ||
        (uint32_t)info->usage > MAAR_MEMORY_USAGE_FLAGS_ONLY ||
        (uint32_t)request->kind > MAAR_RESOURCE_KIND_OPTIMAL) {
        return false;
    }
    /* Powers of two alone: (x ^ (x - 1)) of any other number is below x. */
    if (size == 0 || alignment - 1 >= MAAR_RANGE_MAX_SIZE ||
        (alignment ^ (alignment - 1)) < alignment) {
        return false;
    }
    const struct maar_ranking* ranking = maar_ranking_find(allocator, info);
    const uint32_t type = ranking != NULL ? first_type(ranking, request) : VK_MAX_MEMORY_TYPES;
    if (type == VK_MAX_MEMORY_TYPES) {
        return false;
    }
    const struct maar_place_request place = {
        .size = size,
        .alignment = alignment,
        .kind = request->kind,
        .shown_kind = request->kind,
        .internal = internal,
        .user_data = info->pUserData,
    };
    const uint32_t number = allocator->kinds_apart ? (uint32_t)request->kind : 0;
    struct maar_pool* pool = maar_atomic_pointer_load(&allocator->default_pools[type][number]);
    struct maar_made made;
    if (pool == NULL || size >= pool->preferred_size / 2 || !has_shape_for_pool(&place, pool) ||
        maar_pool_place(pool, &place, false, &made) != VK_SUCCESS) {
        return false;
    }
    *allocation = maar_made_publish(&made);
    return true;
}

VkResult maar_allocate(MaarAllocator allocator, const char* call, const MaarMemoryRequest* request,
                       const MaarAllocationCreateInfo* info, bool internal,
                       MaarAllocation* allocation)
{
    *allocation = VK_NULL_HANDLE;
    info = info != NULL ? info : &maar_default_create_info;
    if (request != NULL && request->sType == MAAR_STRUCTURE_TYPE_MEMORY_REQUEST &&
        info->sType == MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO &&
        allocate_plain(allocator, request, info, internal, allocation)) {
        return VK_SUCCESS;
    }
    return allocate_any(allocator, call, request, info, internal, allocation);
}
