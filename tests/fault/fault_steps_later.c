/*
 * Steps: what is freed after points, and what ends the waiting.
 */
#include "tests/fault/fault_steps.h"

const MaarPoint fault_host_point = {.value = 1000};

static VkResult run_free_after(struct fault_context* c)
{
    VkResult result = maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &fault_host_point);
    if (result != VK_SUCCESS) {
        assert_int_equal(rig_info(&c->rig, c->memory).size, MIB);
    }
    return result;
}

static void undo_after(struct fault_context* c)
{
    assert_int_equal(maarAdvanceHostTimeline(c->rig.allocator, fault_host_point.value), VK_SUCCESS);
    assert_int_equal(maarCollect(c->rig.allocator, NULL), VK_SUCCESS);
    c->memory = VK_NULL_HANDLE;
}

/* Every free keeps a record; records come in lots. */
static void prepare_crowd(struct fault_context* c)
{
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        c->crowd[i] = rig_allocate(&c->rig, 3000, NULL);
    }
}

static VkResult run_crowd_after(struct fault_context* c)
{
    for (uint32_t i = 0; i < FAULT_CROWD; ++i) {
        VkResult result = maarFreeMemoryAfter(c->rig.allocator, c->crowd[i], i % 3,
                                              (MaarPoint[]){fault_host_point, fault_host_point});
        if (result != VK_SUCCESS) {
            assert_int_equal(rig_info(&c->rig, c->crowd[i]).size, 3000);
            return result;
        }
        c->crowd[i] = VK_NULL_HANDLE;
    }
    return VK_SUCCESS;
}

static void prepare_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(5000);
    assert_int_equal(maarCreateBuffer(c->rig.allocator, &info, NULL, &c->buffer, &c->memory),
                     VK_SUCCESS);
}

static VkResult run_buffer_after(struct fault_context* c)
{
    return maarDestroyBufferAfter(c->rig.allocator, c->buffer, c->memory, 1, &fault_host_point);
}

static void prepare_image(struct fault_context* c)
{
    const VkImageCreateInfo info = rig_image_info(256, 256);
    assert_int_equal(maarCreateImage(c->rig.allocator, &info, NULL, &c->image, &c->memory),
                     VK_SUCCESS);
}

static VkResult run_image_after(struct fault_context* c)
{
    return maarDestroyImageAfter(c->rig.allocator, c->image, c->memory, 1, &fault_host_point);
}

static void prepare_slice(struct fault_context* c)
{
    const MaarSliceCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SLICE_CREATE_INFO,
        .size = 100,
        .usage = VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
        .memoryUsage = MAAR_MEMORY_USAGE_UPLOAD,
    };
    assert_int_equal(maarCreateSlice(c->rig.allocator, &info, &c->slice), VK_SUCCESS);
}

static VkResult run_slice_after(struct fault_context* c)
{
    return maarDestroySliceAfter(c->rig.allocator, c->slice, 1, &fault_host_point);
}

static void prepare_passed(struct fault_context* c)
{
    fault_prepare_memory(c);
    c->timeline = rig_create_timeline(&c->rig, 1);
    const MaarPoint point = {c->timeline, 1};
    assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &point), VK_SUCCESS);
}

static VkResult run_advance(struct fault_context* c)
{
    return maarAdvanceHostTimeline(c->rig.allocator, 5);
}

static VkResult run_collect(struct fault_context* c)
{
    uint32_t freed = 99;
    VkResult result = maarCollect(c->rig.allocator, &freed);
    assert_int_equal(freed, result == VK_SUCCESS || result == VK_ERROR_DEVICE_LOST ? 1 : 0);
    return result;
}

static VkResult run_wait(struct fault_context* c)
{
    return maarWaitPending(c->rig.allocator, UINT64_MAX);
}

static void prepare_unpassed(struct fault_context* c)
{
    fault_prepare_memory(c);
    c->timeline = rig_create_timeline(&c->rig, 0);
    const MaarPoint point = {c->timeline, 1};
    assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &point), VK_SUCCESS);
}

/* That the time is over is what is expected here. Any time but none would give the driver's calls a
 * number that depends on the machine. */
static VkResult run_wait_in_vain(struct fault_context* c)
{
    VkResult result = maarWaitPending(c->rig.allocator, 0);
    return result == VK_TIMEOUT ? VK_SUCCESS : result;
}

static VkResult run_wait_for_point(struct fault_context* c)
{
    const MaarPoint point = {c->timeline, 1};
    return maarWaitPoints(c->rig.allocator, 1, &point, UINT64_MAX);
}

static void finish_unpassed(struct fault_context* c)
{
    rig_signal(&c->rig, c->timeline, 1);
    (void)maarCollect(c->rig.allocator, NULL);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static VkResult run_trim(struct fault_context* c)
{
    VkDeviceSize released = 1;
    VkResult result = maarTrim(c->rig.allocator, VK_NULL_HANDLE, &released);
    assert_true(rig_statistics(&c->rig, VK_NULL_HANDLE).pendingCount == (released == 0 ? 1 : 0));
    return result;
}

static VkResult run_trim_aged(struct fault_context* c)
{
    VkDeviceSize released = 1;
    VkResult result = maarTrimAged(c->rig.allocator, VK_NULL_HANDLE, 1, 0, &released);
    assert_true(rig_statistics(&c->rig, VK_NULL_HANDLE).pendingCount == (released == 0 ? 1 : 0));
    return result;
}

static void finish_timeline(struct fault_context* c)
{
    (void)maarCollect(c->rig.allocator, NULL);
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static const struct fault_step steps[] = {
    {.function = "maarFreeMemoryAfter",
     .prepare = fault_prepare_memory,
     .run = run_free_after,
     .finish = undo_after},
    {.function = "maarFreeMemoryAfter",
     .variant = "crowd",
     .prepare = prepare_crowd,
     .run = run_crowd_after,
     .finish = undo_after,
     .session = true,
     .partial = true},
    {.function = "maarDestroyBufferAfter",
     .prepare = prepare_buffer,
     .run = run_buffer_after,
     .finish = undo_after},
    {.function = "maarDestroyImageAfter",
     .prepare = prepare_image,
     .run = run_image_after,
     .finish = undo_after},
    {.function = "maarDestroySliceAfter",
     .prepare = prepare_slice,
     .run = run_slice_after,
     .finish = undo_after},
    {.function = "maarAdvanceHostTimeline", .never = "moves a number", .run = run_advance},
    {.function = "maarCollect",
     .prepare = prepare_passed,
     .run = run_collect,
     .finish = finish_timeline,
     .lost_is_done = true},
    {.function = "maarWaitPending",
     .prepare = prepare_passed,
     .run = run_wait,
     .finish = finish_timeline,
     .lost_is_done = true},
    {.function = "maarWaitPending",
     .variant = "in vain",
     .prepare = prepare_unpassed,
     .run = run_wait_in_vain,
     .finish = finish_unpassed,
     .lost_is_done = true},
    {.function = "maarWaitPoints",
     .prepare = prepare_passed,
     .run = run_wait_for_point,
     .finish = finish_timeline,
     .lost_is_done = true},
    {.function = "maarTrim",
     .prepare = prepare_passed,
     .run = run_trim,
     .finish = finish_timeline,
     .lost_is_done = true},
    {.function = "maarTrimAged",
     .prepare = prepare_passed,
     .run = run_trim_aged,
     .finish = finish_timeline,
     .lost_is_done = true},
};

const struct fault_table fault_later_steps = {steps, sizeof steps / sizeof steps[0]};
