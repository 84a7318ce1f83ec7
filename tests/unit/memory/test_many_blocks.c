/*
 * Pools with many blocks: what finds a block (block index, shape index, idle blocks) finds it when
 * it exists, and costs no calls of the driver.
 */
#include "core/memory/object_handle.h"
#include "core/memory/pool.h"
#include "tests/rig/rig.h"

enum { BLOCKS = 48, LIVE = 4000, STEPS = 60000, GRANULARITY = 1024, UNIT = 256 };

/* ---- a request that fails has no room, by a plain search of all free ranges ---- */

static bool meets(VkDeviceSize last, VkDeviceSize first)
{
    return last / GRANULARITY == first / GRANULARITY;
}

/* Whether a free range between two neighbours has room for a request. */
static bool fits(const MaarBlockRange* before, const MaarBlockRange* range,
                 const MaarBlockRange* after, const MaarMemoryRequest* request)
{
    const VkDeviceSize alignment = request->requirements.alignment;
    const VkDeviceSize power = alignment & (~alignment + 1);
    const VkDeviceSize unit = power < UNIT ? power : UNIT;
    const VkDeviceSize size = (request->requirements.size + unit - 1) / unit * unit;
    const VkDeviceSize end = range->offset + range->size;
    VkDeviceSize begin = (range->offset + alignment - 1) / alignment * alignment;
    if (before != NULL && before->kind != request->kind &&
        meets(before->offset + before->size - 1, begin)) {
        const VkDeviceSize step = alignment / power * (power > GRANULARITY ? power : GRANULARITY);
        begin = (range->offset + step - 1) / step * step;
    }
    const bool clash =
        after != NULL && after->kind != request->kind && meets(begin + size - 1, after->offset);
    return begin + size <= end && !clash;
}

static bool is_placed(const MaarBlockRange* range)
{
    return range->state == MAAR_BLOCK_RANGE_STATE_LIVE ||
           range->state == MAAR_BLOCK_RANGE_STATE_PENDING;
}

static bool has_room(struct rig* rig, uint64_t block, const MaarMemoryRequest* request)
{
    static MaarBlockRange ranges[LIVE];
    uint32_t count = LIVE;
    assert_int_equal(maarEnumerateBlockRanges(rig->allocator, block, &count, ranges), VK_SUCCESS);
    const MaarBlockRange* before = NULL;
    for (uint32_t i = 0; i < count; ++i) {
        if (ranges[i].state == MAAR_BLOCK_RANGE_STATE_FREE) {
            const MaarBlockRange* after = NULL;
            for (uint32_t j = i + 1; j < count && after == NULL; ++j) {
                after = is_placed(&ranges[j]) ? &ranges[j] : NULL;
            }
            if (fits(before, &ranges[i], after, request)) {
                return true;
            }
        }
        before = is_placed(&ranges[i]) ? &ranges[i] : before;
    }
    return false;
}

static bool any_room(struct rig* rig, MaarPool pool, const MaarMemoryRequest* request)
{
    static MaarBlockInfo blocks[BLOCKS];
    uint32_t count = BLOCKS;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, blocks), VK_SUCCESS);
    for (uint32_t i = 0; i < count; ++i) {
        if (has_room(rig, blocks[i].blockId, request)) {
            return true;
        }
    }
    return false;
}

/* Alignments are powers of two, and sometimes three times one. */
static MaarMemoryRequest random_request(struct rig_random* random)
{
    const VkDeviceSize power = (VkDeviceSize)1 << rig_below(random, 12);
    const VkDeviceSize factor = rig_below(random, 3) == 0 ? 3 : 1;
    return rig_request(16 + rig_below(random, 6000), factor * power, ~0u,
                       rig_below(random, 2) == 0 ? MAAR_RESOURCE_KIND_LINEAR
                                                 : MAAR_RESOURCE_KIND_OPTIMAL);
}

static void failing_requests_have_no_room(void** state)
{
    (void)state;
    static MaarAllocation live[LIVE];
    struct rig* rig = rig_begin(NULL);
    struct rig_random random = {rig_seed(1)};
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB, .maxBlockCount = BLOCKS};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    uint32_t count = 0;
    uint32_t failed = 0;
    for (uint32_t step = 0; step < STEPS; ++step) {
        /* Fills the pool, then keeps it nearly full. */
        if (count == LIVE || (count > 0 && rig_below(&random, 20) < 9 && failed > 0)) {
            const uint32_t at = rig_below(&random, count);
            maarFreeMemory(rig->allocator, live[at]);
            live[at] = live[--count];
            continue;
        }
        const MaarMemoryRequest request = random_request(&random);
        how.flags = rig_below(&random, 4) == 0 ? MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT : 0;
        if (maarAllocateMemory(rig->allocator, &request, &how, &live[count]) == VK_SUCCESS) {
            ++count;
        } else if ((how.flags & MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT) == 0) {
            ++failed;
            assert_false(any_room(rig, pool, &request));
        }
        if (step % 500 == 0) {
            rig_check(rig);
        }
    }
    assert_true(failed > STEPS / 50);
    assert_non_null(maar_pool_of(rig->allocator, pool)->first_arena->shapes);
    maarFreeMemories(rig->allocator, count, live);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- requests that no block can serve ---- */

static MaarPool fill_pool(struct rig* rig, uint32_t blocks, MaarAllocation* live)
{
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB, .maxBlockCount = blocks};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < blocks; ++i) {
        live[i] = rig_allocate(rig, 64 * KIB, &how);
    }
    return pool;
}

static void full_pool_asks_for_no_budget(void** state)
{
    (void)state;
    MaarAllocation live[BLOCKS];
    struct rig* rig = rig_begin(NULL);
    const MaarPool pool = fill_pool(rig, BLOCKS, live);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    const uint64_t before = rig_calls(rig, "vkGetPhysicalDeviceMemoryProperties2");
    for (uint32_t i = 0; i < 100; ++i) {
        MaarAllocation none = VK_NULL_HANDLE;
        assert_int_equal(rig_try(rig, 4 * KIB, &how, &none), VK_ERROR_OUT_OF_POOL_MEMORY);
    }
    /* No message describes the heap: the number of blocks is the reason. */
    assert_int_equal(rig_calls(rig, "vkGetPhysicalDeviceMemoryProperties2"), before);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_FULL);
    maarFreeMemories(rig->allocator, BLOCKS, live);
    maarDestroyPool(rig->allocator, pool);
}

/* In all blocks but the last one, the free range is large enough, but lies too high for the
 * alignment. The request needs a shape index to pass over them, and does without one. */
static void request_needs_no_memory_for_the_shape_index(void** state)
{
    (void)state;
    MaarAllocation live[BLOCKS];
    MaarAllocation last = VK_NULL_HANDLE;
    const struct rig_setup setup = {.count_host = true};
    struct rig* rig = rig_begin(&setup);
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB, .maxBlockCount = BLOCKS};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        live[i] = rig_allocate(rig, 33 * KIB, &how);
    }
    maarFreeMemory(rig->allocator, live[BLOCKS - 1]);
    const MaarMemoryRequest request =
        rig_request(30 * KIB, 4 * KIB, ~0u, MAAR_RESOURCE_KIND_LINEAR);
    const struct maar_arena* arena = maar_pool_of(rig->allocator, pool)->first_arena;
    for (uint32_t round = 0; round < 2; ++round) {
        const uint64_t calls = atomic_load(&rig->host.calls);
        atomic_store(&rig->host.fail_at, round == 0 ? calls + 1 : 0);
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &last), VK_SUCCESS);
        assert_true(atomic_load(&rig->host.calls) > calls);
        assert_int_equal(arena->shapes != NULL, round == 1);
        rig_check(rig);
        maarFreeMemory(rig->allocator, last);
    }
    maarFreeMemories(rig->allocator, BLOCKS - 1, live);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- blocks that leave ---- */

static void blocks_leave_in_any_order(void** state)
{
    (void)state;
    MaarAllocation live[BLOCKS];
    struct rig* rig = rig_begin(NULL);
    struct rig_random random = {rig_seed(27)};
    const MaarPool pool = fill_pool(rig, BLOCKS, live);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t round = 0; round < 60; ++round) {
        const uint32_t freed = 1 + rig_below(&random, BLOCKS);
        for (uint32_t i = 0; i < freed; ++i) {
            const uint32_t at = rig_below(&random, BLOCKS);
            maarFreeMemory(rig->allocator, live[at]);
            live[at] = VK_NULL_HANDLE;
        }
        rig_check(rig);
        uint32_t held = 0;
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            held += live[i] != VK_NULL_HANDLE ? 1 : 0;
        }
        /* One empty block is kept. */
        assert_in_range(rig_statistics(rig, pool).blockCount, held, held + 1);
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            if (live[i] == VK_NULL_HANDLE && rig_below(&random, 3) != 0) {
                live[i] = rig_allocate(rig, 64 * KIB, &how);
            }
        }
        rig_check(rig);
    }
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        maarFreeMemory(rig->allocator, live[i]);
    }
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

/* More than half of the blocks leave, so the rest get other numbers in the list. Only the last
 * block has room for the alignment, and the shape index finds it by its new number. */
static void shape_index_follows_the_blocks_of_a_shorter_list(void** state)
{
    (void)state;
    enum { LEAVE = BLOCKS / 2 + 1 };
    MaarAllocation live[BLOCKS];
    MaarAllocation last = VK_NULL_HANDLE;
    struct rig* rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB, .maxBlockCount = BLOCKS};
    const MaarPool pool = rig_create_pool(rig, &info);
    const struct maar_arena* arena = maar_pool_of(rig->allocator, pool)->first_arena;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        live[i] = rig_allocate(rig, i + 1 < BLOCKS ? 33 * KIB : 32 * KIB, &how);
    }
    const MaarMemoryRequest request =
        rig_request(30 * KIB, 4 * KIB, ~0u, MAAR_RESOURCE_KIND_LINEAR);
    how.flags = MAAR_ALLOCATION_CREATE_NEVER_ALLOCATE_BIT;
    for (uint32_t round = 0; round < 2; ++round) {
        assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &last), VK_SUCCESS);
        assert_non_null(arena->shapes);
        maarFreeMemory(rig->allocator, last);
        if (round == 0) {
            maarFreeMemories(rig->allocator, LEAVE, live);
            assert_int_equal(maarTrim(rig->allocator, pool, NULL), VK_SUCCESS);
            assert_int_equal(arena->block_end, BLOCKS - LEAVE);
            rig_check(rig);
        }
    }
    maarFreeMemories(rig->allocator, BLOCKS - LEAVE, live + LEAVE);
    maarDestroyPool(rig->allocator, pool);
}

/* Blocks of several sizes, all of them empty: the smallest ones go. */
static void trim_keeps_the_largest_of_the_least_blocks(void** state)
{
    (void)state;
    enum { COUNT = 20, KEPT = 3 };
    MaarAllocation live[COUNT];
    MaarBlockInfo blocks[COUNT];
    VkDeviceSize most = 0;
    struct rig* rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.minBlockCount = KEPT, .retainedEmptySize = 100 * GIB};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    for (uint32_t i = 0; i < COUNT; ++i) {
        live[i] = rig_allocate(rig, (7 * i % COUNT + 1) * 30 * MIB, &how);
    }
    maarFreeMemories(rig->allocator, COUNT, live);
    for (uint32_t i = 0; i < COUNT; ++i) {
        blocks[i] = (MaarBlockInfo){.sType = MAAR_STRUCTURE_TYPE_BLOCK_INFO};
    }
    uint32_t count = COUNT;
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &count, blocks), VK_SUCCESS);
    assert_true(count > KEPT);
    for (uint32_t i = 0; i < count; ++i) {
        most = blocks[i].size > most ? blocks[i].size : most;
    }
    assert_int_equal(maarTrim(rig->allocator, pool, NULL), VK_SUCCESS);
    rig_check(rig);
    uint32_t kept = COUNT;
    MaarBlockInfo* rest = blocks;
    const uint32_t before = count;
    VkDeviceSize sizes[COUNT];
    for (uint32_t i = 0; i < before; ++i) {
        sizes[i] = blocks[i].size;
    }
    assert_int_equal(maarEnumerateBlocks(rig->allocator, pool, &kept, rest), VK_SUCCESS);
    assert_int_equal(kept, KEPT);
    for (uint32_t i = 0; i < kept; ++i) {
        uint32_t larger = 0;
        for (uint32_t j = 0; j < before; ++j) {
            larger += sizes[j] > rest[i].size ? 1 : 0;
        }
        assert_true(larger < KEPT);
    }
    assert_true(rest[0].size == most || rest[1].size == most || rest[2].size == most);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- the block of an id ---- */

static VkResult list_ranges(struct rig* rig, uint64_t id)
{
    uint32_t count = 0;
    return maarEnumerateBlockRanges(rig->allocator, id, &count, NULL);
}

/* Every second allocation is dedicated, so its block leaves at once when it is freed. */
static void each_block_is_found_by_its_id_while_it_exists(void** state)
{
    enum { POOLS = 3, ALLOCATIONS = 600 };
    static MaarAllocation live[ALLOCATIONS];
    static uint64_t ids[ALLOCATIONS];
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {.blockSize = 64 * KIB};
    MaarPool pools[POOLS];
    for (uint32_t i = 0; i < POOLS; ++i) {
        pools[i] = rig_create_pool(rig, &info);
    }
    for (uint32_t i = 0; i < ALLOCATIONS; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
        how.pool = pools[i % POOLS];
        how.dedicated = i % 2 == 0 ? MAAR_DEDICATED_ALWAYS : MAAR_DEDICATED_NEVER;
        live[i] = rig_allocate(rig, 64 * KIB, &how);
        ids[i] = rig_info(rig, live[i]).blockId;
    }
    for (uint32_t i = 0; i < ALLOCATIONS; i += 6) {
        maarFreeMemory(rig->allocator, live[i]);
    }
    for (uint32_t i = 0; i < ALLOCATIONS; ++i) {
        assert_int_equal(list_ranges(rig, ids[i]),
                         i % 6 == 0 ? VK_ERROR_VALIDATION_FAILED_EXT : VK_SUCCESS);
    }
    for (uint32_t i = 0; i < ALLOCATIONS; ++i) {
        if (i % 6 != 0) {
            maarFreeMemory(rig->allocator, live[i]);
        }
    }
    for (uint32_t i = 0; i < POOLS; ++i) {
        maarDestroyPool(rig->allocator, pools[i]);
    }
    for (uint32_t i = 0; i < ALLOCATIONS; ++i) {
        assert_int_equal(list_ranges(rig, ids[i]), VK_ERROR_VALIDATION_FAILED_EXT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(failing_requests_have_no_room),
        rig_unit_test(full_pool_asks_for_no_budget),
        rig_unit_test(request_needs_no_memory_for_the_shape_index),
        rig_unit_test(blocks_leave_in_any_order),
        rig_unit_test(shape_index_follows_the_blocks_of_a_shorter_list),
        rig_unit_test(trim_keeps_the_largest_of_the_least_blocks),
        rig_unit_test(each_block_is_found_by_its_id_while_it_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
