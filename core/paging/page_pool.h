/*
 * Page pools: making page blocks, and giving them back.
 */
#ifndef MAAR_CORE_PAGING_PAGE_POOL_H
#define MAAR_CORE_PAGING_PAGE_POOL_H

#include "core/memory/device_memory.h"
#include "core/memory/patience.h"
#include "core/paging/page_block.h"

struct maar_paging;

/* What distinguishes the page pools of an allocator. */
struct maar_page_pool_key {
    struct maar_pool* owner; /* a pool that stitches, or NULL */
    uint32_t type_index;
    MaarResourceKind kind;
    bool mapped; /* the blocks are mapped */
    VkDeviceSize page_size;
};

/* Finds the pool with this key, or returns NULL. Called under the paging lock. */
struct maar_page_pool* maar_page_pool_find(const struct maar_paging* paging,
                                           const struct maar_page_pool_key* key);
/* Finds or makes the pool with this key. Returns VK_SUCCESS or VK_ERROR_OUT_OF_HOST_MEMORY. No lock
 * may be held. */
VkResult maar_page_pool_open(struct maar_paging* paging, const struct maar_page_pool_key* key,
                             struct maar_page_pool** pool);
/* Ensures that a pool has `needed` free pages, and makes new blocks of its memory type for that.
 * last_resort: the blocks may exceed budgets, and the observer is asked. No lock may be held. */
VkResult maar_page_pool_grow(struct maar_paging* paging, struct maar_page_pool* pool,
                             const char* call, uint64_t needed,
                             const MaarAllocationCreateInfo* memory, bool last_resort,
                             struct maar_patience* patience);
/* Takes adjacent pages, each with one live reference, and returns how many: `wanted` pages if a run
 * is that long, else the longest run. At least one page of the pool is free. Called under the
 * paging lock. */
uint32_t maar_page_pool_take(struct maar_page_pool* pool, uint32_t wanted,
                             struct maar_page_block** block, uint32_t* first);
/* Returns whether another memory type, or another way, may succeed where maar_page_pool_grow has
 * failed. */
static inline bool maar_is_page_shortage(VkResult result)
{
    return maar_driver_had_no_memory(result) || result == VK_ERROR_OUT_OF_POOL_MEMORY ||
           result == VK_ERROR_TOO_MANY_OBJECTS;
}

/* Lets the blocks of a pool that drain serve requests again. Returns whether so many pages are free
 * then. Called under the paging lock. */
bool maar_page_pool_revive(struct maar_page_pool* pool, uint64_t wanted);
/* Gives back empty blocks whose last submission has been executed, and returns their bytes. owner:
 * blocks of this pool alone, or NULL for all blocks of some heaps (bits). keep_one: keeps one empty
 * block of each pool. No lock may be held. */
VkDeviceSize maar_page_pools_release(struct maar_paging* paging, const struct maar_pool* owner,
                                     uint32_t heaps, bool keep_one);
/* Gives back all of these blocks that became empty by a time: see empty_blocks.h. */
VkDeviceSize maar_page_pools_release_aged(struct maar_paging* paging, const struct maar_pool* owner,
                                          uint32_t heaps, uint64_t emptied_by);
/* Gives back the empty blocks with an age above blocks_made. No submission names these blocks. No
 * lock may be held. */
void maar_page_pools_undo(struct maar_paging* paging, uint64_t blocks_made);
/* Frees a pool that is in no list any more, and all its blocks. Waits for threads that are freeing
 * blocks of the pool. No lock may be held. */
void maar_page_pool_destroy(struct maar_paging* paging, struct maar_page_pool* pool);

#endif
