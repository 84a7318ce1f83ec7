/*
 * Handoffs on real drivers, under the validation layer: lavapipe executes them, so what a buffer
 * and an image hold is compared afterwards; RADV over the no-op kernel takes AMD's way through
 * them. Nobody is at the other side: what is given away comes back as it was.
 */
#include "maar/share.h"
#include "tests/rig/rig.h"

static struct rig rig;

enum { EDGE = 32, TEXELS = EDGE * EDGE, ROUNDS = 200 };
#define BYTES ((VkDeviceSize)TEXELS * 4)

static struct {
    VkBuffer buffer;
    MaarAllocation buffer_memory;
    VkImage image;
    MaarAllocation image_memory;
    VkBuffer readback;
    MaarAllocation readback_memory;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
} shared;

static void make_shared(void)
{
    VkBufferCreateInfo buffer = rig_buffer_info(BYTES);
    buffer.usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT;
    VkImageCreateInfo image = rig_image_info(EDGE, EDGE);
    image.usage = VK_IMAGE_USAGE_TRANSFER_DST_BIT | VK_IMAGE_USAGE_TRANSFER_SRC_BIT;
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(
        maarCreateBuffer(rig.allocator, &buffer, &how, &shared.buffer, &shared.buffer_memory),
        VK_SUCCESS);
    assert_int_equal(
        maarCreateImage(rig.allocator, &image, &how, &shared.image, &shared.image_memory),
        VK_SUCCESS);
    buffer.size = 2 * BYTES;
    how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    how.flags = MAAR_ALLOCATION_CREATE_MAPPED_BIT;
    assert_int_equal(
        maarCreateBuffer(rig.allocator, &buffer, &how, &shared.readback, &shared.readback_memory),
        VK_SUCCESS);
}

static int open_handoffs(void** state)
{
    *state = NULL;
    if (!rig_start_paging(&rig)) {
        return 0;
    }
    make_shared();
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &pool, NULL, &shared.pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = shared.pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &allocate, &shared.commands), VK_SUCCESS);
    shared.timeline = rig_create_timeline(&rig, 0);
    *state = &rig;
    return 0;
}

static int close_handoffs(void** state)
{
    if (*state != NULL) {
        assert_int_equal(vkDeviceWaitIdle(rig.device), VK_SUCCESS);
        vkDestroySemaphore(rig.device, shared.timeline, NULL);
        vkDestroyCommandPool(rig.device, shared.pool, NULL);
        maarDestroyBuffer(rig.allocator, shared.buffer, shared.buffer_memory);
        maarDestroyImage(rig.allocator, shared.image, shared.image_memory);
        maarDestroyBuffer(rig.allocator, shared.readback, shared.readback_memory);
    }
    return rig_teardown(state);
}

/* Which of the allocator's queues is the main one. */
static uint32_t main_queue(void)
{
    uint32_t index = 0;
    while (rig.create_info.pQueues[index].queue != rig.queue) {
        ++index;
    }
    return index;
}

/* ---- commands of the test's own ---- */

static void begin(void)
{
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    assert_int_equal(vkBeginCommandBuffer(shared.commands, &info), VK_SUCCESS);
}

/* wait and signal are values of the timeline, 0 for none. */
static void end(uint64_t wait, uint64_t signal)
{
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait != 0 ? 1 : 0,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = signal != 0 ? 1 : 0,
        .pSignalSemaphoreValues = &signal,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .waitSemaphoreCount = values.waitSemaphoreValueCount,
        .pWaitSemaphores = &shared.timeline,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &shared.commands,
        .signalSemaphoreCount = values.signalSemaphoreValueCount,
        .pSignalSemaphores = &shared.timeline,
    };
    assert_int_equal(vkEndCommandBuffer(shared.commands), VK_SUCCESS);
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static VkImageMemoryBarrier to_layout(VkImageLayout before, VkImageLayout after,
                                      VkAccessFlags access)
{
    return (VkImageMemoryBarrier){
        .sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
        .dstAccessMask = access,
        .oldLayout = before,
        .newLayout = after,
        .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
        .image = shared.image,
        .subresourceRange = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT,
                             .levelCount = 1,
                             .layerCount = 1},
    };
}

static void record_contents(uint32_t word)
{
    const VkImageMemoryBarrier barrier =
        to_layout(VK_IMAGE_LAYOUT_UNDEFINED, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                  VK_ACCESS_TRANSFER_WRITE_BIT);
    const VkClearColorValue colour = {.float32 = {1.0F, 0.0F, 1.0F, 0.0F}};
    vkCmdPipelineBarrier(shared.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_TRANSFER_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
    vkCmdFillBuffer(shared.commands, shared.buffer, 0, VK_WHOLE_SIZE, word);
    vkCmdClearColorImage(shared.commands, shared.image, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
                         &colour, 1, &barrier.subresourceRange);
}

/* The image is in TRANSFER_SRC_OPTIMAL. */
static void record_readback(void)
{
    const VkBufferCopy copy = {.size = BYTES};
    const VkBufferImageCopy texels = {
        .bufferOffset = BYTES,
        .imageSubresource = {.aspectMask = VK_IMAGE_ASPECT_COLOR_BIT, .layerCount = 1},
        .imageExtent = {EDGE, EDGE, 1},
    };
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    vkCmdCopyBuffer(shared.commands, shared.buffer, shared.readback, 1, &copy);
    vkCmdCopyImageToBuffer(shared.commands, shared.image, VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
                           shared.readback, 1, &texels);
    vkCmdPipelineBarrier(shared.commands, VK_PIPELINE_STAGE_TRANSFER_BIT,
                         VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static void expect_contents(uint32_t word)
{
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
    assert_int_equal(
        maarInvalidateAllocation(rig.allocator, shared.readback_memory, 0, VK_WHOLE_SIZE),
        VK_SUCCESS);
    const uint32_t* words = maarGetMappedData(rig.allocator, shared.readback_memory);
    for (uint32_t i = 0; i < TEXELS && rig_executes(); ++i) {
        assert_int_equal(words[i], word);
        assert_int_equal(words[TEXELS + i], 0x00FF00FF);
    }
}

/* Both of them as they are handed over: the image goes from being written to being read. */
static void describe(MaarHandoffResource resources[2], VkAccessFlags access)
{
    resources[0] = (MaarHandoffResource){
        .buffer = shared.buffer,
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .access = access,
    };
    resources[1] = (MaarHandoffResource){
        .image = shared.image,
        .oldLayout = VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
        .newLayout = VK_IMAGE_LAYOUT_TRANSFER_SRC_OPTIMAL,
        .stages = VK_PIPELINE_STAGE_TRANSFER_BIT,
        .access = access,
    };
}

/* ---- cases ---- */

static void recorded_handoff_keeps_contents(void** state)
{
    rig_need(state, true, NULL);
    const uint32_t family = rig.recommendation.mainQueueFamily;
    MaarHandoffResource resources[2];
    begin();
    record_contents(0x600DF00D);
    describe(resources, VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(maarCmdRelease(rig.allocator, shared.commands, family,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 2, resources),
                     VK_SUCCESS);
    end(0, 1);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
    begin();
    describe(resources, VK_ACCESS_TRANSFER_READ_BIT);
    assert_int_equal(maarCmdAcquire(rig.allocator, shared.commands, family,
                                    MAAR_HANDOFF_PEER_EXTERNAL, 2, resources),
                     VK_SUCCESS);
    record_readback();
    end(1, 0);
    expect_contents(0x600DF00D);
}

static void submitted_handoff_keeps_contents(void** state)
{
    rig_need(state, true, NULL);
    MaarHandoffResource resources[2];
    const MaarPoint given = {shared.timeline, 1};
    const MaarPoint taken = {shared.timeline, 2};
    MaarHandoffInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
        .queue = main_queue(),
        .resourceCount = 2,
        .pResources = resources,
        .signalCount = 1,
        .pSignals = &given,
    };
    begin();
    record_contents(0xBADCAB1E);
    end(0, 0);
    describe(resources, VK_ACCESS_TRANSFER_WRITE_BIT);
    assert_int_equal(maarSubmitHandoff(rig.allocator, &info), VK_SUCCESS);
    info.direction = MAAR_HANDOFF_DIRECTION_ACQUIRE;
    info.waitCount = 1;
    info.pWaits = &given;
    info.pSignals = &taken;
    describe(resources, VK_ACCESS_TRANSFER_READ_BIT);
    assert_int_equal(maarSubmitHandoff(rig.allocator, &info), VK_SUCCESS);
    assert_int_equal(vkQueueWaitIdle(rig.queue), VK_SUCCESS);
    begin();
    record_readback();
    end(2, 0);
    expect_contents(0xBADCAB1E);
}

static uint64_t timeline_value(void)
{
    uint64_t value = 0;
    assert_int_equal(vkGetSemaphoreCounterValue(rig.device, shared.timeline, &value), VK_SUCCESS);
    return value;
}

static void await_value(uint64_t value)
{
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &shared.timeline,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(rig.device, &wait, UINT64_C(20000000000)), VK_SUCCESS);
}

/* Odd values are the host's, even ones the device's. */
static void handoffs_wait_for_signals_to_come(void** state)
{
    rig_need(state, rig_executes(), "nothing is executed, so nothing is waited for");
    const MaarHandoffResource resource = {.buffer = shared.buffer};
    for (uint64_t round = 0; round < ROUNDS; ++round) {
        const MaarPoint wait = {shared.timeline, 2 * round + 1};
        const MaarPoint signal = {shared.timeline, 2 * round + 2};
        const MaarHandoffInfo info = {
            .sType = MAAR_STRUCTURE_TYPE_HANDOFF_INFO,
            .direction =
                round % 2 == 0 ? MAAR_HANDOFF_DIRECTION_RELEASE : MAAR_HANDOFF_DIRECTION_ACQUIRE,
            .queue = main_queue(),
            .resourceCount = 1,
            .pResources = &resource,
            .waitCount = 1,
            .pWaits = &wait,
            .signalCount = 1,
            .pSignals = &signal,
        };
        assert_int_equal(maarSubmitHandoff(rig.allocator, &info), VK_SUCCESS);
        assert_int_equal(timeline_value(), 2 * round);
        rig_signal(&rig, shared.timeline, wait.value);
        await_value(signal.value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(recorded_handoff_keeps_contents, open_handoffs,
                                        close_handoffs),
        cmocka_unit_test_setup_teardown(submitted_handoff_keeps_contents, open_handoffs,
                                        close_handoffs),
        cmocka_unit_test_setup_teardown(handoffs_wait_for_signals_to_come, open_handoffs,
                                        close_handoffs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
