/*
 * Movable objects: a batch creates them anew, swaps them at the commit, and destroys what is left
 * over when its points have passed. The program may destroy them meanwhile.
 */
#include "tests/rig/rig.h"

enum { COUNT = 4, BYTES = 5000 };

/* Buffers first, and then images. */
enum { BUFFERS = 2, IMAGES = COUNT - BUFFERS };

static struct rig* rig;
static MaarAllocation memories[COUNT];
static VkBuffer buffers[COUNT];
static VkImage images[COUNT];
static MaarPool pool;
static uint64_t host_value;

static const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};

static void create_object(uint32_t at)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    how.pNext = &movable;
    how.pUserData = &memories[at];
    if (at < BUFFERS) {
        VkBufferCreateInfo info = rig_buffer_info(BYTES);
        info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[at], &memories[at]),
                         VK_SUCCESS);
    } else {
        VkImageCreateInfo info = rig_image_info(16, 16);
        info.usage = VK_IMAGE_USAGE_SAMPLED_BIT;
        info.mipLevels = 3;
        info.arrayLayers = 2;
        assert_int_equal(maarCreateImage(rig->allocator, &info, &how, &images[at], &memories[at]),
                         VK_SUCCESS);
    }
}

/* Begins a case on a simulated device that executes commands. */
static void open_scene(MaarSimulatedFlags flags)
{
    const struct rig_setup setup = {
        .paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT | flags, .count_host = true};
    const MaarPoolCreateInfo info = {.memoryTypeIndex = 0, .blockSize = 256 * KIB};
    rig = rig_begin(&setup);
    pool = rig_create_pool(rig, &info);
    host_value = 0;
    memset(buffers, 0, sizeof buffers);
    memset(images, 0, sizeof images);
    for (uint32_t i = 0; i < COUNT; ++i) {
        create_object(i);
    }
}

static void destroy_object(uint32_t at)
{
    if (at < BUFFERS) {
        maarDestroyBuffer(rig->allocator, buffers[at], memories[at]);
    } else {
        maarDestroyImage(rig->allocator, images[at], memories[at]);
    }
    memories[at] = VK_NULL_HANDLE;
}

static void close_scene(void)
{
    rig_check(rig);
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (memories[i] != VK_NULL_HANDLE) {
            destroy_object(i);
        }
    }
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).allocationCount, 0);
    assert_int_equal(rig_statistics(rig, pool).pendingCount, 0);
    rig_expect_silence(rig);
}

static uint64_t live_objects(void)
{
    const MaarSimulatedCounters counters = rig_counters(rig);
    return counters.liveCount[MAAR_SIMULATED_OBJECT_BUFFER] +
           counters.liveCount[MAAR_SIMULATED_OBJECT_IMAGE];
}

static MaarMoveBatch begin_bare(void)
{
    MaarMoveRequest requests[COUNT];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < COUNT; ++i) {
        requests[i] = (MaarMoveRequest){.allocation = memories[i]};
    }
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO,
        .requestCount = COUNT,
        .pRequests = requests,
    };
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    return batch;
}

static void set_layouts(MaarMoveBatch batch, VkImageLayout layout)
{
    MaarMovedImageLayout layouts[IMAGES];
    for (uint32_t i = 0; i < IMAGES; ++i) {
        layouts[i] = (MaarMovedImageLayout){memories[BUFFERS + i], layout};
    }
    assert_int_equal(maarSetMovedImageLayouts(rig->allocator, batch, IMAGES, layouts), VK_SUCCESS);
}

/* Records the copies of a batch, which are never executed. */
static void record(MaarMoveBatch batch)
{
    VkCommandPool command_pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = rig_open_commands(rig, &command_pool);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
}

/* Begins a batch that moves all objects, whose images have no contents. The copies of the buffers
 * are recorded. */
static MaarMoveBatch begin(void)
{
    const MaarMoveBatch batch = begin_bare();
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    set_layouts(batch, VK_IMAGE_LAYOUT_UNDEFINED);
    record(batch);
    return batch;
}

static void list_swaps(MaarMoveBatch batch, MaarObjectSwap swaps[COUNT])
{
    uint32_t count = COUNT;
    for (uint32_t i = 0; i < COUNT; ++i) {
        swaps[i] = (MaarObjectSwap){.sType = MAAR_STRUCTURE_TYPE_OBJECT_SWAP};
    }
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, &count, swaps), VK_SUCCESS);
    assert_int_equal(count, COUNT);
}

static uint32_t commit(MaarMoveBatch batch, const MaarPoint* point)
{
    uint32_t moved = 77;
    assert_int_equal(maarCommitMoves(rig->allocator, batch, point != NULL ? 1 : 0, point, &moved),
                     VK_SUCCESS);
    return moved;
}

static MaarPoint next_host_point(void)
{
    return (MaarPoint){VK_NULL_HANDLE, ++host_value};
}

static void pass_host_points(void)
{
    assert_int_equal(maarAdvanceHostTimeline(rig->allocator, host_value), VK_SUCCESS);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
}

static void expect_object(MaarAllocation memory, VkBuffer buffer, VkImage image)
{
    VkBuffer own_buffer = VK_NULL_HANDLE;
    VkImage own_image = VK_NULL_HANDLE;
    assert_int_equal(maarGetMovableObject(rig->allocator, memory, &own_buffer, &own_image),
                     VK_SUCCESS);
    assert_true(own_buffer == buffer && own_image == image);
}

/* ---- swaps ---- */

static void commit_swaps_all_objects(void** state)
{
    MaarObjectSwap swaps[COUNT];
    (void)state;
    open_scene(0);
    for (uint32_t round = 1; round <= 3; ++round) {
        const MaarMoveBatch batch = begin();
        const MaarPoint point = next_host_point();
        list_swaps(batch, swaps);
        assert_int_equal(live_objects(), 2 * COUNT);
        for (uint32_t i = 0; i < COUNT; ++i) {
            assert_true(swaps[i].allocation == memories[i]);
            assert_int_equal(swaps[i].obstacle, MAAR_MOVE_OBSTACLE_NONE);
            assert_ptr_equal(swaps[i].pUserData, &memories[i]);
            assert_true(swaps[i].oldBuffer == buffers[i] && swaps[i].oldImage == images[i]);
            assert_true((swaps[i].newBuffer != VK_NULL_HANDLE) == (i < BUFFERS));
            assert_true((swaps[i].newImage != VK_NULL_HANDLE) == (i >= BUFFERS));
            expect_object(memories[i], buffers[i], images[i]);
        }
        assert_int_equal(commit(batch, &point), COUNT);
        for (uint32_t i = 0; i < COUNT; ++i) {
            buffers[i] = swaps[i].newBuffer;
            images[i] = swaps[i].newImage;
            expect_object(memories[i], buffers[i], images[i]);
            assert_int_equal(rig_info(rig, memories[i]).locationEpoch, round);
        }
        /* The device may use the old objects until the point passes. */
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
        assert_int_equal(live_objects(), 2 * COUNT);
        pass_host_points();
        assert_int_equal(live_objects(), COUNT);
    }
    close_scene();
}

static void objects_are_created_once(void** state)
{
    MaarObjectSwap first[COUNT];
    MaarObjectSwap again[COUNT];
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    list_swaps(batch, first);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    list_swaps(batch, again);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_true(first[i].newBuffer == again[i].newBuffer &&
                    first[i].newImage == again[i].newImage);
    }
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    assert_int_equal(live_objects(), COUNT);
    for (uint32_t i = 0; i < COUNT; ++i) {
        expect_object(memories[i], buffers[i], images[i]);
    }
    close_scene();
}

/* The list is cut like any other list. */
static void list_says_what_it_left_out(void** state)
{
    MaarObjectSwap swaps[2] = {{.sType = MAAR_STRUCTURE_TYPE_OBJECT_SWAP}};
    uint32_t count = 0;
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, COUNT);
    count = 2;
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, &count, swaps),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_WRONG_STRUCTURE_TYPE, "pSwaps");
    count = 1;
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, &count, swaps), VK_INCOMPLETE);
    assert_int_equal(count, 1);
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, NULL, swaps),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_NULL_ARGUMENT, "pCount");
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    close_scene();
}

static void dropped_moves_keep_their_objects(void** state)
{
    MaarObjectSwap swaps[COUNT];
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    const MaarPoint point = next_host_point();
    const MaarAllocation dropped[] = {memories[0], memories[COUNT - 1]};
    assert_int_equal(maarDropMoves(rig->allocator, batch, 2, dropped), VK_SUCCESS);
    list_swaps(batch, swaps);
    assert_int_equal(swaps[0].obstacle, MAAR_MOVE_OBSTACLE_DROPPED);
    assert_int_equal(commit(batch, &point), COUNT - 2);
    expect_object(memories[0], buffers[0], VK_NULL_HANDLE);
    expect_object(memories[COUNT - 1], VK_NULL_HANDLE, images[COUNT - 1]);
    for (uint32_t i = 1; i + 1 < COUNT; ++i) {
        expect_object(memories[i], swaps[i].newBuffer, swaps[i].newImage);
        buffers[i] = swaps[i].newBuffer;
        images[i] = swaps[i].newImage;
    }
    assert_int_equal(live_objects(), 2 * COUNT);
    pass_host_points();
    assert_int_equal(live_objects(), COUNT);
    close_scene();
}

/* A batch of which some moves were dropped before the objects exist creates no object for them. */
static void dropped_moves_get_no_objects(void** state)
{
    uint32_t count = 0;
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin_bare();
    assert_int_equal(maarDropMoves(rig->allocator, batch, 1, memories), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(maarGetObjectSwaps(rig->allocator, batch, &count, NULL), VK_SUCCESS);
    assert_int_equal(count, COUNT - 1);
    assert_int_equal(live_objects(), 2 * COUNT - 1);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    close_scene();
}

/* ---- what is mapped ---- */

static void mapped_object_stays(void** state)
{
    void* data = NULL;
    (void)state;
    const struct rig_setup setup = {.paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT};
    rig = rig_begin(&setup);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    how.pNext = &movable;
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo begin_info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    assert_int_equal(maarBeginMoves(rig->allocator, &begin_info, &batch), VK_SUCCESS);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    record(batch);
    assert_int_equal(maarMapMemory(rig->allocator, memory, &data), VK_SUCCESS);
    assert_int_equal(commit(batch, NULL), 0);
    expect_object(memory, buffer, VK_NULL_HANDLE);
    assert_int_equal(live_objects(), 1);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    assert_int_equal(live_objects(), 0);
}

/* ---- destruction ---- */

enum { AT_ONCE, AFTER_POINTS, DESTRUCTIONS };

/* The device may still copy from an object that the program destroys while it moves. */
static void destroy_during_a_move(uint32_t how, bool commits, bool has_points)
{
    MaarObjectSwap swaps[COUNT];
    open_scene(0);
    const MaarMoveBatch batch = begin();
    const MaarPoint of_object = next_host_point();
    const MaarPoint of_batch = next_host_point();
    if (how == AT_ONCE) {
        destroy_object(0);
        destroy_object(COUNT - 1);
    } else {
        assert_int_equal(
            maarDestroyBufferAfter(rig->allocator, buffers[0], memories[0], 1, &of_object),
            VK_SUCCESS);
        assert_int_equal(maarDestroyImageAfter(rig->allocator, images[COUNT - 1],
                                               memories[COUNT - 1], 1, &of_object),
                         VK_SUCCESS);
        memories[0] = VK_NULL_HANDLE;
        memories[COUNT - 1] = VK_NULL_HANDLE;
        assert_int_equal(maarAdvanceHostTimeline(rig->allocator, of_object.value), VK_SUCCESS);
        assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    }
    assert_int_equal(live_objects(), 2 * COUNT);
    list_swaps(batch, swaps);
    assert_int_equal(swaps[0].obstacle, MAAR_MOVE_OBSTACLE_FREED);
    assert_null(swaps[0].pUserData);
    if (commits) {
        assert_int_equal(commit(batch, has_points ? &of_batch : NULL), COUNT - 2);
        for (uint32_t i = 1; i + 1 < COUNT; ++i) {
            buffers[i] = swaps[i].newBuffer;
            images[i] = swaps[i].newImage;
        }
    } else {
        assert_int_equal(maarCancelMoves(rig->allocator, batch, has_points ? 1 : 0, &of_batch),
                         VK_SUCCESS);
    }
    assert_int_equal(live_objects(), has_points ? 2 * COUNT : COUNT - 2);
    pass_host_points();
    assert_int_equal(live_objects(), COUNT - 2);
    close_scene();
}

static void destroyed_objects_live_until_the_batch_ends(void** state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; ++i) {
        destroy_during_a_move(i % 2 == 0 ? AT_ONCE : AFTER_POINTS, i / 2 % 2 == 0, i / 4 == 0);
        (void)rig_end_case(state);
    }
}

/* The points of the free pass after the batch has ended. */
static void destruction_waits_for_its_points_too(void** state)
{
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    const MaarPoint point = next_host_point();
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffers[0], memories[0], 1, &point),
                     VK_SUCCESS);
    memories[0] = VK_NULL_HANDLE;
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    assert_int_equal(live_objects(), COUNT);
    pass_host_points();
    assert_int_equal(live_objects(), COUNT - 1);
    close_scene();
}

static void destroyed_before_there_are_new_objects(void** state)
{
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin_bare();
    destroy_object(0);
    assert_int_equal(live_objects(), COUNT - 1);
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(live_objects(), 2 * (COUNT - 1));
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    assert_int_equal(live_objects(), COUNT - 1);
    close_scene();
}

/* Another thread that has not seen the swap yet destroys by the handle that it knows. */
static void old_handle_destroys_the_new_object(void** state)
{
    MaarObjectSwap swaps[COUNT];
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    list_swaps(batch, swaps);
    assert_int_equal(commit(batch, NULL), COUNT);
    assert_int_equal(live_objects(), COUNT);
    destroy_object(0);
    maarDestroyImage(rig->allocator, VK_NULL_HANDLE, memories[COUNT - 1]);
    memories[COUNT - 1] = VK_NULL_HANDLE;
    assert_int_equal(live_objects(), COUNT - 2);
    /* An object that it never had is a mistake. */
    maarDestroyBuffer(rig->allocator, swaps[0].newBuffer, memories[1]);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "maarGetMovableObject");
    assert_int_equal(maarDestroyImageAfter(rig->allocator, swaps[1].newImage, memories[1], 0, NULL),
                     VK_SUCCESS);
    memories[1] = VK_NULL_HANDLE;
    assert_int_equal(live_objects(), COUNT - 3);
    close_scene();
}

static void memory_does_not_go_without_its_object(void** state)
{
    const MaarPoint point = {VK_NULL_HANDLE, 1};
    (void)state;
    open_scene(0);
    maarFreeMemory(rig->allocator, memories[0]);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, "maarDestroyBuffer");
    maarFreeMemories(rig->allocator, 1, memories);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, "maarDestroyBuffer");
    assert_int_equal(maarFreeMemoryAfter(rig->allocator, memories[0], 1, &point),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ALLOCATION_IS_OWNED, "maarDestroyBuffer");
    assert_int_equal(live_objects(), COUNT);
    close_scene();
}

static void forgotten_objects_leak_no_host_memory(void** state)
{
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    (void)batch;
    for (uint32_t i = 0; i < COUNT; ++i) {
        vkDestroyBuffer(rig->device, buffers[i], &rig->host_callbacks);
        vkDestroyImage(rig->device, images[i], &rig->host_callbacks);
    }
    maarDestroyPool(rig->allocator, pool);
    assert_int_equal(rig->messages.total, COUNT + 1);
    rig_expect_message(rig, MAAR_MESSAGE_ID_LEAK);
    assert_int_equal(live_objects(), 0);
}

/* A slot that is used again is not movable because of the former use. */
static void plain_objects_are_not_movable(void** state)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    (void)state;
    open_scene(0);
    destroy_object(0);
    const VkBufferCreateInfo info = rig_buffer_info(BYTES);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    assert_int_equal(maarGetMovableObject(rig->allocator, memory, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_CONFLICTING_ARGUMENTS, "allocation");
    vkDestroyBuffer(rig->device, buffer, &rig->host_callbacks);
    maarFreeMemory(rig->allocator, memory);
    close_scene();
}

/* ---- failures ---- */

/* Each host allocation and each call of the driver fails once. */
static void failed_creation_leaves_nothing(void** state)
{
    static const char* const functions[] = {NULL, "vkCreateBuffer", "vkCreateImage",
                                            "vkBindBufferMemory2", "vkBindImageMemory2"};
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin_bare();
    const uint64_t host_before = rig->host.live;
    for (uint32_t f = 0; f < sizeof functions / sizeof functions[0]; ++f) {
        for (uint32_t nth = 1; nth <= 2; ++nth) {
            if (functions[f] != NULL) {
                rig_set_fault(rig, functions[f], nth, 1, VK_ERROR_OUT_OF_DEVICE_MEMORY);
            } else {
                rig->host.fail_at = rig->host.calls + 3 * nth;
            }
            assert_true(maarCreateMovedObjects(rig->allocator, batch) != VK_SUCCESS);
            rig_clear_faults(rig);
            rig->host.fail_at = 0;
            assert_int_equal(live_objects(), COUNT);
            assert_int_equal(rig->host.live, host_before);
            rig_forget_messages(rig);
        }
    }
    assert_int_equal(maarCreateMovedObjects(rig->allocator, batch), VK_SUCCESS);
    assert_int_equal(live_objects(), 2 * COUNT);
    assert_int_equal(maarCancelMoves(rig->allocator, batch, 0, NULL), VK_SUCCESS);
    close_scene();
}

static void failed_commit_changes_nothing(void** state)
{
    (void)state;
    open_scene(0);
    const MaarMoveBatch batch = begin();
    const MaarPoint point = next_host_point();
    for (uint32_t nth = 1;; ++nth) {
        rig->host.fail_at = rig->host.calls + nth;
        const VkResult result = maarCommitMoves(rig->allocator, batch, 1, &point, NULL);
        rig->host.fail_at = 0;
        if (result == VK_SUCCESS) {
            assert_true(nth > COUNT);
            break;
        }
        assert_int_equal(result, VK_ERROR_OUT_OF_HOST_MEMORY);
        for (uint32_t i = 0; i < COUNT; ++i) {
            expect_object(memories[i], buffers[i], images[i]);
        }
    }
    pass_host_points();
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(maarGetMovableObject(rig->allocator, memories[i], &buffers[i], &images[i]),
                         VK_SUCCESS);
    }
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(commit_swaps_all_objects),
        rig_unit_test(objects_are_created_once),
        rig_unit_test(list_says_what_it_left_out),
        rig_unit_test(dropped_moves_keep_their_objects),
        rig_unit_test(dropped_moves_get_no_objects),
        rig_unit_test(mapped_object_stays),
        rig_unit_test(destroyed_objects_live_until_the_batch_ends),
        rig_unit_test(destruction_waits_for_its_points_too),
        rig_unit_test(destroyed_before_there_are_new_objects),
        rig_unit_test(old_handle_destroys_the_new_object),
        rig_unit_test(memory_does_not_go_without_its_object),
        rig_unit_test(forgotten_objects_leak_no_host_memory),
        rig_unit_test(plain_objects_are_not_movable),
        rig_unit_test(failed_creation_leaves_nothing),
        rig_unit_test(failed_commit_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
