/*
 * The home of an allocation: where its bytes are. A slot is the identity of an allocation and stays
 * the same as long as the allocation lives. Its home, a range of a block, is a location and may
 * change.
 *
 * The home of a slot changes under the locks of both arenas, and under the map lock of the block
 * that it leaves, while the slot is not mapped. So a thread that holds the lock of a slot's arena,
 * or the map lock of its block, reads a home that does not change. A block may move to another
 * arena too, under the locks of both (arena_adopt.h). A thread finds the block, locks its arena,
 * and reads both again, since the slot or the block may have moved before the lock was held. The
 * old block may have been released by then, and its header may serve another arena. Headers are
 * never freed before the allocator ends (recycled.h), so the old lock can still be taken.
 *
 * Two arenas are locked in the order of their addresses, which never change.
 */
#ifndef MAAR_CORE_MEMORY_SLOT_HOME_H
#define MAAR_CORE_MEMORY_SLOT_HOME_H

#include "core/memory/allocator_state.h"
#include "core/memory/arena.h"

/* Returns the block of a slot that stays where it is: its arena's lock or its block's map lock is
 * held; or its handle is not published yet; or its bytes are pending; or it is mapped; or it is
 * shared with another API or made of pages. Otherwise the home may be an old one. Calls that bind
 * an object to an existing allocation read it without a lock too: the program binds nothing to an
 * allocation while a batch that moves it is committed. */
static inline struct maar_block* maar_slot_block(MaarAllocator allocator,
                                                 const struct maar_slot* slot)
{
    return maar_block_of_number(&allocator->block_numbers,
                                maar_atomic32_load_acquire(&slot->block));
}

/* Returns the arena of a block. */
static inline struct maar_arena* maar_block_arena(const struct maar_block* block)
{
    return maar_atomic_pointer_load(&block->arena);
}

/* Gives a slot a home. The slot is not published yet, or the locks named above are held. */
static inline void maar_slot_set_home(struct maar_slot* slot, const struct maar_block* block,
                                      uint32_t node)
{
    slot->node = node;
    maar_atomic32_store_release(&slot->block, block->number);
}

/* Locks the arena of a slot and returns the slot's block. */
static inline struct maar_block* maar_slot_enter(MaarAllocator allocator,
                                                 const struct maar_slot* slot)
{
    for (;;) {
        struct maar_arena* arena = maar_block_arena(maar_slot_block(allocator, slot));
        maar_mutex_lock(&arena->lock);
        struct maar_block* block = maar_slot_block(allocator, slot);
        if (maar_block_arena(block) == arena) {
            return block;
        }
        maar_mutex_unlock(&arena->lock);
    }
}

/* Locks the mapping of a slot's block and returns the block. */
static inline struct maar_block* maar_slot_enter_mapping(MaarAllocator allocator,
                                                         const struct maar_slot* slot)
{
    for (;;) {
        struct maar_block* block = maar_slot_block(allocator, slot);
        maar_mutex_lock(&block->map_lock);
        if (maar_slot_block(allocator, slot) == block) {
            return block;
        }
        maar_mutex_unlock(&block->map_lock);
    }
}

/* Returns the bytes of a live slot in its block. Nothing of a node's range changes while the range
 * lives. So the arena's lock is needed only if another thread may free or move the allocation: the
 * caller holds that lock, or the map lock of a block in which the slot is mapped; or Maar uses the
 * allocation itself; or its handle was not returned to the program yet. */
static inline struct maar_span maar_slot_span(MaarAllocator allocator, const struct maar_slot* slot)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    return block->placement != NULL ? maar_placement_span(block->placement, slot->node)
                                    : (struct maar_span){0, block->dedicated_size};
}

/* Where an object is bound. */
struct maar_spot {
    VkDeviceMemory memory;
    VkDeviceSize offset;
};

/* Returns where the bytes of a live slot begin, under the conditions of maar_slot_span. */
static inline struct maar_spot maar_slot_spot(MaarAllocator allocator, const struct maar_slot* slot)
{
    return (struct maar_spot){maar_slot_block(allocator, slot)->memory,
                              maar_slot_span(allocator, slot).offset};
}

/* Prefetches what the free of a claimed slot reads first. The slot does not move, so nothing of its
 * home changes before it is freed. */
static inline void maar_slot_prefetch(MaarAllocator allocator, const struct maar_slot* slot)
{
    const struct maar_block* block = maar_slot_block(allocator, slot);
    if (block->placement != NULL) {
        maar_placement_prefetch(block->placement, slot->node);
    }
}

/* Returns the bytes of a slot that are its owner's, as maar_slot_bytes (margin_size.h) does, where
 * another thread may free or move the allocation: takes the arena's lock. Returns an empty span if
 * the slot is not live any more. */
struct maar_span maar_slot_find_bytes(MaarAllocator allocator, const struct maar_slot* slot);

/* Lock two arenas, and release their locks. Both may be the same arena. Code that moves bytes needs
 * them. */
void maar_arena_lock_both(struct maar_arena* one, struct maar_arena* other);
void maar_arena_unlock_both(struct maar_arena* one, struct maar_arena* other);

#endif
