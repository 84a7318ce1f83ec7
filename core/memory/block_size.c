/*
 * Decides how large the next block is. Most pools are frugal, those whose block size nobody has
 * named and whose blocks are not for others: what the allocator may hold beside the bytes that live
 * in it bounds the block.
 * The growth of the arena gives the largest size that the block may have, and the size itself where
 * the program has named one. Once an arena holds much, a block for small requests may be larger.
 */
#include "core/memory/block_size.h"

#include "core/memory/allocator_state.h"
#include "core/memory/arena_place.h"
#include "core/memory/peak.h"
#include "core/memory/scarcity.h"

/*
 * A frugal pool promises that the allocator holds at most a quarter more than what lives, or 4 MiB
 * more. It aims at two ninths more, so that holes do not break the promise. A new block takes most
 * of the bytes that the allocator may still hold beside the request: the part that its arena has of
 * all blocks, but at least three quarters, or three fifths if it is the first block of its arena,
 * because another type or another thread may need a block soon. So small programs hold little, and
 * the number of blocks grows as the logarithm of the bytes. Where holes have used up these bytes, a
 * block still has a third of the excess that is allowed, but at most a quarter of what the arena
 * holds: otherwise each request would need a block of its own. Requests of a size come together, so
 * a block for up to eight such requests has room for a whole number of them. Less than 512 KiB is
 * not worth a call.
 *
 * Allocations take longer beside many blocks. So an arena that holds the preferred size aims at a
 * quarter more, and a block leaves a 20th of that. From 4.75 times the preferred size
 * on, 1.2 GiB of 256 MiB, the growth of the arena gives less than that and decides alone.
 *
 * About 2,000 settings were measured with bench_trace and maar replay, on 21 traces of programs and
 * on 54 beginnings of these traces, as of programs that end early; those of large arenas on copies
 * of seven traces with 0.2 to 5 GiB alive. docs/design/growth.md has the nearest settings.
 */
enum {
    EXCESS_NINTHS = 2,
    FIRST_PART_FIFTHS = 3,
    NEXT_PART_QUARTERS = 3,
    LARGE_EXCESS_SHARE = 4,
    LARGE_REST_SHARE = 20,
    FLOOR_SHARE = 3,
    HELD_SHARE = 4,
    FEW_REQUESTS = 8,
};
#define LEAST_EXCESS ((VkDeviceSize)4 << 20)
#define LEAST_BLOCK ((VkDeviceSize)512 << 10)

/*
 * The growth of an arena. The first block is an eighth of the preferred size. Each further block is
 * twice as large as the block before it, up to the preferred size. For a preferred size of 256 MiB,
 * full blocks add up to 32, 96, 224, 480, 736, 992 and 1248 MiB, so seven blocks serve a gigabyte.
 * A size that does not hold two requests of the size that the block is made for is doubled, up to
 * the preferred size. If the first request is small, memory that is not device-local begins with a
 * block of 1 MiB, because most programs upload and read back little.
 *
 * An arena that holds 4.75 times the preferred size uses another rule: a block is a 48th of what
 * the arena holds, at least a third of the preferred size and at most the preferred size. Little
 * memory is then reserved ahead of need, and few blocks are made.
 *
 * Large requests come in equal sizes. So once an arena holds the preferred size, a block for a
 * request of a 24th of the preferred size or more, 10.7 MiB, holds a whole number of such requests.
 *
 * About 400 settings were measured on ten traces above a gigabyte with bench_trace:
 * docs/project/results/benchmarks.md. The figures of similar settings differ by a few per mille.
 */
enum {
    FIRST_HOST_BLOCK_SHARE = 256,
    FIRST_BLOCK_SHARE = 8,
    LARGE_FOR_FIRST_HOST_BLOCK = 2,
    STEADY_QUARTERS = 19,
    STEADY_SHARE = 48,
    STEADY_LEAST = 3,
    LARGE_SHARE = 24
};

/*
 * A frugal pool that holds the preferred size makes larger blocks for small requests than the
 * growth of its arena gives, as long as the allocator has few holes: a new block has an eighth of
 * what the arena holds, if the whole allocator then holds at most an eighth more than what lives,
 * and at most twice the preferred size. So a program that fills memory needs few blocks. The holes
 * of a program that frees as much as it allocates use up this eighth, and little memory is reserved
 * for it ahead of need. A request of a 128th of the preferred size or more gets a block by the
 * growth, because few such requests fill a block and the last one mostly leaves a rest.
 *
 * Shares from an eighth to a twelfth were measured on the ten traces, with requests from a 16th to
 * a 256th of the preferred size and blocks of twice to four times the preferred size.
 */
enum { AHEAD_SHARE = 8, AHEAD_MOST = 2, AHEAD_REQUESTS = 128 };

/* A frugal pool keeps empty blocks up to half of the most that the allocator has held, but at least
 * a quarter and at most all of the preferred size. Its blocks are small and many. A program that
 * frees everything in each frame would otherwise make most of them again in the next frame. */
enum { KEPT_SHARE_OF_PEAK = 2, KEPT_LEAST_SHARE = 4 };

/*
 * In a pool that stitches, only small allocations are placed in blocks. A new block is a quarter of
 * the arena's blocks together: at least 256 KiB, so that few allocations reserve little, and at
 * most 1 MiB. If a 256th of what the arena holds, pages included, is more, the block has that size.
 * So memory ahead of need stays far below 1 %, and 64 GiB of small allocations in one arena would
 * take about 1,700 blocks.
 */
#define FIRST_BESIDE_PAGES ((VkDeviceSize)1 << 18)
#define STEADY_BESIDE_PAGES ((VkDeviceSize)1 << 20)
enum { GROWTH_BESIDE_PAGES = 4, SHARE_BESIDE_PAGES = 256 };
/* A block that is made over a budget has this share of the preferred size: 4 MiB of 256. */
enum { MODEST_SHARE = 64 };

VkDeviceSize maar_pool_modest_block(const struct maar_pool* pool)
{
    return maar_align_up(pool->preferred_size / MODEST_SHARE, MAAR_BLOCK_ROUNDING);
}

VkDeviceSize maar_pool_kept_bytes(const struct maar_pool* pool)
{
    const VkDeviceSize peak = maar_atomic64_load(&pool->allocator->peak_block_bytes);
    const VkDeviceSize least = pool->preferred_size / KEPT_LEAST_SHARE;
    const VkDeviceSize share = peak / KEPT_SHARE_OF_PEAK;
    const VkDeviceSize kept = share > least ? share : least;
    return kept < pool->preferred_size ? kept : pool->preferred_size;
}

static VkDeviceSize clamp_size(VkDeviceSize size, VkDeviceSize least, VkDeviceSize most)
{
    size = size > least ? size : least;
    return size < most ? size : most;
}

/* Whether an arena that holds so many bytes grows in small steps. */
static bool is_steady(const struct maar_pool* pool, VkDeviceSize held)
{
    return held / STEADY_QUARTERS >= pool->preferred_size / 4;
}

/* Returns the size of the next block by the growth of its arena. held: the bytes of the arena's
 * blocks. The size may be too small for the request; the caller then enlarges it. */
static VkDeviceSize next_size(const struct maar_pool* pool, VkDeviceSize held,
                              const struct maar_block_size* request)
{
    const VkDeviceSize preferred = pool->preferred_size;
    const VkDeviceSize first =
        maar_align_up(preferred / FIRST_HOST_BLOCK_SHARE, MAAR_BLOCK_ROUNDING);
    if (held == 0 && request->least <= first / LARGE_FOR_FIRST_HOST_BLOCK && !pool->device_local) {
        return first;
    }
    if (is_steady(pool, held)) {
        return clamp_size(held / STEADY_SHARE, preferred / STEADY_LEAST, preferred);
    }
    VkDeviceSize step = preferred / FIRST_BLOCK_SHARE;
    VkDeviceSize sum = step;
    while (sum <= held && step < preferred && step != 0) {
        step = step * 2 < preferred ? step * 2 : preferred;
        sum += step;
    }
    /* Small blocks leave little of a step, and then a block has that of the next step. */
    VkDeviceSize size = sum > held ? sum - held : preferred;
    size = pool->frugal && size < step / 2 ? step / 2 : size;
    while (size < preferred && size < request->least + request->each) {
        size *= 2;
    }
    return size < preferred ? size : preferred;
}

/* Returns the bytes that live in the allocator, which may be a sixteenth too few in the arenas of
 * other threads and pools: see peak.h. Called under the arena's lock. */
static VkDeviceSize bytes_alive(struct maar_arena* arena)
{
    const struct MaarAllocator_T* allocator = arena->pool->allocator;
    const VkDeviceSize stitched = maar_atomic64_load(&allocator->stitched_bytes);
    const VkDeviceSize paged = maar_atomic64_load(&allocator->paged_bytes);
    maar_arena_raise_floor(arena, maar_atomic64_load(&arena->live_bytes));
    return maar_atomic64_load(&allocator->live_floors) + (paged > stitched ? paged - stitched : 0);
}

/* What the allocator may hold beside the bytes that live, once a request is added to both. */
struct allowance {
    VkDeviceSize excess; /* in all */
    VkDeviceSize spare;  /* what is left of it; 0 if more than it is held */
};

/* least: the smallest block that holds the request. Called under the arena's lock. */
static struct allowance allowance_beside(struct maar_arena* arena, VkDeviceSize least)
{
    const bool large = arena->block_bytes >= arena->pool->preferred_size;
    const VkDeviceSize live = bytes_alive(arena) + least;
    const VkDeviceSize holds = maar_atomic64_load(&arena->pool->allocator->block_bytes) + least;
    const VkDeviceSize share = large ? live / LARGE_EXCESS_SHARE : live / 9 * EXCESS_NINTHS;
    const VkDeviceSize excess = share > LEAST_EXCESS ? share : LEAST_EXCESS;
    const VkDeviceSize spare = live + excess > holds ? live + excess - holds : 0;
    return (struct allowance){.excess = excess, .spare = spare};
}

/* Returns the part of the spare bytes that a block takes. */
static VkDeviceSize part_of_spare(VkDeviceSize spare, const struct maar_arena* arena)
{
    const VkDeviceSize all = maar_atomic64_load(&arena->pool->allocator->block_bytes);
    if (arena->block_bytes >= arena->pool->preferred_size) {
        return spare - spare / LARGE_REST_SHARE;
    }
    if (arena->block_bytes == 0) {
        return spare / 5 * FIRST_PART_FIFTHS;
    }
    /* In parts of a thousandth: the product of two sizes would be too large. */
    const VkDeviceSize thousandths = arena->block_bytes / (all / 1000 + 1);
    const VkDeviceSize own = spare / 1000 * (thousandths < 1000 ? thousandths : 1000) /
                             MAAR_BLOCK_ROUNDING * MAAR_BLOCK_ROUNDING;
    const VkDeviceSize least = spare / 4 * NEXT_PART_QUARTERS;
    return own > least ? own : least;
}

/* Returns what a block has where holes have used up the excess. */
static VkDeviceSize size_despite_holes(VkDeviceSize excess, VkDeviceSize held)
{
    const VkDeviceSize share = excess / FLOOR_SHARE;
    return clamp_size(share, LEAST_BLOCK, clamp_size(held / HELD_SHARE, LEAST_BLOCK, UINT64_MAX));
}

VkDeviceSize maar_block_of_whole(const struct maar_block_size* size, VkDeviceSize most)
{
    return most > size->least ? size->least + (most - size->least) / size->each * size->each
                              : size->least;
}

/* Returns a size for a whole number of requests if it holds few: one more than fit, if the spare
 * bytes allow that. */
static VkDeviceSize few_requests(const struct maar_block_size* size, VkDeviceSize most)
{
    if (size->least >= size->best || size->each < size->best / FEW_REQUESTS) {
        return size->best;
    }
    const VkDeviceSize fewer = maar_block_of_whole(size, size->best);
    return fewer != size->best && fewer + size->each <= most ? fewer + size->each : fewer;
}

/* Reduces the size of a block to what the allocator may hold. Called under the arena's lock. */
static void be_frugal(struct maar_arena* arena, struct maar_block_size* size)
{
    const struct allowance allowed = allowance_beside(arena, size->least);
    const VkDeviceSize floor = size_despite_holes(allowed.excess, arena->block_bytes);
    const VkDeviceSize bound = size->least + part_of_spare(allowed.spare, arena);
    const VkDeviceSize most = size->least + allowed.spare;
    const VkDeviceSize preferred = arena->pool->preferred_size;
    size->beyond = allowed.spare == 0;
    size->best = clamp_size(bound, floor, size->best);
    size->best = few_requests(size, most < preferred ? most : preferred);
    size->best = maar_align_up(size->best, MAAR_BLOCK_ROUNDING);
}

/* Enlarges the size of a block in an allocator that has few holes. Called under the arena's lock.
 */
static void grow_ahead(struct maar_arena* arena, struct maar_block_size* size)
{
    const VkDeviceSize preferred = arena->pool->preferred_size;
    const VkDeviceSize live = bytes_alive(arena) + size->least;
    const VkDeviceSize most = live + live / AHEAD_SHARE;
    const VkDeviceSize holds = maar_atomic64_load(&arena->pool->allocator->block_bytes);
    const VkDeviceSize spare = most > holds ? most - holds : 0;
    const VkDeviceSize share = arena->block_bytes / AHEAD_SHARE;
    const VkDeviceSize ahead = maar_align_up(spare < share ? spare : share, MAAR_BLOCK_ROUNDING);
    if (size->least < preferred / AHEAD_REQUESTS) {
        size->best = clamp_size(ahead, size->best, AHEAD_MOST * preferred);
    }
}

/* Returns the size of the next block of an arena in a pool that stitches. held: the bytes of the
 * arena's blocks. with_pages: these bytes and the bytes of its dedicated blocks, which include the
 * blocks of pages. */
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

VkDeviceSize maar_pool_least_block(const struct maar_pool* pool, VkDeviceSize request)
{
    VkDeviceSize need = request;
    if (pool->fixed_size != 0) {
        return pool->fixed_size;
    }
    if (pool->strategy == MAAR_PLACEMENT_STRATEGY_BUDDY) {
        need = 1;
        while (need < request) {
            need <<= 1;
        }
    }
    return maar_align_up(need, MAAR_BLOCK_ROUNDING);
}

/* Returns a size that holds a whole number of large requests, once the arena holds much. */
static VkDeviceSize whole_requests(const struct maar_pool* pool, VkDeviceSize held,
                                   const struct maar_block_size* request, VkDeviceSize size)
{
    const bool large = request->least >= pool->preferred_size / LARGE_SHARE;
    return held >= pool->preferred_size && request->least < size && large
               ? maar_block_of_whole(request, size)
               : size;
}

/* Returns the bytes of the blocks of all arenas. */
static VkDeviceSize held_by_all(struct maar_pool* pool)
{
    VkDeviceSize held = 0;
    for (struct maar_arena* arena = maar_pool_next_arena(pool, 0); arena != NULL;
         arena = maar_pool_next_arena(pool, arena->number + 1)) {
        maar_mutex_lock(&arena->lock);
        held += arena->block_bytes;
        maar_mutex_unlock(&arena->lock);
    }
    return held;
}

/* Returns the size of the next block by the growth of its arena, rounded. What other threads have
 * allocated may have moved to an arena. Then the pool grows as it would for one thread. */
static VkDeviceSize grown_size(struct maar_pool* pool, VkDeviceSize held, bool has_moved,
                               const struct maar_block_size* request)
{
    VkDeviceSize size = next_size(pool, held, request);
    if (has_moved) {
        const VkDeviceSize step = next_size(pool, held_by_all(pool), request);
        size = step < size ? step : size;
    }
    return whole_requests(pool, held, request, maar_align_up(size, MAAR_BLOCK_ROUNDING));
}

/* Returns the sizes for a request whose block has the smallest size. A range that follows another
 * one begins at a multiple of the alignment. */
static struct maar_block_size smallest_block(const struct maar_pool* pool,
                                             const struct maar_place_request* request)
{
    const VkDeviceSize least = maar_pool_least_block(pool, request->size);
    const VkDeviceSize alignment = request->alignment > 1 ? request->alignment : 1;
    const VkDeviceSize each = (request->size + alignment - 1) / alignment * alignment;
    return (struct maar_block_size){
        .best = least, .least = least, .each = each > least ? each : least};
}

struct maar_block_size maar_pool_next_block(struct maar_pool* pool,
                                            const struct maar_place_request* request)
{
    struct maar_block_size size = smallest_block(pool, request);
    if (pool->fixed_size != 0) {
        return size;
    }
    struct maar_arena* arena = maar_arena_enter(pool);
    const VkDeviceSize held = arena->block_bytes;
    const VkDeviceSize with_pages = held + arena->dedicated_bytes;
    const bool has_moved = arena->has_moved;
    maar_mutex_unlock(&arena->lock);
    const VkDeviceSize best = pool->stitches ? size_beside_pages(pool, held, with_pages)
                                             : grown_size(pool, held, has_moved, &size);
    size.best = best > size.least ? best : size.least;
    if (pool->frugal) {
        maar_mutex_lock(&arena->lock);
        if (!is_steady(pool, held)) {
            be_frugal(arena, &size);
            size.best = whole_requests(pool, held, &size, size.best);
        }
        if (held >= pool->preferred_size) {
            grow_ahead(arena, &size);
        }
        maar_mutex_unlock(&arena->lock);
    }
    size.best = maar_scarce_block(pool, &size);
    return size;
}
