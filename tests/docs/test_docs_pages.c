/*
 * The C of the pages on per-frame data, budgets, threads, debugging, dumps, moves and placement
 * does what the pages say, on a simulated device.
 */
#include <inttypes.h>
#include <stdio.h>

#include "tests/rig/captured.h"
#include "tests/unit/reservation/reservation_fixture.h"

/* Stand for the program's mutex. */
static int locks_held;
static int locks_taken;
static void lock(void* mutex)
{
    assert_non_null(mutex);
    ++locks_held;
    ++locks_taken;
}
static void unlock(void* mutex)
{
    assert_non_null(mutex);
    --locks_held;
}

#include "budgets.inc"
#include "debugging.inc"
#include "dumps.inc"
#include "memory-types.inc"
#include "migrating.inc"
#include "moving.inc"
#include "ordered-reuse.inc"
#include "per-frame-data.inc"
#include "threads.inc"

static void docs_replaced_texture_goes_after_its_last_use(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    const VkImageCreateInfo info = rig_image_info(64, 64);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(rig->allocator, &info, NULL, &image, &allocation), VK_SUCCESS);
    const VkImage first = image;
    const MaarPoint last_use = end_of_frame(timeline, 6);
    assert_int_equal(replace_texture(rig->allocator, &info, &last_use, &image, &allocation),
                     VK_SUCCESS);
    assert_true(image != first);
    const VkBufferCreateInfo buffer_info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation its_memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &buffer_info, NULL, &buffer, &its_memory),
                     VK_SUCCESS);
    assert_int_equal(destroy_after(rig->allocator, timeline, 6, buffer, its_memory), VK_SUCCESS);
    rig_signal(rig, timeline, 6);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 2);
    rig_signal(rig, timeline, 7);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    maarDestroyImage(rig->allocator, image, allocation);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_pending_buffer_serves_the_next_submission(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    const VkBufferCreateInfo info = rig_buffer_info(64 * KIB);
    const MaarPoint first = {rig_create_timeline(rig, 0), 1};
    const MaarPoint second = {rig_create_timeline(rig, 0), 1};
    VkBuffer buffers[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocation memory[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    assert_int_equal(create_after(rig->allocator, &info, 0, NULL, &buffers[0], &memory[0]),
                     VK_SUCCESS);
    const VkDeviceSize place = rig_info(rig, memory[0]).offset;
    assert_int_equal(declare_submission(rig->allocator, 0, NULL, first), VK_SUCCESS);
    assert_int_equal(declare_submission(rig->allocator, 1, &first, second), VK_SUCCESS);
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffers[0], memory[0], 1, &first),
                     VK_SUCCESS);
    assert_int_equal(create_after(rig->allocator, &info, 1, &second, &buffers[1], &memory[1]),
                     VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory[1]).offset, place);
    rig_signal(rig, first.semaphore, 1);
    assert_int_equal(maarCollect(rig->allocator, NULL), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, buffers[1], memory[1]);
    assert_int_equal(maarForgetTimeline(rig->allocator, first.semaphore), VK_SUCCESS);
    vkDestroySemaphore(rig->device, first.semaphore, NULL);
    vkDestroySemaphore(rig->device, second.semaphore, NULL);
}

static void docs_slice_stays_until_its_frame_is_done(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const float matrix[16] = {1.0f, 0.0f, 0.5f};
    VkDescriptorBufferInfo bound[2] = {{.range = 0}, {.range = 0}};
    const MaarPoint end = end_of_frame_by_fence(0);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(write_uniforms(rig->allocator, matrix, sizeof(matrix), &end, &bound[i]),
                         VK_SUCCESS);
        assert_int_equal(bound[i].range, sizeof(matrix));
    }
    assert_true(bound[0].buffer == bound[1].buffer);
    assert_true(bound[0].offset != bound[1].offset);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingSliceCount, 2);
    frame_is_done(rig->allocator, 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingSliceCount, 0);
}

static void docs_parts_of_one_buffer_serve_frames(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    struct frame_data f;
    assert_int_equal(create_frame_data(rig->allocator, 4096, &f), VK_SUCCESS);
    const char text[100] = "of this frame";
    begin_frame_data(&f, 4);
    assert_int_equal(push_frame_data(&f, text, 100, 64), 4096);
    assert_int_equal(push_frame_data(&f, text, 100, 64), 4096 + 128);
    assert_memory_equal(f.mapped + 4096 + 128, text, sizeof(text));
    assert_int_equal(end_frame_data(rig->allocator, &f), VK_SUCCESS);
    begin_frame_data(&f, 5);
    uint32_t pushed = 0;
    while (push_frame_data(&f, text, 100, 64) != VK_WHOLE_SIZE) {
        ++pushed;
    }
    assert_int_equal(pushed, 32);
    assert_int_equal(end_frame_data(rig->allocator, &f), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, f.buffer, f.allocation);
}

static void docs_staging_pool_is_a_ring(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(create_staging_pool(rig->allocator, 4 * MIB, &pool), VK_SUCCESS);
    char* const data = calloc(1, MIB);
    assert_non_null(data);
    VkBuffer buffers[4];
    MaarAllocation allocations[4];
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(stage(rig->allocator, pool, data, MIB, &buffers[i], &allocations[i]),
                         VK_SUCCESS);
        assert_int_equal(rig_info(rig, allocations[i]).offset, i * MIB);
    }
    VkBuffer more = VK_NULL_HANDLE;
    MaarAllocation its_memory = VK_NULL_HANDLE;
    assert_int_equal(stage(rig->allocator, pool, data, MIB, &more, &its_memory),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    const MaarPoint copied = {.value = 1};
    assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffers[0], allocations[0], 1, &copied),
                     VK_SUCCESS);
    frame_is_done(rig->allocator, 0);
    assert_int_equal(stage(rig->allocator, pool, data, MIB, &more, &its_memory), VK_SUCCESS);
    assert_int_equal(rig_info(rig, its_memory).offset, 0);
    maarDestroyBuffer(rig->allocator, more, its_memory);
    for (uint32_t i = 1; i < 4; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], allocations[i]);
    }
    free(data);
    maarDestroyPool(rig->allocator, pool);
}

static void submit_frame(struct rig* rig, VkSemaphore timeline, uint64_t value)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* The ring has room for two frames with two pieces each, and the device executes nothing before
 * somebody waits for it. */
static void docs_full_ring_waits_for_the_oldest_frame(void** state)
{
    enum { FRAMES = 6, PIECES = 2 };
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    MaarPool pool = VK_NULL_HANDLE;
    assert_int_equal(create_staging_pool(rig->allocator, 4 * MIB, &pool), VK_SUCCESS);
    const VkSemaphore timeline = rig_create_timeline(rig, 0);
    char* const data = calloc(1, MIB);
    assert_non_null(data);
    uint64_t oldest = 0;
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    for (uint64_t frame = 0; frame < FRAMES; ++frame) {
        const MaarPoint end = end_of_frame(timeline, frame);
        for (uint32_t i = 0; i < PIECES; ++i) {
            VkBuffer buffer = VK_NULL_HANDLE;
            MaarAllocation allocation = VK_NULL_HANDLE;
            assert_int_equal(stage_in_turn(rig->allocator, pool, data, MIB, timeline, &oldest,
                                           frame, &buffer, &allocation),
                             VK_SUCCESS);
            assert_int_equal(maarDestroyBufferAfter(rig->allocator, buffer, allocation, 1, &end),
                             VK_SUCCESS);
        }
        assert_true(oldest <= frame);
        submit_frame(rig, timeline, end.value);
    }
    assert_in_range(oldest, 1, FRAMES - 1);
    rig_expect_message(rig, MAAR_MESSAGE_ID_POOL_FULL);
    maarSimulatedSetFlags(rig->physical, 0);
    assert_int_equal(vkQueueWaitIdle(rig->queue), VK_SUCCESS);
    /* A frame that fills the ring by itself waits for nothing. */
    VkBuffer held[4];
    MaarAllocation memories[4];
    oldest = FRAMES;
    for (uint32_t i = 0; i < 4; ++i) {
        assert_int_equal(stage_in_turn(rig->allocator, pool, data, MIB, timeline, &oldest, FRAMES,
                                       &held[i], &memories[i]),
                         VK_SUCCESS);
    }
    VkBuffer more = VK_NULL_HANDLE;
    MaarAllocation its_memory = VK_NULL_HANDLE;
    assert_int_equal(stage_in_turn(rig->allocator, pool, data, MIB, timeline, &oldest, FRAMES,
                                   &more, &its_memory),
                     VK_ERROR_OUT_OF_POOL_MEMORY);
    rig_forget_messages(rig);
    for (uint32_t i = 0; i < 4; ++i) {
        maarDestroyBuffer(rig->allocator, held[i], memories[i]);
    }
    free(data);
    maarDestroyPool(rig->allocator, pool);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_mesh_is_written_in_place_where_that_is_possible(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    VkBool32 needs_copy = VK_TRUE;
    assert_int_equal(create_mesh(rig->allocator, 65536, &buffer, &allocation, &needs_copy),
                     VK_SUCCESS);
    assert_int_equal(needs_copy, VK_FALSE);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
    rig_close(rig);

    rig_start(rig, &(struct rig_setup){.profile = rig_profile_tiny()});
    assert_int_equal(create_mesh(rig->allocator, 65536, &buffer, &allocation, &needs_copy),
                     VK_SUCCESS);
    assert_int_equal(needs_copy, VK_TRUE);
    maarDestroyBuffer(rig->allocator, buffer, allocation);
}

static void dispatch_nothing(VkCommandBuffer commands)
{
    assert_non_null(commands);
}

static void docs_work_goes_up_and_comes_down(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&(struct rig_setup){.flags = MAAR_SIMULATED_EXECUTE_BIT});
    static const MaarMemoryUsage usages[] = {
        MAAR_MEMORY_USAGE_UPLOAD, MAAR_MEMORY_USAGE_DEVICE_LOCAL, MAAR_MEMORY_USAGE_READBACK};
    const uint32_t sent[] = {1, 2, 3, 4};
    uint32_t received[4] = {0};
    struct work_buffer made[3];
    for (uint32_t i = 0; i < 3; ++i) {
        assert_int_equal(make_work_buffer(rig->allocator, sizeof sent, usages[i], &made[i]),
                         VK_SUCCESS);
    }
    assert_int_equal(maarCopyToAllocation(rig->allocator, made[0].memory, 0, sizeof sent, sent),
                     VK_SUCCESS);
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkCommandPool pool = VK_NULL_HANDLE;
    assert_int_equal(vkCreateCommandPool(rig->device, &pool_info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo buffer_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    VkCommandBuffer commands = VK_NULL_HANDLE;
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &buffer_info, &commands), VK_SUCCESS);
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    record_work(commands, sizeof sent, made[0].buffer, made[1].buffer, made[2].buffer,
                dispatch_nothing);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &commands};
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig->queue), VK_SUCCESS);
    assert_int_equal(
        maarCopyFromAllocation(rig->allocator, made[2].memory, 0, sizeof received, received),
        VK_SUCCESS);
    assert_memory_equal(received, sent, sizeof sent);
    vkDestroyCommandPool(rig->device, pool, NULL);
    for (uint32_t i = 0; i < 3; ++i) {
        maarDestroyBuffer(rig->allocator, made[i].buffer, made[i].memory);
    }
}

/* What a page prints, for comparison. */
static char printed[4096];
static FILE* open_printed(void)
{
    memset(printed, 0, sizeof(printed));
    FILE* const file = tmpfile();
    assert_non_null(file);
    return file;
}

static void close_printed(FILE* file)
{
    rewind(file);
    (void)fread(printed, 1, sizeof(printed) - 1, file);
    assert_int_equal(fclose(file), 0);
}

static void docs_observer_makes_room(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, &(struct rig_setup){.profile = rig_profile_tiny()});
    struct texture_cache cache = {.count = 0};
    rig->create_info.pfnOutOfMemory = give_up_textures;
    rig->create_info.pOutOfMemoryUserData = &cache;
    rig_make_allocator(rig);
    cache.allocator = rig->allocator;
    VkSemaphore timeline = rig_create_timeline(rig, 0);
    const MaarPoint last_use = end_of_frame(timeline, 0);
    cache.last_use = &last_use;
    const VkImageCreateInfo info = rig_image_info(1024, 512);
    const MaarAllocationCreateInfo there = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                            .requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
    while (cache.count < 32 &&
           maarCreateImage(rig->allocator, &info, &there, &cache.images[cache.count],
                           &cache.oldest[cache.count]) == VK_SUCCESS &&
           rig_statistics(rig, VK_NULL_HANDLE).blockBytes < 56 * MIB) {
        ++cache.count;
    }
    ++cache.count; /* the one that ended the loop */
    const uint32_t before = cache.count;
    assert_in_range(before, 8, 31);
    rig_signal(rig, timeline, 1);
    /* The frame that is being recorded has used a slice: it is not submitted before the image is
     * there, so the observer must not wait for it. */
    const MaarPoint end_of_this_frame = end_of_frame(timeline, 1);
    const char uniforms[16] = {0};
    VkDescriptorBufferInfo bound;
    assert_int_equal(
        write_uniforms(rig->allocator, uniforms, sizeof uniforms, &end_of_this_frame, &bound),
        VK_SUCCESS);
    VkImage target = VK_NULL_HANDLE;
    MaarAllocation its_memory = VK_NULL_HANDLE;
    VkImageCreateInfo large = rig_image_info(2048, 2048);
    large.usage |= VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    MaarAllocationCreateInfo how = there;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    assert_int_equal(maarCreateImage(rig->allocator, &large, &how, &target, &its_memory),
                     VK_SUCCESS);
    assert_true(cache.count < before);
    maarDestroyImage(rig->allocator, target, its_memory);
    while (cache.count > 0) {
        --cache.count;
        maarDestroyImage(rig->allocator, cache.images[cache.count], cache.oldest[cache.count]);
    }
    rig_signal(rig, timeline, 2);
    assert_true(give_back(rig->allocator) > 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_old_blocks_are_given_back(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    maarFreeMemory(rig->allocator, rig_allocate(rig, MIB, NULL));
    assert_int_equal(give_back_old(rig->allocator, 1000), 0);
    assert_int_equal(give_back_old(rig->allocator, 1299), 0);
    assert_true(give_back_old(rig->allocator, 1300) > 0);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 0);
}

static void docs_budgets_are_printed(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation allocation = VK_NULL_HANDLE;
    const VkImageCreateInfo info = rig_image_info(1024, 1024);
    assert_int_equal(create_render_target(rig->allocator, &info, &image, &allocation), VK_SUCCESS);
    assert_true(rig_info(rig, allocation).dedicated);
    FILE* const file = open_printed();
    print_budgets(rig->allocator, file);
    assert_int_equal(print_choice(rig->allocator, file), VK_SUCCESS);
    close_printed(file);
    assert_non_null(strstr(printed, "memory type "));
    assert_non_null(strstr(printed, "heap 0: 4 of 8192 MiB used, 4 by Maar in 1 blocks\n"));
    assert_non_null(strstr(printed, "heap 1: "));
    maarDestroyImage(rig->allocator, image, allocation);
}

static void docs_messages_and_leaks_have_names(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    FILE* const file = open_printed();
    assert_int_equal(create_with_log(&rig->create_info, file, &rig->allocator), VK_SUCCESS);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pName = "albedo";
    how.pUserData = (void*)(uintptr_t)42;
    const MaarMemoryRequest request = rig_request(1000000, 1, 1, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocation allocation = VK_NULL_HANDLE;
    assert_int_equal(maarAllocateMemory(rig->allocator, &request, &how, &allocation), VK_SUCCESS);
    print_large(rig->allocator, 1000, file);
    assert_true(books_are_in_order(rig->allocator, file));
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    close_printed(file);
    assert_non_null(strstr(printed, "block 1, offset 0: 1000000 bytes of \"albedo\"\n"));
    assert_non_null(strstr(
        printed, "maar: warning: leak: allocation \"albedo\" of 1000000 bytes in memory type "
                 "0, block 1, user data 0x2a, was never freed [LEAK]\n"));
}

static void docs_program_of_0_1_is_told_and_answered(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_open(rig, NULL);
    FILE* const file = open_printed();
    rig->create_info.pfnMessage = on_message;
    rig->create_info.pMessageUserData = file;
    rig_make_allocator(rig);
    assert_int_equal(print_reason(rig->allocator, UINT32_MAX, file), VK_SUCCESS);
    assert_int_equal(maarAllocateMemory(rig->allocator, NULL, NULL, NULL),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    close_printed(file);
    assert_non_null(strstr(printed, "memory type 0: "));
    assert_non_null(strstr(printed, "\nmaar: maarAllocateMemory: "));
}

static void docs_margins_find_damage(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    MaarMarginInfo margins;
    rig_open(rig, NULL);
    use_margins(&rig->create_info, &margins);
    rig_make_allocator(rig);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
    const MaarAllocation allocation = rig_allocate(rig, 1000, &how);
    void* data = NULL;
    assert_int_equal(maarMapMemory(rig->allocator, allocation, &data), VK_SUCCESS);
    assert_true(margins_are_intact(rig->allocator));
    ((unsigned char*)data)[1000] ^= 1;
    assert_false(margins_are_intact(rig->allocator));
    maarUnmapMemory(rig->allocator, allocation);
    maarFreeMemory(rig->allocator, allocation);
    rig_expect_message(rig, MAAR_MESSAGE_ID_MARGIN_OVERWRITTEN);
}

static void docs_capture_has_frames(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    char path[128];
    struct support_history history;
    const MaarPoint done = {.semaphore = rig_create_timeline(rig, 0), .value = 1};
    (void)remove(captured_path(60, path));
    assert_int_equal(begin_capture(rig->allocator, path), VK_SUCCESS);
    capture_frame(rig->allocator, rig->queue, done);
    assert_int_equal(maarEndCapture(rig->allocator), VK_SUCCESS);
    captured_load(path, &history);
    captured_check(&history, false);
    assert_int_equal(history.devices.items[0].frame_count, 1);
    assert_int_equal(history.points.items[0].value, 1);
    support_history_release(&history);
    vkDestroySemaphore(rig->device, done.semaphore, NULL);
}

static void docs_violations_are_printed(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    FILE* const file = open_printed();
    assert_true(driver_saw_no_mistake(rig->physical, file));
    VkBuffer buffer = VK_NULL_HANDLE;
    const VkBufferCreateInfo nothing = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    (void)vkCreateBuffer(rig->device, &nothing, NULL, &buffer);
    vkDestroyBuffer(rig->device, buffer, NULL);
    assert_false(driver_saw_no_mistake(rig->physical, file));
    close_printed(file);
    assert_non_null(strstr(printed, "violation: vkCreateBuffer"));
    rig->expected_violations = 1;
}

static void docs_queue_is_locked_around_submissions(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    fixture_open(rig, FIXTURE_SPARSE, 65536, NULL);
    maarDestroyAllocator(rig->allocator);
    int mutex = 0;
    const MaarQueue binds = rig->create_info.pQueues[0];
    const MaarQueue queue = shared_queue(binds.queue, binds.familyIndex, &mutex);
    rig->create_info.queueCount = 1;
    rig->create_info.pQueues = &queue;
    rig_make_allocator(rig);
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(fixture_try(rig, MIB, 0, &reservation), VK_SUCCESS);
    const MaarPageRange all = {.offset = 0, .size = MIB};
    assert_int_equal(maarCommitPages(rig->allocator, reservation, 1, &all), VK_SUCCESS);
    assert_int_equal(locks_taken, 0);
    assert_int_equal(maarSubmitBinds(rig->allocator, 0, NULL, NULL), VK_SUCCESS);
    assert_int_equal(locks_taken, 1);
    assert_int_equal(locks_held, 0);
    maarDestroyReservation(rig->allocator, reservation);
}

static void docs_timelines_end_after_their_threads(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    VkSemaphore timelines[2];
    for (uint32_t i = 0; i < 2; ++i) {
        timelines[i] = rig_create_timeline(rig, 0);
        const MaarPoint last_use = {.semaphore = timelines[i], .value = 1};
        const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
        assert_int_equal(
            maarFreeMemoryAfter(rig->allocator, rig_allocate(rig, 100, &how), 1, &last_use),
            VK_SUCCESS);
        rig_signal(rig, timelines[i], 1);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 2);
    assert_int_equal(destroy_timelines(rig->allocator, rig->device, 2, timelines), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
}

static void docs_dump_is_written(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    FILE* const file = open_printed();
    assert_int_equal(write_dump(rig->allocator, file), VK_SUCCESS);
    const long size = ftell(file);
    close_printed(file);
    assert_int_equal(strlen(printed), size); /* no zero in the file */
    assert_non_null(strstr(printed, "\"DefaultPools\""));
    assert_int_equal(printed[size - 2], '}');
}

static void docs_ranges_are_placed(void** state)
{
    (void)state;
#include "ranges.inc"
    assert_int_equal(result, VK_SUCCESS);
    assert_int_equal(first, 0);
    MaarRangeStatistics totals = {.sType = MAAR_STRUCTURE_TYPE_RANGE_STATISTICS};
    assert_int_equal(maarGetRangeStatistics(slots, &totals), VK_SUCCESS);
    assert_int_equal(totals.freeSize, 4096);
    maarDestroyRangeAllocator(slots);
}

static void docs_buffers_move(void** state)
{
    (void)state;
    enum { COUNT = 3 };
    const struct rig_setup setup = {.paging = true, .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    const VkSemaphore timeline = rig_create_timeline(rig, 1);
    const MaarPoint last_use = {timeline, 1};
    struct moving_buffer buffers[COUNT];
    VkBuffer old[COUNT];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarPoint copied;
    for (uint32_t i = 0; i < COUNT; ++i) {
        buffers[i] = (struct moving_buffer){.info = rig_buffer_info(5000)};
        assert_int_equal(maarCreateBuffer(rig->allocator, &buffers[i].info, NULL,
                                          &buffers[i].buffer, &buffers[i].memory),
                         VK_SUCCESS);
        old[i] = buffers[i].buffer;
    }
    assert_int_equal(begin_moves(rig->allocator, COUNT, buffers, &batch), VK_SUCCESS);
    assert_int_equal(bind_moved(rig->allocator, rig->device, batch, COUNT, buffers), VK_SUCCESS);
    assert_int_equal(copy_moves(rig->allocator, batch, &last_use, &copied), VK_SUCCESS);
    assert_int_equal(commit_moves(rig->allocator, batch, &last_use, &copied, COUNT, buffers),
                     VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(rig_info(rig, buffers[i].memory).locationEpoch, 1);
        assert_true(buffers[i].buffer != old[i]);
        maarDestroyBuffer(rig->allocator, buffers[i].buffer, buffers[i].memory);
    }
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_expect_silence(rig);
}

static void docs_movable_buffer_moves(void** state)
{
    (void)state;
    const struct rig_setup setup = {.paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT};
    struct rig* const rig = rig_begin(&setup);
    const MaarMovableInfo movable = {.sType = MAAR_STRUCTURE_TYPE_MOVABLE_INFO};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .pNext = &movable};
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    const MaarPoint last_use = {rig_create_timeline(rig, 1), 1};
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory), VK_SUCCESS);
    const VkBuffer old = buffer;
    MaarPoint moved = {.value = 0};
    assert_int_equal(move_buffer(rig->allocator, memory, &last_use, &buffer, &moved), VK_SUCCESS);
    assert_true(buffer != old);
    assert_true(moved.value > 0);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).locationEpoch, 1);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_BUFFER], 1);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    vkDestroySemaphore(rig->device, last_use.semaphore, NULL);
    rig_expect_silence(rig);
}

static void docs_movable_images_are_swapped(void** state)
{
    (void)state;
    enum { COUNT = 4 };
    const struct rig_setup setup = {.paging = true, .flags = MAAR_SIMULATED_EXECUTE_BIT};
    struct rig* const rig = rig_begin(&setup);
    const VkSemaphore timeline = rig_create_timeline(rig, 1);
    const MaarPoint last_use = {timeline, 1};
    const VkImageCreateInfo info = rig_image_info(64, 64);
    struct texture textures[COUNT];
    struct moving_buffer moving[COUNT]; /* begin_moves reads the memory alone */
    VkImage old[COUNT];
    MaarMoveBatch batch = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < COUNT; ++i) {
        textures[i].layout = VK_IMAGE_LAYOUT_UNDEFINED;
        assert_int_equal(create_movable_image(rig->allocator, &info, &textures[i],
                                              &textures[i].image, &moving[i].memory),
                         VK_SUCCESS);
        old[i] = textures[i].image;
    }
    assert_int_equal(begin_moves(rig->allocator, COUNT, moving, &batch), VK_SUCCESS);
    assert_int_equal(move_textures(rig->allocator, batch, &last_use), VK_SUCCESS);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_true(textures[i].image != old[i]);
        maarDestroyImage(rig->allocator, textures[i].image, moving[i].memory);
    }
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_expect_silence(rig);
}

static VkResult commit_at_once(MaarAllocator allocator, MaarMoveBatch batch)
{
    return maarCommitMoves(allocator, batch, 0, NULL, NULL);
}

static uint32_t frames;

static void count_frame(void)
{
    ++frames;
}

static void docs_blocks_are_emptied(void** state)
{
    (void)state;
    enum { COUNT = 64, IN_BLOCK = 16 };
    MaarAllocation memories[COUNT];
    struct rig* const rig = rig_begin(NULL);
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 0, .blockSize = IN_BLOCK * 4 * KIB, .retainedEmptySize = 1};
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < COUNT; ++i) {
        memories[i] = rig_allocate(rig, 4 * KIB, &how);
    }
    for (uint32_t i = 0; i < COUNT; ++i) {
        if (i % IN_BLOCK != 0) {
            maarFreeMemory(rig->allocator, memories[i]);
            memories[i] = VK_NULL_HANDLE;
        }
    }
    assert_int_equal(rig_statistics(rig, pool).blockCount, COUNT / IN_BLOCK);
    assert_int_equal(empty_blocks(rig->allocator, pool, commit_at_once, count_frame), VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, pool).blockCount, 1);
    maarFreeMemories(rig->allocator, COUNT, memories);
    maarDestroyPool(rig->allocator, pool);
}

static void docs_room_is_made(void** state)
{
    enum { COUNT = 32, IN_BLOCK = 16 };
    const MaarPoolCreateInfo info = {
        .memoryTypeIndex = 1, .blockSize = IN_BLOCK * 4096, .maxBlockCount = 2};
    struct rig* rig = rig_begin(NULL);
    MaarAllocation memories[COUNT];
    MaarAllocation room = VK_NULL_HANDLE;
    const VkMemoryRequirements needs = {.size = 8 * 4096, .alignment = 256, .memoryTypeBits = 2};
    (void)state;
    const MaarPool pool = rig_create_pool(rig, &info);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    how.pool = pool;
    for (uint32_t i = 0; i < COUNT; ++i) {
        memories[i] = rig_allocate(rig, 4096, &how);
    }
    for (uint32_t i = 0; i < COUNT; i += 2) {
        maarFreeMemory(rig->allocator, memories[i]);
        memories[i] = VK_NULL_HANDLE;
    }
    frames = 0;
    assert_int_equal(make_room(rig->allocator, pool, &needs, MAAR_RESOURCE_KIND_LINEAR, &room,
                               commit_at_once, count_frame),
                     VK_SUCCESS);
    assert_true(frames > 0);
    assert_int_equal(rig_info(rig, room).size, needs.size);
    maarFreeMemory(rig->allocator, room);
    maarFreeMemories(rig->allocator, COUNT, memories);
    maarDestroyPool(rig->allocator, pool);
}

static void docs_page_blocks_are_emptied(void** state)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* rig = fixture_begin(FIXTURE_SPARSE, 64 * KIB, &setup);
    const MaarDefragmentationBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_DEFRAGMENTATION_BEGIN_INFO,
        .goal = MAAR_DEFRAGMENTATION_GOAL_PAGES,
    };
    MaarReservation reservations[2]; /* with the pages of a block each */
    MaarDefragmentation run = VK_NULL_HANDLE;
    MaarMoveBatch batch = VK_NULL_HANDLE;
    MaarPoint usable = {VK_NULL_HANDLE, 0};
    (void)state;
    for (uint32_t i = 0; i < 2; ++i) {
        reservations[i] = fixture_reserve(rig, 16 * MIB, 0);
        assert_int_equal(fixture_commit(rig, reservations[i], 0, 16 * MIB), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(fixture_decommit(rig, reservations[i], MIB, 15 * MIB), VK_SUCCESS);
    }
    (void)fixture_submit(rig);
    assert_int_equal(fixture_statistics(rig).blockCount, 2);
    const VkSemaphore timeline = rig_create_timeline(rig, 1);
    const MaarPoint last_use = {timeline, 1};
    assert_int_equal(maarBeginDefragmentation(rig->allocator, &info, &run), VK_SUCCESS);
    assert_int_equal(maarStepDefragmentation(rig->allocator, run, NULL, &batch), VK_SUCCESS);
    assert_int_equal(move_pages(rig->allocator, batch, &last_use, &usable), VK_SUCCESS);
    assert_true(usable.value > 0);
    maarEndDefragmentation(rig->allocator, run);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).blockCount, 1);
    maarDestroyReservation(rig->allocator, reservations[0]);
    maarDestroyReservation(rig->allocator, reservations[1]);
    maarDestroyAllocator(rig->allocator);
    rig->allocator = VK_NULL_HANDLE;
    vkDestroySemaphore(rig->device, timeline, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(docs_replaced_texture_goes_after_its_last_use),
        rig_unit_test(docs_pending_buffer_serves_the_next_submission),
        rig_unit_test(docs_slice_stays_until_its_frame_is_done),
        rig_unit_test(docs_parts_of_one_buffer_serve_frames),
        rig_unit_test(docs_work_goes_up_and_comes_down),
        rig_unit_test(docs_staging_pool_is_a_ring),
        rig_unit_test(docs_full_ring_waits_for_the_oldest_frame),
        rig_unit_test(docs_mesh_is_written_in_place_where_that_is_possible),
        rig_unit_test(docs_observer_makes_room),
        rig_unit_test(docs_old_blocks_are_given_back),
        rig_unit_test(docs_budgets_are_printed),
        rig_unit_test(docs_messages_and_leaks_have_names),
        rig_unit_test(docs_program_of_0_1_is_told_and_answered),
        rig_unit_test(docs_margins_find_damage),
        rig_unit_test(docs_capture_has_frames),
        rig_unit_test(docs_violations_are_printed),
        rig_unit_test(docs_queue_is_locked_around_submissions),
        rig_unit_test(docs_timelines_end_after_their_threads),
        rig_unit_test(docs_dump_is_written),
        rig_unit_test(docs_buffers_move),
        rig_unit_test(docs_movable_buffer_moves),
        rig_unit_test(docs_movable_images_are_swapped),
        rig_unit_test(docs_blocks_are_emptied),
        rig_unit_test(docs_page_blocks_are_emptied),
        rig_unit_test(docs_room_is_made),
        cmocka_unit_test(docs_ranges_are_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
