/*
 * The common path of an allocation and of a free, inline: the first block that may have room has a
 * fitting range, and the free leaves its block in the state that the indexes know. Everything else
 * is left to arena_place.c and range_free.c, which do the same with every check. No lock may be
 * held.
 */
#ifndef MAAR_CORE_MEMORY_ARENA_FAST_H
#define MAAR_CORE_MEMORY_ARENA_FAST_H

#include "core/memory/allocator_state.h"
#include "core/memory/arena_place.h"
#include "core/memory/fast_choice.h"
#include "core/memory/peak.h"
#include "core/memory/pool_check.h"
#include "core/memory/range_end.h"
#include "core/memory/slot_home.h"

/* Places a request into the first block of an arena that may have room. Returns false, and changes
 * nothing, if that takes more than a few steps. Called under the lock. spot may be NULL. */
MAAR_INLINE bool maar_arena_place_fast(struct maar_arena* arena,
                                       const struct maar_fast_choice* choice,
                                       const MaarMemoryRequest* request, void* user_data,
                                       struct maar_made* made, struct maar_spot* spot)
{
    const VkDeviceSize size = request->requirements.size;
    const uint32_t wanted = maar_size_class(size);
    const uint32_t at = maar_block_index_first(&arena->block_index, 0, wanted);
    const uint32_t index = arena->slots.head;
    if (at == UINT32_MAX || index == MAAR_SLOT_NONE) {
        return false;
    }
    struct maar_block* block = arena->blocks[at];
    const struct maar_placement_request placement = {
        .size = size,
        .alignment = request->requirements.alignment,
        .user = maar_range_tag(index, request->requirements.alignment),
        .kind = choice->placement_kind,
    };
    struct maar_placement_range range;
    if (maar_placement_allocate(block->placement, &placement, &range) != MAAR_PLACED) {
        return false;
    }
    made->slot = maar_arena_take_slot(arena, request->kind, user_data);
    made->index = index;
    maar_slot_set_home(made->slot, block, range.node);
    ++arena->made_count;
    maar_arena_gain_live(arena, size);
    maar_arena_count_range(arena, block, wanted);
    if (spot != NULL) {
        *spot = (struct maar_spot){block->memory, range.offset};
    }
    return true;
}

/* Serves a request whose create info sets only usage, required flags and user data, from the pool
 * that the same request got before. Returns false if there is no such pool, or if this thread's
 * arena has no room. spot may be NULL. */
MAAR_INLINE bool maar_allocate_from_known_pool(MaarAllocator allocator,
                                               const MaarMemoryRequest* request,
                                               const MaarAllocationCreateInfo* info,
                                               MaarAllocation* allocation, struct maar_spot* spot)
{
    const struct maar_fast_choice* choice =
        maar_fast_choice_find(allocator->fast_choices, request, info);
    if (choice == NULL || request->requirements.alignment < choice->least_alignment) {
        return false;
    }
    struct maar_pool* pool = maar_atomic_pointer_load(&choice->pool);
    if (request->requirements.size - 1 >= pool->fast_size) { /* 0 is refused elsewhere */
        return false;
    }
    struct maar_made made;
    struct maar_arena* arena = maar_arena_enter(pool);
    if (!maar_arena_place_fast(arena, choice, request, info->pUserData, &made, spot)) {
        return maar_arena_place_plain(arena, request, info->pUserData, allocation, spot);
    }
    maar_mutex_unlock(&arena->lock);
    maar_check_if_asked(arena->pool);
    *allocation = maar_made_publish(&made);
    return true;
}

/* Whether a claimed slot has no name, no mapping, no pages and no part in a capture, so that
 * nothing but its bytes must be freed. Called under the arena's lock. */
MAAR_INLINE bool maar_slot_ends_fast(const struct maar_slot* slot)
{
    return !maar_slot_has(slot, MAAR_SLOT_NAMED | MAAR_SLOT_RANGED | MAAR_SLOT_HELD) &&
           slot->map_count == 0 && !slot->stitched && !slot->ordered;
}

/* Whether this thread allocates from the arena of a block. For a block with an open list of far
 * frees this reads nothing that the threads of another arena write. */
MAAR_INLINE bool maar_block_is_own(MaarAllocator allocator, const struct maar_block* block)
{
    if (!maar_pool_is_shared(block->pool)) {
        return true;
    }
    const uint32_t number = maar_known_thread_arena(&allocator->threads);
    const uint32_t listing = maar_atomic32_load(&block->listing);
    return listing != 0 ? listing == number + 1 : maar_block_arena(block)->number == number;
}

/* Frees a claimed slot and its bytes, if the slot is plain, another allocation stays in its block,
 * and its arena is this thread's, and no other thread holds it. Returns false, and changes nothing,
 * otherwise. */
MAAR_INLINE bool maar_slot_free_fast(MaarAllocator allocator, struct maar_slot* slot,
                                     uint32_t index)
{
    struct maar_block* block = maar_slot_block(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    if (!maar_block_is_own(allocator, block) || !maar_mutex_try_lock(&arena->lock)) {
        return false;
    }
    const bool ends = maar_atomic32_load(&slot->block) == block->number &&
                      maar_block_arena(block) == arena && block->placement != NULL &&
                      maar_slot_ends_fast(slot) && block->range_count > 1 &&
                      arena->slots.count < MAAR_SPARE_SLOTS;
    bool known = true;
    if (ends) {
        VkDeviceSize size = 0;
        known = maar_release_range(arena, block, slot->node, &size);
        maar_arena_lose_live(arena, size);
        maar_slots_push(&arena->slots, slot, index);
    }
    maar_mutex_unlock(&arena->lock);
    if (!known) {
        maar_broken(allocator, "a live allocation has no range in its block");
    }
    maar_check_if_asked(arena->pool);
    return ends;
}

#endif
