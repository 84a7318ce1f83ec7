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
    const struct maar_pool* pool = maar_slot_block(allocator, slot)->pool;
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
    uint32_t family_count = maar_list_bits(shelf->family_bits, families);
    const VkBufferCreateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = shelf->usage,
        .sharingMode = maar_sharing_mode(family_count),
        .queueFamilyIndexCount = family_count > 1 ? family_count : 0,
        .pQueueFamilyIndices = families,
    };
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = flags,
        .usage = shelf->memory_usage,
        .requiredFlags = shelf->required_flags,
        .preferredFlags = shelf->preferred_flags,
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
           shelf->required_flags == info->requiredFlags &&
           shelf->preferred_flags == info->preferredFlags &&
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
        .required_flags = info->requiredFlags,
        .preferred_flags = info->preferredFlags,
        .family_bits = info->queueFamilyBits,
        .next_size = FIRST_SLICE_BUFFER,
        .next = arena->shelves,
    };
    arena->shelves = fresh;
    *shelf = fresh;
    return VK_SUCCESS;
}

bool maar_slice_is_shortage(VkResult result)
{
    return maar_driver_had_no_memory(result) || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS;
}

/* Makes a buffer of `size` bytes or, where that much memory is not left, a smaller one of at least
 * `least` bytes. Smaller buffers of the preferred memory type go before other types, and these
 * before budgets that are exceeded. A failure is not reported, and the observer is not called. */
static VkResult try_slice_buffers(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                  VkDeviceSize least, VkDeviceSize size,
                                  struct maar_patience* patience, struct maar_slice_buffer** out)
{
    const MaarAllocationCreateFlags trial = shelf->allocation_flags | MAAR_ALLOCATE_AS_TRIAL;
    const MaarAllocationCreateFlags within =
        trial | (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    const MaarAllocationCreateFlags strict =
        within | (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    const VkDeviceSize smallest = least > FIRST_SLICE_BUFFER ? least : FIRST_SLICE_BUFFER;
    VkDeviceSize tried = size;
    VkResult result = make_slice_buffer(allocator, shelf, tried, strict, patience, out);
    while (maar_slice_is_shortage(result) && tried > smallest) {
        tried /= SLICE_BUFFER_STEP;
        tried = tried > smallest ? tried : smallest;
        result = make_slice_buffer(allocator, shelf, tried, strict, patience, out);
    }
    if (strict != within && maar_slice_is_shortage(result)) {
        result = make_slice_buffer(allocator, shelf, size, within, patience, out);
    }
    return maar_slice_is_shortage(result) && least < FIRST_SLICE_BUFFER
               ? make_slice_buffer(allocator, shelf, FIRST_SLICE_BUFFER, trial, patience, out)
               : result;
}

/* Announces a buffer that this thread begins to make. The arena is locked. */
static void begin_making(struct maar_slice_shelf* shelf, struct maar_slice_making* making)
{
    maar_assert_held(&shelf->arena->lock);
    *making = (struct maar_slice_making){
        .next = shelf->making,
        .number = ++shelf->making_number,
        .thread = maar_thread_tag(),
    };
    shelf->making = making;
}

/* Wakes the threads that wait for the buffer. The arena is locked. */
static void end_making(struct maar_slice_shelf* shelf, const struct maar_slice_making* making)
{
    struct maar_slice_making** link = &shelf->making;
    maar_assert_held(&shelf->arena->lock);
    while (*link != making) {
        link = &(*link)->next;
    }
    *link = making->next;
    maar_condition_wake(&shelf->arena->made);
}

/* Whether another thread makes a buffer for the shelf whose number is at most `last`, and this
 * thread makes none. */
static bool is_made_elsewhere(const struct maar_slice_shelf* shelf, uint64_t last)
{
    bool found = false;
    for (const struct maar_slice_making* making = shelf->making; making != NULL;
         making = making->next) {
        if (making->thread == maar_thread_tag()) {
            return false;
        }
        found |= making->number <= last;
    }
    return found;
}

bool maar_slice_wait_for_buffer(struct maar_slice_shelf* shelf, uint64_t last,
                                struct maar_patience* patience)
{
    struct maar_slice_arena* arena = shelf->arena;
    maar_assert_held(&arena->lock);
    if (patience->left_ns == 0 || !is_made_elsewhere(shelf, last)) {
        return false;
    }
    const uint64_t deadline = maar_patience_deadline(patience);
    (void)maar_condition_wait_for(&arena->made, &arena->lock, patience->left_ns);
    maar_patience_spend(patience, deadline);
    return true;
}

/* Returns the planned size of the next buffer, which holds a slice of `least` bytes. */
static VkDeviceSize plan_size(const struct maar_slice_shelf* shelf, VkDeviceSize least)
{
    VkDeviceSize size = shelf->next_size;
    while (size < least) {
        size <<= 1;
    }
    return size;
}

VkResult maar_slice_add_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                               VkDeviceSize least, bool is_last, struct maar_patience* patience)
{
    const VkDeviceSize size = plan_size(shelf, least);
    struct maar_slice_making making;
    begin_making(shelf, &making);
    maar_mutex_unlock(&shelf->arena->lock);
    struct maar_slice_buffer* home = NULL;
    VkResult result = is_last ? make_slice_buffer(allocator, shelf, least, shelf->allocation_flags,
                                                  patience, &home)
                              : try_slice_buffers(allocator, shelf, least, size, patience, &home);
    maar_mutex_lock(&shelf->arena->lock);
    end_making(shelf, &making);
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
                                                uint64_t emptied_by, uint32_t kept)
{
    uint32_t empty = 0;
    maar_assert_held(&shelf->arena->lock);
    for (struct maar_slice_buffer* home = shelf->bins[MAAR_SLICE_EMPTY_BIN]; home != NULL;
         home = home->next) {
        const bool may_go = home->pin_count == 0 && (heaps >> home->heap & 1) != 0 &&
                            home->emptied_at <= emptied_by;
        empty += may_go;
        if (may_go && empty > kept) {
            maar_slice_unshelve(home);
            maar_leaving_enter(&allocator->leaving, &home->leaving, home->heap);
            return home;
        }
    }
    return NULL;
}
