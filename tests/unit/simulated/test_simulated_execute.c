/*
 * Commands on buffers that the simulated driver executes, command buffers, page maps, waits, and
 * the order of submissions.
 */
#include "tests/unit/simulated/simulated_commands.h"

enum { SIZE = 4096 };

static void expect_good(const struct executed* x)
{
    char text[MAAR_SIMULATED_MAX_TEXT];
    if (maarSimulatedGetViolation(x->f.physical, 0, NULL, sizeof(text), text) == VK_TRUE) {
        fail_msg("%s", text);
    }
}

/* ---- commands ---- */

static void nothing_is_executed_without_the_flag(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    maarSimulatedSetFlags(x->f.physical, 0);
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, SIZE, 7);
    executed_submit(x, x->commands);
    assert_int_equal(b.bytes[0], 0);
    assert_int_equal(fixture_counters(&x->f).executedCommandCount, 0);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void fills_updates_and_copies_reach_the_bytes(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const uint8_t data[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const VkBufferCopy regions[] = {{0, 16, 64}, {64, 1024, 3072}};
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, a.buffer, 0, VK_WHOLE_SIZE, 0x04030201);
    executed_barrier(x, x->commands);
    x->f.vkCmdUpdateBuffer(x->commands, a.buffer, 128, sizeof(data), data);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyBuffer(x->commands, a.buffer, b.buffer, 2, regions);
    executed_submit(x, x->commands);
    assert_int_equal(b.bytes[15], 0);
    assert_int_equal(b.bytes[16], 1);
    assert_int_equal(b.bytes[19], 4);
    assert_int_equal(b.bytes[79], 4);
    assert_int_equal(b.bytes[80], 0);
    assert_memory_equal(b.bytes + 1024 + 64, data, sizeof(data));
    assert_int_equal(b.bytes[1024 + 72], 1);
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void functions_that_end_in_2_do_the_same(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 1, SIZE);
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    VkImageCreateInfo info = fixture_image_info(VK_FORMAT_R8G8B8A8_UNORM, 16, 16);
    info.usage = VK_IMAGE_USAGE_TRANSFER_SRC_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT;
    const struct executed_image one = executed_image(x, &info);
    const struct executed_image two = executed_image(x, &info);
    const VkImageSubresourceLayers color = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1};
    const VkBufferCopy2 bytes = {VK_STRUCTURE_TYPE_BUFFER_COPY_2, NULL, 1024, 2048, 1024};
    const VkCopyBufferInfo2 copy = {
        VK_STRUCTURE_TYPE_COPY_BUFFER_INFO_2, NULL, b.buffer, a.buffer, 1, &bytes};
    const VkBufferImageCopy2 texels = {.sType = VK_STRUCTURE_TYPE_BUFFER_IMAGE_COPY_2,
                                       .imageSubresource = color,
                                       .imageExtent = {16, 16, 1}};
    const VkImageLayout general = VK_IMAGE_LAYOUT_GENERAL;
    const VkCopyBufferToImageInfo2 in = {.sType = VK_STRUCTURE_TYPE_COPY_BUFFER_TO_IMAGE_INFO_2,
                                         .srcBuffer = a.buffer,
                                         .dstImage = one.image,
                                         .dstImageLayout = general,
                                         .regionCount = 1,
                                         .pRegions = &texels};
    const VkImageCopy2 region = {.sType = VK_STRUCTURE_TYPE_IMAGE_COPY_2,
                                 .srcSubresource = color,
                                 .dstSubresource = color,
                                 .extent = {16, 16, 1}};
    const VkCopyImageInfo2 across = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_INFO_2,
                                     .srcImage = one.image,
                                     .srcImageLayout = general,
                                     .dstImage = two.image,
                                     .dstImageLayout = general,
                                     .regionCount = 1,
                                     .pRegions = &region};
    const VkCopyImageToBufferInfo2 out = {.sType = VK_STRUCTURE_TYPE_COPY_IMAGE_TO_BUFFER_INFO_2,
                                          .srcImage = two.image,
                                          .srcImageLayout = general,
                                          .dstBuffer = b.buffer,
                                          .regionCount = 1,
                                          .pRegions = &texels};
    executed_fill_bytes(a.bytes, SIZE, 1);
    executed_begin(x, x->commands);
    executed_transition(x, x->commands, one.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    executed_transition(x, x->commands, two.image, 1, VK_IMAGE_LAYOUT_UNDEFINED, general);
    x->f.vkCmdCopyBufferToImage2(x->commands, &in);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImage2(x->commands, &across);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyImageToBuffer2(x->commands, &out);
    executed_barrier(x, x->commands);
    x->f.vkCmdCopyBuffer2(x->commands, &copy);
    executed_submit(x, x->commands);
    assert_memory_equal(b.bytes, a.bytes, 1024);
    assert_memory_equal(a.bytes + 2048, b.bytes + 1024, 1024);
    assert_int_equal(b.bytes[1024], 0);
    executed_free_image(x, &one);
    executed_free_image(x, &two);
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void regions_outside_are_seen_and_change_nothing(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const VkBufferCopy region = {0, SIZE - 4, 8};
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, SIZE - 4, 8, 7);
    x->f.vkCmdCopyBuffer(x->commands, b.buffer, b.buffer, 1, &region);
    executed_submit(x, x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 2);
    assert_int_equal(b.bytes[SIZE - 4], 0);
    executed_free_buffer(x, &b);
}

/* ---- command buffers ---- */

static void command_buffers_are_submitted_again_and_again(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &x->commands};
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, SIZE, 7);
    executed_submit(x, x->commands);
    memset(b.bytes, 0, SIZE);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(b.bytes[0], 7);
    assert_int_equal(x->f.vkResetCommandBuffer(x->commands, 0), VK_SUCCESS);
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, 4, 9);
    executed_submit(x, x->commands);
    assert_int_equal(b.bytes[0], 9);
    assert_int_equal(b.bytes[4], 7);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void secondary_command_buffers_are_executed_in_place(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const VkCommandBuffer secondary = executed_commands(x, VK_COMMAND_BUFFER_LEVEL_SECONDARY);
    executed_begin(x, secondary);
    x->f.vkCmdFillBuffer(secondary, b.buffer, 0, 8, 2);
    assert_int_equal(x->f.vkEndCommandBuffer(secondary), VK_SUCCESS);
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, 16, 1);
    executed_barrier(x, x->commands);
    x->f.vkCmdExecuteCommands(x->commands, 1, &secondary);
    executed_barrier(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, 4, 3);
    executed_submit(x, x->commands);
    assert_int_equal(b.bytes[0], 3);
    assert_int_equal(b.bytes[4], 2);
    assert_int_equal(b.bytes[8], 1);
    expect_good(x);
    x->f.vkCmdExecuteCommands(x->commands, 1, &x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 2); /* not recording, and primary */
    executed_free_buffer(x, &b);
}

static void command_buffers_in_use_must_not_change(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const MaarSimulatedFlags held =
        MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT;
    maarSimulatedSetFlags(x->f.physical, held);
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, SIZE, 7);
    executed_submit(x, x->commands);
    executed_begin(x, x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_IN_USE, 1);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, 4, 9);
    assert_int_equal(b.bytes[0], 0);
    maarSimulatedSetFlags(x->f.physical, MAAR_SIMULATED_EXECUTE_BIT);
    assert_int_equal(b.bytes[0], 7); /* what was submitted */
    executed_submit(x, x->commands);
    assert_int_equal(b.bytes[0], 9);
    maarSimulatedSetFlags(x->f.physical, held);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &x->commands};
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_IN_USE, 2);
    x->f.vkFreeCommandBuffers(x->f.device, x->pool, 1, &x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_IN_USE, 3);
    maarSimulatedSetFlags(x->f.physical, MAAR_SIMULATED_EXECUTE_BIT);
    executed_free_buffer(x, &b);
}

static void simultaneous_use_and_one_time_submission_are_known(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                      .flags = VK_COMMAND_BUFFER_USAGE_SIMULTANEOUS_USE_BIT};
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .commandBufferCount = 1,
                                 .pCommandBuffers = &x->commands};
    maarSimulatedSetFlags(x->f.physical,
                          MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    assert_int_equal(x->f.vkBeginCommandBuffer(x->commands, &begin), VK_SUCCESS);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, SIZE, 7);
    executed_barrier(x, x->commands);
    executed_submit(x, x->commands);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    expect_good(x);
    maarSimulatedSetFlags(x->f.physical, MAAR_SIMULATED_EXECUTE_BIT);
    begin.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
    assert_int_equal(x->f.vkBeginCommandBuffer(x->commands, &begin), VK_SUCCESS);
    x->f.vkCmdFillBuffer(x->commands, b.buffer, 0, SIZE, 7);
    executed_submit(x, x->commands);
    expect_good(x);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_ARGUMENT, 1);
    executed_free_buffer(x, &b);
}

/* ---- waits and order ---- */

/* Submits commands, after a value of a timeline (0: none), which signal another (0: none). */
static void submit_between(const struct executed* x, VkQueue queue, VkCommandBuffer commands,
                           VkSemaphore timeline, uint64_t wait, uint64_t signal)
{
    const VkSemaphoreSubmitInfo waits = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                         .semaphore = timeline,
                                         .value = wait,
                                         .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkSemaphoreSubmitInfo signals = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_SUBMIT_INFO,
                                           .semaphore = timeline,
                                           .value = signal,
                                           .stageMask = VK_PIPELINE_STAGE_2_ALL_COMMANDS_BIT};
    const VkCommandBufferSubmitInfo buffer = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_SUBMIT_INFO,
                                              .commandBuffer = commands};
    const VkSubmitInfo2 submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO_2,
                                  .waitSemaphoreInfoCount = wait != 0 ? 1 : 0,
                                  .pWaitSemaphoreInfos = &waits,
                                  .commandBufferInfoCount = 1,
                                  .pCommandBufferInfos = &buffer,
                                  .signalSemaphoreInfoCount = signal != 0 ? 1 : 0,
                                  .pSignalSemaphoreInfos = &signals};
    assert_int_equal(x->f.vkQueueSubmit2(queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
}

static VkCommandBuffer record_fill(const struct executed* x, VkBuffer buffer, uint32_t word)
{
    const VkCommandBuffer commands = executed_commands(x, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    executed_begin(x, commands);
    x->f.vkCmdFillBuffer(commands, buffer, 0, 4, word);
    assert_int_equal(x->f.vkEndCommandBuffer(commands), VK_SUCCESS);
    return commands;
}

static void submissions_wait_for_later_signals(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    const VkSemaphore timeline = executed_timeline(x);
    submit_between(x, x->f.queue, record_fill(x, b.buffer, 5), timeline, 2, 3);
    assert_int_equal(b.bytes[0], 0);
    submit_between(x, x->f.second_queue, record_fill(x, b.buffer, 4), timeline, 1, 2);
    assert_int_equal(b.bytes[0], 0);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 1};
    assert_int_equal(x->f.vkSignalSemaphore(x->f.device, &signal), VK_SUCCESS);
    assert_int_equal(b.bytes[0], 5);
    assert_int_equal(x->f.vkQueueWaitIdle(x->f.queue), VK_SUCCESS);
    assert_int_equal(x->f.vkDeviceWaitIdle(x->f.device), VK_SUCCESS);
    assert_int_equal(fixture_counters(&x->f).earlyWaitCount, 0);
    x->f.vkDestroySemaphore(x->f.device, timeline, NULL);
    executed_free_buffer(x, &b);
    expect_good(x);
}

/* The word that is left when two queues write it without a semaphore between them. */
static uint8_t last_of_two(const struct executed* x, uint64_t order)
{
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    maarSimulatedSetOrder(x->f.physical, order);
    maarSimulatedSetFlags(x->f.physical,
                          MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    submit_between(x, x->f.queue, record_fill(x, b.buffer, 1), VK_NULL_HANDLE, 0, 0);
    submit_between(x, x->f.second_queue, record_fill(x, b.buffer, 2), VK_NULL_HANDLE, 0, 0);
    maarSimulatedSetFlags(x->f.physical, MAAR_SIMULATED_EXECUTE_BIT);
    const uint8_t last = b.bytes[0];
    executed_free_buffer(x, &b);
    return last;
}

static void a_test_chooses_the_order_between_queues(void** state)
{
    const struct executed* x = *state;
    assert_int_equal(last_of_two(x, MAAR_SIMULATED_ORDER_OLDEST_FIRST), 2);
    assert_int_equal(last_of_two(x, MAAR_SIMULATED_ORDER_NEWEST_FIRST), 1);
    uint32_t firsts = 0;
    for (uint64_t seed = 1; seed <= 32; seed++) {
        const uint8_t last = last_of_two(x, seed);
        assert_int_equal(last_of_two(x, seed), last);
        firsts += last == 1 ? 1 : 0;
    }
    assert_in_range(firsts, 4, 28);
}

static void commands_of_one_queue_stay_in_order(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, SIZE);
    maarSimulatedSetOrder(x->f.physical, MAAR_SIMULATED_ORDER_NEWEST_FIRST);
    maarSimulatedSetFlags(x->f.physical,
                          MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    for (uint32_t i = 1; i <= 3; i++) {
        submit_between(x, x->f.queue, record_fill(x, b.buffer, i), VK_NULL_HANDLE, 0, 0);
    }
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(maarSimulatedExecuteSubmissions(x->f.physical, 1), 1);
        assert_int_equal(b.bytes[0], i);
    }
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void a_binary_semaphore_is_signalled_once(void** state)
{
    const struct executed* x = *state;
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
    VkSemaphore semaphore = VK_NULL_HANDLE;
    assert_int_equal(x->f.vkCreateSemaphore(x->f.device, &info, NULL, &semaphore), VK_SUCCESS);
    const VkSubmitInfo submit = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                                 .signalSemaphoreCount = 1,
                                 .pSignalSemaphores = &semaphore};
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    expect_good(x);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_SEMAPHORE, 1);
    x->f.vkDestroySemaphore(x->f.device, semaphore, NULL);
}

/* ---- pages and contents ---- */

#define PAGE ((VkDeviceSize)65536)

static VkBuffer make_sparse(const struct executed* x)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 4 * PAGE,
        .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(x->f.vkCreateBuffer(x->f.device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static void bind_pages(const struct executed* x, VkBuffer buffer, uint32_t count,
                       const VkSparseMemoryBind* binds)
{
    const VkSparseBufferMemoryBindInfo buffers = {buffer, count, binds};
    const VkBindSparseInfo info = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                   .bufferBindCount = 1,
                                   .pBufferBinds = &buffers};
    assert_int_equal(x->f.vkQueueBindSparse(x->f.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static void copies_go_through_the_page_map(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer b = executed_buffer(x, 1, 4 * PAGE);
    const VkBuffer sparse = make_sparse(x);
    const VkDeviceMemory memory = fixture_memory(&x->f, 1, 2 * PAGE);
    const VkSparseMemoryBind binds[] = {{0, PAGE, memory, PAGE, 0}, {3 * PAGE, PAGE, memory, 0, 0}};
    const VkBufferCopy all = {0, 0, 4 * PAGE};
    void* bytes = NULL;
    assert_int_equal(x->f.vkMapMemory(x->f.device, memory, 0, VK_WHOLE_SIZE, 0, &bytes),
                     VK_SUCCESS);
    bind_pages(x, sparse, 2, binds);
    for (uint32_t page = 0; page < 4; page++) {
        executed_fill_bytes(b.bytes + page * PAGE, PAGE, page);
    }
    executed_begin(x, x->commands);
    x->f.vkCmdCopyBuffer(x->commands, b.buffer, sparse, 1, &all);
    executed_submit(x, x->commands);
    assert_memory_equal((uint8_t*)bytes + PAGE, b.bytes, PAGE);
    assert_memory_equal(bytes, b.bytes + 3 * PAGE, PAGE);
    executed_begin(x, x->commands);
    x->f.vkCmdCopyBuffer(x->commands, sparse, b.buffer, 1, &all);
    executed_submit(x, x->commands);
    assert_memory_equal((uint8_t*)bytes + PAGE, b.bytes, PAGE);
    assert_memory_equal(bytes, b.bytes + 3 * PAGE, PAGE);
    assert_int_equal(fixture_counters(&x->f).unboundReadBytes, 2 * PAGE);
    expect_good(x);
    maarSimulatedSetFlags(x->f.physical,
                          MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT);
    executed_begin(x, x->commands);
    x->f.vkCmdCopyBuffer(x->commands, sparse, b.buffer, 1, &all);
    executed_submit(x, x->commands);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_CONTENTS, 1);
    x->f.vkDestroyBuffer(x->f.device, sparse, NULL);
    x->f.vkUnmapMemory(x->f.device, memory);
    x->f.vkFreeMemory(x->f.device, memory, NULL);
    executed_free_buffer(x, &b);
}

static void copy_all(const struct executed* x, VkBuffer from, VkBuffer to, VkDeviceSize size)
{
    const VkBufferCopy region = {0, 0, size};
    executed_begin(x, x->commands);
    x->f.vkCmdCopyBuffer(x->commands, from, to, 1, &region);
    executed_submit(x, x->commands);
}

static void reads_of_bytes_that_nothing_wrote_are_seen(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    const struct executed_buffer c = executed_buffer(x, 1, SIZE);
    executed_begin(x, x->commands);
    x->f.vkCmdFillBuffer(x->commands, a.buffer, 0, SIZE - 8, 0);
    executed_submit(x, x->commands);
    copy_all(x, a.buffer, b.buffer, SIZE);
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, 8);
    copy_all(x, b.buffer, c.buffer, SIZE); /* as in the original */
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, 16);
    assert_int_equal(c.bytes[SIZE - 9], 0);
    assert_int_not_equal(c.bytes[SIZE - 8], 0);
    expect_good(x);
    maarSimulatedSetFlags(x->f.physical,
                          MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT);
    copy_all(x, a.buffer, b.buffer, SIZE);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_CONTENTS, 1);
    copy_all(x, a.buffer, b.buffer, SIZE - 8);
    fixture_expect(&x->f, MAAR_SIMULATED_VIOLATION_CONTENTS, 1);
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
    executed_free_buffer(x, &c);
}

static void bytes_that_another_resource_has_are_not_forgotten(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    maarSimulatedSetFlags(x->f.physical, MAAR_SIMULATED_EXECUTE_BIT |
                                             MAAR_SIMULATED_FORGET_UNBOUND_BIT |
                                             MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    for (uint32_t shared = 1; shared < 2; shared--) {
        const uint64_t before = fixture_counters(&x->f).unwrittenReadBytes;
        const VkBuffer alias = fixture_buffer(
            &x->f, SIZE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT);
        const VkDeviceMemory memory = shared != 0 ? a.memory : fixture_memory(&x->f, 0, SIZE);
        assert_int_equal(x->f.vkBindBufferMemory(x->f.device, alias, memory, 0), VK_SUCCESS);
        executed_begin(x, x->commands);
        x->f.vkCmdFillBuffer(x->commands, alias, 0, SIZE, 1);
        executed_submit(x, x->commands);
        x->f.vkDestroyBuffer(x->f.device, alias, NULL);
        if (shared != 0) {
            copy_all(x, a.buffer, b.buffer, SIZE);
            assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, before);
            continue;
        }
        const VkBuffer later = fixture_buffer(&x->f, SIZE, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
        assert_int_equal(x->f.vkBindBufferMemory(x->f.device, later, memory, 0), VK_SUCCESS);
        copy_all(x, later, b.buffer, SIZE);
        assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, before + SIZE);
        x->f.vkDestroyBuffer(x->f.device, later, NULL);
        x->f.vkFreeMemory(x->f.device, memory, NULL);
    }
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
    expect_good(x);
}

static void what_a_waiting_submission_uses_must_stay(void** state)
{
    const struct executed* x = *state;
    const struct simulated_fixture* f = &x->f;
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    const VkBuffer sparse = make_sparse(x);
    const VkDeviceMemory memory = fixture_memory(f, 0, 2 * PAGE);
    const VkSparseMemoryBind bound = {0, PAGE, memory, 0, 0};
    const VkSparseMemoryBind elsewhere = {0, PAGE, memory, PAGE, 0};
    const VkSemaphore timeline = executed_timeline(x);
    bind_pages(x, sparse, 1, &bound);
    submit_between(x, f->queue, record_fill(x, b.buffer, 5), timeline, 1, 0);
    submit_between(x, f->queue, record_fill(x, sparse, 5), timeline, 1, 0);
    bind_pages(x, sparse, 1, &elsewhere);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 1);
    executed_free_buffer(x, &b); /* the buffer; then the memory is used by nothing */
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 2);
    f->vkFreeMemory(f->device, memory, NULL);
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 3);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = timeline, .value = 1};
    assert_int_equal(f->vkSignalSemaphore(f->device, &signal), VK_SUCCESS);
    assert_int_equal(fixture_counters(f).violations[MAAR_SIMULATED_VIOLATION_HANDLE], 1);
    f->vkDestroyBuffer(f->device, sparse, NULL);
    f->vkDestroySemaphore(f->device, timeline, NULL);
}

/* ---- host memory ---- */

static uint32_t allocations_left;

static void* VKAPI_PTR allocate_few(void* user, size_t size, size_t alignment,
                                    VkSystemAllocationScope scope)
{
    (void)user, (void)alignment, (void)scope;
    return allocations_left != 0 ? (allocations_left--, malloc(size)) : NULL;
}

static void* VKAPI_PTR reallocate_none(void* user, void* original, size_t size, size_t alignment,
                                       VkSystemAllocationScope scope)
{
    (void)user, (void)original, (void)size, (void)alignment, (void)scope;
    return NULL;
}

static void VKAPI_PTR free_few(void* user, void* memory)
{
    (void)user;
    free(memory);
}

/* Records one command, with so many allocations left. */
static VkResult record_with(const struct executed* x, VkCommandBuffer commands, VkBuffer buffer,
                            uint32_t allocations)
{
    allocations_left = UINT32_MAX;
    executed_begin(x, commands);
    allocations_left = allocations;
    x->f.vkCmdFillBuffer(commands, buffer, 0, 4, 1);
    const VkResult result = x->f.vkEndCommandBuffer(commands);
    allocations_left = UINT32_MAX;
    return result;
}

static void commands_without_host_memory_fail_at_the_end(void** state)
{
    const struct executed* x = *state;
    const VkAllocationCallbacks few = {
        .pfnAllocation = allocate_few, .pfnReallocation = reallocate_none, .pfnFree = free_few};
    struct executed other = *x;
    const float priority = 1.0F;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue};
    const PFN_vkCreateDevice create =
        (PFN_vkCreateDevice)maarSimulatedGetInstanceProcAddr(x->f.instance, "vkCreateDevice");
    allocations_left = UINT32_MAX;
    assert_int_equal(create(x->f.physical, &info, &few, &other.f.device), VK_SUCCESS);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    assert_int_equal(x->f.vkCreateCommandPool(other.f.device, &pool, NULL, &other.pool),
                     VK_SUCCESS);
    const VkCommandBuffer commands = executed_commands(&other, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    const struct executed_buffer b = executed_buffer(&other, 1, SIZE);
    uint32_t allowed = 0;
    while (record_with(&other, commands, b.buffer, allowed) != VK_SUCCESS) {
        allowed++;
        assert_in_range(allowed, 1, 8);
    }
    assert_int_equal(allowed,
                     2); /* the recording and its bytes: the list of uses was made before */
    executed_free_buffer(&other, &b);
    x->f.vkDestroyCommandPool(other.f.device, other.pool, NULL);
    x->f.vkDestroyDevice(other.f.device, &few);
    expect_good(x);
}

static void bytes_that_leave_a_resource_are_forgotten_on_request(void** state)
{
    const struct executed* x = *state;
    const VkBuffer one = make_sparse(x);
    const VkBuffer two = make_sparse(x);
    const VkDeviceMemory memory = fixture_memory(&x->f, 0, 2 * PAGE);
    const struct executed_buffer b = executed_buffer(x, 0, 2 * PAGE);
    const VkSparseMemoryBind first = {0, 2 * PAGE, memory, 0, 0};
    const VkSparseMemoryBind nothing = {0, PAGE, VK_NULL_HANDLE, 0, 0};
    const VkSparseMemoryBind again = {0, PAGE, memory, 0, 0};
    for (uint32_t forgets = 0; forgets < 2; forgets++) {
        const uint64_t before = fixture_counters(&x->f).unwrittenReadBytes;
        maarSimulatedSetFlags(x->f.physical, forgets != 0 ? MAAR_SIMULATED_EXECUTE_BIT |
                                                                MAAR_SIMULATED_FORGET_UNBOUND_BIT
                                                          : MAAR_SIMULATED_EXECUTE_BIT);
        bind_pages(x, one, 1, &first);
        executed_begin(x, x->commands);
        x->f.vkCmdFillBuffer(x->commands, one, 0, 2 * PAGE, 1);
        executed_submit(x, x->commands);
        bind_pages(x, one, 1, &nothing);
        bind_pages(x, two, 1, &again);
        copy_all(x, two, b.buffer, PAGE);
        assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes - before,
                         forgets != 0 ? PAGE : 0);
        bind_pages(x, two, 1, &nothing);
    }
    /* What moves from one to the other in one batch stays. */
    const VkSparseMemoryBind gone = {PAGE, PAGE, VK_NULL_HANDLE, 0, 0};
    const VkSparseMemoryBind taken = {0, PAGE, memory, PAGE, 0};
    const VkSparseBufferMemoryBindInfo both[] = {{one, 1, &gone}, {two, 1, &taken}};
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO, .bufferBindCount = 2, .pBufferBinds = both};
    const uint64_t before = fixture_counters(&x->f).unwrittenReadBytes;
    assert_int_equal(x->f.vkQueueBindSparse(x->f.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
    copy_all(x, two, b.buffer, PAGE);
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, before);
    x->f.vkDestroyBuffer(x->f.device, two, NULL);
    bind_pages(x, one, 1, &taken);
    copy_all(x, one, b.buffer, PAGE);
    assert_int_equal(fixture_counters(&x->f).unwrittenReadBytes, before + PAGE);
    x->f.vkDestroyBuffer(x->f.device, one, NULL);
    x->f.vkFreeMemory(x->f.device, memory, NULL);
    executed_free_buffer(x, &b);
    expect_good(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, executed_setup, executed_teardown)
        CASE(nothing_is_executed_without_the_flag),
        CASE(fills_updates_and_copies_reach_the_bytes),
        CASE(functions_that_end_in_2_do_the_same),
        CASE(regions_outside_are_seen_and_change_nothing),
        CASE(command_buffers_are_submitted_again_and_again),
        CASE(secondary_command_buffers_are_executed_in_place),
        CASE(command_buffers_in_use_must_not_change),
        CASE(simultaneous_use_and_one_time_submission_are_known),
        CASE(submissions_wait_for_later_signals),
        CASE(a_test_chooses_the_order_between_queues),
        CASE(commands_of_one_queue_stay_in_order),
        CASE(a_binary_semaphore_is_signalled_once),
        CASE(copies_go_through_the_page_map),
        CASE(reads_of_bytes_that_nothing_wrote_are_seen),
        CASE(bytes_that_leave_a_resource_are_forgotten_on_request),
        CASE(bytes_that_another_resource_has_are_not_forgotten),
        CASE(what_a_waiting_submission_uses_must_stay),
        CASE(commands_without_host_memory_fail_at_the_end),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
