/*
 * Observers that give pages back while another caller commits: the commit finds these pages.
 */
#include "tests/unit/reservation/reservation_fixture.h"

static struct rig* rig;

#define PAGE (64 * KIB)
#define ROOM (64 * MIB)

/* The observer gives back this number of bytes, from the start of one reservation after another. */
struct giver {
    MaarReservation from;
    VkDeviceSize at;
    VkDeviceSize step;
    uint32_t asked;
    bool destroys;
};

static VkBool32 VKAPI_PTR give(void* data, const MaarOutOfMemoryInfo* info)
{
    struct giver* giver = data;
    (void)info;
    ++giver->asked;
    if (giver->destroys) {
        maarDestroyReservation(rig->allocator, giver->from);
        giver->from = VK_NULL_HANDLE;
        giver->destroys = false;
        return VK_TRUE;
    }
    if (giver->from == VK_NULL_HANDLE) {
        return VK_FALSE;
    }
    assert_int_equal(fixture_decommit(rig, giver->from, giver->at, giver->step), VK_SUCCESS);
    giver->at += giver->step;
    (void)fixture_submit(rig);
    return VK_TRUE;
}

static void start(struct giver* giver)
{
    MaarSimulatedProfile profile = *rig_profile_discrete();
    const struct rig_setup setup = {.profile = &profile, .paging = true};
    profile.limits.sparseAddressSpaceSize = ADDRESS_SPACE;
    profile.requirements.sparseAlignment = PAGE;
    profile.sparse.sparseBinding = VK_TRUE;
    profile.sparse.residencyBuffer = VK_TRUE;
    profile.heaps[0].size = ROOM;
    rig = rig_new();
    rig_open(rig, &setup);
    rig->create_info.pfnOutOfMemory = give;
    rig->create_info.pOutOfMemoryUserData = giver;
    rig_make_allocator(rig);
}

static MaarReservation reserve(void)
{
    const VkBufferCreateInfo buffer = fixture_buffer(ROOM);
    const MaarAllocationCreateInfo how = {
        .sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO,
        .memoryTypeBits = 1,
    };
    const MaarReservationCreateInfo info = {
        .sType = MAAR_STRUCTURE_TYPE_RESERVATION_CREATE_INFO,
        .pBufferInfo = &buffer,
        .pMemoryInfo = &how,
    };
    MaarReservation reservation = VK_NULL_HANDLE;
    assert_int_equal(maarCreateReservation(rig->allocator, &info, &reservation), VK_SUCCESS);
    return reservation;
}

static void pages_that_an_observer_gives_back_are_taken(void** state)
{
    (void)state;
    static const VkDeviceSize steps[] = {16 * MIB, 4 * MIB, 6 * MIB};
    for (uint32_t i = 0; i < 3; ++i) {
        struct giver giver = {.step = steps[i]};
        start(&giver);
        MaarReservation first = reserve();
        MaarReservation second = reserve();
        assert_int_equal(fixture_commit(rig, first, 0, ROOM), VK_SUCCESS);
        (void)fixture_submit(rig);
        giver.from = first;
        assert_int_equal(fixture_commit(rig, second, 0, 8 * MIB), VK_SUCCESS);
        assert_true(giver.asked > 0);
        assert_int_equal(fixture_info(rig, second).committedSize, 8 * MIB);
        (void)fixture_submit(rig);
        rig_check(rig);
        maarDestroyReservation(rig->allocator, first);
        maarDestroyReservation(rig->allocator, second);
        rig_close(rig);
    }
}

static void pages_of_what_an_observer_destroys_are_taken(void** state)
{
    (void)state;
    struct giver giver = {.destroys = true};
    start(&giver);
    giver.from = reserve();
    MaarReservation second = reserve();
    assert_int_equal(fixture_commit(rig, giver.from, 0, ROOM), VK_SUCCESS);
    (void)fixture_submit(rig);
    assert_int_equal(fixture_commit(rig, second, 0, 8 * MIB), VK_SUCCESS);
    assert_int_equal(giver.asked, 1);
    (void)fixture_submit(rig);
    rig_check(rig);
    maarDestroyReservation(rig->allocator, second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(pages_that_an_observer_gives_back_are_taken),
        rig_unit_test(pages_of_what_an_observer_destroys_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
