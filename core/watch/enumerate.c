/*
 * Lists of the blocks of an allocator and of the ranges of each block.
 */
#include "core/watch/enumerate.h"

#include <stddef.h>
#include <string.h>

#include "core/memory/margin_size.h"
#include "core/memory/object_handle.h"
#include "core/memory/pool_list.h"
#include "core/paging/paging_watch.h"

struct block_list {
    MaarBlockInfo* out;
    uint32_t capacity;
    uint32_t count;
};

static void fill_block(const struct maar_block* block, MaarBlockInfo* out)
{
    const struct maar_pool* pool = block->pool;
    const bool paged = maar_block_is_paged(block);
    *out = (MaarBlockInfo){
        .sType = out->sType,
        .pNext = out->pNext,
        .blockId = block->id,
        .memory = block->memory,
        .size = block->size,
        .memoryTypeIndex = pool->type_index,
        .dedicated = block->placement == NULL && !paged ? VK_TRUE : VK_FALSE,
        .strategy = pool->strategy,
        .allocationCount = paged ? 0 : block->range_count - block->pending_count,
        .allocationBytes = maar_block_live_bytes(block),
        .pendingBytes = paged ? maar_atomic64_load(&block->paged_pending) : block->pending_bytes,
        .pool = pool->handle,
    };
}

static void list_block_info(struct block_list* list, const struct maar_block* block)
{
    if (list->out != NULL && list->count < list->capacity) {
        fill_block(block, &list->out[list->count]);
    }
    ++list->count;
}

/* Lists the blocks of an arena. The arena has one list of shared blocks and one of dedicated
 * blocks, and both are at least nearly in the order of ids. The list of dedicated blocks begins
 * with the block that was added last, so it is walked backward. The merged list is nearly in the
 * order of ids. */
static void list_arena_blocks(struct maar_arena* arena, struct block_list* list)
{
    maar_mutex_lock(&arena->lock);
    const struct maar_block* dedicated = arena->dedicated;
    while (dedicated != NULL && dedicated->next != NULL) {
        dedicated = dedicated->next;
    }
    const struct maar_block* shared = maar_arena_next_block(arena, 0);
    while (shared != NULL || dedicated != NULL) {
        if (dedicated == NULL || (shared != NULL && shared->id < dedicated->id)) {
            list_block_info(list, shared);
            shared = maar_arena_next_block(arena, shared->at + 1);
        } else {
            list_block_info(list, dedicated);
            dedicated = dedicated->previous;
        }
    }
    maar_mutex_unlock(&arena->lock);
}

/* This is a Shell sort. It works in place, and it is fast on a list that is nearly in order. */
void maar_sort_blocks(void* elements, size_t count, size_t size, size_t id_offset)
{
    char held[MAAR_SORT_MOST];
    char* bytes = elements;
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; ++i) {
            uint64_t id = 0;
            size_t at = i;
            memcpy(held, bytes + i * size, size);
            memcpy(&id, held + id_offset, sizeof id);
            for (; at >= gap; at -= gap) {
                uint64_t other = 0;
                memcpy(&other, bytes + (at - gap) * size + id_offset, sizeof other);
                if (other <= id) {
                    break;
                }
                memcpy(bytes + at * size, bytes + (at - gap) * size, size);
            }
            memcpy(bytes + at * size, held, size);
        }
    }
}

_Static_assert(sizeof(MaarBlockInfo) <= MAAR_SORT_MOST, "maar_sort_blocks can sort this element");

static void list_pool_blocks(struct maar_pool* pool, struct block_list* list)
{
    const uint32_t first = list->count;
    maar_pool_begin_walk(pool);
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        list_arena_blocks(arena, list);
    }
    maar_pool_end_walk(pool);
    const uint32_t end = list->count < list->capacity ? list->count : list->capacity;
    if (list->out != NULL && end > first) {
        maar_sort_blocks(&list->out[first], end - first, sizeof list->out[0],
                         offsetof(MaarBlockInfo, blockId));
    }
}

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateBlocks(MaarAllocator allocator, MaarPool pool,
                                                   uint32_t* pCount, MaarBlockInfo* pBlocks)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    result = maar_pool_require_own(allocator, __func__, "pool", pool);
    if (result != VK_SUCCESS) {
        return result;
    }
    struct block_list list = {.out = pBlocks, .capacity = pBlocks != NULL ? *pCount : 0};
    for (uint32_t i = 0; i < list.capacity; ++i) {
        if (pBlocks[i].sType != MAAR_STRUCTURE_TYPE_BLOCK_INFO) {
            return maar_misuse(allocator, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, __func__,
                               "an element of pBlocks has a wrong sType");
        }
    }
    struct maar_pool* own = maar_pool_of(allocator, pool);
    if (own != NULL) {
        list_pool_blocks(own, &list);
    } else {
        for (own = maar_pool_next(allocator, NULL); own != NULL;
             own = maar_pool_next(allocator, own)) {
            list_pool_blocks(own, &list);
        }
    }
    if (pBlocks == NULL) {
        *pCount = list.count;
        return VK_SUCCESS;
    }
    *pCount = list.count < list.capacity ? list.count : list.capacity;
    return list.count > list.capacity ? VK_INCOMPLETE : VK_SUCCESS;
}

struct range_list {
    MaarAllocator allocator;
    VkDeviceSize margin; /* of the block's ranges */
    MaarBlockRange* out;
    uint32_t capacity;
    uint32_t count;
};

static void fill_owner(MaarAllocator allocator, uint32_t index, MaarBlockRange* out)
{
    struct maar_slot* slot = maar_slot_at(&allocator->slots, index);
    uint32_t key = maar_atomic32_load_acquire(&slot->key);
    out->state = maar_slot_has(slot, MAAR_SLOT_PENDING) ? MAAR_BLOCK_RANGE_STATE_PENDING
                                                        : MAAR_BLOCK_RANGE_STATE_LIVE;
    out->kind = (MaarResourceKind)maar_slot_kind(slot);
    /* The key is even while another thread is about to make the allocation live or to end it. */
    out->allocation = (key & 1u) != 0 ? MAAR_FROM_BITS(MaarAllocation, maar_handle_make(index, key))
                                      : VK_NULL_HANDLE;
    out->pUserData = maar_slot_user_data(slot, index);
    const char* name = maar_slot_name(slot, index);
    if (name != NULL) {
        size_t length = strlen(name);
        if (length >= sizeof out->name) {
            length = sizeof out->name - 1;
        }
        memcpy(out->name, name, length);
    }
}

static void list_range(struct range_list* list, MaarRangeState state, VkDeviceSize offset,
                       VkDeviceSize size, uint32_t slot)
{
    if (list->out != NULL && list->count < list->capacity) {
        MaarBlockRange* out = &list->out[list->count];
        *out = (MaarBlockRange){.offset = offset, .size = size};
        if (state == MAAR_RANGE_STATE_LIVE) {
            fill_owner(list->allocator, slot, out);
        } else {
            out->state = state == MAAR_RANGE_STATE_FREE ? MAAR_BLOCK_RANGE_STATE_FREE
                                                        : MAAR_BLOCK_RANGE_STATE_PADDING;
        }
    }
    ++list->count;
}

static bool visit_range(void* context, const MaarRangeInfo* info)
{
    struct range_list* list = context;
    const uint32_t owner = (uint32_t)info->userData;
    const VkDeviceSize margin = info->state == MAAR_RANGE_STATE_LIVE
                                    ? maar_shown_margin(list->allocator, list->margin, owner)
                                    : 0;
    list_range(list, info->state, info->offset, info->size - margin, owner);
    if (margin != 0) {
        list_range(list, MAAR_RANGE_STATE_PADDING, info->offset + info->size - margin, margin,
                   MAAR_SLOT_NONE);
    }
    return true;
}

static void list_page_run(struct range_list* list, const struct maar_page_walk* run)
{
    if (list->out != NULL && list->count < list->capacity) {
        list->out[list->count] = (MaarBlockRange){
            .offset = run->offset,
            .size = run->size,
            .state = run->state,
        };
    }
    ++list->count;
}

static void list_block_ranges(const struct maar_block* block, struct range_list* list)
{
    if (block->placement != NULL) {
        list->margin = maar_block_margin(block);
        maar_placement_walk(block->placement, visit_range, list);
    } else if (maar_block_is_paged(block)) {
        struct maar_page_walk run;
        for (bool more = maar_page_walk_begin(list->allocator, block, &run); more;
             more = maar_page_walk_next(&run)) {
            list_page_run(list, &run);
        }
    } else {
        list_range(list, MAAR_RANGE_STATE_LIVE, 0, block->size, block->dedicated_slot);
    }
}

/* Lists the ranges of a block. Returns false when no block has that id. */
static bool list_ranges_of(MaarAllocator allocator, uint64_t block_id, struct range_list* list)
{
    struct maar_arena* arena = maar_block_ids_hold_arena(allocator, block_id);
    if (arena == NULL) {
        return false;
    }
    struct maar_pool* pool = arena->pool;
    const struct maar_block* block = NULL;
    bool moved = true;
    maar_pool_begin_walk(pool);
    while (moved) {
        maar_mutex_lock(&arena->lock);
        block = maar_block_ids_find(&allocator->block_ids, block_id, arena);
        if (block != NULL) {
            list_block_ranges(block, list);
        }
        maar_mutex_unlock(&arena->lock);
        /* The block may have moved before the walk began, and does not move now. */
        struct maar_arena* now = maar_block_ids_find_arena(&allocator->block_ids, block_id);
        moved = block == NULL && now != NULL && now != arena;
        arena = moved ? now : arena;
    }
    maar_pool_end_walk(pool);
    maar_pool_leave(allocator, pool);
    return block != NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL maarEnumerateBlockRanges(MaarAllocator allocator, uint64_t blockId,
                                                        uint32_t* pCount, MaarBlockRange* pRanges)
{
    VkResult result = maar_enter(allocator);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (pCount == NULL) {
        return maar_misuse(allocator, MAAR_MESSAGE_ID_NULL_ARGUMENT, __func__, "pCount is NULL");
    }
    struct range_list list = {
        .allocator = allocator,
        .out = pRanges,
        .capacity = pRanges != NULL ? *pCount : 0,
    };
    const bool found = list_ranges_of(allocator, blockId, &list);
    const bool cut = pRanges != NULL && list.count > list.capacity;
    *pCount = cut ? list.capacity : list.count;
    if (!found) {
        /* This is no misuse: another thread may have released the block since it was listed. */
        return VK_ERROR_VALIDATION_FAILED_EXT;
    }
    return cut ? VK_INCOMPLETE : VK_SUCCESS;
}
