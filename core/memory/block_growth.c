/*
 * Makes new blocks, and decides how large the next one is. A new block is announced, so that no
 * maximum is exceeded. Then it is made without the lock, listed and placed into.
 */
#include "core/memory/block_growth.h"

#include "core/memory/allocator_state.h"
#include "core/memory/pool_check.h"

/*
 * The size of the next block. The first blocks of an arena add up to these shares of the
 * preferred size, and then to one share more each time: 32, 96, 224, 480, 736, 992 and 1248 MiB for
 * a preferred size of 256 MiB. So seven blocks serve a gigabyte. A block is doubled until it holds
 * two of the request that it is made for. Memory that is not device-local begins with 1 MiB,
 * because most programs upload and read back little.
 *
 * An arena that holds 4.75 times the preferred size uses another rule: a block is a 64th of what
 * the arena holds, at least a third of the preferred size and at most three quarters of it. Little
 * memory is then reserved ahead of need, and few blocks are made. A block for a request of a 24th
 * of the preferred size or more, 10.7 MiB, holds a whole number of such requests, since large
 * requests come in equal sizes.
 *
 * Of some hundred settings, measured on seventeen traces with bench_trace, this one reserves at
 * most what VMA does on all traces but one: docs/project/results/benchmarks.md. The figures of
 * similar settings differ by some per mille.
 */
enum {
    FIRST_HOST_BLOCK_SHARE = 256,
    FIRST_BLOCK_SHARE = 8,
    LARGE_FOR_FIRST_HOST_BLOCK = 2,
    STEADY_QUARTERS = 19,
    STEADY_SHARE = 64,
    STEADY_LEAST = 3,
    STEADY_MOST_QUARTERS = 3,
    LARGE_SHARE = 24
};
/*
 * In a pool that stitches, only small allocations are placed in blocks. These blocks begin with
 * 256 KiB, so that few allocations reserve little. They grow to 1 MiB, a quarter of all blocks
 * together. After that a block is a 256th of what the pool holds, pages included, so that memory
 * ahead of need stays far below 1 %. 64 GiB of small allocations alone would take 1,800 blocks.
 */
#define FIRST_BESIDE_PAGES ((VkDeviceSize)1 << 18)
#define STEADY_BESIDE_PAGES ((VkDeviceSize)1 << 20)
enum { GROWTH_BESIDE_PAGES = 4, SHARE_BESIDE_PAGES = 256 };
/* The size of a block that is made over a budget: 4 MiB of 256. */
enum { MODEST_SHARE = 64 };
/* A request up to this share of the preferred size waits for a block that another thread is making.
 * A larger request makes a block of its own. */
enum { SHARED_MISS_SHARE = 8 };

/* How often the size of a new block is halved after a failure, before the smallest useful size is
 * tried. */
enum { BLOCK_HALVINGS = 3 };

/* Returns the size of a new block over a budget. */
static VkDeviceSize modest_size(const struct maar_pool* pool)
{
    return maar_align_up(pool->preferred_size / MODEST_SHARE, MAAR_BLOCK_ROUNDING);
}

/* Returns the size of the next block of an arena that holds that number of bytes. The caller
 * enlarges it for a larger request. */
static VkDeviceSize next_size(const struct maar_pool* pool, VkDeviceSize held, VkDeviceSize request)
{
    const VkDeviceSize preferred = pool->preferred_size;
    const VkDeviceSize first =
        maar_align_up(preferred / FIRST_HOST_BLOCK_SHARE, MAAR_BLOCK_ROUNDING);
    if (held == 0 && request <= first / LARGE_FOR_FIRST_HOST_BLOCK && !pool->device_local) {
        return first;
    }
    if (held / STEADY_QUARTERS >= preferred / 4) {
        const VkDeviceSize share = held / STEADY_SHARE;
        const VkDeviceSize least = preferred / STEADY_LEAST;
        const VkDeviceSize size = share > least ? share : least;
        const VkDeviceSize most = preferred / 4 * STEADY_MOST_QUARTERS;
        return size < most ? size : most;
    }
    VkDeviceSize step = preferred / FIRST_BLOCK_SHARE;
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

/* Returns the same size in a pool that stitches, for an arena that holds that number of bytes in
 * blocks, besides pages. */
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

/* Returns the best size of the next block, and in *least the smallest size that holds the request.
 */
static VkDeviceSize size_for(struct maar_pool* pool, const struct maar_place_request* request,
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

/* Ends the announcement of a block that is now listed, or that was not made. Called after the
 * arena's lock is left: a thread that reads the count and looks for room afterwards sees the
 * block. */
static void end_creation(struct maar_pool* pool)
{
    maar_mutex_lock(&pool->arenas.lock);
    (void)maar_atomic32_add(&pool->ended_count, 1);
    (void)maar_atomic32_add(&pool->creating_count, UINT32_MAX);
    maar_mutex_unlock(&pool->arenas.lock);
    maar_condition_wake(&pool->block_ended);
}

uint32_t maar_pool_turn(struct maar_pool* pool, uint32_t* creating)
{
    maar_mutex_lock(&pool->arenas.lock);
    const uint32_t turn = maar_atomic32_load(&pool->ended_count);
    *creating = maar_atomic32_load(&pool->creating_count);
    maar_mutex_unlock(&pool->arenas.lock);
    return turn;
}

void maar_pool_wait(struct maar_pool* pool, uint32_t turn)
{
    maar_mutex_lock(&pool->arenas.lock);
    while (maar_atomic32_load(&pool->ended_count) == turn) {
        maar_condition_wait(&pool->block_ended, &pool->arenas.lock);
    }
    maar_mutex_unlock(&pool->arenas.lock);
}

/* Announces a block, so that all threads together never exceed the pool's maximum. Looks for room
 * first, since another thread may have listed a block since the last look. MAAR_POOL_CHANGED: the
 * caller makes the block. MAAR_POOL_WAIT: the block that another thread is making may serve this
 * request too. */
static enum maar_pool_outcome announce_block(struct maar_pool* pool,
                                             const struct maar_place_request* request,
                                             struct maar_made* made, struct maar_arena** out)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    const bool is_small =
        request != NULL && request->size <= pool->preferred_size / SHARED_MISS_SHARE;
    bool announced = false;
    /* The maker of a block counts it as ended only after it has taken this lock once more. */
    made->turn = maar_atomic32_load(&pool->ended_count);
    if (request != NULL) {
        outcome = maar_arena_place(arena, request, made);
    }
    if (outcome == MAAR_POOL_NO_ROOM) {
        if (arena->creating_count > 0 && is_small) {
            outcome = MAAR_POOL_WAIT;
        } else if (maar_atomic32_add_below(&pool->block_count, 1, pool->max_block_count)) {
            announced = true;
            ++arena->creating_count;
            (void)maar_atomic32_add(&pool->creating_count, 1);
            outcome = maar_arena_reserve_list(arena) == VK_SUCCESS ? MAAR_POOL_CHANGED
                                                                   : MAAR_POOL_NO_HOST_MEMORY;
        } else if (arena->creating_count > 0) {
            outcome = MAAR_POOL_WAIT;
        }
    }
    if (announced && outcome != MAAR_POOL_CHANGED) {
        --arena->creating_count;
        (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    }
    maar_mutex_unlock(&arena->lock);
    if (announced && outcome != MAAR_POOL_CHANGED) {
        end_creation(pool);
    }
    *out = arena;
    return outcome;
}

static float read_priority(struct maar_pool* pool)
{
    maar_mutex_lock(&pool->arenas.lock);
    float priority = pool->priority;
    maar_mutex_unlock(&pool->arenas.lock);
    return priority;
}

/* Lists a new block and places into it. Called under the lock, which it may leave and take
 * again. */
static enum maar_pool_outcome use_new_block(struct maar_arena* arena, struct maar_block* block,
                                            const struct maar_place_request* request,
                                            struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_PLACED;
    maar_arena_list(arena, block);
    (void)maar_atomic32_add(&arena->pool->listed_count, 1);
    if (request == NULL) {
        return outcome;
    }
    do {
        outcome = maar_arena_place_in(arena, block, request, made);
    } while (outcome == MAAR_POOL_CHANGED);
    if (outcome == MAAR_POOL_PLACED) {
        made->slot->made_block = true;
    }
    return outcome;
}

enum maar_pool_outcome maar_pool_grow(struct maar_pool* pool,
                                      const struct maar_place_request* request, VkDeviceSize size,
                                      VkDeviceSize cap, bool* over_cap, struct maar_made* made)
{
    struct maar_arena* arena = NULL;
    enum maar_pool_outcome outcome = announce_block(pool, request, made, &arena);
    if (outcome != MAAR_POOL_CHANGED) {
        return outcome;
    }
    const struct maar_device_memory_info info = {
        .type_index = pool->type_index,
        .size = size,
        .cap = cap,
        .over_cap = over_cap,
        .priority = read_priority(pool),
        .next = pool->allocate_next,
        .export_types = pool->export_types,
    };
    struct maar_block* block = NULL;
    struct maar_block* unwanted = NULL;
    const VkResult result = maar_block_create(arena, &info, false, &block);

    maar_mutex_lock(&arena->lock);
    --arena->creating_count;
    if (block != NULL) {
        outcome = use_new_block(arena, block, request, made);
        if (outcome != MAAR_POOL_PLACED && maar_block_is_idle(block)) {
            unwanted = maar_arena_try_unlist(arena, block, false) ? block : NULL;
        } else if (outcome == MAAR_POOL_NO_ROOM) {
            outcome = MAAR_POOL_CHANGED; /* others took the room while the lock was free */
        }
    } else {
        outcome = maar_made_fail(made, result);
        (void)maar_atomic32_add(&pool->block_count, UINT32_MAX);
    }
    maar_mutex_unlock(&arena->lock);
    end_creation(pool);
    if (unwanted != NULL) {
        maar_block_destroy(unwanted);
    }
    maar_check_if_asked(pool);
    return outcome;
}

bool maar_pool_fits_fixed_block(const struct maar_pool* pool,
                                const struct maar_place_request* place)
{
    VkDeviceSize room = pool->fixed_size;
    if (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        while ((room & (room - 1)) != 0) {
            room &= room - 1;
        }
    }
    return pool->fixed_size == 0 || place->size <= room;
}

/* Attempts once to make a block of that size, or waits for a block that another thread is making.
 * Another thread may use up the budget between the check and the reservation; the attempt then
 * fails like any attempt that a budget prevents. */
static VkResult grow_or_share(struct maar_pool* pool, const struct maar_place_request* place,
                              VkDeviceSize size, VkDeviceSize cap, bool* over_cap,
                              struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    do {
        outcome = maar_pool_grow(pool, place, size, cap, over_cap, made);
        if (outcome == MAAR_POOL_WAIT) {
            maar_pool_wait(pool, made->turn);
        } else if (outcome != MAAR_POOL_CHANGED) {
            break;
        }
        outcome = maar_pool_place(pool, place, true, made);
    } while (outcome == MAAR_POOL_NO_ROOM);
    return maar_pool_result(outcome, made);
}

VkResult maar_pool_add_block(struct maar_pool* pool, const struct maar_place_request* place,
                             struct maar_budget_use* use, struct maar_made* made)
{
    VkDeviceSize least = 0;
    VkDeviceSize size = size_for(pool, place, &least);
    if (least < place->size || !maar_pool_fits_fixed_block(pool, place)) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    if (use->may_exceed && !maar_device_count_is_high(pool->allocator)) {
        /* Over budget the block is small, but large enough for more than one object. */
        VkDeviceSize modest = modest_size(pool);
        size = size < modest ? size : (modest > least ? modest : least);
    }
    for (uint32_t halving = 0;; ++halving) {
        VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        VkDeviceSize cap = 0;
        if (maar_budget_admits(pool->allocator, pool->heap_index, size, use, &cap)) {
            result = grow_or_share(pool, place, size, cap, &use->refused, made);
        }
        if (!maar_driver_had_no_memory(result) || size == least) {
            return result;
        }
        size /= 2;
        if (size < least || halving >= BLOCK_HALVINGS) {
            size = least;
        }
    }
}
