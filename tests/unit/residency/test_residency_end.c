/*
 * The end of a manager of residents on a driver that still uses a semaphore after a submission that
 * waited for it has signalled.
 */
#include "tests/rig/held_semaphores.h"

#include "maar/residency.h"

static struct rig* rig;

static void open_noting_device(void)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_EXECUTE_BIT, .paging = true};
    memset(&seen, 0, sizeof seen);
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.pfnGetDeviceProcAddr = noting_address;
    rig_make_allocator(rig);
}

/* A use that restores contents gives the program a point of the manager's timeline. A submission of
 * the program waits for it, and is seen to have ended. */
static void timeline_of_residents_outlives_who_waited_for_it(void** state)
{
    (void)state;
    open_noting_device();
    const uint32_t queue = rig->create_info.queueCount - 1; /* the main queue */
    const VkBufferCreateInfo buffer = rig_buffer_info(64 * KIB);
    const MaarResidencyCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESIDENCY_CREATE_INFO,
        .queueIndex = queue,
        .deviceBudget = 64 * KIB,
        .hostBudget = 256 * KIB,
    };
    const MaarResidentCreateInfo what = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                         .pBufferInfo = &buffer};
    MaarResidency manager = VK_NULL_HANDLE;
    MaarResident residents[2];
    MaarUseInfo answer = {.sType = MAAR_STRUCTURE_TYPE_USE_INFO};
    VkSemaphore timeline = rig_create_timeline(rig, 1);
    const MaarPoint passed = {timeline, 1};
    assert_int_equal(maarCreateResidency(rig->allocator, &info, &manager), VK_SUCCESS);
    for (uint32_t i = 0; i < 2; ++i) {
        assert_int_equal(maarCreateResident(rig->allocator, manager, &what, &residents[i]),
                         VK_SUCCESS);
    }
    for (uint32_t i = 0; i < 3; ++i) {
        const MaarResidentUse use = {.resident = residents[i % 2],
                                     .access = MAAR_ACCESS_OVERWRITE_BIT};
        const MaarUseBeginInfo begin = {.sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
                                        .flags = MAAR_USE_WAIT_BIT,
                                        .useCount = 1,
                                        .pUses = &use};
        MaarUse begun = VK_NULL_HANDLE;
        assert_int_equal(maarBeginUse(rig->allocator, manager, &begin, NULL, &answer, &begun),
                         VK_SUCCESS);
        assert_int_equal(maarEndUse(rig->allocator, manager, begun, 1, &passed), VK_SUCCESS);
    }
    assert_true(answer.mustWait);
    wait_on_the_queue(rig, &answer.wait);
    maarDestroyResidency(rig->allocator, manager);
    assert_true(seen.destroyed_count > 0);
    assert_int_equal(seen.destroyed_held, 0);
    vkDestroySemaphore(rig->device, timeline, NULL);
    rig_close(rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(timeline_of_residents_outlives_who_waited_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
