/*
 * Arenas: the blocks of a pool that a thread allocates from, under one lock.
 *
 * A pool begins with one arena, and all threads use it. A thread that finds it locked by another
 * one gets an arena of its own, with blocks of its own, and keeps to it. So a program of one
 * thread, or of threads that never meet, has the placement and the memory of a single arena.
 */
#include <string.h>

#include "core/memory/memory_internal.h"

/* Room in the list of blocks that an arena starts with. */
enum { FIRST_BLOCK_CAPACITY = 16 };
/* Allocations in a block for each look at what is left of its largest free range, less one. */
enum { ROOM_LOOK_MASK = 15 };

void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block)
{
    maar_room_set(&arena->room, block,
                  maar_room_class(maar_placement_largest_free_bound(block->placement)));
}

bool maar_arena_init(struct maar_arena* arena, struct maar_pool* pool, uint32_t number)
{
    arena->pool = pool;
    arena->number = number;
    arena->slots.head = MAAR_SLOT_NONE;
    return maar_mutex_init(&arena->lock, MAAR_LOCK_ARENA, maar_is_synchronized(pool->allocator));
}

/* Makes the arena of a number, if it can and nobody else has. */
static struct maar_arena* make_arena(struct maar_pool* pool, uint32_t number)
{
    MaarAllocator allocator = pool->allocator;
    struct maar_arena* made = maar_host_calloc(allocator->callbacks, 1, sizeof *made);
    if (made == NULL) {
        return NULL;
    }
    if (!maar_arena_init(made, pool, number)) {
        maar_host_free(allocator->callbacks, made);
        return NULL;
    }
    maar_mutex_lock(&pool->lock);
    struct maar_arena* arena = maar_pool_arena(pool, number);
    if (arena == NULL) {
        arena = made;
        made = NULL;
        maar_atomic_pointer_store(&pool->arenas[number], arena);
        (void)maar_atomic32_add(&pool->arena_count, 1);
    }
    maar_mutex_unlock(&pool->lock);
    if (made != NULL) {
        maar_mutex_destroy(&made->lock);
        maar_host_free(allocator->callbacks, made);
    }
    return arena;
}

/* Threads get numbers in the order in which they ask. Nothing is to be done when a thread ends:
 * what lies in its arenas is used by the others, and a number may be had by several. */
uint32_t maar_thread_arena(MaarAllocator allocator)
{
    static _Thread_local const char here = 0;
    const uint64_t tag = (uint64_t)(uintptr_t)&here;
    const uint32_t hash = (uint32_t)((tag * 0x9E3779B97F4A7C15u) >> 40);
    for (uint32_t i = 0; i < MAAR_KNOWN_THREADS; ++i) {
        struct maar_known_thread* thread = &allocator->threads[(hash + i) % MAAR_KNOWN_THREADS];
        uint64_t known = maar_atomic64_load(&thread->tag);
        if (known == 0 && maar_atomic64_claim(&thread->tag, tag)) {
            const uint32_t number = maar_atomic32_add(&allocator->thread_count, 1) - 1u;
            maar_atomic32_store(&thread->arena, number % MAAR_ARENAS + 1);
            return number % MAAR_ARENAS;
        }
        known = maar_atomic64_load(&thread->tag);
        if (known == tag) {
            const uint32_t arena = maar_atomic32_load(&thread->arena);
            return arena != 0 ? arena - 1 : 0;
        }
    }
    return hash % MAAR_ARENAS;
}

/* The same where threads have met, or meet now. */
MAAR_NOINLINE struct maar_arena* enter_own_arena(struct maar_pool* pool, bool divided)
{
    struct maar_arena* arena = &pool->first_arena;
    const uint32_t number = maar_thread_arena(pool->allocator);
    struct maar_arena* own = maar_pool_arena(pool, number);
    if (own == NULL) {
        if (divided && maar_mutex_try_lock(&arena->lock)) {
            return arena;
        }
        own = make_arena(pool, number);
    }
    arena = own != NULL ? own : arena;
    maar_mutex_lock(&arena->lock);
    return arena;
}

static inline struct maar_arena* enter_arena(struct maar_pool* pool)
{
    const bool divided = maar_atomic32_load(&pool->arena_count) > 1;
    if (!divided && maar_mutex_try_lock(&pool->first_arena.lock)) {
        return &pool->first_arena;
    }
    return enter_own_arena(pool, divided);
}

struct maar_arena* maar_arena_enter(struct maar_pool* pool)
{
    return enter_arena(pool);
}

VkResult maar_bring_storage(const VkAllocationCallbacks* callbacks, struct maar_mutex* lock,
                            struct maar_placement* placement)
{
    size_t wanted = maar_placement_storage_wanted(placement);
    maar_mutex_unlock(lock);
    void* memory = maar_host_alloc(callbacks, wanted);
    maar_mutex_lock(lock);
    if (memory == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    void* old = maar_placement_storage_give(placement, memory, wanted);
    maar_mutex_unlock(lock);
    maar_host_free(callbacks, old);
    maar_mutex_lock(lock);
    return VK_SUCCESS;
}

void maar_arena_count_empty(struct maar_block* block, bool empty)
{
    struct maar_pool* pool = block->pool;
    (void)maar_atomic32_add(&pool->empty_count, empty ? 1u : UINT32_MAX);
    (void)maar_atomic64_add(&pool->empty_bytes, empty ? block->size : 0 - block->size);
}

MAAR_INLINE void fill_slot(struct maar_arena* arena, struct maar_block* block,
                           const struct maar_place_request* request,
                           const struct maar_placement_range* range, struct maar_made* made)
{
    const uint32_t index = arena->slots.head;
    struct maar_slot* slot = maar_slots_first(&arena->pool->allocator->slots, &arena->slots);
    made->slot = slot;
    made->index = index;
    arena->slots.first = NULL;
    arena->slots.head = slot->next_free;
    --arena->slots.count;
    slot->node = range->node;
    slot->block = block;
    maar_slot_set_range(slot, range->offset, request->size);
    slot->user_data = request->user_data;
    slot->name = request->name;
    slot->map_count = 0;
    slot->kind = (uint8_t)request->shown_kind & 3u;
    slot->fallback = false;
    slot->exceeded = false;
    slot->mapped_for_life = false;
    slot->pending = false;
    slot->made_block = false;
    slot->stitched = false;
    slot->can_alias = request->can_alias;
    slot->internal = request->internal;
    ++arena->made_count;
    maar_atomic64_store(&arena->live_bytes, maar_atomic64_load(&arena->live_bytes) + request->size);
    if (block->range_count++ == 0 && block->placement != NULL) {
        maar_arena_count_empty(block, false);
    }
}

void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made)
{
    fill_slot(arena, block, request, range, made);
}

/* Kinds of the placement: an unknown resource is kept apart from both known ones. */
static uint32_t placement_kind_of(const struct maar_pool* pool, MaarResourceKind kind)
{
    if (pool->granularity <= 1) {
        return 0;
    }
    return kind == MAAR_RESOURCE_KIND_UNKNOWN ? 3u : (uint32_t)kind;
}

/* Brings what was lacking, leaving the lock: VK_INCOMPLETE then. Or notes that there is no room. */
MAAR_NOINLINE VkResult place_in_vain(struct maar_arena* arena, struct maar_block* block,
                                     enum maar_place_outcome outcome)
{
    MaarAllocator allocator = arena->pool->allocator;
    if (outcome == MAAR_PLACE_NO_ROOM) {
        maar_arena_note_room(arena, block);
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    VkResult result = VK_SUCCESS;
    ++block->pin_count;
    if (arena->slots.head == MAAR_SLOT_NONE) {
        result = maar_slots_refill(&allocator->slots, &arena->lock, &arena->slots);
    } else {
        result = maar_bring_storage(allocator->callbacks, &arena->lock, block->placement);
    }
    --block->pin_count;
    return result == VK_SUCCESS ? VK_INCOMPLETE : result;
}

MAAR_INLINE VkResult place_in(struct maar_arena* arena, struct maar_block* block,
                              const struct maar_place_request* request, struct maar_made* made)
{
    enum maar_place_outcome outcome = MAAR_PLACE_WANTS_STORAGE;
    if (arena->slots.head != MAAR_SLOT_NONE) {
        const struct maar_placement_request placement = {
            .size = request->size,
            .alignment = request->alignment,
            .user = arena->slots.head,
            .kind = placement_kind_of(arena->pool, request->kind),
            .upper = request->upper,
        };
        struct maar_placement_range range;
        outcome = maar_placement_allocate(block->placement, &placement, &range);
        if (outcome == MAAR_PLACED) {
            fill_slot(arena, block, request, &range, made);
            /* What is left is looked at now and then; a request that fails for it will, too. */
            if ((block->range_count & ROOM_LOOK_MASK) == 0) {
                maar_arena_note_room(arena, block);
            }
            return VK_SUCCESS;
        }
    }
    return place_in_vain(arena, block, outcome);
}

VkResult maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                             const struct maar_place_request* request, struct maar_made* made)
{
    return place_in(arena, block, request, made);
}

/* Into the block that a large request fits most tightly, as far as the arena knows; what it knows
 * is brought up to date for the block that it chooses. */
MAAR_NOINLINE VkResult place_tightly(struct maar_arena* arena,
                                     const struct maar_place_request* request, uint32_t wanted,
                                     struct maar_made* made)
{
    for (;;) {
        const uint32_t at = maar_room_tightest(&arena->room, wanted);
        if (at == UINT32_MAX) {
            return VK_ERROR_OUT_OF_POOL_MEMORY;
        }
        struct maar_block* block = arena->blocks[at];
        const uint32_t known = arena->room.levels[at];
        maar_arena_note_room(arena, block);
        if (arena->room.levels[at] != known) {
            continue;
        }
        VkResult result = maar_arena_place_in(arena, block, request, made);
        if (result != VK_INCOMPLETE) {
            return result;
        }
    }
}

MAAR_INLINE VkResult place(struct maar_arena* arena, const struct maar_place_request* request,
                           struct maar_made* made)
{
    const uint32_t wanted = maar_room_class(request->size);
    if (request->size >= arena->pool->tight_size) {
        VkResult result = place_tightly(arena, request, wanted, made);
        if (result != VK_ERROR_OUT_OF_POOL_MEMORY) {
            return result;
        }
    }
    uint32_t at = maar_room_first(&arena->room, 0, wanted);
    while (at != UINT32_MAX) {
        VkResult result = place_in(arena, arena->blocks[at], request, made);
        if (result == VK_INCOMPLETE) {
            /* The lock was left: everything may have changed. */
            at = maar_room_first(&arena->room, 0, wanted);
        } else if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
            at = maar_room_first(&arena->room, at + 1, wanted);
        } else {
            return result;
        }
    }
    return VK_ERROR_OUT_OF_POOL_MEMORY;
}

VkResult maar_arena_place(struct maar_arena* arena, const struct maar_place_request* request,
                          struct maar_made* made)
{
    return place(arena, request, made);
}

/* Into the arenas of others: into those that nobody holds just now, or, when patient, into any. */
MAAR_NOINLINE VkResult place_elsewhere(struct maar_pool* pool, const struct maar_arena* own,
                                       bool patient, const struct maar_place_request* request,
                                       struct maar_made* made)
{
    VkResult result = VK_ERROR_OUT_OF_POOL_MEMORY;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0);
         arena != NULL && result == VK_ERROR_OUT_OF_POOL_MEMORY;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        if (arena == own) {
            continue;
        }
        if (patient) {
            maar_mutex_lock(&arena->lock);
        } else if (!maar_mutex_try_lock(&arena->lock)) {
            continue;
        }
        result = maar_arena_place(arena, request, made);
        maar_mutex_unlock(&arena->lock);
    }
    return result;
}

VkResult maar_pool_place(struct maar_pool* pool, const struct maar_place_request* request,
                         bool patient, struct maar_made* made)
{
    struct maar_arena* arena = enter_arena(pool);
    VkResult result = place(arena, request, made);
    maar_mutex_unlock(&arena->lock);
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY && maar_atomic32_load(&pool->arena_count) > 1) {
        result = place_elsewhere(pool, arena, patient, request, made);
    }
    maar_check_if_asked(pool);
    return result;
}

VkResult maar_arena_reserve_list(struct maar_arena* arena)
{
    const VkAllocationCallbacks* callbacks = arena->pool->allocator->callbacks;
    while (arena->block_count + arena->creating_count > arena->block_capacity) {
        uint32_t capacity =
            arena->block_capacity == 0 ? FIRST_BLOCK_CAPACITY : arena->block_capacity * 2;
        maar_mutex_unlock(&arena->lock);
        const size_t pointers = capacity * sizeof(struct maar_block*);
        struct maar_block** bigger = maar_host_calloc(
            callbacks, 1, pointers + maar_room_entries(capacity) * sizeof(uint16_t));
        maar_mutex_lock(&arena->lock);
        if (bigger == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        struct maar_block** old = bigger;
        if (capacity > arena->block_capacity) {
            if (arena->block_count > 0) {
                memcpy(bigger, arena->blocks, arena->block_count * sizeof *bigger);
            }
            old = arena->blocks;
            arena->blocks = bigger;
            arena->block_capacity = capacity;
            arena->room.levels = (uint16_t*)(void*)(bigger + capacity);
            arena->room.capacity = capacity;
            maar_room_renumber(&arena->room, bigger, arena->block_count, 0);
        }
        maar_mutex_unlock(&arena->lock);
        maar_host_free(callbacks, old);
        maar_mutex_lock(&arena->lock);
    }
    return VK_SUCCESS;
}

void maar_arena_list(struct maar_arena* arena, struct maar_block* block)
{
    uint32_t at = arena->block_count;
    while (at > 0 && arena->blocks[at - 1]->id > block->id) {
        arena->blocks[at] = arena->blocks[at - 1];
        --at;
    }
    arena->blocks[at] = block;
    ++arena->block_count;
    arena->block_bytes += block->size;
    maar_arena_count_empty(block, true);
    maar_room_renumber(&arena->room, arena->blocks, arena->block_count, at);
}

void maar_arena_unlist(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    const uint32_t at = block->at;
    arena->block_bytes -= block->size;
    --arena->block_count;
    memmove(&arena->blocks[at], &arena->blocks[at + 1],
            (arena->block_count - at) * sizeof arena->blocks[0]);
    if (counted) {
        (void)maar_atomic64_sub(&arena->pool->empty_bytes, block->size);
    } else {
        maar_arena_count_empty(block, false);
    }
    maar_room_renumber(&arena->room, arena->blocks, arena->block_count, at);
}

void maar_raise_live_peak(MaarAllocator allocator, VkDeviceSize gone)
{
    const VkDeviceSize stitched = maar_atomic64_load(&allocator->stitched_bytes);
    const VkDeviceSize paged = maar_atomic64_load(&allocator->paged_bytes);
    /* Stitched allocations are among the arenas' bytes; pages of anything else are not. */
    VkDeviceSize sum = gone + (paged > stitched ? paged - stitched : 0);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (const struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            sum += maar_atomic64_load(&arena->live_bytes);
        }
    }
    maar_atomic64_max(&allocator->peak_live_bytes, sum);
}

void maar_reset_live_peak(MaarAllocator allocator)
{
    maar_atomic64_store(&allocator->peak_live_bytes, 0);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
             arena = maar_pool_next_arena(pool, arena->number + 1)) {
            maar_mutex_lock(&arena->lock);
            arena->live_high = maar_atomic64_load(&arena->live_bytes);
            arena->looked_at = arena->live_high;
            maar_mutex_unlock(&arena->lock);
        }
    }
    maar_raise_live_peak(allocator, 0);
}
