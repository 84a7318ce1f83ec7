/*
 * Blocks: a VkDeviceMemory and its allocations. A block is divided by a placement, or dedicated to
 * one allocation, or cut into pages by core/paging.
 *
 * A block belongs to one arena as long as it exists. The arena's lock guards the counts and the
 * placement. The map lock guards the mapping.
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

/* A block. In the list of stitched allocations a block is a stand-in for an allocation made of
 * pages: it has a page table, but no VkDeviceMemory and no id. */
struct maar_block {
    /* The members that placing and freeing use come first. */
    maar_atomic_pointer arena;        /* NULL: dedicated */
    struct maar_placement* placement; /* the same one as long as the block exists */
    uint32_t at;                      /* index in the list of its arena */
    uint32_t range_count;             /* allocations in it, live or pending */
    uint32_t pending_count;
    uint32_t pin_count; /* threads that left the lock and return to the block */
    VkDeviceSize pending_bytes;
    struct maar_pool* pool;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t id;
    struct maar_block* next; /* of dedicated blocks: the arena's doubly linked list */
    struct maar_block* previous;
    uint32_t dedicated_slot;
    bool named;                  /* made with VkMemoryDedicatedAllocateInfo, for one object only */
    maar_atomic32 paged;         /* whether the block is cut into pages; if so: */
    maar_atomic64 paged_live;    /* bytes of pages in use */
    maar_atomic64 paged_pending; /* bytes of returned pages that the device still uses */

    VkExternalMemoryHandleTypeFlags shared_types; /* handle types for export, or of the import */
    bool imported;
    struct maar_attachment* attachments; /* under the allocator's share lock; see attachment.h */

    struct maar_page_table* table;   /* of a stand-in: the pages */
    struct maar_retire_item* ending; /* and the item that will end them, so that this cannot fail */

    maar_atomic32 map_count; /* written under the map lock, read by dumps without the lock */
    uint32_t map_calls;      /* calls of vkMapMemory; under the map lock, like mapped */
    void* mapped;
    struct maar_mutex map_lock; /* guards these, and map_count of its slots */
};

/* Whether a block is cut into pages. Its live bytes are then those of pages in use. */
static inline bool maar_block_is_paged(const struct maar_block* block)
{
    return block->placement == NULL && maar_atomic32_load(&block->paged) != 0;
}

/* Returns the bytes of live allocations in a block. The arena's lock is held. */
static inline VkDeviceSize maar_block_live_bytes(const struct maar_block* block)
{
    if (block->table != NULL) {
        return 0; /* the page blocks count these bytes */
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

/* Makes a block, with a placement unless it is dedicated. The block is in no list yet. No lock may
 * be held. */
VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block);
/* Sets how many bytes of a block's pages are in use, and how many are pending. Any lock may be
 * held. */
void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending);
/* Frees a stand-in that has no pages yet. */
void maar_stand_in_free(struct maar_block* block);
/* Destroys a block that is in no list any more. A stand-in is destroyed with its pages. No lock may
 * be held. */
void maar_block_destroy(struct maar_block* block);

#endif
