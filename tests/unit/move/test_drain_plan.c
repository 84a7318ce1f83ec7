/*
 * Runs that empty blocks where allocations find no gap: others make way for them first, within the
 * blocks that stay.
 */
#include "tests/rig/rig.h"

#include "core/memory/object_handle.h"
#include "core/memory/pool.h"

/* Sizes are in units. */
enum { UNIT = 4096, IN_BLOCK = 16, MOST = 4096 };
#define BLOCK_SIZE ((VkDeviceSize)IN_BLOCK * UNIT)

static struct rig* rig;
static MaarPool pool;
static MaarAllocation memories[MOST];
static uint32_t memory_count;

static void open_pool(const MaarSimulatedProfile* profile)
{
    const struct rig_setup setup = {.profile = profile};
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = BLOCK_SIZE, .retainedEmptySize = 1};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
    memory_count = 0;
}

static MaarAllocation allocate(uint32_t units)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pUserData = &memories[memory_count];
    memories[memory_count] = rig_allocate(rig, (VkDeviceSize)units * UNIT, &how);
    return memories[memory_count++];
}

static void release(MaarAllocation* memory)
{
    maarFreeMemory(rig->allocator, *memory);
    for (uint32_t i = 0; i < memory_count; ++i) {
        memories[i] = memories[i] == *memory ? VK_NULL_HANDLE : memories[i];
    }
    *memory = VK_NULL_HANDLE;
}

static void close_pool(void)
{
    rig_check(rig);
    maarFreeMemories(rig->allocator, memory_count, memories);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 0);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarDestroyPool(rig->allocator, pool);
    memset(memories, 0, sizeof memories);
}

static MaarDefragmentationBeginInfo run_info(void)
{
    return (MaarDefragmentationBeginInfo){.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
                                          .pool = pool};
}

static MaarDefragmentation begin(const MaarDefragmentationBeginInfo* info)
{
    const MaarDefragmentationBeginInfo plain = run_info();
    return rig_begin_run(rig, info != NULL ? info : &plain);
}

static MaarDefragmentationInfo info_of(MaarDefragmentation run)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    return info;
}

/* A step that is not limited. */
static MaarMoveBatch step(MaarDefragmentation run, VkResult expected)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), expected);
    return batch;
}

static void commit(MaarMoveBatch batch, uint32_t expected)
{
    uint32_t moved = 0;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, expected);
}

static uint32_t draining(void)
{
    return maar_atomic32_load(&maar_pool_of(rig->allocator, pool)->draining_count);
}

static uint32_t blocks(void)
{
    return rig_statistics(rig, pool).blockCount;
}

/* ---- one window ---- */

/*
 * Three blocks. The large allocation fills the middle half of the second one and is all that lives
 * there. The first block has as many free units, but a small allocation between them; the third has
 * three.
 */
struct window {
    MaarAllocation first;
    MaarAllocation small;
    MaarAllocation large;
    MaarAllocation third;
};

static struct window open_window(void)
{
    struct window window;
    open_pool(NULL);
    window.first = allocate(6);
    MaarAllocation gaps[5];
    gaps[0] = allocate(4);
    window.small = allocate(1);
    gaps[1] = allocate(5);
    gaps[2] = allocate(4);
    window.large = allocate(8);
    gaps[3] = allocate(4);
    window.third = allocate(13);
    gaps[4] = allocate(3);
    for (uint32_t i = 0; i < 5; ++i) {
        release(&gaps[i]);
    }
    assert_int_equal(blocks(), 3);
    assert_int_equal(rig_info(rig, window.small).offset, 10 * UNIT);
    assert_int_equal(rig_info(rig, window.large).offset, 4 * UNIT);
    return window;
}

static uint64_t epoch(MaarAllocation memory)
{
    return rig_info(rig, memory).locationEpoch;
}

static void small_allocation_makes_way_for_a_large_one(void** state)
{
    (void)state;
    const struct window window = open_window();
    const VkDeviceMemory home = rig_info(rig, window.first).memory;
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {timeline, 1};
    const MaarDefragmentation run = begin(NULL);
    MaarMoveBatch batch = step(run, VK_SUCCESS);
    uint32_t count = 0;
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, 1);
    /* The batch has not ended: the rest waits. */
    assert_true(step(run, VK_NOT_READY) == VK_NULL_HANDLE);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &point, &count), VK_SUCCESS);
    assert_int_equal(count, 1);
    assert_int_equal(epoch(window.small), 1);
    assert_true(rig_info(rig, window.small).memory == home);
    /* The device uses the old range still. */
    assert_true(step(run, VK_NOT_READY) == VK_NULL_HANDLE);
    assert_int_equal(draining(), 2);
    MaarAllocation other = allocate(2);
    assert_true(rig_info(rig, other).memory == rig_info(rig, window.third).memory);
    assert_int_equal(info_of(run).blockCount, 0);
    rig_check(rig);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    batch = step(run, VK_SUCCESS);
    assert_int_equal(draining(), 1); /* the block with the window takes allocations again */
    commit(batch, 1);
    assert_true(rig_info(rig, window.large).memory == home);
    assert_int_equal(rig_info(rig, window.large).offset, 6 * UNIT);
    assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(info.blockCount, 1);
    assert_int_equal(info.releasedCount, 1);
    assert_int_equal(info.moveCount, 2);
    assert_int_equal(info.moveBytes, 9 * UNIT);
    assert_int_equal(info.batchedBytes, 9 * UNIT);
    assert_int_equal(blocks(), 2);
    vkDestroySemaphore(rig->device, timeline, NULL);
    close_pool();
}

/* Commits the move of one that makes way, and sees that the rest waits for its old range. */
static void expect_way(MaarDefragmentation run, MaarAllocation small, MaarAllocation third)
{
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint point = {timeline, 1};
    const MaarMoveBatch batch = step(run, VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &point, NULL), VK_SUCCESS);
    assert_true(rig_info(rig, small).memory == rig_info(rig, third).memory);
    assert_true(step(run, VK_NOT_READY) == VK_NULL_HANDLE);
    rig_signal(rig, timeline, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void what_makes_way_does_not_go_where_it_lies(void** state)
{
    (void)state;
    /* The smallest gap beside the window consists of the bytes of what makes way. There is another
     * one in the third block, or none. */
    for (uint32_t gap = 1; gap <= 3; gap += 2) {
        MaarAllocation gaps[5];
        open_pool(NULL);
        const MaarAllocation first = allocate(6);
        gaps[0] = allocate(7);
        const MaarAllocation small = allocate(2);
        gaps[1] = allocate(1);
        gaps[2] = allocate(4);
        const MaarAllocation large = allocate(8);
        gaps[3] = allocate(4);
        const MaarAllocation third = allocate(IN_BLOCK - gap);
        gaps[4] = allocate(gap);
        for (uint32_t i = 0; i < 5; ++i) {
            release(&gaps[i]);
        }
        MaarDefragmentationBeginInfo begin_info = run_info();
        begin_info.flags = gap == 1 ? MAAR_DEFRAGMENTATION_DRY_RUN_BIT : 0;
        const MaarDefragmentation run = begin(&begin_info);
        if (gap == 1) {
            assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
            assert_int_equal(info_of(run).blockCount, 0);
        } else {
            expect_way(run, small, third);
            commit(step(run, VK_SUCCESS), 1);
            assert_true(rig_info(rig, large).memory == rig_info(rig, first).memory);
            assert_int_equal(rig_info(rig, large).offset, 6 * UNIT);
        }
        maarEndDefragmentation(rig->allocator, run);
        assert_int_equal(blocks(), gap == 1 ? 3 : 2);
        close_pool();
        rig_close(rig);
    }
}

static void window_may_begin_within_what_makes_way(void** state)
{
    (void)state;
    /* The alignment of the large one lets the window begin in the middle of the small one. */
    MaarAllocation gaps[4];
    open_pool(NULL);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT; /* its block stays */
    const MaarAllocation first = rig_allocate(rig, (VkDeviceSize)6 * UNIT, &how);
    memories[memory_count++] = first;
    gaps[0] = allocate(1);
    const MaarAllocation small = allocate(2);
    gaps[1] = allocate(7);
    gaps[2] = allocate(8);
    const MaarMemoryRequest request = rig_request((VkDeviceSize)8 * UNIT, (VkDeviceSize)8 * UNIT,
                                                  UINT32_MAX, MAAR_RESOURCE_KIND_UNKNOWN);
    how.flags = 0;
    MaarAllocation* const large = &memories[memory_count++];
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, large), VK_SUCCESS);
    const MaarAllocation third = allocate(13);
    gaps[3] = allocate(3);
    for (uint32_t i = 0; i < 4; ++i) {
        release(&gaps[i]);
    }
    assert_int_equal(blocks(), 3);
    assert_int_equal(rig_info(rig, *large).offset, 8 * UNIT);
    const MaarDefragmentation run = begin(NULL);
    expect_way(run, small, third);
    commit(step(run, VK_SUCCESS), 1);
    assert_true(rig_info(rig, *large).memory == rig_info(rig, first).memory);
    assert_int_equal(rig_info(rig, *large).offset, 8 * UNIT);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(blocks(), 2);
    close_pool();
}

static void dry_run_counts_what_makes_way(void** state)
{
    (void)state;
    const struct window window = open_window();
    MaarDefragmentationBeginInfo begin_info = run_info();
    begin_info.flags = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
    const MaarStatistics before = rig_statistics(rig, pool);
    const MaarDefragmentation run = begin(&begin_info);
    assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.blockCount, 1);
    assert_int_equal(info.moveCount, 2);
    assert_int_equal(info.moveBytes, 9 * UNIT);
    assert_int_equal(info.batchedCount, 0);
    maarEndDefragmentation(rig->allocator, run);
    const MaarStatistics after = rig_statistics(rig, pool);
    assert_memory_equal(&before, &after, sizeof before);
    assert_int_equal(draining(), 0);
    assert_int_equal(epoch(window.small) + epoch(window.large), 0);
    close_pool();
}

struct refusal {
    MaarAllocation refused;
    uint32_t count;
};

static VkBool32 VKAPI_PTR refuse(void* data, MaarAllocation allocation, void* own)
{
    struct refusal* refusal = data;
    (void)own;
    ++refusal->count;
    return allocation != refusal->refused ? VK_TRUE : VK_FALSE;
}

static void nothing_moves_in_vain(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        const struct window window = open_window();
        struct refusal refusal = {.refused = i == 0   ? window.small
                                             : i == 1 ? window.large
                                                      : VK_NULL_HANDLE};
        void* data = NULL;
        MaarDefragmentationBeginInfo begin_info = run_info();
        begin_info.pfnMayMove = refuse;
        begin_info.pUserData = &refusal;
        if (i == 2) {
            assert_int_equal(maarMapMemory(rig->allocator, window.large, &data), VK_SUCCESS);
        }
        const MaarDefragmentation run = begin(&begin_info);
        assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
        assert_int_equal(info_of(run).moveCount, 0);
        assert_int_equal(info_of(run).abandonedCount, 2); /* the first block has no plan */
        assert_int_equal(draining(), 0);
        assert_true(refusal.count <= 2); /* once for each */
        maarEndDefragmentation(rig->allocator, run);
        assert_int_equal(epoch(window.small) + epoch(window.large), 0);
        assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
        if (i == 2) {
            maarUnmapMemory(rig->allocator, window.large);
        }
        close_pool();
        rig_close(rig);
    }
    const struct window window = open_window();
    struct refusal refusal = {.refused = VK_NULL_HANDLE};
    MaarDefragmentationBeginInfo begin_info = run_info();
    begin_info.pfnMayMove = refuse;
    begin_info.pUserData = &refusal;
    const MaarDefragmentation run = begin(&begin_info);
    commit(step(run, VK_SUCCESS), 1);
    commit(step(run, VK_SUCCESS), 1);
    assert_int_equal(refusal.count, 2);
    assert_int_equal(epoch(window.small) + epoch(window.large), 2);
    maarEndDefragmentation(rig->allocator, run);
    close_pool();
}

static void window_that_stays_shut_gives_the_block_up(void** state)
{
    (void)state;
    const struct window window = open_window();
    const MaarDefragmentation run = begin(NULL);
    assert_int_equal(maarCancelMoves(rig->allocator, step(run, VK_SUCCESS), 0, NULL), VK_SUCCESS);
    assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo info = info_of(run);
    assert_int_equal(info.blockCount, 0);
    assert_int_equal(info.abandonedCount, 2); /* the first block has no plan */
    assert_int_equal(draining(), 0);
    assert_int_equal(epoch(window.large), 0);
    maarEndDefragmentation(rig->allocator, run);
    close_pool();
}

static void request_opens_closed_blocks(void** state)
{
    (void)state;
    const struct window window = open_window();
    const MaarDefragmentation run = begin(NULL);
    const MaarMoveBatch batch = step(run, VK_SUCCESS);
    assert_int_equal(draining(), 2);
    /* No open block has as much. The window is taken, as soon as it is open. */
    (void)allocate(4);
    assert_int_equal(draining(), 0);
    assert_int_equal(blocks(), 3);
    commit(batch, 1);
    assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
    assert_int_equal(info_of(run).blockCount, 0);
    assert_int_equal(info_of(run).abandonedCount, 2); /* the first block has no plan */
    assert_int_equal(epoch(window.large), 0);
    maarEndDefragmentation(rig->allocator, run);
    close_pool();
}

static void run_ends_while_a_window_opens(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; ++i) {
        const struct window window = open_window();
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = i > 0 ? step(run, VK_SUCCESS) : VK_NULL_HANDLE;
        if (i == 2) {
            assert_true(step(run, VK_NOT_READY) == VK_NULL_HANDLE);
        }
        maarEndDefragmentation(rig->allocator, run);
        assert_int_equal(draining(), 0);
        if (batch != VK_NULL_HANDLE) {
            commit(batch, 1);
        }
        assert_int_equal(epoch(window.large), 0);
        assert_int_equal(blocks(), 3);
        close_pool();
        rig_close(rig);
    }
}

static void what_makes_way_may_be_freed(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; ++i) {
        struct window window = open_window();
        const MaarDefragmentation run = begin(NULL);
        const MaarMoveBatch batch = step(run, VK_SUCCESS);
        if (i % 2 == 0) {
            release(&window.small);
        } else {
            release(&window.large); /* its block leaves */
        }
        if (i < 2) {
            commit(batch, i == 0 ? 0 : 1);
        } else {
            assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
        }
        MaarMoveBatch last = step(run, VK_SUCCESS);
        if (i % 2 == 0) {
            commit(last, 1);
            last = step(run, VK_SUCCESS);
        }
        assert_true(last == VK_NULL_HANDLE);
        maarEndDefragmentation(rig->allocator, run);
        assert_int_equal(draining(), 0);
        assert_int_equal(blocks(), 2);
        close_pool();
        rig_close(rig);
    }
}

/* ---- many ---- */

static void limit_of_blocks_is_reached_if_it_can_be(void** state)
{
    (void)state;
    /* Eight blocks with a small allocation each, and the first of them may not move. */
    for (uint32_t most = 1; most <= 6; ++most) {
        struct refusal refusal = {0};
        open_pool(NULL);
        MaarAllocation smalls[8];
        MaarAllocation gaps[8];
        for (uint32_t i = 0; i < 8; ++i) {
            smalls[i] = allocate(1 + i % 2);
            gaps[i] = allocate(IN_BLOCK - 1 - i % 2);
        }
        for (uint32_t i = 0; i < 8; ++i) {
            release(&gaps[i]);
        }
        refusal.refused = smalls[6];
        assert_int_equal(blocks(), 8);
        MaarDefragmentationBeginInfo begin_info = run_info();
        begin_info.maxBlockCount = most;
        begin_info.pfnMayMove = refuse;
        begin_info.pUserData = &refusal;
        const MaarDefragmentation run = begin(&begin_info);
        for (MaarMoveBatch batch = step(run, VK_SUCCESS); batch != VK_NULL_HANDLE;
             batch = step(run, VK_SUCCESS)) {
            commit(batch, 1);
        }
        assert_int_equal(info_of(run).blockCount, most);
        assert_int_equal(blocks(), 8 - most);
        assert_int_equal(draining(), 0);
        maarEndDefragmentation(rig->allocator, run);
        close_pool();
        rig_close(rig);
    }
}

/* Fills blocks with allocations of many sizes, and frees a share of them. */
static void fill_at_random(struct rig_random* random, uint32_t count, uint32_t freed_of_16)
{
    for (uint32_t i = 0; i < count; ++i) {
        MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
        const MaarMemoryRequest request = {
            .sType = MAAR_STRUCTURE_TYPE_MEMORY_REQUEST,
            .requirements =
                {
                    .size = 1 + rig_below(random, rig_below(random, 4) == 0 ? 8 * UNIT : UNIT),
                    .alignment = (VkDeviceSize)1 << rig_below(random, 10),
                    .memoryTypeBits = UINT32_MAX,
                },
            .kind = (MaarResourceKind)rig_below(random, 3),
        };
        how.pool = pool;
        assert_int_equal(
            maarAllocateMemory(rig->allocator, &request, &how, &memories[memory_count++]),
            VK_SUCCESS);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (rig_below(random, 16) < freed_of_16) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
}

/* Lets the points up to a value pass. */
static void pass(VkSemaphore timeline, uint64_t value)
{
    uint64_t now = 0;
    assert_int_equal(vkGetSemaphoreCounterValue(rig->device, timeline, &now), VK_SUCCESS);
    if (value > now) {
        rig_signal(rig, timeline, value);
    }
}

/* Carries a run out. Now and then it waits for a point. Returns the number of moves. */
static uint32_t carry_out(struct rig_random* random, MaarDefragmentation run, VkSemaphore timeline)
{
    const MaarDefragmentationStepInfo limits = {.sType =
                                                    MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
                                                .maxMoves = 1 + rig_below(random, 9)};
    uint64_t last = 0;
    uint32_t all = 0;
    for (;;) {
        MaarMoveBatch batch = VK_NULL_HANDLE;
        uint32_t moved = 0;
        const VkResult result = maarStepDefragmentation(rig->allocator, run, &limits, &batch);
        if (result == VK_SUCCESS && batch == VK_NULL_HANDLE) {
            break;
        }
        if (batch != VK_NULL_HANDLE) {
            const MaarPoint point = {timeline, ++last};
            assert_int_equal(result, VK_SUCCESS);
            assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &point, &moved), VK_SUCCESS);
            all += moved;
        } else {
            assert_int_equal(result, VK_NOT_READY);
        }
        if (batch == VK_NULL_HANDLE || rig_below(random, 4) == 0) {
            pass(timeline, last);
            assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        }
    }
    pass(timeline, last);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    return all;
}

static void random_blocks_are_emptied_as_a_dry_run_says(void** state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; ++seed) {
        struct rig_random random = {rig_seed(seed)};
        open_pool(seed % 3 == 0 ? rig_profile_noncoherent() : NULL);
        const VkSemaphore timeline = rig_create_timeline(rig, 0);
        fill_at_random(&random, 200 + rig_below(&random, 300), 4 + seed % 10);
        const uint32_t before = blocks();
        MaarDefragmentationBeginInfo begin_info = run_info();
        begin_info.maxBlockCount = seed % 5 == 0 ? 1 + rig_below(&random, before) : 0;
        begin_info.flags = MAAR_DEFRAGMENTATION_DRY_RUN_BIT;
        MaarDefragmentation run = begin(&begin_info);
        assert_true(step(run, VK_SUCCESS) == VK_NULL_HANDLE);
        const MaarDefragmentationInfo predicted = info_of(run);
        maarEndDefragmentation(rig->allocator, run);
        rig_check(rig);
        begin_info.flags = 0;
        run = begin(&begin_info);
        const uint32_t moved = carry_out(&random, run, timeline);
        const MaarDefragmentationInfo info = info_of(run);
        maarEndDefragmentation(rig->allocator, run);
        rig_check(rig);
        assert_int_equal(info.moveCount, moved);
        assert_int_equal(moved, predicted.moveCount);
        assert_int_equal(info.moveBytes, predicted.moveBytes);
        assert_int_equal(info.blockCount, predicted.blockCount);
        assert_int_equal(info.releasedCount, info.blockCount);
        assert_int_equal(blocks(), before - info.blockCount);
        assert_int_equal(draining(), 0);
        for (uint32_t i = 0; i < memory_count; ++i) {
            assert_true(memories[i] == VK_NULL_HANDLE || epoch(memories[i]) <= 1);
        }
        vkDestroySemaphore(rig->device, timeline, NULL);
        close_pool();
        rig_close(rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(small_allocation_makes_way_for_a_large_one),
        rig_unit_test(what_makes_way_does_not_go_where_it_lies),
        rig_unit_test(window_may_begin_within_what_makes_way),
        rig_unit_test(dry_run_counts_what_makes_way),
        rig_unit_test(nothing_moves_in_vain),
        rig_unit_test(window_that_stays_shut_gives_the_block_up),
        rig_unit_test(request_opens_closed_blocks),
        rig_unit_test(run_ends_while_a_window_opens),
        rig_unit_test(what_makes_way_may_be_freed),
        rig_unit_test(limit_of_blocks_is_reached_if_it_can_be),
        rig_unit_test(random_blocks_are_emptied_as_a_dry_run_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
