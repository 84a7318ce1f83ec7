/*
 * The functions of the simulated driver, which programs' tests call.
 */
#include "growth_cases.h"
#include "growth_reservation.h"
#include "growth_steps.h"

#include <stdlib.h>

/* ---- beside live allocations, each a VkDeviceMemory ---- */

static void do_find_function(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarSimulatedGetInstanceProcAddr(growth->instance.instance, "vkQueueBindSparse") == NULL) {
        bench_die(BENCH_EXIT_FAILED, "vkQueueBindSparse is missing");
    }
}

static void do_get_physical(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarSimulatedGetPhysicalDevice(growth->device) != growth->physical) {
        bench_die(BENCH_EXIT_FAILED, "the device is of another physical device");
    }
}

static void do_get_counters(struct growth* growth, uint32_t index)
{
    MaarSimulatedCounters counters = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_COUNTERS};
    (void)index;
    maarSimulatedGetCounters(growth->physical, &counters);
}

static void do_get_call_count(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarSimulatedGetCallCount(growth->physical, "vkAllocateMemory") < growth->n) {
        bench_die(BENCH_EXIT_FAILED, "calls were not counted");
    }
}

static void do_get_violation(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarSimulatedGetViolation(growth->physical, 0, NULL, 0, NULL)) {
        bench_die(BENCH_EXIT_FAILED, "a rule was broken");
    }
}

static void do_set_all(struct growth* growth, uint32_t index)
{
    const MaarSimulatedDedicated dedicated = {.imagesPrefer = index % 2};
    maarSimulatedSetFlags(growth->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    maarSimulatedSetCallbacks(growth->physical, NULL, bench_receive_violation, NULL);
    GROWTH_EXPECT(maarSimulatedSetFault(growth->physical, NULL));
    GROWTH_EXPECT(maarSimulatedSetHeapBudget(growth->physical, 1, GROWTH_GIB, index));
    const MaarSimulatedTimeInfo time = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_TIME_INFO};
    const MaarSimulatedBudgetStep step = {1, GROWTH_GIB, 0};
    MaarSimulatedClocks clocks = {.sType = MAAR_STRUCTURE_TYPE_SIMULATED_CLOCKS};
    maarSimulatedSetOrder(growth->physical, MAAR_SIMULATED_ORDER_OLDEST_FIRST);
    GROWTH_EXPECT(maarSimulatedSetTime(growth->physical, &time));
    GROWTH_EXPECT(maarSimulatedScriptBudget(growth->physical, 1, MAAR_SIMULATED_BUDGET_UNIT_QUERIES,
                                            index % 2, &step));
    maarSimulatedAdvanceHostClock(growth->device, 1);
    maarSimulatedGetClocks(growth->device, &clocks);
    GROWTH_EXPECT(maarSimulatedSetTime(growth->physical, NULL));
    maarSimulatedSetDedicated(growth->physical, &dedicated);
}

/* ---- runs of pages ---- */

struct simulated_pages {
    MaarReservation reservation;
    VkBuffer buffer;
};

/* A sparse buffer with n runs of pages, which are one behind the other in memory too. */
static void open_runs(struct growth* growth)
{
    struct simulated_pages* pages = growth_create_state(growth, 1, sizeof *pages);
    MaarReservationInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESERVATION_INFO};
    growth->spare = bench_allocate(growth->n, sizeof(MaarSimulatedPages));
    pages->reservation = growth_create_reservation(growth, 2 * growth->n);
    for (uint32_t i = 0; i < growth->n; ++i) {
        growth_commit(growth, pages->reservation, 2 * i, 1);
    }
    GROWTH_EXPECT(maarSubmitBinds(growth->allocator, 0, NULL, NULL));
    GROWTH_EXPECT(maarGetReservationInfo(growth->allocator, pages->reservation, &info));
    pages->buffer = info.buffer;
}

static void close_runs(struct growth* growth)
{
    const struct simulated_pages* pages = growth->state;
    maarDestroyReservation(growth->allocator, pages->reservation);
}

static void do_list_pages(struct growth* growth, uint32_t index)
{
    const struct simulated_pages* pages = growth->state;
    uint32_t count = growth->n;
    (void)index;
    GROWTH_EXPECT(maarSimulatedEnumeratePages(growth->device, VK_OBJECT_TYPE_BUFFER,
                                              (uint64_t)(uintptr_t)pages->buffer, &count,
                                              growth->spare));
}

/* ---- held submissions ---- */

static void hold(struct growth* growth)
{
    const VkSubmitInfo nothing = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO};
    maarSimulatedSetFlags(growth->physical,
                          MAAR_SIMULATED_ALLOW_ALIASING_BIT | MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT);
    for (uint32_t i = 0; i < growth->n; ++i) {
        GROWTH_EXPECT(vkQueueSubmit(growth->queue, 1, &nothing, VK_NULL_HANDLE));
    }
}

static void do_execute(struct growth* growth, uint32_t index)
{
    (void)index;
    if (maarSimulatedExecuteSubmissions(growth->physical, UINT32_MAX) != growth->n) {
        bench_die(BENCH_EXIT_FAILED, "not all submissions were executed");
    }
}

/* ---- declared work ---- */

struct simulated_work {
    VkCommandPool pool;
    VkCommandBuffer commands;
    VkBuffer buffer; /* of accesses */
    VkDeviceMemory memory;
    MaarAllocation buffer_memory;
};

/* A command buffer that is being recorded. */
static void open_work(struct growth* growth)
{
    const VkCommandPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    growth_open_dedicated(growth);
    growth->state = bench_allocate(1, sizeof(struct simulated_work));
    struct simulated_work* work = growth->state;
    GROWTH_EXPECT(vkCreateCommandPool(growth->device, &info, NULL, &work->pool));
    const VkCommandBufferAllocateInfo one = {.sType =
                                                 VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                             .commandPool = work->pool,
                                             .commandBufferCount = 1};
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    GROWTH_EXPECT(vkAllocateCommandBuffers(growth->device, &one, &work->commands));
    maarSimulatedSetFlags(growth->physical,
                          MAAR_SIMULATED_ALLOW_ALIASING_BIT | MAAR_SIMULATED_EXECUTE_BIT);
    GROWTH_EXPECT(vkBeginCommandBuffer(work->commands, &begin));
}

static void do_work(struct growth* growth, uint32_t index)
{
    const struct simulated_work* work = growth->state;
    maarSimulatedCmdWork(work->commands, index);
}

static void close_work(struct growth* growth)
{
    const struct simulated_work* work = growth->state;
    vkDestroyCommandPool(growth->device, work->pool, NULL);
    maarSimulatedSetFlags(growth->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
    growth_close_live(growth);
}

/* An access of a shader and one of the host, of other bytes each time. */
static void open_accesses(struct growth* growth)
{
    open_work(growth);
    struct simulated_work* work = growth->state;
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 1 << 20,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
                                          .dedicated = MAAR_DEDICATED_ALWAYS};
    MaarAllocationInfo place = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_INFO};
    GROWTH_EXPECT(
        maarCreateBuffer(growth->allocator, &info, &how, &work->buffer, &work->buffer_memory));
    GROWTH_EXPECT(maarGetAllocationInfo(growth->allocator, work->buffer_memory, &place));
    work->memory = place.memory;
}

static void do_access(struct growth* growth, uint32_t index)
{
    const struct simulated_work* work = growth->state;
    const VkDeviceSize offset = index % (1u << 18) * 4;
    maarSimulatedCmdAccess(work->commands, work->buffer, offset, 4, VK_ACCESS_SHADER_READ_BIT);
    maarSimulatedHostAccess(growth->device, work->memory, offset, 4, VK_FALSE);
}

static void close_accesses(struct growth* growth)
{
    const struct simulated_work* work = growth->state;
    maarDestroyBuffer(growth->allocator, work->buffer, work->buffer_memory);
    close_work(growth);
}

static void release(struct growth* growth)
{
    maarSimulatedSetFlags(growth->physical, MAAR_SIMULATED_ALLOW_ALIASING_BIT);
}

#define SIMULATED(case_name, function, does)                                                       \
    {                                                                                              \
        .name = case_name, .functions = function, .dimension = "live VkDeviceMemory objects",      \
        .n = 2000, .open = growth_open_dedicated, .operation = does, .close = growth_close_live    \
    }

const struct growth_case growth_simulated_cases[] = {
    SIMULATED("simulated-function", "maarSimulatedGetInstanceProcAddr", do_find_function),
    SIMULATED("simulated-physical-device", "maarSimulatedGetPhysicalDevice", do_get_physical),
    SIMULATED("simulated-counters", "maarSimulatedGetCounters", do_get_counters),
    SIMULATED("simulated-call-count", "maarSimulatedGetCallCount", do_get_call_count),
    SIMULATED("simulated-violation", "maarSimulatedGetViolation", do_get_violation),
    SIMULATED("simulated-settings",
              "maarSimulatedSetFlags maarSimulatedSetCallbacks maarSimulatedSetFault "
              "maarSimulatedSetHeapBudget maarSimulatedSetDedicated maarSimulatedSetOrder "
              "maarSimulatedSetTime maarSimulatedScriptBudget maarSimulatedGetClocks "
              "maarSimulatedAdvanceHostClock",
              do_set_all),
    {
        .name = "simulated-work",
        .functions = "maarSimulatedCmdWork",
        .dimension = "live VkDeviceMemory objects",
        .n = 2000,
        .open = open_work,
        .operation = do_work,
        .close = close_work,
    },
    {
        .name = "simulated-accesses",
        .functions = "maarSimulatedCmdAccess maarSimulatedHostAccess",
        .dimension = "live VkDeviceMemory objects",
        .n = 2000,
        .open = open_accesses,
        .operation = do_access,
        .close = close_accesses,
    },
    {
        .name = "simulated-pages",
        .functions = "maarSimulatedEnumeratePages",
        .dimension = "runs of pages",
        .kind = GROWTH_OVER,
        .n = 500,
        .open = open_runs,
        .operation = do_list_pages,
        .close = close_runs,
    },
    {
        .name = "simulated-execute",
        .functions = "maarSimulatedExecuteSubmissions",
        .dimension = "held submissions",
        .kind = GROWTH_OVER,
        .n = 250,
        .open = growth_create_allocator,
        .prepare = hold,
        .operation = do_execute,
        .tidy = release,
    },
    {.name = NULL},
};
