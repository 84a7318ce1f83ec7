/*
 * The calls on batches of moves: their outputs, their limits, and what they leave when they fail.
 */
#include "tests/rig/rig.h"

enum { COUNT = 4, BYTES = 4096 };

static struct rig* rig;
static MaarAllocation memories[COUNT];
static VkCommandPool command_pool;
static VkCommandBuffer commands;

static void open_scene(VkFlags off)
{
    const struct rig_setup setup = {.paging = true, .off = off};
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    rig = rig_begin(&setup);
    for (uint32_t i = 0; i < COUNT; ++i) {
        memories[i] = rig_allocate(rig, BYTES, &how);
    }
}

static void close_scene(void)
{
    rig_check(rig);
    maarFreeMemories(rig->allocator, COUNT, memories);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    rig_expect_silence(rig);
}

static VkResult try_begin(uint32_t count, const MaarAllocation* which, VkDeviceSize alignment,
                          const MaarAllocationCreateInfo* how, MaarMoveBatch* batch)
{
    MaarMoveRequest requests[COUNT];
    for (uint32_t i = 0; i < count; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = which[i], .alignment = alignment};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = how,
    };
    *batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = maarBeginMoves(rig->allocator, &info, batch);
    assert_true((result == VK_SUCCESS) == (*batch != VK_NULL_HANDLE));
    return result;
}

static MaarMoveBatch begin(uint32_t count)
{
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(try_begin(count, memories, 0, NULL, &batch), VK_SUCCESS);
    return batch;
}

static void cancel(MaarMoveBatch batch)
{
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
}

static MaarMove first_move(MaarMoveBatch batch)
{
    MaarMove move = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    uint32_t count = 1;
    (void)maarGetMoves(rig->allocator, batch, &count, &move);
    assert_int_equal(count, 1);
    return move;
}

static void close_commands(void)
{
    vkDestroyCommandPool(rig->device, command_pool, NULL);
}

/* ---- the list ---- */

static void list_says_what_it_left_out(void** state)
{
    MaarMove moves[COUNT];
    uint32_t count = 0;
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin(COUNT);
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, COUNT);
    memset(moves, 0, sizeof moves);
    moves[0].sType = MAAR_STRUCTURE_TYPE_MOVE;
    moves[1].sType = MAAR_STRUCTURE_TYPE_MOVE;
    count = 2;
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, moves), VK_INCOMPLETE);
    assert_int_equal(count, 2);
    assert_true(moves[1].allocation == memories[1] && moves[2].allocation == VK_NULL_HANDLE);
    count = 3;
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, moves),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pMoves");
    assert_int_equal(maarGetMoves(rig->allocator, batch, NULL, moves),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    cancel(batch);
    close_scene();
}

static void outputs_are_needed(void** state)
{
    (void)state;
    open_scene(0);
    const MaarMoveRequest request = {.allocation = memories[0]};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    assert_int_equal(maarBeginMoves(rig->allocator, &info, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pBatch");
    assert_int_equal(maarGetMoveObstacle(rig->allocator, memories[0], NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pObstacle");
    const MaarMoveBatch batch = begin(1);
    assert_int_equal(maarDropMoves(rig->allocator, batch, 1, NULL), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pAllocations");
    assert_int_equal(maarDropMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    assert_int_equal(first_move(batch).obstacle, MAAR_MOVE_OBSTACLE_NONE);
    cancel(batch);
    close_scene();
}

/* Random ones of many allocations, so that the batch finds each among any others. */
static void each_of_many_moves_is_found(void** state)
{
    enum { MANY = 1000, SOME = 400 };
    static MaarAllocation many[MANY];
    static MaarMoveRequest requests[SOME];
    static MaarMove moves[SOME];
    struct rig_random random = {rig_seed(3)};
    uint32_t count = SOME;
    (void)state;
    rig = rig_begin(NULL);
    for (uint32_t i = 0; i < MANY; ++i) {
        const uint32_t at = rig_below(&random, i + 1);
        many[i] = many[at];
        many[at] = rig_allocate(rig, 256, NULL);
    }
    for (uint32_t i = 0; i < SOME; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = many[i]};
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = SOME,
        .pRequests = requests,
    };
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    for (uint32_t i = 0; i < SOME; i += 2) {
        assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &many[i]), VK_SUCCESS);
    }
    for (uint32_t i = SOME; i < MANY; ++i) {
        assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &many[i]),
                         VK_ERROR_VALIDATION_FAILED_EXT);
    }
    assert_int_equal(maarGetMoves(rig->allocator, batch, &count, moves), VK_SUCCESS);
    for (uint32_t i = 0; i < SOME; ++i) {
        assert_true(moves[i].allocation == many[i]);
        assert_int_equal(moves[i].obstacle,
                         i % 2 == 0 ? MAAR_MOVE_OBSTACLE_DROPPED : MAAR_MOVE_OBSTACLE_NONE);
    }
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &count), VK_SUCCESS);
    assert_int_equal(count, SOME / 2);
    maarFreeMemories(rig->allocator, MANY, many);
    rig_check(rig);
    rig_forget_messages(rig);
}

/* ---- what cannot move ---- */

static void expect_obstacle(MaarAllocation memory, MaarMoveObstacle expected, const char* words)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_MAX_ENUM;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarGetMoveObstacle(rig->allocator, memory, &obstacle), VK_SUCCESS);
    assert_int_equal(obstacle, expected);
    assert_int_equal(try_begin(1, &memory, 0, NULL, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, words);
}

static void shared_memory_stays(void** state)
{
    (void)state;
    const struct rig_setup setup = {.sharing = rig_sharing_everything()};
    const MaarExportInfo export = {
        .sType = MAAR_STRUCTURE_TYPE_EXPORT_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT,
    };
#if defined(_WIN32)
    print_message("skipped: simulated devices have no handles on Windows\n");
    skip();
#endif
    rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &export;
    const MaarAllocation memory = rig_allocate(rig, BYTES, &how);
    expect_obstacle(memory, MAAR_MOVE_OBSTACLE_SHARED, "process");
    maarFreeMemory(rig->allocator, memory);
}

static void memory_of_pages_stays(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_sparse(), .paging = true};
    const MaarPoolPagingInfo paging = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_PAGING_INFO,
        .stitch = VK_TRUE,
    };
    const MaarPoolCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_POOL_CREATE_INFO, .pNext = &paging, .memoryTypeIndex = 0};
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4 * MIB);
    rig = rig_begin(&setup);
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pool = pool;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffer, &memory),
                     VK_SUCCESS);
    expect_obstacle(memory, MAAR_MOVE_OBSTACLE_PAGES, "pages");
    maarDestroyBuffer(rig->allocator, buffer, memory);
    maarDestroyPool(rig->allocator, pool);
}

/* ---- the new ranges ---- */

/* The new ranges are allocated as new allocations are, and fail as they do. */
static void new_ranges_fail_as_allocations_do(void** state)
{
    (void)state;
    open_scene(0);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.requiredFlags = VK_MEMORY_PROPERTY_PROTECTED_BIT;
    assert_int_equal(try_begin(1, memories, 0, &how, &batch), VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    const MaarPoolCreateInfo small = {
        .memoryTypeIndex = 1, .blockSize = 4 * KIB, .maxBlockCount = 1};
    MaarPool pool = rig_create_pool(rig, &small);
    how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    assert_int_equal(try_begin(2, memories, 0, &how, &batch), VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    maarDestroyPool(rig->allocator, pool);
    assert_int_equal(try_begin(1, memories, 0, &how, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_STALE_HANDLE);
    assert_int_equal(try_begin(1, memories, 3, NULL, &batch), VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, 3));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_INVALID_ALIGNMENT, "alignment");
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    close_scene();
}

static void new_ranges_have_the_alignment_of_the_request(void** state)
{
    (void)state;
    open_scene(0);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    const MaarAllocation fourth = memories[COUNT - 1];
    assert_int_equal(try_begin(1, &fourth, 32 * KIB, NULL, &batch), VK_SUCCESS);
    assert_int_equal(first_move(batch).targetOffset % (32 * KIB), 0);
    cancel(batch);
    close_scene();
}

/* A request without an alignment keeps that of the allocation, and not that of its offset. */
static void allocations_keep_their_alignment(void** state)
{
    (void)state;
    open_scene(0);
    const MaarPoolCreateInfo one_block = {
        .memoryTypeIndex = 1, .blockSize = 64 * KIB, .maxBlockCount = 1};
    const MaarPool pool = rig_create_pool(rig, &one_block);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    const VkDeviceSize sizes[] = {32 * KIB, 256, 256, 32 * KIB - 512};
    MaarAllocation all[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        all[i] = rig_allocate(rig, sizes[i], &how);
    }
    assert_int_equal(rig_info(rig, all[1]).offset, 32 * KIB);
    const VkDeviceSize hole = rig_info(rig, all[2]).offset;
    maarFreeMemory(rig->allocator, all[2]);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(try_begin(1, &all[1], 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(first_move(batch).targetOffset, hole);
    cancel(batch);
    maarFreeMemory(rig->allocator, all[0]);
    maarFreeMemory(rig->allocator, all[1]);
    maarFreeMemory(rig->allocator, all[3]);
    maarDestroyPool(rig->allocator, pool);
    close_scene();
}

/* ---- new objects ---- */

static VkBuffer make_buffer(VkDeviceSize size)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(vkCreateBuffer(rig->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void objects_that_do_not_fit_are_refused(void** state)
{
    (void)state;
    open_scene(0);
    const VkImageCreateInfo info = rig_image_info(256, 256);
    const MaarMoveBatch batch = begin(2);
    const VkBuffer large = make_buffer((VkDeviceSize)BYTES + 1);
    const VkBuffer small = make_buffer(256);
    VkImage image = VK_NULL_HANDLE;
    assert_int_equal(vkCreateImage(rig->device, &info, NULL, &image), VK_SUCCESS);
    const uint64_t binds = rig_calls(rig, "vkBindBufferMemory2");
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, memories[0], 0, large, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, memories[0], BYTES, small, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "offset");
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, memories[2], 0, small, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "allocation");
    assert_int_equal(
        maarBindMovedBuffer(rig->allocator, batch, memories[0], 0, VK_NULL_HANDLE, NULL),
        VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_NULL_HANDLE);
    assert_int_equal(maarBindMovedImage(rig->allocator, batch, memories[0], 0, image, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2"), binds);
    assert_int_equal(rig_calls(rig, "vkBindImageMemory2"), 0);
    assert_int_equal(maarBindMovedBuffer(rig->allocator, batch, memories[1], 256, small, NULL),
                     VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkBindBufferMemory2"), binds + 1);
    vkDestroyImage(rig->device, image, NULL);
    vkDestroyBuffer(rig->device, large, NULL);
    vkDestroyBuffer(rig->device, small, NULL);
    cancel(batch);
    close_scene();
}

/* ---- copies ---- */

static void failed_record_records_nothing(void** state)
{
    (void)state;
    open_scene(0);
    commands = rig_open_commands(rig, &command_pool);
    const MaarMoveBatch batch = begin(COUNT);
    const uint64_t copies = rig_calls(rig, "vkCmdCopyBuffer");
    assert_int_equal(maarRecordMoves(rig->allocator, batch, VK_NULL_HANDLE),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_HANDLE, "commandBuffer");
    rig_set_fault(rig, "vkBindBufferMemory2", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    assert_int_equal(rig_calls(rig, "vkCmdPipelineBarrier"), 0);
    assert_int_equal(rig_calls(rig, "vkCmdCopyBuffer"), copies);
    assert_int_equal(maarDropMoves(rig->allocator, batch, COUNT, memories), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkCmdCopyBuffer"), copies);
    cancel(batch);
    const MaarMoveBatch other = begin(COUNT);
    assert_int_equal(maarRecordMoves(rig->allocator, other, commands), VK_SUCCESS);
    assert_true(rig_calls(rig, "vkCmdCopyBuffer") > copies);
    assert_int_equal(rig_calls(rig, "vkCmdPipelineBarrier"), 2);
    close_commands();
    cancel(other);
    close_scene();
}

/* The driver rounds the sizes of buffers up, and this block has a size that is not rounded. */
static void block_that_no_buffer_covers_is_not_copied(void** state)
{
    (void)state;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    open_scene(0);
    commands = rig_open_commands(rig, &command_pool);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const MaarAllocation odd = rig_allocate(rig, 3000, &how);
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(try_begin(1, &odd, 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "batch");
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CANNOT_MOVE, "batch");
    assert_int_equal(rig_calls(rig, "vkCmdPipelineBarrier"), 0);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "failed");
    cancel(batch);
    /* The program may still copy itself, in another batch. */
    assert_int_equal(try_begin(1, &odd, 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    maarFreeMemory(rig->allocator, odd);
    close_commands();
    close_scene();
}

/* Where the allocator has no queue, no index would do. The batch can still be recorded. */
static void submission_without_queues_names_the_list(void** state)
{
    (void)state;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    MaarPoint point = {VK_NULL_HANDLE, 7};
    rig = rig_begin(NULL);
    assert_int_equal(rig->create_info.queueCount, 0);
    for (uint32_t i = 0; i < COUNT; ++i) {
        memories[i] = rig_allocate(rig, BYTES, &how);
    }
    const MaarMoveBatch batch = begin(COUNT);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names(rig, "pSubmitInfo->queueIndex"));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NO_QUEUE, "MaarAllocatorCreateInfo::pQueues");
    assert_int_equal(point.value, 0);
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), 0);
    cancel(batch);
    close_scene();
}

static void failed_submission_may_be_repeated(void** state)
{
    (void)state;
    const MaarPoint host = {VK_NULL_HANDLE, 1};
    MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    MaarPoint point = {VK_NULL_HANDLE, 7};
    open_scene(0);
    const MaarMoveBatch batch = begin(COUNT);
    const uint64_t before = rig_calls(rig, "vkQueueSubmit");
    info.queueIndex = 99;
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    assert_true(rig_message_names_number(rig, 99));
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pSubmitInfo");
    assert_int_equal(point.value, 0);
    info.queueIndex = 0;
    info.waitCount = MAAR_MAX_POINTS + 1;
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE, "pSubmitInfo");
    info.waitCount = 1;
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pSubmitInfo");
    info.pWaits = &host;
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_POINT_NOT_USABLE, "pSubmitInfo");
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), before);
    info.waitCount = 0;
    rig_set_fault(rig, "vkQueueSubmit", 1, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &point),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
    rig_clear_faults(rig);
    assert_true(point.semaphore == VK_NULL_HANDLE);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &point), VK_SUCCESS);
    assert_true(point.semaphore != VK_NULL_HANDLE);
    assert_int_equal(point.value, 1);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "batch");
    assert_int_equal(rig_calls(rig, "vkQueueSubmit"), before + 2);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    close_scene();
}

static void submission_needs_timelines(void** state)
{
    (void)state;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    open_scene(RIG_OFF_TIMELINE);
    const MaarMoveBatch batch = begin(1);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    cancel(batch);
    close_scene();
}

/* Maar was asked to copy, and could not: the program learns it once more at the commit. */
static void copies_that_failed_are_not_committed(void** state)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(BYTES);
    VkBuffer buffers[COUNT];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    uint32_t moved = 0;
    (void)state;
    const struct rig_setup setup = {
        .paging = true, .off = RIG_OFF_TIMELINE, .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    rig = rig_begin(&setup);
    commands = rig_open_commands(rig, &command_pool);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(
            maarCreateBuffer(rig->allocator, &buffer_info, &how, &buffers[i], &memories[i]),
            VK_SUCCESS);
    }
    assert_int_equal(try_begin(2, memories, 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_forget_messages(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "0)");
    assert_int_equal(maarDropMoves(rig->allocator, batch, 1, &memories[0]), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "1)");
    assert_int_equal(rig_info(rig, memories[1]).locationEpoch, 0);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, 1);
    /* Nobody has asked: the program copies itself. */
    assert_int_equal(try_begin(2, memories, 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, 2);
    /* What could not be recorded is not committed either. */
    assert_int_equal(try_begin(2, memories, 0, NULL, &batch), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, VK_NULL_HANDLE),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "failed");
    cancel(batch);
    for (uint32_t i = 0; i < COUNT; ++i) {
        vkDestroyBuffer(rig->device, buffers[i], NULL);
    }
    close_commands();
    close_scene();
}

/* ---- runs that empty blocks ---- */

/* Two blocks, of which the second one holds little. */
static MaarPool make_sparse_pool(MaarAllocation* first, MaarAllocation* last)
{
    enum { IN_BLOCK = 16 };
    MaarAllocation all[IN_BLOCK + 1];
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 1, .blockSize = IN_BLOCK * BYTES};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i <= IN_BLOCK; ++i) {
        all[i] = rig_allocate(rig, BYTES, &how);
    }
    maarFreeMemories(rig->allocator, IN_BLOCK / 2, &all[IN_BLOCK / 2]);
    *first = all[0];
    *last = all[IN_BLOCK];
    maarFreeMemories(rig->allocator, IN_BLOCK / 2 - 1, &all[1]);
    return pool;
}

static void defragmentation_outputs_and_handles_are_checked(void** state)
{
    (void)state;
    MaarAllocation first = VK_NULL_HANDLE;
    MaarAllocation last = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarDefragmentation run = VK_NULL_HANDLE;
    open_scene(0);
    MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = make_sparse_pool(&first, &last),
    };
    MaarDefragmentationInfo sums = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    const MaarDefragmentationStepInfo wrong = {.sType = MAAR_STRUCTURE_TYPE_MOVE};
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, &wrong, &batch),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pStepInfo");
    sums.sType = MAAR_STRUCTURE_TYPE_MOVE;
    assert_int_equal(maarGetDefragmentationInfo(rig->allocator, run, &sums),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pInfo");
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, first);
    maarFreeMemory(rig->allocator, last);
    maarDestroyPool(rig->allocator, info.pool);
    close_scene();
}

static void count_driver_call(void* data, const char* function)
{
    (void)function;
    ++*(uint32_t*)data;
}

/* Whatever is pending, and however much there is to move. */
static void step_never_calls_the_driver(void** state)
{
    (void)state;
    MaarAllocation first = VK_NULL_HANDLE;
    MaarAllocation last = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarDefragmentation run = VK_NULL_HANDLE;
    uint32_t calls = 0;
    open_scene(0);
    const VkSemaphore never = rig_create_timeline(rig, 0);
    const MaarPoint point = {never, 1};
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = make_sparse_pool(&first, &last),
    };
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memories[0], 1, &point), VK_SUCCESS);
    memories[0] = VK_NULL_HANDLE;
    rig->call_data = &calls;
    rig->call = count_driver_call;
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), VK_SUCCESS);
    rig->call = NULL;
    assert_int_equal(calls, 0);
    assert_true(batch != VK_NULL_HANDLE);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    maarEndDefragmentation(rig->allocator, run);
    maarFreeMemory(rig->allocator, first);
    maarFreeMemory(rig->allocator, last);
    maarDestroyPool(rig->allocator, info.pool);
    rig_signal(rig, never, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    vkDestroySemaphore(rig->device, never, NULL);
    close_scene();
}

/* ---- the end ---- */

static void expect_unchanged(MaarMoveBatch batch)
{
    assert_int_equal(first_move(batch).obstacle, MAAR_MOVE_OBSTACLE_NONE);
    assert_int_equal(rig_info(rig, memories[0]).locationEpoch, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, COUNT);
    rig_check(rig);
}

static void refused_end_leaves_the_batch(void** state)
{
    (void)state;
    const MaarPoint point = {(VkSemaphore)(uintptr_t)1, 1};
    uint32_t moved = 9;
    open_scene(RIG_OFF_TIMELINE);
    const MaarMoveBatch batch = begin(COUNT);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &point, &moved),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    assert_int_equal(moved, 0);
    expect_unchanged(batch);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 1, &point),
                     VK_ERROR_FEATURE_NOT_PRESENT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_FEATURE_NOT_ENABLED, "pEnabledFeatures");
    expect_unchanged(batch);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pPoints");
    expect_unchanged(batch);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, MAAR_MAX_POINTS + 1, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message(rig, MAAR_MESSAGE_ID_OUT_OF_RANGE);
    expect_unchanged(batch);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, &moved), VK_SUCCESS);
    assert_int_equal(moved, COUNT);
    close_scene();
}

/* The old places of a batch that was submitted wait for its copies, though the program names no
 * point. */
static void old_places_wait_for_the_copies(void** state)
{
    (void)state;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    open_scene(0);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    const MaarMoveBatch batch = begin(COUNT);
    assert_int_equal(maarSubmitMoves(rig->allocator, batch, &info, NULL), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, COUNT);
    maarSimulatedSetFlags(rig->physical, 0);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    close_scene();
}

/* A lost device executes nothing more: all that waits for it ends. */
static void lost_device_ends_all_moves(void** state)
{
    (void)state;
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    open_scene(0);
    const VkSemaphore never = rig_create_timeline(rig, 0);
    const MaarPoint point = {never, 1};
    const MaarMoveBatch first = begin(2);
    MaarMoveBatch second = VK_NULL_HANDLE;
    assert_int_equal(try_begin(2, &memories[2], 0, NULL, &second), VK_SUCCESS);
    maarFreeMemory(rig->allocator, memories[0]);
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memories[2], 1, &point), VK_SUCCESS);
    memories[0] = VK_NULL_HANDLE;
    memories[2] = VK_NULL_HANDLE;
    rig_set_fault(rig, "vkQueueSubmit", 1, 1, VK_ERROR_DEVICE_LOST);
    assert_int_equal(maarSubmitMoves(rig->allocator, first, &info, NULL), VK_ERROR_DEVICE_LOST);
    rig_clear_faults(rig);
    assert_int_equal(maarCommitMoves(rig->allocator, first, 1, &point, NULL), VK_SUCCESS);
    assert_int_equal(maarCancelMoves(rig->allocator, second, 1, &point), VK_SUCCESS);
    (void)maarWaitPending(rig->allocator, UINT64_MAX);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    rig_check(rig);
    maarFreeMemories(rig->allocator, COUNT, memories);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).allocationCount, 0);
    vkDestroySemaphore(rig->device, never, NULL);
    rig_forget_messages(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(list_says_what_it_left_out),
        rig_unit_test(outputs_are_needed),
        rig_unit_test(each_of_many_moves_is_found),
        rig_unit_test(shared_memory_stays),
        rig_unit_test(memory_of_pages_stays),
        rig_unit_test(new_ranges_fail_as_allocations_do),
        rig_unit_test(new_ranges_have_the_alignment_of_the_request),
        rig_unit_test(allocations_keep_their_alignment),
        rig_unit_test(objects_that_do_not_fit_are_refused),
        rig_unit_test(failed_record_records_nothing),
        rig_unit_test(block_that_no_buffer_covers_is_not_copied),
        rig_unit_test(submission_without_queues_names_the_list),
        rig_unit_test(failed_submission_may_be_repeated),
        rig_unit_test(submission_needs_timelines),
        rig_unit_test(copies_that_failed_are_not_committed),
        rig_unit_test(defragmentation_outputs_and_handles_are_checked),
        rig_unit_test(step_never_calls_the_driver),
        rig_unit_test(refused_end_leaves_the_batch),
        rig_unit_test(old_places_wait_for_the_copies),
        rig_unit_test(lost_device_ends_all_moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
