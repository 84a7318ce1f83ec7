/*
 * Page pools: which block serves a request, how large the next block is, and which empty blocks are
 * given back.
 *
 * A request takes the oldest block with a long enough run, so that younger blocks become empty. If
 * no run is long enough, the request takes the longest runs, which need the fewest binds.
 *
 * The paging lock is held everywhere, except around calls of the driver.
 */
#include "core/paging/page_pool.h"

#include "core/memory/allocate.h"
#include "core/memory/allocation_free.h"
#include "core/memory/device_memory.h"
#include "core/memory/slot_home.h"
#include "core/memory/stitched_block.h"
#include "core/paging/paging_state.h"
#include "core/paging/paging_timeline.h"

#include <string.h>

/* The least size of a page block, bytes. 4,096 blocks of this size, the usual limit of
 * VkDeviceMemory objects, are 64 GiB: the memory of a large card. The size is 1 % of the smallest
 * trace of gigabytes that was measured. */
#define LEAST_BLOCK_SIZE ((VkDeviceSize)16 << 20)
/* A block has a 128th of its pool's bytes. So less than 1 % of them may be idle. */
#define BLOCK_SHARE 128
/* The largest size of a block, bytes, unless one call needs more. */
#define MOST_BLOCK_SIZE ((VkDeviceSize)1 << 30)
/* A block has at most a 16th of its heap, so that one block does not fill a small heap. */
#define HEAP_SHARE 16

/* ---- pools ---- */

static uint32_t pool_heap(const struct maar_paging* paging, const struct maar_page_pool* pool)
{
    return maar_type_heap(paging->allocator, pool->type_index);
}

/* Returns the kind of resources whose pages share a pool. */
static MaarResourceKind shared_kind(const struct maar_paging* paging,
                                    const struct maar_page_pool_key* key)
{
    /* Where no two pages share a granule, pages of all kinds may be neighbours. */
    return paging->allocator->device.facts.granularity <= key->page_size
               ? MAAR_RESOURCE_KIND_UNKNOWN
               : key->kind;
}

struct maar_page_pool* maar_page_pool_find(const struct maar_paging* paging,
                                           const struct maar_page_pool_key* key)
{
    const MaarResourceKind kind = shared_kind(paging, key);
    struct maar_page_pool* pool = paging->pools;
    maar_assert_held(&paging->lock);
    while (pool != NULL &&
           (pool->type_index != key->type_index || pool->page_size != key->page_size ||
            pool->owner != key->owner || pool->kind != kind || pool->mapped != key->mapped)) {
        pool = pool->next;
    }
    return pool;
}

VkResult maar_page_pool_open(struct maar_paging* paging, const struct maar_page_pool_key* key,
                             struct maar_page_pool** pool)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    maar_mutex_lock(&paging->lock);
    *pool = maar_page_pool_find(paging, key);
    maar_mutex_unlock(&paging->lock);
    if (*pool != NULL) {
        return VK_SUCCESS;
    }
    struct maar_page_pool* made = maar_host_calloc(callbacks, 1, sizeof *made);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *made = (struct maar_page_pool){
        .lock = &paging->lock,
        .clock = &paging->allocator->trim_clock,
        .owner = key->owner,
        .type_index = key->type_index,
        .page_size = key->page_size,
        .kind = shared_kind(paging, key),
        .mapped = key->mapped,
        .block_size = key->owner != NULL ? key->owner->page_block_size : 0,
    };
    maar_mutex_lock(&paging->lock);
    *pool = maar_page_pool_find(paging, key);
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
    maar_assert_held(pool->lock);
    MAAR_DEBUG_ASSERT(pool->free_count > 0);
    /* A block that drains has no class here. */
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

bool maar_page_pool_revive(struct maar_page_pool* pool, uint64_t wanted)
{
    maar_assert_held(pool->lock);
    for (uint32_t i = 0; i < pool->block_count && pool->draining_count > 0; ++i) {
        maar_page_block_revive(pool->blocks[i]);
    }
    return wanted <= pool->free_count;
}

/* ---- growing and shrinking ---- */

static VkDeviceSize round_up_pages(const struct maar_page_pool* pool, VkDeviceSize size)
{
    return maar_align_up(size, pool->page_size);
}

/* Returns the preferred size of the next block when `shortage` bytes are missing. */
static VkDeviceSize preferred_block_size(const struct maar_paging* paging,
                                         const struct maar_page_pool* pool, VkDeviceSize shortage)
{
    const struct maar_device_facts* facts = &paging->allocator->device.facts;
    const VkDeviceSize heap = facts->memory.memoryHeaps[pool_heap(paging, pool)].size;
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

/* The outcome of checking the lists of blocks for room. */
enum list_room {
    LIST_ROOM_READY,
    LIST_ROOM_LEFT_LOCK, /* the lock was left and taken again: check again */
    LIST_ROOM_NO_MEMORY
};

/* Ensures that both lists have room for one more block. Under the paging lock. */
static enum list_room reserve_lists(struct maar_paging* paging, struct maar_page_pool* pool)
{
    const VkAllocationCallbacks* callbacks = paging->allocator->callbacks;
    const bool pool_full = pool->block_count == pool->block_capacity;
    maar_assert_held(&paging->lock);
    if (!pool_full && paging->block_count < paging->block_capacity) {
        return LIST_ROOM_READY;
    }
    const uint32_t old = pool_full ? pool->block_capacity : paging->block_capacity;
    const uint32_t capacity = old < 8 ? 16 : old * 2;
    maar_mutex_unlock(&paging->lock);
    struct maar_page_block** blocks =
        maar_host_calloc(callbacks, capacity, sizeof(struct maar_page_block*));
    uint8_t* longest = pool_full ? maar_host_calloc(callbacks, capacity, 1) : NULL;
    maar_mutex_lock(&paging->lock);
    void* unused[2] = {blocks, longest};
    const bool has_memory = blocks != NULL && (!pool_full || longest != NULL);
    if (has_memory && pool_full && pool->block_capacity == old) {
        if (old != 0) {
            memcpy(blocks, pool->blocks, pool->block_count * sizeof blocks[0]);
            memcpy(longest, pool->longest, pool->block_count);
        }
        unused[0] = pool->blocks;
        unused[1] = pool->longest;
        pool->blocks = blocks;
        pool->longest = longest;
        pool->block_capacity = capacity;
    } else if (has_memory && !pool_full && paging->block_capacity == old) {
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
    return has_memory ? LIST_ROOM_LEFT_LOCK : LIST_ROOM_NO_MEMORY;
}

static void list_block(struct maar_paging* paging, struct maar_page_block* block)
{
    struct maar_page_pool* pool = block->pool;
    maar_assert_held(&paging->lock);
    MAAR_DEBUG_ASSERT(pool->block_count < pool->block_capacity &&
                      paging->block_count < paging->block_capacity);
    block->number = 0;
    while (block->number < paging->block_end && paging->blocks[block->number] != NULL) {
        ++block->number;
    }
    paging->block_end += block->number == paging->block_end;
    paging->blocks[block->number] = block;
    ++paging->block_count;
    block->block->pages = block;
    block->age = ++paging->blocks_made;
    block->place = pool->block_count++;
    pool->blocks[block->place] = block;
    pool->page_count += block->page_count;
    pool->free_count += block->page_count;
    maar_page_block_emptied(block);
    maar_page_block_begin(block);
    paging->block_bytes += block->page_count * pool->page_size;
    if (paging->block_bytes > paging->peak_block_bytes) {
        paging->peak_block_bytes = paging->block_bytes;
    }
}

static void unlist_block(struct maar_paging* paging, struct maar_page_block* block)
{
    struct maar_page_pool* pool = block->pool;
    maar_assert_held(&paging->lock);
    maar_page_block_revive(block);
    maar_leaving_enter(&paging->allocator->leaving, &block->leaving, pool_heap(paging, pool));
    block->block->pages = NULL;
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

/* Allocates the memory of a block as an allocation of Maar's own. */
static VkResult allocate_memory(struct maar_paging* paging, const struct maar_page_pool* pool,
                                const char* call, VkDeviceSize size,
                                const MaarAllocationCreateInfo* memory, bool last_resort,
                                struct maar_patience* patience, MaarAllocation* allocation)
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
        .flags = (last_resort ? budget | MAAR_ALLOCATE_WITHOUT_REPORT
                              : MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATE_AS_TRIAL) |
                 (pool->mapped ? MAAR_ALLOCATION_CREATE_MAPPED_BIT : 0),
        .usage = MAAR_MEMORY_USAGE_FLAGS_ONLY,
        .dedicated = MAAR_DEDICATED_ALWAYS,
        .memoryTypeBits = 1u << pool->type_index,
        .priority = memory->priority,
        .pool = pool->owner != NULL ? pool->owner->handle : VK_NULL_HANDLE,
        .pName = "page block",
    };
    return maar_allocate_own(paging->allocator, call, &request, &info, patience, allocation);
}

static VkResult make_block(struct maar_paging* paging, struct maar_page_pool* pool,
                           const char* call, VkDeviceSize size,
                           const MaarAllocationCreateInfo* memory, bool last_resort,
                           struct maar_patience* patience)
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
    VkResult result = allocate_memory(paging, pool, call, size, memory, last_resort, patience,
                                      &block->allocation);
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, block);
        return result;
    }
    uint32_t index = 0;
    block->block = maar_slot_block(
        allocator, maar_slot_resolve(&allocator->slots, MAAR_TO_BITS(block->allocation), &index));
    maar_block_make_paged(block->block);
    maar_mutex_lock(&paging->lock);
    enum list_room room = LIST_ROOM_LEFT_LOCK;
    while (room == LIST_ROOM_LEFT_LOCK) {
        room = reserve_lists(paging, pool);
    }
    if (room == LIST_ROOM_READY) {
        list_block(paging, block);
    }
    maar_mutex_unlock(&paging->lock);
    if (room == LIST_ROOM_READY) {
        return VK_SUCCESS;
    }
    maar_undo_own_allocation(allocator, block->allocation);
    maar_host_free(allocator->callbacks, block);
    return VK_ERROR_OUT_OF_HOST_MEMORY;
}

static VkResult make_blocks(struct maar_paging* paging, struct maar_page_pool* pool,
                            const char* call, uint64_t needed,
                            const MaarAllocationCreateInfo* memory, bool last_resort,
                            struct maar_patience* patience)
{
    VkResult result = VK_SUCCESS;
    for (uint64_t before = UINT64_MAX;;) {
        maar_mutex_lock(&paging->lock);
        const uint64_t missing = needed > pool->free_count ? needed - pool->free_count : 0;
        VkDeviceSize size = 0;
        if (missing != 0 && missing < UINT64_MAX / pool->page_size) {
            size = preferred_block_size(paging, pool, missing * pool->page_size);
        }
        maar_mutex_unlock(&paging->lock);
        if (missing == 0) {
            return VK_SUCCESS;
        }
        if (result != VK_SUCCESS && missing >= before) {
            return result;
        }
        before = missing;
        /* The missing bytes, up to the size of one block. */
        const VkDeviceSize least =
            missing < size / pool->page_size ? missing * pool->page_size : size;
        if (size == 0) {
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
        if (last_resort) {
            size = least;
        }
        result = make_block(paging, pool, call, size, memory, last_resort, patience);
        while (maar_driver_had_no_memory(result) && size > least) {
            size = size / 2 > least ? round_up_pages(pool, size / 2) : least;
            result = make_block(paging, pool, call, size, memory, last_resort, patience);
        }
        if (result == VK_ERROR_OUT_OF_HOST_MEMORY) {
            return result;
        }
        /* The observer may have given pages back, so the loop counts again. */
    }
}

VkResult maar_page_pool_grow(struct maar_paging* paging, struct maar_page_pool* pool,
                             const char* call, uint64_t needed,
                             const MaarAllocationCreateInfo* memory, bool last_resort,
                             struct maar_patience* patience)
{
    /* A shortage of memory releases empty blocks. Calls that are growing the pool protect the
     * blocks that they have just made. */
    maar_mutex_lock(&paging->lock);
    if (pool->growing_count++ == 0) {
        pool->growing_age = paging->blocks_made;
    }
    maar_mutex_unlock(&paging->lock);
    const VkResult result = make_blocks(paging, pool, call, needed, memory, last_resort, patience);
    maar_mutex_lock(&paging->lock);
    --pool->growing_count;
    maar_mutex_unlock(&paging->lock);
    return result;
}

/* Takes an empty block off the lists and puts it in front of those that will be freed. */
static struct maar_page_block* choose_empty(struct maar_paging* paging,
                                            struct maar_page_block* block,
                                            struct maar_page_block* chosen)
{
    const bool drains = block->drainer != 0;
    unlist_block(paging, block);
    block->pool->drained_count += drains ? 1 : 0;
    block->pool->drained_bytes += drains ? block->page_count * block->pool->page_size : 0;
    ++block->pool->leaving_count;
    block->next = chosen;
    return block;
}

/* Returns whether a call releases the blocks of a pool: see maar_page_pools_release. */
static bool is_chosen_pool(const struct maar_paging* paging, const struct maar_page_pool* pool,
                           const struct maar_pool* owner, uint32_t heaps)
{
    return owner != NULL ? pool->owner == owner : (heaps >> pool_heap(paging, pool) & 1) != 0;
}

/* Which empty blocks a call releases. */
struct release {
    const struct maar_pool* owner; /* as maar_page_pools_release */
    uint32_t heaps;
    uint32_t kept;       /* empty blocks that each pool keeps */
    uint64_t emptied_by; /* the others became empty by that time: see empty_blocks.h */
};

/* Whether a pool may have an empty block to release. Under the paging lock. */
static bool may_release(const struct maar_paging* paging, const struct maar_page_pool* pool,
                        const struct release* release)
{
    const bool drains = pool->draining_count > 0;
    return is_chosen_pool(paging, pool, release->owner, release->heaps) &&
           pool->empty_count > (drains ? 0 : release->kept) &&
           (drains || pool->emptied_from <= release->emptied_by);
}

/* Takes empty blocks of a pool off the lists, those that drain and others in excess of those that
 * are kept. No submission after `done` may name them. */
static struct maar_page_block* pick_empty_of(struct maar_paging* paging,
                                             struct maar_page_pool* pool,
                                             const struct release* release, uint64_t done,
                                             struct maar_page_block* chosen)
{
    const uint64_t youngest = pool->growing_count > 0 ? pool->growing_age : UINT64_MAX;
    uint64_t emptied_from = UINT64_MAX; /* of those that stay */
    /* What has drained goes whatever the pool keeps, so it goes first. */
    for (uint32_t pass = pool->draining_count > 0 ? 0 : 1; pass < 2; ++pass) {
        for (uint32_t i = pool->block_count;
             i-- > 0 && pool->empty_count > (pass == 0 ? 0 : release->kept);) {
            struct maar_page_block* block = pool->blocks[i];
            if (block->used_count == 0 && block->age <= youngest && block->last_value <= done &&
                (pass == 1 ? block->emptied_at <= release->emptied_by : block->drainer != 0)) {
                chosen = choose_empty(paging, block, chosen);
            } else if (block->used_count == 0 && block->emptied_at < emptied_from) {
                emptied_from = block->emptied_at;
            }
        }
    }
    /* All empty blocks were looked at, so the next call knows whether one is due. */
    if (release->kept == 0 && pool->empty_count > 0) {
        pool->emptied_from = emptied_from;
    }
    return chosen;
}

/* Takes the empty blocks that may be freed off the lists. */
static struct maar_page_block* pick_empty(struct maar_paging* paging, const struct release* release)
{
    struct maar_page_block* chosen = NULL;
    maar_assert_held(&paging->lock);
    /* While no change is recorded, all unbinding has been submitted. */
    const uint64_t done = maar_atomic64_load(&paging->completed);
    const bool all_done = done == maar_atomic64_load(&paging->submitted) &&
                          paging->first_dirty == NULL && !paging->submitting;
    if (paging->unsettled != 0 && !all_done) {
        return NULL;
    }
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        if (may_release(paging, pool, release)) {
            chosen = pick_empty_of(paging, pool, release, all_done ? UINT64_MAX : done, chosen);
        }
    }
    return chosen;
}

/* Frees blocks that are off the lists, and returns their bytes. undone: a call has failed, and its
 * blocks are not counted in the statistics. */
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
            maar_undo_own_allocation(allocator, block->allocation);
        } else {
            (void)maar_free_allocation(allocator, "the end of a page block", block->allocation);
        }
        maar_leaving_end(&allocator->leaving, &block->leaving);
        maar_host_free(allocator->callbacks, block);
        block = next;
        maar_mutex_lock(&paging->lock);
        --pool->leaving_count;
        maar_mutex_unlock(&paging->lock);
        maar_condition_wake(&paging->changed);
    }
    return released;
}

static VkDeviceSize release_empty_blocks(struct maar_paging* paging, const struct release* release)
{
    bool any = false;
    maar_mutex_lock(&paging->lock);
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        any = any || may_release(paging, pool, release);
    }
    maar_mutex_unlock(&paging->lock);
    if (!any) {
        return 0;
    }
    maar_paging_look(paging);
    maar_mutex_lock(&paging->lock);
    struct maar_page_block* block = pick_empty(paging, release);
    maar_mutex_unlock(&paging->lock);
    return free_blocks(paging, block, false);
}

VkDeviceSize maar_page_pools_release(struct maar_paging* paging, const struct maar_pool* owner,
                                     uint32_t heaps, bool keep_one)
{
    const struct release release = {
        .owner = owner, .heaps = heaps, .kept = keep_one ? 1 : 0, .emptied_by = MAAR_ANY_AGE};
    return release_empty_blocks(paging, &release);
}

VkDeviceSize maar_page_pools_release_aged(struct maar_paging* paging, const struct maar_pool* owner,
                                          uint32_t heaps, uint64_t emptied_by)
{
    const struct release release = {.owner = owner, .heaps = heaps, .emptied_by = emptied_by};
    return release_empty_blocks(paging, &release);
}

void maar_page_pools_undo(struct maar_paging* paging, uint64_t blocks_made)
{
    struct maar_page_block* chosen = NULL;
    maar_mutex_lock(&paging->lock);
    for (struct maar_page_pool* pool = paging->pools; pool != NULL; pool = pool->next) {
        for (uint32_t i = pool->block_count; i-- > 0 && pool->growing_count == 0;) {
            struct maar_page_block* block = pool->blocks[i];
            if (block->used_count == 0 && block->age > blocks_made && block->last_value == 0) {
                chosen = choose_empty(paging, block, chosen);
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
        (void)maar_free_allocation(allocator, "the end of a page block", block->allocation);
        maar_leaving_end(&allocator->leaving, &block->leaving);
        maar_host_free(allocator->callbacks, block);
        maar_mutex_lock(&paging->lock);
    }
    maar_mutex_unlock(&paging->lock);
    maar_host_free(allocator->callbacks, pool->blocks);
    maar_host_free(allocator->callbacks, pool->longest);
    maar_host_free(allocator->callbacks, pool);
}
