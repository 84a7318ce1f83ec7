/*
 * A manager without a budget of its own follows the heap's: it gives up what other programs take,
 * uses what they give back, and counts no byte twice.
 */
#include "tests/unit/residency/residency_fixture.h"

enum { BUFFERS = 12, UPDATES = 8 };

static VkDeviceSize device_budget(void)
{
    return manager_state().tiers[MAAR_TIER_DEVICE].budget;
}

static void open_follower(void)
{
    const MaarResidencyCreateInfo info = manager_info(0, BUFFERS * UNIT);
    open_device();
    find_heap();
    leave(4 * UNIT);
    open_manager(&info);
}

static void budget_is_what_the_heap_leaves(void** state)
{
    (void)state;
    open_follower();
    assert_int_equal(device_budget(), 4 * UNIT);
    leave(8 * UNIT);
    assert_int_equal(device_budget(), 4 * UNIT);
    update();
    assert_int_equal(device_budget(), 8 * UNIT);
    close_scene();
}

static void manager_follows_the_heap_when_its_budget_is_set_to_none(void** state)
{
    const MaarResidencyCreateInfo info = manager_info(4 * UNIT, 0);
    (void)state;
    open_device();
    find_heap();
    open_manager(&info);
    assert_int_equal(manager_state().tiers[MAAR_TIER_HOST].budget, 4 * UNIT);
    leave(6 * UNIT);
    update();
    assert_int_equal(device_budget(), 4 * UNIT);
    assert_int_equal(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, 0),
                     VK_SUCCESS);
    assert_int_equal(device_budget(), 6 * UNIT);
    leave(2 * UNIT);
    update();
    assert_int_equal(device_budget(), 2 * UNIT);
    close_scene();
}

/* An empty block is the manager's and is available in the heap: it is one block. Blocks of others
 * are not available. */
static void budget_stays_where_blocks_become_empty(void** state)
{
    MaarResident all[4];
    VkBuffer other = VK_NULL_HANDLE;
    MaarAllocation memory = VK_NULL_HANDLE;
    const VkBufferCreateInfo info = rig_buffer_info(2 * UNIT);
    const MaarAllocationCreateInfo how = {.sType = MAAR_STRUCTURE_TYPE_ALLOCATION_CREATE_INFO};
    (void)state;
    open_follower();
    assert_int_equal(maarCreateBuffer(rig->allocator, &info, &how, &other, &memory), VK_SUCCESS);
    leave(4 * UNIT);
    for (uint32_t i = 0; i < 4; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    update();
    assert_int_equal(device_budget(), 4 * UNIT);
    for (uint32_t i = 0; i < 4; ++i) {
        destroy_resident(all[i]);
        update();
        assert_int_equal(device_budget(), 4 * UNIT);
    }
    maarDestroyBuffer(rig->allocator, other, memory);
    close_scene();
}

static void contents_stay_while_others_take_and_return_memory(void** state)
{
    MaarResident all[BUFFERS];
    (void)state;
    open_follower();
    leave(BUFFERS * UNIT);
    update();
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        all[i] = create_buffer(UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    leave(-(int64_t)(8 * UNIT));
    for (uint32_t i = 0; i < UPDATES; ++i) {
        update();
        do_work();
    }
    assert_int_equal(device_budget(), 4 * UNIT);
    assert_true(manager_state().tiers[MAAR_TIER_DEVICE].size <= 4 * UNIT);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1);
    }
    leave(BUFFERS * UNIT);
    for (uint32_t i = 0; i < UPDATES && device_budget() <= 4 * UNIT; ++i) {
        update();
    }
    assert_true(device_budget() > 4 * UNIT);
    for (uint32_t i = 0; i < BUFFERS; ++i) {
        expect_buffer(all[i], i + 1);
    }
    close_scene();
}

static void budget_always_holds_the_largest_resident(void** state)
{
    MaarResident all[2];
    (void)state;
    open_follower();
    for (uint32_t i = 0; i < 2; ++i) {
        all[i] = create_buffer((i + 1) * UNIT, 0);
        write_buffer(all[i], i + 1);
    }
    leave(-(int64_t)rig_budget(rig, heap).blockBytes);
    for (uint32_t i = 0; i < UPDATES; ++i) {
        update();
    }
    assert_int_equal(device_budget(), 2 * UNIT);
    assert_int_equal(maarSetResidencyBudget(rig->allocator, manager, MAAR_TIER_DEVICE, 0),
                     VK_SUCCESS);
    assert_int_equal(device_budget(), 2 * UNIT);
    for (uint32_t i = 0; i < 2; ++i) {
        expect_buffer(all[i], i + 1);
    }
    rig_expect_message(rig, MAAR_MESSAGE_ID_OVER_BUDGET);
    rig_forget_messages(rig);
    close_scene();
}

/* ---- compressed contents ---- */

/* One half shrinks, the other one does not. */
static VkResult VKAPI_PTR read_half(void* data, VkDeviceSize size, void* bytes)
{
    struct rig_random dice = {*(const uint32_t*)data};
    memset(bytes, 0, size);
    for (VkDeviceSize i = 0; i < size / 2; ++i) {
        ((uint8_t*)bytes)[i] = (uint8_t)rig_next(&dice);
    }
    return VK_SUCCESS;
}

/* Pieces of work that end together may be too many for the tier: what has no room there stays. */
static void compressed_contents_keep_to_their_budget(void** state)
{
    enum { COUNT = 9 };
    MaarResident residents[COUNT];
    uint32_t seeds[COUNT];
    MaarResidencyCreateInfo info = manager_info(4 * UNIT, 4 * UNIT);
    (void)state;
    info.compressedBudget = 5 * UNIT / 4;
    open_device();
    open_manager(&info);
    for (uint32_t i = 0; i < COUNT; ++i) {
        seeds[i] = 1 + i;
        residents[i] = create_sourced(UNIT, read_half, &seeds[i]);
        const MaarUse use = begin_use(residents[i], MAAR_ACCESS_WRITE_BIT, 0);
        vkCmdFillBuffer(begin_commands(), object.buffer, 0, 4, i);
        end_use_at(use, submit_commands());
        if (i % 3 == 2) {
            settle();
            do_work();
            settle();
        }
    }
    const MaarTierInfo tier = manager_state().tiers[MAAR_TIER_COMPRESSED];
    assert_true(tier.savedCount > 0);
    assert_true(tier.peakSize <= tier.budget);
    close_scene();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_unit_test(budget_is_what_the_heap_leaves),
        rig_unit_test(manager_follows_the_heap_when_its_budget_is_set_to_none),
        rig_unit_test(budget_stays_where_blocks_become_empty),
        rig_unit_test(contents_stay_while_others_take_and_return_memory),
        rig_unit_test(budget_always_holds_the_largest_resident),
        rig_unit_test(compressed_contents_keep_to_their_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
