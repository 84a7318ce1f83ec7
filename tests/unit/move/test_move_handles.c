/*
 * Handles that the calls on moves take: each call refuses a null handle, a stale one, one of
 * another allocator and a forged one, names the argument, and changes nothing.
 */
#include "core/handle.h"
#include "tests/rig/rig.h"

enum { BYTES = 4096 };

static const VkResult refused = VK_ERROR_VALIDATION_FAILED_EXT;

static struct rig* rig;
static MaarAllocator foreigner; /* another allocator of the same device */
static MaarAllocation moving;   /* in the batch */
static MaarMoveBatch live;
static VkBuffer loose_buffer;
static VkImage loose_image;
static VkCommandBuffer commands;
static VkCommandPool command_pool;

/* A call that takes a handle, with otherwise valid arguments. */
struct handle_use {
    const char* argument;
    VkResult (*call)(MaarAllocator allocator, uint64_t handle);
    bool accepts_null;
};

/* ---- calls that take a batch ---- */

#define USE_BATCH(name, expression)                                                                \
    static VkResult name(MaarAllocator allocator, uint64_t bits)                                   \
    {                                                                                              \
        const MaarMoveBatch handle = MAAR_FROM_BITS(MaarMoveBatch, bits);                          \
        return expression;                                                                         \
    }

static const MaarMoveSubmitInfo submit_info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};

USE_BATCH(end_by_commit, maarCommitMoves(allocator, handle, 0, NULL, NULL))
USE_BATCH(end_by_cancel, maarCancelMoves(allocator, handle, 0, NULL))
USE_BATCH(list_moves, maarGetMoves(allocator, handle, &(uint32_t){0}, NULL))
USE_BATCH(list_page_moves, maarGetPageMoves(allocator, handle, &(uint32_t){0}, NULL))
USE_BATCH(drop_moves, maarDropMoves(allocator, handle, 1, &moving))
USE_BATCH(bind_buffer, maarBindMovedBuffer(allocator, handle, moving, 0, loose_buffer, NULL))
USE_BATCH(bind_image, maarBindMovedImage(allocator, handle, moving, 0, loose_image, NULL))
USE_BATCH(map_moved, maarMapMovedMemory(allocator, handle, moving, &(void*){NULL}))
USE_BATCH(unmap_moved, (maarUnmapMovedMemory(allocator, handle, moving), refused))
USE_BATCH(flush_moved, maarFlushMovedMemory(allocator, handle, moving, 0, BYTES))
USE_BATCH(invalidate_moved, maarInvalidateMovedMemory(allocator, handle, moving, 0, BYTES))
USE_BATCH(record_moves, maarRecordMoves(allocator, handle, commands))
USE_BATCH(submit_moves, maarSubmitMoves(allocator, handle, &submit_info, NULL))
USE_BATCH(create_objects, maarCreateMovedObjects(allocator, handle))
USE_BATCH(list_swaps, maarGetObjectSwaps(allocator, handle, &(uint32_t){0}, NULL))
USE_BATCH(set_layouts, maarSetMovedImageLayouts(allocator, handle, 1,
                                                &(MaarMovedImageLayout){.allocation = moving}))

static const struct handle_use batch_uses[] = {
    {"batch", end_by_commit, true},
    {"batch", end_by_cancel, true},
    {"batch", list_moves, false},
    {"batch", list_page_moves, false},
    {"batch", drop_moves, false},
    {"batch", bind_buffer, false},
    {"batch", bind_image, false},
    {"batch", map_moved, false},
    {"batch", unmap_moved, false},
    {"batch", flush_moved, false},
    {"batch", invalidate_moved, false},
    {"batch", record_moves, false},
    {"batch", submit_moves, false},
    {"batch", create_objects, false},
    {"batch", list_swaps, false},
    {"batch", set_layouts, false},
    {.call = NULL},
};

/* ---- calls that take an allocation ---- */

static VkResult begin_with(MaarAllocator allocator, uint64_t handle, MaarMoveBatch* batch)
{
    const MaarMoveRequest request = {.allocation = MAAR_FROM_BITS(MaarAllocation, handle)};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = 1,
        .pRequests = &request,
    };
    return maarBeginMoves(allocator, &info, batch);
}

static VkResult begin_moves(MaarAllocator allocator, uint64_t handle)
{
    MaarMoveBatch batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = begin_with(allocator, handle, &batch);
    assert_true((result == VK_SUCCESS) == (batch != VK_NULL_HANDLE));
    return result;
}

static VkResult ask(MaarAllocator allocator, uint64_t handle)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_NONE;
    return maarGetMoveObstacle(allocator, MAAR_FROM_BITS(MaarAllocation, handle), &obstacle);
}

static VkResult read_object(MaarAllocator allocator, uint64_t handle)
{
    VkBuffer buffer = (VkBuffer)(uintptr_t)1;
    VkImage image = (VkImage)(uintptr_t)1;
    const VkResult result =
        maarGetMovableObject(allocator, MAAR_FROM_BITS(MaarAllocation, handle), &buffer, &image);
    assert_true(buffer == VK_NULL_HANDLE && image == VK_NULL_HANDLE);
    return result;
}

static const struct handle_use allocation_uses[] = {
    {"allocation", read_object, false},
    {"allocation", begin_moves, false},
    {"allocation", ask, false},
    {.call = NULL},
};

/* These find no such allocation in the batch, whatever the handle is. */
static VkResult drop(MaarAllocator allocator, uint64_t handle)
{
    const MaarAllocation memory = MAAR_FROM_BITS(MaarAllocation, handle);
    return maarDropMoves(allocator, live, 1, &memory);
}

static VkResult bind_buffer_of(MaarAllocator allocator, uint64_t handle)
{
    return maarBindMovedBuffer(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle), 0,
                               loose_buffer, NULL);
}

static VkResult bind_image_of(MaarAllocator allocator, uint64_t handle)
{
    return maarBindMovedImage(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle), 0,
                              loose_image, NULL);
}

static VkResult map_of(MaarAllocator allocator, uint64_t handle)
{
    void* data = NULL;
    return maarMapMovedMemory(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle), &data);
}

static VkResult unmap_of(MaarAllocator allocator, uint64_t handle)
{
    maarUnmapMovedMemory(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle));
    return refused;
}

static VkResult flush_of(MaarAllocator allocator, uint64_t handle)
{
    return maarFlushMovedMemory(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle), 0, BYTES);
}

static VkResult invalidate_of(MaarAllocator allocator, uint64_t handle)
{
    return maarInvalidateMovedMemory(allocator, live, MAAR_FROM_BITS(MaarAllocation, handle), 0,
                                     BYTES);
}

static VkResult set_layout_of(MaarAllocator allocator, uint64_t handle)
{
    const MaarMovedImageLayout layout = {MAAR_FROM_BITS(MaarAllocation, handle),
                                         VK_IMAGE_LAYOUT_GENERAL};
    return maarSetMovedImageLayouts(allocator, live, 1, &layout);
}

static const struct handle_use member_uses[] = {
    {"pLayouts", set_layout_of, false},
    {"pAllocations", drop, false},
    {"allocation", bind_buffer_of, false},
    {"allocation", bind_image_of, false},
    {"allocation", map_of, false},
    {"allocation", unmap_of, false},
    {"allocation", flush_of, false},
    {"allocation", invalidate_of, false},
    {.call = NULL},
};

/* ---- calls that take a run of defragmentation, or a pool for one ---- */

static VkResult step_run(MaarAllocator allocator, uint64_t bits)
{
    MaarMoveBatch batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result =
        maarStepDefragmentation(allocator, MAAR_FROM_BITS(MaarDefragmentation, bits), NULL, &batch);
    assert_true(batch == VK_NULL_HANDLE);
    return result;
}

static VkResult read_run(MaarAllocator allocator, uint64_t bits)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    return maarGetDefragmentationInfo(allocator, MAAR_FROM_BITS(MaarDefragmentation, bits), &info);
}

static VkResult take_room(MaarAllocator allocator, uint64_t bits)
{
    MaarAllocation room = (MaarAllocation)(uintptr_t)1;
    const VkResult result = maarTakeDefragmentationRoom(
        allocator, MAAR_FROM_BITS(MaarDefragmentation, bits), NULL, &room);
    assert_true(room == VK_NULL_HANDLE);
    return result;
}

static VkResult end_run(MaarAllocator allocator, uint64_t bits)
{
    maarEndDefragmentation(allocator, MAAR_FROM_BITS(MaarDefragmentation, bits));
    return refused;
}

static VkResult begin_run_in(MaarAllocator allocator, uint64_t pool)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = MAAR_FROM_BITS(MaarPool, pool),
    };
    MaarDefragmentation run = (MaarDefragmentation)(uintptr_t)1;
    const VkResult result = maarBeginDefragmentation(allocator, &info, &run);
    assert_true((result == VK_SUCCESS) == (run != VK_NULL_HANDLE));
    if (result == VK_SUCCESS) {
        maarEndDefragmentation(allocator, run);
    }
    return result;
}

static const struct handle_use run_uses[] = {
    {"defragmentation", step_run, false},
    {"defragmentation", read_run, false},
    {"defragmentation", take_room, false},
    {"defragmentation", end_run, true},
    {.call = NULL},
};

static const struct handle_use pool_uses[] = {
    {"pBeginInfo->pool", begin_run_in, true},
    {.call = NULL},
};

static uint64_t make_run(MaarAllocator allocator)
{
    const MaarDefragmentationBeginInfo info = {.sType =
                                                   MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO};
    MaarDefragmentation run = VK_NULL_HANDLE;
    assert_int_equal(maarBeginDefragmentation(allocator, &info, &run), VK_SUCCESS);
    return MAAR_TO_BITS(run);
}

static uint64_t make_pool(MaarAllocator allocator)
{
    const MaarPoolCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO};
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(maarCreatePool(allocator, &info, &pool), VK_SUCCESS);
    return MAAR_TO_BITS(pool);
}

/* ---- the cases ---- */

static MaarAllocation allocate_from(MaarAllocator allocator)
{
    const MaarMemoryRequest request = rig_request(BYTES, 256, 2, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(allocator, &request, NULL, &memory), VK_SUCCESS);
    return memory;
}

static MaarMoveBatch begin_in(MaarAllocator allocator, MaarAllocation memory)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(begin_with(allocator, MAAR_TO_BITS(memory), &batch), VK_SUCCESS);
    return batch;
}

static void start(void)
{
    const struct rig_setup setup = {.paging = true};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(256);
    const VkImageCreateInfo image_info = rig_image_info(16, 16);
    rig = rig_begin(&setup);
    assert_int_equal(maarCreateAllocator(&rig->create_info, &foreigner), VK_SUCCESS);
    assert_int_equal(vkCreateBuffer(rig->device, &buffer_info, NULL, &loose_buffer), VK_SUCCESS);
    assert_int_equal(vkCreateImage(rig->device, &image_info, NULL, &loose_image), VK_SUCCESS);
    commands = rig_open_commands(rig, &command_pool);
    moving = allocate_from(rig->allocator);
    live = begin_in(rig->allocator, moving);
}

static void stop(void)
{
    rig_expect_silence(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, live, 0, NULL, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, moving);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    vkDestroyImage(rig->device, loose_image, NULL);
    vkDestroyBuffer(rig->device, loose_buffer, NULL);
    maarDestroyAllocator(foreigner);
    rig_expect_silence(rig); /* nothing leaks */
    rig_check(rig);
}

/* Every call refuses the handle under this identifier, and the batch is as before. */
static void expect_refusals(const struct handle_use* uses, uint64_t handle, MaarMessageId id)
{
    const uint64_t submissions = rig_calls(rig, "vkQueueSubmit");
    MaarMove move = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    uint32_t count = 1;
    for (const struct handle_use* use = uses; use->call != NULL; ++use) {
        assert_int_equal(use->call(rig->allocator, handle), refused);
        rig_expect_message_naming(rig, id, use->argument);
    }
    assert_int_equal(maarGetMoves(rig->allocator, live, &count, &move), VK_SUCCESS);
    assert_int_equal(move.obstacle, MAAR_MOVE_OBSTACLE_NONE);
    assert_int_equal(rig_info(rig, moving).locationEpoch, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), submissions);
}

static void null_handles_are_refused_or_accepted(void** state)
{
    const struct handle_use* const lists[] = {batch_uses, allocation_uses};
    (void)state;
    start();
    for (uint32_t i = 0; i < 2; ++i) {
        for (const struct handle_use* use = lists[i]; use->call != NULL; ++use) {
            const VkResult result = use->call(rig->allocator, 0);
            assert_int_equal(result, use->accepts_null ? VK_SUCCESS : refused);
            if (!use->accepts_null) {
                rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, use->argument);
            }
        }
    }
    expect_refusals(member_uses, 0, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    stop();
}

static void forged_handles_are_refused(void** state)
{
    (void)state;
    start();
    for (uint32_t bit = 0; bit < 64; ++bit) {
        const uint64_t flip = (uint64_t)1 << bit;
        expect_refusals(batch_uses, MAAR_TO_BITS(live) ^ flip, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(allocation_uses, MAAR_TO_BITS(moving) ^ flip,
                        MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(member_uses, MAAR_TO_BITS(moving) ^ flip,
                        MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    }
    stop();
}

static void handles_of_another_allocator_or_kind_are_refused(void** state)
{
    (void)state;
    start();
    const MaarAllocation memory = allocate_from(foreigner);
    const MaarMoveBatch batch = begin_in(foreigner, memory);
    const uint64_t strangers[] = {MAAR_TO_BITS(memory), MAAR_TO_BITS(batch)};
    for (uint32_t i = 0; i < 2; ++i) {
        expect_refusals(batch_uses, strangers[i], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(allocation_uses, strangers[i], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(member_uses, strangers[i], MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    }
    expect_refusals(batch_uses, MAAR_TO_BITS(moving), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    expect_refusals(allocation_uses, MAAR_TO_BITS(live), MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    assert_int_equal(maarCancelMoves(foreigner, batch, 0, NULL), VK_SUCCESS);
    maarFreeMemory(foreigner, memory);
    stop();
}

static void handles_stay_stale_when_their_slots_are_used_again(void** state)
{
    enum { TIMES = 1000 };
    (void)state;
    start();
    const MaarAllocation first = allocate_from(rig->allocator);
    const MaarMoveBatch ended = begin_in(rig->allocator, first);
    assert_int_equal(maarCancelMoves(rig->allocator, ended, 0, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, first);
    for (uint32_t i = 0; i < TIMES; ++i) {
        const MaarAllocation next = allocate_from(rig->allocator);
        const MaarMoveBatch batch = begin_in(rig->allocator, next);
        assert_true(next != first && batch != ended);
        assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
        maarFreeMemory(rig->allocator, next);
    }
    expect_refusals(batch_uses, MAAR_TO_BITS(ended), MAAR_MESSAGE_ID_STALE_HANDLE);
    expect_refusals(allocation_uses, MAAR_TO_BITS(first), MAAR_MESSAGE_ID_STALE_HANDLE);
    expect_refusals(member_uses, MAAR_TO_BITS(first), MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS);
    stop();
}

static void runs_and_their_pools_are_checked(void** state)
{
    (void)state;
    start();
    const uint64_t run = make_run(rig->allocator);
    const uint64_t pool = make_pool(rig->allocator);
    const uint64_t strangers[] = {make_run(foreigner), make_pool(foreigner)};
    assert_int_equal(step_run(rig->allocator, 0), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "defragmentation");
    assert_int_equal(read_run(rig->allocator, 0), refused);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "defragmentation");
    (void)end_run(rig->allocator, 0);
    assert_int_equal(begin_run_in(rig->allocator, 0), VK_SUCCESS);
    assert_int_equal(begin_run_in(rig->allocator, pool), VK_SUCCESS);
    for (uint32_t bit = 0; bit < 64; ++bit) {
        expect_refusals(run_uses, run ^ (uint64_t)1 << bit, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(pool_uses, pool ^ (uint64_t)1 << bit, MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        expect_refusals(run_uses, strangers[i], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
        expect_refusals(pool_uses, strangers[i], MAAR_MESSAGE_ID_FOREIGN_HANDLE);
    }
    (void)end_run(rig->allocator, run);
    maarDestroyPool(rig->allocator, MAAR_FROM_BITS(MaarPool, pool));
    rig_expect_silence(rig);
    expect_refusals(run_uses, run, MAAR_MESSAGE_ID_STALE_HANDLE);
    expect_refusals(pool_uses, pool, MAAR_MESSAGE_ID_STALE_HANDLE);
    (void)end_run(foreigner, strangers[0]);
    maarDestroyPool(foreigner, MAAR_FROM_BITS(MaarPool, strangers[1]));
    stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(null_handles_are_refused_or_accepted),
        rig_unit_test(forged_handles_are_refused),
        rig_unit_test(handles_of_another_allocator_or_kind_are_refused),
        rig_unit_test(runs_and_their_pools_are_checked),
        rig_unit_test(handles_stay_stale_when_their_slots_are_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
