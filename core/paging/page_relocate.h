/*
 * Moves of pages between memory types: pages of buffers go from the preferred heap to another one,
 * or back. They become moves of a batch (page_move.h).
 */
#ifndef MAAR_CORE_PAGING_PAGE_RELOCATE_H
#define MAAR_CORE_PAGING_PAGE_RELOCATE_H

#include <stdbool.h>

#include "core/memory/patience.h"
#include "core/paging/page_move.h"

/* A batch that is being filled. */
struct maar_relocation {
    struct maar_page_moves* moves;
    const char* call;     /* the public function, for messages */
    bool returns;         /* to the preferred memory type; else away from it */
    VkResult shortage;    /* why fewer pages were to be had than wanted, or VK_SUCCESS */
    VkDeviceSize left;    /* bytes that may still move */
    uint64_t blocks_made; /* before the call */
    struct maar_patience patience;
};

/* Makes an empty batch for pages of tables of a pool, or of none, that spill to another one, or to
 * none of the program's. Returns VK_SUCCESS or VK_ERROR_OUT_OF_HOST_MEMORY. */
VkResult maar_relocation_begin(MaarAllocator allocator, struct maar_pool* owner,
                               struct maar_pool* spill_owner, struct maar_relocation* relocation);
/* Adds pages [first, first + count) of a table, as far as they can move, memory is to be had within
 * budgets, and the batch has room. Returns VK_SUCCESS; VK_INCOMPLETE when the batch is full; or
 * VK_ERROR_OUT_OF_HOST_MEMORY. No lock may be held. */
VkResult maar_relocation_add(struct maar_relocation* relocation, struct maar_page_table* table,
                             uint64_t first, uint64_t count);
/* Ends a batch that the program has never seen, and gives back the blocks that were made for it. */
void maar_relocation_undo(struct maar_relocation* relocation);
/* Whether a table may have pages that move so. */
bool maar_relocation_concerns(const struct maar_relocation* relocation,
                              const struct maar_page_table* table);

#endif
