/*
 * Moves of pages between memory types: see page_relocate.h.
 *
 * Some pages are looked at under one lock. The pages that they need are made without it, since that
 * may call the driver; then the same pages are looked at again.
 */
#include "core/paging/page_relocate.h"

#include "core/memory/device_memory.h"
#include "core/paging/page_entry.h"
#include "core/paging/page_pool.h"

enum {
    /* Moves of a batch, each of adjacent pages: their state has 80 KiB. */
    RELOCATED_RUNS = 1024,
    /* Most pages that move as one run. */
    RELOCATED_RUN_PAGES = 512
};

VkResult maar_relocation_begin(MaarAllocator allocator, struct maar_pool* owner,
                               struct maar_pool* spill_owner, struct maar_relocation* relocation)
{
    struct maar_paging* paging = maar_paging_of(allocator);
    relocation->patience = maar_patience_begin();
    relocation->shortage = VK_SUCCESS;
    relocation->moves = maar_page_moves_make(paging, owner, RELOCATED_RUNS);
    if (relocation->moves == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    relocation->moves->spill_owner = spill_owner;
    maar_mutex_lock(&paging->lock);
    relocation->blocks_made = paging->blocks_made;
    maar_mutex_unlock(&paging->lock);
    return VK_SUCCESS;
}

void maar_relocation_undo(struct maar_relocation* relocation)
{
    struct maar_paging* paging = relocation->moves->paging;
    maar_page_moves_discard(relocation->moves);
    relocation->moves = NULL;
    maar_page_pools_undo(paging, relocation->blocks_made);
}

bool maar_relocation_concerns(const struct maar_relocation* relocation,
                              const struct maar_page_table* table)
{
    return table->target == MAAR_PAGES_BUFFER && !table->mapped && table->away_types != 0 &&
           (!relocation->returns || maar_page_table_away(table) > 0);
}

/* Whether pages of a type come and go when pages spill. */
static bool is_spill_type(const struct maar_page_table* table, uint32_t type)
{
    MaarAllocator allocator = table->paging->allocator;
    const uint32_t heap = maar_type_heap(allocator, type);
    const bool is_local = (allocator->device.facts.memory.memoryHeaps[heap].flags &
                           VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0;
    return (table->away_types >> type & 1) != 0 &&
           (table->spill != VK_NULL_HANDLE ? maar_page_table_spill_owner(table) != NULL
                                           : !is_local);
}

/* Whether the page of an entry is to move. */
static bool is_relocated(const struct maar_relocation* relocation,
                         const struct maar_page_table* table, uint64_t entry)
{
    return maar_entry_is_movable(table, entry) &&
           maar_entry_is_away(table, entry) == relocation->returns;
}

/* Returns how many pages of a run are to move, of those before `past`. Counts no leaf that has
 * none. Stops at `most`. Called under the paging lock. */
static uint64_t count_relocated(const struct maar_relocation* relocation,
                                const struct maar_page_table* table, uint64_t page, uint64_t past,
                                uint64_t most)
{
    uint64_t count = 0;
    while (page < past && count < most) {
        const struct maar_page_leaf* leaf = maar_page_leaf_of(table, page);
        const uint64_t end = (page / MAAR_LEAF_PAGES + 1) * MAAR_LEAF_PAGES;
        const uint32_t here = leaf == NULL          ? 0
                              : relocation->returns ? leaf->away
                                                    : (uint32_t)leaf->live - leaf->away;
        for (; here > 0 && page < end && page < past && count < most; ++page) {
            count += is_relocated(relocation, table, leaf->entries[page % MAAR_LEAF_PAGES]);
        }
        page = here > 0 ? page : end;
    }
    return count;
}

/* Adds the moves of pages before `past` to free pages of a pool. Called under the paging lock. */
static void add_relocated(struct maar_relocation* relocation, struct maar_page_table* table,
                          uint64_t page, uint64_t past, struct maar_page_pool* pool)
{
    struct maar_page_moves* moves = relocation->moves;
    while (page < past && pool->free_count > 0 && moves->count < moves->capacity &&
           relocation->left >= table->page_size) {
        const uint64_t* entry = maar_page_entry(table, page);
        if (entry == NULL || !is_relocated(relocation, table, *entry)) {
            page = entry == NULL ? (page | (MAAR_LEAF_PAGES - 1)) + 1 : page + 1;
            continue;
        }
        const uint64_t own = *entry & MAAR_ENTRY_PAGE;
        const uint64_t most = relocation->left / table->page_size;
        uint32_t count = 1;
        while (count < RELOCATED_RUN_PAGES && count < most && page + count < past) {
            const uint64_t* next = maar_page_entry(table, page + count);
            if (next == NULL || (*next & MAAR_ENTRY_PAGE) != own + count ||
                !is_relocated(relocation, table, *next)) {
                break;
            }
            ++count;
        }
        const uint32_t added = maar_page_moves_add_to(moves, table, page, count, pool);
        relocation->left -= added * table->page_size;
        page += added;
    }
}

/* Ensures that a pool has some free pages, at most so many, within budgets. Fewer, or none, are no
 * failure. */
static VkResult get_targets(struct maar_relocation* relocation, const struct maar_page_table* table,
                            struct maar_page_pool* pool, uint64_t wanted, VkResult* shortage)
{
    VkResult result = VK_SUCCESS;
    for (bool is_short = wanted > 0; is_short && wanted > 0; wanted /= 2) {
        result = maar_page_pool_grow(table->paging, pool, relocation->call, wanted, &table->memory,
                                     false, &relocation->patience);
        is_short = maar_is_page_shortage(result);
        *shortage = is_short ? result : *shortage;
    }
    return maar_is_page_shortage(result) ? VK_SUCCESS : result;
}

/* Adds moves to pages of one memory type. */
static VkResult relocate_to(struct maar_relocation* relocation, struct maar_page_table* table,
                            uint64_t first, uint64_t past, uint32_t type, VkResult* shortage)
{
    struct maar_paging* paging = table->paging;
    const struct maar_page_pool_key key = maar_page_table_pool_key(table, type);
    struct maar_page_pool* pool = NULL;
    VkResult result = maar_page_pool_open(paging, &key, &pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    maar_mutex_lock(&paging->lock);
    const uint64_t wanted =
        count_relocated(relocation, table, first, past, relocation->left / table->page_size);
    maar_mutex_unlock(&paging->lock);
    result = get_targets(relocation, table, pool, wanted, shortage);
    if (result == VK_SUCCESS && wanted > 0) {
        maar_mutex_lock(&paging->lock);
        add_relocated(relocation, table, first, past, pool);
        maar_mutex_unlock(&paging->lock);
    }
    return result;
}

VkResult maar_relocation_add(struct maar_relocation* relocation, struct maar_page_table* table,
                             uint64_t first, uint64_t count)
{
    const uint64_t past = first + count;
    VkResult result = VK_SUCCESS;
    VkResult shortage = VK_SUCCESS; /* of the last type that was tried */
    if (relocation->returns) {
        result = relocate_to(relocation, table, first, past, table->types[0], &shortage);
    }
    for (uint32_t i = 1; i < table->type_count && result == VK_SUCCESS && !relocation->returns;
         ++i) {
        if (is_spill_type(table, table->types[i])) {
            shortage = VK_SUCCESS;
            result = relocate_to(relocation, table, first, past, table->types[i], &shortage);
        }
    }
    relocation->shortage = shortage != VK_SUCCESS ? shortage : relocation->shortage;
    const bool is_full = relocation->moves->count == relocation->moves->capacity ||
                         relocation->left < table->page_size;
    return result == VK_SUCCESS && is_full ? VK_INCOMPLETE : result;
}
