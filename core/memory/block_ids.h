/*
 * Finds a block by its id: a hash table whose chains run through the blocks. Ids are consecutive
 * numbers, so the lowest bits of an id spread evenly over the chains, and a search is O(1).
 *
 * The table contains the blocks that are in a list of an arena. A block enters and leaves under the
 * lock of its arena. A thread that holds this lock and finds a block of the arena may read the
 * block.
 */
#ifndef MAAR_CORE_MEMORY_BLOCK_IDS_H
#define MAAR_CORE_MEMORY_BLOCK_IDS_H

#include <stddef.h>

#include "core/port_thread.h"
#include "maar/allocator.h"

struct maar_arena;
struct maar_block;
struct maar_pool;

struct maar_block_ids {
    struct maar_mutex lock;    /* guards all members, and next_of_id of the blocks */
    struct maar_block** heads; /* of the chains; NULL before the first block */
    size_t head_count;         /* a power of two */
    size_t count;              /* blocks in the table */
};

/* Returns false when the system cannot create a mutex. */
bool maar_block_ids_init(struct maar_block_ids* ids, bool synchronized);
void maar_block_ids_destroy(struct maar_block_ids* ids, const VkAllocationCallbacks* callbacks);
/* Makes more chains if there are as many blocks as chains. Without host memory the chains of an
 * existing table become longer. Returns false if there is no table and no host memory for it. No
 * lock may be held. */
bool maar_block_ids_grow(struct maar_block_ids* ids, const VkAllocationCallbacks* callbacks);
/* Adds a block. The lock of its arena is held. */
void maar_block_ids_add(struct maar_block_ids* ids, struct maar_block* block);
/* Removes a block. The lock of its arena is held. */
void maar_block_ids_remove(struct maar_block_ids* ids, struct maar_block* block);
/* Returns the block of an arena with this id, or NULL. The lock of the arena is held. */
struct maar_block* maar_block_ids_find(struct maar_block_ids* ids, uint64_t id,
                                       const struct maar_arena* arena);
/* Returns the arena of the block with this id, or NULL when there is no such block. */
struct maar_arena* maar_block_ids_find_arena(struct maar_block_ids* ids, uint64_t id);
/* Returns the arena of the block with this id, and holds the pool of the arena until
 * maar_pool_leave. Returns NULL when there is no such block. The block may leave the arena at any
 * time. No lock may be held. */
struct maar_arena* maar_block_ids_hold_arena(MaarAllocator allocator, uint64_t id);

#endif
