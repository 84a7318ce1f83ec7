/*
 * How large margins are, and which of them are filled and compared: see margin.h.
 */
#ifndef MAAR_CORE_MEMORY_MARGIN_SIZE_H
#define MAAR_CORE_MEMORY_MARGIN_SIZE_H

#include "core/bits.h"
#include "core/memory/allocator_state.h"
#include "core/memory/pool.h"
#include "core/memory/slot_home.h"

/* Returns the margin of a pool's ranges, bytes. atom: where memory is flushed in atoms, else 1. */
static inline VkDeviceSize maar_margin_of_pool(MaarAllocator allocator, VkDeviceSize atom)
{
    return maar_align_up(allocator->margin, atom);
}

/* Whether margins in a memory type are filled and compared. */
static inline bool maar_margin_is_compared(MaarAllocator allocator, uint32_t type)
{
    const VkMemoryPropertyFlags both = (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                       (VkMemoryPropertyFlags)VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    return allocator->compares_margins && (maar_type_flags(allocator, type) & both) == both;
}

/* Returns the margin of a block's ranges, bytes. A dedicated block has none. */
static inline VkDeviceSize maar_block_margin(const struct maar_block* block)
{
    return block->placement != NULL ? block->pool->margin : 0;
}

/* Returns the bytes of a live slot that are its owner's: those of its range without the margin,
 * under the conditions of maar_slot_span. */
static inline struct maar_span maar_slot_bytes(MaarAllocator allocator,
                                               const struct maar_slot* slot)
{
    const VkDeviceSize margin = maar_block_margin(maar_slot_block(allocator, slot));
    struct maar_span span = maar_slot_span(allocator, slot);
    /* What is kept of a free range may be shorter. */
    span.size -= span.size > margin ? margin : 0;
    return span;
}

/* Returns the part of a range that a list of ranges shows as padding: the margin, if a live
 * allocation has the range. margin: of the range's block. Called under the arena's lock. */
static inline VkDeviceSize maar_shown_margin(MaarAllocator allocator, VkDeviceSize margin,
                                             uint32_t owner)
{
    return margin != 0 && maar_slot_has(maar_slot_at(&allocator->slots, owner), MAAR_SLOT_PENDING)
               ? 0
               : margin;
}

#endif
