/*
 * Allocations made of pages, as allocations: a slot like any other, whose block is a stand-in
 * without a VkDeviceMemory. This file also keeps the dedicated blocks that core/paging cuts into
 * pages; their live bytes are those of the pages in use.
 *
 * All host memory that ends a stitched allocation is allocated when it is made, so that destroying
 * it cannot fail. Its pages are given back when its last submission has been executed. Until then
 * it is pending.
 */
#include "core/memory/stitched_block.h"

#include "core/memory/allocator_state.h"
#include "core/memory/peak.h"
#include "core/memory/pool_check.h"
#include "core/memory/range_free.h"
#include "core/memory/recycled.h"
#include "core/memory/slot_home.h"
#include "core/time/retire_collect.h"

void maar_block_make_paged(struct maar_block* block)
{
    struct maar_arena* arena = maar_block_arena(block);
    maar_mutex_lock(&arena->lock);
    maar_atomic32_store(&block->paged, 1);
    maar_arena_drop_live(arena, block->size);
    maar_mutex_unlock(&arena->lock);
}

/* Takes a free slot from the arena. */
static VkResult take_slot(struct maar_arena* arena, struct maar_made* made)
{
    MaarAllocator allocator = arena->pool->allocator;
    maar_mutex_lock(&arena->lock);
    VkResult result = maar_slots_refill(&allocator->slots, &arena->lock, &arena->slots);
    if (result == VK_SUCCESS) {
        made->index = maar_slots_pop(&allocator->slots, &arena->slots);
        made->slot = maar_slot_at(&allocator->slots, made->index);
    }
    maar_mutex_unlock(&arena->lock);
    return result;
}

static VkResult make_stand_in(struct maar_arena* arena, struct maar_block** block)
{
    MaarAllocator allocator = arena->pool->allocator;
    struct maar_block* made = maar_block_header_take(arena);
    if (made == NULL) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->named = true;
    made->ending = maar_retire_prepare(&allocator->retire, MAAR_MAX_POINTS + 1, NULL);
    if (made->ending == NULL) {
        maar_block_header_keep(made);
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    *block = made;
    return VK_SUCCESS;
}

VkResult maar_stitched_prepare(struct maar_pool* pool, const MaarMemoryRequest* request,
                               const MaarAllocationCreateInfo* info, struct maar_stitched* out)
{
    MaarAllocator allocator = pool->allocator;
    *out = (struct maar_stitched){
        .place = {.size = request->requirements.size,
                  .kind = request->kind,
                  .shown_kind = request->kind,
                  .user_data = info->pUserData},
    };
    out->arena = maar_arena_enter(pool);
    maar_mutex_unlock(&out->arena->lock);
    VkResult result = make_stand_in(out->arena, &out->block);
    if (result != VK_SUCCESS) {
        return result;
    }
    if (info->pName != NULL) {
        out->place.name = maar_copy_string(allocator->callbacks, info->pName);
        result = out->place.name != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (result == VK_SUCCESS) {
        result = take_slot(out->arena, &out->made);
    }
    if (result != VK_SUCCESS) {
        maar_host_free(allocator->callbacks, out->place.name);
        maar_stand_in_free(out->block);
    }
    return result;
}

void maar_stitched_discard(struct maar_stitched* stitched)
{
    struct maar_arena* arena = stitched->arena;
    MaarAllocator allocator = arena->pool->allocator;
    maar_mutex_lock(&arena->lock);
    maar_slots_put(&allocator->slots, &arena->slots, stitched->made.slot, stitched->made.index);
    maar_mutex_unlock(&arena->lock);
    maar_host_free(allocator->callbacks, stitched->place.name);
    maar_stand_in_free(stitched->block);
}

MaarAllocation maar_stitched_publish(struct maar_stitched* stitched, struct maar_page_table* table,
                                     VkDeviceSize page_bytes)
{
    struct maar_arena* arena = stitched->arena;
    MaarAllocator allocator = arena->pool->allocator;
    struct maar_block* block = stitched->block;
    struct maar_slot* slot = stitched->made.slot;
    const struct maar_placement_range range = {
        .offset = 0,
        .size = stitched->place.size,
        .node = MAAR_PLACEMENT_NO_NODE,
    };
    block->table = table;
    block->size = page_bytes;
    (void)maar_atomic64_add(&allocator->stitched_bytes, page_bytes);
    maar_mutex_lock(&arena->lock);
    maar_slots_push(&arena->slots, slot, stitched->made.index);
    maar_arena_fill_slot(arena, block, &stitched->place, &range, &stitched->made);
    slot->stitched = true;
    block->dedicated_slot = stitched->made.index;
    maar_arena_link_dedicated(arena, block);
    maar_mutex_unlock(&arena->lock);
    const uint32_t key = maar_atomic32_load(&slot->key) + 1u;
    maar_atomic32_store_release(&slot->key, key);
    maar_check_if_asked(arena->pool);
    return MAAR_FROM_BITS(MaarAllocation, maar_handle_make(stitched->made.index, key));
}

void maar_stitched_end(MaarAllocator allocator, struct maar_slot* slot, uint32_t index,
                       uint64_t object, uint32_t point_count, const MaarPoint* points,
                       maar_retire_action action)
{
    struct maar_block* block = maar_slot_block(allocator, slot);
    struct maar_retire_item* item = block->ending;
    MaarPoint last = {.value = 0};
    const bool is_executed = allocator->paging.seal(allocator, slot, index, &last);
    block->ending = NULL;
    item->action = action;
    item->object = object;
    maar_retire_set_points(item, point_count, points);
    if (!is_executed) {
        maar_retire_add_point(item, last);
    }
    maar_slot_retire(allocator, slot, index, item);
    if (item->point_count == 0) {
        maar_retire_run(&allocator->retire, item);
    } else {
        maar_retire_queue(&allocator->retire, item);
    }
}
