/*
 * The buffers that contain slices, on the shelves of an arena: how a buffer is made, and which
 * empty one is released.
 */
#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/mapping.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"
#include "core/objects/buffer.h"
#include "core/objects/slice_arena.h"

/* Bytes. The planned size of a shelf's buffers begins with the first value. It doubles with each
 * buffer up to the second value. A buffer is larger if a slice needs it. 64 KiB holds 256 uniform
 * buffers of 256 bytes. */
#define FIRST_SLICE_BUFFER ((VkDeviceSize)64 << 10)
#define LARGEST_SLICE_BUFFER ((VkDeviceSize)4 << 20)
/* Where memory is short, the next size that is tried has this part of the size before. */
enum { SLICE_BUFFER_STEP = 4 };

/* ---- buffers ---- */

void maar_slice_buffer_destroy(MaarAllocator allocator, const char* call,
                               struct maar_slice_buffer* home)
{
    (void)maar_destroy_buffer(allocator, call, home->buffer, home->allocation);
    maar_leaving_end(&allocator->leaving, &home->leaving);
    maar_placement_destroy(home->placement, allocator->callbacks);
    maar_host_free(allocator->callbacks, home);
}

static VkResult read_slice_buffer(MaarAllocator allocator, struct maar_slice_buffer* home)
{
    struct maar_slot* slot = maar_slot_of_own(allocator, home->allocation);
    const struct maar_pool* pool = maar_slot_block(slot)->pool;
    const VkMemoryPropertyFlags properties = maar_type_flags(allocator, pool->type_index);
    VkResult result = VK_SUCCESS;
    home->heap = pool->heap_index;
    if ((properties & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        void* data = NULL;
        result = maar_slot_map_for_life(allocator, "maarCreateSlice", slot, &data);
        home->mapped = data;
    }
    if (result == VK_SUCCESS) {
        home->address = maar_buffer_address(allocator, home->buffer, home->shelf->usage);
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

static VkResult make_slice_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                  VkDeviceSize size, MaarAllocationCreateFlags flags,
                                  struct maar_patience* patience, struct maar_slice_buffer** out)
{
    struct maar_slice_buffer* home = maar_host_calloc(allocator->callbacks, 1, sizeof *home);
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
        .flags = flags,
        .usage = shelf->memory_usage,
        .pName = "slices",
    };
    result = maar_create_buffer(allocator, "maarCreateSlice", &buffer_info, &info, patience,
                                &home->buffer, &home->allocation);
    if (result == VK_SUCCESS) {
        result = read_slice_buffer(allocator, home);
    }
    if (result != VK_SUCCESS) {
        (void)maar_destroy_buffer(allocator, "maarCreateSlice", home->buffer, VK_NULL_HANDLE);
        maar_undo_allocation(allocator, home->allocation);
        maar_placement_destroy(home->placement, allocator->callbacks);
        maar_host_free(allocator->callbacks, home);
        return result;
    }
    *out = home;
    return VK_SUCCESS;
}

/* ---- shelves ---- */

static bool is_shelf_for(const struct maar_slice_shelf* shelf, const MaarSliceCreateInfo* info)
{
    return shelf->usage == info->usage && shelf->memory_usage == info->memoryUsage &&
           shelf->allocation_flags == info->allocationFlags &&
           shelf->family_bits == info->queueFamilyBits;
}

struct maar_slice_shelf* maar_slice_find_shelf(const struct maar_slice_arena* arena,
                                               const MaarSliceCreateInfo* info)
{
    struct maar_slice_shelf* shelf = arena->shelves;
    while (shelf != NULL && !is_shelf_for(shelf, info)) {
        shelf = shelf->next;
    }
    return shelf;
}

VkResult maar_slice_open_shelf(MaarAllocator allocator, struct maar_slice_arena* arena,
                               const MaarSliceCreateInfo* info, struct maar_slice_shelf** shelf)
{
    maar_assert_held(&arena->lock);
    *shelf = maar_slice_find_shelf(arena, info);
    if (*shelf != NULL) {
        return VK_SUCCESS;
    }
    maar_mutex_unlock(&arena->lock);
    struct maar_slice_shelf* fresh = maar_host_calloc(allocator->callbacks, 1, sizeof *fresh);
    maar_mutex_lock(&arena->lock);
    if (fresh == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *shelf = maar_slice_find_shelf(arena, info);
    if (*shelf != NULL) {
        maar_mutex_unlock(&arena->lock);
        /* another thread has opened the shelf meanwhile */
        maar_host_free(allocator->callbacks, fresh);
        maar_mutex_lock(&arena->lock);
        return VK_SUCCESS;
    }
    *fresh = (struct maar_slice_shelf){
        .arena = arena,
        .usage = info->usage,
        .memory_usage = info->memoryUsage,
        .allocation_flags = info->allocationFlags,
        .family_bits = info->queueFamilyBits,
        .next_size = FIRST_SLICE_BUFFER,
        .next = arena->shelves,
    };
    arena->shelves = fresh;
    *shelf = fresh;
    return VK_SUCCESS;
}

static bool is_slice_shortage(VkResult result)
{
    return maar_driver_had_no_memory(result) || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS;
}

/* Makes a buffer of `size` bytes or, where that much memory is not left, a smaller one of at least
 * `least` bytes. Smaller buffers of the preferred memory type go before other types. Only the last
 * attempt may exceed budgets and call the observer. */
static VkResult make_slice_buffer_that_fits(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                            VkDeviceSize least, VkDeviceSize size,
                                            struct maar_slice_buffer** out)
{
    const MaarAllocationCreateFlags own = shelf->allocation_flags;
    const MaarAllocationCreateFlags trial =
        own | MAAR_ALLOCATE_AS_TRIAL |
        (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    const MaarAllocationCreateFlags strict =
        trial | (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    struct maar_patience patience = maar_patience_begin();
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    for (VkDeviceSize tried = size;
         tried > least && tried >= FIRST_SLICE_BUFFER && is_slice_shortage(result);
         tried /= SLICE_BUFFER_STEP) {
        result = make_slice_buffer(allocator, shelf, tried, strict, &patience, out);
    }
    if (size > least && strict != trial && is_slice_shortage(result)) {
        result = make_slice_buffer(allocator, shelf, size, trial, &patience, out);
    }
    return is_slice_shortage(result)
               ? make_slice_buffer(allocator, shelf, least, own, &patience, out)
               : result;
}

VkResult maar_slice_add_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                               VkDeviceSize least)
{
    VkDeviceSize size = shelf->next_size;
    while (size < least) {
        size <<= 1;
    }
    maar_mutex_unlock(&shelf->arena->lock);
    struct maar_slice_buffer* home = NULL;
    VkResult result = make_slice_buffer_that_fits(allocator, shelf, least, size, &home);
    maar_mutex_lock(&shelf->arena->lock);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_slice_shelve(home);
    if (home->size < shelf->next_size) {
        shelf->next_size = home->size > FIRST_SLICE_BUFFER ? home->size : FIRST_SLICE_BUFFER;
    } else if (shelf->next_size < LARGEST_SLICE_BUFFER) {
        shelf->next_size <<= 1;
    }
    return VK_SUCCESS;
}

struct maar_slice_buffer* maar_slice_pick_empty(MaarAllocator allocator,
                                                struct maar_slice_shelf* shelf, uint32_t heaps,
                                                uint32_t kept)
{
    uint32_t empty = 0;
    maar_assert_held(&shelf->arena->lock);
    for (struct maar_slice_buffer* home = shelf->bins[MAAR_SLICE_EMPTY_BIN]; home != NULL;
         home = home->next) {
        const bool may_go = home->pin_count == 0 && (heaps >> home->heap & 1) != 0;
        empty += may_go;
        if (may_go && empty > kept) {
            maar_slice_unshelve(home);
            maar_leaving_enter(&allocator->leaving, &home->leaving, home->heap);
            return home;
        }
    }
    return NULL;
}
