/*
 * Makes new blocks, of the sizes that block_size.h chooses. A thread first announces a new block,
 * so that all threads together never exceed the pool's maximum. Then it makes the block without a
 * lock, lists it and places the request in it.
 */
#include "core/memory/block_growth.h"

#include "core/memory/allocator_state.h"
#include "core/memory/block_size.h"
#include "core/memory/pool_check.h"
#include "core/memory/pool_list.h"
#include "core/memory/range_free.h"
#include "core/port_time.h"

/* A request up to this share of the preferred size waits for a block that another thread is making
 * in the same arena. A larger request makes a block of its own. */
enum { SHARED_MISS_SHARE = 8 };

/* How often the size of a new block, or the preferred size if that is smaller, is halved after a
 * failure, before the smallest size that holds the request is tried. */
enum { BLOCK_HALVINGS = 3 };

/* Ends the announcement of a block that is now listed, or that was not made. Called after the arena
 * is unlocked: a thread that reads the count and then searches for room finds the block. */
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

bool maar_pool_wait(struct maar_pool* pool, uint32_t turn, uint64_t deadline_ns)
{
    bool in_time = true;
    maar_mutex_lock(&pool->arenas.lock);
    while (in_time && maar_atomic32_load(&pool->ended_count) == turn) {
        const uint64_t left = maar_time_left_ns(deadline_ns);
        in_time =
            left != 0 && maar_condition_wait_for(&pool->block_ended, &pool->arenas.lock, left);
    }
    maar_mutex_unlock(&pool->arenas.lock);
    return in_time;
}

/* Announces a block, so that all threads together never exceed the pool's maximum. First tries to
 * place the request, since another thread may have listed a block since the last attempt. Returns
 * MAAR_POOL_CHANGED if the caller must make the block, and MAAR_POOL_WAIT if a block that another
 * thread is making may have room for this request too. `alone`: the caller waits no longer. *out
 * receives the arena. */
static enum maar_pool_outcome announce_block(struct maar_pool* pool,
                                             const struct maar_place_request* request, bool alone,
                                             struct maar_made* made, struct maar_arena** out)
{
    struct maar_arena* arena = maar_arena_enter(pool);
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    const bool is_small =
        request != NULL && request->size <= pool->preferred_size / SHARED_MISS_SHARE;
    bool announced = false;
    /* A thread that makes a block takes the arena's lock again before it raises ended_count. */
    made->turn = maar_atomic32_load(&pool->ended_count);
    if (request != NULL) {
        outcome = maar_arena_place(arena, request, made);
    }
    if (outcome == MAAR_POOL_NO_ROOM) {
        const bool may_wait = arena->creating_count > 0 && !alone;
        if (may_wait && is_small) {
            outcome = MAAR_POOL_WAIT;
        } else if (maar_atomic32_add_below(&pool->block_count, 1, pool->max_block_count)) {
            announced = true;
            ++arena->creating_count;
            (void)maar_atomic32_add(&pool->creating_count, 1);
            outcome = maar_arena_reserve_list(arena, 0) == VK_SUCCESS ? MAAR_POOL_CHANGED
                                                                      : MAAR_POOL_NO_HOST_MEMORY;
        } else if (may_wait) {
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

/* Lists a new block and places the request in it. Called under the arena's lock, which the function
 * may release for a time. */
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
                                      VkDeviceSize cap, bool* over_cap, bool alone,
                                      struct maar_made* made)
{
    struct maar_arena* arena = NULL;
    /* A block that cannot be is not announced, so threads that fail at a limit do not wake those
     * that wait for a block. */
    if (over_cap != NULL &&
        !maar_device_memory_has_room(pool->allocator, pool->type_index, size, cap, over_cap)) {
        return maar_made_fail(made, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    }
    enum maar_pool_outcome outcome = announce_block(pool, request, alone, made, &arena);
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
            outcome = MAAR_POOL_CHANGED; /* other threads took the room while the lock was free */
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

/* Makes a block of the given size, or waits for a block that another thread is making, and places
 * the request. Tries again when other threads have taken the room. Another thread may use up the
 * budget between the check and the reservation; the attempt then fails like any attempt that a
 * budget prevents. */
static VkResult grow_or_share(struct maar_pool* pool, const struct maar_place_request* place,
                              VkDeviceSize size, VkDeviceSize cap, bool* over_cap,
                              struct maar_patience* patience, struct maar_made* made)
{
    enum maar_pool_outcome outcome = MAAR_POOL_NO_ROOM;
    bool alone = patience->left_ns == 0;
    do {
        outcome = maar_pool_grow(pool, place, size, cap, over_cap, alone, made);
        if (outcome == MAAR_POOL_WAIT) {
            const uint64_t deadline = maar_patience_deadline(patience);
            alone = !maar_pool_wait(pool, made->turn, deadline);
            maar_patience_spend(patience, deadline);
        } else if (outcome != MAAR_POOL_CHANGED) {
            break;
        }
        outcome = maar_pool_place(pool, place, true, made);
    } while (outcome == MAAR_POOL_NO_ROOM);
    return maar_pool_result(outcome, made);
}

/* Whether a pool has as many blocks as it may have. A block that is being made does not count: its
 * maker may fail. */
static bool is_full(const struct maar_pool* pool)
{
    return maar_atomic32_load(&pool->listed_count) >= pool->max_block_count;
}

bool maar_pool_may_announce(const struct maar_pool* pool, const struct maar_place_request* place)
{
    return maar_atomic32_load(&pool->block_count) < pool->max_block_count &&
           maar_pool_least_block(pool, place->size) >= place->size &&
           maar_pool_fits_fixed_block(pool, place);
}

/* Releases the empty blocks of a pool, none of which holds a request, and those of other frugal
 * pools: the promise counts the bytes of all pools. Returns whether there were any. */
static bool release_for_promise(struct maar_pool* own)
{
    MaarAllocator allocator = own->allocator;
    VkDeviceSize released = maar_pool_trim(own);
    for (struct maar_pool* pool = maar_pool_next(allocator, NULL); pool != NULL;
         pool = maar_pool_next(allocator, pool)) {
        if (pool->frugal && pool->retained_size == 0 &&
            maar_atomic32_load(&pool->empty_count) != 0) {
            released += maar_pool_trim(pool);
        }
    }
    return released > 0;
}

/* Chooses the size of the next block. If the allocator would exceed its allowance, first releases
 * empty blocks. */
static struct maar_block_size choose_size(struct maar_pool* pool,
                                          const struct maar_place_request* request)
{
    const struct maar_block_size size = maar_pool_next_block(pool, request);
    return size.beyond && release_for_promise(pool) ? maar_pool_next_block(pool, request) : size;
}

VkResult maar_pool_add_block(struct maar_pool* pool, const struct maar_place_request* place,
                             struct maar_budget_use* use, struct maar_patience* patience,
                             struct maar_made* made)
{
    if (is_full(pool)) {
        /* Another thread may have listed the last block after the search for room. */
        return maar_pool_result(maar_pool_place(pool, place, true, made), made);
    }
    const VkDeviceSize least = maar_pool_least_block(pool, place->size);
    if (least < place->size || !maar_pool_fits_fixed_block(pool, place)) {
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    }
    VkDeviceSize size = choose_size(pool, place).best;
    if (use->may_exceed && !maar_object_count_is_high(pool->allocator)) {
        /* Over budget a block is small, but it has room for more requests if they are small too. */
        VkDeviceSize modest = maar_pool_modest_block(pool);
        size = size < modest ? size : (modest > least ? modest : least);
    }
    /* A size above the preferred one is halved to that one first, and this is not counted. */
    for (uint32_t halving = 0;; halving += size < pool->preferred_size ? 1 : 0) {
        VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
        VkDeviceSize cap = 0;
        if (maar_budget_admits(pool->allocator, pool->heap_index, size, use, &cap)) {
            result = grow_or_share(pool, place, size, cap, &use->refused, patience, made);
        }
        if (!maar_driver_had_no_memory(result) || size == least) {
            return result;
        }
        size = size / 2 / MAAR_BLOCK_ROUNDING * MAAR_BLOCK_ROUNDING;
        if (size < least || halving >= BLOCK_HALVINGS) {
            size = least;
        }
    }
}
