/*
 * Submissions that the simulated driver holds back: in which order they are executed, and what must
 * not be destroyed or bound elsewhere before.
 */
#include "tests/unit/simulated/simulated_fixture.h"

#define PAGE ((VkDeviceSize)65536)

struct held {
    struct simulated_fixture f;
    VkSemaphore timeline;
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkCommandPool pool;
    VkCommandBuffer commands;
};

static VkBuffer make_buffer(const struct simulated_fixture* f)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT | VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
        .size = 8 * PAGE,
        .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT,
    };
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateBuffer(f->device, &info, NULL, &buffer), VK_SUCCESS);
    return buffer;
}

static int held_setup(void** state)
{
    struct held* h = calloc(1, sizeof(*h));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(h);
    assert_non_null(profile);
    struct simulated_fixture* f = &h->f;
    fixture_profile(profile);
    fixture_open(f, profile);
    free(profile);
    const VkSemaphoreTypeCreateInfo type = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
                                            .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE};
    const VkSemaphoreCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
                                        .pNext = &type};
    assert_int_equal(f->vkCreateSemaphore(f->device, &info, NULL, &h->timeline), VK_SUCCESS);
    h->buffer = make_buffer(f);
    h->memory = fixture_memory(f, 0, 8 * PAGE);
    const VkCommandPoolCreateInfo pool_info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    assert_int_equal(f->vkCreateCommandPool(f->device, &pool_info, NULL, &h->pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo command_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = h->pool,
        .commandBufferCount = 1};
    assert_int_equal(f->vkAllocateCommandBuffers(f->device, &command_info, &h->commands),
                     VK_SUCCESS);
    maarSimulatedSetFlags(f->physical, MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    *state = h;
    return 0;
}

static int held_teardown(void** state)
{
    struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    maarSimulatedSetFlags(f->physical, 0);
    f->vkDestroyCommandPool(f->device, h->pool, NULL);
    f->vkDestroyBuffer(f->device, h->buffer, NULL);
    f->vkFreeMemory(f->device, h->memory, NULL);
    f->vkDestroySemaphore(f->device, h->timeline, NULL);
    return fixture_teardown(state);
}

/* Waits for one value of the timeline and signals another; 0 for neither. */
struct points {
    uint64_t wait, signal;
};

static VkTimelineSemaphoreSubmitInfo timeline_of(const struct points* points)
{
    return (VkTimelineSemaphoreSubmitInfo){
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &points->wait,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &points->signal,
    };
}

static void submit_bind(const struct held* h, VkSparseMemoryBind bind, struct points points)
{
    const VkTimelineSemaphoreSubmitInfo timeline = timeline_of(&points);
    const VkSparseBufferMemoryBindInfo buffers = {h->buffer, 1, &bind};
    const VkBindSparseInfo info = {
        .sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = points.wait != 0 ? 1 : 0,
        .pWaitSemaphores = &h->timeline,
        .bufferBindCount = 1,
        .pBufferBinds = &buffers,
        .signalSemaphoreCount = points.signal != 0 ? 1 : 0,
        .pSignalSemaphores = &h->timeline,
    };
    assert_int_equal(h->f.vkQueueBindSparse(h->f.queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

/* Commands that write [offset, offset + size) of the buffer. */
static void submit_fill(const struct held* h, VkDeviceSize offset, VkDeviceSize size,
                        struct points points, VkFence fence)
{
    const VkTimelineSemaphoreSubmitInfo timeline = timeline_of(&points);
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = points.wait != 0 ? 1 : 0,
        .pWaitSemaphores = &h->timeline,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &h->commands,
        .signalSemaphoreCount = points.signal != 0 ? 1 : 0,
        .pSignalSemaphores = &h->timeline,
    };
    assert_int_equal(h->f.vkBeginCommandBuffer(h->commands, &begin), VK_SUCCESS);
    h->f.vkCmdFillBuffer(h->commands, h->buffer, offset, size, 0);
    assert_int_equal(h->f.vkEndCommandBuffer(h->commands), VK_SUCCESS);
    assert_int_equal(h->f.vkQueueSubmit(h->f.queue, 1, &submit, fence), VK_SUCCESS);
}

static uint64_t value_of(const struct held* h)
{
    uint64_t value = 0;
    assert_int_equal(h->f.vkGetSemaphoreCounterValue(h->f.device, h->timeline, &value), VK_SUCCESS);
    return value;
}

static void release(const struct held* h)
{
    maarSimulatedSetFlags(h->f.physical, 0);
}

static void submissions_wait_for_their_release(void** state)
{
    const struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    VkFence fence = VK_NULL_HANDLE;
    assert_int_equal(f->vkCreateFence(f->device, &info, NULL, &fence), VK_SUCCESS);
    submit_bind(h, (VkSparseMemoryBind){.size = PAGE, .memory = h->memory}, (struct points){0, 1});
    submit_fill(h, 0, PAGE, (struct points){1, 2}, fence);
    assert_int_equal(value_of(h), 0);
    assert_int_equal(f->vkGetFenceStatus(f->device, fence), VK_NOT_READY);
    assert_int_equal(fixture_counters(f).sparseBoundBytes, 0);
    assert_int_equal(maarSimulatedExecuteSubmissions(f->physical, 1), 1);
    assert_int_equal(value_of(h), 1);
    assert_int_equal(fixture_counters(f).sparseBoundBytes, PAGE);
    release(h);
    assert_int_equal(value_of(h), 2);
    assert_int_equal(f->vkGetFenceStatus(f->device, fence), VK_SUCCESS);
    f->vkDestroyFence(f->device, fence, NULL);
    assert_int_equal(fixture_counters(f).violationCount, 0);
}

static void waiting_lets_time_pass(void** state)
{
    const struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &h->timeline,
                                      .pValues = &value};
    submit_fill(h, 0, PAGE, (struct points){0, 1}, VK_NULL_HANDLE);
    assert_int_equal(f->vkWaitSemaphores(f->device, &wait, 0), VK_TIMEOUT);
    assert_int_equal(f->vkWaitSemaphores(f->device, &wait, 1), VK_SUCCESS);
    submit_fill(h, 0, PAGE, (struct points){0, 2}, VK_NULL_HANDLE);
    assert_int_equal(f->vkQueueWaitIdle(f->queue), VK_SUCCESS);
    assert_int_equal(value_of(h), 2);
    submit_fill(h, 0, PAGE, (struct points){0, 3}, VK_NULL_HANDLE);
    assert_int_equal(f->vkDeviceWaitIdle(f->device), VK_SUCCESS);
    assert_int_equal(value_of(h), 3);
    assert_int_equal(fixture_counters(f).violationCount, 0);
}

static void a_host_signal_lets_submissions_begin(void** state)
{
    const struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    submit_fill(h, 0, PAGE, (struct points){5, 6}, VK_NULL_HANDLE);
    assert_int_equal(maarSimulatedExecuteSubmissions(f->physical, 2), 0);
    release(h);
    assert_int_equal(value_of(h), 0);
    const VkSemaphoreSignalInfo signal = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_SIGNAL_INFO, .semaphore = h->timeline, .value = 5};
    assert_int_equal(f->vkSignalSemaphore(f->device, &signal), VK_SUCCESS);
    assert_int_equal(value_of(h), 6);
    assert_int_equal(fixture_counters(f).violationCount, 0);
    assert_int_equal(fixture_counters(f).earlyWaitCount, 0);
}

static void binds_without_semaphores_run_in_the_worst_order(void** state)
{
    const struct held* h = *state;
    const VkSparseMemoryBind bind = {.size = PAGE, .memory = h->memory};
    submit_bind(h, bind, (struct points){0, 1});
    submit_bind(h, bind, (struct points){0, 2});
    release(h);
    fixture_expect(&h->f, MAAR_SIMULATED_VIOLATION_SEMAPHORE, 1);
}

static void binds_in_a_chain_keep_their_order(void** state)
{
    const struct held* h = *state;
    submit_bind(h, (VkSparseMemoryBind){.size = PAGE, .memory = h->memory}, (struct points){0, 1});
    submit_bind(h, (VkSparseMemoryBind){.size = PAGE}, (struct points){1, 2});
    submit_bind(h, (VkSparseMemoryBind){.resourceOffset = PAGE, .size = PAGE, .memory = h->memory},
                (struct points){2, 3});
    release(h);
    assert_int_equal(value_of(h), 3);
    assert_int_equal(fixture_counters(&h->f).violationCount, 0);
    assert_int_equal(fixture_counters(&h->f).sparseBoundBytes, PAGE);
}

static void pages_in_use_must_not_be_unbound(void** state)
{
    const struct held* h = *state;
    submit_bind(h, (VkSparseMemoryBind){.size = 4 * PAGE, .memory = h->memory},
                (struct points){0, 1});
    assert_int_equal(maarSimulatedExecuteSubmissions(h->f.physical, 1), 1);
    submit_fill(h, 0, 2 * PAGE, (struct points){1, 0}, VK_NULL_HANDLE);
    /* What no command uses may go. */
    submit_bind(h, (VkSparseMemoryBind){.resourceOffset = 2 * PAGE, .size = 2 * PAGE},
                (struct points){1, 2});
    assert_int_equal(maarSimulatedExecuteSubmissions(h->f.physical, 1), 1);
    assert_int_equal(fixture_counters(&h->f).violationCount, 0);
    submit_bind(h, (VkSparseMemoryBind){.resourceOffset = PAGE, .size = PAGE},
                (struct points){2, 3});
    release(h);
    fixture_expect(&h->f, MAAR_SIMULATED_VIOLATION_IN_USE, 1);
}

static void pages_may_be_unbound_after_the_commands(void** state)
{
    const struct held* h = *state;
    submit_bind(h, (VkSparseMemoryBind){.size = 4 * PAGE, .memory = h->memory},
                (struct points){0, 1});
    submit_fill(h, 0, VK_WHOLE_SIZE, (struct points){1, 2}, VK_NULL_HANDLE);
    submit_bind(h, (VkSparseMemoryBind){.size = 4 * PAGE}, (struct points){2, 3});
    release(h);
    assert_int_equal(value_of(h), 3);
    assert_int_equal(fixture_counters(&h->f).violationCount, 0);
}

static void what_is_in_use_must_not_be_destroyed(void** state)
{
    struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    submit_bind(h, (VkSparseMemoryBind){.size = PAGE, .memory = h->memory}, (struct points){0, 1});
    f->vkFreeMemory(f->device, h->memory, NULL);
    h->memory = VK_NULL_HANDLE;
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 1);
    f->vkDestroyBuffer(f->device, h->buffer, NULL);
    h->buffer = VK_NULL_HANDLE;
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 2);
}

static void memory_of_commands_must_not_be_freed(void** state)
{
    struct held* h = *state;
    const struct simulated_fixture* f = &h->f;
    submit_bind(h, (VkSparseMemoryBind){.size = PAGE, .memory = h->memory}, (struct points){0, 1});
    assert_int_equal(maarSimulatedExecuteSubmissions(f->physical, UINT32_MAX), 1);
    submit_fill(h, PAGE, PAGE, (struct points){0}, VK_NULL_HANDLE);
    const VkDeviceMemory other = fixture_memory(f, 0, PAGE);
    f->vkFreeMemory(f->device, other, NULL);
    assert_int_equal(fixture_counters(f).violationCount, 0);
    submit_fill(h, 0, PAGE, (struct points){0}, VK_NULL_HANDLE);
    f->vkFreeMemory(f->device, h->memory, NULL);
    h->memory = VK_NULL_HANDLE;
    fixture_expect(f, MAAR_SIMULATED_VIOLATION_IN_USE, 1);
}

static void early_waits_are_counted(void** state)
{
    const struct held* h = *state;
    release(h);
    submit_fill(h, 0, PAGE, (struct points){7, 0}, VK_NULL_HANDLE);
    assert_int_equal(fixture_counters(&h->f).earlyWaitCount, 1);
    assert_int_equal(fixture_counters(&h->f).violationCount, 0);
}

#define HELD_TEST(name) cmocka_unit_test_setup_teardown(name, held_setup, held_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HELD_TEST(submissions_wait_for_their_release),
        HELD_TEST(waiting_lets_time_pass),
        HELD_TEST(a_host_signal_lets_submissions_begin),
        HELD_TEST(binds_without_semaphores_run_in_the_worst_order),
        HELD_TEST(binds_in_a_chain_keep_their_order),
        HELD_TEST(pages_in_use_must_not_be_unbound),
        HELD_TEST(pages_may_be_unbound_after_the_commands),
        HELD_TEST(what_is_in_use_must_not_be_destroyed),
        HELD_TEST(memory_of_commands_must_not_be_freed),
        HELD_TEST(early_waits_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
