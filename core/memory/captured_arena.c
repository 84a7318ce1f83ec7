/*
 * What a capture records of arenas: see captured_arena.h.
 */
#include "core/memory/captured_arena.h"

#include "core/memory/captured_slot.h"

/* ---- blocks ---- */

void maar_captured_block(struct maar_arena* arena, struct maar_block* block)
{
    const struct maar_block_origin* origin = &block->origin;
    const bool divided = block->placement != NULL || maar_block_is_paged(block);
    const MaarCaptureMemory memory = {
        .device = MAAR_CAPTURE_DEVICE,
        .type = arena->pool->type_index,
        .memory = MAAR_TO_BITS(block->memory),
        .size = block->size,
        .duration_ns = origin->duration_ns,
        .flags = origin->flags | (divided ? (uint32_t)MAAR_CAPTURE_MEMORY_BLOCK_BIT : 0),
        .object = origin->object,
        .handleTypes = block->shared_types,
        .priority = origin->priority,
    };
    maar_capture_write(&arena->capture->writer, MAAR_CAPTURE_KIND_MEMORY, &memory, sizeof memory);
    maar_atomic32_store(&block->captured, 1);
}

void maar_captured_block_end(struct maar_arena* arena, struct maar_block* block)
{
    maar_atomic32_store(&block->captured, 0);
    maar_capture_log_end(arena->capture, MAAR_CAPTURE_KIND_MEMORY_END, MAAR_TO_BITS(block->memory));
}

/* Calls a function for each block of an arena. The arena's lock is held. */
static void for_each_block(struct maar_arena* arena,
                           void (*each)(struct maar_arena* arena, struct maar_block* block))
{
    for (uint32_t at = 0; at < arena->block_end; ++at) {
        if (arena->blocks[at] != NULL) {
            each(arena, arena->blocks[at]);
        }
    }
    for (struct maar_block* block = arena->dedicated; block != NULL; block = block->next) {
        each(arena, block);
    }
}

/* A function that is called for each allocation of a block. */
struct slot_walk {
    struct maar_arena* arena;
    void (*each)(struct maar_arena* arena, uint32_t index);
};

static bool visit_captured_range(void* context, const MaarRangeInfo* info)
{
    const struct slot_walk* walk = context;
    if (info->state == MAAR_RANGE_STATE_LIVE) {
        walk->each(walk->arena, (uint32_t)info->userData);
    }
    return true;
}

/* Calls a function for each allocation of a block, but not for pages. The arena's lock is held. */
static void for_each_slot(struct maar_arena* arena, const struct maar_block* block,
                          void (*each)(struct maar_arena* arena, uint32_t index))
{
    struct slot_walk walk = {arena, each};
    if (block->placement != NULL) {
        maar_placement_walk(block->placement, visit_captured_range, &walk);
    } else if (!maar_block_is_paged(block)) {
        each(arena, block->dedicated_slot);
    }
}

/* ---- arenas ---- */

/* An allocation that is not live is recorded by the thread that makes it. One that a thread frees
 * at this moment is recorded only if it is pending, now or later. */
static void begin_range(struct maar_arena* arena, uint32_t index)
{
    struct maar_slot* const slot = maar_slot_at(&arena->pool->allocator->slots, index);
    maar_slot_mark(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD, false);
    if ((maar_atomic32_load_acquire(&slot->key) & 1u) != 0 ||
        maar_slot_has(slot, MAAR_SLOT_PENDING)) {
        maar_captured_range(arena, slot, index, NULL);
    }
}

static void begin_block(struct maar_arena* arena, struct maar_block* block)
{
    maar_captured_block(arena, block);
    if (maar_atomic32_load(&block->map_count) > 0) {
        const MaarCaptureMap map = {.device = MAAR_CAPTURE_DEVICE,
                                    .memory = MAAR_TO_BITS(block->memory),
                                    .size = UINT64_MAX};
        maar_capture_write(&arena->capture->writer, MAAR_CAPTURE_KIND_MAP, &map, sizeof map);
    }
    for_each_slot(arena, block, begin_range);
}

/* Captures an arena, unless it is captured already. The caller is inside the log, or begins the
 * capture. */
static void capture_arena(struct maar_arena* arena, struct maar_capture_log* log)
{
    maar_mutex_lock(&arena->lock);
    if (arena->capture == NULL) {
        arena->capture = log;
        for_each_block(arena, begin_block);
    }
    maar_mutex_unlock(&arena->lock);
}

static void forget_block(struct maar_arena* arena, struct maar_block* block)
{
    (void)arena;
    maar_atomic32_store(&block->captured, 0);
}

static void forget_arena(struct maar_arena* arena)
{
    maar_mutex_lock(&arena->lock);
    for_each_block(arena, forget_block);
    arena->capture = NULL;
    maar_mutex_unlock(&arena->lock);
}

static void end_range(struct maar_arena* arena, uint32_t index)
{
    struct maar_slot* const slot = maar_slot_at(&arena->pool->allocator->slots, index);
    if (maar_slot_has(slot, MAAR_SLOT_RANGED | MAAR_SLOT_HELD)) {
        maar_captured_slot_end(arena, slot, index);
    }
}

static void end_block(struct maar_arena* arena, struct maar_block* block)
{
    for_each_slot(arena, block, end_range);
    maar_captured_block_end(arena, block);
}

void maar_captured_arena_end(struct maar_arena* arena)
{
    for_each_block(arena, end_block);
    arena->capture = NULL;
}

void maar_capture_pool(struct maar_pool* pool, struct maar_capture_log* log)
{
    /* An arena that another thread adds is seen here, or its maker sees that the log is open. */
    maar_mutex_lock(&pool->arenas.lock);
    maar_mutex_unlock(&pool->arenas.lock);
    for (struct maar_arena* arena = maar_arena_set_next(&pool->arenas, 0); arena != NULL;
         arena = maar_arena_set_next(&pool->arenas, arena->number + 1)) {
        capture_arena(arena, log);
    }
}

void maar_uncapture_pool(struct maar_pool* pool)
{
    for (struct maar_arena* arena = maar_arena_set_next(&pool->arenas, 0); arena != NULL;
         arena = maar_arena_set_next(&pool->arenas, arena->number + 1)) {
        forget_arena(arena);
    }
}

void maar_capture_new_pool(struct maar_pool* pool)
{
    struct maar_capture_log* const log = maar_capture_enter(pool->allocator);
    if (log != NULL) {
        maar_capture_pool(pool, log);
        maar_capture_log_leave(log);
    }
}

void maar_capture_new_arena(struct maar_arena* arena)
{
    struct maar_capture_log* const log = maar_capture_enter(arena->pool->allocator);
    if (log != NULL) {
        capture_arena(arena, log);
        maar_capture_log_leave(log);
    }
}
