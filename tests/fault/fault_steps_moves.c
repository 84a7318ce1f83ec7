/*
 * Steps: batches of moves, and frees of what moves.
 */
#include "tests/fault/fault_steps.h"

/* Of what moves. A buffer can cover a block of this size. */
#define SIZE (4 * KIB)

/* ---- what moves ---- */

static void allocate_many(struct fault_context* c)
{
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        c->many[i] = rig_allocate(&c->rig, SIZE, &how);
    }
}

static void free_many(struct fault_context* c)
{
    maarFreeMemories(c->rig.allocator, FAULT_MANY, c->many);
    fault_pass_point(c);
}

static VkResult begin(struct fault_context* c, uint32_t count, const MaarAllocation* which,
                      const MaarAllocationCreateInfo* how)
{
    MaarMoveRequest requests[FAULT_CROWD];
    for (uint32_t i = 0; i < count; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = which[i], .alignment = 256};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = count,
        .pRequests = requests,
        .pCreateInfo = how,
    };
    c->batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = maarBeginMoves(c->rig.allocator, &info, &c->batch);
    assert_true((result == VK_SUCCESS) == (c->batch != VK_NULL_HANDLE));
    return result;
}

/* No allocation moves that is not in a batch. */
static void expect_obstacle(struct fault_context* c, MaarMoveObstacle expected)
{
    MaarMoveObstacle obstacle = MAAR_MOVE_OBSTACLE_MAX_ENUM;
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        assert_int_equal(maarGetMoveObstacle(c->rig.allocator, c->many[i], &obstacle), VK_SUCCESS);
        assert_int_equal(obstacle, expected);
        assert_int_equal(rig_info(&c->rig, c->many[i]).locationEpoch, 0);
    }
}

static VkResult run_begin(struct fault_context* c)
{
    const VkResult result = begin(c, FAULT_MANY, c->many, NULL);
    expect_obstacle(c, result == VK_SUCCESS ? MAAR_MOVE_OBSTACLE_MOVING : MAAR_MOVE_OBSTACLE_NONE);
    return result;
}

/* Each into a block of its own. */
static VkResult run_begin_blocks(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    const VkResult result = begin(c, FAULT_MANY, c->many, &how);
    expect_obstacle(c, result == VK_SUCCESS ? MAAR_MOVE_OBSTACLE_MOVING : MAAR_MOVE_OBSTACLE_NONE);
    return result;
}

static void cancel(struct fault_context* c)
{
    assert_int_equal(maarCancelMoves(c->rig.allocator, c->batch, 0, NULL), VK_SUCCESS);
    c->batch = VK_NULL_HANDLE;
}

/* So many that tables grow. */
static void allocate_crowd(struct fault_context* c)
{
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        c->crowd[i] = rig_allocate(&c->rig, SIZE, &how);
    }
}

static void free_crowd(struct fault_context* c)
{
    maarFreeMemories(c->rig.allocator, FAULT_CROWD, c->crowd);
    fault_pass_point(c);
}

static VkResult run_begin_crowd(struct fault_context* c)
{
    return begin(c, FAULT_CROWD, c->crowd, NULL);
}

static void prepare_batch(struct fault_context* c)
{
    allocate_many(c);
    assert_int_equal(run_begin(c), VK_SUCCESS);
}

static void prepare_crowd_batch(struct fault_context* c)
{
    allocate_crowd(c);
    assert_int_equal(run_begin_crowd(c), VK_SUCCESS);
}

static void finish_batch(struct fault_context* c)
{
    cancel(c);
    free_many(c);
}

/* ---- what reads and marks ---- */

static VkResult run_ask(struct fault_context* c)
{
    expect_obstacle(c, MAAR_MOVE_OBSTACLE_MOVING);
    return VK_SUCCESS;
}

static VkResult run_list(struct fault_context* c)
{
    MaarMove moves[FAULT_MANY];
    uint32_t count = FAULT_MANY;
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        moves[i] = (MaarMove){.sType = MAAR_STRUCTURE_TYPE_MOVE};
    }
    return maarGetMoves(c->rig.allocator, c->batch, &count, moves);
}

static VkResult run_drop(struct fault_context* c)
{
    return maarDropMoves(c->rig.allocator, c->batch, FAULT_MANY, c->many);
}

/* ---- new objects ---- */

static void prepare_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(2000);
    prepare_batch(c);
    assert_int_equal(vkCreateBuffer(c->rig.device, &info, &c->rig.host_callbacks, &c->buffer),
                     VK_SUCCESS);
}

static VkResult run_bind_buffer(struct fault_context* c)
{
    return maarBindMovedBuffer(c->rig.allocator, c->batch, c->many[0], 0, c->buffer, NULL);
}

static void finish_buffer(struct fault_context* c)
{
    vkDestroyBuffer(c->rig.device, c->buffer, &c->rig.host_callbacks);
    finish_batch(c);
}

static void prepare_image(struct fault_context* c)
{
    VkImageCreateInfo info = rig_image_info(8, 8);
    info.tiling = VK_IMAGE_TILING_LINEAR;
    prepare_batch(c);
    assert_int_equal(vkCreateImage(c->rig.device, &info, &c->rig.host_callbacks, &c->image),
                     VK_SUCCESS);
}

static VkResult run_bind_image(struct fault_context* c)
{
    return maarBindMovedImage(c->rig.allocator, c->batch, c->many[0], 0, c->image, NULL);
}

static void finish_image(struct fault_context* c)
{
    vkDestroyImage(c->rig.device, c->image, &c->rig.host_callbacks);
    finish_batch(c);
}

/* ---- the host's view ---- */

/* Memory that the host sees; with rig_profile_noncoherent, it must be flushed. */
static void prepare_visible_batch(struct fault_context* c)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.requiredFlags = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
    for (uint32_t i = 0; i < FAULT_MANY; ++i) {
        c->many[i] = rig_allocate(&c->rig, SIZE, &how);
    }
    assert_int_equal(run_begin(c), VK_SUCCESS);
}

static VkResult run_map_moved(struct fault_context* c)
{
    void* data = c;
    const VkResult result = maarMapMovedMemory(c->rig.allocator, c->batch, c->many[0], &data);
    assert_true((result == VK_SUCCESS) == (data != NULL));
    return result;
}

static void prepare_mapped_batch(struct fault_context* c)
{
    prepare_visible_batch(c);
    assert_int_equal(run_map_moved(c), VK_SUCCESS);
}

static void unmap_moved(struct fault_context* c)
{
    maarUnmapMovedMemory(c->rig.allocator, c->batch, c->many[0]);
}

static VkResult run_unmap_moved(struct fault_context* c)
{
    unmap_moved(c);
    return VK_SUCCESS;
}

static VkResult run_flush_moved(struct fault_context* c)
{
    return maarFlushMovedMemory(c->rig.allocator, c->batch, c->many[0], 0, VK_WHOLE_SIZE);
}

static VkResult run_invalidate_moved(struct fault_context* c)
{
    return maarInvalidateMovedMemory(c->rig.allocator, c->batch, c->many[0], 0, VK_WHOLE_SIZE);
}

/* ---- copies ---- */

/* The targets are in blocks of their own, so that the copies need several buffers. */
static void prepare_copies(struct fault_context* c)
{
    allocate_many(c);
    assert_int_equal(run_begin_blocks(c), VK_SUCCESS);
}

static void open_commands(struct fault_context* c)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    const VkCommandBufferBeginInfo start = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkCreateCommandPool(c->rig.device, &pool, NULL, &c->command_pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = c->command_pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(c->rig.device, &info, &c->commands), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(c->commands, &start), VK_SUCCESS);
}

static void prepare_commands(struct fault_context* c)
{
    prepare_copies(c);
    open_commands(c);
}

static VkResult run_record(struct fault_context* c)
{
    const uint64_t before = rig_calls(&c->rig, "vkCmdPipelineBarrier");
    const VkResult result = maarRecordMoves(c->rig.allocator, c->batch, c->commands);
    assert_int_equal(rig_calls(&c->rig, "vkCmdPipelineBarrier") - before,
                     result == VK_SUCCESS ? 2 : 0);
    return result;
}

static void finish_commands(struct fault_context* c)
{
    vkDestroyCommandPool(c->rig.device, c->command_pool, NULL);
    finish_batch(c);
}

/* The batch ends when the call fails, since a lost device never submits anything. */
static VkResult run_submit(struct fault_context* c)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    MaarPoint point = {VK_NULL_HANDLE, 7};
    VkResult result = run_begin_blocks(c);
    if (result == VK_SUCCESS) {
        result = maarSubmitMoves(c->rig.allocator, c->batch, &info, &point);
        assert_true((result == VK_SUCCESS) == (point.value != 0));
        expect_obstacle(c, MAAR_MOVE_OBSTACLE_MOVING);
    }
    if (result != VK_SUCCESS) {
        cancel(c);
    }
    return result;
}

static void finish_submission(struct fault_context* c)
{
    cancel(c);
    (void)maarWaitPending(c->rig.allocator, UINT64_MAX);
    free_many(c);
}

/* ---- movable objects ---- */

/* A movable buffer and a movable image. */
static VkResult create_movable(struct fault_context* c)
{
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const VkBufferCreateInfo info = rig_buffer_info(SIZE);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &movable;
    const VkResult result =
        maarCreateBuffer(c->rig.allocator, &info, &how, &c->buffer, &c->many[0]);
    assert_true((result == VK_SUCCESS) == (c->many[0] != VK_NULL_HANDLE));
    return result;
}

static VkResult create_movable_image(struct fault_context* c)
{
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const VkImageCreateInfo info = rig_image_info(8, 8);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &movable;
    const VkResult result = maarCreateImage(c->rig.allocator, &info, &how, &c->image, &c->many[1]);
    assert_true((result == VK_SUCCESS) == (c->many[1] != VK_NULL_HANDLE));
    return result;
}

static void destroy_movable(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->many[0]);
    maarDestroyImage(c->rig.allocator, c->image, c->many[1]);
    c->many[0] = VK_NULL_HANDLE;
    c->many[1] = VK_NULL_HANDLE;
    fault_pass_point(c);
}

static void prepare_movable(struct fault_context* c)
{
    assert_int_equal(create_movable(c), VK_SUCCESS);
    assert_int_equal(create_movable_image(c), VK_SUCCESS);
}

static void prepare_movable_batch(struct fault_context* c)
{
    prepare_movable(c);
    assert_int_equal(begin(c, 2, c->many, NULL), VK_SUCCESS);
}

static VkResult run_create_moved(struct fault_context* c)
{
    uint32_t count = 7;
    const VkResult result = maarCreateMovedObjects(c->rig.allocator, c->batch);
    assert_int_equal(maarGetObjectSwaps(c->rig.allocator, c->batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, result == VK_SUCCESS ? 2 : 0);
    return result;
}

static VkResult run_set_layouts(struct fault_context* c)
{
    const MaarMovedImageLayout layout = {c->many[1], VK_IMAGE_LAYOUT_GENERAL};
    return maarSetMovedImageLayouts(c->rig.allocator, c->batch, 1, &layout);
}

static void prepare_moved(struct fault_context* c)
{
    prepare_movable_batch(c);
    assert_int_equal(run_create_moved(c), VK_SUCCESS);
    assert_int_equal(run_set_layouts(c), VK_SUCCESS);
}

/* The copies are recorded, and never executed. */
static void prepare_copied(struct fault_context* c)
{
    prepare_moved(c);
    open_commands(c);
    assert_int_equal(maarRecordMoves(c->rig.allocator, c->batch, c->commands), VK_SUCCESS);
    vkDestroyCommandPool(c->rig.device, c->command_pool, NULL);
}

static VkResult run_list_swaps(struct fault_context* c)
{
    MaarObjectSwap swaps[2] = {{.sType = MAAR_STRUCTURE_TYPE_OBJECT_SWAP},
                               {.sType = MAAR_STRUCTURE_TYPE_OBJECT_SWAP}};
    uint32_t count = 2;
    return maarGetObjectSwaps(c->rig.allocator, c->batch, &count, swaps);
}

static VkResult run_read_object(struct fault_context* c)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    return maarGetMovableObject(c->rig.allocator, c->many[0], &buffer, NULL);
}

static VkResult run_commit_moved(struct fault_context* c)
{
    const VkBuffer old = c->buffer;
    const VkResult result = maarCommitMoves(c->rig.allocator, c->batch, 1, &fault_host_point, NULL);
    assert_int_equal(maarGetMovableObject(c->rig.allocator, c->many[0], &c->buffer, NULL),
                     VK_SUCCESS);
    assert_int_equal(maarGetMovableObject(c->rig.allocator, c->many[1], NULL, &c->image),
                     VK_SUCCESS);
    assert_true((c->buffer != old) == (result == VK_SUCCESS));
    return result;
}

/* The batch ends when the call fails, since a lost device never submits anything. */
static VkResult run_submit_moved(struct fault_context* c)
{
    const MaarMoveSubmitInfo info = {.sType = MAAR_STRUCTURE_TYPE_MOVE_SUBMIT_INFO};
    VkResult result = begin(c, 2, c->many, NULL);
    if (result == VK_SUCCESS) {
        result = run_create_moved(c);
        if (result == VK_SUCCESS) {
            assert_int_equal(run_set_layouts(c), VK_SUCCESS);
            result = maarSubmitMoves(c->rig.allocator, c->batch, &info, NULL);
        }
        if (result != VK_SUCCESS) {
            cancel(c);
        }
    }
    return result;
}

static void finish_moved(struct fault_context* c)
{
    cancel(c);
    (void)maarWaitPending(c->rig.allocator, UINT64_MAX);
    destroy_movable(c);
}

static VkResult run_destroy_moving(struct fault_context* c)
{
    const VkResult result =
        maarDestroyBufferAfter(c->rig.allocator, c->buffer, c->many[0], 1, &fault_host_point);
    c->many[0] = result == VK_SUCCESS ? VK_NULL_HANDLE : c->many[0];
    c->buffer = result == VK_SUCCESS ? VK_NULL_HANDLE : c->buffer;
    return result;
}

/* ---- the end ---- */

static VkResult run_commit(struct fault_context* c)
{
    uint32_t moved = 9;
    const VkResult result =
        maarCommitMoves(c->rig.allocator, c->batch, 1, &fault_host_point, &moved);
    assert_int_equal(moved, result == VK_SUCCESS ? FAULT_MANY : 0);
    if (result != VK_SUCCESS) {
        expect_obstacle(c, MAAR_MOVE_OBSTACLE_MOVING);
    }
    return result;
}

static VkResult run_commit_crowd(struct fault_context* c)
{
    return maarCommitMoves(c->rig.allocator, c->batch, 1, &fault_host_point, NULL);
}

static VkResult run_cancel(struct fault_context* c)
{
    const VkResult result = maarCancelMoves(c->rig.allocator, c->batch, 1, &fault_host_point);
    if (result != VK_SUCCESS) {
        expect_obstacle(c, MAAR_MOVE_OBSTACLE_MOVING);
    }
    return result;
}

/* ---- frees meanwhile ---- */

static VkResult run_free_moving(struct fault_context* c)
{
    const VkResult result = maarFreeMemoryAfter(c->rig.allocator, c->many[0], 1, &fault_host_point);
    if (result == VK_SUCCESS) {
        c->many[0] = VK_NULL_HANDLE;
    }
    return result;
}

/* ---- runs that empty blocks ---- */

/* A pool whose blocks but the first one hold little. */
static void prepare_cheese(struct fault_context* c)
{
    enum { IN_BLOCK = 16, COUNT = 64 };
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = IN_BLOCK * SIZE};
    c->pool = rig_create_pool(&c->rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = c->pool;
    for (uint32_t i = 0; i < COUNT; ++i) {
        c->crowd[i] = rig_allocate(&c->rig, SIZE, &how);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (i % 4 != 0) {
            maarFreeMemory(c->rig.allocator, c->crowd[i]);
            c->crowd[i] = VK_NULL_HANDLE;
        }
    }
}

static VkResult run_begin_run(struct fault_context* c)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO, .pool = c->pool};
    c->run = (MaarDefragmentation)(uintptr_t)1;
    const VkResult result = maarBeginDefragmentation(c->rig.allocator, &info, &c->run);
    assert_true((result == VK_SUCCESS) == (c->run != VK_NULL_HANDLE));
    return result;
}

static void end_run(struct fault_context* c)
{
    maarEndDefragmentation(c->rig.allocator, c->run);
    c->run = VK_NULL_HANDLE;
}

static void finish_cheese(struct fault_context* c)
{
    cancel(c);
    end_run(c);
    free_crowd(c);
    maarDestroyPool(c->rig.allocator, c->pool);
}

static void prepare_run(struct fault_context* c)
{
    prepare_cheese(c);
    assert_int_equal(run_begin_run(c), VK_SUCCESS);
}

static VkResult run_step(struct fault_context* c)
{
    c->batch = (MaarMoveBatch)(uintptr_t)1;
    const VkResult result = maarStepDefragmentation(c->rig.allocator, c->run, NULL, &c->batch);
    assert_true((result == VK_SUCCESS) == (c->batch != VK_NULL_HANDLE));
    return result;
}

static VkResult run_read(struct fault_context* c)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    return maarGetDefragmentationInfo(c->rig.allocator, c->run, &info);
}

static void prepare_stepped(struct fault_context* c)
{
    prepare_run(c);
    assert_int_equal(run_step(c), VK_SUCCESS);
}

static VkResult run_end_run(struct fault_context* c)
{
    end_run(c);
    return VK_SUCCESS;
}

/* A pool of three blocks, of which the second can be emptied if one of the first makes way. */
static void prepare_way(struct fault_context* c)
{
    static const uint32_t units[] = {6, 4, 1, 5, 4, 8, 4, 13, 3};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = 16 * SIZE};
    c->pool = rig_create_pool(&c->rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = c->pool;
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        c->crowd[i] = rig_allocate(&c->rig, units[i] * SIZE, &how);
    }
    for (uint32_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
        if (i == 1 || i == 3 || i == 4 || i == 6 || i == 8) {
            maarFreeMemory(c->rig.allocator, c->crowd[i]);
            c->crowd[i] = VK_NULL_HANDLE;
        }
    }
    c->batch = VK_NULL_HANDLE;
    assert_int_equal(run_begin_run(c), VK_SUCCESS);
}

/* All steps, and their commits. */
static VkResult run_way(struct fault_context* c)
{
    VkResult result = VK_SUCCESS;
    do {
        if (c->batch != VK_NULL_HANDLE) {
            result = maarCommitMoves(c->rig.allocator, c->batch, 0, NULL, NULL);
            c->batch = result == VK_SUCCESS ? VK_NULL_HANDLE : c->batch;
        }
        if (result == VK_SUCCESS) {
            result = maarStepDefragmentation(c->rig.allocator, c->run, NULL, &c->batch);
        }
    } while (result == VK_SUCCESS && c->batch != VK_NULL_HANDLE);
    return result;
}

static void finish_way(struct fault_context* c)
{
    MaarDefragmentationInfo info = {.sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_INFO};
    assert_int_equal(maarGetDefragmentationInfo(c->rig.allocator, c->run, &info), VK_SUCCESS);
    assert_int_equal(info.blockCount, 1);
    assert_int_equal(info.moveCount, 2);
    end_run(c);
    free_crowd(c);
    maarDestroyPool(c->rig.allocator, c->pool);
}

/* ---- runs that make room ---- */

static VkResult run_begin_room(struct fault_context* c)
{
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .pool = c->pool,
        .goal = MAAR_DEFRAGMENTATION_GOAL_ROOM,
        .roomSize = 8 * SIZE,
    };
    c->run = (MaarDefragmentation)(uintptr_t)1;
    const VkResult result = maarBeginDefragmentation(c->rig.allocator, &info, &c->run);
    assert_true((result == VK_SUCCESS) == (c->run != VK_NULL_HANDLE));
    return result;
}

static void prepare_room(struct fault_context* c)
{
    prepare_cheese(c);
    assert_int_equal(run_begin_room(c), VK_SUCCESS);
}

static void prepare_empty_room(struct fault_context* c)
{
    prepare_room(c);
    assert_int_equal(run_step(c), VK_SUCCESS);
    assert_int_equal(maarCommitMoves(c->rig.allocator, c->batch, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(c->rig.allocator, c->run, NULL, &c->batch),
                     VK_SUCCESS);
    assert_true(c->batch == VK_NULL_HANDLE);
}

static VkResult run_take(struct fault_context* c)
{
    return maarTakeDefragmentationRoom(c->rig.allocator, c->run, NULL, &c->many[0]);
}

static void finish_room(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->many[0]);
    c->many[0] = VK_NULL_HANDLE;
    finish_cheese(c);
}

static const char only_reads[] = "reads what is kept";

static const struct fault_step steps[] = {
    {.function = "maarGetMoveObstacle",
     .never = only_reads,
     .prepare = prepare_batch,
     .run = run_ask,
     .finish = finish_batch},
    {.function = "maarBeginMoves",
     .prepare = allocate_many,
     .run = run_begin,
     .undo = cancel,
     .finish = free_many},
    {.function = "maarBeginMoves",
     .variant = "new blocks",
     .prepare = allocate_many,
     .run = run_begin_blocks,
     .undo = cancel,
     .finish = free_many},
    {.function = "maarBeginMoves",
     .variant = "crowd",
     .prepare = allocate_crowd,
     .run = run_begin_crowd,
     .undo = cancel,
     .finish = free_crowd},
    {.function = "maarGetMoves",
     .never = only_reads,
     .prepare = prepare_batch,
     .run = run_list,
     .finish = finish_batch},
    {.function = "maarDropMoves",
     .never = "sets marks",
     .prepare = prepare_batch,
     .run = run_drop,
     .finish = finish_batch},
    {.function = "maarBindMovedBuffer",
     .prepare = prepare_buffer,
     .run = run_bind_buffer,
     .finish = finish_buffer},
    {.function = "maarBindMovedImage",
     .prepare = prepare_image,
     .run = run_bind_image,
     .finish = finish_image},
    {.function = "maarMapMovedMemory",
     .prepare = prepare_visible_batch,
     .run = run_map_moved,
     .undo = unmap_moved,
     .finish = finish_batch},
    {.function = "maarUnmapMovedMemory",
     .never = "gives memory back",
     .prepare = prepare_mapped_batch,
     .run = run_unmap_moved,
     .finish = finish_batch},
    {.function = "maarFlushMovedMemory",
     .prepare = prepare_mapped_batch,
     .run = run_flush_moved,
     .finish = finish_batch,
     .profile = rig_profile_noncoherent},
    {.function = "maarInvalidateMovedMemory",
     .prepare = prepare_mapped_batch,
     .run = run_invalidate_moved,
     .finish = finish_batch,
     .profile = rig_profile_noncoherent},
    {.function = "maarRecordMoves",
     .prepare = prepare_commands,
     .run = run_record,
     .finish = finish_commands},
    {.function = "maarSubmitMoves",
     .prepare = allocate_many,
     .run = run_submit,
     .finish = finish_submission,
     .keeps_warm = true,
     .session = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCommitMoves",
     .prepare = prepare_batch,
     .run = run_commit,
     .finish = free_many},
    {.function = "maarCommitMoves",
     .variant = "crowd",
     .prepare = prepare_crowd_batch,
     .run = run_commit_crowd,
     .finish = free_crowd},
    {.function = "maarCancelMoves",
     .prepare = prepare_batch,
     .run = run_cancel,
     .finish = free_many},
    {.function = "maarBeginDefragmentation",
     .prepare = prepare_cheese,
     .run = run_begin_run,
     .finish = finish_cheese},
    {.function = "maarStepDefragmentation",
     .prepare = prepare_run,
     .run = run_step,
     .finish = finish_cheese,
     .partial = true},
    {.function = "maarStepDefragmentation",
     .variant = "way",
     .prepare = prepare_way,
     .run = run_way,
     .finish = finish_way,
     .partial = true},
    {.function = "maarBeginDefragmentation",
     .variant = "room",
     .prepare = prepare_cheese,
     .run = run_begin_room,
     .finish = finish_cheese},
    {.function = "maarStepDefragmentation",
     .variant = "room",
     .prepare = prepare_room,
     .run = run_step,
     .finish = finish_cheese,
     .partial = true},
    {.function = "maarTakeDefragmentationRoom",
     .never = "has all that it needs",
     .prepare = prepare_empty_room,
     .run = run_take,
     .finish = finish_room},
    {.function = "maarGetDefragmentationInfo",
     .never = only_reads,
     .prepare = prepare_stepped,
     .run = run_read,
     .finish = finish_cheese},
    {.function = "maarEndDefragmentation",
     .never = "gives back what is kept",
     .prepare = prepare_stepped,
     .run = run_end_run,
     .finish = finish_cheese},
    {.function = "maarCreateBuffer",
     .variant = "movable",
     .run = create_movable,
     .finish = destroy_movable},
    {.function = "maarCreateImage",
     .variant = "movable",
     .run = create_movable_image,
     .finish = destroy_movable},
    {.function = "maarCreateMovedObjects",
     .prepare = prepare_movable_batch,
     .run = run_create_moved,
     .finish = finish_moved},
    {.function = "maarGetObjectSwaps",
     .never = only_reads,
     .prepare = prepare_moved,
     .run = run_list_swaps,
     .finish = finish_moved},
    {.function = "maarSetMovedImageLayouts",
     .never = "sets marks",
     .prepare = prepare_moved,
     .run = run_set_layouts,
     .finish = finish_moved},
    {.function = "maarGetMovableObject",
     .never = only_reads,
     .prepare = prepare_movable,
     .run = run_read_object,
     .finish = destroy_movable},
    {.function = "maarSubmitMoves",
     .variant = "objects",
     .prepare = prepare_movable,
     .run = run_submit_moved,
     .finish = finish_moved,
     .keeps_warm = true,
     .session = true,
     .lost_is_done = true,
     FAULT_PAGED},
    {.function = "maarCommitMoves",
     .variant = "objects",
     .prepare = prepare_copied,
     .run = run_commit_moved,
     .finish = destroy_movable},
    {.function = "maarDestroyBufferAfter",
     .variant = "of what moves",
     .prepare = prepare_moved,
     .run = run_destroy_moving,
     .finish = finish_moved},
    {.function = "maarFreeMemoryAfter",
     .variant = "of what moves",
     .prepare = prepare_batch,
     .run = run_free_moving,
     .finish = finish_batch},
};

const struct fault_table fault_move_steps = {steps, sizeof steps / sizeof steps[0]};
