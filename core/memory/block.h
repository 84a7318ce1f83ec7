/*
 * Blocks. A block is a VkDeviceMemory and its allocations. It is divided by a placement, or
 * dedicated to one allocation, or cut into pages by core/paging.
 *
 * A block belongs to one arena at a time; see arena_adopt.h. The arena's lock guards the counts and
 * the placement. The map lock guards the mapping.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_H
#define MAAR_CORE_MEMORY_BLOCK_H

#include "core/memory/device_memory.h"
#include "core/memory/far_list.h"
#include "core/memory/leaving.h"
#include "core/placement/placement.h"
#include "core/port_atomic.h"
#include "core/port_thread.h"

struct maar_arena;
struct maar_attachment;
struct maar_page_block;
struct maar_page_table;
struct maar_pool;
struct maar_retire_item;

/* How a VkDeviceMemory was made, for captures. */
struct maar_block_origin {
    uint64_t duration_ns; /* in the driver; 0 if no capture went on */
    uint64_t object;      /* to which the memory is dedicated, or 0 */
    uint32_t flags;       /* MaarCaptureMemoryFlagBits */
    float priority;
};

/* A block, or the stand-in of a stitched allocation. A stand-in is in an arena's list of stitched
 * allocations. It has a page table, but no VkDeviceMemory and no id. */
struct maar_block {
    /* Other threads read these, and they seldom change. So they lie apart from what the arena's own
     * threads write all the time. */
    maar_atomic_pointer arena;        /* changes under the locks of both arenas */
    struct maar_placement* placement; /* NULL: dedicated, cut into pages, or a stand-in */
    struct maar_pool* pool;
    maar_atomic32 listing; /* the number of the arena, plus one, while far frees are listed, or 0 */
    uint32_t number;       /* of the header: see block_numbers.h */
    void* header_memory;   /* of the header, as the host gave it */
    uint32_t at;           /* index in the list of its arena */
    uint64_t apart[10];    /* padding */

    /* An allocation and a free need the next members, which are in one cache line. */
    uint32_t range_count;   /* allocations in the block, live or pending */
    uint32_t listing_floor; /* far frees are listed no more at this range_count; 0: they are not */
    /* A free range of at most so many bytes changes neither the block's class in the block index
     * nor a bound in the shape index. */
    VkDeviceSize quiet_room;
    uint32_t least_bound; /* in the arena's shape index; UINT32_MAX if it has none */
    uint32_t pending_count;
    uint32_t pin_count; /* threads that have unlocked the arena and will return to the block */
    VkDeviceSize pending_bytes;
    VkDeviceMemory memory;
    VkDeviceSize size;
    uint64_t id;
    struct maar_block* next_of_id; /* see block_ids.h */
    /* in the arena's list of dedicated blocks, of stand-ins or of empty blocks */
    struct maar_block* next;
    struct maar_block* previous;
    uint32_t dedicated_slot;
    VkDeviceSize dedicated_size; /* of the only allocation */
    uint64_t emptied_at;         /* of an empty block: see empty_blocks.h */
    uint32_t idle_place;         /* in the arena's heap of idle blocks, plus one; 0: not in it */
    struct maar_leaving_memory leaving;
    bool draining;               /* takes no allocations: see draining.h */
    bool has_kept;               /* ranges are kept for one allocation: see kept_range.h */
    bool named;                  /* made with VkMemoryDedicatedAllocateInfo, for one object only */
    maar_atomic32 paged;         /* whether the block is cut into pages */
    maar_atomic64 paged_live;    /* of a block that is cut into pages: bytes of pages in use */
    maar_atomic64 paged_pending; /* and bytes of returned pages that the device still uses */

    VkExternalMemoryHandleTypeFlags shared_types; /* handle types for export, or of the import */
    bool imported;
    struct maar_block_origin origin;
    maar_atomic32 captured; /* a capture has recorded the block; written under the arena's lock */
    struct maar_attachment* attachments; /* under the allocator's share lock; see attachment.h */

    struct maar_page_block* pages; /* of a paged block that is listed; under the paging lock */
    struct maar_page_table* table; /* of a stand-in: its pages */
    /* of a stand-in: the item that will end the allocation, made in advance, so that freeing the
     * allocation cannot fail */
    struct maar_retire_item* ending;

    maar_atomic32 map_count; /* written under the map lock, read by dumps without the lock */
    uint32_t map_calls;      /* calls of vkMapMemory */
    void* mapped;
    struct maar_mutex map_lock; /* guards these three members, and map_count of the block's slots */
    struct maar_far_list far_list;
};

/* Headers begin with a cache line: see new_block (recycled.c). */
#define MAAR_BLOCK_ALIGNMENT ((uintptr_t)64)
#if UINTPTR_MAX > 0xFFFFFFFFu
_Static_assert(offsetof(struct maar_block, range_count) % 64 == 0, "a cache line");
#endif

/* Whether a block is cut into pages. Its live bytes are then the bytes of pages in use. */
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

/* Sets quiet_room after an index or a bound of the block has changed. room: the class of the block
 * is at least that of so many bytes. No free changes the indexes for a block that drains. The
 * arena's lock is held. */
static inline void maar_block_set_quiet(struct maar_block* block, VkDeviceSize room)
{
    block->quiet_room = room < block->least_bound ? room : block->least_bound;
    if (block->draining) {
        block->quiet_room = UINT64_MAX;
    }
}

/* Returns an upper bound of the bytes that one more allocation of a block can have. The arena's
 * lock is held. */
static inline VkDeviceSize maar_block_room(const struct maar_block* block)
{
    return block->draining ? 0 : maar_placement_largest_free_bound(block->placement);
}

/* Makes a block, with a placement unless it is dedicated. The block is in no list yet. No lock may
 * be held. */
VkResult maar_block_create(struct maar_arena* arena, const struct maar_device_memory_info* info,
                           bool dedicated, struct maar_block** block);
/* Sets the number of bytes of a block's pages that are in use, and the number that are pending. Any
 * lock may be held. */
void maar_block_note_pages(struct maar_block* block, VkDeviceSize live, VkDeviceSize pending);
/* Frees a stand-in that has no pages yet, or no pages any more. */
void maar_stand_in_free(struct maar_block* block);
/* Destroys a block that is in no list any more. A stand-in is destroyed with its pages. No lock may
 * be held. */
void maar_block_destroy(struct maar_block* block);

#endif
