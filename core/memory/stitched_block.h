/*
 * Allocations made of pages, and the blocks that pages are of, as far as both are memory. What
 * pages are is the business of core/paging.
 */
#ifndef MAAR_CORE_MEMORY_STITCHED_BLOCK_H
#define MAAR_CORE_MEMORY_STITCHED_BLOCK_H

#include "core/memory/arena_place.h"
#include "core/time/retire.h"

/* A stitched allocation on its way. */
struct maar_stitched {
    struct maar_arena* arena;
    struct maar_block* block;
    struct maar_place_request place;
    struct maar_made made; /* a slot that nobody else has */
};

/* Brings all host memory that a stitched allocation needs: nothing fails after it.
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_stitched_prepare(struct maar_pool* pool, const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, struct maar_stitched* out);
void maar_stitched_discard(struct maar_stitched* stitched);
/* Makes it live, with the bytes of pages of a table, which goes with it. */
MaarAllocation maar_stitched_publish(struct maar_stitched* stitched, struct maar_page_table* table,
                                     VkDeviceSize page_bytes);

/* A dedicated block of Maar's own is cut into pages from now on. No lock may be held. */
void maar_block_make_paged(struct maar_block* block);

/* Ends a claimed one, now or once the points and its last submission have passed, by the action of
 * a retire item with this object. Cannot fail. */
void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action);

#endif
