/*
 * A request that finds its heap full gets memory of residents, on a driver whose heap is limited,
 * and under the validation layer. Every byte of the residents is compared afterwards.
 */
#include "maar/residency.h"
#include "tests/rig/rig.h"

enum { RESIDENTS = 8, SIZE = 1 << 20, WORDS = SIZE / 4 };

static struct rig rig;
static MaarResidency residency;
static MaarResident residents[RESIDENTS];
static VkSemaphore timeline;
static uint64_t submitted;
static VkCommandPool pool;
static VkCommandBuffer commands;
static VkBuffer readback;
static MaarAllocation readback_memory;
static bool yields;
static uint32_t observed;

static VkBool32 VKAPI_PTR ask_manager(void* data, const MaarOutOfMemoryInfo* info)
{
    VkDeviceSize released = 0;
    (void)data;
    ++observed;
    if (yields) {
        (void)maarYieldResidency(rig.allocator, residency, 1u << info->memoryTypeIndex, info->size,
                                 1000000000, &released);
    }
    return released > 0 ? VK_TRUE : VK_FALSE;
}

static VkResult VKAPI_PTR read_words(void* data, VkDeviceSize size, void* bytes)
{
    uint32_t* words = bytes;
    for (VkDeviceSize i = 0; i < size / sizeof words[0]; ++i) {
        words[i] = (uint32_t)(uintptr_t)data + (uint32_t)i;
    }
    return VK_SUCCESS;
}

/* ---- the device ---- */

/* Each heap may hold 24 MiB. */
static int open_limited(void** state)
{
    static VkDeviceSize limits[VK_MAX_MEMORY_HEAPS];
    const struct rig_setup setup = {.paging = true};
    *state = NULL;
    if (rig_is_without_driver() || !rig_open_vulkan(&rig, &setup, rig_is("lavapipe"))) {
        return 0;
    }
    VkPhysicalDeviceMemoryProperties memory;
    vkGetPhysicalDeviceMemoryProperties(rig.physical, &memory);
    for (uint32_t i = 0; i < memory.memoryHeapCount; ++i) {
        limits[i] = 24 * MIB;
    }
    rig.create_info.heapSizeLimitCount = memory.memoryHeapCount;
    rig.create_info.pHeapSizeLimits = limits;
    rig.create_info.pfnOutOfMemory = ask_manager;
    rig_make_allocator(&rig);
    *state = &rig;
    return 0;
}

static void open_commands(uint32_t queue_index)
{
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig.paging_queues[queue_index].familyIndex,
    };
    assert_int_equal(vkCreateCommandPool(rig.device, &info, NULL, &pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo how = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = pool,
        .commandBufferCount = 1,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig.device, &how, &commands), VK_SUCCESS);
    timeline = rig_create_timeline(&rig, 0);
    submitted = 0;
}

/* Submits a copy of a resident's buffer, and waits for it. */
static MaarPoint copy_back(VkBuffer buffer, const MaarUseInfo* use)
{
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_HOST_READ_BIT,
    };
    const VkBufferCopy region = {.size = SIZE};
    const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint64_t value = ++submitted;
    assert_int_equal(vkBeginCommandBuffer(commands, &begin), VK_SUCCESS);
    vkCmdCopyBuffer(commands, buffer, readback, 1, &region);
    vkCmdPipelineBarrier(commands, stage, VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &all, 0, NULL, 0, NULL);
    assert_int_equal(vkEndCommandBuffer(commands), VK_SUCCESS);
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = use->mustWait,
        .pWaitSemaphoreValues = &use->wait.value,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &value,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = use->mustWait,
        .pWaitSemaphores = &use->wait.semaphore,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    const VkSemaphoreWaitInfo wait = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    assert_int_equal(vkQueueSubmit(rig.queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    assert_int_equal(vkWaitSemaphores(rig.device, &wait, UINT64_MAX), VK_SUCCESS);
    return (MaarPoint){timeline, value};
}

/* ---- residents ---- */

static void open_residents(void)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(SIZE);
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    uint32_t queue_index = 0;
    for (uint32_t i = 0; i < rig.create_info.queueCount; ++i) {
        queue_index = rig.paging_queues[i].queue == rig.queue ? i : queue_index;
    }
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue_index,
        .deviceBudget = RESIDENTS * SIZE,
        .hostBudget = RESIDENTS * SIZE,
    };
    open_commands(queue_index);
    assert_int_equal(maarCreateBuffer(rig.allocator, &buffer, &how, &readback, &readback_memory),
                     VK_SUCCESS);
    assert_int_equal(maarCreateResidency(rig.allocator, &info, &residency), VK_SUCCESS);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        const MaarResidentCreateInfo one = {
            .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
            .pBufferInfo = &buffer,
            .pfnRead = read_words,
            .pSourceUserData = (void*)(uintptr_t)(i * WORDS),
        };
        assert_int_equal(maarCreateResident(rig.allocator, residency, &one, &residents[i]),
                         VK_SUCCESS);
    }
}

static void compare(uint32_t number)
{
    static uint32_t words[WORDS];
    const MaarResidentUse use = {residents[number], MAAR_ACCESS_READ_BIT, 0};
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = MAAR_USE_WAIT_BIT,
        .useCount = 1,
        .pUses = &use,
    };
    MaarUseInfo info = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    MaarResidentObject object;
    MaarUse begun = VK_NULL_HANDLE;
    assert_int_equal(maarBeginUse(rig.allocator, residency, &begin, &object, &info, &begun),
                     VK_SUCCESS);
    const MaarPoint end = copy_back(object.buffer, &info);
    assert_int_equal(maarEndUse(rig.allocator, residency, begun, 1, &end), VK_SUCCESS);
    assert_int_equal(maarCopyFromAllocation(rig.allocator, readback_memory, 0, SIZE, words),
                     VK_SUCCESS);
    for (uint32_t i = 0; i < WORDS; ++i) {
        assert_int_equal(words[i], number * WORDS + i);
    }
}

static VkResult request(VkDeviceSize size, VkBuffer* buffer, MaarAllocation* memory)
{
    const VkBufferCreateInfo info = rig_buffer_info(size);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .flags = MAAR_ALLOCATION_CREATE_NO_FALLBACK_BIT | MAAR_ALLOCATION_CREATE_WITHIN_BUDGET_BIT,
        .dedicated = MAAR_DEDICATED_ALWAYS,
    };
    return maarCreateBuffer(rig.allocator, &info, &how, buffer, memory);
}

static void request_gets_memory_of_residents(void** state)
{
    VkBuffer buffer = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    rig_need(state, !rig_is_without_driver(), "the unit test has the simulated driver");
    rig_need(state, rig_executes(), "commands do not execute on this driver");
    open_residents();
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        compare(i);
    }
    yields = false;
    observed = 0;
    assert_int_equal(request(14 * MIB, &buffer, &memory), VK_ERROR_OUT_OF_DEVICE_MEMORY);
    assert_true(observed > 0);
    rig_forget_messages(&rig);
    yields = true;
    assert_int_equal(request(14 * MIB, &buffer, &memory), VK_SUCCESS);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        compare(i);
    }
    maarDestroyBuffer(rig.allocator, buffer, memory);
    assert_int_equal(maarUpdateResidency(rig.allocator, residency, NULL), VK_SUCCESS);
    for (uint32_t i = 0; i < RESIDENTS; ++i) {
        compare(i);
    }
    maarDestroyResidency(rig.allocator, residency);
    maarDestroyBuffer(rig.allocator, readback, readback_memory);
    vkDestroyCommandPool(rig.device, pool, NULL);
    vkDestroySemaphore(rig.device, timeline, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(request_gets_memory_of_residents, open_limited,
                                        rig_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
