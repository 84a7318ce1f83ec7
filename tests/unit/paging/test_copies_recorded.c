/*
 * Which commands the copies of growing reservations record, and when a command buffer is used
 * again. Functions of the test stand in front of the simulated driver's, which executes nothing.
 */
#include "tests/unit/reservation/reservation_fixture.h"

enum { MOST = 16 };

/* In the order of recording: barriers, and copies with their sizes. */
static struct {
    uint32_t count;
    struct {
        VkDeviceSize copied; /* 0: a barrier */
        VkPipelineStageFlags before, after;
        VkMemoryBarrier memory;
    } steps[MOST];
} seen;

static VKAPI_ATTR void VKAPI_CALL barrier(VkCommandBuffer commands, VkPipelineStageFlags before,
                                          VkPipelineStageFlags after, VkDependencyFlags flags,
                                          uint32_t memory_count, const VkMemoryBarrier* memory,
                                          uint32_t buffer_count,
                                          const VkBufferMemoryBarrier* buffers,
                                          uint32_t image_count, const VkImageMemoryBarrier* images)
{
    assert_true(seen.count < MOST && memory_count == 1);
    seen.steps[seen.count].before = before;
    seen.steps[seen.count].after = after;
    seen.steps[seen.count++].memory = *memory;
    vkCmdPipelineBarrier(commands, before, after, flags, memory_count, memory, buffer_count,
                         buffers, image_count, images);
}

static VKAPI_ATTR void VKAPI_CALL copy(VkCommandBuffer commands, VkBuffer from, VkBuffer to,
                                       uint32_t count, const VkBufferCopy* regions)
{
    assert_true(seen.count < MOST && count == 1);
    seen.steps[seen.count++].copied = regions->size;
    vkCmdCopyBuffer(commands, from, to, count, regions);
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL device_address(VkDevice device, const char* name)
{
    if (strcmp(name, "vkCmdPipelineBarrier") == 0) {
        return (PFN_vkVoidFunction)barrier;
    }
    return strcmp(name, "vkCmdCopyBuffer") == 0 ? (PFN_vkVoidFunction)copy
                                                : vkGetDeviceProcAddr(device, name);
}

static struct rig* rig;

static void grow(MaarReservation it, VkDeviceSize size)
{
    assert_int_equal(fixture_commit(rig, it, 0, size), VK_SUCCESS);
}

static void expect_barrier(uint32_t step, VkPipelineStageFlags before, VkPipelineStageFlags after)
{
    const VkAccessFlags all = (VkAccessFlags)VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT;
    assert_int_equal(seen.steps[step].copied, 0);
    assert_int_equal(seen.steps[step].before, before);
    assert_int_equal(seen.steps[step].after, after);
    assert_true((seen.steps[step].memory.srcAccessMask & VK_ACCESS_MEMORY_WRITE_BIT) != 0);
    assert_int_equal(seen.steps[step].memory.dstAccessMask & all, all);
}

/* A copy waits for all work before it and for other copies; all work behind waits for it. */
static void copies_are_ordered(void** state)
{
    (void)state;
    rig = rig_new();
    fixture_open_with(rig, FIXTURE_NO_SPARSE, 64 * KIB, NULL, device_address);
    MaarReservation one = fixture_reserve(rig, 64 * MIB, 0);
    MaarReservation two = fixture_reserve(rig, 64 * MIB, 0);
    grow(one, MIB);
    grow(two, 2 * MIB);
    (void)fixture_submit(rig);
    memset(&seen, 0, sizeof seen);
    grow(one, 4 * MIB);
    grow(two, 4 * MIB);
    (void)fixture_submit(rig);
    assert_int_equal(seen.count, 5);
    expect_barrier(0, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(seen.steps[1].copied, MIB);
    expect_barrier(2, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    assert_int_equal(seen.steps[3].copied, 2 * MIB);
    expect_barrier(4, VK_PIPELINE_STAGE_TRANSFER_BIT,
                   VK_PIPELINE_STAGE_ALL_COMMANDS_BIT | VK_PIPELINE_STAGE_HOST_BIT);
    maarDestroyReservation(rig->allocator, one);
    maarDestroyReservation(rig->allocator, two);
    rig_close(rig);
}

static void commands_in_use_are_not_used_again(void** state)
{
    (void)state;
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_HOLD_SUBMISSIONS_BIT};
    rig = rig_new();
    fixture_open_with(rig, FIXTURE_NO_SPARSE, 64 * KIB, &setup, device_address);
    MaarReservation it = fixture_reserve(rig, 64 * MIB, 0);
    grow(it, MIB);
    (void)fixture_submit(rig);
    for (uint32_t i = 1; i < 4; ++i) {
        memset(&seen, 0, sizeof seen);
        grow(it, 4 * i * MIB);
        (void)fixture_submit(rig);
        assert_int_equal(rig_calls(rig, "vkAllocateCommandBuffers"), i);
    }
    while (maarSimulatedExecuteSubmissions(rig->physical, 1) != 0) {
    }
    memset(&seen, 0, sizeof seen);
    grow(it, 32 * MIB);
    (void)fixture_submit(rig);
    assert_int_equal(rig_calls(rig, "vkAllocateCommandBuffers"), 3);
    while (maarSimulatedExecuteSubmissions(rig->physical, 1) != 0) {
    }
    maarDestroyReservation(rig->allocator, it);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(copies_are_ordered),
        rig_unit_test(commands_in_use_are_not_used_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
