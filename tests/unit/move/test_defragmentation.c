/*
 * Runs that empty blocks: what they give back, what they move for it, and what stops them.
 */
#include "tests/rig/rig.h"

#include "core/memory/object_handle.h"
#include "core/memory/pool.h"

enum { BLOCKS = 24, IN_BLOCK = 16, COUNT = BLOCKS * IN_BLOCK, BYTES = 4096 };
#define BLOCK_SIZE ((VkDeviceSize)IN_BLOCK * BYTES)

static struct rig* rig;
static MaarPool pool;
static MaarAllocation memories[COUNT];
static uint32_t live_count;
static MaarPlacementStrategy strategy; /* of the pool */

static MaarAllocationCreateInfo in_pool(void)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    return how;
}

/* Blocks full of allocations, of which a share is freed at random. */
static void open_cheese(uint32_t seed, uint32_t freed_of_16)
{
    struct rig_random random = {rig_seed(seed)};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1,
                                     .blockSize = BLOCK_SIZE,
                                     .strategy = strategy,
                                     .retainedEmptySize = 1};
    rig = rig_begin(NULL);
    pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool();
    for (uint32_t i = 0; i < COUNT; ++i) {
        how.pUserData = &memories[i];
        memories[i] = rig_allocate(rig, BYTES, &how);
    }
    live_count = COUNT;
    for (uint32_t i = 0; i < COUNT; ++i) {
        /* The first of each block stays, so that no block leaves by itself. */
        if (i % IN_BLOCK != 0 && rig_below(&random, 16) < freed_of_16) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
            --live_count;
        }
    }
}

static void close_cheese(void)
{
    rig_check(rig);
    maarFreeMemories(rig->allocator, COUNT, memories);
    memset(memories, 0, sizeof memories);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 0);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarDestroyPool(rig->allocator, pool);
}

static MaarDefragmentation begin_with(const MaarDefragmentationBeginInfo* info)
{
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, info, &run), VK_SUCCESS);
    return run;
}

static MaarDefragmentation begin(MaarDefragmentationFlags flags)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO, .flags = flags, .pool = pool};
    return begin_with(&info);
}

static MaarDefragmentationInfo info_of(MaarDefragmentation run)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    return info;
}

static MaarMoveBatch step(MaarDefragmentation run, uint32_t moves, VkDeviceSize bytes)
{
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
        .maxMoves = moves,
        .maxBytes = bytes,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, &limits, &batch), VK_SUCCESS);
    return batch;
}

/* Carries a run out. Returns the number of moved allocations. */
static uint32_t finish(MaarDefragmentation run, uint32_t moves, VkDeviceSize bytes)
{
    uint32_t all = 0;
    for (MaarMoveBatch batch = step(run, moves, bytes); batch != VK_NULL_HANDLE;
         batch = step(run, moves, bytes)) {
        uint32_t count = 0;
        uint32_t moved = 0;
        assert_int_equal(maarGetMoves(rig->allocator, batch, &count, NULL), VK_SUCCESS);
        assert_true(count > 0);
        assert_true(moves == 0 || count <= moves);
        assert_true(bytes == 0 || count <= bytes / BYTES);
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
        assert_int_equal(moved, count);
        all += moved;
        rig_check(rig);
    }
    return all;
}

/* The fewest bytes that must move so that so many blocks become empty: those of the emptiest. */
static uint32_t fewest_moves(uint32_t blocks)
{
    uint32_t lives[BLOCKS] = {0};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < COUNT; ++i) {
        lives[i / IN_BLOCK] += memories[i] != VK_NULL_HANDLE ? 1 : 0;
    }
    for (uint32_t i = 0; i < blocks; ++i) {
        uint32_t least = 0;
        for (uint32_t j = 1; j < BLOCKS; ++j) {
            least = lives[j] < lives[least] ? j : least;
        }
        sum += lives[least];
        lives[least] = UINT32_MAX;
    }
    return sum;
}

static void run_gives_back_all_that_can_be_with_the_fewest_bytes(void** state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; ++seed) {
        open_cheese(seed, seed);
        const uint32_t least = (live_count + IN_BLOCK - 1) / IN_BLOCK;
        const uint32_t fewest = fewest_moves(BLOCKS - least);
        const MaarDefragmentation run = begin(0);
        const uint32_t moved = finish(run, 1 + seed % 7, seed % 3 == 0 ? 3 * BYTES : 0);
        const MaarDefragmentationInfo info = info_of(run);
        assert_int_equal(rig_statistics(rig, pool).blockCount, least);
        assert_int_equal(moved, fewest);
        assert_int_equal(info.blockCount, BLOCKS - least);
        assert_int_equal(info.blockBytes, (BLOCKS - least) * BLOCK_SIZE);
        assert_int_equal(info.moveCount, fewest);
        assert_int_equal(info.moveBytes, fewest * BYTES);
        assert_int_equal(info.batchedCount, fewest);
        assert_int_equal(info.batchedBytes, fewest * BYTES);
        assert_int_equal(info.abandonedCount, 0);
        assert_int_equal(info.releasedCount, BLOCKS - least);
        assert_int_equal(info.releasedBytes, (BLOCKS - least) * BLOCK_SIZE);
        maarEndDefragmentation(rig->allocator, run);
        for (uint32_t i = 0; i < COUNT; ++i) {
            assert_true(memories[i] == VK_NULL_HANDLE ||
                        rig_info(rig, memories[i]).locationEpoch <= 1);
        }
        assert_int_equal(rig_statistics(rig, pool).allocationCount, live_count);
        close_cheese();
        rig_expect_silence(rig);
        rig_close(rig);
    }
}

static void dry_run_predicts_the_run_and_changes_nothing(void** state)
{
    (void)state;
    open_cheese(5, 11);
    const MaarStatistics before = rig_statistics(rig, pool);
    MaarDefragmentation run = begin(MAAR_DEFRAGMENTATION_DRY_RUN_BIT);
    assert_true(step(run, 0, 0) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo predicted = info_of(run);
    assert_true(predicted.blockCount > BLOCKS / 4);
    maarEndDefragmentation(rig->allocator, run);
    const MaarStatistics after = rig_statistics(rig, pool);
    assert_memory_equal(&before, &after, sizeof before);
    rig_check(rig);
    run = begin(0);
    assert_int_equal(finish(run, 0, 0), predicted.moveCount);
    assert_int_equal(info_of(run).releasedCount, predicted.blockCount);
    maarEndDefragmentation(rig->allocator, run);
    close_cheese();
    rig_expect_silence(rig);
}

static VkBool32 VKAPI_PTR refuses(void* data, MaarAllocation allocation, void* own)
{
    (void)allocation;
    return own != data ? VK_TRUE : VK_FALSE;
}

static void block_with_an_allocation_that_stays_is_left_alone(void** state)
{
    (void)state;
    open_cheese(7, 13);
    void* data = NULL;
    uint32_t lives = 0;
    /* One block by a mapping, another one by the program's answer. */
    assert_int_equal(maarMapMemory(rig->allocator, memories[0], &data), VK_SUCCESS);
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = pool,
        .pfnMayMove = refuses,
        .pUserData = &memories[IN_BLOCK],
    };
    const MaarDefragmentation run = begin_with(&info);
    const uint32_t moved = finish(run, 4, 0);
    const MaarDefragmentationInfo after = info_of(run);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(after.moveCount, moved);
    for (uint32_t i = 0; i < 2 * IN_BLOCK; ++i) {
        if (memories[i] != VK_NULL_HANDLE) {
            assert_int_equal(rig_info(rig, memories[i]).locationEpoch, 0);
            ++lives;
        }
    }
    assert_true(lives >= 2);
    assert_true(after.releasedCount > BLOCKS / 2);
    maarUnmapMemory(rig->allocator, memories[0]);
    close_cheese();
}

static void request_revives_what_drains(void** state)
{
    (void)state;
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = BLOCK_SIZE, .maxBlockCount = 4};
    rig = rig_begin(NULL);
    pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = in_pool();
    uint32_t count = 4 * IN_BLOCK;
    for (uint32_t i = 0; i < count; ++i) {
        memories[i] = rig_allocate(rig, BYTES, &how);
    }
    /* Three blocks have three free ranges each, and one is nearly empty. */
    for (uint32_t i = 0; i < count; ++i) {
        const bool stays = i / IN_BLOCK == 3 ? i % IN_BLOCK < 4 : i % IN_BLOCK < IN_BLOCK - 3;
        if (!stays) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
    assert_int_equal(rig_statistics(rig, pool).blockCount, 4);
    const MaarDefragmentation run = begin(0);
    const MaarMoveBatch batch = step(run, 2, 0);
    assert_true(batch != VK_NULL_HANDLE);
    struct maar_pool* own = maar_pool_of(rig->allocator, pool);
    assert_int_equal(maar_atomic32_load(&own->draining_count), 1);
    /* The other blocks have nine ranges, of which four have been taken for the moves. */
    const uint32_t first = count;
    for (uint32_t i = 0; i < 5; ++i) {
        memories[count++] = rig_allocate(rig, BYTES, &how);
        assert_int_equal(maar_atomic32_load(&own->draining_count), 1);
    }
    /* The pool has no other room now, and may have no more blocks. */
    memories[count++] = rig_allocate(rig, BYTES, &how);
    assert_int_equal(maar_atomic32_load(&own->draining_count), 0);
    assert_true(count > first);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    assert_true(step(run, 0, 0) == VK_NULL_HANDLE);
    const MaarDefragmentationInfo after = info_of(run);
    assert_int_equal(after.abandonedCount, 1);
    assert_int_equal(after.releasedCount, 0);
    assert_int_equal(after.blockCount, 0);
    assert_int_equal(after.moveCount, 2); /* those that were handed out */
    assert_int_equal(after.moveBytes, 2 * BYTES);
    maarEndDefragmentation(rig->allocator, run);
    close_cheese();
    rig_expect_silence(rig);
}

static void run_ends_at_any_time(void** state)
{
    (void)state;
    for (uint32_t steps = 0; steps < 20; ++steps) {
        open_cheese(3, 10);
        const MaarDefragmentation run = begin(0);
        MaarMoveBatch batch = VK_NULL_HANDLE;
        for (uint32_t i = 0; i < steps; ++i) {
            batch = step(run, 3, 0);
            if (batch != VK_NULL_HANDLE) {
                assert_int_equal(i % 3 == 0 ? maarCancelMoves(rig->allocator, batch, 0, NULL)
                                            : maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                                 VK_SUCCESS);
            }
            maarFreeMemory(rig->allocator, memories[7 * i]);
            memories[7 * i] = VK_NULL_HANDLE;
        }
        batch = step(run, 3, 0);
        maarEndDefragmentation(rig->allocator, run);
        rig_check(rig);
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
        MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
        assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info),
                         VK_ERROR_VALIDATION_FAILED_EXT);
        rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "defragmentation");
        close_cheese();
        rig_close(rig);
    }
    open_cheese(3, 10);
    (void)begin(0);
    close_cheese();
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    maarEndDefragmentation(rig->allocator, VK_NULL_HANDLE);
}

static void steps_keep_to_their_time(void** state)
{
    (void)state;
    open_cheese(4, 12);
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxHostTime_ns = 1};
    const MaarDefragmentation run = begin(0);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t waits = 0;
    VkResult result = VK_NOT_READY;
    while (result == VK_NOT_READY) {
        result = maarStepDefragmentation(rig->allocator, run, &limits, &batch);
        waits += result == VK_NOT_READY ? 1 : 0;
        assert_true(waits < 1000);
    }
    assert_int_equal(result, VK_SUCCESS);
    assert_true(waits >= 2);
    assert_true(batch != VK_NULL_HANDLE);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    close_cheese();
}

/* Gives a run up, part by part. Returns how many steps were not enough. */
static uint32_t give_up(MaarDefragmentation run, bool is_dry)
{
    MaarDefragmentationStepInfo limits = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO,
                                          .maxHostTime_ns = 1,
                                          .givesUp = VK_TRUE};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t waits = 0;
    const MaarDefragmentationInfo before = info_of(run);
    while (maarStepDefragmentation(rig->allocator, run, &limits, &batch) == VK_NOT_READY) {
        ++waits;
        assert_true(batch == VK_NULL_HANDLE);
        rig_check(rig);
        limits.givesUp = VK_FALSE; /* once is enough */
    }
    assert_true(batch == VK_NULL_HANDLE);
    const MaarDefragmentationInfo after = info_of(run);
    assert_int_equal(after.moveCount, is_dry ? before.moveCount : after.batchedCount);
    assert_int_equal(after.moveBytes, is_dry ? before.moveBytes : after.batchedBytes);
    assert_int_equal(after.blockCount, is_dry ? before.blockCount : 0);
    return waits;
}

/* Does so many parts of a run's work, or until it has handed a move out, and gives the run up or
 * ends it at once. Sets *is_handed if a move was handed out. Returns how many steps were not enough
 * to give it up. */
static uint32_t stop_after(uint32_t parts, MaarDefragmentationFlags flags, bool gives_up,
                           bool* is_handed)
{
    const MaarDefragmentationStepInfo limits = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_STEP_INFO, .maxMoves = 1, .maxHostTime_ns = 1};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    open_cheese(3, 10);
    const struct maar_pool* own = maar_pool_of(rig->allocator, pool);
    const MaarDefragmentation run = begin(flags);
    for (uint32_t i = 0; i < parts && batch == VK_NULL_HANDLE; ++i) {
        assert_true(maarStepDefragmentation(rig->allocator, run, &limits, &batch) >= VK_SUCCESS);
    }
    *is_handed = batch != VK_NULL_HANDLE;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    uint32_t waits = 0;
    if (gives_up) {
        waits = give_up(run, (flags & MAAR_DEFRAGMENTATION_DRY_RUN_BIT) != 0);
    } else {
        maarEndDefragmentation(rig->allocator, run);
    }
    /* Nothing drains, and no twin is left. */
    assert_int_equal(maar_atomic32_load(&own->draining_count), 0);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, live_count);
    maarEndDefragmentation(rig->allocator, gives_up ? run : VK_NULL_HANDLE);
    close_cheese();
    rig_expect_silence(rig);
    rig_close(rig);
    return waits;
}

static void run_stops_after_any_part(void** state)
{
    static const MaarPlacementStrategy strategies[] = {MAAR_PLACEMENT_STRATEGY_TLSF,
                                                       MAAR_PLACEMENT_STRATEGY_BUDDY};
    (void)state;
    for (uint32_t i = 0; i < 4; ++i) {
        const bool gives_up = i / 2 != 0;
        uint32_t most = 0;
        uint32_t handed_count = 0;
        bool is_handed = false;
        strategy = strategies[i % 2];
        for (uint32_t parts = 0; handed_count < 3; ++parts) {
            assert_true(parts < 1000);
            const uint32_t waits = stop_after(parts, 0, gives_up, &is_handed);
            most = waits > most ? waits : most;
            handed_count += is_handed ? 1 : 0;
        }
        assert_true(most >= (gives_up ? 1 : 0)); /* moves, and then blocks */
        /* A dry run has the twins of all blocks. */
        const uint32_t waits =
            stop_after(1000, MAAR_DEFRAGMENTATION_DRY_RUN_BIT, gives_up, &is_handed);
        assert_true(waits >= (gives_up ? 5 : 0));
        assert_false(is_handed);
    }
    strategy = MAAR_PLACEMENT_STRATEGY_TLSF;
}

static void misuse_is_reported(void** state)
{
    (void)state;
    open_cheese(2, 8);
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarDefragmentationBeginInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
                                         .flags = 0x80};
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_UNKNOWN_FLAGS, "flags");
    const MaarPoolCreateInfo linear = {.strategy = MAAR_PLACEMENT_STRATEGY_LINEAR,
                                       .blockSize = BLOCK_SIZE};
    info.flags = 0;
    info.pool = rig_create_pool(rig, &linear);
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "linear");
    assert_true(run == VK_NULL_HANDLE);
    maarDestroyPool(rig->allocator, info.pool);
    close_cheese();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(run_gives_back_all_that_can_be_with_the_fewest_bytes),
        rig_unit_test(dry_run_predicts_the_run_and_changes_nothing),
        rig_unit_test(block_with_an_allocation_that_stays_is_left_alone),
        rig_unit_test(request_revives_what_drains),
        rig_unit_test(run_ends_at_any_time),
        rig_unit_test(steps_keep_to_their_time),
        rig_unit_test(run_stops_after_any_part),
        rig_unit_test(misuse_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
