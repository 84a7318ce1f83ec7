/*
 * The traffic of a pool: places, new blocks, frees.
 *
 * Everything between lock and unlock here is integers. Whatever may run foreign code (host memory,
 * the driver) happens with the lock released: metadata storage is brought from outside, blocks are
 * made before they are listed and unlisted before they are destroyed, and a pinned block is neither
 * unlisted nor destroyed.
 */
#include "core/memory/memory_internal.h"

/*
 * How large the next block is. Until an arena holds 4.75 times the preferred size, what it holds
 * adds up to these shares of it, and then to one more each time: 32, 96, 224, 480, 736, 992 and
 * 1248 MiB of 256; a block is doubled until it holds two of the request that it is made for. So
 * seven blocks serve a gigabyte. Memory that is not the device's begins with 1 MiB: most programs
 * stage and read back little. From there on blocks are a 64th of what the arena holds, at least a
 * third of the preferred size and at most three quarters of it: little is ahead of need, and still
 * few blocks are made. And a block that is made for a request of a 24th of the preferred size or
 * more, 10.7 MiB, holds a whole number of them, since large ones come in equal sizes.
 *
 * Of some hundred settings, measured on seventeen traces with bench_trace, the one that reserves at
 * most what VMA does on all but one: docs/project/results/benchmarks.md. The figures differ by some
 * per mille from one setting to the next, as such figures do.
 */
enum {
    FIRST_SHARE = 256,
    SECOND_SHARE = 8,
    LARGE_FOR_FIRST = 2,
    STEADY_QUARTERS = 19,
    STEADY_SHARE = 64,
    STEADY_LEAST = 3,
    STEADY_MOST_QUARTERS = 3,
    LARGE_SHARE = 24
};
/*
 * In a pool that stitches, small allocations alone are placed in blocks: these begin with 256 KiB,
 * so that little is held for few, grow to 1 MiB, a quarter of what they are together, and then are
 * a 256th of what the pool holds, pages included, so that what is ahead of need stays far below
 * 1 %. If all of it were small, 64 GiB would take 1,800 of them.
 */
#define FIRST_BESIDE_PAGES ((VkDeviceSize)1 << 18)
#define STEADY_BESIDE_PAGES ((VkDeviceSize)1 << 20)
enum { GROWTH_BESIDE_PAGES = 4, SHARE_BESIDE_PAGES = 256 };
/* What is taken at once over a budget: 4 MiB of 256. */
enum { MODEST_SHARE = 64 };
/* A request up to this share of the preferred size waits for a block that another thread is making,
 * rather than making one of its own. */
enum { SHARED_MISS_SHARE = 8 };

VkDeviceSize maar_pool_modest_size(const struct maar_pool* pool)
{
    return maar_align_up(pool->preferred_size / MODEST_SHARE, MAAR_BLOCK_ROUNDING);
}

/* The size of the next block of an arena that holds so much, unless the request is larger. */
static VkDeviceSize next_size(const struct maar_pool* pool, VkDeviceSize held, VkDeviceSize request)
{
    const VkDeviceSize preferred = pool->preferred_size;
    const VkDeviceSize first = maar_align_up(preferred / FIRST_SHARE, MAAR_BLOCK_ROUNDING);
    if (held == 0 && request <= first / LARGE_FOR_FIRST && !pool->device_local) {
        return first;
    }
    if (held / STEADY_QUARTERS >= preferred / 4) {
        const VkDeviceSize share = held / STEADY_SHARE;
        const VkDeviceSize least = preferred / STEADY_LEAST;
        const VkDeviceSize size = share > least ? share : least;
        const VkDeviceSize most = preferred / 4 * STEADY_MOST_QUARTERS;
        return size < most ? size : most;
    }
    VkDeviceSize step = preferred / SECOND_SHARE;
    VkDeviceSize sum = step;
    while (sum <= held && step < preferred && step != 0) {
        step = step * 2 < preferred ? step * 2 : preferred;
        sum += step;
    }
    VkDeviceSize size = sum > held ? sum - held : preferred;
    while (size < preferred && size / 2 < request) {
        size *= 2;
    }
    return size < preferred ? size : preferred;
}

/* The same in a pool that stitches, of an arena that holds so much in blocks, and pages besides. */
static VkDeviceSize size_beside_pages(const struct maar_pool* pool, VkDeviceSize held,
                                      VkDeviceSize with_pages)
{
    const VkDeviceSize share = maar_align_up(with_pages / SHARE_BESIDE_PAGES, MAAR_BLOCK_ROUNDING);
    VkDeviceSize size = maar_align_up(held / GROWTH_BESIDE_PAGES, MAAR_BLOCK_ROUNDING);
    size = size < STEADY_BESIDE_PAGES ? size : STEADY_BESIDE_PAGES;
    size = size > FIRST_BESIDE_PAGES ? size : FIRST_BESIDE_PAGES;
    size = size > share ? size : share;
    return size < pool->preferred_size ? size : pool->preferred_size;
}

VkDeviceSize maar_pool_next_size(struct maar_pool* pool, const struct maar_place_request* request,
                                 VkDeviceSize* least)
{
    VkDeviceSize need = request->size;
    if (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        VkDeviceSize power = 1;
        while (power < need) {
            power <<= 1;
        }
        need = power;
    }
    *least = maar_align_up(need, MAAR_BLOCK_ROUNDING);
    if (pool->fixed_size != 0) {
        *least = pool->fixed_size;
        return pool->fixed_size;
    }
    struct maar_arena* arena = maar_arena_enter(pool);
    VkDeviceSize held = arena->block_bytes;
    const VkDeviceSize with_pages = held + arena->dedicated_bytes;
    maar_mutex_unlock(&arena->lock);
    if (pool->stitches) {
        const VkDeviceSize size = size_beside_pages(pool, held, with_pages);
        return size > *least ? size : *least;
    }

    VkDeviceSize size = maar_align_up(next_size(pool, held, *least), MAAR_BLOCK_ROUNDING);
    if (held >= pool->preferred_size && *least < size &&
        *least >= pool->preferred_size / LARGE_SHARE) {
        size = size / *least * *least;
    }
    return size > *least ? size : *least;
}

/* Announces a block, so that threads together never pass the pool's maximum. Looks again first:
 * since the last look another thread may have listed a block; then *placed is set. VK_NOT_READY:
 * the block that another thread is making may do for this one too. */
static VkResult announce_block(struct maar_pool* pool, const struct maar_place_request* request,
                               struct maar_made* made, struct maar_arena** out, bool* placed)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    VkResult result = VK_ERROR_OUT_OF_POOL_MEMORY;
    bool is_small = request != NULL && request->size <= pool->preferred_size / SHARED_MISS_SHARE;
    if (request != NULL) {
        result = maar_arena_place(arena, request, made);
        *placed = result == VK_SUCCESS;
    }
    if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
        if (arena->creating_count > 0 && is_small) {
            result = VK_NOT_READY;
        } else if (maar_atomic32_add_below(&pool->block_count, 1, pool->max_block_count)) {
            ++arena->creating_count;
            (void)maar_atomic32_add(&pool->creating_count, 1);
            result = maar_arena_reserve_list(arena);
            if (result != VK_SUCCESS) {
                --arena->creating_count;
                (void)maar_atomic32_add(&pool->ended_count, 1);
                (void)maar_atomic32_add(&pool->creating_count, UINT32_MAX);
                (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
            }
        } else if (arena->creating_count > 0) {
            result = VK_NOT_READY;
        }
    }
    maar_mutex_unlock(&arena->lock);
    *out = arena;
    return result;
}

static float read_priority(struct maar_pool* pool)
{
    maar_mutex_lock(&pool->lock);
    float priority = pool->priority;
    maar_mutex_unlock(&pool->lock);
    return priority;
}

/* Lists a new block and places into it. Under the lock, which it may leave and take again. */
static VkResult use_new_block(struct maar_arena* arena, struct maar_block* block,
                              const struct maar_place_request* request, struct maar_made* made)
{
    VkResult result = VK_SUCCESS;
    maar_arena_list(arena, block);
    (void)maar_atomic32_add(&arena->pool->listed_count, 1);
    if (request == NULL) {
        return VK_SUCCESS;
    }
    do {
        result = maar_arena_place_in(arena, block, request, made);
    } while (result == VK_INCOMPLETE);
    if (result == VK_SUCCESS) {
        made->slot->made_block = true;
    }
    return result;
}

static bool block_is_idle(const struct maar_block* block)
{
    return block->range_count == 0 && block->pin_count == 0;
}

/* Under the lock: takes an empty block off the list, unless the pool would have too few then. */
static bool take_off_list(struct maar_arena* arena, struct maar_block* block, bool counted)
{
    struct maar_pool* pool = arena->pool;
    if (!maar_atomic32_take_above(&pool->listed_count, pool->min_block_count)) {
        return false;
    }
    (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    maar_arena_unlist(arena, block, counted);
    return true;
}

VkResult maar_pool_grow(struct maar_pool* pool, const struct maar_place_request* request,
                        VkDeviceSize size, VkDeviceSize cap, struct maar_made* made)
{
    bool placed = false;
    struct maar_arena* arena = NULL;
    VkResult result = announce_block(pool, request, made, &arena, &placed);
    if (result != VK_SUCCESS || placed) {
        return result;
    }
    const struct maar_device_memory_info info = {
        .type_index = pool->type_index,
        .size = size,
        .cap = cap,
        .priority = read_priority(pool),
        .next = pool->allocate_next,
        .export_types = pool->export_types,
    };
    struct maar_block* block = NULL;
    struct maar_block* unwanted = NULL;
    result = maar_block_create(arena, &info, false, &block);

    maar_mutex_lock(&arena->lock);
    --arena->creating_count;
    if (result == VK_SUCCESS) {
        result = use_new_block(arena, block, request, made);
        if (result != VK_SUCCESS && block_is_idle(block)) {
            unwanted = take_off_list(arena, block, false) ? block : NULL;
        } else if (result == VK_ERROR_OUT_OF_POOL_MEMORY) {
            result = VK_NOT_READY; /* others took the room while the lock was left */
        }
    }
    if (block == NULL) {
        (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    }
    /* After the block is listed, and under the lock: who reads 0 here and looks then sees it. */
    (void)maar_atomic32_add(&pool->ended_count, 1);
    (void)maar_atomic32_add(&pool->creating_count, UINT32_MAX);
    maar_mutex_unlock(&arena->lock);
    if (unwanted != NULL) {
        maar_block_destroy(unwanted);
    }
    maar_check_if_asked(pool);
    return result;
}

VkResult maar_pool_place_dedicated(struct maar_pool* pool, const struct maar_place_request* request,
                                   const struct maar_device_memory_info* info,
                                   struct maar_made* made)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    maar_mutex_unlock(&arena->lock);
    struct maar_block* block = NULL;
    VkResult result = maar_block_create(arena, info, true, &block);
    if (result != VK_SUCCESS) {
        return result;
    }
    const struct maar_placement_range range = {
        .offset = 0,
        .size = request->size,
        .node = MAAR_PLACEMENT_NO_NODE,
    };
    maar_mutex_lock(&arena->lock);
    result = maar_slots_refill(&pool->allocator->slots, &arena->lock, &arena->slots);
    if (result == VK_SUCCESS) {
        block->next = arena->dedicated;
        if (arena->dedicated != NULL) {
            arena->dedicated->previous = block;
        }
        arena->dedicated = block;
        ++arena->dedicated_count;
        arena->dedicated_bytes += block->size;
        maar_arena_fill_slot(arena, block, request, &range, made);
        block->dedicated_slot = made->index;
    }
    maar_mutex_unlock(&arena->lock);
    if (result != VK_SUCCESS) {
        maar_block_destroy(block);
    }
    maar_check_if_asked(pool);
    return result;
}

/* Whether a pool that keeps so many bytes of empty blocks has more. */
static bool has_surplus(const struct maar_pool* pool)
{
    return maar_atomic64_load(&pool->empty_bytes) > pool->retained_size;
}

/* Under the lock: an empty block of the arena that the pool need not keep, unlisted; or NULL. Which
 * one goes: of a pool that keeps its largest block the smallest, else the one that has just become
 * empty. */
static struct maar_block* pick_surplus(struct maar_arena* arena, struct maar_block* emptied,
                                       bool keep_none)
{
    struct maar_pool* pool = arena->pool;
    struct maar_block* chosen = NULL;
    /* One look decides for one thread: two that look at once must not both give theirs back. */
    const bool counted = !keep_none && pool->retained_size == 0;
    if (counted ? !maar_atomic32_take_above(&pool->empty_count, 1)
                : !keep_none && !has_surplus(pool)) {
        return NULL;
    }
    const bool any = emptied == NULL || pool->retained_size == 0 || !block_is_idle(emptied);
    if (!any) {
        chosen = emptied;
    }
    for (uint32_t i = any ? arena->block_count : 0; i-- > 0;) {
        struct maar_block* block = arena->blocks[i];
        if (block_is_idle(block) && (chosen == NULL || block->size < chosen->size)) {
            chosen = block;
        }
    }
    const bool taken = chosen != NULL && take_off_list(arena, chosen, counted);
    if (counted && !taken) {
        (void)maar_atomic32_add(&pool->empty_count, 1);
    }
    return taken ? chosen : NULL;
}

/* Under the lock: a dedicated block leaves with its allocation. */
static void unlink_dedicated(struct maar_arena* arena, struct maar_block* block)
{
    if (block->table != NULL) {
        maar_stitched_unlink(arena, block);
        return;
    }
    if (block->previous != NULL) {
        block->previous->next = block->next;
    } else {
        arena->dedicated = block->next;
    }
    if (block->next != NULL) {
        block->next->previous = block->previous;
    }
    --block->range_count;
    --arena->dedicated_count;
    arena->dedicated_bytes -= block->size;
}

/* Under the lock: the block that an emptied one leaves behind, unlisted, or NULL. */
static struct maar_block* pick_leaving(struct maar_arena* arena, struct maar_block* emptied,
                                       bool made_block, enum maar_slot_end end)
{
    if (end != MAAR_SLOT_END_UNDONE) {
        return pick_surplus(arena, emptied, false);
    }
    return made_block && emptied->pin_count == 0 && take_off_list(arena, emptied, false) ? emptied
                                                                                         : NULL;
}

/* What is left to do, without the lock, when a block has become empty. */
MAAR_NOINLINE void after_emptied(struct maar_pool* pool, struct maar_block* leaving,
                                 enum maar_slot_end end)
{
    if (leaving != NULL) {
        maar_block_destroy(leaving);
    }
    /* Over budget no empty block is kept; what a failed call undoes leaves the rest alone. */
    if (end != MAAR_SLOT_END_UNDONE && maar_budget_is_exceeded(pool->allocator, pool->heap_index)) {
        (void)maar_pool_trim(pool);
    }
}

/* In line, so that what only some ends need is left out for the others. */
MAAR_INLINE char* end_slot(struct maar_slot* slot, uint32_t index, enum maar_slot_end end)
{
    struct maar_block* block = slot->block;
    struct maar_pool* pool = block->pool;
    struct maar_arena* arena = block->arena;
    struct maar_block* leaving = NULL;
    const bool dedicated = block->placement == NULL;
    /* The bytes of a block of pages are counted by those pages. */
    const VkDeviceSize size = dedicated && maar_block_is_paged(block) ? 0 : maar_slot_size(slot);
    bool emptied = false;
    bool known = true;
    bool peaked = false;

    if (!dedicated) {
        maar_placement_prefetch(block->placement, slot->node);
    }
    maar_mutex_lock(&arena->lock);
    if (end == MAAR_SLOT_END_PENDING) {
        --block->pending_count;
        --arena->pending_count;
        block->pending_bytes -= size;
    }
    if (end == MAAR_SLOT_END_UNDONE) {
        --arena->made_count;
        maar_atomic64_store(&arena->live_bytes, maar_atomic64_load(&arena->live_bytes) - size);
    }
    if (end == MAAR_SLOT_END_LIVE) {
        peaked = maar_arena_lose_live(arena, size);
    }
    if (dedicated) {
        unlink_dedicated(arena, block);
        leaving = block;
    } else {
        known = maar_arena_release(arena, block, slot->node);
        emptied = block->range_count == 0;
        if (emptied) {
            leaving = pick_leaving(arena, block, slot->made_block, end);
        }
    }
    char* name = slot->name;
    slot->name = NULL;
    slot->block = NULL;
    maar_arena_put_slot(arena, slot, index);
    maar_mutex_unlock(&arena->lock);

    if (emptied) {
        after_emptied(pool, leaving, end);
    } else if (dedicated) {
        maar_block_destroy(leaving);
    }
    if (peaked) {
        maar_raise_live_peak(pool->allocator, size);
    }
    if (!known) {
        maar_broken(pool->allocator, "a live allocation has no range in its block");
    }
    maar_check_if_asked(pool);
    return name;
}

char* maar_pool_free_slot(struct maar_slot* slot, uint32_t index, enum maar_slot_end end)
{
    return end_slot(slot, index, end);
}

char* maar_pool_free_live(struct maar_slot* slot, uint32_t index)
{
    return end_slot(slot, index, MAAR_SLOT_END_LIVE);
}

void maar_pool_make_pending(struct maar_slot* slot)
{
    struct maar_block* block = slot->block;
    struct maar_arena* arena = block->arena;
    const VkDeviceSize size = maar_slot_size(slot);
    maar_mutex_lock(&arena->lock);
    slot->pending = true;
    ++block->pending_count;
    ++arena->pending_count;
    block->pending_bytes += size;
    if (block->table != NULL) {
        ++arena->stitched_pending_count;
        arena->stitched_pending_bytes += block->size;
    }
    const bool peaked = maar_arena_lose_live(arena, size);
    maar_mutex_unlock(&arena->lock);
    if (peaked) {
        maar_raise_live_peak(block->pool->allocator, size);
    }
}

VkDeviceSize maar_pool_trim(struct maar_pool* pool)
{
    VkDeviceSize released = 0;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;) {
        maar_mutex_lock(&arena->lock);
        struct maar_block* block = pick_surplus(arena, NULL, true);
        maar_mutex_unlock(&arena->lock);
        if (block != NULL) {
            released += block->size;
            maar_block_destroy(block);
        } else {
            arena = maar_pool_next_arena(pool, arena->number + 1);
        }
    }
    return released;
}
