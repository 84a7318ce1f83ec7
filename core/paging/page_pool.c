/*
 * Page pools: blocks of device memory cut into pages, handed out in runs that are as long as can
 * be.
 *
 * Each block lists its free runs by length, with bits that tell which lists have any (as TLSF does:
 * Masmano et al., ECRTS 2004), but any part of a run can be given back alone: only the two end
 * pages of a free run know its length, so joining neighbours takes no search. A request goes to the
 * oldest block that has a run long enough, so that younger blocks become empty; where no run is, it
 * takes the longest there are, which needs the fewest binds.
 *
 * Under the paging lock, but for what calls the driver.
 */
#include "core/paging/page_pool.h"

#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"

#include <string.h>

/* Least size of a page block: what the list of VkDeviceMemory objects can hold of a large card
 * (4,096 of these are 64 GiB), and 1 % of the smallest trace of gigabytes that was measured. */
#define LEAST_BLOCK_SIZE ((VkDeviceSize)16 << 20)
/* A block takes this share of what its pool holds: what may lie idle is below 1 % of it. */
#define BLOCK_SHARE 128
/* No block is larger, unless one call wants more. */
#define MOST_BLOCK_SIZE ((VkDeviceSize)1 << 30)
/* Small heaps are not eaten up by one block: this share at most. */
#define HEAP_SHARE 16

/* ---- pools ---- */

static struct maar_page_pool* find_page_pool(const struct maar_paging* paging,
                                             const struct maar_page_pool_key* key)
{
    struct maar_page_pool* pool = paging->pools;
    while (pool != NULL &&
           (pool->type_index != key->type_index || pool->page_size != key->page_size ||
            pool->owner != key->owner || pool->kind != key->kind)) {
        pool = pool->next;
    }
    return pool;
}

VkResult maar_page_pool_open(struct maar_paging* paging, const struct maar_page_pool_key* given,
                             struct maar_page_pool** pool)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    struct maar_page_pool_key key = *given;
    if (paging->allocator->device.facts.granularity <= key.page_size) {
        key.kind = MAAR_RESOURCE_KIND_UNKNOWN; /* no two pages share a granule */
    }
    maar_mutex_lock(&paging->lock);
    *pool = find_page_pool(paging, &key);
    maar_mutex_unlock(&paging->lock);
    if (*pool != NULL) {
        return VK_SUCCESS;
    }
    struct maar_page_pool* made = maar_host_calloc(callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->owner = key.owner;
    made->type_index = key.type_index;
    made->page_size = key.page_size;
    made->kind = key.kind;
    made->block_size = key.owner != NULL ? key.owner->page_block_size : 0;
    maar_mutex_lock(&paging->lock);
    *pool = find_page_pool(paging, &key);
    if (*pool == NULL) {
        made->next = paging->pools;
        paging->pools = made;
        *pool = made;
        made = NULL;
    }
    maar_mutex_unlock(&paging->lock);
    maar_host_free(callbacks, made);
    return VK_SUCCESS;
}

uint32_t maar_page_pool_take(struct maar_page_pool* pool, uint32_t wanted,
                             struct maar_page_block** block, uint32_t* first)
{
    const uint32_t class = maar_page_class(wanted);
    uint32_t best = 0;
    for (uint32_t i = 0; i < pool->block_count; ++i) {
        if (pool->longest[i] >= class) {
            *first = maar_page_find_run(pool->blocks[i], wanted);
            if (*first != MAAR_PAGE_NONE) {
                *block = pool->blocks[i];
                maar_page_take(*block, *first, wanted);
                return wanted;
            }
        }
        best = pool->longest[i] > pool->longest[best] ? i : best;
    }
    *block = pool->blocks[best];
    *first = (*block)->heads[pool->longest[best]];
    uint32_t count = (*block)->marks[*first].run;
    count = count < wanted ? count : wanted;
    maar_page_take(*block, *first, count);
    return count;
}

/* ---- growing and shrinking ---- */

static VkDeviceSize round_up_pages(const struct maar_page_pool* pool, VkDeviceSize size)
{
    return maar_align_up(size, pool->page_size);
}

/* How large the next block should be when so many bytes are short. */
static VkDeviceSize wish_block_size(const struct maar_paging* paging,
                                    const struct maar_page_pool* pool, VkDeviceSize shortage)
{
    const struct maar_device_facts* facts = &paging->allocator->device.facts;
    const VkDeviceSize heap =
        facts->memory.memoryHeaps[maar_type_heap(paging->allocator, pool->type_index)].size;
    VkDeviceSize size = pool->block_size;
    if (size == 0) {
        const VkDeviceSize share = pool->page_count * pool->page_size / BLOCK_SHARE;
        size = share > LEAST_BLOCK_SIZE ? share : LEAST_BLOCK_SIZE;
        size = size < MOST_BLOCK_SIZE ? size : MOST_BLOCK_SIZE;
        size = size < heap / HEAP_SHARE ? size : heap / HEAP_SHARE;
    }
    size = shortage > size ? maar_align_up(shortage, size != 0 ? size : 1) : size;
    VkDeviceSize most = facts->max_allocation_size;
    most -= most % pool->page_size;
    size = round_up_pages(pool, size != 0 ? size : 1);
    return size < most ? size : most;
}

/* Room for one more block in both lists; the lock is left and taken again, VK_INCOMPLETE then. */
static VkResult reserve_lists(struct maar_paging* paging, struct maar_page_pool* pool)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    const bool pool_full = pool->block_count == pool->block_capacity;
    const bool full = paging->block_count == paging->block_capacity;
    if (!pool_full && !full) {
        return VK_SUCCESS;
    }
    const uint32_t old = pool_full ? pool->block_capacity : paging->block_capacity;
    const uint32_t capacity = old < 8 ? 16 : old * 2;
    maar_mutex_unlock(&paging->lock);
    struct maar_page_block** blocks =
        maar_host_calloc(callbacks, capacity, sizeof(struct maar_page_block*));
    uint8_t* longest = pool_full ? maar_host_calloc(callbacks, capacity, 1) : NULL;
    maar_mutex_lock(&paging->lock);
    void* unused[2] = {blocks, longest};
    VkResult result = VK_INCOMPLETE;
    if (blocks == NULL || (pool_full && longest == NULL)) {
        result = VK_ERROR_OUT_OF_HOST_MEMORY;
    } else if (pool_full && pool->block_capacity == old) {
        if (old != 0) {
            memcpy(blocks, pool->blocks, pool->block_count * sizeof blocks[0]);
            memcpy(longest, pool->longest, pool->block_count);
        }
        unused[0] = pool->blocks;
        unused[1] = pool->longest;
        pool->blocks = blocks;
        pool->longest = longest;
        pool->block_capacity = capacity;
    } else if (!pool_full && paging->block_capacity == old) {
        if (old != 0) {
            memcpy(blocks, paging->blocks, paging->block_end * sizeof blocks[0]);
        }
        unused[0] = paging->blocks;
        paging->blocks = blocks;
        paging->block_capacity = capacity;
    }
    maar_mutex_unlock(&paging->lock);
    maar_host_free(callbacks, unused[0]);
    maar_host_free(callbacks, unused[1]);
    maar_mutex_lock(&paging->lock);
    return result;
}

/* There is room. */
static void list_block(struct maar_paging* paging, struct maar_page_block* block)
{
    struct maar_page_pool* pool = block->pool;
    block->number = 0;
    while (block->number < paging->block_end && paging->blocks[block->number] != NULL) {
        ++block->number;
    }
    paging->block_end += block->number == paging->block_end;
    paging->blocks[block->number] = block;
    ++paging->block_count;
    block->age = ++paging->blocks_made;
    block->place = pool->block_count++;
    pool->blocks[block->place] = block;
    pool->page_count += block->page_count;
    pool->free_count += block->page_count;
    ++pool->empty_count;
    maar_page_block_begin(block);
    paging->block_bytes += block->page_count * pool->page_size;
    if (paging->block_bytes > paging->peak_block_bytes) {
        paging->peak_block_bytes = paging->block_bytes;
    }
}

static void unlist_block(struct maar_paging* paging, struct maar_page_block* block)
{
    struct maar_page_pool* pool = block->pool;
    paging->blocks[block->number] = NULL;
    --paging->block_count;
    while (paging->block_end > 0 && paging->blocks[paging->block_end - 1] == NULL) {
        --paging->block_end;
    }
    --pool->block_count;
    for (uint32_t i = block->place; i < pool->block_count; ++i) {
        pool->blocks[i] = pool->blocks[i + 1];
        pool->longest[i] = pool->longest[i + 1];
        pool->blocks[i]->place = i;
    }
    pool->page_count -= block->page_count;
    pool->free_count -= block->page_count;
    --pool->empty_count;
    paging->block_bytes -= block->page_count * pool->page_size;
}

/* Memory from the engine behind every allocation, as one of Maar's own. */
static VkResult allocate_memory(struct maar_paging* paging, const struct maar_page_pool* pool,
                                const char* call, VkDeviceSize size,
                                const MaarAllocationCreateInfo* memory, bool loud,
                                MaarAllocation* allocation)
{
    const MaarAllocationCreateFlags budget =
        memory->flags & (MaarAllocationCreateFlags)MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    const MaarMemoryRequest request = {
        .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
        .requirements = {.size = size,
                         .alignment = pool->page_size,
                         .memoryTypeBits = 1u << pool->type_index},
        .kind = pool->kind,
    };
    const MaarAllocationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = loud ? budget | MAAR_ALLOCATE_WITHOUT_REPORT
                      : MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATE_AS_TRIAL,
        .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
        .dedicated = MAAR_DEDICATED_ALWAYS,
        .memoryTypeBits = 1u << pool->type_index,
        .priority = memory->priority,
        .pool = pool->owner != NULL ? maar_pool_handle(pool->owner) : VK_NULL_HANDLE,
        .pName = "page block",
    };
    return maar_allocate(paging->allocator, call, &request, &info, true, allocation);
}

static VkResult make_block(struct maar_paging* paging, struct maar_page_pool* pool,
                           const char* call, VkDeviceSize size,
                           const MaarAllocationCreateInfo* memory, bool loud)
{
    MaarAllocator allocator = paging->allocator;
    const VkDeviceSize count = size / pool->page_size;
    if (count == 0 || count >= UINT32_MAX / 2) {
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    struct maar_page_block* block = maar_host_calloc(
        allocator->callbacks, 1,
        sizeof(struct maar_page_block) + (size_t)count * sizeof(struct maar_page_mark));
    if (block == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    block->pool = pool;
    block->page_count = (uint32_t)count;
    memset(block->heads, 0xFF, sizeof block->heads);
    VkResult result = allocate_memory(paging, pool, call, size, memory, loud, &block->allocation);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, block);
        return result;
    }
    uint32_t index = 0;
    block->block = maar_slot_resolve(&allocator->slots, block->allocation, &index)->block;
    maar_block_make_paged(block->block);
    maar_mutex_lock(&paging->lock);
    do {
        result = reserve_lists(paging, pool);
    } while (result == VK_INCOMPLETE);
    if (result == VK_SUCCESS) {
        list_block(paging, block);
    }
    maar_mutex_unlock(&paging->lock);
    if (result != VK_SUCCESS) {
        maar_undo_allocation(allocator, block->allocation);
        maar_host_free(allocator->callbacks, block);
    }
    return result;
}

static VkResult make_blocks(struct maar_paging* paging, struct maar_page_pool* pool,
                            const char* call, uint64_t needed,
                            const MaarAllocationCreateInfo* memory, bool loud)
{
    VkResult result = VK_SUCCESS;
    for (uint64_t before = UINT64_MAX;;) {
        maar_mutex_lock(&paging->lock);
        const uint64_t missing = needed > pool->free_count ? needed - pool->free_count : 0;
        VkDeviceSize size = 0;
        if (missing != 0 && missing < UINT64_MAX / pool->page_size) {
            size = wish_block_size(paging, pool, missing * pool->page_size);
        }
        maar_mutex_unlock(&paging->lock);
        if (missing == 0) {
            return VK_SUCCESS;
        }
        if (result != VK_SUCCESS && missing >= before) {
            return result;
        }
        before = missing;
        /* All that is missing, if a block can be so large. */
        const VkDeviceSize least =
            missing < size / pool->page_size ? missing * pool->page_size : size;
        if (size == 0) {
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
        if (loud) {
            size = least;
        }
        result = make_block(paging, pool, call, size, memory, loud);
        while (result == VK_ERROR_OUT_OF_DEVICE_MEMORY && size > least) {
            size = size / 2 > least ? round_up_pages(pool, size / 2) : least;
            result = make_block(paging, pool, call, size, memory, loud);
        }
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY) {
            return result;
        }
        /* Whoever was asked for memory may have given pages back. */
    }
}

VkResult maar_page_pool_grow(struct maar_paging* paging, struct maar_page_pool* pool,
                             const char* call, uint64_t needed,
                             const MaarAllocationCreateInfo* memory, bool loud)
{
    /* Where memory is short, the next block is looked for by releasing what is empty: not those
     * that were just made. */
    maar_mutex_lock(&paging->lock);
    if (pool->growing_count++ == 0) {
        pool->growing_age = paging->blocks_made;
    }
    maar_mutex_unlock(&paging->lock);
    const VkResult result = make_blocks(paging, pool, call, needed, memory, loud);
    maar_mutex_lock(&paging->lock);
    --pool->growing_count;
    maar_mutex_unlock(&paging->lock);
    return result;
}

/* Under the lock: takes what may go off the lists. */
static struct maar_page_block* pick_empty(struct maar_paging* paging, const struct maar_pool* owner,
                                          bool keep_one)
{
    struct maar_page_block* chosen = NULL;
    /* With nothing recorded, no unbinding is on its way that has not been submitted. */
    const uint64_t done = maar_atomic64_load(&paging->completed);
    const bool all_done = done == maar_atomic64_load(&paging->submitted) &&
                          paging->first_dirty == NULL && !paging->submitting;
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        if (owner != NULL && pool->owner != owner) {
            continue;
        }
        const uint64_t youngest = pool->growing_count > 0 ? pool->growing_age : UINT64_MAX;
        const uint32_t kept = keep_one ? 1 : 0;
        for (uint32_t i = pool->block_count; i-- > 0 && pool->empty_count > kept;) {
            struct maar_page_block* block = pool->blocks[i];
            if (block->used_count == 0 && block->age <= youngest &&
                (all_done || block->last_value <= done)) {
                unlist_block(paging, block);
                ++pool->leaving_count;
                block->next = chosen;
                chosen = block;
            }
        }
    }
    return chosen;
}

/* Frees blocks that are off the lists, or, undone, as if they had never been; bytes released. */
static VkDeviceSize free_blocks(struct maar_paging* paging, struct maar_page_block* block,
                                bool undone)
{
    MaarAllocator allocator = paging->allocator;
    VkDeviceSize released = 0;
    while (block != NULL) {
        struct maar_page_block* next = block->next;
        struct maar_page_pool* pool = block->pool;
        released += block->page_count * pool->page_size;
        if (undone) {
            maar_undo_allocation(allocator, block->allocation);
        } else {
            maarFreeMemory(allocator, block->allocation);
        }
        maar_host_free(allocator->callbacks, block);
        block = next;
        maar_mutex_lock(&paging->lock);
        --pool->leaving_count;
        maar_mutex_unlock(&paging->lock);
        maar_condition_wake(&paging->changed);
    }
    return released;
}

VkDeviceSize maar_page_pools_release(struct maar_paging* paging, const struct maar_pool* owner,
                                     bool keep_one)
{
    bool any = false;
    maar_mutex_lock(&paging->lock);
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        any = any || pool->empty_count > (keep_one ? 1u : 0u);
    }
    maar_mutex_unlock(&paging->lock);
    if (!any) {
        return 0;
    }
    maar_paging_look(paging);
    maar_mutex_lock(&paging->lock);
    struct maar_page_block* block = pick_empty(paging, owner, keep_one);
    maar_mutex_unlock(&paging->lock);
    return free_blocks(paging, block, false);
}

void maar_page_pools_undo(struct maar_paging* paging, uint64_t blocks_made)
{
    struct maar_page_block* chosen = NULL;
    maar_mutex_lock(&paging->lock);
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = pool->block_count; i-- > 0 && pool->growing_count == 0;) {
            struct maar_page_block* block = pool->blocks[i];
            if (block->used_count == 0 && block->age > blocks_made && block->last_value == 0) {
                unlist_block(paging, block);
                ++pool->leaving_count;
                block->next = chosen;
                chosen = block;
            }
        }
    }
    maar_mutex_unlock(&paging->lock);
    (void)free_blocks(paging, chosen, true);
}

void maar_page_pool_destroy(struct maar_paging* paging, struct maar_page_pool* pool)
{
    MaarAllocator allocator = paging->allocator;
    maar_mutex_lock(&paging->lock);
    while (pool->leaving_count > 0) {
        maar_condition_wait(&paging->changed, &paging->lock);
    }
    while (pool->block_count > 0) {
        struct maar_page_block* block = pool->blocks[pool->block_count - 1];
        pool->empty_count += block->used_count != 0;
        unlist_block(paging, block);
        maar_mutex_unlock(&paging->lock);
        maarFreeMemory(allocator, block->allocation);
        maar_host_free(allocator->callbacks, block);
        maar_mutex_lock(&paging->lock);
    }
    maar_mutex_unlock(&paging->lock);
    maar_host_free(allocator->callbacks, pool->blocks);
    maar_host_free(allocator->callbacks, pool->longest);
    maar_host_free(allocator->callbacks, pool);
}
