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
/* Frees the stand-in for a block, when its pages are gone. No lock may be held. */
void maar_stitched_free(struct maar_block* block);

/* A dedicated block of Maar's own is cut into pages from now on. No lock may be held. */
void maar_block_make_paged(struct maar_block* block);
/* How many bytes of its pages are in use, and held. Any lock may be held. */
void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending);

/* ---- implemented by core/paging (page_allocation.c), which knows what pages are ---- */

/* Whether a pool may stitch on this device; reports if not. */
VkResult maar_stitching_require(MaarAllocator allocator, const char* call);
/* Ends a claimed one, now or once the points and its last submission have passed, by the action of
 * a retire item with this object. Cannot fail. */
void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action);
/* Ends what is left of it when its slot is gone. No lock may be held. */
void maar_stitched_destroy(struct maar_block* block);

#endif
