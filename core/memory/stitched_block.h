/*
 * Stitched allocations, which are made of pages, and the blocks that are cut into pages, both as
 * memory of a pool. core/paging decides what the pages contain, and calls this file.
 */
#ifndef MAAR_CORE_MEMORY_STITCHED_BLOCK_H
#define MAAR_CORE_MEMORY_STITCHED_BLOCK_H

#include "core/memory/arena_place.h"
#include "core/time/retire.h"

/* A stitched allocation that is being made. */
struct maar_stitched {
    struct maar_arena* arena;
    struct maar_block* block;
    struct maar_place_request place;
    struct maar_made made; /* a slot that no other thread can see */
};

/* Allocates all host memory that a stitched allocation needs, so that no later step fails. Returns
 * VK_ERROR_OUT_OF_HOST_MEMORY or VK_SUCCESS. */
VkResult maar_stitched_prepare(struct maar_pool* pool, const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, struct maar_stitched* out);
/* Frees the host memory of a stitched allocation that is not made. */
void maar_stitched_discard(struct maar_stitched* stitched);
/* Makes a stitched allocation live and returns its handle. The allocation owns the page table from
 * now on. */
MaarAllocation maar_stitched_publish(struct maar_stitched* stitched, struct maar_page_table* table,
                                     VkDeviceSize page_bytes);

/* Marks a dedicated block of Maar's own as cut into pages. No lock may be held. */
void maar_block_make_paged(struct maar_block* block);

/* Ends a claimed stitched allocation by the action of a retire item with this object: at once, or
 * when the points and its last submission have passed. Cannot fail. */
void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action);

#endif
