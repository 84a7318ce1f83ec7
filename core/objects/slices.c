/*
 * Slices: many small buffers out of few big ones, so that thousands of uniform buffers cost a
 * handful of VkBuffers and no driver call each.
 *
 * Buffers are grouped in shelves, one a usage, memory usage and alignment class; each buffer is cut
 * by a TLSF placement. One lock for all shelves; it is left whenever the driver, host memory or the
 * allocator is called, and shelves and buffers are address-stable until the allocator goes. An
 * emptied buffer is given back when its shelf has another with room.
 */
#include <string.h>

#include "core/objects/requirements.h"
#include "core/objects/vulkan_bits.h"
#include "maar/objects.h"

/* The allocation flags that make sense for a buffer that many share. */
#define SLICE_ALLOCATION_FLAGS                                                                     \
    ((MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT |                         \
     (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT |                        \
     (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT)
/* The first buffer of a shelf, bytes; each further one is twice the last, up to the largest. 64 KiB
 * holds 256 uniform buffers of 256 bytes; 4 MiB is the size from which a block has room to spare.
 */
#define FIRST_SLICE_BUFFER ((VkDeviceSize)64 << 10)
#define LARGEST_SLICE_BUFFER ((VkDeviceSize)4 << 20)

struct slice_buffer {
    struct slice_buffer* next;
    struct slice_buffer* previous;
    struct slice_shelf* shelf;
    VkBuffer buffer;
    MaarAllocation allocation;
    VkDeviceAddress address;
    char* mapped;
    struct maar_placement* placement;
    VkDeviceSize size;
    uint32_t slice_count; /* pending ones included */
    uint32_t pin_count;
};

struct slice_shelf {
    struct slice_shelf* next;
    VkBufferUsageFlags usage;
    MaarMemoryUsage memory_usage;
    MaarAllocationCreateFlags allocation_flags;
    uint32_t family_bits;
    struct slice_buffer* buffers; /* newest first */
    VkDeviceSize next_size;
};

struct slice_state {
    struct maar_slot_table slots; /* a slice's slot names its buffer in `home` */
    struct maar_mutex lock;       /* guards what follows */
    struct slice_shelf* shelves;
    struct maar_slot_list free_slots;
    uint32_t live_count;
    VkDeviceSize live_bytes;
    uint32_t pending_count;
    VkDeviceSize pending_bytes;
};

/* ---- buffers ---- */

static void destroy_slice_buffer(MaarAllocator allocator, struct slice_buffer* home)
{
    maar_destroy_buffer(allocator, "maarDestroySlice", home->buffer, home->allocation);
    maar_placement_destroy(home->placement, allocator->callbacks);
    maar_host_free(allocator->callbacks, home);
}

static VkResult read_slice_buffer(MaarAllocator allocator, struct slice_buffer* home)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    VkResult result = maarGetAllocationInfo(allocator, home->allocation, &info);
    if (result != VK_SUCCESS) {
        return result;
    }
    if ((info.propertyFlags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        void* data = NULL;
        result = maarMapMemory(allocator, home->allocation, &data);
        home->mapped = data;
    }
    if (result == VK_SUCCESS &&
        (home->shelf->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0) {
        result = maarGetBufferAddress(allocator, home->buffer, &home->address);
    }
    return result;
}

static uint32_t list_families(uint32_t bits, uint32_t* families)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 32; ++i) {
        if ((bits & (1u << i)) != 0) {
            families[count++] = i;
        }
    }
    return count;
}

static VkResult make_slice_buffer(MaarAllocator allocator, struct slice_shelf* shelf,
                                  VkDeviceSize size, struct slice_buffer** out)
{
    struct slice_buffer* home = maar_host_calloc(allocator->callbacks, 1, sizeof *home);
    if (home == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    home->shelf = shelf;
    home->size = size;
    const struct maar_placement_info placement = {
        .strategy = MAAR_PLACEMENT_STRATEGY_TLSF,
        .size = size,
    };
    VkResult result = maar_placement_create(&placement, allocator->callbacks, &home->placement);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, home);
        return result;
    }
    uint32_t families[32];
    uint32_t family_count = list_families(shelf->family_bits, families);
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = shelf->usage,
        .sharingMode = family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = family_count > 1 ? family_count : 0,
        .pQueueFamilyIndices = families,
    };
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = shelf->allocation_flags,
        .usage = shelf->memory_usage,
        .pName = "slices",
    };
    result = maar_create_buffer(allocator, "maarCreateSlice", &buffer_info, &info, true,
                                &home->buffer, &home->allocation);
    if (result == VK_SUCCESS) {
        result = read_slice_buffer(allocator, home);
    }
    if (result != VK_SUCCESS) {
        maar_destroy_buffer(allocator, "maarCreateSlice", home->buffer, VK_NULL_HANDLE);
        maar_undo_allocation(allocator, home->allocation);
        maar_placement_destroy(home->placement, allocator->callbacks);
        maar_host_free(allocator->callbacks, home);
        return result;
    }
    *out = home;
    return VK_SUCCESS;
}

/* Under the lock. */
static void unlink_slice_buffer(struct slice_buffer* home)
{
    if (home->previous != NULL) {
        home->previous->next = home->next;
    } else {
        home->shelf->buffers = home->next;
    }
    if (home->next != NULL) {
        home->next->previous = home->previous;
    }
}

/* ---- placing ---- */

struct slice_job {
    VkDeviceSize size;
    VkDeviceSize alignment;
    struct slice_buffer* home;
    struct maar_placement_range range;
};

/* Under the lock, which it may leave and take again. VK_INCOMPLETE: it did, look again. */
static VkResult place_slice_in(MaarAllocator allocator, struct slice_state* state,
                               struct slice_buffer* home, struct slice_job* job)
{
    const struct maar_placement_request request = {
        .size = job->size,
        .alignment = job->alignment,
    };
    VkResult result = maar_placement_allocate(home->placement, &request, &job->range);
    if (result == VK_SUCCESS) {
        job->home = home;
        ++home->slice_count;
        return VK_SUCCESS;
    }
    if (result != VK_INCOMPLETE) {
        return result;
    }
    ++home->pin_count;
    result = maar_bring_storage(allocator->callbacks, &state->lock, home->placement);
    --home->pin_count;
    return result == VK_SUCCESS ? VK_INCOMPLETE : result;
}

/* Under the lock. */
static VkResult place_slice(MaarAllocator allocator, struct slice_state* state,
                            struct slice_shelf* shelf, struct slice_job* job)
{
    struct slice_buffer* home = shelf->buffers;
    while (home != NULL) {
        struct slice_buffer* next = home->next;
        if (maar_placement_largest_free_bound(home->placement) >= job->size) {
            VkResult result = place_slice_in(allocator, state, home, job);
            if (result == VK_INCOMPLETE) {
                next = shelf->buffers;
            } else if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
                return result;
            }
        }
        home = next;
    }
    return VK_ERROR_OUT_OF_POOL_MEMORY;
}

/* Under the lock, which it leaves and takes again: one more buffer on the shelf. */
static VkResult add_slice_buffer(MaarAllocator allocator, struct slice_state* state,
                                 struct slice_shelf* shelf, VkDeviceSize least)
{
    VkDeviceSize size = shelf->next_size;
    while (size < least) {
        size <<= 1;
    }
    maar_mutex_unlock(&state->lock);
    struct slice_buffer* home = NULL;
    VkResult result = make_slice_buffer(allocator, shelf, size, &home);
    maar_mutex_lock(&state->lock);
    if (result != VK_SUCCESS) {
        return result;
    }
    home->next = shelf->buffers;
    if (home->next != NULL) {
        home->next->previous = home;
    }
    shelf->buffers = home;
    if (shelf->next_size < LARGEST_SLICE_BUFFER) {
        shelf->next_size <<= 1;
    }
    return VK_SUCCESS;
}

static bool is_shelf_for(const struct slice_shelf* shelf, const MaarSliceCreateInfo* info)
{
    return shelf->usage == info->usage && shelf->memory_usage == info->memoryUsage &&
           shelf->allocation_flags == info->allocationFlags &&
           shelf->family_bits == info->queueFamilyBits;
}

/* Under the lock, which it may leave and take again. */
static VkResult find_shelf(MaarAllocator allocator, struct slice_state* state,
                           const MaarSliceCreateInfo* info, struct slice_shelf** shelf)
{
    struct slice_shelf* fresh = NULL;
    for (;;) {
        for (*shelf = state->shelves; *shelf != NULL; *shelf = (*shelf)->next) {
            if (is_shelf_for(*shelf, info)) {
                break;
            }
        }
        if (*shelf == NULL && fresh != NULL) {
            fresh->next = state->shelves;
            state->shelves = fresh;
            *shelf = fresh;
            return VK_SUCCESS;
        }
        if (*shelf != NULL && fresh == NULL) {
            return VK_SUCCESS;
        }
        maar_mutex_unlock(&state->lock);
        if (*shelf != NULL) {
            maar_host_free(allocator->callbacks, fresh); /* another thread was faster */
            fresh = NULL;
        } else {
            fresh = maar_host_calloc(allocator->callbacks, 1, sizeof *fresh);
        }
        maar_mutex_lock(&state->lock);
        if (*shelf != NULL) {
            return VK_SUCCESS;
        }
        if (fresh == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        fresh->usage = info->usage;
        fresh->memory_usage = info->memoryUsage;
        fresh->allocation_flags = info->allocationFlags;
        fresh->family_bits = info->queueFamilyBits;
        fresh->next_size = FIRST_SLICE_BUFFER;
    }
}

static VkDeviceSize usage_alignment(MaarAllocator allocator, VkBufferUsageFlags usage)
{
    const VkPhysicalDeviceLimits* limits = &allocator->device.facts.properties.limits;
    const VkBufferUsageFlags uniform = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT;
    const VkBufferUsageFlags storage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    const VkBufferUsageFlags texel = (VkBufferUsageFlags)VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT |
                                     (VkBufferUsageFlags)VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT;
    VkDeviceSize alignment = 4; /* copies and index buffers of 32 bits want this much */
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

/* Neighbours in non-coherent memory must not share an atom, whichever type will be chosen. */
static void shape_slice(MaarAllocator allocator, const MaarSliceCreateInfo* info,
                        struct slice_job* job)
{
    job->size = info->size;
    job->alignment = maar_common_multiple(usage_alignment(allocator, info->usage), info->alignment);
    uint32_t types = allocator->device.facts.memory.memoryTypeCount;
    for (uint32_t i = 0; i < types; ++i) {
        if (maar_type_is_noncoherent(allocator, i)) {
            job->alignment = maar_common_multiple(job->alignment, allocator->device.facts.atom);
            job->size = maar_align_up(job->size, allocator->device.facts.atom);
            return;
        }
    }
}

static VkResult check_slice_info(MaarAllocator allocator, const char* call,
                                 const MaarSliceCreateInfo* info)
{
    VkResult result = maar_check_structure(allocator, call, "pCreateInfo", info,
                                           MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->size == 0 || info->size > MAAR_MAX_SLICE_SIZE) {
        return maar_misuse(allocator, call, "pCreateInfo->size is 0 or above MAAR_MAX_SLICE_SIZE");
    }
    if (info->alignment > MAAR_MAX_SLICE_SIZE) {
        return maar_misuse(allocator, call, "pCreateInfo->alignment is above MAAR_MAX_SLICE_SIZE");
    }
    if (info->usage == 0) {
        return maar_misuse(allocator, call, "pCreateInfo->usage is 0");
    }
    if ((uint32_t)info->memoryUsage > MAAR_MEMORY_USAGE_FLAGS_ONLY) {
        return maar_misuse(allocator, call, "pCreateInfo->memoryUsage is not a MaarMemoryUsage");
    }
    if ((info->allocationFlags & ~SLICE_ALLOCATION_FLAGS) != 0) {
        return maar_misuse(allocator, call,
                           "pCreateInfo->allocationFlags has a flag that slices do not "
                           "know");
    }
    if ((info->usage & VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT) != 0 &&
        !allocator->device.facts.buffer_device_address) {
        return maar_misuse(allocator, call,
                           "pCreateInfo->usage has SHADER_DEVICE_ADDRESS, but the "
                           "bufferDeviceAddress feature was not among pEnabledFeatures");
    }
    return VK_SUCCESS;
}

/* Under the lock. */
static void return_slice_slot(struct slice_state* state, uint32_t index)
{
    maar_slots_push(&state->free_slots, maar_slot_at(&state->slots, index), index);
}

/* Under the lock, which it may leave and take again. */
static VkResult take_slice(MaarAllocator allocator, struct slice_state* state,
                           const MaarSliceCreateInfo* info, struct slice_job* job)
{
    struct slice_shelf* shelf = NULL;
    VkResult result = find_shelf(allocator, state, info, &shelf);
    while (result == VK_SUCCESS) {
        result = place_slice(allocator, state, shelf, job);
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            break;
        }
        result = add_slice_buffer(allocator, state, shelf, job->size);
    }
    return result;
}

static void destroy_slices(MaarAllocator allocator, void* opaque)
{
    struct slice_state* state = opaque;
    uint32_t leaked = 0;
    while (state->shelves != NULL) {
        struct slice_shelf* shelf = state->shelves;
        state->shelves = shelf->next;
        while (shelf->buffers != NULL) {
            struct slice_buffer* home = shelf->buffers;
            leaked += home->slice_count;
            shelf->buffers = home->next;
            destroy_slice_buffer(allocator, home);
        }
        maar_host_free(allocator->callbacks, shelf);
    }
    if (leaked > 0) {
        maar_tell(allocator, MAAR_MESSAGE_SEVERITY_WARNING, "leak: %u slices were never destroyed",
                  leaked);
    }
    maar_slots_destroy(&state->slots);
    maar_mutex_destroy(&state->lock);
    maar_host_free(allocator->callbacks, state);
}

/* Under the lock: the first empty buffer that a shelf could do without, unlinked. */
static struct slice_buffer* pick_empty(struct slice_state* state, uint32_t kept_per_shelf)
{
    for (struct slice_shelf* shelf = state->shelves; shelf != NULL; shelf = shelf->next) {
        uint32_t empty = 0;
        for (struct slice_buffer* home = shelf->buffers; home != NULL; home = home->next) {
            if (home->slice_count > 0 || home->pin_count > 0) {
                continue;
            }
            ++empty;
            if (empty > kept_per_shelf) {
                unlink_slice_buffer(home);
                return home;
            }
        }
    }
    return NULL;
}

static void trim_slices(MaarAllocator allocator, void* opaque)
{
    struct slice_state* state = opaque;
    for (;;) {
        maar_mutex_lock(&state->lock);
        struct slice_buffer* home = pick_empty(state, 0);
        maar_mutex_unlock(&state->lock);
        if (home == NULL) {
            return;
        }
        destroy_slice_buffer(allocator, home);
    }
}

static void count_slices(void* opaque, MaarStatistics* statistics)
{
    struct slice_state* state = opaque;
    maar_mutex_lock(&state->lock);
    statistics->sliceCount = state->live_count;
    statistics->sliceBytes = state->live_bytes;
    statistics->pendingSliceCount = state->pending_count;
    statistics->pendingSliceBytes = state->pending_bytes;
    maar_mutex_unlock(&state->lock);
}

/* The state, made with the first slice. */
static VkResult open_slices(MaarAllocator allocator, struct slice_state** out)
{
    *out = maar_atomic_pointer_load(&allocator->slices.state);
    if (*out != NULL) {
        return VK_SUCCESS;
    }
    struct slice_state* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    bool synchronized = maar_is_synchronized(allocator);
    made->free_slots.head = MAAR_SLOT_NONE;
    if (!maar_slots_init(&made->slots, allocator->callbacks, synchronized)) {
        maar_host_free(allocator->callbacks, made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!maar_mutex_init(&made->lock, MAAR_LOCK_SLICES, synchronized)) {
        maar_slots_destroy(&made->slots);
        maar_host_free(allocator->callbacks, made);
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
        destroy_slices(allocator, made); /* another thread was faster */
    }
    return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL maarCreateSlice(MaarAllocator allocator,
                                               const MaarSliceCreateInfo* pCreateInfo,
                                               MaarSlice* pSlice)
{
    if (pSlice != NULL) {
        *pSlice = VK_NULL_HANDLE;
    }
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pSlice == NULL) {
        return maar_misuse(allocator, __func__, "pSlice is NULL");
    }
    result = check_slice_info(allocator, __func__, pCreateInfo);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct slice_state* state = NULL;
    result = open_slices(allocator, &state);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct slice_job job = {0};
    uint32_t index = 0;
    shape_slice(allocator, pCreateInfo, &job);
    maar_mutex_lock(&state->lock);
    result = maar_slots_refill(&state->slots, &state->lock, &state->free_slots);
    if (result == VK_SUCCESS) {
        index = maar_slots_pop(&state->slots, &state->free_slots);
        result = take_slice(allocator, state, pCreateInfo, &job);
        if (result == VK_SUCCESS) {
            struct maar_slot* slot = maar_slot_at(&state->slots, index);
            uint32_t key = maar_atomic32_load(&slot->key) + 1u;
            slot->node = job.range.node;
            slot->home = job.home;
            maar_slot_set_range(slot, job.range.offset, pCreateInfo->size);
            slot->user_data = pCreateInfo->pUserData;
            ++state->live_count;
            state->live_bytes += maar_slot_size(slot);
            maar_atomic32_store_release(&slot->key, key);
            *pSlice = MAAR_FROM_BITS(MaarSlice, maar_handle_bits(maar_handle_make(index, key)));
        } else {
            return_slice_slot(state, index);
        }
    }
    maar_mutex_unlock(&state->lock);
    return result;
}

/* The state and slot of a live slice; NULL, having told why. */
static struct maar_slot* resolve_slice(MaarAllocator allocator, const char* call, MaarSlice slice,
                                       struct slice_state** state, uint32_t* index)
{
    MaarAllocation handle = MAAR_FROM_BITS(MaarAllocation, MAAR_TO_BITS(slice));
    *state = maar_atomic_pointer_load(&allocator->slices.state);
    struct maar_slot* slot =
        *state != NULL ? maar_slot_resolve(&(*state)->slots, handle, index) : NULL;
    if (slot == NULL) {
        if (slice == VK_NULL_HANDLE) {
            (void)maar_misuse(allocator, call, "slice is VK_NULL_HANDLE");
        } else {
            maar_tell(allocator, MAAR_MESSAGE_SEVERITY_ERROR,
                      "%s: slice 0x%llx was destroyed already, or is not one of this allocator",
                      call, (unsigned long long)maar_handle_bits(handle));
        }
    }
    return slot;
}

/* Ends a claimed slice. */
static void release_slice(MaarAllocator allocator, struct slice_state* state, uint32_t index,
                          bool was_pending)
{
    struct maar_slot* slot = maar_slot_at(&state->slots, index);
    struct slice_buffer* home = slot->home;
    struct slice_buffer* leaving = NULL;
    maar_mutex_lock(&state->lock);
    bool known = maar_placement_free(home->placement, slot->node);
    --home->slice_count;
    if (was_pending) {
        --state->pending_count;
        state->pending_bytes -= maar_slot_size(slot);
    } else {
        --state->live_count;
        state->live_bytes -= maar_slot_size(slot);
    }
    return_slice_slot(state, index);
    if (home->slice_count == 0) {
        leaving = pick_empty(state, 1);
    }
    maar_mutex_unlock(&state->lock);
    if (leaving != NULL) {
        destroy_slice_buffer(allocator, leaving);
    }
    if (!known) {
        maar_broken(allocator, "a live slice has no range in its buffer");
    }
}

static bool claim_slice(struct maar_slot* slot, MaarSlice slice)
{
    return maar_slot_claim(slot, MAAR_FROM_BITS(MaarAllocation, MAAR_TO_BITS(slice)));
}

VKAPI_ATTR void VKAPI_CALL maarDestroySlice(MaarAllocator allocator, MaarSlice slice)
{
    if (maar_enter(allocator) != VK_SUCCESS || slice == VK_NULL_HANDLE) {
        return;
    }
    struct slice_state* state = NULL;
    uint32_t index = 0;
    struct maar_slot* slot = resolve_slice(allocator, __func__, slice, &state, &index);
    if (slot != NULL && claim_slice(slot, slice)) {
        release_slice(allocator, state, index, false);
    }
}

static void release_pending_slice(MaarAllocator allocator, const struct maar_retire_item* item)
{
    release_slice(allocator, maar_atomic_pointer_load(&allocator->slices.state),
                  (uint32_t)item->object, true);
}

VKAPI_ATTR VkResult VKAPI_CALL maarDestroySliceAfter(MaarAllocator allocator, MaarSlice slice,
                                                     uint32_t pointCount, const MaarPoint* pPoints)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS || slice == VK_NULL_HANDLE) {
        return result;
    }
    result = maar_retire_check_points(allocator, __func__, pointCount, pPoints);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct slice_state* state = NULL;
    uint32_t index = 0;
    struct maar_slot* slot = resolve_slice(allocator, __func__, slice, &state, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    if (pointCount == 0) {
        maarDestroySlice(allocator, slice);
        return VK_SUCCESS;
    }
    struct maar_retire_item* item = maar_retire_prepare(allocator, pointCount, pPoints);
    if (item == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (!claim_slice(slot, slice)) {
        maar_retire_discard(allocator, item);
        return maar_misuse(allocator, __func__, "slice was destroyed by another thread meanwhile");
    }
    maar_mutex_lock(&state->lock);
    --state->live_count;
    state->live_bytes -= maar_slot_size(slot);
    ++state->pending_count;
    state->pending_bytes += maar_slot_size(slot);
    maar_mutex_unlock(&state->lock);
    item->action = release_pending_slice;
    item->object = index;
    item->aside = MAAR_SLOT_NONE;
    maar_retire_queue(&allocator->retire, item);
    return VK_SUCCESS;
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
    struct slice_state* state = NULL;
    uint32_t index = 0;
    const struct maar_slot* slot = resolve_slice(allocator, __func__, slice, &state, &index);
    if (slot == NULL) {
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    const struct slice_buffer* home = slot->home;
    pInfo->buffer = home->buffer;
    pInfo->offset = maar_slot_offset(slot);
    pInfo->size = maar_slot_size(slot);
    pInfo->pMappedData = home->mapped != NULL ? home->mapped + maar_slot_offset(slot) : NULL;
    pInfo->address = home->address != 0 ? home->address + maar_slot_offset(slot) : 0;
    pInfo->allocation = home->allocation;
    pInfo->allocationOffset = maar_slot_offset(slot);
    pInfo->pUserData = slot->user_data;
    return VK_SUCCESS;
}
