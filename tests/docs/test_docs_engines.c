/*
 * The C of the pages on large buffers, fences and mapped memory does what the pages say, on a
 * simulated device.
 */
#include <stdint.h>
#include <stdlib.h>

#include "tests/unit/reservation/reservation_fixture.h"

#include "fences.inc"
#include "large-buffers.inc"
#include "mapping.inc"

#define PAGE (64 * KIB)

/* ---- large buffers ---- */

static void docs_cache_takes_what_is_used(void** state)
{
    (void)state;
    struct rig* const rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation cache = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarPoint bound[2] = {{VK_NULL_HANDLE, 0}, {VK_NULL_HANDLE, 0}};
    assert_int_equal(reserve_cache(rig->allocator, 4 * GIB, &cache, &buffer), VK_SUCCESS);
    assert_true(buffer != VK_NULL_HANDLE);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 0);
    const MaarPageRange used = {.offset = GIB, .size = 100 * KIB};
    assert_int_equal(commit_before_use(rig->allocator, cache, used, &bound[0]), VK_SUCCESS);
    assert_true(bound[0].value > 0);
    assert_int_equal(fixture_info(rig, cache).committedSize, 2 * PAGE);
    assert_in_range(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 2 * PAGE, 32 * MIB);
    /* Again: nothing is recorded, nothing submitted. */
    const uint64_t submissions = fixture_statistics(rig).submissionCount;
    assert_int_equal(commit_before_use(rig->allocator, cache, used, &bound[1]), VK_SUCCESS);
    assert_int_equal(fixture_statistics(rig).submissionCount, submissions);
    assert_int_equal(bound[1].value, bound[0].value);

    const MaarPoint last_use = {rig_create_timeline(rig, 1), 1};
    assert_int_equal(clear_cache(rig->allocator, cache, &last_use), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, cache).committedSize, 0);
    assert_true(fixture_info(rig, cache).buffer == buffer);
    maarDestroyReservation(rig->allocator, cache);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig->device, last_use.semaphore, NULL);
}

static void docs_new_pages_of_a_cache_are_zeroed(void** state)
{
    (void)state;
    struct rig* const rig = fixture_begin(FIXTURE_SPARSE, PAGE, NULL);
    MaarReservation cache = VK_NULL_HANDLE;
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarPoint bound = {VK_NULL_HANDLE, 0};
    VkCommandPool pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = rig_open_commands(rig, &pool);
    const MaarPageRange used = {.offset = 0, .size = 10 * PAGE};
    assert_int_equal(reserve_cache(rig->allocator, GIB, &cache, &buffer), VK_SUCCESS);
    /* A failure leaves the pages new. */
    assert_int_equal(commit_zeroed(rig->allocator, cache, used, VK_NULL_HANDLE, &bound),
                     VK_ERROR_VALIDATION_FAILED_EXT);
    rig_forget_messages(rig);
    assert_int_equal(fixture_info(rig, cache).committedSize, 0);
    assert_int_equal(commit_zeroed(rig->allocator, cache, used, commands, &bound), VK_SUCCESS);
    assert_int_equal(fixture_info(rig, cache).committedSize, 10 * PAGE);
    assert_int_equal(rig_calls(rig, "vkCmdFillBuffer"), 1);
    assert_int_equal(commit_zeroed(rig->allocator, cache, used, commands, &bound), VK_SUCCESS);
    assert_int_equal(rig_calls(rig, "vkCmdFillBuffer"), 1);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    vkDestroyCommandPool(rig->device, pool, NULL);
    maarDestroyReservation(rig->allocator, cache);
}

/* A card of 256 MiB beside 512 MiB of the system's memory, both with a budget. */
static struct rig* begin_small_card(VkDeviceSize card_budget, VkDeviceSize system_budget)
{
    static MaarSimulatedProfile profile;
    profile = *rig_profile_sparse();
    assert_int_equal(profile.heapCount, 3);
    profile.heaps[0].size = 256 * MIB;
    profile.heaps[1].size = 512 * MIB;
    profile.heaps[2].size = 16 * MIB;
    const VkDeviceSize budgets[] = {card_budget, system_budget, 8 * MIB};
    for (uint32_t i = 0; i < 3; ++i) {
        profile.heaps[i].budgetKnown = VK_TRUE;
        profile.heaps[i].budget = budgets[i];
    }
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig_make_allocator(rig);
    return rig;
}

/* Commits MiB by MiB until that fails; returns how many MiB there are then, and in *spilled how
 * many of them lie in other heaps than the card's. */
static uint64_t fill_cache(struct rig* rig, MaarAllocationCreateFlags flags, uint64_t* spilled)
{
    const VkBufferCreateInfo buffer = fixture_buffer(4 * GIB);
    const MaarAllocationCreateInfo memory = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                             .flags = flags};
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &memory,
    };
    MaarReservation cache = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &cache), VK_SUCCESS);
    VkResult result = VK_SUCCESS;
    uint64_t count = 0;
    while (result == VK_SUCCESS) {
        result = fixture_commit(rig, cache, count * MIB, MIB);
        count += result == VK_SUCCESS ? 1 : 0;
    }
    assert_int_equal(result, VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_int_equal(fixture_info(rig, cache).committedSize, count * MIB);
    const VkDeviceSize beside = rig_budget(rig, 1).blockBytes + rig_budget(rig, 2).blockBytes;
    *spilled = beside / MIB;
    (void)fixture_submit(rig);
    maarDestroyReservation(rig->allocator, cache);
    return count;
}

static void docs_cache_spills_or_fails_as_its_flags_say(void** state)
{
    (void)state;
    const MaarAllocationCreateFlags within = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT;
    const MaarAllocationCreateFlags here = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    const struct {
        MaarAllocationCreateFlags flags;
        uint64_t least, most; /* MiB */
        bool spills;
    } rows[] = {
        {0, 700, 784, true},
        {within, 300, 128 + 256 + 8, true},
        {here, 200, 256, false},
        {within | here, 100, 128, false},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct rig* const rig = begin_small_card(128 * MIB, 256 * MIB);
        uint64_t spilled = 0;
        assert_in_range(fill_cache(rig, rows[i].flags, &spilled), rows[i].least, rows[i].most);
        assert_int_equal(spilled > 0, rows[i].spills);
    }
}

static void docs_layers_that_fit_do_fit(void** state)
{
    (void)state;
    struct rig* const rig = begin_small_card(200 * MIB, 256 * MIB);
    const uint32_t layers = layers_that_fit(rig->allocator, 0, 16 * MIB, 24 * MIB);
    assert_int_equal(layers, 11);
    MaarAllocation made[12];
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.flags = MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT | MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = 0; i < layers; ++i) {
        made[i] = rig_allocate(rig, 16 * MIB, &how);
    }
    assert_int_equal(layers_that_fit(rig->allocator, 0, 16 * MIB, 24 * MIB), 0);
    assert_int_equal(layers_that_fit(rig->allocator, 99, 1, 0), 0);
    maarFreeMemories(rig->allocator, layers, made);
}

/* What the page says of the blocks of large plain buffers. */
static void docs_large_plain_buffers_share_no_block(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(NULL);
    const VkBufferCreateInfo info = rig_buffer_info(GIB);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    VkBuffer buffers[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarAllocation memory[2] = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[0], &memory[0]),
                     VK_SUCCESS);
    assert_in_range(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, GIB, 2 * GIB);
    maarDestroyBuffer(rig->allocator, buffers[0], memory[0]);
    assert_int_equal(maarTrim(rig->allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffers[i], &memory[i]),
                         VK_SUCCESS);
    }
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).blockBytes, 2 * GIB);
    for (uint32_t i = 0; i < 2; ++i) {
        maarDestroyBuffer(rig->allocator, buffers[i], memory[i]);
    }
}

/* ---- fences ---- */

static void open_engine(struct rig* rig, struct fenced_engine* engine)
{
    *engine = (struct fenced_engine){.device = rig->device, .allocator = rig->allocator};
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    for (uint32_t i = 0; i < FENCE_COUNT; ++i) {
        assert_int_equal(vkCreateFence(rig->device, &info, NULL, &engine->clock.fences[i]),
                         VK_SUCCESS);
    }
}

static void close_engine(struct rig* rig, struct fenced_engine* engine)
{
    close_allocator(engine);
    rig->allocator = VK_NULL_HANDLE;
    for (uint32_t i = 0; i < FENCE_COUNT; ++i) {
        vkDestroyFence(rig->device, engine->clock.fences[i], NULL);
    }
}

static void submit(struct rig* rig, struct fenced_engine* engine, const VkSemaphore* gate,
                   const uint64_t* value)
{
    static const VkPipelineStageFlags stages = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = gate != NULL ? 1 : 0,
        .pWaitSemaphoreValues = value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = gate != NULL ? &values : NULL,
        .waitSemaphoreCount = gate != NULL ? 1 : 0,
        .pWaitSemaphores = gate,
        .pWaitDstStageMask = &stages,
    };
    assert_int_equal(
        submit_with_fence(rig->device, rig->allocator, rig->queue, &info, &engine->clock),
        VK_SUCCESS);
}

static MaarAllocation make_buffer(struct rig* rig, VkDeviceSize size, VkBuffer* buffer)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, NULL, buffer, &memory), VK_SUCCESS);
    return memory;
}

/* The device executes when a semaphore says so, which the engine does not know. */
static void docs_fences_end_what_is_pending(void** state)
{
    (void)state;
    enum { SUBMISSIONS = 3 };
    struct rig* const rig = rig_begin(&(struct rig_setup){.flags = MAAR_SIMULATED_EXECUTE_BIT});
    struct fenced_engine engine;
    open_engine(rig, &engine);
    const VkSemaphore gate = rig_create_timeline(rig, 0);
    for (uint64_t i = 1; i <= SUBMISSIONS; ++i) {
        VkBuffer buffer = VK_NULL_HANDLE;
        const MaarAllocation memory = make_buffer(rig, 64 * KIB, &buffer);
        assert_int_equal(this_submission(&engine.clock).value, i);
        assert_int_equal(retire_buffer(rig->allocator, &engine.clock, buffer, memory), VK_SUCCESS);
        submit(rig, &engine, &gate, &i);
    }
    for (uint64_t passed = 0; passed <= SUBMISSIONS; ++passed) {
        if (passed > 0) {
            rig_signal(rig, gate, passed);
        }
        assert_in_range(look_at_fences(rig->device, rig->allocator, 0, &engine.clock), VK_SUCCESS,
                        VK_TIMEOUT);
        assert_int_equal(engine.clock.passed, passed);
        assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, SUBMISSIONS - passed);
    }
    /* More submissions than fences: each waits for the one whose fence it takes. */
    for (uint32_t i = 0; i < 3 * FENCE_COUNT; ++i) {
        submit(rig, &engine, NULL, NULL);
        assert_true(engine.clock.submitted - engine.clock.passed <= FENCE_COUNT);
    }
    const MaarPoint later = this_submission(&engine.clock);
    assert_int_equal(maarWaitPoints(rig->allocator, 1, &later, UINT64_MAX), VK_NOT_READY);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    vkDestroySemaphore(rig->device, gate, NULL);
    close_engine(rig, &engine);
}

static void docs_observer_waits_for_a_fence(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    struct fenced_engine engine;
    rig_open(rig, &(struct rig_setup){.profile = rig_profile_tiny(), .off = RIG_OFF_TIMELINE});
    rig->create_info.pfnOutOfMemory = wait_for_a_fence;
    rig->create_info.pOutOfMemoryUserData = &engine;
    rig_make_allocator(rig);
    assert_int_equal(rig_allocator_info(rig).timelineSemaphore, VK_FALSE);
    open_engine(rig, &engine);
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.requiredFlags = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    /* The heap has room for four of these; the others find the memory of finished submissions. */
    for (uint32_t i = 0; i < 12; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info(15 * MIB);
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &buffer, &memory),
                         VK_SUCCESS);
        assert_int_equal(retire_buffer(rig->allocator, &engine.clock, buffer, memory), VK_SUCCESS);
        submit(rig, &engine, NULL, NULL);
    }
    assert_true(engine.clock.passed > 0);
    close_engine(rig, &engine);
}

static MaarTransientGraph frame_graph(VkImageCreateInfo* image, MaarTransientResource* resource)
{
    static const MaarTransientUse use = {.layout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
                                         .stages = VK_PIPELINE_STAGE_2_COLOR_ATTACHMENT_OUTPUT_BIT,
                                         .access = VK_ACCESS_2_COLOR_ATTACHMENT_WRITE_BIT};
    static const MaarTransientPass pass;
    static const MaarTransientQueue queue;
    *resource = (MaarTransientResource){.pImageInfo = image, .useCount = 1, .pUses = &use};
    return (MaarTransientGraph){.sType = MAAR_STRUCTURE_TYPE_TRANSIENT_GRAPH,
                                .queueCount = 1,
                                .pQueues = &queue,
                                .passCount = 1,
                                .pPasses = &pass,
                                .resourceCount = 1,
                                .pResources = resource};
}

static void docs_transients_change_after_a_fence(void** state)
{
    (void)state;
    struct rig* const rig = rig_begin(&(struct rig_setup){.off = RIG_OFF_TIMELINE});
    struct fenced_engine engine;
    open_engine(rig, &engine);
    VkImageCreateInfo image = rig_image_info(256, 256);
    image.usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    MaarTransientResource resource;
    MaarTransientGraph graph = frame_graph(&image, &resource);
    const MaarTransientHeapCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_TRANSIENT_HEAP_CREATE_INFO, .pGraph = &graph};
    MaarTransientHeap heap = VK_NULL_HANDLE;
    assert_int_equal(maarCreateTransientHeap(rig->allocator, &info, &heap), VK_SUCCESS);
    submit(rig, &engine, NULL, NULL);
    image.extent.width = 512;
    graph = frame_graph(&image, &resource);
    assert_int_equal(change_frame(rig->allocator, &engine.clock, &graph, heap), VK_SUCCESS);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 2);
    assert_int_equal(look_at_fences(rig->device, rig->allocator, UINT64_MAX, &engine.clock),
                     VK_SUCCESS);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_IMAGE], 1);
    maarDestroyTransientHeap(rig->allocator, heap);
    close_engine(rig, &engine);
}

/* The page's table: a batch that the program records and commits at a point of the host timeline.
 */
static void docs_moves_need_no_timeline(void** state)
{
    (void)state;
    const struct rig_setup setup = {.off = RIG_OFF_TIMELINE,
                                    .flags = MAAR_SIMULATED_ALLOW_ALIASING_BIT};
    struct rig* const rig = rig_begin(&setup);
    struct fenced_engine engine;
    open_engine(rig, &engine);
    VkBuffer buffer = VK_NULL_HANDLE;
    const MaarAllocation memory = make_buffer(rig, 64 * KIB, &buffer);
    const MaarMoveRequest request = {.allocation = memory};
    const MaarMoveBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_MOVE_BEGIN_INFO, .requestCount = 1, .pRequests = &request};
    MaarMoveBatch batch = VK_NULL_HANDLE;
    VkCommandPool pool = VK_NULL_HANDLE;
    const VkCommandBuffer commands = rig_open_commands(rig, &pool);
    assert_int_equal(maarBeginMoves(rig->allocator, &info, &batch), VK_SUCCESS);
    assert_int_equal(maarRecordMoves(rig->allocator, batch, commands), VK_SUCCESS);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkSubmitInfo submission = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                     .commandBufferCount = 1,
                                     .pCommandBuffers = &commands};
    const MaarPoint copied = this_submission(&engine.clock);
    assert_int_equal(
        submit_with_fence(rig->device, rig->allocator, rig->queue, &submission, &engine.clock),
        VK_SUCCESS);
    assert_int_equal(maarCommitMoves(rig->allocator, batch, 1, &copied, NULL), VK_SUCCESS);
    assert_int_equal(rig_info(rig, memory).locationEpoch, 1);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 1);
    assert_int_equal(look_at_fences(rig->device, rig->allocator, UINT64_MAX, &engine.clock),
                     VK_SUCCESS);
    assert_int_equal(rig_statistics(rig, VK_NULL_HANDLE).pendingCount, 0);
    maarDestroyBuffer(rig->allocator, buffer, memory);
    vkDestroyCommandPool(rig->device, pool, NULL);
    close_engine(rig, &engine);
}

/* ---- mapped memory ---- */

/* Small neighbours of any alignment lie between the aligned ones. */
static void docs_mapped_addresses_are_aligned(void** state)
{
    (void)state;
    enum { COUNT = 16 };
    for (uint32_t vendor = 0; vendor < RIG_VENDORS; ++vendor) {
        struct rig* const rig = rig_new();
        rig_start(rig, &(struct rig_setup){.profile = rig_profile_file(rig_vendors[vendor])});
        MaarAllocationCreateInfo beside = rig_how(MAAR_MEMORY_USAGE_UPLOAD);
        VkBuffer buffers[COUNT];
        MaarAllocation memory[COUNT];
        MaarAllocation neighbours[COUNT];
        for (uint32_t i = 0; i < COUNT; ++i) {
            float* data = NULL;
            neighbours[i] = rig_allocate(rig, 4 * i + 4, &beside);
            assert_int_equal(
                create_for_simd(rig->allocator, 1000 + i, &buffers[i], &memory[i], &data),
                VK_SUCCESS);
            assert_non_null(data);
            assert_int_equal((uintptr_t)data % 64, 0);
        }
        for (uint32_t i = 0; i < COUNT; ++i) {
            maarDestroyBuffer(rig->allocator, buffers[i], memory[i]);
        }
        maarFreeMemories(rig->allocator, COUNT, neighbours);
    }
}

static void docs_parts_are_whole_atoms(void** state)
{
    (void)state;
    struct rig* const rig = rig_new();
    rig_start(rig, &(struct rig_setup){.profile = rig_profile_noncoherent()});
    assert_int_equal(whole_atoms(rig->allocator, 1), 256);
    assert_int_equal(whole_atoms(rig->allocator, 256), 256);
    assert_int_equal(whole_atoms(rig->allocator, 257), 512);
}

static void docs_lent_memory_has_the_drivers_alignment(void** state)
{
    (void)state;
    MaarSimulatedProfile profile = *rig_profile_discrete();
    struct rig* const rig = rig_new();
    rig_start(rig, &(struct rig_setup){.profile = &profile});
    VkDeviceSize size = 5000;
    assert_int_equal(alignment_to_lend(rig->allocator, 4096, &size), 4096);
    assert_int_equal(size, 8192);
    rig_close(rig);

    profile.limits.minImportedHostPointerAlignment = 65536;
    (void)strcpy(profile.extensions[profile.extensionCount++],
                 VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    rig_start(rig, &(struct rig_setup){.profile = &profile});
    size = 5000;
    assert_int_equal(alignment_to_lend(rig->allocator, 4096, &size), 65536);
    assert_int_equal(size, 65536);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(docs_cache_takes_what_is_used),
        rig_unit_test(docs_new_pages_of_a_cache_are_zeroed),
        rig_unit_test(docs_cache_spills_or_fails_as_its_flags_say),
        rig_unit_test(docs_layers_that_fit_do_fit),
        rig_unit_test(docs_large_plain_buffers_share_no_block),
        rig_unit_test(docs_fences_end_what_is_pending),
        rig_unit_test(docs_observer_waits_for_a_fence),
        rig_unit_test(docs_transients_change_after_a_fence),
        rig_unit_test(docs_moves_need_no_timeline),
        rig_unit_test(docs_mapped_addresses_are_aligned),
        rig_unit_test(docs_parts_are_whole_atoms),
        rig_unit_test(docs_lent_memory_has_the_drivers_alignment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
