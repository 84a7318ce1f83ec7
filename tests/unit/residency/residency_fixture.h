/*
 * Shared by the tests of the manager of residents: a simulated device that executes commands, a
 * manager with small budgets, residents that are filled with one word and read back, and short
 * calls. Where a case holds submissions, nothing executes before something waits for it.
 */
#ifndef MAAR_TESTS_UNIT_RESIDENCY_FIXTURE_H
#define MAAR_TESTS_UNIT_RESIDENCY_FIXTURE_H

#include "maar/residency.h"
#include "tests/rig/rig.h"

/* The device has room for four residents of this size, each in a block of its own. */
#if !defined(UNIT)
#define UNIT (64 * KIB)
#endif

enum { FIXTURE_EVENTS = 512, FIXTURE_COMMANDS = 16 };

static struct rig* rig;
static MaarResidency manager;
static VkSemaphore timeline;
static uint64_t submitted;
static VkCommandPool command_pool;
static VkCommandBuffer command_buffers[FIXTURE_COMMANDS];
static VkBuffer readback;
static MaarAllocation readback_memory;
static MaarResidencyEvent events[FIXTURE_EVENTS];
static uint32_t event_count;
static MaarUseInfo answer;           /* of the last use that was begun */
static MaarResidentObject object;    /* the first one of it */
static uint32_t memory_type;         /* of device memory */
static uint32_t heap;                /* its heap */
static PFN_maarOutOfMemory observer; /* of the allocator that open_device makes; or NULL */

/* Of the queues, where several threads submit; or NULL. */
static PFN_maarQueueLock lock_queue;
static PFN_maarQueueLock unlock_queue;

static const MaarSimulatedFlags executes =
    MAAR_SIMULATED_EXECUTE_BIT | MAAR_SIMULATED_CHECK_CONTENTS_BIT |
    MAAR_SIMULATED_CHECK_SYNCHRONIZATION_BIT | MAAR_SIMULATED_ALLOW_ALIASING_BIT;

static inline void hold(bool holds)
{
    maarSimulatedSetFlags(rig->physical,
                          executes | (holds ? MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT : 0U));
}

static inline void VKAPI_PTR note_event(void* data, const MaarResidencyEvent* event)
{
    assert_ptr_equal(data, &event_count);
    assert_true(event_count < FIXTURE_EVENTS);
    events[event_count++] = *event;
}

/* ---- the manager ---- */

static inline MaarResidencyCreateInfo manager_info(VkDeviceSize device, VkDeviceSize host)
{
    return (MaarResidencyCreateInfo){
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .deviceBudget = device,
        .hostBudget = host,
        .pfnEvent = note_event,
        .pUserData = &event_count,
        .pName = "scene",
    };
}

/* Opens a device made of a profile; NULL: the usual one. */
static inline void open_device_of(const MaarSimulatedProfile* profile)
{
    const struct rig_setup setup = {
        .profile = profile, .flags = executes, .paging = true, .count_host = true};
    const MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_READBACK);
    const VkBufferCreateInfo info = rig_buffer_info(16 * UNIT);
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.pfnOutOfMemory = observer;
    for (uint32_t i = 0; i < RIG_QUEUES; ++i) {
        rig->paging_queues[i].pfnLock = lock_queue;
        rig->paging_queues[i].pfnUnlock = unlock_queue;
    }
    rig_make_allocator(rig);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = rig->families[0],
    };
    assert_int_equal(vkCreateCommandPool(rig->device, &pool, NULL, &command_pool), VK_SUCCESS);
    const VkCommandBufferAllocateInfo buffers = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = command_pool,
        .commandBufferCount = FIXTURE_COMMANDS,
    };
    assert_int_equal(vkAllocateCommandBuffers(rig->device, &buffers, command_buffers), VK_SUCCESS);
    timeline = rig_create_timeline(rig, 0);
    submitted = 0;
    event_count = 0;
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &readback, &readback_memory),
                     VK_SUCCESS);
}

static inline void open_device(void)
{
    open_device_of(NULL);
}

static inline void find_heap(void)
{
    const MaarAllocationCreateInfo any = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    VkPhysicalDeviceMemoryProperties memory;
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &any, &choice), VK_SUCCESS);
    vkGetPhysicalDeviceMemoryProperties(rig->physical, &memory);
    memory_type = choice.memoryTypeIndex;
    heap = memory.memoryTypes[memory_type].heapIndex;
}

/* The budget of the main heap is what this program holds there and `left` bytes, which may be
 * negative. Of this many bytes and no more the driver makes memory, too. */
static inline void leave(int64_t left)
{
    const MaarHeapBudget now = rig_budget(rig, heap);
    const VkDeviceSize others = left >= 0 ? now.size - now.blockBytes - (VkDeviceSize)left : 0;
    assert_int_equal(maarSimulatedSetHeapBudget(rig->physical, heap,
                                                now.blockBytes + (VkDeviceSize)left, others),
                     VK_SUCCESS);
}

static inline uint32_t queue_index(void)
{
    return rig->create_info.queueCount - 1; /* the last one is the main queue */
}

static inline void open_manager(const MaarResidencyCreateInfo* info)
{
    MaarResidencyCreateInfo own = *info;
    own.queueIndex = queue_index();
    assert_int_equal(maarCreateResidency(rig->allocator, &own, &manager), VK_SUCCESS);
}

/* Device memory for four residents of one unit, and host memory for `host` of them. */
static inline void open_scene(uint32_t host)
{
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, host * UNIT);
    open_device();
    open_manager(&info);
}

static inline void close_scene(void)
{
    rig_check(rig);
    maarDestroyResidency(rig->allocator, manager);
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    maarDestroyBuffer(rig->allocator, readback, readback_memory);
    vkDestroyCommandPool(rig->device, command_pool, NULL);
    vkDestroySemaphore(rig->device, timeline, NULL);
    assert_int_equal(maarWaitPending(rig->allocator, UINT64_MAX), VK_SUCCESS);
    rig_expect_silence(rig);
}

static inline MaarResidencyInfo manager_state(void)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    assert_int_equal(maarGetResidencyInfo(rig->allocator, manager, &info), VK_SUCCESS);
    return info;
}

static inline MaarResidentInfo state_of(MaarResident resident)
{
    MaarResidentInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_INFO};
    assert_int_equal(maarGetResidentInfo(rig->allocator, manager, resident, &info), VK_SUCCESS);
    return info;
}

static inline bool is_in(MaarResident resident, MaarTier tier)
{
    return (state_of(resident).tierBits >> tier & 1u) != 0;
}

/* Nothing is pinned: what holds after each failing call. */
static inline void expect_no_pins(void)
{
    const MaarResidencyInfo info = manager_state();
    assert_int_equal(info.pinCount, 0);
    assert_int_equal(info.useCount, 0);
}

static inline void update(void)
{
    assert_int_equal(maarUpdateResidency(rig->allocator, manager, NULL), VK_SUCCESS);
}

static inline void do_work(void)
{
    assert_int_equal(maarWorkResidency(rig->allocator, manager, 0, NULL), VK_SUCCESS);
}

/* ---- residents ---- */

static inline MaarResident create_resident(const MaarResidentCreateInfo* info)
{
    MaarResident resident = VK_NULL_HANDLE;
    assert_int_equal(maarCreateResident(rig->allocator, manager, info, &resident), VK_SUCCESS);
    assert_true(resident != VK_NULL_HANDLE);
    return resident;
}

static inline MaarResident create_buffer(VkDeviceSize size, MaarResidentCreateFlags flags)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(size);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .flags = flags,
        .pBufferInfo = &buffer,
    };
    return create_resident(&info);
}

static inline MaarResident create_sourced(VkDeviceSize size, PFN_maarResidentRead read, void* data)
{
    const VkBufferCreateInfo buffer = rig_buffer_info(size);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pfnRead = read,
        .pSourceUserData = data,
    };
    return create_resident(&info);
}

static inline MaarResident create_image(uint32_t side)
{
    const VkImageCreateInfo image = rig_image_info(side, side);
    const MaarResidentCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
        .pImageInfo = &image,
    };
    return create_resident(&info);
}

static inline void destroy_resident(MaarResident resident)
{
    maarDestroyResident(rig->allocator, manager, resident);
}

/* ---- uses ---- */

/* Begins a use of several residents, which may fail. */
static inline VkResult try_uses(uint32_t count, const MaarResidentUse* uses, MaarUseFlags flags,
                                MaarResidentObject* objects, MaarUse* use)
{
    const MaarUseBeginInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = flags,
        .useCount = count,
        .pUses = uses,
    };
    answer = (MaarUseInfo){.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    *use = (MaarUse)(uintptr_t)1;
    const VkResult result = maarBeginUse(rig->allocator, manager, &info, objects, &answer, use);
    assert_true((result == VK_SUCCESS) == (*use != VK_NULL_HANDLE));
    return result;
}

static inline VkResult try_use(MaarResident resident, MaarAccessFlags access, MaarUseFlags flags,
                               MaarUse* use)
{
    const MaarResidentUse one = {resident, access, VK_IMAGE_LAYOUT_GENERAL};
    return try_uses(1, &one, flags, &object, use);
}

/* Begins a use of one resident; it must succeed. */
static inline MaarUse begin_use(MaarResident resident, MaarAccessFlags access, MaarUseFlags flags)
{
    MaarUse use = VK_NULL_HANDLE;
    const VkResult result = try_use(resident, access, flags | MAAR_USE_WAIT_BIT, &use);
    if (result != VK_SUCCESS) {
        print_error("%s\n", rig->messages.last);
    }
    assert_int_equal(result, VK_SUCCESS);
    return use;
}

static inline void cancel_use(MaarUse use)
{
    maarCancelUse(rig->allocator, manager, use);
}

static inline void end_use_at(MaarUse use, MaarPoint point)
{
    assert_int_equal(maarEndUse(rig->allocator, manager, use, 1, &point), VK_SUCCESS);
}

/* ---- commands ---- */

static inline void wait_for(uint64_t value)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &value,
    };
    assert_int_equal(vkWaitSemaphores(rig->device, &info, UINT64_MAX), VK_SUCCESS);
}

static inline void order_all(VkCommandBuffer into)
{
    const VkMemoryBarrier all = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };
    vkCmdPipelineBarrier(into, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT, 0, 1,
                         &all, 0, NULL, 0, NULL);
}

static inline VkCommandBuffer begin_commands(void)
{
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VkCommandBuffer into = command_buffers[(submitted + 1) % FIXTURE_COMMANDS];
    if (submitted >= FIXTURE_COMMANDS) {
        wait_for(submitted + 1 - FIXTURE_COMMANDS);
    }
    assert_int_equal(vkBeginCommandBuffer(into, &begin), VK_SUCCESS);
    order_all(into);
    return into;
}

/* Submits the commands that were begun last, after what the last use waits for. */
static inline MaarPoint submit_commands(void)
{
    const VkPipelineStageFlags stages[2] = {VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                                            VK_PIPELINE_STAGE_ALL_COMMANDS_BIT};
    VkCommandBuffer into = command_buffers[(submitted + 1) % FIXTURE_COMMANDS];
    const VkSemaphore waits[2] = {timeline, answer.wait.semaphore};
    const uint64_t values[2] = {submitted, answer.wait.value};
    const uint32_t wait_count = answer.mustWait == VK_TRUE ? 2 : 1;
    order_all(into);
    assert_int_equal(vkEndCommandBuffer(into), VK_SUCCESS);
    ++submitted;
    const VkTimelineSemaphoreSubmitInfo timelines = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = wait_count,
        .pWaitSemaphoreValues = values,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submitted,
    };
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timelines,
        .waitSemaphoreCount = wait_count,
        .pWaitSemaphores = waits,
        .pWaitDstStageMask = stages,
        .commandBufferCount = 1,
        .pCommandBuffers = &into,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &timeline,
    };
    if (lock_queue != NULL) {
        lock_queue(NULL, rig->queue);
    }
    assert_int_equal(vkQueueSubmit(rig->queue, 1, &submit, VK_NULL_HANDLE), VK_SUCCESS);
    if (unlock_queue != NULL) {
        unlock_queue(NULL, rig->queue);
    }
    return (MaarPoint){timeline, submitted};
}

/* ---- contents ---- */

/* Submits a fill of the buffer that the last use answered, and ends the use. */
static inline void fill_and_end(MaarUse use, uint32_t word)
{
    vkCmdFillBuffer(begin_commands(), object.buffer, 0, VK_WHOLE_SIZE, word);
    end_use_at(use, submit_commands());
}

/* Gives a buffer contents: one word all over. */
static inline void write_buffer(MaarResident resident, uint32_t word)
{
    fill_and_end(begin_use(resident, MAAR_ACCESS_OVERWRITE_BIT, 0), word);
}

/* Submits a copy of the buffer that the last use answered, ends the use, and compares. */
static inline void compare_and_end(MaarUse use, MaarResident resident, uint32_t word)
{
    static uint32_t words[16 * UNIT / sizeof(uint32_t)];
    const VkBufferCopy region = {.size = state_of(resident).contentSize};
    assert_true(region.size <= sizeof words);
    vkCmdCopyBuffer(begin_commands(), object.buffer, readback, 1, &region);
    end_use_at(use, submit_commands());
    wait_for(submitted);
    assert_int_equal(maarCopyFromAllocation(rig->allocator, readback_memory, 0, region.size, words),
                     VK_SUCCESS);
    for (size_t i = 0; i < region.size / sizeof words[0]; ++i) {
        assert_int_equal(words[i], word);
    }
}

/* A buffer has kept its contents. */
static inline void expect_buffer(MaarResident resident, uint32_t word)
{
    const MaarUse use = begin_use(resident, MAAR_ACCESS_READ_BIT, 0);
    assert_int_equal(object.isFresh, VK_FALSE);
    compare_and_end(use, resident, word);
}

/* The device has executed all that was submitted, and the manager knows it. */
static inline void settle(void)
{
    assert_int_equal(vkDeviceWaitIdle(rig->device), VK_SUCCESS);
    update();
}

#endif
