/*
 * Slices, arena by arena: shelves of buffers, and how one is cut.
 */
#include "core/objects/slice_arena.h"

#include "core/objects/buffer.h"

/* The first buffer of a shelf, bytes; each further one is twice the last, up to the largest. 64 KiB
 * holds 256 uniform buffers of 256 bytes; 4 MiB is the size from which a block has room to spare.
 */
#define FIRST_SLICE_BUFFER ((VkDeviceSize)64 << 10)
#define LARGEST_SLICE_BUFFER ((VkDeviceSize)4 << 20)

/* ---- buffers ---- */

void maar_slice_buffer_destroy(MaarAllocator allocator, struct maar_slice_buffer* home)
{
    (void)maar_destroy_buffer(allocator, "maarDestroySlice", home->buffer, home->allocation);
    maar_placement_destroy(home->placement, allocator->callbacks);
    maar_host_free(allocator->callbacks, home);
}

static VkResult read_slice_buffer(MaarAllocator allocator, struct maar_slice_buffer* home)
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

static VkResult make_slice_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                  VkDeviceSize size, struct maar_slice_buffer** out)
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
        (void)maar_destroy_buffer(allocator, "maarCreateSlice", home->buffer, VK_NULL_HANDLE);
        maar_undo_allocation(allocator, home->allocation);
        maar_placement_destroy(home->placement, allocator->callbacks);
        maar_host_free(allocator->callbacks, home);
        return result;
    }
    *out = home;
    return VK_SUCCESS;
}

static void unlink_slice_buffer(struct maar_slice_buffer* home)
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

/* ---- shelves ---- */

static bool is_shelf_for(const struct maar_slice_shelf* shelf, const MaarSliceCreateInfo* info)
{
    return shelf->usage == info->usage && shelf->memory_usage == info->memoryUsage &&
           shelf->allocation_flags == info->allocationFlags &&
           shelf->family_bits == info->queueFamilyBits;
}

static struct maar_slice_shelf* find_shelf(const struct maar_slice_arena* arena,
                                           const MaarSliceCreateInfo* info)
{
    struct maar_slice_shelf* shelf = arena->shelves;
    while (shelf != NULL && !is_shelf_for(shelf, info)) {
        shelf = shelf->next;
    }
    return shelf;
}

/* The arena's shelf for such slices, made if there is none. May leave the lock and take it again.
 */
static VkResult open_shelf(MaarAllocator allocator, struct maar_slice_arena* arena,
                           const MaarSliceCreateInfo* info, struct maar_slice_shelf** shelf)
{
    *shelf = find_shelf(arena, info);
    if (*shelf != NULL) {
        return VK_SUCCESS;
    }
    maar_mutex_unlock(&arena->lock);
    struct maar_slice_shelf* fresh = maar_host_calloc(allocator->callbacks, 1, sizeof *fresh);
    maar_mutex_lock(&arena->lock);
    if (fresh == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *shelf = find_shelf(arena, info);
    if (*shelf != NULL) {
        maar_mutex_unlock(&arena->lock);
        maar_host_free(allocator->callbacks, fresh); /* another thread was faster */
        maar_mutex_lock(&arena->lock);
        return VK_SUCCESS;
    }
    fresh->arena = arena;
    fresh->usage = info->usage;
    fresh->memory_usage = info->memoryUsage;
    fresh->allocation_flags = info->allocationFlags;
    fresh->family_bits = info->queueFamilyBits;
    fresh->next_size = FIRST_SLICE_BUFFER;
    fresh->next = arena->shelves;
    arena->shelves = fresh;
    *shelf = fresh;
    return VK_SUCCESS;
}

/* One more buffer on the shelf. Leaves the lock and takes it again. */
static VkResult add_slice_buffer(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                                 VkDeviceSize least)
{
    VkDeviceSize size = shelf->next_size;
    while (size < least) {
        size <<= 1;
    }
    maar_mutex_unlock(&shelf->arena->lock);
    struct maar_slice_buffer* home = NULL;
    VkResult result = make_slice_buffer(allocator, shelf, size, &home);
    maar_mutex_lock(&shelf->arena->lock);
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

struct maar_slice_buffer* maar_slice_pick_empty(struct maar_slice_arena* arena,
                                                uint32_t kept_per_shelf)
{
    for (struct maar_slice_shelf* shelf = arena->shelves; shelf != NULL; shelf = shelf->next) {
        uint32_t empty = 0;
        for (struct maar_slice_buffer* home = shelf->buffers; home != NULL; home = home->next) {
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

/* ---- placing ---- */

/* May leave the lock and take it again; VK_INCOMPLETE: it did, look again. */
static VkResult place_slice_in(MaarAllocator allocator, struct maar_slice_buffer* home,
                               struct maar_slice_job* job)
{
    const struct maar_placement_request request = {
        .size = job->size,
        .alignment = job->alignment,
    };
    const enum maar_place_outcome outcome =
        maar_placement_allocate(home->placement, &request, &job->range);
    if (outcome == MAAR_PLACED) {
        job->home = home;
        ++home->slice_count;
        return VK_SUCCESS;
    }
    if (outcome == MAAR_PLACE_NO_ROOM) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    ++home->pin_count;
    const VkResult result =
        maar_bring_storage(allocator->callbacks, &home->shelf->arena->lock, home->placement);
    --home->pin_count;
    return result == VK_SUCCESS ? VK_INCOMPLETE : result;
}

/* VK_ERROR_OUT_OF_POOL_MEMORY: no buffer has room. May leave the lock and take it again. */
static VkResult place_slice(MaarAllocator allocator, struct maar_slice_shelf* shelf,
                            struct maar_slice_job* job)
{
    struct maar_slice_buffer* home = shelf->buffers;
    while (home != NULL) {
        struct maar_slice_buffer* next = home->next;
        if (maar_placement_largest_free_bound(home->placement) >= job->size) {
            VkResult result = place_slice_in(allocator, home, job);
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

/* Into the arenas of others: into those that nobody holds just now, or, when patient, into any. On
 * success that arena is locked instead. */
static VkResult place_slice_elsewhere(MaarAllocator allocator, struct maar_slice_state* state,
                                      bool patient, struct maar_slice_arena** arena,
                                      struct maar_slice_job* job)
{
    struct maar_slice_arena* own = *arena;
    VkResult result = VK_ERROR_OUT_OF_POOL_MEMORY;
    if (maar_atomic32_load(&state->arena_count) == 1) {
        return result;
    }
    maar_mutex_unlock(&own->lock);
    for (struct maar_slice_arena* other = maar_slice_next_arena(state, 0);
         other != NULL && result == VK_ERROR_OUT_OF_POOL_MEMORY;
         other = maar_slice_next_arena(state, other->number + 1)) {
        if (other == own) {
            continue;
        }
        if (patient) {
            maar_mutex_lock(&other->lock);
        } else if (!maar_mutex_try_lock(&other->lock)) {
            continue;
        }
        struct maar_slice_shelf* shelf = find_shelf(other, job->info);
        if (shelf != NULL) {
            result = place_slice(allocator, shelf, job);
        }
        if (result == VK_SUCCESS) {
            *arena = other;
            return VK_SUCCESS;
        }
        maar_mutex_unlock(&other->lock);
    }
    maar_mutex_lock(&own->lock);
    return result;
}

VkResult maar_slice_take(MaarAllocator allocator, struct maar_slice_state* state,
                         struct maar_slice_arena** arena, struct maar_slice_job* job)
{
    struct maar_slice_shelf* shelf = NULL;
    VkResult result = open_shelf(allocator, *arena, job->info, &shelf);
    if (result != VK_SUCCESS) {
        return result;
    }
    for (;;) {
        result = place_slice(allocator, shelf, job);
        if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
            result = place_slice_elsewhere(allocator, state, false, arena, job);
        }
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
        result = add_slice_buffer(allocator, shelf, job->size);
        if (result != VK_SUCCESS) {
            /* The lock was left: the own arena may have room by now. */
            VkResult other = place_slice(allocator, shelf, job);
            if (other == VK_ERROR_OUT_OF_POOL_MEMORY) {
                other = place_slice_elsewhere(allocator, state, true, arena, job);
            }
            return other == VK_SUCCESS ? VK_SUCCESS : result;
        }
    }
}

/* ---- arenas ---- */

bool maar_slice_arena_init(struct maar_slice_arena* arena, uint32_t number, bool synchronized)
{
    arena->number = number;
    arena->free_slots.head = MAAR_SLOT_NONE;
    return maar_mutex_init(&arena->lock, MAAR_LOCK_SLICES, synchronized);
}

uint32_t maar_slice_arena_end(MaarAllocator allocator, struct maar_slice_arena* arena)
{
    uint32_t leaked = 0;
    while (arena->shelves != NULL) {
        struct maar_slice_shelf* shelf = arena->shelves;
        arena->shelves = shelf->next;
        while (shelf->buffers != NULL) {
            struct maar_slice_buffer* home = shelf->buffers;
            leaked += home->slice_count;
            shelf->buffers = home->next;
            maar_slice_buffer_destroy(allocator, home);
        }
        maar_host_free(allocator->callbacks, shelf);
    }
    maar_mutex_destroy(&arena->lock);
    return leaked;
}

/* Makes the arena of a number, if it can and nobody else has. */
static struct maar_slice_arena* make_slice_arena(MaarAllocator allocator,
                                                 struct maar_slice_state* state, uint32_t number)
{
    struct maar_slice_arena* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (!maar_slice_arena_init(made, number, maar_is_synchronized(allocator))) {
        maar_host_free(allocator->callbacks, made);
        return NULL;
    }
    maar_mutex_lock(&allocator->list_lock);
    struct maar_slice_arena* arena = maar_slice_arena_at(state, number);
    if (arena == NULL) {
        arena = made;
        made = NULL;
        maar_atomic_pointer_store(&state->arenas[number], arena);
        (void)maar_atomic32_add(&state->arena_count, 1);
    }
    maar_mutex_unlock(&allocator->list_lock);
    if (made != NULL) {
        maar_mutex_destroy(&made->lock);
        maar_host_free(allocator->callbacks, made);
    }
    return arena;
}

/* The same where threads have met, or meet now. */
MAAR_NOINLINE struct maar_slice_arena*
enter_own_slice_arena(MaarAllocator allocator, struct maar_slice_state* state, bool divided)
{
    struct maar_slice_arena* arena = &state->first_arena;
    const uint32_t number = maar_thread_arena(&allocator->threads);
    struct maar_slice_arena* own = maar_slice_arena_at(state, number);
    if (own == NULL) {
        if (divided && maar_mutex_try_lock(&arena->lock)) {
            return arena;
        }
        own = make_slice_arena(allocator, state, number);
    }
    arena = own != NULL ? own : arena;
    maar_mutex_lock(&arena->lock);
    return arena;
}

struct maar_slice_arena* maar_slice_arena_enter(MaarAllocator allocator,
                                                struct maar_slice_state* state)
{
    const bool divided = maar_atomic32_load(&state->arena_count) > 1;
    if (!divided && maar_mutex_try_lock(&state->first_arena.lock)) {
        return &state->first_arena;
    }
    return enter_own_slice_arena(allocator, state, divided);
}
