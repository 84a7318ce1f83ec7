/*
 * Ordered reuse beside rooms and movable objects: bytes that a run keeps are given to no ordered
 * request, a run leaves allocations alone that inherit points, and the bytes of movable objects are
 * reused too.
 */
#include "tests/rig/rig.h"

enum { UNIT = 4096, UNITS = 16 };

static const MaarPoint POINT = {VK_NULL_HANDLE, 3}; /* of the host's timeline */

static struct rig* rig;
static MaarPool pool;

/* Two blocks of 16 units. */
static void open_blocks(void)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT, .count_host = true};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1,
                                     .singleKind = VK_TRUE,
                                     .blockSize = (VkDeviceSize)UNITS * UNIT,
                                     .minBlockCount = 2,
                                     .maxBlockCount = 2};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
}

/* Tries to allocate in the pool. With `ordered`, the allocation is first used after POINT. */
static VkResult try_units(uint32_t units, bool ordered, MaarAllocation* memory)
{
    const MaarOrderedUseInfo use = {
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .pointCount = 1,
        .pPoints = &POINT,
    };
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pNext = ordered ? &use : NULL;
    const MaarMemoryRequest request =
        rig_request((VkDeviceSize)units * UNIT, UNIT, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    return maarAllocateMemory(rig->allocator, &request, &how, memory);
}

static MaarAllocation allocate_units(uint32_t units, bool ordered)
{
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_units(units, ordered, &memory), VK_SUCCESS);
    return memory;
}

static void free_later(MaarAllocation memory)
{
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memory, 1, &POINT), VK_SUCCESS);
}

static void let_the_point_pass(void)
{
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, POINT.value), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
}

/* Begins a run for a room of a whole block. */
static MaarDefragmentation begin_run(MaarDefragmentationFlags flags)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .flags = flags,
        .pool = pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = (VkDeviceSize)UNITS * UNIT,
        .roomAlignment = UNIT,
        .roomKind = MAAR_RESOURCE_KIND_LINEAR,
    };
    return rig_begin_run(rig, &info);
}

static MaarMoveBatch next_batch(MaarDefragmentation run)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), VK_SUCCESS);
    return batch;
}

static void end_blocks(void)
{
    rig_check(rig);
    maarDestroyPool(rig->allocator, pool);
    rig_expect_silence(rig);
}

/* Fills both blocks, and frees what is in that of the first allocation: its halves after POINT if
 * `later`, else at once. Returns the allocation that fills the other one. */
static MaarAllocation free_one_block(bool later)
{
    const MaarAllocation low = allocate_units(UNITS / 2, false);
    const MaarAllocation high = allocate_units(UNITS / 2, false);
    assert_true(rig_info(rig, low).memory == rig_info(rig, high).memory);
    const MaarAllocation other = allocate_units(UNITS, false);
    if (later) {
        free_later(low);
        free_later(high);
    } else {
        maarFreeMemory(rig->allocator, low);
        maarFreeMemory(rig->allocator, high);
    }
    return other;
}

static void kept_bytes_are_given_to_no_ordered_request(void** state)
{
    (void)state;
    open_blocks();
    maarFreeMemory(rig->allocator, allocate_units(1, true)); /* turns ordered reuse on */
    const MaarAllocation other = free_one_block(true);
    const MaarDefragmentation run = begin_run(0);
    assert_true(next_batch(run) == VK_NULL_HANDLE);
    MaarAllocation room = VK_NULL_HANDLE;
    assert_int_equal(maarTakeDefragmentationRoom(rig->allocator, run, NULL, &room), VK_NOT_READY);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_units(UNITS / 2, true, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
    assert_int_equal(try_units(1, true, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_check(rig);
    let_the_point_pass();
    assert_int_equal(maarTakeDefragmentationRoom(rig->allocator, run, NULL, &room), VK_SUCCESS);
    assert_true(rig_info(rig, room).memory != rig_info(rig, other).memory);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, room);
    maarFreeMemory(rig->allocator, other);
    rig_forget_messages(rig);
    end_blocks();
}

/* ---- a run that keeps bytes while they are being freed ---- */

static uint32_t calls_until_run; /* allocations of host memory until the run looks at the pool */
static MaarDefragmentation early_run;

static void look_at_the_pool(struct rig_host* host)
{
    if (--calls_until_run == 0) {
        host->before = NULL;
        (void)next_batch(early_run);
    }
}

static void bytes_kept_during_their_free_are_not_offered(void** state)
{
    (void)state;
    /* One of the calls comes between the moment when the bytes are pending, and that when they are
     * offered. */
    for (uint32_t calls = 1; calls <= 3; ++calls) {
        open_blocks();
        maarFreeMemory(rig->allocator, allocate_units(1, true));
        const MaarAllocation whole = allocate_units(UNITS, false);
        const MaarAllocation other = allocate_units(UNITS, false);
        early_run = begin_run(0);
        calls_until_run = calls;
        rig->host.before = look_at_the_pool;
        free_later(whole);
        rig->host.before = NULL;
        (void)next_batch(early_run);
        MaarAllocation room = VK_NULL_HANDLE;
        const VkResult result = maarTakeDefragmentationRoom(rig->allocator, early_run, NULL, &room);
        MaarAllocation memory = VK_NULL_HANDLE;
        if (result == VK_NOT_READY) {
            assert_int_equal(try_units(UNITS, true, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
        }
        rig_check(rig);
        let_the_point_pass();
        maarEndDefragmentation(rig->allocator, early_run);
        maarFreeMemory(rig->allocator, other);
        rig_forget_messages(rig);
        end_blocks();
    }
}

/* What is freed while a run keeps its bytes is offered to nobody either. */
static void rest_of_a_kept_range_is_not_offered(void** state)
{
    (void)state;
    open_blocks();
    maarFreeMemory(rig->allocator, allocate_units(1, true));
    const MaarAllocation other = free_one_block(true);
    const MaarAllocation part = allocate_units(3, true); /* divides a pending range */
    const MaarDefragmentation run = begin_run(0);
    MaarAllocation room = VK_NULL_HANDLE;
    (void)next_batch(run);
    assert_int_equal(maarTakeDefragmentationRoom(rig->allocator, run, NULL, &room),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, part);
    const MaarDefragmentation again = begin_run(0);
    assert_true(next_batch(again) == VK_NULL_HANDLE);
    assert_int_equal(maarTakeDefragmentationRoom(rig->allocator, again, NULL, &room), VK_NOT_READY);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(try_units(1, true, &memory), VK_ERROR_OUT_OF_POOL_MEMORY);
    maarEndDefragmentation(rig->allocator, again);
    rig_check(rig);
    let_the_point_pass();
    maarFreeMemory(rig->allocator, other);
    rig_forget_messages(rig);
    end_blocks();
}

static void what_inherits_points_stays_where_it_is(void** state)
{
    (void)state;
    open_blocks();
    maarFreeMemory(rig->allocator, allocate_units(1, true));
    const MaarAllocation other = free_one_block(true);
    const MaarAllocation heir = allocate_units(1, true);
    assert_true(rig_info(rig, heir).memory != rig_info(rig, other).memory);
    maarFreeMemory(rig->allocator, other);
    const MaarAllocation two = allocate_units(2, false);
    assert_true(rig_info(rig, heir).memory != rig_info(rig, two).memory);
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    assert_int_equal(maarGetMoveObstacle(rig->allocator, heir, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_PENDING);
    /* Two units in the other block would have to move, and there is no place for them, since all
     * else in the heir's block is pending. */
    MaarDefragmentation run = begin_run(0);
    assert_true(next_batch(run) == VK_NULL_HANDLE);
    maarEndDefragmentation(rig->allocator, run);
    /* Nor does a dry run find any. */
    run = begin_run(MAAR_DEFRAGMENTATION_DRY_RUN_BIT);
    assert_true(next_batch(run) == VK_NULL_HANDLE);
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &info), VK_SUCCESS);
    assert_int_equal(info.moveBytes, 0);
    assert_true(info.room != MAAR_DEFRAGMENTATION_ROOM_FOUND);
    maarEndDefragmentation(rig->allocator, run);
    /* The cheapest move is that of the heir, which has no point any more. */
    let_the_point_pass();
    run = begin_run(0);
    const MaarMoveBatch batch = next_batch(run);
    assert_true(batch != VK_NULL_HANDLE);
    uint32_t count = 1;
    MaarMove move = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, &move), VK_SUCCESS);
    assert_true(move.allocation == heir);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, heir);
    maarFreeMemory(rig->allocator, two);
    end_blocks();
}

static void bytes_of_a_movable_object_are_reused(void** state)
{
    (void)state;
    open_blocks();
    maarFreeMemory(rig->allocator, allocate_units(1, true));
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pNext = &movable;
    const VkBufferCreateInfo info = rig_buffer_info(UNITS * UNIT);
    VkBuffer buffers[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocation memories[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[i], &memories[i]),
                         VK_SUCCESS);
    }
    const VkDeviceMemory block = rig_info(rig, memories[0]).memory;
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffers[0], memories[0], 1, &POINT),
                     VK_SUCCESS);
    const MaarAllocation heir = allocate_units(UNITS, true);
    assert_true(rig_info(rig, heir).memory == block);
    /* The new owner is no movable object. */
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    assert_int_equal(maarGetMoveObstacle(rig->allocator, heir, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_PENDING);
    let_the_point_pass();
    assert_int_equal(maarGetMoveObstacle(rig->allocator, heir, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, MAAR_MOVE_OBSTACLE_NONE);
    maarFreeMemory(rig->allocator, heir);
    maarDestroyBuffer(rig->allocator, buffers[1], memories[1]);
    end_blocks();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(kept_bytes_are_given_to_no_ordered_request),
        rig_unit_test(bytes_kept_during_their_free_are_not_offered),
        rig_unit_test(rest_of_a_kept_range_is_not_offered),
        rig_unit_test(what_inherits_points_stays_where_it_is),
        rig_unit_test(bytes_of_a_movable_object_are_reused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
