/*
 * Keeps the lists of an arena's blocks: the blocks that allocations share, with what finds them
 * (block index, shape index, idle blocks), and the blocks of a single allocation each.
 *
 * A block that leaves the list leaves a hole, and the list is compacted when more than half of it
 * are holes. So listing and unlisting a block cost O(log n) on average.
 */
#include "core/memory/arena.h"

#include <string.h>

#include "core/memory/allocator_state.h"
#include "core/memory/captured_arena.h"
#include "core/memory/peak.h"
#include "core/memory/pool.h"

/* The number of blocks for which the first list of an arena has room. A list is compacted only when
 * it has more entries than this. */
enum { FIRST_BLOCK_CAPACITY = 16 };
/* The number of columns for which the first shape index has room. */
enum { FIRST_SHAPE_COLUMNS = 7 };

void maar_arena_note_room(struct maar_arena* arena, struct maar_block* block)
{
    const VkDeviceSize room = maar_block_room(block);
    maar_block_index_set(&arena->block_index, block, maar_size_class(room));
    maar_block_set_quiet(block, room);
}

static void change_empty_bytes(struct maar_pool* pool, uint64_t change)
{
    (void)maar_atomic64_add(&pool->empty_bytes, change);
    (void)maar_atomic64_add(&pool->allocator->heaps[pool->heap_index].empty_bytes, change);
}

void maar_arena_count_empty(struct maar_arena* arena, struct maar_block* block, bool empty)
{
    struct maar_pool* pool = arena->pool;
    (void)maar_atomic32_add(&pool->empty_count, empty ? 1u : UINT32_MAX);
    change_empty_bytes(pool, empty ? block->size : 0 - block->size);
    if (!empty) {
        maar_empty_blocks_remove(&arena->empty, block);
        maar_idle_blocks_remove(&arena->idle, block);
        return;
    }
    maar_empty_blocks_add(&arena->empty, block, &pool->allocator->trim_clock);
    if (block->pin_count == 0) {
        maar_idle_blocks_add(&arena->idle, block);
    }
}

void maar_arena_pin(struct maar_arena* arena, struct maar_block* block)
{
    ++block->pin_count;
    maar_idle_blocks_remove(&arena->idle, block);
}

void maar_arena_unpin(struct maar_arena* arena, struct maar_block* block)
{
    --block->pin_count;
    if (maar_block_is_idle(block)) {
        maar_idle_blocks_add(&arena->idle, block);
    }
}

void maar_arena_raise_bounds(struct maar_arena* arena, struct maar_block* block, VkDeviceSize room)
{
    block->least_bound = MAAR_SHAPE_ANY_SIZE;
    if (arena->shapes != NULL) {
        maar_shape_index_raise(arena->shapes, block->at, room);
        block->least_bound = maar_shape_index_least(arena->shapes, block->at);
    }
    maar_block_set_quiet(block, block->quiet_room);
}

void maar_arena_lower_bound(struct maar_arena* arena, struct maar_block* block, uint32_t column,
                            uint32_t bound)
{
    maar_shape_index_set(arena->shapes, block->at, column, bound);
    block->least_bound = maar_shape_index_least(arena->shapes, block->at);
    maar_block_set_quiet(block, block->quiet_room);
}

/* Computes the bounds of all blocks in the shape index again, after their numbers have changed. */
static void refill_shapes(struct maar_arena* arena)
{
    if (arena->shapes != NULL) {
        maar_shape_index_reset(arena->shapes);
    }
    for (struct maar_block* block = maar_arena_next_block(arena, 0); block != NULL;
         block = maar_arena_next_block(arena, block->at + 1)) {
        maar_arena_raise_bounds(arena, block, maar_block_room(block));
    }
}

/* Copies the blocks of the list to another list, or to its own beginning, without holes. */
static void copy_blocks(const struct maar_arena* arena, struct maar_block** to)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < arena->block_end; ++i) {
        if (arena->blocks[i] != NULL) {
            to[count++] = arena->blocks[i];
        }
    }
}

static void compact(struct maar_arena* arena)
{
    const uint32_t end = arena->block_end;
    copy_blocks(arena, arena->blocks);
    for (uint32_t i = arena->block_count; i < end; ++i) {
        arena->blocks[i] = NULL;
    }
    arena->block_end = arena->block_count;
    maar_block_index_renumber(&arena->block_index, arena->blocks, 0, end);
    refill_shapes(arena);
}

/* Host memory that takes the place of what an arena has. Then what the arena had. */
struct replacement {
    uint32_t capacity;
    uint32_t columns; /* of the shape index */
    struct maar_block** blocks;
    struct maar_shape_index* shapes; /* NULL: the arena goes on without a shape index */
};

static void free_replacement(MaarAllocator allocator, const struct replacement* memory)
{
    maar_host_free(allocator->callbacks, memory->blocks);
    maar_host_free(allocator->callbacks, memory->shapes);
}

/* Gives the arena a new shape index with the columns that it has, unless there is one with more
 * columns already. */
static void replace_shapes(struct maar_arena* arena, struct replacement* memory)
{
    struct maar_shape_index* old = arena->shapes;
    if (memory->shapes == NULL || memory->capacity != arena->block_capacity ||
        (old != NULL && old->count > memory->columns)) {
        return;
    }
    maar_shape_index_init(memory->shapes, memory->capacity, memory->columns, old);
    arena->shapes = memory->shapes;
    memory->shapes = old;
    refill_shapes(arena);
}

/* Replaces the list by one with a greater capacity. */
static void replace_list(struct maar_arena* arena, struct replacement* memory)
{
    struct maar_block** old = arena->blocks;
    struct maar_block** idle = memory->blocks + memory->capacity;
    copy_blocks(arena, memory->blocks);
    for (uint32_t i = 0; i < arena->idle.count; ++i) {
        idle[i] = arena->idle.heap[i];
    }
    arena->blocks = memory->blocks;
    arena->block_end = arena->block_count;
    arena->block_capacity = memory->capacity;
    arena->idle.heap = idle;
    arena->block_index.levels = (uint16_t*)(void*)(idle + memory->capacity);
    arena->block_index.capacity = memory->capacity;
    maar_block_index_renumber(&arena->block_index, arena->blocks, 0, arena->block_end);
    memory->blocks = old;
    struct maar_shape_index* old_shapes = arena->shapes;
    replace_shapes(arena, memory);
    if (arena->shapes == old_shapes && old_shapes != NULL) {
        /* There is no memory for a larger index. A failed request makes one later. */
        arena->shapes = NULL;
        MAAR_DEBUG_ASSERT(memory->shapes == NULL);
        memory->shapes = old_shapes;
    }
}

VkResult maar_arena_reserve_list(struct maar_arena* arena, uint32_t more)
{
    MaarAllocator allocator = arena->pool->allocator;
    const VkAllocationCallbacks* callbacks = allocator->callbacks;
    while (arena->block_end + arena->creating_count + more > arena->block_capacity) {
        if (arena->block_count + arena->creating_count + more <= arena->block_capacity / 2) {
            compact(arena);
            break;
        }
        struct replacement memory = {
            .capacity =
                arena->block_capacity == 0 ? FIRST_BLOCK_CAPACITY : arena->block_capacity * 2,
            .columns = arena->shapes != NULL ? arena->shapes->width - 1 : 0,
        };
        maar_mutex_unlock(&arena->lock);
        memory.blocks =
            maar_host_calloc(callbacks, 1,
                             memory.capacity * 2 * sizeof(struct maar_block*) +
                                 maar_block_index_entries(memory.capacity) * sizeof(uint16_t));
        if (memory.blocks != NULL && memory.columns > 0) {
            memory.shapes = maar_host_calloc(
                callbacks, 1, maar_shape_index_size(memory.capacity, memory.columns));
        }
        maar_mutex_lock(&arena->lock);
        if (memory.blocks == NULL) {
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        }
        if (memory.capacity > arena->block_capacity) {
            replace_list(arena, &memory);
        }
        maar_mutex_unlock(&arena->lock);
        free_replacement(allocator, &memory);
        maar_mutex_lock(&arena->lock);
    }
    return VK_SUCCESS;
}

uint32_t maar_arena_shape_column(struct maar_arena* arena, uint32_t shape)
{
    struct maar_shape_index* shapes = arena->shapes;
    if (shapes == NULL) {
        return 0;
    }
    uint32_t column = maar_shape_index_column(shapes, shape);
    if (column == 0) {
        column = maar_shape_index_add(shapes, shape);
        for (struct maar_block* block = maar_arena_next_block(arena, 0);
             column != 0 && block != NULL; block = maar_arena_next_block(arena, block->at + 1)) {
            maar_arena_lower_bound(arena, block, column, maar_shape_bound(maar_block_room(block)));
        }
    }
    return column;
}

bool maar_arena_grow_shapes(struct maar_arena* arena)
{
    MaarAllocator allocator = arena->pool->allocator;
    const uint32_t now = arena->shapes != NULL ? arena->shapes->width - 1 : 0;
    const uint32_t columns = now == 0 ? FIRST_SHAPE_COLUMNS : 2 * now + 1;
    struct replacement memory = {
        .capacity = arena->block_capacity,
        .columns = columns < MAAR_SHAPE_COLUMNS ? columns : MAAR_SHAPE_COLUMNS,
    };
    if (memory.columns == now) {
        return false;
    }
    maar_mutex_unlock(&arena->lock);
    memory.shapes = maar_host_calloc(allocator->callbacks, 1,
                                     maar_shape_index_size(memory.capacity, memory.columns));
    const bool has_memory = memory.shapes != NULL;
    maar_mutex_lock(&arena->lock);
    replace_shapes(arena, &memory);
    maar_mutex_unlock(&arena->lock);
    free_replacement(allocator, &memory);
    maar_mutex_lock(&arena->lock);
    return has_memory;
}

/* Takes a block out of the list and the indexes. */
static void drop_from_list(struct maar_arena* arena, struct maar_block* block)
{
    const uint32_t at = block->at;
    arena->block_bytes -= block->size;
    --arena->block_count;
    arena->blocks[at] = NULL;
    maar_block_index_renumber(&arena->block_index, arena->blocks, at, at + 1);
    if (arena->shapes != NULL) {
        maar_shape_index_clear(arena->shapes, at);
    }
    while (arena->block_end > 0 && arena->blocks[arena->block_end - 1] == NULL) {
        --arena->block_end;
    }
    if (arena->block_end > FIRST_BLOCK_CAPACITY && arena->block_count < arena->block_end / 2) {
        compact(arena);
    }
}

/* Called when a block is unlisted under its arena's lock: no arena adopts it any more. */
static void forget_far_block(const struct maar_pool* pool, struct maar_block* block)
{
    for (struct maar_arena* other = maar_arena_set_next(&pool->arenas, 0); other != NULL;
         other = maar_arena_set_next(&pool->arenas, other->number + 1)) {
        void* known = block;
        while (known == block && !maar_atomic_pointer_replace(&other->far_block, &known, NULL)) {
        }
    }
}

/* counted: the caller has already reduced the pool's empty_count. It must not be reduced again, not
 * even for a moment: other threads compare it with what they see. */
static void unlist(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    struct maar_pool* pool = arena->pool;
    if (counted) {
        change_empty_bytes(pool, 0 - block->size);
        maar_empty_blocks_remove(&arena->empty, block);
        maar_idle_blocks_remove(&arena->idle, block);
    } else {
        maar_arena_count_empty(arena, block, false);
    }
    maar_block_ids_remove(&pool->allocator->block_ids, block);
    if (block->draining) {
        (void)maar_atomic32_add(&pool->draining_count, UINT32_MAX);
        (void)maar_atomic32_add(&pool->drained_count, 1);
        (void)maar_atomic64_add(&pool->drained_bytes, block->size);
    }
    if (maar_atomic32_load(&pool->met) != 0) {
        forget_far_block(pool, block);
    }
    drop_from_list(arena, block);
}

bool maar_arena_try_unlist(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    struct maar_pool* pool = arena->pool;
    if (!maar_atomic32_take_above(&pool->listed_count, pool->min_block_count)) {
        return false;
    }
    (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    if (arena->capture != NULL) {
        maar_captured_block_end(arena, block);
    }
    unlist(arena, block, counted);
    maar_leaving_enter(&pool->allocator->leaving, &block->leaving, pool->heap_index);
    return true;
}

/* A block of a frugal pool is large from this share of the preferred size on. The blocks of a pool
 * that is small still are smaller. */
enum { LARGE_BLOCK_SHARE = 4 };

static bool is_large(const struct maar_block* block)
{
    const struct maar_pool* pool = block->pool;
    return !pool->frugal || block->size >= pool->preferred_size / LARGE_BLOCK_SHARE;
}

bool maar_block_is_behind(const struct maar_block* block, const struct maar_block* other)
{
    return is_large(block) == is_large(other) ? block->id > other->id : is_large(other);
}

/* Moves the blocks that belong behind a block up by one place: the small ones, and those of later
 * ids, which other threads have listed first. Returns the number of the first one, where the block
 * belongs. */
static uint32_t make_place(struct maar_arena* arena, const struct maar_block* block)
{
    uint32_t at = arena->block_end;
    while (at > 0 &&
           (arena->blocks[at - 1] == NULL || maar_block_is_behind(arena->blocks[at - 1], block))) {
        --at;
    }
    for (uint32_t i = arena->block_end; i > at; --i) {
        arena->blocks[i] = arena->blocks[i - 1];
    }
    ++arena->block_end;
    return at;
}

/* Puts a block into the list and the indexes. */
static void put_in(struct maar_arena* arena, struct maar_block* block)
{
    const uint32_t at = make_place(arena, block);
    arena->blocks[at] = block;
    ++arena->block_count;
    arena->block_bytes += block->size;
    maar_block_index_renumber(&arena->block_index, arena->blocks, at, arena->block_end);
    if (at + 1 < arena->block_end) {
        refill_shapes(arena);
    } else {
        maar_arena_raise_bounds(arena, block, maar_block_room(block));
    }
}

void maar_arena_list(struct maar_arena* arena, struct maar_block* block)
{
    put_in(arena, block);
    maar_block_ids_add(&arena->pool->allocator->block_ids, block);
    if (arena->capture != NULL) {
        maar_captured_block(arena, block);
    }
    maar_arena_count_empty(arena, block, true);
}

void maar_arena_move_block(struct maar_arena* from, struct maar_arena* to, struct maar_block* block)
{
    const VkDeviceSize live = maar_block_live_bytes(block);
    MAAR_DEBUG_ASSERT(block->range_count > 0);
    maar_assert_held(&from->lock);
    maar_assert_held(&to->lock);
    drop_from_list(from, block);
    from->pending_count -= block->pending_count;
    maar_arena_drop_live(from, live);
    /* What the arena has now was compared with the peak before. */
    const VkDeviceSize left = maar_atomic64_load(&from->live_bytes);
    from->live_high = from->live_high < left ? from->live_high : left;
    put_in(to, block);
    to->has_moved = true;
    from->has_moved = true;
    to->pending_count += block->pending_count;
    maar_arena_gain_live(to, live);
    maar_atomic_pointer_store(&block->arena, to);
    if (block->listing_floor != 0) {
        maar_atomic32_store_ordered(&block->listing, to->number + 1);
    }
}

/* Returns the list for a block that holds a single allocation. */
static struct maar_block** dedicated_list(struct maar_arena* arena, const struct maar_block* block)
{
    return block->table != NULL ? &arena->stitched : &arena->dedicated;
}

void maar_arena_link_dedicated(struct maar_arena* arena, struct maar_block* block)
{
    struct maar_block** list = dedicated_list(arena, block);
    block->next = *list;
    if (*list != NULL) {
        (*list)->previous = block;
    }
    *list = block;
    if (block->table != NULL) {
        ++arena->stitched_count;
    } else {
        maar_block_ids_add(&arena->pool->allocator->block_ids, block);
        ++arena->dedicated_count;
        arena->dedicated_bytes += block->size;
        if (arena->capture != NULL) {
            maar_captured_block(arena, block);
        }
    }
}

void maar_arena_unlink_dedicated(struct maar_arena* arena, struct maar_block* block)
{
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        *dedicated_list(arena, block) = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    --block->range_count;
    if (block->table != NULL) {
        /* The allocation was pending: no stitched allocation ends in one step. */
        --arena->stitched_count;
        --arena->stitched_pending_count;
        arena->stitched_pending_bytes -= block->size;
    } else {
        maar_block_ids_remove(&arena->pool->allocator->block_ids, block);
        --arena->dedicated_count;
        arena->dedicated_bytes -= block->size;
        if (arena->capture != NULL) {
            maar_captured_block_end(arena, block);
        }
        maar_leaving_enter(&arena->pool->allocator->leaving, &block->leaving,
                           arena->pool->heap_index);
    }
}
