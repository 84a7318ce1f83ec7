/*
 * Blocks: a VkDeviceMemory, and who lies in it. A block is placed into by a placement, or dedicated
 * to one allocation, or cut into pages by core/paging.
 *
 * A block belongs to one arena for life, whose lock guards the counts and the placement. The map
 * lock guards the mapping.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_H
#define MAAR_CORE_MEMORY_BLOCK_H

#include "core/memory/device_memory.h"
#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"

struct maar_arena;
struct maar_attachment;
struct maar_page_table;
struct maar_pool;
struct maar_retire_item;

/* In the lists of stitched allocations a block stands for an allocation made of pages: it has a
 * page table, and neither a VkDeviceMemory nor a number. */
struct maar_block {
    /* What placing and freeing touch comes first. */
    maar_atomic_pointer arena;        /* see slot_home.h: old readers may look at it */
    struct maar_placement* placement; /* NULL: dedicated */
    uint32_t at;                      /* in the list of its arena */
    uint32_t range_count;             /* allocations in it, live or pending */
    uint32_t pending_count;
    uint32_t pin_count; /* threads that left the lock and will come back to the block */
    VkDeviceSize pending_bytes;
    struct maar_pool* pool;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t id;
    struct maar_block* next; /* dedicated ones: doubly linked list of the arena */
    struct maar_block* previous;
    uint32_t dedicated_slot;
    bool named;                  /* made with VkMemoryDedicatedAllocateInfo: for one object alone */
    maar_atomic32 paged;         /* cut into pages; then: */
    maar_atomic64 paged_live;    /* bytes of pages in use, */
    maar_atomic64 paged_pending; /* and bytes of returned pages that the device still uses */

    VkExternalMemoryHandleTypeFlags shared_types; /* it may be exported as, or was imported from */
    bool imported;
    struct maar_attachment* attachments; /* under the allocator's share lock; see attachment.h */

    struct maar_page_table* table;   /* stitched ones: the pages, */
    struct maar_retire_item* ending; /* and what will end them, so that this cannot fail */

    maar_atomic32 map_count; /* written under the map lock, read by dumps without it */
    uint32_t map_calls;      /* calls of vkMapMemory for it; under the map lock, as mapped is */
    void* mapped;
    struct maar_mutex map_lock; /* guards these, and map_count of its slots */
};

/* Whether a block is cut into pages: its live bytes are then those of pages in use. */
static inline bool maar_block_is_paged(const struct maar_block* block)
{
    return block->placement == NULL && maar_atomic32_load(&block->paged) != 0;
}

/* Bytes of live allocations in a block; its arena's lock is held. */
static inline VkDeviceSize maar_block_live_bytes(const struct maar_block* block)
{
    if (block->table != NULL) {
        return 0; /* its bytes are those of page blocks */
    }
    if (maar_block_is_paged(block)) {
        return maar_atomic64_load(&block->paged_live);
    }
    if (block->placement == NULL) {
        return block->range_count > block->pending_count ? block->size : 0;
    }
    struct maar_placement_totals totals;
    maar_placement_totals(block->placement, &totals);
    return totals.used_size - block->pending_bytes;
}

/* Makes a block (with a placement unless dedicated); it belongs to no list yet. */
VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block);
/* How many bytes of its pages are in use, and held. Any lock may be held. */
void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending);
/* Frees what was to stand for a stitched allocation and has no pages. */
void maar_stand_in_free(struct maar_block* block);
/* The block must be in no list any more; what stands for a stitched allocation goes with its pages.
 * No lock may be held. */
void maar_block_destroy(struct maar_block* block);

#endif
