/*
 * Blocks in a heap that is nearly full: see scarcity.h. Only frugal pools change what they do.
 * Other pools have blocks of the sizes that a program has named. The constants were measured on ten
 * traces above a gigabyte in heaps 4 to 6 % larger than their peak: docs/design/growth.md.
 */
#include "core/memory/scarcity.h"

#include "core/memory/allocator_state.h"

/*
 * In the last two fifths of a budget a block has at most a part of the preferred size, the part
 * that is left of these two fifths: an eighth of it in the last twentieth. So the last block of a
 * program keeps few bytes from others. A request of a quarter of that size or more that would get a
 * larger block gets one of its own size. Such a block is full or empty, never in between.
 */
enum { SHRINK_FIFTHS = 2, ALONE_SHARE = 4 };

/*
 * A kept block that is empty has a use for the next request of its size. But a smaller request
 * takes it too, and then the rest of the block is no use to a large request. So once three quarters
 * of a budget are in use, all empty blocks of the heap have at most a 64th of what is left.
 */
enum { SCARCE_QUARTERS = 3, KEPT_SHARE = 64 };

/* What a heap has for this allocator, in bytes. */
struct heap_rest {
    VkDeviceSize all;
    VkDeviceSize left;
};

static VkDeviceSize rest_of(VkDeviceSize all, VkDeviceSize used)
{
    return all > used ? all - used : 0;
}

static struct heap_rest known_rest(const struct maar_pool* pool)
{
    const struct maar_heap_account* account = &pool->allocator->heaps[pool->heap_index];
    const VkDeviceSize own = maar_atomic64_load(&account->block_bytes);
    const VkDeviceSize known = maar_atomic64_load(&account->known_usage);
    struct heap_rest rest = {.all = maar_atomic64_load(&account->known_budget)};
    rest.left = rest_of(rest.all, known > own ? known : own);
    if (account->limit != 0 && rest_of(account->limit, own) < rest.left) {
        rest = (struct heap_rest){.all = account->limit, .left = rest_of(account->limit, own)};
    }
    return rest;
}

VkDeviceSize maar_scarce_block(const struct maar_pool* pool, const struct maar_block_size* size)
{
    const struct heap_rest rest = known_rest(pool);
    const VkDeviceSize modest = maar_pool_modest_block(pool);
    const VkDeviceSize last = rest.all / 5 * SHRINK_FIFTHS;
    if (!pool->frugal || rest.left >= last || maar_object_count_is_high(pool->allocator)) {
        return size->best;
    }
    /* In parts of a thousandth: the product of two sizes would be too large. */
    VkDeviceSize most = pool->preferred_size / 1000 * (rest.left / (last / 1000 + 1));
    most = most > modest ? most : modest;
    if (size->best <= most) {
        return size->best;
    }
    const VkDeviceSize some = maar_block_of_whole(size, most);
    return maar_align_up(size->least >= most / ALONE_SHARE ? size->least : some,
                         MAAR_BLOCK_ROUNDING);
}

bool maar_scarce_gives_back(const struct maar_pool* pool)
{
    const struct maar_heap_account* account = &pool->allocator->heaps[pool->heap_index];
    const struct heap_rest rest = known_rest(pool);
    const VkDeviceSize empty = maar_atomic64_load(&account->empty_bytes);
    const VkDeviceSize unused = rest.left + empty;
    return pool->frugal && pool->retained_size == 0 &&
           unused < rest.all / 4 * (4 - SCARCE_QUARTERS) && empty > rest.left / KEPT_SHARE;
}
