/*
 * Places requests into the existing blocks of a pool: first in the arena of this thread, then in
 * the other arenas.
 */
#include "core/memory/arena_place.h"

#include "core/memory/allocator_state.h"
#include "core/memory/arena_adopt.h"
#include "core/memory/peak.h"
#include "core/memory/pool_check.h"
#include "core/memory/slot_home.h"

/* A request that did not fit in so many blocks uses the shape index. Most requests find a block
 * before, so most programs have no such index. */
enum { LOOKS_BEFORE_SHAPES = 3 };

/* Ordered requests reuse what they place, so what ends together lies together. Large ranges, and
 * buffers of a middle size, which are mostly uploads, lie at the beginning of free ranges. Images
 * and tiny ranges lie at their end, and so do the buffers if a large range is before them. So a
 * large request finds the pending bytes of former ones side by side, with free bytes behind them.
 * Large is what has so many bytes, or an 8th of the block: docs/design/ordered-reuse.md has the
 * measurements. */
#define APART_LARGE ((VkDeviceSize)8 << 20)
enum { APART_SHARE = 8 };
/* Tiny is what has fewer bytes. */
#define APART_TINY ((VkDeviceSize)64 << 10)

MAAR_INLINE void fill_slot(struct maar_arena* arena, struct maar_block* block,
                           const struct maar_place_request* request,
                           const struct maar_placement_range* range, struct maar_made* made)
{
    const uint32_t index = arena->slots.head;
    struct maar_slot* slot = maar_arena_take_slot(arena, request->shown_kind, request->user_data);
    made->slot = slot;
    made->index = index;
    maar_slot_set_home(slot, block, range->node);
    (void)maar_slot_set_name(slot, index, request->name);
    slot->owned = request->internal;
    slot->can_alias = request->can_alias;
    maar_slot_mark(slot, MAAR_SLOT_INTERNAL, request->internal);
    ++arena->made_count;
    maar_arena_gain_live(arena, request->size);
}

void maar_arena_fill_slot(struct maar_arena* arena, struct maar_block* block,
                          const struct maar_place_request* request,
                          const struct maar_placement_range* range, struct maar_made* made)
{
    fill_slot(arena, block, request, range, made);
    block->dedicated_size = request->size;
    ++block->range_count;
}

/* Handles a failed placement in a block: notes how much room the block has, or unlocks the arena
 * for a time to allocate the host memory that was missing. */
MAAR_NOINLINE enum maar_pool_outcome
place_in_vain(struct maar_arena* arena, struct maar_block* block, enum maar_place_outcome placed)
{
    MaarAllocator allocator = arena->pool->allocator;
    if (placed == MAAR_PLACE_NO_ROOM) {
        maar_arena_note_room(arena, block);
        return MAAR_POOL_NO_ROOM;
    }
    VkResult brought = VK_SUCCESS;
    maar_arena_pin(arena, block);
    if (arena->slots.head == MAAR_SLOT_NONE) {
        brought = maar_slots_refill(&allocator->slots, &arena->lock, &arena->slots);
    } else {
        brought = maar_bring_storage(allocator->callbacks, &arena->lock, block->placement);
    }
    maar_arena_unpin(arena, block);
    return brought == VK_SUCCESS ? MAAR_POOL_CHANGED : MAAR_POOL_NO_HOST_MEMORY;
}

/* Returns how large the range before a free range is at least if a request that keeps apart is
 * placed at the end of the free range. */
static VkDeviceSize apart_after(const struct maar_place_request* request,
                                const struct maar_block* block)
{
    const VkDeviceSize share = block->size / APART_SHARE;
    const VkDeviceSize large = share < APART_LARGE ? share : APART_LARGE;
    if (request->size >= large) {
        return UINT64_MAX;
    }
    return request->kind == MAAR_RESOURCE_KIND_OPTIMAL || request->size < APART_TINY ? 0 : large;
}

/* lowest: whether the request takes the lowest place. */
MAAR_INLINE enum maar_pool_outcome place_in(struct maar_arena* arena, struct maar_block* block,
                                            const struct maar_place_request* request, bool lowest,
                                            struct maar_made* made)
{
    enum maar_place_outcome placed = MAAR_PLACE_WANTS_STORAGE;
    if (arena->slots.head != MAAR_SLOT_NONE) {
        const struct maar_placement_request placement = {
            .size = request->size,
            .alignment = request->alignment,
            .user = maar_range_tag(arena->slots.head, request->alignment),
            .kind = maar_placement_kind(arena->pool, request->kind),
            .upper = request->upper,
        };
        struct maar_placement_range range;
        if (lowest) {
            placed = maar_placement_allocate_lowest(block->placement, &placement, &range);
        } else if (request->apart) {
            placed = maar_placement_allocate_last(block->placement, &placement,
                                                  apart_after(request, block), &range);
        } else {
            placed = maar_placement_allocate(block->placement, &placement, &range);
        }
        if (placed == MAAR_PLACED) {
            fill_slot(arena, block, request, &range, made);
            maar_arena_count_range(arena, block, maar_size_class(request->size));
            return MAAR_POOL_PLACED;
        }
    }
    return place_in_vain(arena, block, placed);
}

void maar_arena_note_range(struct maar_arena* arena, struct maar_block* block)
{
    if (block->range_count == 1) {
        maar_arena_count_empty(arena, block, false);
    }
    maar_arena_note_room(arena, block);
}

enum maar_pool_outcome maar_arena_place_in(struct maar_arena* arena, struct maar_block* block,
                                           const struct maar_place_request* request,
                                           struct maar_made* made)
{
    return place_in(arena, block, request, request->lowest, made);
}

enum maar_pool_outcome maar_arena_place_at(struct maar_arena* arena, struct maar_block* block,
                                           const struct maar_place_request* request, uint32_t kind,
                                           VkDeviceSize offset, uint32_t before,
                                           struct maar_made* made)
{
    enum maar_place_outcome placed = MAAR_PLACE_WANTS_STORAGE;
    if (arena->slots.head != MAAR_SLOT_NONE) {
        const struct maar_placement_request placement = {
            .size = request->size,
            .alignment = request->alignment,
            .user = maar_range_tag(arena->slots.head, request->alignment),
            .kind = kind,
        };
        struct maar_placement_range range;
        placed = maar_placement_allocate_at(block->placement, &placement, offset, before, &range);
        if (placed == MAAR_PLACED) {
            fill_slot(arena, block, request, &range, made);
            ++block->range_count;
            maar_arena_note_range(arena, block);
            return MAAR_POOL_PLACED;
        }
    }
    return placed == MAAR_PLACE_NO_ROOM ? MAAR_POOL_NO_ROOM : place_in_vain(arena, block, placed);
}

enum maar_pool_outcome maar_arena_bring(struct maar_arena* arena, struct maar_block* block)
{
    return arena->slots.head != MAAR_SLOT_NONE && maar_placement_has_nodes(block->placement, 2)
               ? MAAR_POOL_PLACED
               : place_in_vain(arena, block, MAAR_PLACE_WANTS_STORAGE);
}

/* Places a large request into the block that it fits most tightly according to the block index.
 * Updates the class of each block that it chooses, and chooses again if the class was wrong. */
MAAR_NOINLINE enum maar_pool_outcome place_tightly(struct maar_arena* arena,
                                                   const struct maar_place_request* request,
                                                   uint32_t wanted, struct maar_made* made)
{
    for (;;) {
        const uint32_t at = maar_block_index_tightest(&arena->block_index, wanted);
        if (at == UINT32_MAX) {
            return MAAR_POOL_NO_ROOM;
        }
        struct maar_block* block = arena->blocks[at];
        const uint32_t known = arena->block_index.levels[at];
        maar_arena_note_room(arena, block);
        if (arena->block_index.levels[at] != known) {
            continue;
        }
        enum maar_pool_outcome outcome = maar_arena_place_in(arena, block, request, made);
        if (outcome != MAAR_POOL_CHANGED) {
            return outcome;
        }
    }
}

/* Places a request into the first block that has room. Tries the blocks by size, one after
 * another. Returns MAAR_POOL_CHANGED after `looks` blocks in which the request did not fit; *end is
 * then the number of the next block. */
MAAR_INLINE enum maar_pool_outcome place_in_turn(struct maar_arena* arena,
                                                 const struct maar_place_request* request,
                                                 bool lowest, uint32_t wanted, uint32_t looks,
                                                 uint32_t* end, struct maar_made* made)
{
    uint32_t at = maar_block_index_first(&arena->block_index, 0, wanted);
    while (at != UINT32_MAX) {
        enum maar_pool_outcome outcome = place_in(arena, arena->blocks[at], request, lowest, made);
        if (outcome == MAAR_POOL_CHANGED) {
            /* The arena was unlocked for a time, so its blocks may have changed. */
            at = maar_block_index_first(&arena->block_index, 0, wanted);
        } else if (outcome != MAAR_POOL_NO_ROOM) {
            return outcome;
        } else if (--looks == 0) {
            *end = at + 1;
            return MAAR_POOL_CHANGED;
        } else {
            at = maar_block_index_first(&arena->block_index, at + 1, wanted);
        }
    }
    return MAAR_POOL_NO_ROOM;
}

/* Does the same with any number of looks: there is no host memory for a shape index. */
MAAR_NOINLINE enum maar_pool_outcome place_without_shapes(struct maar_arena* arena,
                                                          const struct maar_place_request* request,
                                                          uint32_t wanted, struct maar_made* made)
{
    uint32_t end = 0;
    return place_in_turn(arena, request, request->lowest, wanted, UINT32_MAX, &end, made);
}

/* Returns the number of the first block at or after `from` that both indexes let a request try, or
 * UINT32_MAX. The shape index learns of each block that the block index alone excludes, so that
 * each such block is met once for each change of the block. */
static uint32_t first_by_shape(struct maar_arena* arena, uint32_t wanted, uint32_t column,
                               uint32_t size, uint32_t from)
{
    for (;;) {
        uint32_t at = maar_block_index_first(&arena->block_index, from, wanted);
        if (at == UINT32_MAX || maar_shape_index_bound(arena->shapes, at, column) >= size) {
            return at;
        }
        at = maar_shape_index_first(arena->shapes, column, at + 1, size);
        if (at == UINT32_MAX || arena->block_index.levels[at] >= wanted) {
            return at;
        }
        if (size != MAAR_SHAPE_ANY_SIZE) {
            maar_arena_lower_bound(arena, arena->blocks[at], column, size - 1);
        }
        from = at + 1;
    }
}

/* Places a request into the first block from `at` on that has room. Passes over the blocks that the
 * shape index excludes, and notes there in which blocks the request does not fit. */
MAAR_NOINLINE enum maar_pool_outcome place_by_shape(struct maar_arena* arena,
                                                    const struct maar_place_request* request,
                                                    uint32_t wanted, uint32_t at,
                                                    struct maar_made* made)
{
    /* The bounds of the alignment's largest power of two hold for the alignment too. */
    const VkDeviceSize power = request->alignment & (~request->alignment + 1);
    const uint32_t kind = maar_placement_kind(arena->pool, request->kind);
    const uint32_t shape = maar_shape_number(power, kind, request->upper);
    const uint32_t size = maar_shape_bound(request->size);
    for (;;) {
        const uint32_t column = maar_arena_shape_column(arena, shape);
        if (column == 0) {
            if (!maar_arena_grow_shapes(arena)) {
                return place_without_shapes(arena, request, wanted, made);
            }
            at = 0;
            continue;
        }
        at = first_by_shape(arena, wanted, column, size, at);
        if (at == UINT32_MAX) {
            return MAAR_POOL_NO_ROOM;
        }
        const enum maar_pool_outcome outcome =
            maar_arena_place_in(arena, arena->blocks[at], request, made);
        if (outcome == MAAR_POOL_CHANGED) {
            at = 0;
        } else if (outcome != MAAR_POOL_NO_ROOM) {
            return outcome;
        } else {
            if (power == request->alignment && size != MAAR_SHAPE_ANY_SIZE) {
                maar_arena_lower_bound(arena, arena->blocks[at], column, size - 1);
            }
            ++at;
        }
    }
}

/* Places a request at the lowest place of the first block that has room. */
MAAR_NOINLINE enum maar_pool_outcome place_lowest(struct maar_arena* arena,
                                                  const struct maar_place_request* request,
                                                  uint32_t wanted, struct maar_made* made)
{
    uint32_t end = 0;
    const enum maar_pool_outcome outcome =
        place_in_turn(arena, request, true, wanted, LOOKS_BEFORE_SHAPES, &end, made);
    return outcome != MAAR_POOL_CHANGED ? outcome
                                        : place_by_shape(arena, request, wanted, end, made);
}

MAAR_INLINE enum maar_pool_outcome
place(struct maar_arena* arena, const struct maar_place_request* request, struct maar_made* made)
{
    const uint32_t wanted = maar_size_class(request->size);
    if (request->tightly || request->size >= arena->pool->tight_size) {
        enum maar_pool_outcome outcome = place_tightly(arena, request, wanted, made);
        if (outcome != MAAR_POOL_NO_ROOM) {
            return outcome;
        }
        if (request->lowest) {
            return place_lowest(arena, request, wanted, made);
        }
    }
    uint32_t end = 0;
    const enum maar_pool_outcome outcome =
        place_in_turn(arena, request, false, wanted, LOOKS_BEFORE_SHAPES, &end, made);
    return outcome != MAAR_POOL_CHANGED ? outcome
                                        : place_by_shape(arena, request, wanted, end, made);
}

enum maar_pool_outcome maar_arena_place(struct maar_arena* arena,
                                        const struct maar_place_request* request,
                                        struct maar_made* made)
{
    return place(arena, request, made);
}

bool maar_arena_place_plain(struct maar_arena* arena, const MaarMemoryRequest* request,
                            void* user_data, MaarAllocation* allocation, struct maar_spot* spot)
{
    const struct maar_place_request place = {
        .size = request->requirements.size,
        .alignment = request->requirements.alignment,
        .kind = request->kind,
        .shown_kind = request->kind,
        .user_data = user_data,
    };
    struct maar_made made;
    const enum maar_pool_outcome outcome = maar_arena_place(arena, &place, &made);
    maar_mutex_unlock(&arena->lock);
    maar_check_if_asked(arena->pool);
    if (outcome != MAAR_POOL_PLACED) {
        return false;
    }
    if (spot != NULL) {
        *spot = maar_slot_spot(arena->pool->allocator, made.slot);
    }
    *allocation = maar_made_publish(&made);
    return true;
}

/* Places a request into the arenas of other threads. If patient, waits for locked arenas, else
 * passes over them. */
MAAR_NOINLINE enum maar_pool_outcome place_elsewhere(struct maar_pool* pool, struct maar_arena* own,
                                                     bool patient,
                                                     const struct maar_place_request* request,
                                                     struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0);
         arena != NULL && outcome == MAAR_POOL_NO_ROOM;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        if (arena == own) {
            continue;
        }
        if (patient) {
            maar_mutex_lock(&arena->lock);
        } else if (!maar_mutex_try_lock(&arena->lock)) {
            continue;
        }
        maar_arena_take_in_if_any(arena);
        outcome = maar_arena_place(arena, request, made);
        if (outcome == MAAR_POOL_PLACED) {
            maar_arena_note_visit(arena);
        }
        maar_mutex_unlock(&arena->lock);
    }
    return outcome;
}

/* Places a request that found no room in this thread's arena, where other threads have been. Looks
 * for room in what they have freed there, then in a block of theirs that this thread uses most, and
 * then in all others. */
MAAR_NOINLINE enum maar_pool_outcome place_among_threads(struct maar_pool* pool,
                                                         struct maar_arena* own, bool patient,
                                                         const struct maar_place_request* request,
                                                         struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    maar_mutex_lock(&own->lock);
    if (maar_arena_take_in_if_any(own)) {
        outcome = maar_arena_place(own, request, made);
    }
    if (outcome == MAAR_POOL_NO_ROOM && maar_arena_adopt(own, request->size)) {
        outcome = maar_arena_place(own, request, made);
    }
    maar_mutex_unlock(&own->lock);
    return outcome == MAAR_POOL_NO_ROOM ? place_elsewhere(pool, own, patient, request, made)
                                        : outcome;
}

enum maar_pool_outcome maar_pool_place(struct maar_pool* pool,
                                       const struct maar_place_request* request, bool patient,
                                       struct maar_made* made)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    enum maar_pool_outcome outcome = place(arena, request, made);
    maar_mutex_unlock(&arena->lock);
    if (outcome == MAAR_POOL_NO_ROOM && maar_pool_is_shared(pool)) {
        outcome = place_among_threads(pool, arena, patient, request, made);
    }
    maar_check_if_asked(pool);
    return outcome;
}
