/*
 * A device that is lost: the kernel refuses the commands. What waits for its points is freed all
 * the same, nothing waits for ever, and everything can be given back.
 */
#include "tests/radv/radv_case.h"

enum { PENDING = 4 };

struct loss {
    struct rig rig;
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkSemaphore timeline;
};

static void open_loss(struct loss* loss)
{
    radv_start(&loss->rig);
    struct radv_driver_share share;
    radv_driver_begins(&share);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .queueFamilyIndex = loss->rig.recommendation.mainQueueFamily,
    };
    assert_int_equal(vkCreateCommandPool(loss->rig.device, &pool, NULL, &loss->pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = loss->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(loss->rig.device, &info, &loss->commands),
                     VK_SUCCESS);
    loss->timeline = rig_create_timeline(&loss->rig, 0);
    radv_driver_ends(&share);
}

static void close_loss(struct loss* loss)
{
    struct radv_driver_share share;
    radv_driver_begins(&share);
    vkDestroySemaphore(loss->rig.device, loss->timeline, NULL);
    vkDestroyCommandPool(loss->rig.device, loss->pool, NULL);
    radv_driver_ends(&share);
}

/* Fills a buffer and signals the timeline with `value`. */
static VkResult record_and_submit(struct loss* loss, VkBuffer buffer, uint64_t value)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    assert_int_equal(vkResetCommandPool(loss->rig.device, loss->pool, 0), VK_SUCCESS);
    assert_int_equal(vkBeginCommandBuffer(loss->commands, &begin), VK_SUCCESS);
    vkCmdFillBuffer(loss->commands, buffer, 0, VK_WHOLE_SIZE, 7);
    assert_int_equal(vkEndCommandBuffer(loss->commands), VK_SUCCESS);
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &values,
        .commandBufferCount = 1,
        .pCommandBuffers = &loss->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &loss->timeline,
    };
    const VkResult result = vkQueueSubmit(loss->rig.queue, 1, &info, VK_NULL_HANDLE);
    return result == VK_SUCCESS ? vkQueueWaitIdle(loss->rig.queue) : result;
}

/* Whether the kernel takes the commands; a failure is a lost device. */
static void submit(struct loss* loss, VkBuffer buffer, uint64_t value, bool is_taken)
{
    struct radv_driver_share share;
    radv_driver_begins(&share);
    if (!is_taken) {
        radv_refuse(FAULT_CALL_SUBMIT, 1, UINT64_MAX);
    }
    const VkResult result = record_and_submit(loss, buffer, value);
    assert_int_equal(result, is_taken ? VK_SUCCESS : VK_ERROR_DEVICE_LOST);
    assert_int_equal(radv_allow_all() > 0, !is_taken);
    radv_driver_ends(&share);
}

/* A buffer, an image, plain memory and a slice, all freed after one point. */
static void free_after(struct loss* loss, VkBuffer buffer, MaarAllocation buffer_memory,
                       MaarPoint point)
{
    MaarAllocator allocator = loss->rig.allocator;
    const VkImageCreateInfo image_info = rig_image_info(64, 64);
    const MaarSliceCreateInfo slice_info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    VkImage image = VK_NULL_HANDLE;
    MaarAllocation image_memory = VK_NULL_HANDLE;
    MaarAllocation dedicated = VK_NULL_HANDLE;
    MaarSlice slice = VK_NULL_HANDLE;
    assert_int_equal(maarCreateImage(allocator, &image_info, NULL, &image, &image_memory),
                     VK_SUCCESS);
    assert_int_equal(maarCreateSlice(allocator, &slice_info, &slice), VK_SUCCESS);
    assert_int_equal(radv_allocate_dedicated(&loss->rig, MIB, MAAR_MEMORY_USAGE_UPLOAD,
                                             MAAR_ALLOCATION_CREATE_MAPPED_BIT, &dedicated),
                     VK_SUCCESS);
    assert_int_equal(maarDestroyBufferAfter(allocator, buffer, buffer_memory, 1, &point),
                     VK_SUCCESS);
    assert_int_equal(maarDestroyImageAfter(allocator, image, image_memory, 1, &point), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(allocator, dedicated, 1, &point), VK_SUCCESS);
    assert_int_equal(maarDestroySliceAfter(allocator, slice, 1, &point), VK_SUCCESS);
}

static void expect_pending(struct loss* loss, uint32_t allocations, uint32_t slices)
{
    const MaarStatistics totals = rig_statistics(&loss->rig, VK_NULL_HANDLE);
    assert_int_equal(totals.pendingCount, allocations);
    assert_int_equal(totals.pendingSliceCount, slices);
    rig_check(&loss->rig);
}

static void need_silent_layer(void)
{
    if (radv_is_validated()) {
        radv_skip("the layer takes the commands of a lost device for running ones");
    }
}

/* Four frees wait for a point of commands that the kernel lets through or not. */
static void prepare(struct loss* loss, bool is_lost)
{
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    if (is_lost) {
        need_silent_layer();
    }
    open_loss(loss);
    assert_int_equal(maarCreateBuffer(loss->rig.allocator, &info, NULL, &buffer, &memory),
                     VK_SUCCESS);
    const MaarPoint point = {loss->timeline, 5};
    submit(loss, buffer, point.value, !is_lost);
    free_after(loss, buffer, memory, point);
    expect_pending(loss, PENDING - 1, 1);
}

static void finish(struct loss* loss)
{
    close_loss(loss);
    radv_close(&loss->rig);
}

/* As of a kernel that says nothing of values: as long as the device works, one that reads 0 keeps
 * everything pending, and a wait that succeeds ends it. */
static void wait_ends_where_values_read_zero(void** state)
{
    (void)state;
    static struct loss loss;
    atomic_store(&radv_faults->reads_zero, 1);
    prepare(&loss, false);
    uint64_t value = 9;
    uint32_t freed = 9;
    assert_int_equal(vkGetSemaphoreCounterValue(loss.rig.device, loss.timeline, &value),
                     VK_SUCCESS);
    assert_int_equal(value, 0);
    assert_int_equal(maarCollect(loss.rig.allocator, &freed), VK_SUCCESS);
    assert_int_equal(freed, 0);
    expect_pending(&loss, PENDING - 1, 1);
    assert_int_equal(maarWaitPending(loss.rig.allocator, UINT64_MAX), VK_SUCCESS);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

static void collection_after_loss_frees_everything(void** state)
{
    (void)state;
    static struct loss loss;
    prepare(&loss, true);
    uint32_t freed = 0;
    assert_int_equal(maarCollect(loss.rig.allocator, &freed), VK_ERROR_DEVICE_LOST);
    assert_int_equal(freed, PENDING);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

static void wait_after_loss_returns(void** state)
{
    (void)state;
    static struct loss loss;
    prepare(&loss, true);
    assert_int_equal(maarWaitPending(loss.rig.allocator, UINT64_MAX), VK_ERROR_DEVICE_LOST);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

/* Points of the host, which nobody will move any more, and of the device: all are given up. */
static void loss_ends_points_of_the_host_too(void** state)
{
    (void)state;
    static struct loss loss;
    prepare(&loss, true);
    MaarAllocation memory = rig_allocate(&loss.rig, 5000, NULL);
    const MaarPoint point = {VK_NULL_HANDLE, 3};
    assert_int_equal(maarFreeMemoryAfter(loss.rig.allocator, memory, 1, &point), VK_SUCCESS);
    expect_pending(&loss, PENDING, 1);
    assert_int_equal(maarWaitPending(loss.rig.allocator, UINT64_MAX), VK_ERROR_DEVICE_LOST);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

/* A lost device still has memory: the allocator goes on, and frees after points end at once. */
static void allocator_works_on_after_loss(void** state)
{
    (void)state;
    static struct loss loss;
    prepare(&loss, true);
    assert_int_equal(maarCollect(loss.rig.allocator, NULL), VK_ERROR_DEVICE_LOST);
    for (uint32_t i = 0; i < 20; ++i) {
        const VkBufferCreateInfo info = rig_buffer_info(100000);
        VkBuffer buffer = VK_NULL_HANDLE;
        MaarAllocation memory = VK_NULL_HANDLE;
        const MaarPoint point = {loss.timeline, 6 + i};
        assert_int_equal(maarCreateBuffer(loss.rig.allocator, &info, NULL, &buffer, &memory),
                         VK_SUCCESS);
        assert_int_equal(maarDestroyBufferAfter(loss.rig.allocator, buffer, memory, 1, &point),
                         VK_SUCCESS);
    }
    assert_int_equal(maarWaitPending(loss.rig.allocator, UINT64_MAX), VK_ERROR_DEVICE_LOST);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

/* What is pending when the allocator goes is freed without being waited for. */
static void destruction_after_loss_frees_everything(void** state)
{
    (void)state;
    static struct loss loss;
    prepare(&loss, true);
    maarDestroyAllocator(loss.rig.allocator);
    loss.rig.allocator = VK_NULL_HANDLE;
    assert_int_equal(loss.rig.messages.counts[MAAR_MESSAGE_SEVERITY_ERROR], 0);
    rig_make_allocator(&loss.rig);
    finish(&loss);
}

/* Lost between two waits, by another submission. */
static void loss_is_noticed_while_others_pass(void** state)
{
    (void)state;
    static struct loss loss;
    need_silent_layer();
    prepare(&loss, false);
    assert_int_equal(maarWaitPending(loss.rig.allocator, UINT64_MAX), VK_SUCCESS);
    const VkBufferCreateInfo info = rig_buffer_info(4096);
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    assert_int_equal(maarCreateBuffer(loss.rig.allocator, &info, NULL, &buffer, &memory),
                     VK_SUCCESS);
    submit(&loss, buffer, 7, false);
    const MaarPoint point = {loss.timeline, 7};
    free_after(&loss, buffer, memory, point);
    assert_int_equal(maarTrim(loss.rig.allocator, VK_NULL_HANDLE, NULL), VK_SUCCESS);
    expect_pending(&loss, 0, 0);
    finish(&loss);
}

const struct radv_case radv_lost_cases[] = {
    {"wait_ends_where_values_read_zero", wait_ends_where_values_read_zero},
    {"collection_after_loss_frees_everything", collection_after_loss_frees_everything},
    {"wait_after_loss_returns", wait_after_loss_returns},
    {"loss_ends_points_of_the_host_too", loss_ends_points_of_the_host_too},
    {"allocator_works_on_after_loss", allocator_works_on_after_loss},
    {"destruction_after_loss_frees_everything", destruction_after_loss_frees_everything},
    {"loss_is_noticed_while_others_pass", loss_is_noticed_while_others_pass},
    {NULL, NULL},
};
