/*
 * Steps: ordered reuse, with pending memory that the calls take, divide and give back.
 */
#include "tests/fault/fault_steps.h"

enum { OLD_SIZE = 3 << 16, NEW_SIZE = 1 << 16 };

static MaarPoint ordered_waits[4];
static uint32_t ordered_wait_count;

/* A create info of memory that is first used after the host's point. */
static MaarAllocationCreateInfo* ordered_how(const MaarPoint* point)
{
    static MaarOrderedUseInfo use;
    static MaarAllocationCreateInfo how;
    use = (MaarOrderedUseInfo){
        .sType = MAAR_STRUCTURE_TYPE_ORDERED_USE_INFO,
        .flags = MAAR_ORDERED_USE_MAY_ADD_WAITS_BIT,
        .pointCount = point != NULL ? 1 : 0,
        .pPoints = point,
        .waitCapacity = 4,
        .pWaits = ordered_waits,
        .pWaitCount = &ordered_wait_count,
    };
    how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.pNext = &use;
    return &how;
}

/* Ordered reuse is on, and memory is pending. */
static void prepare_ordered(struct fault_context* c)
{
    const MaarMemoryRequest request =
        rig_request(OLD_SIZE, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const MaarSubmissionInfo nothing = {.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO};
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    assert_int_equal(maarDeclareSubmission(c->rig.allocator, &nothing), VK_SUCCESS);
    assert_int_equal(maarAllocateMemory(c->rig.allocator, &request, &how, &c->memory), VK_SUCCESS);
    assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, c->memory, 1, &fault_host_point),
                     VK_SUCCESS);
    ordered_wait_count = 0;
}

static void finish_ordered(struct fault_context* c)
{
    fault_pass_point(c);
    fault_collect(c);
}

static VkResult run_ordered_memory(struct fault_context* c)
{
    const MaarMemoryRequest request =
        rig_request(NEW_SIZE, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    MaarAllocationCreateInfo* how = ordered_how(&fault_host_point);
    how->pName = "ordered";
    return maarAllocateMemory(c->rig.allocator, &request, how, &c->many[0]);
}

static void undo_ordered_memory(struct fault_context* c)
{
    maarFreeMemory(c->rig.allocator, c->many[0]);
}

static VkResult run_ordered_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(NEW_SIZE);
    return maarCreateBuffer(c->rig.allocator, &info, ordered_how(&fault_host_point), &c->buffer,
                            &c->many[0]);
}

/* Two neighbours are pending, with a free range behind them, and no range serves alone. */
static void prepare_neighbours(struct fault_context* c)
{
    const MaarMemoryRequest request =
        rig_request(NEW_SIZE, 256, UINT32_MAX, MAAR_RESOURCE_KIND_LINEAR);
    const MaarSubmissionInfo nothing = {.sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO};
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation neighbours[2];
    assert_int_equal(maarDeclareSubmission(c->rig.allocator, &nothing), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        how.pName = "neighbour";
        assert_int_equal(maarAllocateMemory(c->rig.allocator, &request, &how, &neighbours[i]),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarFreeMemoryAfter(c->rig.allocator, neighbours[i], 1, &fault_host_point),
                         VK_SUCCESS);
    }
    ordered_wait_count = 0;
}

static VkResult run_joined_buffer(struct fault_context* c)
{
    const VkBufferCreateInfo info = rig_buffer_info(2 * NEW_SIZE + NEW_SIZE / 2);
    return maarCreateBuffer(c->rig.allocator, &info, ordered_how(&fault_host_point), &c->buffer,
                            &c->many[0]);
}

static void undo_ordered_buffer(struct fault_context* c)
{
    maarDestroyBuffer(c->rig.allocator, c->buffer, c->many[0]);
}

static void prepare_inheriting(struct fault_context* c)
{
    prepare_ordered(c);
    assert_int_equal(run_ordered_memory(c), VK_SUCCESS);
}

static VkResult run_free_inheriting(struct fault_context* c)
{
    return maarFreeMemoryAfter(c->rig.allocator, c->many[0], 1, &fault_host_point);
}

static void finish_inheriting(struct fault_context* c)
{
    MaarAllocationInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    if (maarGetAllocationInfo(c->rig.allocator, c->many[0], &info) == VK_SUCCESS) {
        maarFreeMemory(c->rig.allocator, c->many[0]);
    }
    rig_forget_messages(&c->rig);
    finish_ordered(c);
}

static VkResult run_declare(struct fault_context* c)
{
    const MaarPoint signals[1] = {{c->timeline, 7}};
    const MaarSubmissionInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_SUBMISSION_INFO,
        .waitCount = 1,
        .pWaits = &fault_host_point,
        .signalCount = 1,
        .pSignals = signals,
    };
    return maarDeclareSubmission(c->rig.allocator, &info);
}

static void prepare_timeline(struct fault_context* c)
{
    c->timeline = rig_create_timeline(&c->rig, 0);
}

static void forget_timeline(struct fault_context* c)
{
    assert_int_equal(maarForgetTimeline(c->rig.allocator, c->timeline), VK_SUCCESS);
}

static void finish_timeline(struct fault_context* c)
{
    vkDestroySemaphore(c->rig.device, c->timeline, NULL);
}

static VkResult run_forget(struct fault_context* c)
{
    return maarForgetTimeline(c->rig.allocator, c->timeline);
}

static VkResult run_statistics(struct fault_context* c)
{
    MaarOrderedStatistics statistics = {.sType = MAAR_STRUCTURE_TYPE_ORDERED_STATISTICS};
    return maarGetOrderedStatistics(c->rig.allocator, &statistics);
}

static const struct fault_step steps[] = {
    {.function = "maarAllocateMemory",
     .variant = "ordered",
     .prepare = prepare_ordered,
     .run = run_ordered_memory,
     .undo = undo_ordered_memory,
     .finish = finish_ordered},
    {.function = "maarCreateBuffer",
     .variant = "ordered",
     .prepare = prepare_ordered,
     .run = run_ordered_buffer,
     .undo = undo_ordered_buffer,
     .finish = finish_ordered},
    {.function = "maarCreateBuffer",
     .variant = "in joined ranges",
     .prepare = prepare_neighbours,
     .run = run_joined_buffer,
     .joins = true,
     .undo = undo_ordered_buffer,
     .finish = finish_ordered},
    {.function = "maarFreeMemoryAfter",
     .variant = "of inherited memory",
     .prepare = prepare_inheriting,
     .run = run_free_inheriting,
     .finish = finish_inheriting},
    {.function = "maarDeclareSubmission",
     .prepare = prepare_timeline,
     .run = run_declare,
     .undo = forget_timeline,
     .finish = finish_timeline},
    {.function = "maarForgetTimeline",
     .never = "frees memory alone",
     .prepare = prepare_timeline,
     .run = run_forget,
     .finish = finish_timeline},
    {.function = "maarGetOrderedStatistics", .never = "copies numbers", .run = run_statistics},
};

const struct fault_table fault_ordered_steps = {steps, sizeof steps / sizeof steps[0]};
