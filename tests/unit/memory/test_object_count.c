/*
 * Promise: never more VkDeviceMemory objects than the device reports, unless the program asks for
 * that. It is then warned once, and the number at which the driver rejects one is the limit until
 * enough objects are gone.
 */
#include <stdio.h>
#include <string.h>

#include "tests/rig/rig.h"

enum {
    REPORTED = 16, /* of rig_profile_tiny() */
    ACCEPTED = 24  /* what the driver accepts in these tests */
};

static struct rig* begin_exceeding(void)
{
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.flags |= MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT;
    rig_make_allocator(rig);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_UNLIMITED_COUNT_BIT);
    return rig;
}

static VkResult try_dedicated(struct rig* rig, MaarAllocation* allocation)
{
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    how.dedicated = MAAR_DEDICATED_ALWAYS;
    return rig_try(rig, 4 * KIB, &how, allocation);
}

static void make_dedicated(struct rig* rig, uint32_t count, MaarAllocation* made)
{
    for (uint32_t i = 0; i < count; ++i) {
        assert_int_equal(try_dedicated(rig, &made[i]), VK_SUCCESS);
    }
}

/* The driver refuses every further object. */
static void refuse_objects(struct rig* rig)
{
    rig_set_fault(rig, "vkAllocateMemory", 1, UINT64_MAX, VK_ERROR_TOO_MANY_OBJECTS);
}

static uint32_t limit_of(struct rig* rig)
{
    MaarAllocatorInfo info = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATOR_INFO};
    assert_int_equal(maarGetAllocatorInfo(rig->allocator, &info), VK_SUCCESS);
    assert_int_equal(info.maxMemoryAllocationCount, REPORTED);
    return info.allocationCountLimit;
}

static void reported_number_is_the_limit_by_default(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct rig* const rig = rig_begin(&setup);
    MaarAllocation made[REPORTED];
    MaarAllocation more;
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_UNLIMITED_COUNT_BIT);
    assert_int_equal(limit_of(rig), REPORTED);
    make_dedicated(rig, REPORTED, made);
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls);
    maarFreeMemories(rig->allocator, REPORTED, made);
}

static void exceeding_warns_once(void** state)
{
    (void)state;
    struct rig* const rig = begin_exceeding();
    MaarAllocation made[ACCEPTED];
    make_dedicated(rig, REPORTED, made);
    assert_int_equal(limit_of(rig), UINT32_MAX);
    rig_expect_silence(rig);
    make_dedicated(rig, 1, &made[REPORTED]);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_ALLOCATION_COUNT_EXCEEDED, "16");
    make_dedicated(rig, ACCEPTED - REPORTED - 1, &made[REPORTED + 1]);
    rig_expect_silence(rig);
    assert_int_equal(rig_counters(rig).liveCount[MAAR_SIMULATED_OBJECT_MEMORY], ACCEPTED);
    maarFreeMemories(rig->allocator, ACCEPTED, made);
}

static void rejection_is_the_limit_from_then_on(void** state)
{
    (void)state;
    struct rig* const rig = begin_exceeding();
    MaarAllocation made[ACCEPTED];
    MaarAllocation more;
    make_dedicated(rig, ACCEPTED, made);
    rig_forget_messages(rig);
    refuse_objects(rig);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    rig_expect_message_naming(rig, MAAR_MESSAGE_ID_TOO_MANY_ALLOCATIONS, "24");
    assert_int_equal(limit_of(rig), ACCEPTED);
    /* The driver is not asked again. */
    const uint64_t calls = rig_calls(rig, "vkAllocateMemory");
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(rig_calls(rig, "vkAllocateMemory"), calls);
    /* One goes, one comes. */
    rig_clear_faults(rig);
    maarFreeMemory(rig->allocator, made[0]);
    assert_int_equal(try_dedicated(rig, &made[0]), VK_SUCCESS);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    rig_forget_messages(rig);
    maarFreeMemories(rig->allocator, ACCEPTED, made);
}

/* The messages about what was learned. */
struct lessons {
    uint32_t count;
    char text[512];
};

static void VKAPI_PTR keep_lessons(void* user, const MaarMessage* message)
{
    struct lessons* const lessons = user;
    if (message->id == MAAR_MESSAGE_ID_ALLOCATION_COUNT_LEARNED) {
        ++lessons->count;
        (void)snprintf(lessons->text, sizeof lessons->text, "%s", message->pText);
    }
}

static void lesson_is_reported_with_its_number(void** state)
{
    (void)state;
    const struct rig_setup setup = {.profile = rig_profile_tiny()};
    struct lessons lessons = {.count = 0};
    MaarAllocation made[ACCEPTED];
    MaarAllocation more;
    struct rig* const rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.flags |= MAAR_ALLOCATOR_CREATE_EXCEED_ALLOCATION_COUNT_BIT;
    rig->create_info.pfnMessage = keep_lessons;
    rig->create_info.pMessageUserData = &lessons;
    rig_make_allocator(rig);
    maarSimulatedSetFlags(rig->physical, MAAR_SIMULATED_UNLIMITED_COUNT_BIT);
    make_dedicated(rig, ACCEPTED, made);
    refuse_objects(rig);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    assert_int_equal(lessons.count, 1);
    assert_non_null(strstr(lessons.text, "24"));
    assert_non_null(strstr(lessons.text, "16"));
    maarFreeMemories(rig->allocator, ACCEPTED, made);
}

static void driver_is_asked_again_below_three_quarters(void** state)
{
    (void)state;
    enum { LEFT = ACCEPTED / 4 * 3 };
    struct rig* const rig = begin_exceeding();
    MaarAllocation made[2 * ACCEPTED];
    MaarAllocation more;
    make_dedicated(rig, ACCEPTED, made);
    refuse_objects(rig);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    rig_clear_faults(rig);
    maarFreeMemories(rig->allocator, ACCEPTED - LEFT, &made[LEFT]);
    assert_int_equal(limit_of(rig), ACCEPTED);
    maarFreeMemory(rig->allocator, made[LEFT - 1]);
    assert_int_equal(limit_of(rig), UINT32_MAX);
    make_dedicated(rig, 2 * ACCEPTED - LEFT + 1, &made[LEFT - 1]);
    rig_forget_messages(rig);
    maarFreeMemories(rig->allocator, 2 * ACCEPTED, made);
}

static void first_object_refused_is_asked_for_again(void** state)
{
    (void)state;
    struct rig* const rig = begin_exceeding();
    MaarAllocation made;
    refuse_objects(rig);
    assert_int_equal(try_dedicated(rig, &made), VK_ERROR_TOO_MANY_OBJECTS);
    rig_clear_faults(rig);
    assert_int_equal(try_dedicated(rig, &made), VK_SUCCESS);
    rig_forget_messages(rig);
    maarFreeMemory(rig->allocator, made);
}

static void preferences_end_at_three_quarters_of_what_is_known(void** state)
{
    (void)state;
    struct rig* const rig = begin_exceeding();
    MaarAllocationCreateInfo how = rig_how(MAAR_MEMORY_USAGE_DEVICE_LOCAL);
    MaarAllocation made[ACCEPTED];
    MaarAllocation preferred[4];
    MaarAllocation more;
    how.dedicated = MAAR_DEDICATED_PREFERRED;
    make_dedicated(rig, ACCEPTED, made);
    /* 24 of 16: a preference is not met. Of 24, when 16 are left, it is. */
    assert_int_equal(rig_try(rig, 4 * KIB, &how, &preferred[0]), VK_SUCCESS);
    assert_int_equal(rig_info(rig, preferred[0]).dedicated, VK_FALSE);
    refuse_objects(rig);
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    rig_clear_faults(rig);
    maarFreeMemories(rig->allocator, ACCEPTED - 16, &made[16]);
    for (uint32_t i = 1; i < 4; ++i) {
        assert_int_equal(rig_try(rig, 4 * KIB, &how, &preferred[i]), VK_SUCCESS);
        assert_int_equal(rig_info(rig, preferred[i]).dedicated, i == 1);
    }
    rig_forget_messages(rig);
    maarFreeMemories(rig->allocator, 4, preferred);
    maarFreeMemories(rig->allocator, 16, made);
}

/* A request that need not be dedicated finds room in a block when the driver refuses objects. */
static void rejection_loses_no_room_in_blocks(void** state)
{
    (void)state;
    struct rig* const rig = begin_exceeding();
    MaarAllocation placed[2];
    MaarAllocation made[ACCEPTED];
    placed[0] = rig_allocate(rig, 4 * KIB, NULL);
    make_dedicated(rig, ACCEPTED, made);
    refuse_objects(rig);
    MaarAllocation more;
    assert_int_equal(try_dedicated(rig, &more), VK_ERROR_TOO_MANY_OBJECTS);
    placed[1] = rig_allocate(rig, 4 * KIB, NULL);
    rig_clear_faults(rig);
    rig_forget_messages(rig);
    maarFreeMemories(rig->allocator, 2, placed);
    maarFreeMemories(rig->allocator, ACCEPTED, made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(reported_number_is_the_limit_by_default),
        rig_unit_test(exceeding_warns_once),
        rig_unit_test(rejection_is_the_limit_from_then_on),
        rig_unit_test(lesson_is_reported_with_its_number),
        rig_unit_test(driver_is_asked_again_below_three_quarters),
        rig_unit_test(first_object_refused_is_asked_for_again),
        rig_unit_test(preferences_end_at_three_quarters_of_what_is_known),
        rig_unit_test(rejection_loses_no_room_in_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
