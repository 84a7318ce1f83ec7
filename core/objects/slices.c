/*
 * The public calls on slices: their handles, the rules for their create infos, and their counts.
 * slice_arena.c places slices, and slice_buffer.c makes their buffers. An empty buffer is released
 * when its shelf has another empty buffer.
 */
#include <stdio.h>

#include "core/bound_check.h"
#include "core/memory/pool.h"
#include "core/objects/slice_arena.h"

/* The allocation flags that a buffer of many slices can have. */
#define SLICE_ALLOCATION_FLAGS                                                                     \
    ((MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT |                         \
     (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT |                        \
     (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT |                           \
     (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_AVOIDED_TYPES_BIT)

static VkDeviceSize usage_alignment(MaarAllocator allocator, VkBufferUsageFlags usage)
{
    const VkPhysicalDeviceLimits* limits = &allocator->device.facts.properties.limits;
    const VkBufferUsageFlags uniform = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT;
    const VkBufferUsageFlags storage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const VkBufferUsageFlags texel = (VkBufferUsageFlags)VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                                     (VkBufferUsageFlags)VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
    VkDeviceSize alignment = 4; /* copies and index buffers of 32 bits need this */
    if ((usage & uniform) != 0 && limits->minUniformBufferOffsetAlignment > alignment) {
        alignment = limits->minUniformBufferOffsetAlignment;
    }
    if ((usage & storage) != 0 && limits->minStorageBufferOffsetAlignment > alignment) {
        alignment = limits->minStorageBufferOffsetAlignment;
    }
    if ((usage & texel) != 0 && limits->minTexelBufferOffsetAlignment > alignment) {
        alignment = limits->minTexelBufferOffsetAlignment;
    }
    return alignment < 16 ? 16 : alignment; /* a shader's largest scalar block alignment */
}

/* Fills in size and alignment. Neighbours in non-coherent memory must not share an atom
 * (nonCoherentAtomSize). The memory type is not known yet, so this rule applies if the device has
 * any non-coherent type. */
static void shape_slice(MaarAllocator allocator, const MaarSliceCreateInfo* info,
                        struct maar_slice_job* job)
{
    job->info = info;
    job->size = info->size;
    job->alignment = maar_common_multiple(usage_alignment(allocator, info->usage), info->alignment,
                                          MAAR_RANGE_MAX_SIZE);
    uint32_t types = allocator->device.facts.memory.memoryTypeCount;
    for (uint32_t i = 0; i < types; ++i) {
        if (maar_type_is_noncoherent(allocator, i)) {
            job->alignment = maar_common_multiple(job->alignment, allocator->device.facts.atom,
                                                  MAAR_RANGE_MAX_SIZE);
            job->size = maar_align_up(job->size, allocator->device.facts.atom);
            return;
        }
    }
}

/* Reports which bound a create info breaks. */
MAAR_NOINLINE VkResult refuse_slice_bounds(MaarAllocator allocator, const char* call,
                                           const MaarSliceCreateInfo* info)
{
    const uint32_t families = allocator->device.facts.queue_family_count;
    const MaarAllocationCreateFlags unknown = info->allocationFlags & ~SLICE_ALLOCATION_FLAGS;
    const struct maar_bound bounds[] = {
        {info->size > MAAR_MAX_SLICE_SIZE, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->size is above MAAR_MAX_SLICE_SIZE",
         MAAR_SHOW_BYTES(info->size, MAAR_MAX_SLICE_SIZE)},
        {info->alignment > MAAR_MAX_SLICE_ALIGNMENT, MAAR_MESSAGE_ID_INVALID_ALIGNMENT,
         "pCreateInfo->alignment is above MAAR_MAX_SLICE_ALIGNMENT",
         MAAR_SHOW_LIMIT(info->alignment, MAAR_MAX_SLICE_ALIGNMENT)},
        {(uint32_t)info->memoryUsage > MAAR_MEMORY_USAGE_FLAGS_ONLY, MAAR_MESSAGE_ID_INVALID_ENUM,
         "pCreateInfo->memoryUsage is not a MaarMemoryUsage",
         MAAR_SHOW_NUMBER((uint32_t)info->memoryUsage)},
        {unknown != 0, MAAR_MESSAGE_ID_UNKNOWN_FLAGS,
         "pCreateInfo->allocationFlags has flags that slices do not support",
         MAAR_SHOW_BITS(unknown)},
        {true, MAAR_MESSAGE_ID_OUT_OF_RANGE,
         "pCreateInfo->queueFamilyBits names queue families that the device does not have",
         MAAR_SHOW_BITS((uint64_t)info->queueFamilyBits >> families << families)},
        {0},
    };
    return maar_check_bounds(allocator, call, bounds);
}

static VkResult check_slice_info(MaarAllocator allocator, const char* call,
                                 const MaarSliceCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_device_facts* facts = &allocator->device.facts;
    const bool has_address = (info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0;
    const bool is_within = info->size <= MAAR_MAX_SLICE_SIZE &&
                           info->alignment <= MAAR_MAX_SLICE_ALIGNMENT &&
                           (uint32_t)info->memoryUsage <= MAAR_MEMORY_USAGE_FLAGS_ONLY &&
                           (info->allocationFlags & ~SLICE_ALLOCATION_FLAGS) == 0 &&
                           (uint64_t)info->queueFamilyBits >> facts->queue_family_count == 0;
    const struct maar_rule rules[] = {
        {info->size == 0, MAAR_MESSAGE_ID_ZERO_SIZE, "pCreateInfo->size is 0"},
        {info->usage == 0, MAAR_MESSAGE_ID_EMPTY_FLAGS, "pCreateInfo->usage is 0"},
        {has_address && !facts->buffer_device_address, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED,
         "pCreateInfo->usage has SHADER_DEVICE_ADDRESS, but the bufferDeviceAddress feature was "
         "not among pEnabledFeatures"},
        {0},
    };
    result = maar_check_rules(allocator, call, rules);
    return result == VK_SUCCESS && !is_within ? refuse_slice_bounds(allocator, call, info) : result;
}

/* ---- the state ---- */

static void destroy_slices(MaarAllocator allocator, void* opaque)
{
    struct maar_slice_state* state = opaque;
    struct maar_leaked_slices leaked = {.count = 0};
    struct maar_slice_arena* arena = maar_slice_next_arena(state, 0);
    while (arena != NULL) {
        struct maar_slice_arena* next = maar_slice_next_arena(state, arena->number + 1);
        maar_slice_arena_end(allocator, arena, &leaked);
        if (arena != &state->first_arena) {
            maar_host_free(allocator->callbacks, arena);
        }
        arena = next;
    }
    maar_arena_set_destroy(&state->arenas);
    if (leaked.count > 0) {
        maar_report(allocator, MAAR_MESSAGE_SEVERITY_WARNING, MAAR_MESSAGE_ID_LEAK, NULL,
                    "leak: %u slice%s, of %s%s, %s never destroyed", leaked.count,
                    leaked.count == 1 ? "" : "s", maar_show_bytes(leaked.size).text,
                    leaked.count == 1 ? "" : " together", leaked.count == 1 ? "was" : "were");
    }
    maar_slots_destroy(&state->slots);
    maar_host_free(allocator->callbacks, state);
}

static VkDeviceSize trim_slices(MaarAllocator allocator, void* opaque, const struct maar_pool* pool,
                                uint32_t heaps, uint64_t emptied_by)
{
    VkDeviceSize released = 0;
    (void)pool; /* slices live in default pools */
    const struct maar_slice_state* state = opaque;
    struct maar_slice_arena* arena = maar_slice_next_arena(state, 0);
    while (arena != NULL) {
        maar_mutex_lock(&arena->lock);
        struct maar_slice_buffer* home = NULL;
        for (struct maar_slice_shelf* shelf = arena->shelves; shelf != NULL && home == NULL;
             shelf = shelf->next) {
            home = maar_slice_pick_empty(allocator, shelf, heaps, emptied_by, 0);
        }
        maar_mutex_unlock(&arena->lock);
        if (home != NULL) {
            released += home->size;
            maar_slice_buffer_destroy(allocator, "the end of an empty buffer of slices", home);
        } else {
            arena = maar_slice_next_arena(state, arena->number + 1);
        }
    }
    return released;
}

static void count_slices(void* opaque, MaarStatistics* statistics)
{
    const struct maar_slice_state* state = opaque;
    statistics->sliceCount = 0;
    statistics->sliceBytes = 0;
    statistics->pendingSliceCount = 0;
    statistics->pendingSliceBytes = 0;
    statistics->sliceBufferCount = 0;
    statistics->sliceBufferBytes = 0;
    for (struct maar_slice_arena* arena = maar_slice_next_arena(state, 0); arena != NULL;
         arena = maar_slice_next_arena(state, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        statistics->sliceCount += arena->live_count;
        statistics->sliceBytes += arena->live_bytes;
        statistics->pendingSliceCount += arena->pending_count;
        statistics->pendingSliceBytes += arena->pending_bytes;
        for (const struct maar_slice_shelf* shelf = arena->shelves; shelf != NULL;
             shelf = shelf->next) {
            statistics->sliceBufferCount += shelf->buffer_count;
            statistics->sliceBufferBytes += shelf->buffer_bytes;
        }
        maar_mutex_unlock(&arena->lock);
    }
}

/* Makes a state without slices. Returns NULL if host memory is short or no mutex can be made. */
static struct maar_slice_state* make_slices(MaarAllocator allocator)
{
    const bool synchronized = maar_is_synchronized(allocator);
    struct maar_slice_state* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (!maar_slots_init(&made->slots, allocator->callbacks, allocator->first_slice_key,
                         synchronized)) {
        goto free_state;
    }
    if (!maar_arena_set_init(&made->arenas, &made->first_arena, MAAR_LOCK_SLICES, synchronized)) {
        goto destroy_slots;
    }
    if (maar_slice_arena_init(&made->first_arena, 0, synchronized)) {
        return made;
    }
    maar_arena_set_destroy(&made->arenas);
destroy_slots:
    maar_slots_destroy(&made->slots);
free_state:
    maar_host_free(allocator->callbacks, made);
    return NULL;
}

/* Returns the state. The first call makes the state. */
static VkResult open_slices(MaarAllocator allocator, struct maar_slice_state** out)
{
    *out = maar_atomic_pointer_load(&allocator->slices.state);
    if (*out != NULL) {
        return VK_SUCCESS;
    }
    struct maar_slice_state* made = make_slices(allocator);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    maar_mutex_lock(&allocator->list_lock);
    *out = maar_atomic_pointer_load(&allocator->slices.state);
    if (*out == NULL) {
        allocator->slices.destroy = destroy_slices;
        allocator->slices.trim = trim_slices;
        allocator->slices.count = count_slices;
        maar_atomic_pointer_store(&allocator->slices.state, made);
        *out = made;
        made = NULL;
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (made != NULL) {
        destroy_slices(allocator, made); /* another thread has made it */
    }
    return VK_SUCCESS;
}

/* Makes a placed slice live and returns its handle. The arena of its buffer is locked. */
static MaarSlice publish_slice(struct maar_slice_state* state, struct maar_slice_arena* arena,
                               uint32_t index, const struct maar_slice_job* job)
{
    struct maar_slot* slot = maar_slot_at(&state->slots, index);
    uint32_t key = maar_atomic32_load(&slot->key) + 1u;
    slot->node = job->range.node;
    slot->home = job->home;
    *maar_slot_extra(slot, index) =
        (struct maar_slot_extra){.user_data = job->info->pUserData, .slice_size = job->info->size};
    ++arena->live_count;
    arena->live_bytes += job->info->size;
    maar_atomic32_store_release(&slot->key, key);
    return MAAR_FROM_BITS(MaarSlice, maar_handle_make(index, key));
}

/* Puts the slot back for the next slice of the arena. */
static void return_slice_slot(struct maar_slice_state* state, struct maar_slice_arena* arena,
                              uint32_t index)
{
    maar_slots_put(&state->slots, &arena->free_slots, maar_slot_at(&state->slots, index), index);
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateSlice(MaarAllocator allocator,
                                               const MaarSliceCreateInfo* pCreateInfo,
                                               MaarSlice* pSlice)
{
    const struct maar_output outputs[] = {
        {"pSlice", pSlice, sizeof *pSlice},
        {0},
    };
    VkResult result = maar_enter_outputs(allocator, __func__, outputs);
    if (result != VK_SUCCESS) {
        return result;
    }
    result = check_slice_info(allocator, __func__, pCreateInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slice_state* state = NULL;
    result = open_slices(allocator, &state);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slice_job job = {0};
    shape_slice(allocator, pCreateInfo, &job);
    struct maar_slice_arena* arena = maar_slice_arena_enter(allocator, state);
    result = maar_slots_refill(&state->slots, &arena->lock, &arena->free_slots);
    if (result == VK_SUCCESS) {
        const uint32_t index = maar_slots_pop(&state->slots, &arena->free_slots);
        result = maar_slice_take(allocator, state, &arena, &job);
        if (result == VK_SUCCESS) {
            *pSlice = publish_slice(state, arena, index, &job);
        } else {
            return_slice_slot(state, arena, index);
        }
    }
    maar_mutex_unlock(&arena->lock);
    return result;
}

/* Reports why a handle is not that of a live slice. */
static void report_no_slice(MaarAllocator allocator, const char* call, uint64_t handle,
                            const struct maar_slice_state* state)
{
    if (handle == 0) {
        (void)maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_HANDLE, call, "slice is VK_NULL_HANDLE");
        return;
    }
    const bool stale = state != NULL && maar_slot_was_used(&state->slots, handle);
    maar_report(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                stale ? MAAR_MESSAGE_ID_STALE_HANDLE : MAAR_MESSAGE_ID_FOREIGN_HANDLE, call,
                "slice 0x%llx was destroyed already, or does not belong to this allocator",
                (unsigned long long)handle);
}

/* Returns the slot of a live slice, and the state that it belongs to. Otherwise reports the reason
 * and returns NULL. */
static struct maar_slot* resolve_slice(MaarAllocator allocator, const char* call, MaarSlice slice,
                                       struct maar_slice_state** state, uint32_t* index)
{
    const uint64_t handle = MAAR_TO_BITS(slice);
    *state = maar_atomic_pointer_load(&allocator->slices.state);
    struct maar_slot* slot =
        *state != NULL ? maar_slot_resolve(&(*state)->slots, handle, index) : NULL;
    if (slot == NULL) {
        report_no_slice(allocator, call, handle, *state);
    }
    return slot;
}

/* Frees the bytes and the slot of a claimed slice. */
static void release_slice(MaarAllocator allocator, const char* call, struct maar_slice_state* state,
                          uint32_t index, bool was_pending)
{
    struct maar_slot* slot = maar_slot_at(&state->slots, index);
    struct maar_slice_buffer* home = slot->home;
    struct maar_slice_arena* arena = home->shelf->arena;
    struct maar_slice_buffer* leaving = NULL;
    maar_mutex_lock(&arena->lock);
    const VkDeviceSize size = maar_slot_extra(slot, index)->slice_size;
    bool known = maar_placement_free(home->placement, slot->node);
    --home->slice_count;
    if (was_pending) {
        --arena->pending_count;
        arena->pending_bytes -= size;
    } else {
        --arena->live_count;
        arena->live_bytes -= size;
    }
    return_slice_slot(state, arena, index);
    maar_slice_note_freed(home);
    if (home->slice_count == 0) {
        home->emptied_at = maar_atomic64_load(&allocator->trim_clock.last);
        leaving = maar_slice_pick_empty(allocator, home->shelf, UINT32_MAX, MAAR_ANY_AGE, 1);
    }
    maar_mutex_unlock(&arena->lock);
    if (leaving != NULL) {
        maar_slice_buffer_destroy(allocator, call, leaving);
    }
    if (!known) {
        maar_broken(allocator, "a live slice has no range in its buffer");
    }
}

static VkResult claim_slice(MaarAllocator allocator, const char* call, struct maar_slot* slot,
                            MaarSlice slice)
{
    return maar_slot_claim(slot, MAAR_TO_BITS(slice))
               ? VK_SUCCESS
               : maar_misuse(allocator, MAAR_MESSAGE_ID_FREED_CONCURRENTLY, call,
                             "slice was destroyed by another thread meanwhile");
}

static VkResult destroy_slice_now(MaarAllocator allocator, const char* call, MaarSlice slice)
{
    struct maar_slice_state* state = NULL;
    uint32_t index = 0;
    struct maar_slot* slot = resolve_slice(allocator, call, slice, &state, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    VkResult result = claim_slice(allocator, call, slot, slice);
    if (result == VK_SUCCESS) {
        release_slice(allocator, call, state, index, false);
    }
    return result;
}

VKAPI_ATTR void VKAPI_CALL maarDestroySlice(MaarAllocator allocator, MaarSlice slice)
{
    if (maar_enter(allocator) == VK_SUCCESS && slice != VK_NULL_HANDLE) {
        (void)destroy_slice_now(allocator, __func__, slice);
    }
}

static void release_pending_slice(MaarAllocator allocator, const struct maar_retire_item* item)
{
    release_slice(allocator, "maarDestroySliceAfter",
                  maar_atomic_pointer_load(&allocator->slices.state), (uint32_t)item->object, true);
}

static void describe_slice(const struct maar_retire_item* item, char* text, size_t size)
{
    (void)snprintf(text, size, "a slice (low half of its handle: 0x%X)",
                   (uint32_t)item->object + 1u);
}

static VkResult destroy_slice_after(MaarAllocator allocator, const char* call, MaarSlice slice,
                                    uint32_t point_count, const MaarPoint* points)
{
    struct maar_slice_state* state = NULL;
    uint32_t index = 0;
    struct maar_slot* slot = resolve_slice(allocator, call, slice, &state, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    struct maar_retire_item* item = maar_retire_prepare(&allocator->retire, point_count, points);
    if (item == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    VkResult result = claim_slice(allocator, call, slot, slice);
    if (result != VK_SUCCESS) {
        maar_retire_discard(&allocator->retire, item);
        return result;
    }
    const struct maar_slice_buffer* home = slot->home;
    struct maar_slice_arena* arena = home->shelf->arena;
    maar_mutex_lock(&arena->lock);
    const VkDeviceSize size = maar_slot_extra(slot, index)->slice_size;
    --arena->live_count;
    arena->live_bytes -= size;
    ++arena->pending_count;
    arena->pending_bytes += size;
    maar_mutex_unlock(&arena->lock);
    item->action = release_pending_slice;
    item->describe = describe_slice;
    item->object = index;
    maar_retire_queue(&allocator->retire, item);
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroySliceAfter(MaarAllocator allocator, MaarSlice slice,
                                                     uint32_t pointCount, const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || slice == VK_NULL_HANDLE) {
        return result;
    }
    result = maar_retire_check_points(&allocator->retire, __func__, pointCount, pPoints);
    if (result != VK_SUCCESS) {
        return result;
    }
    return pointCount == 0 ? destroy_slice_now(allocator, __func__, slice)
                           : destroy_slice_after(allocator, __func__, slice, pointCount, pPoints);
}

VKAPI_ATTR VkResult VKAPI_CALL maarGetSliceInfo(MaarAllocator allocator, MaarSlice slice,
                                                MaarSliceInfo* pInfo)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    result =
        maar_check_structure(allocator, __func__, "pInfo", pInfo, MAAR_STRUCTURE_TYPE_SLICE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct maar_slice_state* state = NULL;
    uint32_t index = 0;
    const struct maar_slot* slot = resolve_slice(allocator, __func__, slice, &state, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct maar_slice_buffer* home = slot->home;
    const struct maar_slot_extra* extra = maar_slot_extra(slot, index);
    const VkDeviceSize offset = maar_placement_span(home->placement, slot->node).offset;
    *pInfo = (MaarSliceInfo){
        .sType = pInfo->sType,
        .pNext = pInfo->pNext,
        .buffer = home->buffer,
        .offset = offset,
        .size = extra->slice_size,
        .pMappedData = home->mapped != NULL ? home->mapped + offset : NULL,
        .address = home->address != 0 ? home->address + offset : 0,
        .allocation = home->allocation,
        .allocationOffset = offset,
        .pUserData = extra->user_data,
    };
    return VK_SUCCESS;
}
