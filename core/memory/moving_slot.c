/*
 * Slots whose allocations get another home: see moving_slot.h.
 */
#include "core/memory/moving_slot.h"

#include "core/host_memory.h"
#include "core/memory/allocation_handle.h"
#include "core/memory/arena_place.h"
#include "core/memory/captured_slot.h"
#include "core/memory/location_epoch.h"
#include "core/memory/mapping.h"
#include "core/memory/peak.h"
#include "core/memory/pending_count.h"
#include "core/memory/pool.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"

void maar_slot_free_moving(MaarAllocator allocator, struct maar_slot* slot, uint32_t index)
{
    while (slot->map_count > 0 && maar_slot_unmap(allocator, slot, 0)) {
    }
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    const bool is_first = maar_key_leave_move(&slot->key);
    if (is_first) {
        maar_slot_mark(slot, MAAR_SLOT_PENDING, true);
        maar_count_pending(arena, block, maar_slot_span(allocator, slot).size);
        if (arena->capture != NULL) {
            maar_captured_pending(arena, slot, index);
        }
        maar_arena_lose_live(arena, maar_slot_span(allocator, slot).size);
    }
    maar_mutex_unlock(&arena->lock);
    if (!is_first) {
        maar_host_free(allocator->callbacks,
                       maar_pool_free_slot(allocator, slot, index, MAAR_SLOT_END_LIVE));
    }
}

bool maar_slot_begin_move(struct maar_slot* slot, uint64_t handle)
{
    const uint32_t key = (uint32_t)(handle >> 32);
    return maar_key_turn(&slot->key, key, key | MAAR_SLOT_MOVING);
}

bool maar_slot_abandon_move(struct maar_slot* slot, uint64_t handle)
{
    const uint32_t key = (uint32_t)(handle >> 32);
    return maar_key_turn(&slot->key, key | MAAR_SLOT_MOVING, key);
}

void maar_slot_make_twin(MaarAllocator allocator, MaarAllocation allocation)
{
    const uint32_t index = (uint32_t)MAAR_TO_BITS(allocation) - 1u;
    struct maar_slot* slot = maar_slot_of_own(allocator, allocation);
    const bool is_claimed = maar_slot_claim(slot, MAAR_TO_BITS(allocation));
    MAAR_DEBUG_ASSERT(is_claimed);
    (void)is_claimed;
    struct maar_block* block = maar_slot_enter(allocator, slot);
    struct maar_arena* arena = maar_block_arena(block);
    maar_slot_mark(slot, MAAR_SLOT_PENDING, true);
    maar_count_pending(arena, block, maar_slot_span(allocator, slot).size);
    /* The program did not make it. */
    --arena->made_count;
    maar_arena_drop_live(arena, maar_slot_span(allocator, slot).size);
    if (arena->capture != NULL) {
        maar_captured_pending(arena, slot, index);
    }
    maar_mutex_unlock(&arena->lock);
}

void maar_twin_end(MaarAllocator allocator, uint32_t index)
{
    maar_pool_end_pending(allocator, index);
}

void maar_slot_settle(MaarAllocator allocator, uint32_t index)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    struct maar_block* block = maar_slot_enter(allocator, slot);
    const bool is_first = maar_key_leave_move(&slot->key);
    maar_mutex_unlock(&maar_block_arena(block)->lock);
    if (!is_first) {
        maar_pool_end_pending(allocator, index);
    }
}

/* Gives a range of a block another owner. */
static void set_owner(struct maar_block* block, uint32_t node, uint32_t index)
{
    if (block->placement != NULL) {
        struct maar_placement_range range;
        uint64_t tag = 0;
        uint32_t kind = 0;
        (void)maar_placement_get(block->placement, node, &range, &tag, &kind);
        maar_placement_set_user(block->placement, node,
                                maar_range_tag(index, maar_tag_alignment(tag)));
    } else {
        block->dedicated_slot = index;
    }
}

/* The two slots of a move, and where they are. */
struct both_homes {
    MaarAllocator allocator;
    struct maar_slot* slot;
    struct maar_slot* twin;
    uint32_t index;
    uint32_t twin_index;
    struct maar_block* from;
    struct maar_block* to;
};

/* Locks the arenas of both slots, and the mapping of the block that the first one leaves. */
static void enter_both(struct both_homes* both)
{
    for (;;) {
        both->from = maar_slot_block(both->allocator, both->slot);
        both->to = maar_slot_block(both->allocator, both->twin);
        struct maar_arena* source = maar_block_arena(both->from);
        struct maar_arena* target = maar_block_arena(both->to);
        maar_arena_lock_both(source, target);
        const bool are_there = maar_slot_block(both->allocator, both->slot) == both->from &&
                               maar_block_arena(both->from) == source &&
                               maar_block_arena(both->to) == target;
        if (are_there && maar_mutex_try_lock(&both->from->map_lock)) {
            return;
        }
        maar_arena_unlock_both(source, target);
        if (are_there) {
            /* Another thread may be in the driver with this lock: waits without the arenas. */
            maar_mutex_lock(&both->from->map_lock);
            maar_mutex_unlock(&both->from->map_lock);
        }
    }
}

static void leave_both(const struct both_homes* both)
{
    maar_mutex_unlock(&both->from->map_lock);
    maar_arena_unlock_both(maar_block_arena(both->from), maar_block_arena(both->to));
}

/* Forgets what a capture has recorded of a slot, which changes homes. */
static void forget_captured(struct maar_arena* arena, struct maar_slot* slot, uint32_t index)
{
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
        maar_slot_mark(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD, false);
    }
}

/* Exchanges the homes of both slots. */
static void exchange_homes(const struct both_homes* both)
{
    struct maar_slot* slot = both->slot;
    struct maar_slot* twin = both->twin;
    struct maar_block* const from = maar_slot_block(both->allocator, slot);
    struct maar_block* const to = maar_slot_block(both->allocator, twin);
    const uint32_t node = slot->node;
    set_owner(from, node, both->twin_index);
    set_owner(to, twin->node, both->index);
    maar_slot_set_home(slot, to, twin->node);
    maar_slot_set_home(twin, from, node);
}

/* Accounts for an exchange of homes: the slot's bytes live in the new block, and the twin's are
 * pending in the old one. */
static void account_for_exchange(const struct both_homes* both)
{
    struct maar_arena* source = maar_block_arena(both->from);
    struct maar_arena* target = maar_block_arena(both->to);
    const VkDeviceSize old_size = maar_slot_span(both->allocator, both->twin).size;
    const VkDeviceSize new_size = maar_slot_span(both->allocator, both->slot).size;
    maar_arena_lose_live(source, old_size);
    maar_arena_gain_live(target, new_size);
    maar_uncount_pending(target, both->to, new_size);
    maar_count_pending(source, both->from, old_size);
    forget_captured(source, both->slot, both->index);
    forget_captured(target, both->twin, both->twin_index);
    if (source->capture != NULL) {
        maar_captured_pending(source, both->twin, both->twin_index);
    }
    if (target->capture != NULL) {
        maar_captured_range(target, both->slot, both->index, NULL);
    }
}

/* A free that does not know of the move reads the new home, or it claims the slot before, and the
 * exchange is taken back. A thread that claims a moving slot reads its home under the lock. */
enum maar_move_end maar_slot_end_move(MaarAllocator allocator, uint64_t handle, uint32_t twin)
{
    const uint32_t index = (uint32_t)handle - 1u;
    const uint32_t key = (uint32_t)(handle >> 32);
    struct both_homes both = {
        .allocator = allocator,
        .slot = maar_slot_at(&allocator->slots, index),
        .twin = maar_slot_at(&allocator->slots, twin),
        .index = index,
        .twin_index = twin,
    };
    enter_both(&both);
    const bool is_mapped = both.slot->map_count > 0;
    const bool changes = !is_mapped && maar_key_read(&both.slot->key) == key;
    if (changes) {
        exchange_homes(&both);
    }
    const bool is_live = maar_key_turn(&both.slot->key, key | MAAR_SLOT_MOVING, key);
    if (changes && !is_live) {
        exchange_homes(&both);
    } else if (changes) {
        account_for_exchange(&both);
        maar_epoch_raise(&allocator->epochs, handle);
    }
    leave_both(&both);
    if (!is_live) {
        return MAAR_MOVE_FREED;
    }
    return is_mapped ? MAAR_MOVE_MAPPED : MAAR_MOVE_DONE;
}
