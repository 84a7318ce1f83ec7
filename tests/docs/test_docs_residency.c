/*
 * The C of the page on residents does what the page says, on a simulated device.
 */
#include <inttypes.h>
#include <stdio.h>

#include "maar/residency_policy.h"
#include "tests/rig/rig.h"

#include "residency.inc"

enum { COUNT = 12, SIZE = 128 * 1024, BUDGET = 4 * SIZE };

static struct rig* rig;
static VkSemaphore timeline;
static uint64_t submitted;
static VkResult outcome; /* of the next submissions */

/* Stands for the program's. The commands are done at once. */
static VkResult submit(const MaarResidentObject* object, const MaarPoint* wait, MaarPoint* done)
{
    assert_true(object->buffer != VK_NULL_HANDLE);
    assert_int_equal(object->tier, MAAR_TIER_DEVICE);
    assert_true(wait == NULL || wait->semaphore != VK_NULL_HANDLE);
    if (outcome == VK_SUCCESS) {
        rig_signal(rig, timeline, ++submitted);
        *done = (MaarPoint){timeline, submitted};
    }
    return outcome;
}

static void open_rig(void)
{
    const struct rig_setup setup = {.flags = MAAR_SIMULATED_EXECUTE_BIT, .paging = true};
    rig = rig_begin(&setup);
    timeline = rig_create_timeline(rig, 0);
    submitted = 0;
    outcome = VK_SUCCESS;
}

static MaarResidencyInfo read_info(MaarResidency residency)
{
    MaarResidencyInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENCY_INFO};
    assert_int_equal(maarGetResidencyInfo(rig->allocator, residency, &info), VK_SUCCESS);
    return info;
}

/* Gives a resident contents. */
static void write_resident(MaarResidency residency, MaarResident resident)
{
    const MaarResidentUse first = {.resident = resident, .access = MAAR_ACCESS_OVERWRITE_BIT};
    const MaarUseBeginInfo begin = {
        .sType = MAAR_STRUCTURE_TYPE_USE_BEGIN_INFO,
        .flags = MAAR_USE_WAIT_BIT,
        .useCount = 1,
        .pUses = &first,
    };
    MaarResidentObject object;
    MaarUse use = VK_NULL_HANDLE;
    MaarPoint done = {VK_NULL_HANDLE, 0};
    assert_int_equal(maarBeginUse(rig->allocator, residency, &begin, &object, NULL, &use),
                     VK_SUCCESS);
    assert_int_equal(object.isFresh, VK_TRUE);
    assert_int_equal(submit(&object, NULL, &done), VK_SUCCESS);
    assert_int_equal(maarEndUse(rig->allocator, residency, use, 1, &done), VK_SUCCESS);
}

/* Creates and writes three times what the device's budget holds, and reads all of it twice. */
static void use_all(MaarResidency residency, bool looks_ahead)
{
    MaarResident residents[COUNT];
    for (uint32_t i = 0; i < COUNT; ++i) {
        assert_int_equal(create_vertices(rig->allocator, residency, SIZE, &residents[i]),
                         VK_SUCCESS);
        write_resident(residency, residents[i]);
    }
    for (uint32_t i = 0; i < 2 * COUNT; ++i) {
        assert_int_equal(read_resident(rig->allocator, residency, residents[i % COUNT], submit),
                         VK_SUCCESS);
        if (looks_ahead) {
            assert_int_equal(look_ahead(rig->allocator, residency, 1, &residents[(i + 1) % COUNT]),
                             VK_SUCCESS);
            help(rig->allocator, residency);
        }
    }
}

static void docs_more_is_used_than_fits(void** state)
{
    MaarResidency residency = VK_NULL_HANDLE;
    (void)state;
    open_rig();
    assert_int_equal(open_manager(rig->allocator, BUDGET, &residency), VK_SUCCESS);
    use_all(residency, false);
    const MaarResidencyInfo info = read_info(residency);
    assert_true(info.tiers[MAAR_TIER_DEVICE].peakSize <= BUDGET);
    assert_true(info.tiers[MAAR_TIER_DEVICE].restoredCount >= COUNT);
    assert_true(info.tiers[MAAR_TIER_DEVICE].cleanCount > 0);
    assert_int_equal(info.pinCount, 0);
    print_residency(rig->allocator, residency);
    maarDestroyResidency(rig->allocator, residency);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_use_of_failed_submission_is_cancelled(void** state)
{
    MaarResidency residency = VK_NULL_HANDLE;
    MaarResident resident = VK_NULL_HANDLE;
    (void)state;
    open_rig();
    assert_int_equal(open_manager(rig->allocator, BUDGET, &residency), VK_SUCCESS);
    assert_int_equal(create_vertices(rig->allocator, residency, SIZE, &resident), VK_SUCCESS);
    write_resident(residency, resident);
    outcome = VK_ERROR_OUT_OF_HOST_MEMORY;
    assert_int_equal(read_resident(rig->allocator, residency, resident, submit), outcome);
    assert_int_equal(read_info(residency).pinCount, 0);
    maarDestroyResidency(rig->allocator, residency);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_lower_tiers_keep_the_rest(void** state)
{
    static const char path[] = "docs_residency.store";
    MaarResidency residency = VK_NULL_HANDLE;
    MaarFileStore store;
    (void)state;
    (void)remove(path);
    open_rig();
    assert_int_equal(open_tiers(rig->allocator, path, BUDGET, &store, &residency), VK_SUCCESS);
    use_all(residency, true);
    const MaarResidencyInfo info = read_info(residency);
    assert_true(info.tiers[MAAR_TIER_DEVICE].peakSize <= BUDGET);
    assert_true(info.tiers[MAAR_TIER_DEVICE].restoredCount >= COUNT);
    assert_true(info.tiers[MAAR_TIER_COMPRESSED].savedCount > 0);
    maarDestroyResidency(rig->allocator, residency);
    maarCloseFileStore(&store);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

/* Room for four: the fifth makes the one leave that is farthest. */
static void docs_farthest_object_makes_room(void** state)
{
    static const float distances[] = {3, 9, 5, 1, 2};
    const VkBufferCreateInfo buffer = rig_buffer_info(SIZE);
    struct scene_object objects[5];
    struct scene_object* first = NULL;
    MaarResident residents[5];
    MaarResidency residency = VK_NULL_HANDLE;
    (void)state;
    open_rig();
    assert_int_equal(open_scene_manager(rig->allocator, BUDGET, &first, &residency), VK_SUCCESS);
    for (uint32_t i = 0; i < 5; ++i) {
        objects[i] = (struct scene_object){.distance = distances[i], .next = first};
        const MaarResidentCreateInfo info = {.sType = MAAR_STRUCTURE_TYPE_RESIDENT_CREATE_INFO,
                                             .pBufferInfo = &buffer,
                                             .pUserData = &objects[i]};
        assert_int_equal(maarCreateResident(rig->allocator, residency, &info, &residents[i]),
                         VK_SUCCESS);
        first = &objects[i];
        write_resident(residency, residents[i]);
    }
    for (uint32_t i = 0; i < 5; ++i) {
        assert_int_equal(objects[i].may_leave, i != 1);
    }
    maarDestroyResidency(rig->allocator, residency);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void docs_importance_changes(void** state)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_FLAGS_ONLY);
    (void)state;
    open_rig();
    how.dedicated = MAAR_DEDICATED_PREFERRED;
    const MaarAllocation allocation = rig_allocate(rig, MIB, &how);
    assert_int_equal(set_importance(rig->allocator, allocation, true), VK_SUCCESS);
    assert_int_equal(set_importance(rig->allocator, allocation, false), VK_SUCCESS);
    maarFreeMemory(rig->allocator, allocation);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

static void page_gives_up_residents(void** state)
{
    struct spare_memory spare = {VK_NULL_HANDLE, VK_NULL_HANDLE};
    MaarOutOfMemoryInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_OUT_OF_MEMORY_INFO,
        .size = SIZE,
    };
    MaarMemoryTypeChoice choice = {.sType = MAAR_STRUCTURE_TYPE_MEMORY_TYPE_CHOICE};
    const MaarAllocationCreateInfo any = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    MaarResident resident = VK_NULL_HANDLE;
    (void)state;
    open_rig();
    assert_int_equal(maarChooseMemoryType(rig->allocator, UINT32_MAX, &any, &choice), VK_SUCCESS);
    info.memoryTypeIndex = choice.memoryTypeIndex;
    assert_int_equal(give_up_residents(&spare, &info), VK_FALSE);
    spare.allocator = rig->allocator;
    assert_int_equal(open_manager(rig->allocator, BUDGET, &spare.residency), VK_SUCCESS);
    assert_int_equal(give_up_residents(&spare, &info), VK_FALSE);
    assert_int_equal(create_vertices(rig->allocator, spare.residency, SIZE, &resident), VK_SUCCESS);
    write_resident(spare.residency, resident);
    assert_int_equal(give_up_residents(&spare, &info), VK_TRUE);
    assert_int_equal(read_info(spare.residency).tiers[MAAR_TIER_DEVICE].size, 0);
    maarDestroyResidency(rig->allocator, spare.residency);
    vkDestroySemaphore(rig->device, timeline, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(docs_more_is_used_than_fits),
        rig_unit_test(docs_use_of_failed_submission_is_cancelled),
        rig_unit_test(docs_lower_tiers_keep_the_rest),
        rig_unit_test(docs_farthest_object_makes_room),
        rig_unit_test(docs_importance_changes),
        rig_unit_test(page_gives_up_residents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
