/*
 * What maarTrimAged releases: blocks, page blocks and buffers of slices that have been empty for a
 * while, beside a plain record of when each block was last in use at a call.
 */
#include "core/memory/empty_blocks.h"

#include "core/memory/block.h"
#include "tests/unit/reservation/reservation_fixture.h"

enum { BLOCKS = 24, STEPS = 4000 };

#define BLOCK ((VkDeviceSize)MIB)

static struct rig* rig;
static MaarPool pool;

/* A pool that keeps all of its empty blocks. */
static void start_pool(uint32_t least)
{
    rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO,
        .memoryTypeIndex = 0,
        .blockSize = BLOCK,
        .minBlockCount = least,
        .retainedEmptySize = UINT64_MAX,
    };
    pool = rig_create_pool(rig, &info);
}

/* An allocation that fills a block. */
static MaarAllocation fill_block(void)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.dedicated = MAAR_DEDICATED_NEVER;
    return rig_allocate(rig, BLOCK, &how);
}

static uint32_t blocks_of(MaarPool of)
{
    return (uint32_t)rig_statistics(rig, of).blockCount;
}

static VkDeviceSize trim(MaarPool of, uint64_t time, uint64_t age)
{
    VkDeviceSize released = 1;
    assert_int_equal(maarTrimAged(rig->allocator, of, time, age, &released), VK_SUCCESS);
    rig_check(rig);
    return released;
}

static void blocks_go_when_they_are_old_enough(void** state)
{
    (void)state;
    start_pool(0);
    MaarAllocation first = fill_block();
    MaarAllocation second = fill_block();
    assert_int_equal(trim(pool, 100, 3), 0);
    maarFreeMemory(rig->allocator, first); /* in use at 100, and never after */
    assert_int_equal(trim(pool, 101, 3), 0);
    assert_int_equal(trim(pool, 102, 3), 0);
    maarFreeMemory(rig->allocator, second);
    assert_int_equal(trim(pool, 103, 4), 0);
    assert_int_equal(trim(pool, 103, 3), BLOCK);
    assert_int_equal(blocks_of(pool), 1);
    assert_int_equal(trim(pool, 104, 3), 0);
    assert_int_equal(trim(VK_NULL_HANDLE, 105, 3), BLOCK);
    assert_int_equal(blocks_of(pool), 0);
    rig_expect_silence(rig);
}

static void a_block_that_is_used_again_is_young(void** state)
{
    (void)state;
    start_pool(0);
    maarFreeMemory(rig->allocator, fill_block());
    assert_int_equal(trim(pool, 1, 2), 0);
    assert_int_equal(trim(pool, 2, 2), 0);
    maarFreeMemory(rig->allocator, fill_block());
    assert_int_equal(trim(pool, 3, 2), 0);
    assert_int_equal(trim(pool, 4, 2), BLOCK);
}

static void ages_begin_with_the_first_call(void** state)
{
    (void)state;
    static const uint64_t starts[] = {0, 1000000, UINT64_MAX - 10};
    for (uint32_t i = 0; i < 3; ++i) {
        start_pool(0);
        maarFreeMemory(rig->allocator, fill_block());
        assert_int_equal(trim(pool, starts[i], 5), 0);
        assert_int_equal(trim(pool, starts[i] + 4, 5), 0);
        assert_int_equal(trim(pool, starts[i] + 5, 5), BLOCK);
    }
    /* Without an age everything goes, at the first call too. */
    start_pool(0);
    maarFreeMemory(rig->allocator, fill_block());
    assert_int_equal(trim(pool, 0, 0), BLOCK);
}

static void pending_bytes_are_in_use(void** state)
{
    (void)state;
    start_pool(0);
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, fill_block(), 1, &point), VK_SUCCESS);
    for (uint64_t time = 1; time < 10; ++time) {
        assert_int_equal(trim(pool, time, 2), 0);
    }
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(trim(pool, 10, 2), 0); /* the call frees it: it was in use at 9 */
    assert_int_equal(trim(pool, 11, 2), BLOCK);
}

static void the_least_number_of_blocks_stays(void** state)
{
    (void)state;
    MaarAllocation memory[5];
    start_pool(2);
    for (uint32_t i = 0; i < 5; ++i) {
        memory[i] = fill_block();
    }
    maarFreeMemories(rig->allocator, 5, memory);
    assert_int_equal(trim(pool, 1, 1), 0);
    assert_int_equal(trim(pool, 2, 1), 3 * BLOCK);
    assert_int_equal(trim(pool, 9, 1), 0);
    assert_int_equal(blocks_of(pool), 2);
}

static void empty_page_blocks_age_too(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(trim(VK_NULL_HANDLE, 7, 2), 0);
    assert_int_equal(fixture_decommit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig); /* the page block is empty, and the pool keeps it */
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    assert_int_equal(trim(VK_NULL_HANDLE, 8, 2), 0);
    assert_int_equal(fixture_commit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_decommit(rig, it, 0, MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(trim(VK_NULL_HANDLE, 9, 2), 0);
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    assert_int_equal(trim(VK_NULL_HANDLE, 10, 2), 16 * MIB);
    assert_int_equal(fixture_statistics(rig).blockCount, 0);
    maarDestroyReservation(rig->allocator, it);
}

static void page_blocks_go_one_by_one(void** state)
{
    (void)state;
    rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, NULL);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(fixture_commit(rig, it, i * 16 * MIB, 16 * MIB), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    (void)trim(VK_NULL_HANDLE, 1, 3);
    /* While the device executes nothing, both empty blocks stay. */
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    assert_int_equal(fixture_decommit(rig, it, 0, 16 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    (void)trim(VK_NULL_HANDLE, 2, 3);
    assert_int_equal(fixture_decommit(rig, it, 32 * MIB, 16 * MIB), VK_SUCCESS);
    (void)fixture_submit(rig);
    maarSimulatedSetFlags(rig->physical, 0);
    assert_int_equal(fixture_statistics(rig).blockCount, 3);
    assert_int_equal(trim(VK_NULL_HANDLE, 3, 3), 0);
    assert_int_equal(trim(VK_NULL_HANDLE, 4, 3), 16 * MIB);
    assert_int_equal(trim(VK_NULL_HANDLE, 5, 3), 16 * MIB);
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    maarDestroyReservation(rig->allocator, it);
}

static void empty_buffers_of_slices_age_too(void** state)
{
    (void)state;
    rig = rig_begin(NULL);
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_DEVICE_LOCAL,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateSlice(rig->allocator, &info, &slice), VK_SUCCESS);
    (void)trim(VK_NULL_HANDLE, 1, 2);
    maarDestroySlice(rig->allocator, slice);
    const uint64_t buffers = rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER];
    (void)trim(VK_NULL_HANDLE, 2, 2);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], buffers);
    (void)trim(VK_NULL_HANDLE, 3, 2); /* in use at 1 */
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], buffers - 1);
    /* Its bytes are free in a block from then on. */
    (void)trim(VK_NULL_HANDLE, 4, 2);
    (void)trim(VK_NULL_HANDLE, 5, 2);
    assert_int_equal(blocks_of(VK_NULL_HANDLE), 0);
}

/* What a naive program would note of each block. */
struct noted {
    uint64_t id; /* 0: no block */
    MaarAllocation memory;
    uint64_t used_at; /* the last call at which it was in use, or the first call */
};

static uint64_t id_of(MaarAllocation memory)
{
    return rig_info(rig, memory).blockId + 1;
}

static struct noted* find_noted(struct noted* noted, uint64_t id)
{
    uint32_t at = 0;
    while (at < BLOCKS && noted[at].id != id) {
        ++at;
    }
    return at < BLOCKS ? &noted[at] : NULL;
}

static void random_uses_match_a_plain_record(void** state)
{
    (void)state;
    struct noted noted[BLOCKS] = {{0}};
    struct rig_random random = {rig_seed(11)};
    uint64_t time = 0;
    uint64_t previous = 0;
    start_pool(0);
    (void)trim(pool, 0, 1);
    for (uint32_t step = 0; step < STEPS; ++step) {
        struct noted* at = &noted[rig_below(&random, BLOCKS)];
        if (at->memory != VK_NULL_HANDLE) {
            maarFreeMemory(rig->allocator, at->memory);
            at->memory = VK_NULL_HANDLE;
            at->used_at = time;
        } else if (rig_below(&random, 2) == 0 && find_noted(noted, 0) != NULL) {
            MaarAllocation memory = fill_block();
            const uint64_t id = id_of(memory);
            at = find_noted(noted, id);
            at = at != NULL ? at : find_noted(noted, 0);
            *at = (struct noted){.id = id, .memory = memory};
        }
        if (rig_below(&random, 3) != 0) {
            continue;
        }
        previous = time;
        time += rig_below(&random, 4);
        const uint64_t age = 1 + rig_below(&random, 12);
        VkDeviceSize due = 0;
        for (uint32_t i = 0; i < BLOCKS; ++i) {
            if (noted[i].id != 0 && noted[i].memory == VK_NULL_HANDLE && time >= age &&
                noted[i].used_at <= time - age) {
                noted[i] = (struct noted){0};
                due += BLOCK;
            }
        }
        assert_int_equal(trim(pool, time, age), due);
        assert_true(previous <= time);
    }
    for (uint32_t i = 0; i < BLOCKS; ++i) {
        maarFreeMemory(rig->allocator, noted[i].memory);
    }
}

static void damage_of_the_list_is_found(void** state)
{
    (void)state;
    static struct maar_block blocks[3];
    struct maar_trim_clock clock = {.last = {0}};
    struct maar_empty_blocks list = {NULL, NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < 3; ++i) {
        maar_atomic64_store(&clock.last, i);
        maar_empty_blocks_add(&list, &blocks[i], &clock);
    }
    assert_null(maar_empty_blocks_check(&list, &count));
    assert_int_equal(count, 3);
    blocks[1].emptied_at = 5;
    assert_string_equal(maar_empty_blocks_check(&list, &count),
                        "the empty blocks are not in the order of their ages");
    blocks[1].emptied_at = 1;
    blocks[1].range_count = 1;
    assert_string_equal(maar_empty_blocks_check(&list, &count),
                        "a block stands wrongly among the empty blocks");
    blocks[1].range_count = 0;
    list.youngest = &blocks[1];
    assert_string_equal(maar_empty_blocks_check(&list, &count),
                        "the list of empty blocks ends at a wrong block");
    list.youngest = &blocks[2];
    maar_empty_blocks_remove(&list, &blocks[1]);
    maar_empty_blocks_remove(&list, &blocks[2]);
    assert_null(maar_empty_blocks_check(&list, &count));
    assert_int_equal(count, 1);
    maar_empty_blocks_remove(&list, &blocks[0]);
    assert_true(list.oldest == NULL && list.youngest == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(blocks_go_when_they_are_old_enough),
        rig_unit_test(a_block_that_is_used_again_is_young),
        rig_unit_test(ages_begin_with_the_first_call),
        rig_unit_test(pending_bytes_are_in_use),
        rig_unit_test(the_least_number_of_blocks_stays),
        rig_unit_test(empty_page_blocks_age_too),
        rig_unit_test(page_blocks_go_one_by_one),
        rig_unit_test(empty_buffers_of_slices_age_too),
        rig_unit_test(random_uses_match_a_plain_record),
        rig_unit_test(damage_of_the_list_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
