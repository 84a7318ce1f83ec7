/*
 * Moves of allocations: the handle stays, and the bytes get another place. Other threads may free,
 * map and ask meanwhile.
 */
#include "tests/rig/rig.h"

#include "core/memory/slot_table.h"

enum { COUNT = 8, BYTES = 4096 };

static struct rig* rig;
static MaarAllocation memories[COUNT];
static MaarPool pool;

static MaarPool make_pool(void)
{
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = 64 * KIB};
    return rig_create_pool(rig, &info);
}

/* A pool with blocks of host memory, in which a few allocations live. */
static void open_scene(const struct rig_setup* setup)
{
    rig = rig_begin(setup);
    pool = make_pool();
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < COUNT; ++i) {
        how.pUserData = &memories[i];
        memories[i] = rig_allocate(rig, BYTES, &how);
    }
}

static void close_scene(void)
{
    rig_check(rig);
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarFreeMemory(rig->allocator, memories[i]);
        memories[i] = VK_NULL_HANDLE;
    }
    const MaarStatistics left = rig_statistics(rig, pool);
    assert_int_equal(left.allocationCount, 0);
    assert_int_equal(left.pendingCount, 0);
}

static VkResult try_begin(uint32_t count, const MaarAllocation* which,
                          const MaarAllocationCreateInfo* how, MaarMoveBatch* batch)
{
    MaarMoveRequest requests[COUNT];
    for (uint32_t i = 0; i < count; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = which[i]};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = how,
    };
    return maarBeginMoves(rig->allocator, &info, batch);
}

static MaarMoveBatch begin(uint32_t count, const MaarAllocation* which)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(try_begin(count, which, NULL, &batch), VK_SUCCESS);
    assert_true(batch != VK_NULL_HANDLE);
    return batch;
}

static uint32_t commit(MaarMoveBatch batch, uint32_t point_count, const MaarPoint* points)
{
    uint32_t moved = 77;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, point_count, points, &moved),
                     VK_SUCCESS);
    return moved;
}

static MaarMove move_of(MaarMoveBatch batch, uint32_t at)
{
    MaarMove moves[COUNT];
    uint32_t count = COUNT;
    for (uint32_t i = 0; i < COUNT; ++i) {
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, moves), VK_SUCCESS);
    assert_true(at < count);
    return moves[at];
}

static MaarMoveObstacle obstacle_of(MaarAllocation memory)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_MAX_ENUM;
    assert_int_equal(maarGetMoveObstacle(rig->allocator, memory, &obstacle), VK_SUCCESS);
    return obstacle;
}

static bool is_same_place(const MaarAllocationInfo* one, const MaarAllocationInfo* other)
{
    return one->memory == other->memory && one->offset == other->offset &&
           one->blockId == other->blockId;
}

static void commit_gives_all_allocations_their_new_places(void** state)
{
    (void)state;
    MaarAllocationInfo old[COUNT];
    open_scene(NULL);
    const uint64_t made = rig_statistics(rig, VK_NULL_HANDLE).allocationsMade;
    for (uint32_t i = 0; i < COUNT; ++i) {
        old[i] = rig_info(rig, memories[i]);
        assert_int_equal(obstacle_of(memories[i]), MAAR_MOVE_OBSTACLE_NONE);
    }
    for (uint32_t round = 1; round <= 3; ++round) {
        const MaarMoveBatch batch = begin(COUNT, memories);
        const MaarStatistics during = rig_statistics(rig, pool);
        assert_int_equal(during.allocationCount, COUNT);
        assert_int_equal(during.allocationBytes, COUNT * BYTES);
        assert_int_equal(during.pendingCount, COUNT);
        assert_int_equal(during.pendingBytes, COUNT * BYTES);
        MaarMove moves[COUNT];
        for (uint32_t i = 0; i < COUNT; ++i) {
            moves[i] = move_of(batch, i);
            const MaarAllocationInfo info = rig_info(rig, memories[i]);
            assert_int_equal(info.locationEpoch, round - 1);
            assert_true(moves[i].allocation == memories[i]);
            assert_int_equal(moves[i].obstacle, MAAR_MOVE_OBSTACLE_NONE);
            assert_ptr_equal(moves[i].pUserData, &memories[i]);
            assert_int_equal(moves[i].size, BYTES);
            assert_true(moves[i].sourceMemory == info.memory);
            assert_int_equal(moves[i].sourceOffset, info.offset);
            assert_int_equal(moves[i].targetMemoryTypeIndex, 1);
            assert_int_equal(obstacle_of(memories[i]), MAAR_MOVE_OBSTACLE_MOVING);
        }
        assert_int_equal(commit(batch, 0, NULL), COUNT);
        for (uint32_t i = 0; i < COUNT; ++i) {
            const MaarAllocationInfo info = rig_info(rig, memories[i]);
            assert_true(info.memory == moves[i].targetMemory);
            assert_int_equal(info.offset, moves[i].targetOffset);
            assert_int_equal(info.locationEpoch, round);
            assert_ptr_equal(info.pUserData, &memories[i]);
            assert_true(round != 1 || !is_same_place(&info, &old[i]));
        }
        const MaarStatistics after = rig_statistics(rig, pool);
        assert_int_equal(after.allocationCount, COUNT);
        assert_int_equal(after.allocationBytes, COUNT * BYTES);
        assert_int_equal(after.pendingCount, 0);
        rig_check(rig);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationsMade, made);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

/* Nobody takes the bytes of an old place for those of the allocation. */
static void old_places_belong_to_no_allocation(void** state)
{
    (void)state;
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    open_scene(NULL);
    const MaarMoveBatch batch = begin(COUNT, memories);
    assert_int_equal(commit(batch, 1, &point), COUNT);
    assert_int_equal(rig_details(rig, pool).allocationSizeMax, BYTES);
    for (uint32_t i = 0; i < COUNT; ++i) {
        maarFreeMemory(rig->allocator, memories[i]);
        memories[i] = VK_NULL_HANDLE;
    }
    assert_int_equal(rig_statistics(rig, pool).pendingCount, COUNT);
    assert_int_equal(rig_details(rig, pool).allocationSizeMax, 0);
    rig_check(rig);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

static void old_places_are_pending_until_the_points_pass(void** state)
{
    (void)state;
    const MaarPoint point = {VK_NULL_HANDLE, 5};
    open_scene(NULL);
    MaarMoveBatch batch = begin(COUNT, memories);
    assert_int_equal(commit(batch, 1, &point), COUNT);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, COUNT);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 5), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    /* The new places of a batch that is canceled are pending, too. */
    const MaarPoint later = {VK_NULL_HANDLE, 6};
    batch = begin(COUNT, memories);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 1, &later), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, COUNT);
    assert_int_equal(rig_info(rig, memories[0]).locationEpoch, 1);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 6), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

static void dropped_moves_leave_their_allocations(void** state)
{
    (void)state;
    open_scene(NULL);
    const MaarMoveBatch batch = begin(COUNT - 1, memories);
    const MaarAllocation stranger[2] = {memories[0], memories[COUNT - 1]};
    assert_int_equal(maarDropMoves(rig->allocator, batch, 2, stranger),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pAllocations");
    assert_int_equal(move_of(batch, 0).obstacle, MAAR_MOVE_OBSTACLE_NONE);
    assert_int_equal(maarDropMoves(rig->allocator, batch, 3, memories), VK_SUCCESS);
    assert_int_equal(move_of(batch, 2).obstacle, MAAR_MOVE_OBSTACLE_DROPPED);
    assert_int_equal(commit(batch, 0, NULL), COUNT - 4);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(rig_info(rig, memories[i]).locationEpoch, i >= 3 && i < COUNT - 1 ? 1 : 0);
    }
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

/* with_points: of the free and of the batch. */
static void free_during_a_move(bool with_points, bool commits, bool frees_first)
{
    const MaarPoint points[2] = {{VK_NULL_HANDLE, frees_first ? 1 : 2},
                                 {VK_NULL_HANDLE, frees_first ? 2 : 1}};
    open_scene(NULL);
    const MaarMoveBatch batch = begin(2, memories);
    const MaarAllocation gone = memories[0];
    if (with_points) {
        assert_int_equal(maarFreeMemoryAfter(rig->allocator, gone, 1, &points[0]), VK_SUCCESS);
    } else {
        maarFreeMemory(rig->allocator, gone);
    }
    memories[0] = VK_NULL_HANDLE;
    rig_expect_silence(rig);
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    assert_int_equal(maarGetAllocationInfo(rig->allocator, gone, &info),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    maarFreeMemory(rig->allocator, gone);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(move_of(batch, 0).obstacle, MAAR_MOVE_OBSTACLE_FREED);
    assert_null(move_of(batch, 0).pUserData);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, COUNT - 1);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 3);
    if (frees_first) {
        assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    }
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 3);
    rig_check(rig);
    const uint32_t count = with_points ? 1 : 0;
    if (commits) {
        assert_int_equal(commit(batch, count, &points[1]), 1);
    } else {
        assert_int_equal(maarCancelMoves(rig->allocator, batch, count, &points[1]), VK_SUCCESS);
    }
    assert_int_equal(rig_statistics(rig, pool).pendingCount, with_points ? 3 : 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    /* The batch's own points have passed, and perhaps not those of the free. */
    const uint32_t left = frees_first ? 3 : 1;
    assert_int_equal(rig_statistics(rig, pool).pendingCount, with_points ? left : 0);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 2), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
    rig_forget_messages(rig);
    rig_close(rig);
}

static void free_during_a_move_waits_for_both(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; ++i) {
        free_during_a_move((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
    }
}

static void what_is_mapped_stays(void** state)
{
    (void)state;
    void* data = NULL;
    open_scene(NULL);
    assert_int_equal(maarMapMemory(rig->allocator, memories[0], &data), VK_SUCCESS);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(obstacle_of(memories[0]), MAAR_MOVE_OBSTACLE_MAPPED);
    assert_int_equal(try_begin(2, memories, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "mapped");
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    maarUnmapMemory(rig->allocator, memories[0]);
    batch = begin(2, memories);
    assert_int_equal(maarMapMemory(rig->allocator, memories[0], &data), VK_SUCCESS);
    memset(data, 7, BYTES);
    assert_int_equal(move_of(batch, 0).obstacle, MAAR_MOVE_OBSTACLE_MAPPED);
    assert_int_equal(commit(batch, 0, NULL), 1);
    assert_int_equal(rig_info(rig, memories[0]).locationEpoch, 0);
    assert_int_equal(rig_info(rig, memories[1]).locationEpoch, 1);
    maarUnmapMemory(rig->allocator, memories[0]);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

static void what_cannot_move_says_why(void** state)
{
    (void)state;
    open_scene(NULL);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    const MaarAllocation twice[2] = {memories[0], memories[0]};
    assert_int_equal(try_begin(2, twice, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "moves");
    assert_true(batch == VK_NULL_HANDLE);
    assert_int_equal(obstacle_of(memories[0]), MAAR_MOVE_OBSTACLE_NONE);
    const MaarSliceCreateInfo slice_info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 256,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
    };
    MaarSlice slice = VK_NULL_HANDLE;
    MaarSliceInfo info = {.sType = MAAR_STRUCTURE_TYPE_SLICE_INFO};
    assert_int_equal(maarCreateSlice(rig->allocator, &slice_info, &slice), VK_SUCCESS);
    assert_int_equal(maarGetSliceInfo(rig->allocator, slice, &info), VK_SUCCESS);
    assert_int_equal(obstacle_of(info.allocation), MAAR_MOVE_OBSTACLE_OWNED);
    assert_int_equal(try_begin(1, &info.allocation, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "owns");
    maarDestroySlice(rig->allocator, slice);
    MaarAllocationCreateInfo mapped = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    mapped.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(try_begin(1, memories, &mapped, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "pCreateInfo");
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

static void misuse_is_reported(void** state)
{
    (void)state;
    open_scene(NULL);
    MaarMoveBatch batch = begin(1, memories);
    assert_int_equal(commit(batch, 0, NULL), 1);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "batch");
    assert_int_equal(maarCancelMoves(rig->allocator, VK_NULL_HANDLE, 0, NULL), VK_SUCCESS);
    const MaarAllocation gone = memories[1];
    maarFreeMemory(rig->allocator, gone);
    memories[1] = VK_NULL_HANDLE;
    assert_int_equal(try_begin(1, &gone, NULL, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(try_begin(0, NULL, NULL, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ZERO_SIZE, "pBeginInfo");
    assert_int_equal(maarBeginMoves(rig->allocator, NULL, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBeginInfo");
    /* A forged handle with the bit of a move names nothing. */
    batch = begin(1, memories);
    const uint64_t forged = (uint64_t)(uintptr_t)memories[0] | (uint64_t)MAAR_SLOT_MOVING << 32;
    maarFreeMemory(rig->allocator, (MaarAllocation)(uintptr_t)forged);
    rig_expect_message(rig, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(commit(batch, 0, NULL), 1);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
    rig_forget_messages(rig);
}

static void batch_ends_with_its_pool(void** state)
{
    (void)state;
    open_scene(NULL);
    const MaarMoveBatch batch = begin(2, memories);
    maarFreeMemory(rig->allocator, memories[0]);
    for (uint32_t i = 1; i < COUNT; ++i) {
        maarFreeMemory(rig->allocator, memories[i]);
    }
    maarDestroyPool(rig->allocator, pool);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_STALE_HANDLE, "batch");
    /* And with its allocator. */
    open_scene(NULL);
    (void)begin(2, memories);
    maarFreeMemories(rig->allocator, COUNT, memories);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 4);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
}

/* Every host allocation fails in turn, and nothing has changed then. */
static void failures_change_nothing(void** state)
{
    (void)state;
    const struct rig_setup setup = {.count_host = true};
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    open_scene(&setup);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkResult result = VK_ERROR_OUT_OF_HOST_MEMORY;
    uint64_t value = 0;
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        assert_true(nth < 100);
        atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + nth);
        result = try_begin(COUNT, memories, NULL, &batch);
        atomic_store(&rig->host.fail_at, 0);
        assert_int_equal(result == VK_SUCCESS, batch != VK_NULL_HANDLE);
        if (result != VK_SUCCESS) {
            assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
            assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
            assert_int_equal(obstacle_of(memories[0]), MAAR_MOVE_OBSTACLE_NONE);
        }
        rig_check(rig);
    }
    result = VK_ERROR_OUT_OF_HOST_MEMORY;
    for (uint64_t nth = 1; result != VK_SUCCESS; ++nth) {
        assert_true(nth < 100);
        uint32_t moved = 0;
        atomic_store(&rig->host.fail_at, atomic_load(&rig->host.calls) + nth);
        result = maarCommitMoves(rig->allocator, batch, 1, &point, &moved);
        atomic_store(&rig->host.fail_at, 0);
        assert_int_equal(moved, result == VK_SUCCESS ? COUNT : 0);
        if (result != VK_SUCCESS) {
            assert_int_equal(move_of(batch, 0).obstacle, MAAR_MOVE_OBSTACLE_NONE);
            assert_int_equal(rig_info(rig, memories[0]).locationEpoch, 0);
        }
        rig_check(rig);
        value = nth;
    }
    assert_true(value > COUNT);
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, 1), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    close_scene();
    maarDestroyPool(rig->allocator, pool);
}

/* From pools of one memory type to another, and to memory of their own. */
static void allocations_move_to_other_memory(void** state)
{
    (void)state;
    open_scene(NULL);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(try_begin(COUNT, memories, &how, &batch), VK_SUCCESS);
    assert_int_equal(commit(batch, 0, NULL), COUNT);
    assert_int_equal(rig_info(rig, memories[0]).memoryTypeIndex, 0);
    assert_true(rig_info(rig, memories[0]).pool == VK_NULL_HANDLE);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 0);
    maarDestroyPool(rig->allocator, pool);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(try_begin(1, memories, &how, &batch), VK_SUCCESS);
    assert_int_equal(commit(batch, 0, NULL), 1);
    assert_int_equal(rig_info(rig, memories[0]).dedicated, VK_TRUE);
    assert_int_equal(rig_info(rig, memories[0]).offset, 0);
    how.dedicated = MAAR_DEDICATED_NEVER;
    assert_int_equal(try_begin(1, memories, &how, &batch), VK_SUCCESS);
    assert_int_equal(commit(batch, 0, NULL), 1);
    assert_int_equal(rig_info(rig, memories[0]).dedicated, VK_FALSE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).dedicatedCount, 0);
    pool = VK_NULL_HANDLE;
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(commit_gives_all_allocations_their_new_places),
        rig_unit_test(old_places_belong_to_no_allocation),
        rig_unit_test(old_places_are_pending_until_the_points_pass),
        rig_unit_test(dropped_moves_leave_their_allocations),
        rig_unit_test(free_during_a_move_waits_for_both),
        rig_unit_test(what_is_mapped_stays),
        rig_unit_test(what_cannot_move_says_why),
        rig_unit_test(misuse_is_reported),
        rig_unit_test(batch_ends_with_its_pool),
        rig_unit_test(failures_change_nothing),
        rig_unit_test(allocations_move_to_other_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
