/*
 * Virtual time: what commands, binds and declared work take, overlap and contention, waits of the
 * host, timestamps; scripts of budgets, and memory that is demoted.
 */
#include "tests/unit/simulated/simulated_commands.h"

/* Round figures: a device heap of 1 byte each ns, a host heap of a tenth, 100 ns for a command. */
static const MaarSimulatedTimeInfo costs = {
    .sType = MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO,
    .commandLatency = 100,
    .bindLatency = 1000,
    .bindElement = 10,
    .heapBandwidth = {1000000000, 100000000},
};

enum { SIZE = 65536 };

static int time_setup(void** state)
{
    struct executed* x = calloc(1, sizeof(*x));
    MaarSimulatedProfile* profile = malloc(sizeof(*profile));
    assert_non_null(x);
    assert_non_null(profile);
    executed_profile(profile);
    executed_open(x, profile, 0);
    free(profile);
    assert_int_equal(maarSimulatedSetTime(x->f.physical, &costs), VK_SUCCESS);
    *state = x;
    return 0;
}

static MaarSimulatedClocks clocks_of(const struct executed* x)
{
    MaarSimulatedClocks clocks = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS};
    maarSimulatedGetClocks(x->f.device, &clocks);
    return clocks;
}

/* Submits commands after a value of a timeline (0: none) to signal another (0: none). */
static void submit(const struct executed* x, VkQueue queue, VkCommandBuffer commands,
                   VkSemaphore timeline, uint64_t wait, uint64_t signal)
{
    const VkTimelineSemaphoreSubmitInfo values = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = 1,
        .pWaitSemaphoreValues = &wait,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &signal};
    const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .pNext = &values,
                               .waitSemaphoreCount = wait != 0 ? 1 : 0,
                               .pWaitSemaphores = &timeline,
                               .pWaitDstStageMask = &all,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &commands,
                               .signalSemaphoreCount = signal != 0 ? 1 : 0,
                               .pSignalSemaphores = &timeline};
    assert_int_equal(x->f.vkEndCommandBuffer(commands), VK_SUCCESS);
    assert_int_equal(x->f.vkQueueSubmit(queue, 1, &info, VK_NULL_HANDLE), VK_SUCCESS);
}

static VkCommandBuffer start(const struct executed* x)
{
    const VkCommandBuffer commands = executed_commands(x, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    executed_begin(x, commands);
    return commands;
}

static VkCommandBuffer copying(const struct executed* x, const struct executed_buffer* from,
                               const struct executed_buffer* to)
{
    const VkBufferCopy region = {0, 0, SIZE};
    const VkCommandBuffer commands = start(x);
    x->f.vkCmdCopyBuffer(commands, from->buffer, to->buffer, 1, &region);
    return commands;
}

static VkCommandBuffer working(const struct executed* x, uint64_t nanoseconds)
{
    const VkCommandBuffer commands = start(x);
    maarSimulatedCmdWork(commands, nanoseconds);
    return commands;
}

static void copies_take_latency_and_bytes_of_the_slower_heap(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    const struct executed_buffer c = executed_buffer(x, 1, SIZE);
    submit(x, x->f.queue, copying(x, &a, &b), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 100 + SIZE);
    submit(x, x->f.queue, copying(x, &a, &c), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 200 + SIZE + 10 * SIZE);
    assert_int_equal(clocks_of(x).heapBusy[0], 11 * SIZE);
    assert_int_equal(clocks_of(x).heapBusy[1], 10 * SIZE);
    assert_int_equal(clocks_of(x).host, 0);
    const VkBufferCopy regions[] = {{0, 0, 1000}, {2000, 2000, 500}};
    const VkCommandBuffer both = start(x);
    x->f.vkCmdCopyBuffer(both, a.buffer, b.buffer, 2, regions);
    submit(x, x->f.queue, both, VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 300 + 11 * SIZE + 1500);
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
    executed_free_buffer(x, &c);
}

static void queues_overlap_unless_they_use_one_heap(void** state)
{
    const struct executed* x = *state;
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    submit(x, x->f.queue, working(x, 5000), VK_NULL_HANDLE, 0, 0);
    submit(x, x->f.second_queue, working(x, 7000), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 5000);
    assert_int_equal(clocks_of(x).queues[1], 7000);
    submit(x, x->f.queue, copying(x, &a, &b), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 5100 + SIZE);
    submit(x, x->f.second_queue, copying(x, &b, &a), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[1], 5100 + 2 * SIZE); /* after the other copy */
    executed_free_buffer(x, &a);
    executed_free_buffer(x, &b);
}

static void waits_pass_time_on(void** state)
{
    const struct executed* x = *state;
    const VkSemaphore timeline = executed_timeline(x);
    submit(x, x->f.queue, working(x, 5000), timeline, 0, 1);
    submit(x, x->f.queue, working(x, 3000), timeline, 0, 2);
    submit(x, x->f.second_queue, working(x, 100), timeline, 1, 0);
    assert_int_equal(clocks_of(x).queues[1], 5100); /* after the first, not the second */
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline,
                                      .pValues = &value};
    maarSimulatedAdvanceHostClock(x->f.device, 1000);
    assert_int_equal(x->f.vkWaitSemaphores(x->f.device, &wait, UINT64_MAX), VK_SUCCESS);
    assert_int_equal(clocks_of(x).host, 5000);
    assert_int_equal(clocks_of(x).hostWaited, 4000);
    maarSimulatedAdvanceHostClock(x->f.device, 10000);
    submit(x, x->f.queue, working(x, 1), timeline, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 15001); /* not before it was submitted */
    assert_int_equal(x->f.vkDeviceWaitIdle(x->f.device), VK_SUCCESS);
    assert_int_equal(clocks_of(x).host, 15001);
    assert_int_equal(clocks_of(x).hostWaited, 4001);
    x->f.vkDestroySemaphore(x->f.device, timeline, NULL);
}

static uint64_t value_of(const struct executed* x, VkSemaphore timeline)
{
    uint64_t value = 0;
    assert_int_equal(x->f.vkGetSemaphoreCounterValue(x->f.device, timeline, &value), VK_SUCCESS);
    return value;
}

/* A look at a semaphore or fence sees no signal of the host's future, and takes 500 ns. */
static void host_sees_what_its_clock_has_reached(void** state)
{
    const struct executed* x = *state;
    const VkSemaphore timeline = executed_timeline(x);
    const VkFenceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const uint64_t value = 1;
    const VkSemaphoreWaitInfo wait = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
                                      .semaphoreCount = 1,
                                      .pSemaphores = &timeline,
                                      .pValues = &value};
    VkFence fence = VK_NULL_HANDLE;
    submit(x, x->f.queue, working(x, 5000), timeline, 0, 1);
    submit(x, x->f.queue, working(x, 5000), timeline, 0, 2);
    assert_int_equal(x->f.vkCreateFence(x->f.device, &info, NULL, &fence), VK_SUCCESS);
    assert_int_equal(x->f.vkQueueSubmit(x->f.queue, 0, NULL, fence), VK_SUCCESS);
    assert_int_equal(value_of(x, timeline), 0);
    assert_int_equal(x->f.vkWaitSemaphores(x->f.device, &wait, 0), VK_TIMEOUT);
    assert_int_equal(clocks_of(x).host, 1000);
    maarSimulatedAdvanceHostClock(x->f.device, 4000);
    assert_int_equal(value_of(x, timeline), 1);
    assert_int_equal(x->f.vkWaitSemaphores(x->f.device, &wait, 0), VK_SUCCESS);
    assert_int_equal(x->f.vkGetFenceStatus(x->f.device, fence), VK_NOT_READY);
    while (value_of(x, timeline) < 2) {
        assert_true(clocks_of(x).host <= 10500);
    }
    assert_int_equal(x->f.vkGetFenceStatus(x->f.device, fence), VK_SUCCESS);
    assert_int_equal(clocks_of(x).hostWaited, 0);
    x->f.vkDestroyFence(x->f.device, fence, NULL);
    x->f.vkDestroySemaphore(x->f.device, timeline, NULL);
}

/* More signals than a semaphore remembers, all of them in the host's future. */
static void host_sees_no_future_of_a_long_queue(void** state)
{
    enum { COUNT = 1000 };
    const struct executed* x = *state;
    const VkSemaphore timeline = executed_timeline(x);
    for (uint64_t i = 1; i <= COUNT; i++) {
        submit(x, x->f.queue, working(x, 1000), timeline, 0, i);
    }
    assert_int_equal(value_of(x, timeline), 0);
    maarSimulatedAdvanceHostClock(x->f.device, (COUNT - 10) * 1000);
    assert_int_equal(value_of(x, timeline), COUNT - 10);
    maarSimulatedAdvanceHostClock(x->f.device, 10000);
    assert_int_equal(value_of(x, timeline), COUNT);
    x->f.vkDestroySemaphore(x->f.device, timeline, NULL);
}

static void binds_take_time_by_element(void** state)
{
    const struct executed* x = *state;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .flags = VK_BUFFER_CREATE_SPARSE_BINDING_BIT |
                                              VK_BUFFER_CREATE_SPARSE_RESIDENCY_BIT,
                                     .size = 4 * SIZE,
                                     .usage = VK_BUFFER_USAGE_TRANSFER_DST_BIT};
    VkBuffer buffer = VK_NULL_HANDLE;
    assert_int_equal(x->f.vkCreateBuffer(x->f.device, &info, NULL, &buffer), VK_SUCCESS);
    const VkDeviceMemory memory = fixture_memory(&x->f, 0, 4 * SIZE);
    const VkSparseMemoryBind binds[] = {{0, SIZE, memory, 0, 0}, {2 * SIZE, SIZE, memory, SIZE, 0}};
    const VkSparseBufferMemoryBindInfo buffers = {buffer, 2, binds};
    const VkBindSparseInfo batch = {.sType = VK_STRUCTURE_TYPE_BIND_SPARSE_INFO,
                                    .bufferBindCount = 1,
                                    .pBufferBinds = &buffers};
    assert_int_equal(x->f.vkQueueBindSparse(x->f.queue, 1, &batch, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(clocks_of(x).queues[0], 1020);
    x->f.vkDestroyBuffer(x->f.device, buffer, NULL);
    x->f.vkFreeMemory(x->f.device, memory, NULL);
}

static void timestamps_are_virtual(void** state)
{
    const struct executed* x = *state;
    const VkQueryPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                        .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                        .queryCount = 2};
    VkQueryPool pool = VK_NULL_HANDLE;
    uint64_t times[2] = {1, 1};
    uint32_t low = 0;
    assert_int_equal(x->f.vkCreateQueryPool(x->f.device, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBuffer commands = start(x);
    maarSimulatedCmdWork(commands, 10);
    x->f.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, pool, 0);
    maarSimulatedCmdWork(commands, 5000000000);
    x->f.vkCmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool, 1);
    submit(x, x->f.queue, commands, VK_NULL_HANDLE, 0, 0);
    assert_int_equal(x->f.vkGetQueryPoolResults(x->f.device, pool, 0, 2, sizeof(times), times, 8,
                                                VK_QUERY_RESULT_64_BIT),
                     VK_SUCCESS);
    assert_int_equal(times[0], 10);
    assert_int_equal(times[1], 5000000010);
    assert_int_equal(x->f.vkGetQueryPoolResults(x->f.device, pool, 1, 1, sizeof(low), &low, 4, 0),
                     VK_SUCCESS);
    assert_int_equal(low, (uint32_t)5000000010);
    x->f.vkDestroyQueryPool(x->f.device, pool, NULL);
    assert_int_equal(fixture_counters(&x->f).violationCount, 0);
}

static void time_stands_still_without_its_costs(void** state)
{
    const struct executed* x = *state;
    MaarSimulatedTimeInfo wrong = costs;
    wrong.sType = MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS;
    assert_int_equal(maarSimulatedSetTime(x->f.physical, &wrong), VK_ERROR_VALIDATION_FAILED_EXT);
    submit(x, x->f.queue, working(x, 10), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 10);
    assert_int_equal(maarSimulatedSetTime(x->f.physical, NULL), VK_SUCCESS);
    submit(x, x->f.queue, working(x, 10), VK_NULL_HANDLE, 0, 0);
    maarSimulatedAdvanceHostClock(x->f.device, 10);
    assert_int_equal(clocks_of(x).queues[0], 0);
    assert_int_equal(clocks_of(x).host, 0);
}

/* ---- budgets ---- */

static VkPhysicalDeviceMemoryBudgetPropertiesEXT ask(const struct executed* x)
{
    VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
    VkPhysicalDeviceMemoryProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
    x->f.vkGetPhysicalDeviceMemoryProperties2(x->f.physical, &properties);
    return budget;
}

static void budgets_follow_a_script_of_queries(void** state)
{
    const struct executed* x = *state;
    const MaarSimulatedBudgetStep steps[] = {
        {2, 100 * FIXTURE_MIB, 0}, {3, 0, 0}, {5, UINT64_MAX, 0}};
    const VkDeviceSize expected[] = {256 * FIXTURE_MIB, 100 * FIXTURE_MIB, 0, 0,
                                     UINT64_MAX,        UINT64_MAX};
    const MaarSimulatedBudgetUnit queries = MAAR_SIMULATED_BUDGET_UNIT_QUERIES;
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 0, queries, 3, steps), VK_SUCCESS);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(ask(x).heapBudget[0], expected[i]);
    }
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 0, queries, 0, NULL), VK_SUCCESS);
    assert_int_equal(maarSimulatedSetHeapBudget(x->f.physical, 0, 7, 0), VK_SUCCESS);
    assert_int_equal(ask(x).heapBudget[0], 7);
}

static void budgets_follow_a_script_of_virtual_time(void** state)
{
    const struct executed* x = *state;
    const MaarSimulatedBudgetStep steps[] = {{1000, 50, 0}, {2000, 90, 256 * FIXTURE_MIB}};
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 0,
                                               MAAR_SIMULATED_BUDGET_UNIT_VIRTUAL_NS, 2, steps),
                     VK_SUCCESS);
    assert_int_equal(ask(x).heapBudget[0], 256 * FIXTURE_MIB);
    maarSimulatedAdvanceHostClock(x->f.device, 1500);
    assert_int_equal(ask(x).heapBudget[0], 50);
    maarSimulatedAdvanceHostClock(x->f.device, 500);
    assert_int_equal(ask(x).heapBudget[0], 90);
    VkDeviceMemory memory = VK_NULL_HANDLE;
    assert_int_equal(fixture_allocate(&x->f, 0, SIZE, NULL, &memory),
                     VK_ERROR_OUT_OF_DEVICE_MEMORY);
}

static void impossible_scripts_are_rejected(void** state)
{
    const struct executed* x = *state;
    const MaarSimulatedBudgetStep steps[] = {{2, 1, 0}, {2, 2, 0}};
    const MaarSimulatedBudgetUnit queries = MAAR_SIMULATED_BUDGET_UNIT_QUERIES;
    const VkResult bad = VK_ERROR_VALIDATION_FAILED_EXT;
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 2, queries, 1, steps), bad);
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 0, queries, 2, steps), bad);
    assert_int_equal(maarSimulatedScriptBudget(x->f.physical, 0, queries,
                                               MAAR_SIMULATED_MAX_BUDGET_STEPS + 1, steps),
                     bad);
    assert_int_equal(ask(x).heapBudget[0], 256 * FIXTURE_MIB);
}

static void what_is_over_budget_is_demoted_whole(void** state)
{
    const struct executed* x = *state;
    MaarSimulatedTimeInfo demoting = costs;
    demoting.demotes = VK_TRUE;
    assert_int_equal(maarSimulatedSetTime(x->f.physical, &demoting), VK_SUCCESS);
    const struct executed_buffer a = executed_buffer(x, 0, SIZE);
    const struct executed_buffer b = executed_buffer(x, 0, SIZE);
    const struct executed_buffer c = executed_buffer(x, 0, SIZE);
    submit(x, x->f.queue, copying(x, &a, &c), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 100 + SIZE);
    assert_int_equal(clocks_of(x).demoted[0], 0);
    assert_int_equal(maarSimulatedSetHeapBudget(x->f.physical, 0, 2 * SIZE + 1, 0), VK_SUCCESS);
    assert_int_equal(clocks_of(x).demoted[0], SIZE);
    submit(x, x->f.queue, copying(x, &a, &b), VK_NULL_HANDLE, 0, 0);
    assert_int_equal(clocks_of(x).queues[0], 200 + 2 * SIZE);
    submit(x, x->f.queue, copying(x, &a, &c), VK_NULL_HANDLE, 0, 0); /* the last one */
    assert_int_equal(clocks_of(x).queues[0], 300 + 12 * SIZE);
    executed_free_buffer(x, &a);
    submit(x, x->f.queue, copying(x, &b, &c), VK_NULL_HANDLE, 0, 0); /* there is room again */
    assert_int_equal(clocks_of(x).queues[0], 400 + 13 * SIZE);
    executed_free_buffer(x, &b);
    executed_free_buffer(x, &c);
    assert_int_equal(fixture_counters(&x->f).violationCount, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, time_setup, executed_teardown)
        CASE(copies_take_latency_and_bytes_of_the_slower_heap),
        CASE(queues_overlap_unless_they_use_one_heap),
        CASE(waits_pass_time_on),
        CASE(host_sees_what_its_clock_has_reached),
        CASE(host_sees_no_future_of_a_long_queue),
        CASE(binds_take_time_by_element),
        CASE(timestamps_are_virtual),
        CASE(time_stands_still_without_its_costs),
        CASE(budgets_follow_a_script_of_queries),
        CASE(budgets_follow_a_script_of_virtual_time),
        CASE(impossible_scripts_are_rejected),
        CASE(what_is_over_budget_is_demoted_whole),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
